"""Lists that are passed: of arrays, numbers, tuples and other lists."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import hvp, jvp, value_and_grad, vjp
from mooncake_py.compiler.native.site import report
from tests.compiler.native.agreeing import require_compiled

pytestmark = pytest.mark.plain

rng = np.random.default_rng(3)
W = [rng.standard_normal(shape) for shape in ((4, 3), (3, 3), (3, 2))]
B = [rng.standard_normal(n) for n in (3, 3, 2)]
X = rng.standard_normal((2, 4))
SIZES = [0.5, -1.5, 2.0]


def layers(weights, biases, sizes, x):
    for w, b in zip(weights, biases, strict=True):
        x = np.tanh(x @ w + b)
    return np.sum(x**2) * sizes[1]


def by_index(weights, biases, sizes, x):
    for k in range(len(weights)):
        x = np.tanh(x @ weights[k] + biases[k]) * sizes[-1 - k]
    for k in range(2, 0, -1):
        biases[k] -= biases[k - 1][: len(biases[k])] * sizes[k]
    return np.sum(x) + sum([np.sum(b * b) for b in biases])


def in_parts(weights, biases, sizes, x):
    first = [1.5]
    for w in reversed(weights[:2]):
        w *= first[0]
    for k, (w, s) in enumerate(zip(weights, sizes, strict=False), start=1):
        w += k * s
        if s > 0:
            w[0] = s * sizes[k - 1]
    return np.sum(weights[0] @ weights[1]) * max(sizes) + np.sum(weights[-1][: len(sizes)])


def of_pairs(weights, biases, sizes, x):
    pairs = [(weights[0], biases[0]), (weights[1], biases[1])]
    for w, b in pairs:
        x = np.sin(x @ w) + b
    for _ in range(2):
        for k, c in enumerate(biases):
            c *= sizes[k]
    return np.sum(x) + biases[2] @ biases[2] + s_of(sizes)


def s_of(sizes):
    s = 0.0
    for k, v in enumerate(sizes):
        s += v * sizes[k] * k
    return s


CASES = [layers, by_index, in_parts, of_pairs]


def derivatives(f: Any, **how: Any) -> list[Any]:
    args = copy.deepcopy((W, B, SIZES, X))
    along = copy.deepcopy(args)
    value, g = value_and_grad(f, (0, 1, 2, 3), **how)(*args)
    tangent = jvp(f, args, along, **how)[1]
    second = hvp(f, args, along, argnums=(0, 1, 2, 3), **how)
    y, pullback = vjp(f, *args, **how)
    for a, b in zip(leaves(args), leaves((W, B, SIZES, X)), strict=True):
        assert_array_equal(a, b)
    assert [type(part) for part in g] == [list, list, list, np.ndarray]
    return leaves([value, g, tangent, second, y, pullback(1.0)])


def leaves(tree: Any) -> list[Any]:
    return [v for t in tree for v in leaves(t)] if isinstance(tree, list | tuple) else [tree]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("f", CASES)
def test_derivatives_are_those_without(f: Any, tried: list[bool]) -> None:
    for a, b in zip(derivatives(f, compile=True), derivatives(f), strict=True):
        assert_allclose(a, b, rtol=1e-10, atol=1e-12)
    require_compiled(f, tried)


def given_back(xs, x):
    return sum([a @ a for a in xs]), xs


def grown(xs, x):
    xs.append(x * 2.0)
    return xs[-1] @ xs[0], None


def replaced(xs, x):
    xs[0] = x * xs[0]
    return xs[0] @ x, None


def renewed(xs, x):
    ys = xs if x[0] > 0 else [x, x]
    return ys[0] @ x, ys


@pytest.mark.parametrize("f", [given_back, grown, replaced, renewed])
def test_lists_that_are_changed_or_given_back(f: Any, tried: list[bool]) -> None:
    x = np.arange(1.0, 4.0)
    results = [
        value_and_grad(f, (0, 1), has_aux=True, compile=c)([x * 2, x * 1], x) for c in (False, True)
    ]
    for a, b in zip(*map(leaves, results), strict=True):
        assert_array_equal(a, b)
    assert bool(tried) == (f is replaced)
    assert ("not compiled" in str(report(f)[0])) == (f is not replaced)


def written(xs, x):
    for v in xs:
        v *= x
    return xs[0] @ xs[1]


def test_arrays_that_stand_in_a_list_twice(tried: list[bool]) -> None:
    x = np.arange(1.0, 4.0)
    v = x * 2
    for xs in ([v, v], [v[:3], v[::-1]]):
        found, expected = (value_and_grad(written, 1, compile=c)(xs, x) for c in (True, False))
        assert found[0] == expected[0]
        assert_allclose(found[1], expected[1])
    assert tried == []


def test_lists_of_other_lengths_are_read_anew(tried: list[bool]) -> None:
    def f(xs):
        return sum([x @ x for x in xs])

    for n in (1, 3):
        xs = [np.full(2, k + 1.0) for k in range(n)]
        (g,) = vjp(f, xs, compile=True)[1](1.0)
        assert_allclose(g, 2 * np.array(xs))
    assert tried == [True, True]


def test_lists_that_grow_beside_what_is_compiled(tried: list[bool]) -> None:
    class Model:
        def __init__(self):
            self.log = [0.5]
            self.a = 2.0

        def run(self, x):
            return self.a * (x @ x)

    model = Model()
    for k in range(40):
        model.log.append(float(k))
        value_and_grad(model.run, compile=True)(np.ones(2))
    assert tried == [True] * 40
