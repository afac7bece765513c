/* The triangular factor of rows that come in pieces (qr.c). */
#ifndef KERNELECT_QR_H
#define KERNELECT_QR_H

#include "env.h"

typedef struct {
  size_t p, m;  /* columns; rows that join */
  double *r;    /* p x p, upper triangle: R of the rows so far (zeros at first), out with the new */
  double *rows; /* m x p: the new rows, overwritten */
  double *work; /* ke_qr_work(p) */
} ke_qr;

size_t ke_qr_work(size_t p);

/* R'R grows by rows'rows. Signs of the diagonal of R are as they come. */
void ke_qr_append(const ke_qr *q, const ke_env *env);

#endif
