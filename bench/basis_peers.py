# Plain column-by-column pivoted Cholesky of an RBF kernel, as one would write it in numpy.
import numpy as np


def pivoted(x, gamma, size, choose):
    n = len(x)
    norms = (x * x).sum(1)
    factor = np.empty((size, n))
    residual = np.ones(n)
    for l in range(size):
        i = choose(residual)
        column = np.exp(-gamma * np.maximum(norms + norms[i] - 2.0 * (x @ x[i]), 0.0))
        column -= factor[:l, i] @ factor[:l]
        column /= np.sqrt(residual[i])
        factor[l] = column
        residual = np.maximum(residual - column * column, 0.0)
        residual[i] = 0.0
    return residual


def greedy(x, gamma, size):
    return pivoted(x, gamma, size, np.argmax)


def random(x, gamma, size, seed=1):
    generator = np.random.default_rng(seed)
    return pivoted(x, gamma, size, lambda r: generator.choice(len(r), p=r / r.sum()))
