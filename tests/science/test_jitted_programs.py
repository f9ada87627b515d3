"""Programs of the kinds that people write for Numba: gradients against differences."""

from __future__ import annotations

import math
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from mooncake_py import debug_mode, grad, hvp, jvp
from tests.support.gradients import differences

numba = pytest.importorskip("numba")
from numba import njit, prange  # noqa: E402

draw = np.random.default_rng(5).uniform
PROGRAMS: list[Any] = []


def program(*args):
    """Collect a function with the arguments that it is differentiated with respect to."""

    def add(f):
        PROGRAMS.append((f, args))
        return f

    return add


def in_python(f):
    """Return a function, and all jitted ones that it names, without compiled code."""
    scope: dict[str, Any] = {}
    for name, value in f.__globals__.items():
        scope[name] = value.py_func if hasattr(value, "py_func") else value
        if hasattr(value, "py_func"):
            scope[name] = FunctionType(value.py_func.__code__, scope, name)
            scope[name].__defaults__ = value.py_func.__defaults__
    return FunctionType(f.__code__, scope, f.__name__)


@njit(fastmath=True)
def jacobi(u, steps):
    n, m = u.shape
    v = u.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        u, v = v, u
    return u


@program(draw(-1, 1, (4, 5)))
def stencil(u):
    return np.sum(jacobi(u, 3) ** 2)


@njit(parallel=True)
def heat(u, alpha, steps):
    n = u.shape[0]
    for _ in range(steps):
        new = u.copy()
        for i in prange(1, n - 1):
            new[i] = u[i] + alpha * (u[i + 1] - 2 * u[i] + u[i - 1])
        u = new
    s = 0.0
    for i in numba.prange(n):
        s += u[i] ** 2
    return s


@program(draw(-1, 1, 6), 0.2)
def diffusion_in_parallel(u, alpha):
    return heat(u, alpha, 3)


@njit
def payoff(s, strike):
    return max(s - strike, 0.0)


@njit
def asian(s0, sigma, rate, z):
    paths, steps = z.shape
    dt = 1.0 / steps
    total = 0.0
    for p in range(paths):
        s = s0
        mean = 0.0
        for k in range(steps):
            s *= math.exp((rate - 0.5 * sigma**2) * dt + sigma * math.sqrt(dt) * z[p, k])
            mean += s / steps
        total += payoff(mean, 1.0)
    return math.exp(-rate) * total / paths


Z = np.random.default_rng(2).standard_normal((4, 3))


@program(1.0, 0.2, 0.05)
def option(s0, sigma, rate):
    return asian(s0, sigma, rate, Z)


@njit
def lognormal_mean(mu, sigma, rng, n):
    s = 0.0
    for _ in range(n):
        s += math.exp(mu + sigma * rng.normal())
    return s / n


@program(0.1, 0.3)
def monte_carlo(mu, sigma):
    return lognormal_mean(mu, sigma, np.random.default_rng(7), 5)


@njit
def lu_determinant(a):
    n = a.shape[0]
    a = a.copy()
    det = 1.0
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        if p != k:
            for j in range(n):
                a[k, j], a[p, j] = a[p, j], a[k, j]
            det = -det
        det *= a[k, k]
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return det


@program(draw(-1, 1, (3, 3)))
def factorization(a):
    return lu_determinant(a)


@njit
def lotka_volterra(t, y, p):
    dy = np.empty_like(y)
    dy[0] = p[0] * y[0] - p[1] * y[0] * y[1]
    dy[1] = p[2] * y[0] * y[1] - p[3] * y[1]
    return dy


@njit
def runge_kutta(rhs, y, p, end, n):
    h = end / n
    t = 0.0
    for _ in range(n):
        k1 = rhs(t, y, p)
        k2 = rhs(t + h / 2, y + h / 2 * k1, p)
        k3 = rhs(t + h / 2, y + h / 2 * k2, p)
        k4 = rhs(t + h, y + h * k3, p)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
    return y


@program(np.array([1.0, 0.5]), np.array([1.0, 0.5, 0.6, 0.8]))
def right_side_as_argument(y, p):
    return np.sum(runge_kutta(lotka_volterra, y, p, 1.0, 4) ** 2)


