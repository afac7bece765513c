/* A small generator: the tests draw the same numbers everywhere. */
#ifndef DRAW_H
#define DRAW_H

#include <stdint.h>
#include <stdlib.h>

/* Uniform on (-1, 1). */
static inline double draw(uint64_t *state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53 * 2.0 - 1.0;
}

static inline double *draw_many(size_t count, uint64_t seed)
{
  double *x = (double *)malloc((count + 1) * sizeof *x);
  for (size_t i = 0; i < count; i++)
    x[i] = draw(&seed);
  return x;
}

#endif
