"""An infinite tangent times a partial of exactly zero contributes zero, as in reverse mode.

The border of the table of a dynamic program is infinite, and its weight ``exp(-inf)`` is zero; a
square root has an infinite slope at zero, and may have a weight of zero.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, hvp, jacobian, jvp
from mooncake_py.rules.exact_zeros import pushed, pushed_linearly, sum_of_pushed
from mooncake_py.runtime.compilation import is_installed

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.without_modes("in all modes by themselves"),
]

INF, NAN = np.inf, np.nan
COSTS = np.array([INF, 1.0, 2.0])
TABLE = np.array([[INF, 1.0, 2.0], [3.0, INF, 1.0], [0.5, 2.0, 1.0]])
WEIGHTS = np.array([0.0, 1.0, 2.0])
X = 0.5


def softmin(g):
    return -g * np.log(np.sum(np.exp(-COSTS / g)))


def numbers(g):
    s = 0.0
    for c in COSTS:
        s += math.exp(-c / g) + g * math.exp(-c / g)
    return s


def long_loop(g):
    s, v = g, -INF / g
    for _ in range(60):
        s = s * 0.9 + math.exp(v) * s
    return s


def elements(g):
    y = np.zeros(3)
    for i in range(3):
        y[i] = np.exp(-COSTS[i] / g)
    y[1:] += y[:-1] * y[1:]
    y *= g
    return y.sum()


def border(g):
    R = np.full((4, 4), INF)
    R[0, 0] = 0.0
    for i in range(1, 4):
        for j in range(1, 4):
            r = np.array([R[i - 1, j - 1], R[i - 1, j], R[i, j - 1]]) / -g
            m = np.max(r)
            R[i, j] = (i - j * 0.5) ** 2 * g - g * (np.log(np.sum(np.exp(r - m))) + m)
    return R[-1, -1]


def products(g):
    e = np.exp(-TABLE / g)
    return np.sum(e @ WEIGHTS) + np.sum(e.T @ np.exp(-COSTS / g)) + np.trace(e @ e)


def reductions(g):
    y = -COSTS / g
    return np.logaddexp.reduce(y) + np.max(y) + np.logaddexp(y, 1.0).sum() + np.var(np.exp(y))


def choices(g):
    y = -COSTS / g
    return np.where(np.isinf(y), 0.0, y) @ WEIGHTS + np.maximum(y, -5.0 * g).sum()


def bounded(g):
    y = COSTS / g
    return np.tanh(y).sum() + np.arctan(y).sum() + np.sum(1 / (1 + y)) + np.prod(1 + np.exp(-y))


SMOOTH = [softmin, numbers, long_loop, elements, border, products, reductions, choices, bounded]


def roots(g):
    """Return numbers of which the first has an infinite slope."""
    return np.sqrt(WEIGHTS + (g - X))


def loop_of_roots(g):
    s, v = g, math.sqrt(g - X)
    for _ in range(60):
        s = s * 0.99 + v * 0.0 * s + g * 0.01
    return s


def in_place(g):
    y = roots(g)
    y *= WEIGHTS
    y += g
    y[1:] *= y[:-1]
    return y.sum()


def stack_of_vectors(g):
    return np.sum(np.stack([WEIGHTS, WEIGHTS]) @ (roots(g)[:, None] * np.ones(2)))


WITH_ROOTS = {
    "dot": lambda g: np.dot(roots(g), WEIGHTS) + WEIGHTS @ roots(g) + np.inner(roots(g), WEIGHTS),
    "matmul": stack_of_vectors,
    "einsum": lambda g: np.einsum("i,i->", roots(g), WEIGHTS),
    "einsum of three": lambda g: np.einsum("i,i,i->", roots(g), WEIGHTS, WEIGHTS + 1),
    "outer": lambda g: np.outer(roots(g), WEIGHTS)[1:].sum(),
    "convolve": lambda g: np.convolve(roots(g), WEIGHTS[::-1], "valid").sum(),
    "average": lambda g: np.average(roots(g), weights=WEIGHTS),
    "elementwise": lambda g: np.sum(roots(g) * WEIGHTS) + np.sum(roots(g) ** 3),
    "number": lambda g: roots(g)[0] * 0.0 + g * g * (math.sqrt(g - X) * 0.0 + 1.0),
    "constant": lambda g: 0.0 * math.sqrt(g - X) * g + g,
    "loop": loop_of_roots,
    "in place": in_place,
    "trapezoid": lambda g: np.trapezoid(roots(g), [0.0, 0.0, 1.0]),
    "interp": lambda g: np.interp(1.5, [0.0, 1.0, 2.0], roots(g)),
    "clip": lambda g: np.clip(roots(g), 0.5, 9.0).sum() + np.maximum(roots(g), 0.5).sum(),
    "maximum": lambda g: np.max(roots(g)) + np.sort(roots(g))[1:].sum(),
    "solve": lambda g: np.linalg.solve(np.diag([1.0, 2.0, 3.0]), roots(g))[1:].sum(),
    "complex": lambda g: np.sum(np.abs(roots(g) * (1 + 2j) * WEIGHTS)),
    "sum of products": lambda g: sum(a * b for a, b in zip(roots(g), WEIGHTS, strict=True)),
    "square": lambda g: np.linalg.norm(roots(g)[1:]) + np.sum(roots(g) ** 4),
}


def of_two(f):
    """Return a function of an array, with two directions."""
    return lambda v: f(v[0] * v[1])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", SMOOTH)
def test_derivatives_are_those_of_reverse_mode(f):
    slope = grad(f)(X)
    assert np.isfinite(slope)
    difference = (f(X + 1e-6) - f(X - 1e-6)) / 2e-6
    assert slope == pytest.approx(difference, rel=1e-5)
    assert jvp(f, (X,), (1.0,))[1] == pytest.approx(slope, rel=1e-12)
    assert jvp(f, (X,), [(1.0,), (2.0,)])[1] == pytest.approx([slope, 2 * slope], rel=1e-12)
    jac = jacobian(of_two(f), mode="forward")(np.array([X, 1.0]))
    assert_allclose(jac, [slope, X * slope], rtol=1e-12)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", SMOOTH)
def test_second_derivatives(f):
    h = 1e-5
    curvature = (grad(f)(X + h) - grad(f)(X - h)) / (2 * h)
    ways = [
        hvp(f, (X,), 1.0),
        jvp(grad(f), (X,), (1.0,))[1],
        jvp(lambda x: jvp(f, (x,), (1.0,))[1], (X,), (1.0,))[1],
        grad(lambda x: jvp(f, (x,), (1.0,))[1])(X),
    ]
    assert ways == pytest.approx([curvature] * len(ways), rel=1e-6, abs=1e-9)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("f", WITH_ROOTS.values(), ids=WITH_ROOTS.keys())
def test_weights_of_zero_drop_an_infinite_slope(f):
    slope = grad(f)(X)
    assert np.isfinite(slope)
    assert jvp(f, (X,), (1.0,))[1] == pytest.approx(slope, rel=1e-12)
    jac = jacobian(of_two(f), mode="forward")(np.array([X, 1.0]))
    assert_allclose(jac, [slope, X * slope], rtol=1e-12)
    second = jvp(grad(f), (X,), (1.0,))[1], hvp(f, (X,), 1.0)
    assert_allclose(*second)


@pytest.mark.slow
@pytest.mark.parametrize("f", [*SMOOTH, *WITH_ROOTS.values()])
def test_compiled_derivatives_are_the_same(f):
    if not is_installed():
        pytest.skip("compile=True needs llvmlite")
    assert grad(f, compile=True)(X) == pytest.approx(grad(f)(X), rel=1e-12)
    push = jvp(f, (X,), (1.0,), compile=True)[1]
    assert push == pytest.approx(jvp(f, (X,), (1.0,))[1], rel=1e-12)
    assert_allclose(hvp(f, (X,), 1.0, compile=True), hvp(f, (X,), 1.0), rtol=1e-9)


def test_what_a_tangent_does_not_reach_is_not_spoilt():
    t = np.array([INF, 1.0, NAN])
    assert_allclose(pushed(t, np.array([0.0, 2.0, 0.0])), [0.0, 2.0, 0.0])
    assert pushed(INF, 0.0) == 0.0
    assert pushed(INF, 2.0) == INF
    a = np.array([[0.0, 3.0, 0.0], [1.0, 1.0, 0.0]])
    first, second = sum_of_pushed(np.matmul, a, t)
    assert first == 3.0
    assert not np.isfinite(second)
    assert sum_of_pushed(np.matmul, t, np.array([0.0, 2.0, 0.0])) == 2.0
    push = lambda ts: (a @ ts[0], ts[1] * 2.0)  # noqa: E731
    found = pushed_linearly(push, (t, 4.0))
    assert found[0][0] == 3.0
    assert not np.isfinite(found[0][1])
    assert found[1] == 8.0


@pytest.mark.parametrize("f", [
    lambda x: 1 / (1 + np.exp(x[0])) + x[1],
    lambda x: x[1] / np.exp(x[0]),
    lambda x: min(1 / (x[0] - x[0] + 1e-320), 1.0) * x[1],
])  # fmt: skip
def test_arithmetic_of_tangents_raises_nothing_that_the_program_does_not(f):
    x, v = np.array([1000.0, 1.0]), np.ones(2)
    with np.errstate(over="ignore", divide="ignore", invalid="raise"):
        value = f(x)
        slope = grad(f)(x) @ v
        assert jvp(f, (x,), (v,)) == (value, slope)
        assert np.all(np.isfinite(hvp(f, (x,), v)))