@njit(nogil=True, error_model="numpy", inline="always")
def forces(x, eps):
    n = x.shape[0]
    f = np.zeros_like(x)
    for i in range(n):
        for j in range(n):
            if i != j:
                r2 = eps
                for k in range(2):
                    r2 += (x[i, k] - x[j, k]) ** 2
                for k in range(2):
                    f[i, k] -= (x[i, k] - x[j, k]) / r2**1.5
    return f


@njit
def leapfrog(x, v, dt, steps, eps=0.1):
    for _ in range(steps):
        f = forces(x, eps)
        for i in range(x.shape[0]):
            for k in range(2):
                v[i, k] += dt * f[i, k]
                x[i, k] += dt * v[i, k]
    return np.sum(x * x), np.sum(v * v)


@program(draw(-1, 1, (3, 2)), draw(-1, 1, (3, 2)))
def particles(x, v):
    a, b = leapfrog(x, v, 0.05, 2)
    return a + 2 * b


@njit
def soft_minimum(a, b, c, g):
    m = min(a, min(b, c))
    return m - g * math.log(math.exp((m - a) / g) + math.exp((m - b) / g) + math.exp((m - c) / g))


@njit
def time_warping(x, y, g):
    n, m = len(x), len(y)
    r = np.full((n + 1, m + 1), 1e10)
    r[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            best = soft_minimum(r[i - 1, j], r[i, j - 1], r[i - 1, j - 1], g)
            r[i, j] = (x[i - 1] - y[j - 1]) ** 2 + best
    return r[n, m]


@program(draw(-1, 1, 3), draw(-1, 1, 4), 0.4)
def dynamic_programming(x, y, g):
    return time_warping(x, y, g)


@njit
def cube_root(c):
    x = c
    for _ in range(50):
        residual = x * x * x - c
        if abs(residual) < 1e-13:
            break
        x -= residual / (3 * x * x)
    return x


@program(2.0)
def newton(c):
    return cube_root(c)


@njit("f8(f8[:], f8[:])", cache=False)
def polynomials(c, x):
    s = 0.0
    for i in range(x.size):
        y = 0.0
        for k in range(c.size - 1, -1, -1):
            y = y * x[i] + c[k]
        s += y * y
    return s


@program(draw(-1, 1, 3), draw(-1, 1, 4))
def horner(c, x):
    return polynomials(c, x)


@njit
def kalman(z, q, r):
    x, p, likelihood = 0.0, 1.0, 0.0
    for value in z:
        p += q
        s = p + r
        y = value - x
        likelihood -= 0.5 * (np.log(s) + y * y / s)
        x += p / s * y
        p *= 1 - p / s
    return likelihood


@program(draw(-1, 1, 4), 0.1, 0.2)
def filtering(z, q, r):
    return kalman(z, q, r)


@njit
def sparse_product(data, indices, starts, x):
    y = np.zeros(starts.size - 1)
    for i in range(y.size):
        for k in range(starts[i], starts[i + 1]):
            y[i] += data[k] * x[indices[k]]
    return y


@program(draw(-1, 1, 4), draw(-1, 1, 3))
def sparse_rows(data, x):
    return np.sum(sparse_product(data, np.array([0, 2, 1, 2]), np.array([0, 2, 4]), x) ** 2)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_gradient(f, args):
    plain = in_python(f)
    positions = tuple(range(len(args)))
    gradient = grad(f, positions)(*args)
    for position in positions:
        expected = differences(plain, args, position)
        got = np.ravel(gradient[position])
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8)
    _, tangent = jvp(f, args, args)
    total = sum(float(np.sum(a * g)) for a, g in zip(args, gradient, strict=True))
    np.testing.assert_allclose(tangent, total, rtol=1e-10)


@pytest.mark.parametrize("f", [factorization, newton])
def test_second_derivatives(f):
    (args,) = (found for g, found in PROGRAMS if g is f)
    (x,) = args
    v = np.ones_like(x)
    gradient = grad(f)
    h = 1e-5
    expected = (gradient(x + h * v) - gradient(x - h * v)) / (2 * h)
    np.testing.assert_allclose(hvp(f, (x,), v), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("f", "args"), PROGRAMS[:3], ids=["stencil", "heat", "option"])
def test_debug_mode(f, args):
    expected = grad(f)(*args)
    with debug_mode():
        np.testing.assert_allclose(grad(f)(*args), expected, rtol=1e-12)
