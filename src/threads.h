/* The number of the calling thread: which of the lent buffers is its own. */
#ifndef KERNELECT_THREADS_H
#define KERNELECT_THREADS_H

#include <stddef.h>

#ifdef _OPENMP
#include <omp.h>
#endif

static inline size_t ke_thread_number(void)
{
#ifdef _OPENMP
  return (size_t)omp_get_thread_num();
#else
  return 0;
#endif
}

#endif
