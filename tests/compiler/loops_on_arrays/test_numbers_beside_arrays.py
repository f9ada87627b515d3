"""Numbers that are computed in another way than arrays are, in statements of loops on arrays."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from mooncake_py import grad
from tests.compiler.comparing import agrees, agrees_along

RANDOM = np.random.default_rng(7)
X = RANDOM.uniform(0.2, 0.9, 6)
M = RANDOM.uniform(-1.0, 1.0, (6, 3))


def adam(x, m):
    mean, square, w = np.zeros(6), np.zeros(6), x
    for t in range(1, 6):
        g = 2.0 * w + np.sin(w) * m[0, 1]
        mean = 0.9 * mean + 0.1 * g
        square = 0.99 * square + 0.01 * g**2
        w = w - 0.1 * (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.99**t)) + 1e-4)
    return np.sum(w * x)


def bodies(x, m):
    force = np.zeros_like(m)
    for i in range(6):
        for j in range(6):
            if i != j:
                d = m[j] - m[i]
                force[i] += x[j] * d / (d @ d + 0.1) ** 1.5
    return np.sum(force * m)


def damped(x, m):
    u = 1.0 * x
    s = 0.5
    for k in range(5):
        s += 0.1 * x[k]
        u = u * math.exp(-s * s) + max(s, x[k]) * x - abs(m[k, 0]) * u
        x[1:] += math.sin(s) * x[:-1] * m[k, 1]
    return np.sum(u * u) + np.sum(x)


def normalized(x, m):
    for k in range(6):
        m[k, :] /= (m[k, :] @ m[k, :] + x[k]) ** 0.5
        x[1:-1] *= (1.0 + m[k, 0] * m[k, 0]) ** -1.5
    return np.sum(m * m[:, ::-1]) + np.sum(x * x)


def of_elements(x, m):
    s = 0.5
    for k in range(5):
        v = m[k].copy()
        v[0] = s
        s = 0.3 * (math.sin(x[k]) * v[1]) + max(s, x[2]) * v[0]
        x[1:4] += 0.1 * v
    return np.sum(x * x) + s


def powers_of_vectors(x, m):
    for _ in range(1, 6):
        x[1:] += 0.1 * (m[1:, 0] * m[1:, 0] + x[:-1]) ** 1.5
    return np.sum(x * x)


@pytest.mark.plain
@pytest.mark.parametrize("f", [adam, bodies, damped, normalized, of_elements, powers_of_vectors])
def test_taken(f, taken):
    agrees(f, X, M)
    assert taken
    assert taken[0]
    agrees_along(f, (X, M), (np.cos(np.arange(6.0)), np.sin(np.arange(18.0)).reshape(6, 3)))


@pytest.mark.plain
def test_a_number_that_has_no_real_power_runs_as_written():
    def f(x):
        u = x
        for _ in range(6):
            u = u * (u @ x - 1e3) ** 0.5
        return u[0]

    with warnings.catch_warnings(record=True) as plain:
        warnings.simplefilter("always")
        f(X)
    with warnings.catch_warnings(record=True) as ours:
        warnings.simplefilter("always")
        assert np.isnan(grad(f)(X)).all()
    assert str(plain[0].message) == str(ours[0].message)
