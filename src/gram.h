/* Gram matrices (gram.c). */
#ifndef KERNELECT_GRAM_H
#define KERNELECT_GRAM_H

#include "source.h"

/* All of a source, n x columns; exactly symmetric, and half of it computed, where that is. */
void ke_gram(const ke_source *s, double *out, const ke_env *env);

#endif
