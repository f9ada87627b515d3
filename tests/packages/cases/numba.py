"""Cases of `numba`: functions that it compiled."""

import numpy as np
from numba import guvectorize, njit, prange, vectorize

from tests.packages.suite import Package

PACKAGE = Package("numba")
works = PACKAGE.works

X = np.array([0.3, 1.1, 2.4, 0.7])
A = np.outer(X, X[::-1]) + 3 * np.eye(4)


@njit
def square(x):
    return x * x


@njit
def total(x):
    s = 0.0
    for i in range(len(x)):
        s += square(x[i])
    return s


@njit(cache=False, fastmath=True)
def scan(x, decay):
    y = np.empty_like(x)
    state = 0.0
    for i in range(len(x)):
        state = decay * state + x[i]
        y[i] = state
    return y


@njit
def fill(out, x):
    for i in range(len(x)):
        out[i] = np.sin(x[i])


@njit(parallel=True)
def rows(a):
    out = np.zeros(a.shape[0])
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            out[i] += a[i, j] ** 2
    return out


@njit
def pair(x):
    return x.sum(), (x**2).sum()


@njit
def limited(x):
    if x < 0:
        raise ValueError("negative")
    return np.sqrt(x)


@njit
def apply(kernel, x):
    return kernel(x[0]) + kernel(x[1])


@njit
def stencil(u, steps):
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            u[i] += 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1])
    return u


@njit
def solve(a, b):
    return np.linalg.solve(a, b)


@vectorize(["float64(float64, float64)"])
def kernel(x, y):
    return np.exp(-x) * y


@vectorize
def dynamic(x):
    return x**3


@guvectorize(["(float64[:], float64[:], float64[:])"], "(n),(n)->()")
def inner(x, y, out):
    out[0] = 0.0
    for i in range(len(x)):
        out[0] += x[i] * y[i]


def filled(x):
    out = np.empty_like(x)
    fill(out, x)
    return out


works("njit", total, X)
works("njit that calls njit", lambda x: total(x) * square(x[0]), X)
works("njit(fastmath=True)", scan, X, 0.7)
works("njit that fills its argument", filled, X)
works("njit(parallel=True), prange", rows, A)
works("njit that returns a tuple", pair, X)
works("njit that may raise", lambda x: limited(x[0]), X)
works("njit with a kernel as argument", lambda x: apply(square, x), X)
works("njit, in place in a time loop", lambda u: stencil(u.copy(), 5), X)
works("njit with np.linalg.solve", solve, A, X)
works("vectorize", kernel, X, X[::-1].copy())
works("vectorize, dynamic", dynamic, X)
works("guvectorize", inner, A, A.T.copy())
works("njit.py_func", total.py_func, X)
