"""Functions that are compiled whole, with arguments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["FUNCTIONS"]

rng = np.random.default_rng(3)


def jacobi(u, steps):
    for _ in range(steps):
        u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    return np.sum(u * u)


def recurrence(x, a):
    s = 0.0
    for i in range(1, len(x)):
        x[i] = a * x[i - 1] + math.sin(x[i])
        s += x[i] ** 2
    return s


def factorization(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]
    return np.sum(A)


def durbin(r):
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return np.sum(y)


def change(u, rate):
    d = np.zeros_like(u)
    d[1:-1] = rate * (u[2:] - 2 * u[1:-1] + u[:-2])
    return d


def runge_kutta(u, rate, steps):
    for _ in range(steps):
        first = change(u, rate)
        second = change(u + 0.5 * first, rate)
        u = u + second
    return np.mean(u)


def masked(x):
    y = np.where(x > 0.3, np.exp(x), x * x)
    y[x < -0.2] = 3.0
    return (y * np.tanh(y[0])).sum()


def covariance(a):
    n, m = a.shape
    a -= np.sum(a, axis=0) / float(n)
    c = np.zeros((m, m))
    for i in range(m):
        products = a[:, i] @ a[:, i:m]
        c[i, i:m] = products
        c[i:m, i] = products
    return np.sum(c * c)


def branches(x):
    if x[0] > 0:
        return x[1] * 2
    elif len(x) > 100:
        return 1.0
    s = 0.0
    while s < 3:
        s += abs(x[1]) + 0.5
        if s > 2.5:
            break
    return s


def leapfrog(u, v, steps):
    u = u.copy()
    v = v.copy()
    w = np.zeros_like(u)
    for _ in range(steps):
        w[1:-1] = 2 * u[1:-1] - v[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        v, u, w = u, w, v
    return np.sum(u * u)


def convergence(u, steps):
    total = 0.0
    for _ in range(steps):
        old = u
        u = u * 0.9 + np.sin(u)
        total = total + np.sum((u - old) ** 2)
    return total


def prefix_sums(x):
    shift = 1
    while shift < len(x):
        x[shift:] += x[:-shift]
        shift *= 2
    return np.sum(x * x)


def rows(A):
    s = 0.0
    for row in A:
        s += row @ row
        row[0] = 2 * row[1]
    return s + A.sum()


def chosen(x, k):
    s = 0.0
    for i, v in enumerate(x):
        s = s + (v * v if i % 2 == 0 else -v)
        if v > 10.0:
            continue
        s = max(s, 0.1 * v)
    return s * k


def correlation(data):
    data = (data - np.mean(data, axis=0)) / np.std(data, axis=0)
    c = np.ones((data.shape[1], data.shape[1]))
    for i in range(data.shape[1] - 1):
        c[i + 1 :, i] = c[i, i + 1 :] = data[:, i] @ data[:, i + 1 :]
    np.fill_diagonal(c, 0.5)
    return np.sum(c * np.diagonal(c))


def gathered(data, columns, starts, x):
    y = np.empty(len(starts) - 1)
    for i in range(len(starts) - 1):
        here = columns[starts[i] : starts[i + 1]]
        y[i] = data[starts[i] : starts[i + 1]] @ x[here]
    return np.linalg.norm(y)


def positive(n: int) -> Any:
    return rng.random(n) + 0.1


FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "jacobi": (jacobi, (rng.random((8, 7)), 5)),
    "recurrence": (recurrence, (rng.random(9), 0.3)),
    "factorization": (factorization, (rng.random((6, 6)) + 6 * np.eye(6),)),
    "durbin": (durbin, (0.1 * rng.random(7),)),
    "runge_kutta": (runge_kutta, (rng.random(9), 0.1, 4)),
    "masked": (masked, (rng.standard_normal(9),)),
    "covariance": (covariance, (rng.random((6, 4)),)),
    "first_branch": (branches, (positive(4),)),
    "other_branch": (branches, (-positive(4),)),
    "leapfrog": (leapfrog, (rng.random(8), rng.random(8), 5)),
    "convergence": (convergence, (rng.random(5), 3)),
    "prefix_sums": (prefix_sums, (rng.random(9),)),
    "rows": (rows, (rng.random((3, 4)),)),
    "chosen": (chosen, (rng.standard_normal(6), 2.0)),
    "correlation": (correlation, (rng.random((7, 4)),)),
    "gathered": (
        gathered,
        (rng.random(6), np.array([0, 2, 1, 3, 2, 0]), np.array([0, 2, 3, 6]), rng.random(4)),
    ),
}
"""By name a function and its arguments: all of them, but ints, have a derivative."""
