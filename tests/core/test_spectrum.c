/* spectrum.c: moments, ranges and Gram products against plain loops. */
#include "count.h"
#include "draw.h"
#include "kernelect.h"
#include "minunit.h"

#include <stdlib.h>
#include <string.h>

static const ke_env plain = {.threads = 1};

static double mean_of(const double *x, size_t n)
{
  double total = 0.0;
  for (size_t i = 0; i < n; i++)
    total += x[i];
  return total / (double)n;
}

static void moments(size_t n, size_t L, int centre)
{
  double *z = draw_many(n * L, n + L), *old = draw_many(n * L, n + L);
  double *mean = malloc(L * sizeof *mean), *out = malloc(L * L * sizeof *out);
  double *work = malloc(ke_crossprod_work(L) * sizeof *work);
  memset(mean, 0, L * sizeof *mean);
  if (centre)
    ke_column_means(z, n, L, mean, &plain);
  const ke_coordinates c = {n, L, z, centre ? mean : NULL};
  ke_centred_crossprod(&c, out, work, &plain);
  for (size_t s = 0; s < L; s++) {
    mu_near(mean[s], centre ? mean_of(old + s * n, n) : 0.0, 1e-13);
    for (size_t t = 0; t < L; t++) {
      double total = 0.0;
      for (size_t i = 0; i < n; i++)
        total += (old[i + s * n] - mean[s]) * (old[i + t * n] - mean[t]);
      mu_near(out[s + t * L], total, 1e-12);
      mu_assert(out[s + t * L] == out[t + s * L]);
    }
    mu_assert(z[s * n] == old[s * n]); /* untouched */
  }
  free(z), free(work);
  free(old);
  free(mean);
  free(out);
}

static void moments_are_those_of_the_columns(void)
{
  moments(1, 1, 1);
  moments(7, 3, 0);
  moments(50, 9, 1);
  moments(3000, 4, 1);
  moments(30, 250, 1); /* several blocks */
}

static void ranges_are_those_of_the_product(void)
{
  const size_t n = 1100, L = 5, k = 3;
  const double shifts[] = {0.5, -2.0, 0.0, 1.0, 3.0};
  double *z = draw_many(n * L, 1), *v = draw_many(L * k, 2), range[6];
  double *work = malloc(KE_EXTREME_ROWS * (k + L) * sizeof *work);
  for (int centre = 0; centre <= 1; centre++) {
    const ke_coordinates c = {n, L, z, centre ? shifts : NULL};
    ke_extremes(&c, v, k, range, work, &plain);
    for (size_t j = 0; j < k; j++) {
      double most = -1e300, least = 1e300;
      for (size_t i = 0; i < n; i++) {
        double s = 0.0;
        for (size_t l = 0; l < L; l++)
          s += (z[i + l * n] - (centre ? shifts[l] : 0.0)) * v[l + j * L];
        most = s > most ? s : most;
        least = s < least ? s : least;
      }
      mu_near(range[j], most, 1e-14);
      mu_near(range[j + k], least, 1e-14);
    }
  }
  free(z), free(v), free(work);
}

static void product(size_t n, size_t k, int centre)
{
  double *K = draw_many(n * n, n), *v = draw_many(n * k, 5), *old = draw_many(n * k, 5);
  double *out = malloc(n * k * sizeof *out), *slow = malloc(n * sizeof *slow);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      K[j + i * n] = K[i + j * n];
  ke_gram_product(K, n, v, k, centre, out, &plain);
  for (size_t c = 0; c < k; c++) {
    const double shift = centre ? mean_of(old + c * n, n) : 0.0;
    for (size_t i = 0; i < n; i++) {
      slow[i] = 0.0;
      for (size_t j = 0; j < n; j++)
        slow[i] += K[i + j * n] * (old[j + c * n] - shift);
    }
    const double level = centre ? mean_of(slow, n) : 0.0;
    for (size_t i = 0; i < n; i++)
      mu_near(out[i + c * n], slow[i] - level, 1e-12);
  }
  free(K);
  free(v);
  free(old);
  free(out);
  free(slow);
}

static void products_are_those_of_the_centred_matrix(void)
{
  product(1, 1, 0);
  product(64, 8, 1);
  product(65, 1, 1);
  product(200, 3, 0);
  product(333, 17, 1);
}

/* ---- looks for an interrupt ------------------------------------------------------------------ */

static void moments_look_for_interrupts(void)
{
  const size_t L = 33, in_cache = ((size_t)1 << 18) / (L + 1), n = 2 * in_cache + 1;
  double *z = draw_many(n * L, 3), mean[33], out[33 * 33];
  tally centred, multiplied;
  ke_env env = counting(&centred, 1);
  ke_centre_columns(z, n, L, mean, &env);
  env = counting(&multiplied, 1);
  ke_column_means(z, n, L, mean, &env);
  const ke_coordinates c = {n, L, z, mean};
  double *work = malloc(ke_crossprod_work(L) * sizeof *work);
  ke_centred_crossprod(&c, out, work, &env);
  free(z), free(work);
  const size_t at_a_time = 2048; /* rows of a piece of a product */
  const size_t within = 2 * (steps(in_cache, at_a_time) - 1);
  mu_assert(centred.checks == L);
  mu_assert(multiplied.checks == 1 + steps(n, in_cache) + within);
}

/* Wide coordinates: a product of what is in cache alone is long. */
static void wide_moments_look_within_a_product(void)
{
  const size_t L = 2000, n = 256;
  const double least = (double)L * (double)L * (double)n / KE_PATIENCE;
  double *z = draw_many(n * L, 8), *out = malloc(L * L * sizeof *out);
  double *work = malloc(ke_crossprod_work(L) * sizeof *work);
  tally looks;
  ke_env env = counting(&looks, 1);
  const ke_coordinates c = {n, L, z, NULL};
  ke_centred_crossprod(&c, out, work, &env);
  free(z), free(out), free(work);
  mu_assert((double)looks.checks >= least);
}

static void ranges_and_products_look_for_interrupts(void)
{
  const size_t n = 2 * KE_EXTREME_ROWS + 1, panel = 64, size = 2 * panel + 1;
  double *z = draw_many(n, 4), *work = malloc(2 * KE_EXTREME_ROWS * sizeof *work), one = 1.0,
         range[2];
  double *K = draw_many(size * size, 5), *v = draw_many(size, 6), *out = draw_many(size, 7);
  tally ranged, multiplied;
  ke_env env = counting(&ranged, 1);
  const ke_coordinates c = {n, 1, z, NULL};
  ke_extremes(&c, &one, 1, range, work, &env);
  env = counting(&multiplied, 1);
  ke_gram_product(K, size, v, 1, 1, out, &env);
  free(z), free(work), free(K), free(v), free(out);
  mu_assert(ranged.checks == steps(n, KE_EXTREME_ROWS));
  mu_assert(multiplied.checks == steps(size, panel));
}

int main(void)
{
  mu_run(moments_are_those_of_the_columns);
  mu_run(ranges_are_those_of_the_product);
  mu_run(products_are_those_of_the_centred_matrix);
  mu_run(moments_look_for_interrupts);
  mu_run(wide_moments_look_within_a_product);
  mu_run(ranges_and_products_look_for_interrupts);
  return mu_report();
}
