/* Kernels by name. */
#ifndef KERNELS_H
#define KERNELS_H

#include "kernelect.h"

static inline ke_kernel kernel_of(const char *name, double scale, double offset, double degree)
{
  const ke_kernel k = {
      .type = ke_kernel_named(name), .scale = scale, .offset = offset, .degree = degree};
  return k;
}

/* A sum or product, times scale, of parts that stay where they are; what they look at is said by
 * `look`, one entry a block. */
static inline ke_kernel kernel_of_parts(const char *name, double scale, const ke_kernel *part,
                                        size_t parts, const ke_look *look, size_t blocks)
{
  ke_kernel k = kernel_of(name, scale, 0.0, 0.0);
  k.part = part, k.parts = parts;
  k.look = look, k.blocks = blocks;
  return k;
}

#endif
