/* BLAS and LAPACK by value: the Fortran calling convention is met here and nowhere else. */
#ifndef KERNELECT_BLAS_H
#define KERNELECT_BLAS_H

#ifndef USE_FC_LEN_T
#define USE_FC_LEN_T
#endif
#include <R_ext/BLAS.h>
#include <R_ext/Lapack.h>
#ifndef FCONE
#define FCONE
#endif

#include <stddef.h>

/* x = U^{-1} x, U n x n upper triangular, its columns packed one after the other */
static inline void ke_tpsv_upper(size_t n, const double *u, double *x)
{
  int in = (int)n, ix = 1;
  F77_CALL(dtpsv)("U", "N", "N", &in, u, x, &ix FCONE FCONE FCONE);
}

/* A (m x n, m >= n) = P L U, rows exchanged as `pivot` (n, from 1) says; 0 when U is singular */
static inline int ke_getrf(size_t m, size_t n, double *a, size_t lda, int *pivot)
{
  int im = (int)m, in = (int)n, ia = (int)lda, info;
  F77_CALL(dgetrf)(&im, &in, a, &ia, pivot, &info);
  return info == 0;
}

/* Rows first .. first + k of A (n columns) exchanged with those that `pivot` (from 1) names */
static inline void ke_laswp(size_t n, double *a, size_t lda, size_t first, size_t k,
                            const int *pivot)
{
  int in = (int)n, ia = (int)lda, from = (int)first + 1, to = (int)(first + k), one = 1;
  F77_CALL(dlaswp)(&in, a, &ia, &from, &to, pivot, &one);
}

/* The one norm of A (n x n), and from it and P L U the reciprocal condition; work: 4 n, whole: n */
static inline double ke_norm_one(size_t n, const double *a, size_t lda)
{
  int in = (int)n, ia = (int)lda;
  return F77_CALL(dlange)("1", &in, &in, a, &ia, NULL FCONE);
}

static inline double ke_condition(size_t n, const double *lu, size_t ldl, double norm, double *work,
                                  int *whole)
{
  int in = (int)n, il = (int)ldl, info;
  double rcond = 0.0;
  F77_CALL(dgecon)("1", &in, lu, &il, &norm, &rcond, work, whole, &info FCONE);
  return rcond;
}

/* B (n x k) = A^{-1} B from P L U */
static inline void ke_getrs(size_t n, size_t k, const double *lu, size_t ldl, const int *pivot,
                            double *b, size_t ldb)
{
  int in = (int)n, ik = (int)k, il = (int)ldl, ib = (int)ldb, info;
  F77_CALL(dgetrs)("N", &in, &ik, lu, &il, pivot, b, &ib, &info FCONE);
}

/* x = op(L)^{-1} x, L n x n lower triangular */
static inline void ke_trsv_lower(char trans, size_t n, const double *l, size_t ldl, double *x)
{
  int in = (int)n, il = (int)ldl, one = 1;
  F77_CALL(dtrsv)("L", &trans, "N", &in, l, &il, x, &one FCONE FCONE FCONE);
}

/* A reflection that maps (alpha, x) to (beta, 0): beta replaces alpha, v = (1, x), see LAPACK */
static inline void ke_larfg(size_t n, double *alpha, double *x, size_t incx, double *tau)
{
  int in = (int)n, ix = (int)incx;
  F77_CALL(dlarfg)(&in, alpha, x, &ix, tau);
}

/* C (m x n) = (I - tau v v') C, or from the right; work: n, or m */
static inline void ke_larf(char side, size_t m, size_t n, const double *v, size_t incv, double tau,
                           double *c, size_t ldc, double *work)
{
  int im = (int)m, in = (int)n, iv = (int)incv, ic = (int)ldc;
  F77_CALL(dlarf)(&side, &im, &in, v, &iv, &tau, c, &ic, work FCONE);
}

/* All of a symmetric matrix (lower triangle) made tridiagonal */
static inline void ke_sytd2_lower(size_t n, double *a, size_t lda, double *d, double *e,
                                  double *tau)
{
  int in = (int)n, ia = (int)lda, info;
  F77_CALL(dsytd2)("L", &in, a, &ia, d, e, tau, &info FCONE);
}

/* Eigenvalues, ascending in d, and vectors z of a small tridiagonal matrix; work: 2 n; 0 when that
 * fails */
static inline int ke_steqr(size_t n, double *d, double *e, double *z, size_t ldz, double *work)
{
  int in = (int)n, iz = (int)ldz, info;
  F77_CALL(dsteqr)("I", &in, d, e, z, &iz, work, &info FCONE);
  return info == 0;
}

/* Root i (from 0) of 1 + rho sum z_k^2 / (d_k - x), d ascending, |z| = 1, and gap_k = d_k - root
 * (of one or two roots: their vector); 0 when that fails */
static inline int ke_laed4(size_t n, size_t i, const double *d, const double *z, double *gap,
                           double rho, double *root)
{
  int in = (int)n, ii = (int)i + 1, info;
  F77_CALL(dlaed4)(&in, &ii, d, z, gap, &rho, root, &info);
  return info == 0;
}

#endif
