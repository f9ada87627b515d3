"""Operands that are rare with active data: right as in the plain call, or refused by name."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from mooncake_py import DerivativeDropError, checkpoint, jvp, value_and_grad, vjp

X = np.array([1.0, 2.0, 3.0])
T = np.array([0.3, 0.5, -0.7])


class Converted:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.v, dtype)


class Sized(Converted):
    """As a labelled array of a library: only one without axes is a number."""

    def __float__(self) -> float:
        if np.ndim(self.v):
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return float(self.v)


class Number:
    def __float__(self) -> float:
        return 1.5


class Own(random.Random):
    pass


def drawn(x: Any) -> Any:
    return x * Own(3).random()


def one_array(x: Any) -> Any:
    a = np.empty(1, object)
    a[:] = [x]
    return np.sum(a[0] * x)


def two_arrays(x: Any) -> Any:
    a = np.empty(2, object)
    a[:] = [x, 2 * x]
    return np.sum(a[0] * a[1])


def rows(x: Any) -> Any:
    a = np.empty((2, 3), object)
    a[:] = [x, 2 * x]
    return np.sum(a[0] * a[1])


RIGHT: dict[str, Callable[[Any], Any]] = {
    "an array as an object": one_array,
    "arrays as objects": two_arrays,
    "rows of objects": rows,
    "np.float64 of an array": lambda x: np.sum(np.float64(cast(Any, Sized([2.0, 1.0, 1.0]))) * x),
    "np.float64 of a number": lambda x: np.float64(cast(Any, Sized(2.0))) * x[0],
    "np.float64 of active data": lambda x: np.sum(np.float64(cast(Any, Sized(x))) * x),
    "items with axes": lambda x: np.sum(np.add(x, [Converted([1.0]), Converted([2.0]), [4.0]])),
    "a generator made here": lambda x: drawn(x[0]),
    "a generator made in a checkpoint": lambda x: checkpoint(drawn, x[1]),
    "the largest of a list and an array": lambda x: max([x[0]], x[1:2] * 2)[0],  # type: ignore[operator]
    "the smaller one of a tuple and an array": lambda x: min((x[2],), x[1:2])[0],
    "a list and a matrix": lambda x: np.sum(([x[0], x[1]] < x[1:].view(np.matrix)) * x[0]),
    "a list and a number": lambda x: np.sum((x[1] >= [x[0], x[2]]) * x[0]),  # type: ignore[operator]
    "nan by None": lambda x: np.nansum(np.full_like(x, cast(Any, None))) + x[0],
    "indices that are floats": lambda x: np.sum(np.take(x, [2.0, 0.0]) * x[1]),
}


@pytest.mark.parametrize("name", RIGHT)
def test_as_the_plain_call(name: str) -> None:
    f = RIGHT[name]
    value, slope = value_and_grad(f)(X.copy())
    assert value == pytest.approx(float(f(X.copy())))
    expected = [(f(X + 1e-5 * e) - f(X - 1e-5 * e)) / 2e-5 for e in np.eye(3)]
    np.testing.assert_allclose(slope, expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(jvp(f, (X.copy(),), (T,))[1], slope @ T)


def test_items_without_a_number_raise_as_in_numpy() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.add(x, [Converted(1.0), Converted(2.0), Converted(3.0)]))

    for run in (f, value_and_grad(f), lambda x: jvp(f, (x,), (T,))):
        with pytest.raises(TypeError, match="must be a string or a real number"):
            run(X.copy())


def test_what_a_class_of_an_operand_makes_is_refused() -> None:
    def f(x: Any) -> Any:
        return np.dot(x[0], np.timedelta64(3, "s")) / np.timedelta64(1, "s")

    with pytest.raises(DerivativeDropError, match="makes a timedelta from active data"):
        value_and_grad(f)(X)


def test_places_of_interp_may_be_objects() -> None:
    def f(x: Any) -> Any:
        return np.interp(Number(), [0.0, 1.0, 2.0], x)  # type: ignore[arg-type]

    y, slope = value_and_grad(f)(X)
    assert y == f(X)
    slopes = [(f(X + d) - f(X - d)) / 2e-6 for d in 1e-6 * np.eye(X.size)]
    np.testing.assert_allclose(slope, slopes, atol=1e-8)


@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "eq", "ne"])
def test_lists_are_compared_with_arrays_as_by_numpy(name: str) -> None:
    compare = getattr(operator, name)
    lists = (lambda x: [x[0], x[2]], lambda x: (x[:2], x[1:]), lambda x: [x[0], "a"])
    others = (lambda x: x[1:], lambda x: x[1], lambda x: np.ma.array(x[:2], mask=[False, True]))
    pairs = [(a, b) for a in lists for b in others]
    for first, second in [*pairs, *((b, a) for a, b in pairs)]:

        def f(x: Any, first: Any = first, second: Any = second) -> Any:
            y = compare(first(x), second(x))
            return [x * 1, y, type(y).__name__]

        def outcome(run: Any) -> str:
            try:
                return repr(run())
            except TypeError as error:
                return str(error)

        expected = outcome(lambda f=f: f(X))
        assert outcome(lambda f=f: vjp(f, X)[0]) == expected
        assert outcome(lambda f=f: jvp(f, (X,), (T,))[0]) == expected


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.concatenate(np.asmatrix(np.outer(x, x)), 0)),
        lambda x: np.concatenate(np.asmatrix(np.outer(x, x)), 1)[0, 3] * 2.0,
        lambda x: np.concatenate(np.asmatrix(x), 1).shape[0] * x[0],
        lambda x: np.ma.array(x, mask=[False, True, False]).astype("S8").shape[0] * x[0],
    ],
)
def test_rows_and_texts_of_an_array_of_a_class(f: Any) -> None:
    value, slope = value_and_grad(f)(X.copy())
    assert value == f(X)
    expected = [(f(X + 1e-5 * e) - f(X - 1e-5 * e)) / 2e-5 for e in np.eye(3)]
    np.testing.assert_allclose(slope, expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(jvp(f, (X.copy(),), (T,))[1], slope @ T)
