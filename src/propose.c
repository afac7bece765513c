/* What a body proposes to pivot among, and which of its rows a draw falls on.
 *
 * Proposals of bodies are joined by the head (rules.c) to what one body of all rows would propose:
 * the `most` best rows are among those of the bodies; and of rows in a tie with some key the
 * lowest has a larger key than all rows before it, so the rows of that kind are all that a body
 * need tell. */
#include "propose.h"

#include "selection.h"

#include <float.h>
#include <string.h>

double ke_key(const ke_judge *judge, double residual, double explained, double weight)
{
  if (residual * weight <= judge->floor)
    return 0.0;
  if (!judge->normalised)
    return residual;
  if (explained * weight <= judge->noise)
    return DBL_MAX;
  const double ratio = residual / explained;
  return ratio < DBL_MAX ? ratio : DBL_MAX;
}

/* Never down to 0: that is a row out of the game. */
double ke_tie_with(const ke_judge *judge, double best)
{
  return best * (1.0 - KE_TIE) - judge->slack;
}

static double row_key(const ke_body *b, const ke_judge *judge, size_t i)
{
  return ke_key(judge, b->residual[i], b->explained ? b->explained[i] : 0.0, b->weight[i]);
}

/* ---- the best ---------------------------------------------------------------------------- */

static void append(ke_proposal *out, const ke_body *b, size_t i)
{
  const size_t at = out->count + out->steps;
  out->row[at] = b->first + i;
  out->key[at] = b->keys[i];
}

/* Rows above the cut, and enough of those at it. */
static void list_best(const ke_body *b, const ke_wish *wish, double best, double cut,
                      ke_proposal *out)
{
  const double tied = ke_tie_with(&wish->judge, best);
  double record = -1.0; /* where all keys are 0 the first row leads */
  size_t above = 0;
  for (size_t i = 0; i < b->n; i++)
    above += b->keys[i] > cut;
  size_t spare = wish->most > above ? wish->most - above : 0;
  for (size_t i = 0; i < b->n; i++) {
    const double k = b->keys[i];
    const int at_cut = k == cut && k > 0.0 && spare > 0, leads = k > record && k >= tied;
    spare -= (size_t)at_cut;
    record = leads ? k : record;
    if (k > cut || at_cut || leads || b->first + i == wish->forced) {
      append(out, b, i);
      out->count++;
    } else {
      out->outside = k > out->outside ? k : out->outside;
    }
  }
}

static void list_steps(const ke_body *b, const ke_wish *wish, ke_proposal *out)
{
  const double tied = ke_tie_with(&wish->judge, out->outside);
  double record = 0.0;
  for (size_t i = 0, c = 0; i < b->n && record < out->outside; i++) {
    if (c < out->count && out->row[c] == b->first + i) {
      c++;
    } else if (b->keys[i] > record && b->keys[i] >= tied) {
      append(out, b, i);
      out->steps++;
      record = b->keys[i];
    }
  }
}

static void propose_best(const ke_body *b, const ke_wish *wish, ke_proposal *out)
{
  double best = 0.0, cut = 0.0;
  for (size_t i = 0; i < b->n; i++) {
    b->keys[i] = row_key(b, &wish->judge, i);
    best = b->keys[i] > best ? b->keys[i] : best;
  }
  if (wish->most < b->n) {
    memcpy(b->sorted, b->keys, b->n * sizeof(double));
    cut = ke_select_largest(b->sorted, b->n, wish->most - 1).value;
  }
  list_best(b, wish, best, cut, out);
  list_steps(b, wish, out);
}

/* ---- in order ---------------------------------------------------------------------------- */

static void propose_in_order(const ke_body *b, const ke_wish *wish, ke_proposal *out)
{
  for (size_t i = wish->from > b->first ? wish->from - b->first : 0;
       i < b->n && out->count < wish->most; i++) {
    b->keys[i] = row_key(b, &wish->judge, i);
    if (b->keys[i] > 0.0) {
      append(out, b, i);
      out->count++;
    }
  }
}

void ke_body_propose(const ke_body *b, const ke_wish *wish, ke_proposal *out)
{
  out->count = out->steps = 0;
  out->outside = 0.0;
  (wish->in_order ? propose_in_order : propose_best)(b, wish, out);
}

/* ---- draws ------------------------------------------------------------------------------- */

static double share_of(const ke_body *b, const ke_judge *judge, size_t i)
{
  return ke_times(b, i) * row_key(b, judge, i);
}

void ke_body_weigh(const ke_body *b, const ke_judge *judge, ke_ladder *out)
{
  for (size_t t = 0; t < ke_body_tiles(b); t++) {
    b->sorted[t] = 0.0;
    for (size_t i = t * KE_TILE; i < b->n && i < (t + 1) * KE_TILE; i++)
      b->sorted[t] += share_of(b, judge, i);
    ke_ladder_add(out, b->first / KE_TILE + t, 1, &b->sorted[t]);
  }
}

size_t ke_body_find(const ke_body *b, const ke_judge *judge, size_t start, size_t tiles,
                    double target)
{
  const size_t origin = start - b->first / KE_TILE;
  const ke_nodes nodes = {NULL, b->sorted + origin, tiles};
  const size_t from = (origin + ke_locate(&nodes, &target)) * KE_TILE;
  size_t found = from;
  double sum = 0.0;
  for (size_t i = from; i < b->n && i < from + KE_TILE && sum <= target; i++) {
    const double k = share_of(b, judge, i);
    sum += k;
    found = k > 0.0 ? i : found; /* rounding at the very end of the sum finds the last one */
  }
  return b->first + found;
}

void ke_body_rows(const ke_body *b, const size_t *index, size_t count, size_t size, double *panel,
                  size_t ld, double *left, double *gained)
{
  for (size_t l = 0; l < size; l++)
    for (size_t c = 0; c < count; c++)
      panel[c + l * ld] = b->factor[index[c] - b->first + l * b->n];
  for (size_t c = 0; c < count; c++) {
    left[c] = b->residual[index[c] - b->first];
    gained[c] = b->explained ? b->explained[index[c] - b->first] : 0.0;
  }
}
