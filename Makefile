# Each target installs what it needs (tools/setup); all output goes to out/ and .lib/.
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test check check-nosuggests bench defaults sanitize docs site cheatsheet reproduce spell lint trust \
  coverage integrations platforms clean core testthat check-quick installed tarball tarball-quick setup-run setup-test

export R_LIBS := $(CURDIR)/.lib$(if $(R_LIBS),:$(R_LIBS))
RSCRIPT = Rscript --no-init-file

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' Makefile | expand -t 24

demo: tarball-quick ## install into .lib/, show the main job, write plots and an HTML report to out/demo/
	@tools/setup demo
	@tools/install
	@$(RSCRIPT) -e 'source(system.file("demo", "kernelect.R", package = "kernelect"))' out/demo

test: core testthat check-quick spell lint ## C core tests, testthat, R CMD check, spelling, style

check: tarball ## R CMD check --as-cran with tests and vignettes; must be Status: OK
	@tools/check

check-nosuggests: tarball ## the same with no suggested package visible
	@tools/check --hide-suggests

bench: tarball-quick ## time and memory beside other software; BENCH=gram for one
	@tools/setup bench
	@tools/install
	@$(RSCRIPT) bench/run.R $(BENCH)

defaults: tarball-quick ## our defaults beside those of the peers, into inst/results; QUICK=1 for a glance
	@tools/setup bench
	@tools/install
	@$(RSCRIPT) bench/defaults.R $(ONLY)

integrations: tarball-quick ## tidymodels, mlr3, caret and vetiver: their packages fetched, whole pipelines run
	@tools/setup integrations
	@tools/install
	@$(RSCRIPT) tools/integrations.R

sanitize: tarball ## C core tests and testthat under AddressSanitizer and UBSan
	@SAN=1 tests/core/run
	@tools/sanitize

platforms: ## the core and its tests with other compilers, C libraries and processors; PLATFORMS="musl s390x" for some
	@tools/platforms $(PLATFORMS)

docs: tarball-quick ## regenerate NAMESPACE and man/; fails if that changed anything
	@tools/setup docs
	@tools/install
	@$(RSCRIPT) -e 'roxygen2::roxygenise(load_code = "installed")' >out/docs.log 2>&1 || \
	  { cat out/docs.log; exit 1; }
	@git status --porcelain -- NAMESPACE man | { ! grep . ; } || \
	  { echo "docs: NAMESPACE or man/ changed, see above: commit them"; exit 1; }

cheatsheet: tarball-quick ## the four questions on one A4 page, HTML and PDF, into out/cheatsheet/
	@tools/setup demo
	@tools/install
	@tools/cheatsheet

reproduce: tarball-quick setup-test ## every table of the papers again, goes on where it stopped (hours); ONLY="mottl baudat"
	@tools/setup bench
	@tools/install
	@tools/reproduce $(ONLY)

site: tarball-quick ## the web site of the package into docs/, offline, its links and pictures looked at
	@tools/setup docs
	@tools/install
	@$(RSCRIPT) tools/site.R
	@$(RSCRIPT) tools/site-links.R docs

lint: setup-test ## style: clang-format, lintr, lengths of functions, stems of files
	@tools/lint

spell: setup-test ## spelling of help, vignettes, README and NEWS
	@$(RSCRIPT) tools/spell.R

trust: check-nosuggests installed ## the long checks (hours), ending in a table of what was tried and found
	@tools/setup trust
	@tools/trust $(TRUST)

coverage: tarball ## line coverage of R and C by the tests
	@tools/setup trust
	@$(RSCRIPT) tools/coverage.R

clean: ## remove everything built (packages fetched into .lib/ stay)
	@rm -rf out .lib/kernelect src/*.o src/*.so

core: setup-test
	@tests/core/run

testthat: installed
	@$(RSCRIPT) tools/test.R out/counts/testthat

# testthat has its own step and the vignettes were just built: neither runs twice.
check-quick: tarball
	@tools/check --no-tests --no-vignettes

installed: tarball
	@tools/install

tarball: setup-test
	@tools/build

tarball-quick: setup-run
	@tools/build --no-build-vignettes

setup-run setup-test: setup-%:
	@tools/setup $*
