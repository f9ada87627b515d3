"""Objects that NumPy makes arrays of: it tells ``__array__`` the dtype, and whether to copy."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import MissingRuleError, jvp, value_and_grad
from tests.support.pairs import rotating

X = np.array([1.3, 0.7, 2.1])
Y = np.array([2.0, 0.3, -1.0])


class Held:
    def __init__(self, held: Any) -> None:
        self.held = held


class Giving(Held):
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.held


class Copying(Held):
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        a = self.held if dtype is None else self.held.astype(dtype)
        return a.copy() if copy else a


class Older(Held):
    def __array__(self, dtype: Any = None) -> Any:
        return self.held


class Scaled(Held):
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.held * (1.0 + 2.0 * (dtype is not None) + 5.0 * (copy is True))


CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "array": np.array,
    "asarray": np.asarray,
    "copy": np.copy,
    "ascontiguousarray": np.ascontiguousarray,
    "with a dtype": lambda v: np.asarray(v, float),
    "array with a dtype": lambda v: np.array(v, dtype=float),
    "if needed": lambda v: np.array(v, copy=None),
    "Fortran": lambda v: np.array(v, order="F"),
    "with an axis": lambda v: np.array(v, ndmin=2)[0],
    "in a list": lambda v: np.asarray([v], float)[0],
}


def check(f: Callable[[Any], Any]) -> None:
    value, g = value_and_grad(f)(X)
    assert value == pytest.approx(f(X))
    expected = [(f(X + 1e-5 * e) - f(X - 1e-5 * e)) / 2e-5 for e in np.eye(3)]
    np.testing.assert_allclose(g, expected, rtol=1e-6, atol=1e-8)
    assert jvp(f, (X,), (Y,))[1] == pytest.approx(Y @ np.array(expected))


@pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy:Warning")
@pytest.mark.parametrize(
    ("name", "kind"), rotating(CONVERSIONS, [Giving, Copying, Older, Scaled], times=2)
)
def test_array_methods_are_asked_as_by_numpy(name: str, kind: type[Held]) -> None:
    def f(x: Any) -> Any:
        z = x * 1.0
        held = kind(z)
        a = CONVERSIONS[name](held)
        a *= x[1]  # seen by what the object holds, if they share memory
        return np.sum(a * x[0] + held.held * z)

    check(f)


class Samples(Held):
    def __len__(self) -> int:
        return 3

    def __getitem__(self, i: Any) -> Any:
        return self.held[i] * 2.0


class Measured(Held):
    def __float__(self) -> float:
        return float(self.held[0] * 2.0)


class Sub(np.ndarray):
    pass


@pytest.mark.parametrize(
    ("number", "make"),
    rotating(
        [np.float64, np.longdouble, np.complex128],
        [
            Copying,
            Samples,
            Measured,
            lambda x: [x],
            lambda x: (x, x),
            lambda x: [x[0], x[1] * x[2]],
            lambda x: deque([x[0], x[1]]),
            lambda x: [x[:1].reshape(())],
            lambda x: [x, [1.0, 2.0, 3.0]],
            lambda x: [x.view(Sub)],
            lambda x: [np.ma.masked_greater(x, 2.0)],
        ],
    ),
)
def test_types_of_numbers_make_arrays(number: Any, make: Callable[[Any], Any]) -> None:
    check(lambda x: np.sum(np.square(number(make(x * 1.0)))).real)


def test_items_that_numpy_reads_into_arrays_of_objects_are_refused() -> None:
    with pytest.raises(MissingRuleError, match="Samples"):
        value_and_grad(lambda x: np.sum(np.array([Samples(x)], object)))(X)
