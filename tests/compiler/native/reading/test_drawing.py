"""Random numbers of generators with a seed, and pure functions, made before compiled code runs."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad
from mooncake_py.compiler.native.site import report
from tests.compiler.native.reading.decided import agrees, agrees_compiled

pytestmark = pytest.mark.plain

X = np.array([0.3, 0.7, -0.4])


class Walk:
    def __init__(self, scale, rng):
        self.scale, self.rng = scale, rng

    def step(self, x):
        return x + self.scale * self.rng.normal(0.0, 0.5, size=x.shape)


def paths(x, seed, n):
    rng = np.random.default_rng(seed)
    half = rng.standard_normal((n, len(x)))
    z = np.concatenate([half, -half])
    walk = Walk(x[0], rng)
    y = x * 1.0
    for _ in range(4):
        y = walk.step(y) * rng.uniform(0.5, 1.5)
        for k in range(1, n, 2):
            y = y + x[k] * rng.random() * rng.integers(1, 4)
    return np.sum(y * y) + np.mean(np.exp(z @ x)) + rng.exponential(2.0) * x[1]


def batches(x, seed, n):
    rng = np.random.RandomState(seed)
    s, count = 0.0, 0
    for _ in range(5):
        order = rng.permutation(len(x))
        for start in range(0, len(x) - 1, 2):
            rows = order[start : start + 2]
            s += np.sum(x[rows] ** 2) * x[order[0]]
            count += 1
        if s > 0.2 * n:
            break
    return s * count


def of_python(x, seed, n):
    draw = random.Random(seed)
    s = draw.gauss(0.0, 1.0) * x[0]
    for k in range(n):
        v = draw.uniform(0.0, 2.0) * x[k % 3]
        if draw.randint(1, 6) > 3:
            s += v * v
        else:
            s -= v
    return s


def made_in_a_loop(x, seed, n):
    s = 0.0
    for k in range(n):
        rng = np.random.default_rng(seed)
        s += (k + 1) * np.sum(rng.random(len(x)) * x**2) * rng.random()
    return s


def written(x, seed, n):
    rng = np.random.default_rng(seed)
    w = rng.random(len(x))
    s = 0.0
    for k in range(n):
        z = rng.random(len(x))
        z *= x
        w[k] += 1.0
        s += np.sum(z * w)
    return s


@pytest.mark.parametrize("f", [paths, batches, of_python, made_in_a_loop, written])
def test_draws(f: Any, tried: list[bool]) -> None:
    for seed, n in ((3, 2), (4, 2), (3, 3), (3, 2)):
        agrees_compiled(f, tried, X, seed, n)
    agrees_compiled(f, tried, np.append(X, [0.5, -0.6]), 3, 3)


def under_a_test(x, rng):
    s = 0.0
    for v in x:
        if v > 0.0:
            s += v * rng.random()
    return s


def after_a_test(x, rng):
    s = x[0] * rng.random() if x[1] > 0.0 else x[0]
    return s * rng.random()


def on_both_sides(x, rng):
    if x[0] > 0.0:
        s = x[0] * rng.random()
    else:
        s = x[1] * rng.random() * 2.0
    return s


def after_a_loop_that_is_left(x, rng):
    s = 0.0
    for _ in range(5):
        s += x[0] * rng.random()
        if s > 0.5:
            break
    return s * rng.random()


def after_a_pass_that_is_left(x, rng):
    s = 0.0
    for k in range(3):
        if x[k] < 0.5:
            continue
        s += x[k] * rng.random()
    return s


def in_while(x, rng):
    s = 0.1 * x[0]
    while s < 2.0:
        s += rng.random() * (1.0 + x[1] ** 2)
    return s


def as_often_as_the_pass(x, rng):
    s = 0.0
    for k in range(3):
        s += np.sum(rng.random(k + 1)) * x[k]
    return s


def by_a_test_that_ends(x, rng):
    s = x[0] * rng.random()
    if s > 0.2:
        return s
    return s * x[1] * rng.random()


UNSURE = [
    under_a_test, after_a_test, on_both_sides, after_a_loop_that_is_left,
    after_a_pass_that_is_left, in_while, as_often_as_the_pass, by_a_test_that_ends,
]  # fmt: skip


@pytest.mark.parametrize("f", UNSURE)
@pytest.mark.parametrize("make", [np.random.default_rng, random.Random])
def test_draws_that_numbers_decide(f: Any, make: Any, tried: list[bool]) -> None:
    if make is random.Random and f is as_often_as_the_pass:
        return

    def g(x):
        return f(x, make(7))

    for x in (X, -X, 3.0 * X, 0.1 * X):
        agrees(g, x)


def from_outside(x, rng):
    return x[0] * rng.random()


def without_a_seed(x, k):
    return np.sum(x * 0.0 * np.random.default_rng().random(3)) + x[k]


def hidden(x, k):
    np.random.seed(k)  # noqa: NPY002
    return x[k] * np.random.rand()  # noqa: NPY002


def of_numbers(x, k):
    rng = np.random.default_rng(k)
    return rng.normal(1.0, float(x[0]) ** 2) * x[1]


@pytest.mark.parametrize("f", [without_a_seed, hidden])
def test_other_states_are_left(f: Any, tried: list[bool]) -> None:
    found = value_and_grad(f, compile=True)(X, 1)
    np.testing.assert_array_equal(found[1], value_and_grad(f)(X, 1)[1])
    assert report(f)[0].found == "not compiled"


def test_generators_that_are_passed_go_on(tried: list[bool]) -> None:
    rngs = [np.random.default_rng(3) for _ in range(2)]
    for _ in range(3):
        a, b = (
            value_and_grad(from_outside, compile=way)(X, rng)
            for way, rng in zip((False, True), rngs, strict=True)
        )
        np.testing.assert_array_equal(a[1], b[1])


def of_pure_functions(x, n):
    i, j = np.triu_indices(len(x), 1)
    s = np.sum(np.cos(x[i] - x[j]))
    nodes, weights = np.polynomial.legendre.leggauss(5)
    s += np.sum(weights * np.exp(nodes * x[0]))
    for u, w in zip(*np.polynomial.hermite.hermgauss(n), strict=True):
        s += w * np.sin(u * x[1]) ** 2
    window = np.hanning(len(x) + 2)
    window[1] = 3.0
    return s + window[1:-1] @ x + np.hanning(len(x) + 2)[1]


def test_pure_functions(tried: list[bool]) -> None:
    for n in (2, 4, 2):
        agrees(of_pure_functions, X, n)
        agrees(of_pure_functions, np.append(X, [0.5, -0.6]), n)


def test_seeds_that_raise(tried: list[bool]) -> None:
    value_and_grad(made_in_a_loop, compile=True)(X, 3, 2)
    with pytest.raises(ValueError, match="negative"):
        value_and_grad(made_in_a_loop, compile=True)(X, -3, 2)
    agrees_compiled(made_in_a_loop, tried, X, 3, 2)


@pytest.mark.parametrize(
    "body",
    [
        "k = 0\n    while k < 3:\n        k = k + 1\n        s = s + g.normal() * k",
        "while s < 2.0:\n        s += g.random()",
        "s = sum(g.normal() for i in range(3))",
        "s = sum([g.normal() * v for v in x])",
        "while True:\n        s = g.random()\n        if s < 0.4:\n            break",
    ],
)
def test_loops_that_draw_otherwise_than_for_loops(body: str, define) -> None:
    f = define(
        "import numpy as np\ndef f(x):\n    g = np.random.default_rng(5)\n    s = 0.0\n"
        f"    {body}\n    return s * np.sum(x * x)\n"
    )
    x = np.array([0.3, 1.2, -0.7])
    for _ in range(2):
        value, g = value_and_grad(f, compile=True)(x)
        assert value == f(x)
        np.testing.assert_allclose(g, value_and_grad(f)(x)[1], rtol=1e-14)
