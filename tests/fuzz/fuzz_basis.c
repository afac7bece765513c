/* The basis engine: any rule, source, shape and number of candidates, with equal rows and NaN.
 * Picks are distinct rows, the residual trace falls, and the factor is lower triangular. */
#include "fuzz.h"

static ke_body *body_of(const ke_basis *b) { return &((ke_one_body *)b->bodies.self)->body; }

/* Room for `capacity` columns, what is there kept. */
static void lend_columns(ke_basis *b, size_t capacity)
{
  ke_body *body = body_of(b);
  double *factor = fuzz_doubles(body->n * capacity);
  if (body->factor)
    memcpy(factor, body->factor, body->n * b->size * sizeof(double));
  free(body->factor), free(b->pool.panel), free(body->work);
  body->factor = factor;
  b->pool.panel = fuzz_doubles(b->pool.most * capacity);
  body->work = fuzz_doubles(ke_body_work(capacity, 1));
  if (b->rule->unpivoted) {
    double *triangle = fuzz_doubles(capacity * (capacity + 1) / 2);
    if (b->state.triangle)
      memcpy(triangle, b->state.triangle, b->size * (b->size + 1) / 2 * sizeof(double));
    free(b->state.triangle), free(b->state.solution);
    b->state.triangle = triangle;
    b->state.solution = fuzz_doubles(capacity);
  }
  body->capacity = b->capacity = capacity;
}

static void lend_body(ke_basis *b, const ke_source *source)
{
  const size_t n = source->n;
  ke_one_body *one = (ke_one_body *)calloc(1, sizeof *one);
  one->body.source = source, one->body.n = n;
  one->body.diagonal = fuzz_doubles(n), one->body.inverse = fuzz_doubles(n);
  one->body.weight = fuzz_doubles(n), one->body.residual = fuzz_doubles(n);
  one->body.keys = fuzz_doubles(n), one->body.sorted = fuzz_doubles(n);
  one->body.explained = b->rule->normalised ? fuzz_doubles(n) : NULL;
  one->sums = fuzz_doubles(KE_RUNGS * KE_SUMS * KE_BLOCK);
  one->extreme = (ke_pick *)calloc(KE_BLOCK, sizeof(ke_pick));
  b->bodies = ke_bodies_one(one);
  b->state.keys = one->body.keys, b->state.proposed.key = one->body.sorted;
  b->state.proposed.row = fuzz_indices(n);
}

static void lend_rows(ke_basis *b, const ke_source *source)
{
  const size_t most = b->pool.most > KE_BLOCK ? b->pool.most : KE_BLOCK;
  lend_body(b, source);
  b->index = fuzz_indices(b->limit), b->pool.chosen = fuzz_indices(KE_BLOCK);
  b->path = (ke_pick *)calloc(b->limit, sizeof(ke_pick));
  b->pool.row = fuzz_indices(most), b->state.sequence = fuzz_indices(most);
  b->pool.left = fuzz_doubles(most), b->pool.gained = fuzz_doubles(most);
  b->pool.weight = fuzz_doubles(most), b->state.before = fuzz_doubles(most);
}

static void give_back(ke_basis *b)
{
  ke_one_body *one = (ke_one_body *)b->bodies.self;
  ke_body *body = &one->body;
  free(body->diagonal), free(body->inverse), free(body->weight), free(body->residual);
  free(body->keys), free(body->sorted), free(body->explained), free(body->factor);
  free(body->work), free(one->sums), free(one->extreme), free(one);
  free(b->index), free(b->pool.chosen), free(b->path), free(b->pool.row);
  free(b->state.sequence), free(b->pool.left), free(b->pool.gained), free(b->pool.weight);
  free(b->state.before), free(b->state.proposed.row);
  free(b->pool.panel), free(b->state.triangle), free(b->state.solution);
}

static void check_path(const ke_basis *b, int sound)
{
  unsigned char *seen = (unsigned char *)calloc(b->bodies.n, 1);
  fuzz_promise(b->size <= b->limit);
  for (size_t l = 0; l < b->size; l++) {
    fuzz_promise(b->index[l] < b->bodies.n);
    fuzz_promise(!seen[b->index[l]]);
    seen[b->index[l]] = 1;
    if (sound && l > 0)
      fuzz_promise(b->path[l].trace <= b->path[l - 1].trace);
  }
  free(seen);
}

