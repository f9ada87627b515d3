"""Arguments of `jvp` that have a tangent, and those that are constants."""

import struct
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import (
    InvalidTangentError,
    NonDifferentiableArgumentError,
    debug_mode,
    grad,
    hvp,
    jvp,
    value_and_hvp,
)
from tests.support.gradients import numbers

X = np.array([1.0, 2.0])
RECORD = np.array([(3.0, 4)], dtype=[("a", float), ("n", int)])


def of_set(x: Any, c: Any) -> Any:
    return np.sum(x * x) * sum(c)


def of_record(x: Any, c: Any) -> Any:
    c["n"] += 1
    return np.sum(x * x) * c["a"][0] * c["n"][0]


def of_iterator(x: Any, c: Any) -> Any:
    return np.sum(x * x) * 2.0 if hasattr(c, "__next__") else x[0]


def of_mixed(x: Any, c: Any) -> Any:
    c[0] *= 2.0
    return np.sum(x * x) * c[0] * sum(c[1])


CONSTANTS = [
    (of_set, {1.0, 2.0}, 3.0),
    (of_set, frozenset({1.5}), 1.5),
    (of_record, RECORD, 15.0),
    (of_iterator, iter([1.0]), 2.0),
    (of_mixed, [1.5, {1.0, 2.0}], 9.0),
]


@pytest.mark.parametrize(("f", "c", "factor"), CONSTANTS)
def test_what_cannot_have_a_tangent_is_a_constant_without_one(f: Any, c: Any, factor: float):
    dx = np.array([1.0, -1.0])
    assert jvp(f, (X, c), (dx, None)) == (5.0 * factor, -2.0 * factor)
    assert jvp(f, (X, c), [(dx, None), (X, None)])[1] == [-2.0 * factor, 10.0 * factor]
    with debug_mode():
        assert jvp(f, (X, c), (dx, None))[1] == -2.0 * factor
    again = grad(lambda x: jvp(f, (x, c), (dx, None))[1])(X)
    np.testing.assert_allclose(again, 2.0 * factor * dx)
    np.testing.assert_allclose(hvp(f, (X, c), dx), 2.0 * factor * dx)
    assert RECORD["n"][0] == 4


def test_what_cannot_have_a_tangent_is_refused_one():
    with pytest.raises(InvalidTangentError, match="a set cannot have a tangent"):
        jvp(of_set, (X, {1.0}), (X, {1.0}))


@pytest.mark.parametrize("x", [3, True, np.arange(3), [1, 2]])
def test_ints_are_refused_with_the_fix(x: Any):
    tangent = np.ones(np.shape(x)) if np.shape(x) else 1.0
    with pytest.raises(InvalidTangentError, match=r"ints have none\n  fix:   pass floats as prim"):
        jvp(lambda x: x, (x,), (tangent,))
    for product in (hvp, value_and_hvp):
        with pytest.raises(NonDifferentiableArgumentError, match=r"pass (a )?float"):
            product(lambda x: x, (x,), tangent)


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


@pytest.mark.parametrize(
    "p",
    [
        [1.5, 2.0], {"a": 1.5, "b": [2.0]}, ([1.5], 2.0), [[1.5, 2.0], np.array([0.5, 2.0])],
        Pair(1.5, [2.0]), {"a": Pair(1.5, 2.0)},
    ],
)  # fmt: skip
def test_what_is_both_value_and_tangent(p):
    """The values become active in place: their tangents were read of those once."""
    before = list(numbers(p))
    expected = sum(v**3 for v in before)
    y, dy = jvp(total, (p,), (p,))
    assert_allclose([y, dy], [expected, 3.0 * expected])
    y, dys = jvp(total, (p,), [(p,), (p,)])
    assert_allclose([y, *dys], [expected, 3.0 * expected, 3.0 * expected])
    assert_allclose(list(numbers(hvp(total, (p,), p))), [6.0 * v * v for v in before])
    assert_allclose(list(numbers(value_and_hvp(total, (p,), p)[2])), [6.0 * v * v for v in before])
    assert list(numbers(p)) == before


def total(p):
    if isinstance(p, dict):
        return sum([total(v) for v in p.values()])
    if isinstance(p, list | tuple):
        return sum([total(v) for v in p])
    if isinstance(p, Pair):
        return total(p.a) + total(p.b)
    return np.sum(p * p * p)


def test_what_is_both_within_a_derivative():
    def f(x):
        p = [x[0], 2.0 * x[1]]
        return jvp(lambda p: p[0] ** 3 * p[1], (p,), (p,))[1]  # 8 x0**3 x1

    a, b = X
    assert_allclose(grad(f)(X), [24.0 * a * a * b, 8.0 * a**3], rtol=1e-14)


def test_what_does_not_move_is_constant() -> None:
    """So code without a rule may read it, and loops over it need no tangents."""

    def f(x: Any, c: Any) -> Any:
        packed = struct.unpack("2d", struct.pack("2d", *c["list"]))
        return x * sum(packed) + c["number"]

    c = {"list": [1.0, 2.0], "number": 4.0}
    assert jvp(f, (5.0, c), (2.0, None)) == (19.0, 6.0)
    assert jvp(f, (5.0, c), [(2.0, None), (1.0, None)]) == (19.0, [6.0, 3.0])
    y, dy = jvp(lambda x, c: (x, c), (5.0, c), (2.0, None))
    assert y == (5.0, c)
    assert dy == (2.0, {"list": [0.0, 0.0], "number": 0.0})
