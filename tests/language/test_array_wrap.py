"""``__array_wrap__`` of what a ufunc writes to, and instances among arguments by keyword."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad

X = np.array([1.3, 0.7, 2.1])


class Scaled(np.ndarray):
    def __array_wrap__(self, a: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return np.asarray(a) * 10.0


class Own(np.ndarray):
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        inputs = tuple([np.asarray(i) * 0.9 if isinstance(i, Own) else i for i in inputs])
        return getattr(ufunc, method)(*inputs, **options)


class Plain(np.ndarray):
    pass


def number(value: float, cls: Any) -> Any:
    return np.array(value).view(cls)


def scaled(*numbers: float) -> Any:
    return np.array(numbers).view(Scaled)


def in_place(x: Any) -> Any:
    s = scaled(2.0, 3.0, 4.0)
    s *= x
    return s


def reduced(x: Any) -> Any:
    s = (x * 1.0).view(Scaled)
    return np.add.reduce(s, keepdims=True, out=s[:1])  # not wrapped


def as_out(x: Any) -> Any:
    s = scaled(2.0, 3.0, 4.0)
    return np.multiply(s, x, out=s)


def one_of_two(x: Any) -> Any:
    return np.concatenate(np.modf(x * 3.3, scaled(0.0, 0.0, 0.0), None))


PROGRAMS: list[Callable[[Any], Any]] = [
    in_place,
    reduced,
    as_out,
    one_of_two,
    lambda x: np.prod(x, initial=number(2.0, Own)),
    lambda x: np.prod(x, initial=number(2.0, Plain)),
    lambda x: np.multiply.reduce(x, initial=number(2.0, Own)),
    lambda x: np.var(x, mean=np.array([2.3]).view(Plain)),
    lambda x: np.std(x, mean=np.array([2.3]).view(Plain)),
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_results_are_those_of_numpy(program: Callable[[Any], Any]) -> None:
    f = lambda x: np.sum(np.asarray(program(x)))  # noqa: E731
    value, g = value_and_grad(f)(X)
    assert value == pytest.approx(f(X))
    expected = [(f(X + 1e-5 * e) - f(X - 1e-5 * e)) / 2e-5 for e in np.eye(3)]
    np.testing.assert_allclose(g, expected, rtol=1e-6)
    assert jvp(f, (X,), (X,))[1] == pytest.approx(X @ np.array(expected))


class Functions(np.float64):
    """A number that NumPy asks for its functions, and not for its ufuncs."""

    def __array_function__(self, f: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return 0.5


@pytest.mark.parametrize(
    "use",
    [
        lambda p, v: np.multiply(p, v), lambda p, v: np.multiply(v, p), lambda p, v: np.sin(p),
        lambda p, v: np.add(p, p), lambda p, v: np.hypot(p, v), lambda p, v: p * v,
        lambda p, v: np.multiply(p, [1.0, v]), lambda p, v: np.modf(p)[0],
    ],
)  # fmt: skip
def test_numbers_of_other_classes_make_numbers(use: Callable[[Any, Any], Any]) -> None:
    p = Functions(0.75)

    def told(v: Any) -> Any:
        y = use(p, v)
        return np.sum(y) + 2.0 * (type(y) is np.float64)

    for v in (np.float64(0.5), 0.5):
        assert value_and_grad(lambda x, v=v: x * told(v))(1.0) == (told(v), told(v))
        value, slope = value_and_grad(told)(v)
        assert value == told(v)
        assert slope == pytest.approx((told(v + 1e-6) - told(v - 1e-6)) / 2e-6, abs=1e-8)
