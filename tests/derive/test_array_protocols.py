"""Objects that NumPy turns into arrays by their own methods: refused, never a lost derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import grad
from mooncake_py.errors import DerivativeDropError
from tests.support.gradients import check

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


def assigned(x):
    y, c = np.zeros(3), Convertible(x)
    y[:] = c
    return y.sum()


def added_in_place(x):
    y, c = np.zeros(3), Convertible(x)
    y += c
    return y.sum()


def set_later(x):
    outside.v = x
    return np.sum(outside)


outside = Convertible(1.0)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(Convertible(x)),
        lambda x: np.asarray(Convertible(x)).sum(),
        lambda x: np.exp(Convertible(x)).sum(),
        lambda x: np.multiply(x, Convertible(x)).sum(),
        lambda x: np.concatenate([Convertible(x), x]).sum(),
        lambda x: np.where(x > 0, Convertible(x), x).sum(),
        lambda x: x.dot(Convertible(x)),
        lambda x: np.exp(Overriding(x)).sum(),
        lambda x: np.add(x, Overriding(x)).sum(),
        lambda x: np.sum(Overriding(x)),
        assigned,
        added_in_place,
        set_later,
    ],
)
def test_active_object_is_refused(f):
    with pytest.raises(DerivativeDropError, match="NumPy would use an active") as caught:
        grad(f)(X.copy())
    assert caught.value.where.file == __file__


def test_object_as_argument_is_refused():
    with pytest.raises(DerivativeDropError, match="__array__"):
        grad(lambda c: np.sum(c))(Convertible(X.copy()))


def test_constant_object_and_explicit_use_are_fine():
    constant = Convertible(np.ones(3))
    check(lambda x: np.sum(x * Convertible(x).v) + np.sum(np.asarray(constant)) * x[0], X)
    check(lambda x: np.exp(Convertible(np.ones(3))).sum() * np.sum(Convertible(x).v), X)
