/* What the pages of the site do beyond HTML, in place of pkgdown's own script, whose helpers come
 * from elsewhere: the table of contents, buttons that copy code, tooltips, and the search. It needs
 * no network and works from a folder as well as from a server. */
(function () {
  "use strict";

  const root = document.currentScript.src.replace(/[^/]*$/, "");

  function element(tag, classes, text) {
    const made = document.createElement(tag);
    made.className = classes;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  /* Headings of a page as links beside it; those of the third level indented. */
  function addContents() {
    const aside = document.getElementById("toc");
    if (!aside) return;
    const list = element("ul", "nav flex-column");
    for (const heading of document.querySelectorAll("main h2, main h3")) {
      const id = heading.id || (heading.parentElement && heading.parentElement.id);
      if (!id || heading.closest("[data-toc-skip]")) continue;
      const shown = heading.cloneNode(true);
      for (const anchor of shown.querySelectorAll("a.anchor")) anchor.remove();
      const link = element("a", "nav-link toc-" + heading.tagName.toLowerCase(), shown.textContent.trim());
      link.href = "#" + id;
      const item = element("li", "nav-item");
      item.append(link);
      list.append(item);
    }
    if (!list.children.length) {
      aside.remove();
      return;
    }
    aside.append(list);
    const offset = document.querySelector("nav.navbar").offsetHeight + 1;
    new bootstrap.ScrollSpy(document.body, { target: "#toc", offset: offset });
  }

  function addCopyButtons() {
    if (!navigator.clipboard) return;
    for (const block of document.querySelectorAll("div.sourceCode")) {
      const code = block.textContent.replace(/\n#>[^\n]*/g, "");
      const button = element("button", "btn btn-primary btn-copy-ex", "Copy");
      button.type = "button";
      button.addEventListener("click", async function () {
        await navigator.clipboard.writeText(code);
        button.textContent = "Copied";
        setTimeout(function () { button.textContent = "Copy"; }, 1500);
      });
      block.classList.add("hasCopyButton");
      block.prepend(button);
    }
  }

  function addTooltips() {
    for (const owner of document.querySelectorAll('[data-bs-toggle="tooltip"]')) {
      new bootstrap.Tooltip(owner);
    }
  }

  /* Entries that hold all words asked for, those with the words in their titles first. */
  function find(index, words) {
    const rated = [];
    for (const entry of index) {
      const title = (entry.title + " " + entry.what).toLowerCase();
      const all = (title + " " + entry.text + " " + entry.code).toLowerCase();
      if (!words.every(function (word) { return all.includes(word); })) continue;
      rated.push([words.filter(function (word) { return title.includes(word); }).length, entry]);
    }
    rated.sort(function (a, b) { return b[0] - a[0]; });
    return rated.slice(0, 12).map(function (pair) { return pair[1]; });
  }

  function showFound(results, entries, asked) {
    results.replaceChildren();
    results.classList.toggle("show", asked);
    for (const entry of entries) {
      const same = entry.what === entry.title;
      const link = element("a", "dropdown-item", entry.title + (same ? "" : " \u203a " + entry.what));
      link.href = root + entry.path + (entry.id ? "#" + entry.id : "");
      results.append(link);
    }
    if (!entries.length) results.append(element("span", "dropdown-item disabled", "Nothing found"));
  }

  /* The index is a script, since pages from a folder may not fetch data. */
  function addSearch() {
    const input = document.getElementById("search-input");
    if (!input) return;
    const results = element("div", "dropdown-menu search-found");
    input.parentElement.append(results);
    input.setAttribute("aria-label", "Search");
    input.parentElement.addEventListener("submit", function (event) {
      event.preventDefault();
      const first = results.querySelector("a");
      if (first) first.click();
    });
    input.addEventListener("focus", function () {
      const script = document.createElement("script");
      script.src = root + "search.js";
      document.head.append(script);
    }, { once: true });
    input.addEventListener("input", function () {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      showFound(results, find(window.searchIndex || [], words), words.length > 0);
    });
    document.addEventListener("click", function (event) {
      if (!input.parentElement.contains(event.target)) results.classList.remove("show");
    });
  }

  document.addEventListener("DOMContentLoaded", function () {
    addContents();
    addCopyButtons();
    addTooltips();
    addSearch();
  });
})();
