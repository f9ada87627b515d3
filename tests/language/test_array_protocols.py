"""Objects that NumPy turns into arrays by their own methods: no derivative is lost."""

from __future__ import annotations

import functools
import itertools
import operator
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, hessian
from mooncake_py.errors import MissingRuleError, MooncakeError
from tests.support.gradients import Program, Programs, check

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


class Convertible:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.v * 2


class Overriding:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return ufunc(*[a.v * 2 if isinstance(a, Overriding) else a for a in inputs])

    def __array_function__(self, f: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return f(args[0].v * 3)


outside = Convertible(1.0)


@programs(X)
def functions(x):
    c = Convertible(x)
    y = np.sum(Convertible(x)) + np.asarray(c).sum() + np.exp(Convertible(x)).sum()
    y = y + np.multiply(x, c).sum() + np.multiply(Convertible(x), x).sum() + np.exp(c).sum()
    return y + np.concatenate([Convertible(x), x]).prod() + np.where(x > 0, c, x).sum() * y


@programs(X)
def operators(x):
    c, constant = Convertible(x), Convertible(np.ones(3))
    return np.sum(x * c) + np.sum(c - x) * np.sum(x * constant + constant / x) + x @ c


class Plain:
    """An object that NumPy would put its results into."""

    def __init__(self, v: Any) -> None:
        self.v = v

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.v

    def __array_wrap__(self, a: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return Plain(a)


def test_results_that_would_be_wrapped_are_refused() -> None:
    with pytest.raises(MissingRuleError, match=r"operator\.mul"):
        grad(lambda x: np.sum((x * Plain(np.ones(3))).v))(X)


@programs(X)
def methods_and_writes(x):
    y, c = np.ones(3), Convertible(x)
    y[:] = c
    y *= c
    z = np.ones(3)
    np.multiply(c, y, out=z)
    return y.dot(c) + np.sum(z) * x[0]


@programs(X)
def set_later(x):
    outside.v = x
    return np.sum(outside) * x[1]


@programs(X)
def constants(x):
    c = Convertible(np.ones(3))
    return np.sum(x * Convertible(x).v) + np.sum(np.asarray(c)) * x[0] + np.exp(c).sum() * x[1]


@programs(X)
def objects_that_override_functions(x):
    return np.exp(Overriding(x)).sum() + np.add(x, Overriding(x)).sum() + np.sum(Overriding(x))


class Wrapped:
    """An object whose operators with NumPy's numbers and arrays are those of its protocol."""

    def __init__(self, v: Any) -> None:
        self.v = v

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [a.v if isinstance(a, Wrapped) else a for a in inputs]
        return Wrapped(getattr(ufunc, method)(*plain, **options))


class Added(Wrapped):
    def __add__(self, other: Any) -> Added:
        return Added(self.v + getattr(other, "v", other))

    __radd__ = __add__

    def __lt__(self, other: Added) -> bool:
        return bool(self.v[0] < other.v[0])


wrapped: Any = Wrapped
added: Any = Added


@programs(X)
def numbers_beside_objects_that_override_ufuncs(x):
    y = (x[0] * wrapped(x)).v + (wrapped(x) / x[2]).v + (np.float64(2.0) - wrapped(x)).v * x
    y += (np.float32(2.0) ** wrapped(x)).v
    s = x[1]
    s *= wrapped(x)
    return np.sum(y * s.v)


@programs(X)
def arrays_beside_objects_that_override_ufuncs(x):
    y = x * wrapped(x)
    z = (np.ones((3, 3)) @ y).v + (wrapped(np.ones(3)) - x).v
    x *= 2.0
    w = x.copy()
    w -= wrapped(x * x)
    return np.sum(z * w.v) + np.sum(y.v)


class WrappedAndConvertible(Wrapped):
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.v


@programs(X)
def arrays_of_objects_that_override_ufuncs(x):
    held = WrappedAndConvertible(x)
    return np.asarray(held) @ x + np.concatenate([held, x * x]).prod()


def test_objects_that_override_ufuncs_alone_make_no_arrays():
    with pytest.raises(MooncakeError, match="Wrapped"):
        grad(lambda x: np.asarray(Wrapped(x)).item().v.sum())(X)


@programs(X)
def objects_that_override_ufuncs_in_lists(x):
    held = [added(x), added(x * x)]
    total = sum(held).v + functools.reduce(lambda a, b: a + b, held).v * x
    total += list(itertools.accumulate(held, initial=added(x)))[-1].v + min(held).v
    total += next(map(operator.attrgetter("v"), filter(lambda a: a.v[1] > 0, held)))
    return np.sum(total * sorted(held, reverse=True)[0].v) + max(held, key=lambda a: a.v[2]).v[0]


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


def test_second_derivatives_of_numbers_beside_objects_that_override_ufuncs():
    h = hessian(lambda x: np.sum((x[0] * wrapped(x * x)).v))(X)
    np.testing.assert_allclose(h[0], [6 * X[0], 2 * X[1], 2 * X[2]])


def test_object_as_argument():
    g: Any = grad(lambda c: np.sum(c) * 3)(Convertible(X.copy()))
    np.testing.assert_array_equal(g.v, 6.0)


def test_constant_object_that_overrides_functions():
    c = Overriding(np.ones(3))
    check(lambda x: np.exp(c).sum() * np.sum(Convertible(x).v), X)


class Scaled:
    def __init__(self, a: Any) -> None:
        self.a = a

    def __mul__(self, k: Any) -> Scaled:
        return Scaled(self.a * k)

    def __add__(self, other: Scaled) -> Scaled:
        return Scaled(self.a + other.a)

    def __neg__(self) -> Scaled:
        return Scaled(-self.a)


def two(x: Any) -> np.ndarray:
    """Return an array of one object twice, which becomes active after it was put there."""
    held = Scaled(1.0)
    y = np.array([held, held])
    held.a = x
    return y


def doubled(y: Any) -> Any:
    y *= 2
    return y


TWO = np.array([2, 3], object)
COMPUTED = {
    "ufunc": lambda y: np.multiply(y, 2)[1],
    "ufunc with options": lambda y: np.multiply(y, 2, dtype=object)[1],
    "sum": np.sum,
    "sum of the array": lambda y: y.sum(),
    "cumsum": lambda y: np.cumsum(y)[1],
    "dot": lambda y: y.dot(TWO),
    "reduce": np.add.reduce,
}
DERIVED = {
    "@": lambda y: -(y @ np.array([3, -1], object)),
    "*": lambda y: (y * -2)[1],
    "*=": lambda y: -doubled(y)[0],
    "-": lambda y: (-y)[0] * 2,
}
MOVED = {
    "item": lambda y: y[1],
    "reshape": lambda y: y.reshape(2, 1)[1, 0],
    "where": lambda y: np.where([True, False], y, y)[0],
    "slice": lambda y: y[::-1][0],
}


@pytest.mark.parametrize("name", COMPUTED)
def test_objects_of_an_array_that_became_active_later_are_refused(name: str) -> None:
    with pytest.raises(MissingRuleError):
        grad(lambda x: COMPUTED[name](two(x)).a.sum())(np.ones(2))


@pytest.mark.parametrize("name", DERIVED)
def test_operators_of_objects_of_an_array_are_derived(name: str) -> None:
    g = grad(lambda x: (DERIVED[name](two(x)).a ** 2).sum())(np.array([1.0, 3.0]))
    np.testing.assert_array_equal(g, [8.0, 24.0])


@pytest.mark.parametrize("name", MOVED)
def test_objects_of_an_array_may_be_moved(name: str) -> None:
    g = grad(lambda x: (MOVED[name](two(x)).a ** 2).sum())(np.array([1.0, 3.0]))
    np.testing.assert_array_equal(g, [2.0, 6.0])