static void run(ke_basis *b, fuzz_bytes *f, const ke_env *env, int sound)
{
  if (ke_basis_start(b, env) != KE_OK)
    return;
  if (b->rule->normalised && b->stop == KE_GOES_ON) {
    const size_t spent = ke_row_sums_work(b->bodies.n, 1), block = KE_CHUNK * KE_BLOCK;
    double *work = fuzz_doubles(b->bodies.n + (spent > block ? spent : block));
    size_t *rows = fuzz_indices(b->bodies.n);
    for (size_t i = 0; i < b->bodies.n; i++)
      rows[i] = i;
    const int all = fuzz_byte(f) % 4 == 0;
    b->forced = ke_first_fvs(b, all ? NULL : rows, all ? 0 : b->bodies.n, work, env);
    fuzz_promise(b->forced < b->bodies.n);
    free(work), free(rows);
  }
  lend_columns(b, b->limit < KE_BLOCK ? b->limit : KE_BLOCK);
  ke_status status;
  while ((status = ke_basis_run(b, env)) == KE_FULL)
    lend_columns(b, 2 * b->capacity < b->limit ? 2 * b->capacity : b->limit);
  if (status == KE_OK)
    check_path(b, sound);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_bytes f = {data, size};
  uint64_t state = 7 + fuzz_byte(&f);
  const ke_env env = {.threads = 1, .uniform = fuzz_uniform, .data = &state};
  const size_t n = fuzz_size(&f, 1, 200), d = fuzz_size(&f, 1, 4);
  const int hostile = fuzz_byte(&f) % 3 == 0, from_matrix = fuzz_byte(&f) % 2;
  const ke_kernel kernel = fuzz_kernel(&f, 6);
  ke_basis b;
  memset(&b, 0, sizeof b);
  b.rule = ke_rule_of((ke_method)(fuzz_byte(&f) % 5));
  b.forced = n, b.limit = fuzz_size(&f, 1, n);
  const size_t least = b.rule == ke_rule_of(KE_RANDOM) ? KE_PROPOSALS : 2;
  b.pool.most = fuzz_size(&f, least < n ? least : n, n);
  b.tol = (double)fuzz_byte(&f) / 1024.0;
  const size_t neighbours = fuzz_byte(&f) % 3 ? 0 : fuzz_size(&f, 1, n < KE_BLOCK ? n : KE_BLOCK);
  double *threshold = fuzz_doubles(b.limit + 1);
  for (size_t l = 0; l <= b.limit; l++)
    threshold[l] = (double)l / (double)n;
  b.threshold = threshold;
  double *x = fuzz_fill(&f, n * d, hostile);
  ke_rows rows = fuzz_lend(n, d);
  ke_pack(x, n, NULL, &rows);
  double *states[] = {fuzz_doubles(ke_source_rows_state(&rows)),
                      fuzz_doubles(ke_source_matrix_state()),
                      fuzz_doubles(ke_source_centred_state())};
  ke_source plain = ke_source_rows(&kernel, &rows, states[0]), shifted;
  double *K = NULL;
  if (from_matrix) {
    K = fuzz_doubles(n * n);
    ke_gram(&plain, K, &env);
    plain = ke_source_matrix(K, n, states[1]);
  }
  const ke_source *source = &plain;
  double *times = fuzz_byte(&f) % 3 ? NULL : fuzz_doubles(n);
  for (size_t i = 0; times && i < n; i++)
    times[i] = (double)(1 + fuzz_byte(&f)) / 64.0;
  double *shift = fuzz_doubles(n);
  if (neighbours) {
    size_t *centre = fuzz_indices(neighbours);
    double *work = fuzz_doubles(2 * n + ke_row_sums_work(n, 1) + KE_CHUNK * neighbours);
    ke_nearest_to_centre(&plain, times, neighbours, centre, work, &env);
    const double constant = ke_centre_shift(&plain, centre, neighbours, shift, work, &env);
    shifted = ke_source_centred(&plain, shift, constant, states[2]);
    source = &shifted;
    free(centre), free(work);
  }
  lend_rows(&b, source);
  ((ke_one_body *)b.bodies.self)->body.times = times;
  run(&b, &f, &env, !hostile && (ke_is_linear(&kernel) || ke_is_distance(&kernel)));
  give_back(&b);
  for (int s = 0; s < 3; s++)
    free(states[s]);
  fuzz_free_rows(&rows);
  free(threshold), free(x), free(K), free(shift), free(times);
  return 0;
}
