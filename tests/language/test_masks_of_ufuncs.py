"""The argument `where` of ufuncs and reductions: what NumPy asks, converts, or refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import MooncakeError, grad, jvp, value_and_grad
from tests.support.gradients import Program
from tests.support.pairs import rotating

X = np.array([0.7, 1.3, 1.9])
TRUTHS = [True, False, True]


class Doubling(np.ndarray):
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, where: Any, **kw: Any) -> Any:
        return 2.0 * getattr(ufunc, method)(*inputs, where=np.asarray(where), **kw)


class Unasked(np.ndarray):
    __array_ufunc__ = None


class Handing(np.ndarray):
    """Hands on to ndarray, which leaves what has such a mask to others."""

    def __array_ufunc__(self, *args: Any, **kw: Any) -> Any:
        return super().__array_ufunc__(*args, **kw)


class Converted:
    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.values, dtype=dtype)


class ToIntegers(Converted):
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.values, dtype=int)


class Tripling(Converted):
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        return 3.0 * getattr(ufunc, method)(*inputs, **kw | {"where": np.asarray(self)})


def reduced(x, m):
    return np.add.reduce(x * x, where=m) + np.logaddexp.reduce(x, where=m, initial=0.3)


def summed(x, m):
    return np.sum(x * x, where=m) + (x * x).sum(where=m) + np.nansum(x, where=m)


def multiplied(x, m):
    return np.prod(x, where=m)


def largest(x, m):
    return np.max(x, where=m, initial=0.1) * x[0]


def averaged(x, m):
    return np.mean(x * x, where=m) + x.mean(where=m)


def varied(x, m):
    return np.var(x, where=m) + np.nanmean(x * x, where=m)


def elementwise(x, m):
    y = np.exp(x, where=m, out=np.ones(3))
    return np.sum(np.multiply(x, y, where=m, out=np.zeros(3)))


def several(x, m):
    return np.sum(np.modf(x, where=m, out=(np.zeros(3), np.zeros(3)))[0] * x)


FUNCTIONS = [reduced, summed, multiplied, largest, averaged, varied, elementwise, several]
MASKS = {
    "array": np.array(TRUTHS),
    "list": TRUTHS,
    "of ints": [1, 0, 1],
    "range": range(3),
    "subclass": np.array(TRUTHS).view(Doubling),
    "object": Converted(TRUTHS),
    "object of ints": Converted([1, 0, 1]),
    "object of ufuncs": Tripling(TRUTHS),
    "number": 1,
    "masked": np.ma.array(TRUTHS, mask=[False, False, True]),
}
REFUSED = {
    "without ufuncs": np.array(TRUTHS).view(Unasked),
    "handing on": np.array(TRUTHS).view(Handing),
    "ints": np.array([1, 0, 1]),
    "floats": np.array([1.0, 0.0, 1.0]),
    "object to ints": ToIntegers([1, 0, 1]),
}


@pytest.mark.parametrize(("mask", "f"), rotating(MASKS.values(), FUNCTIONS, times=2))
def test_masks(f: Any, mask: Any) -> None:
    def program(x):
        return f(x, mask)

    if isinstance(mask, (Doubling, Tripling)) and f is several:  # multiplies a tuple
        for run in (program, grad(program)):
            with pytest.raises(TypeError, match="can't multiply sequence"):
                run(X)
        return
    Program(program, (X,), {}).check()
    dx = np.array([0.3, 0.4, -0.7])
    expected = np.vdot(grad(program)(X), dx)
    np.testing.assert_allclose(jvp(program, (X,), (dx,))[1], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("mask", "f"), rotating(REFUSED.values(), FUNCTIONS, times=2))
def test_what_is_no_mask_raises_what_numpy_raises(f: Any, mask: Any) -> None:
    with pytest.raises(TypeError) as plain:
        f(X, mask)
    for run in (lambda: grad(f)(X, mask), lambda: jvp(lambda x: f(x, mask), (X,), (X,))):
        with pytest.raises(TypeError) as found:
            run()
        assert str(found.value).split("(")[0] == str(plain.value).split("(")[0]


def test_none_is_false_to_a_ufunc() -> None:
    value, dx = value_and_grad(lambda x: np.multiply(x, x, where=None, out=np.ones(3)).sum())(X)
    assert value == 3.0
    np.testing.assert_array_equal(dx, np.zeros(3))


@pytest.mark.parametrize("f", [summed, varied, largest])
def test_a_mask_whose_class_calls_itself_for_ever_is_refused(f: Any) -> None:
    series = pytest.importorskip("pandas").Series(TRUTHS)
    with pytest.raises(RecursionError):
        f(X, series)
    with pytest.raises(MooncakeError, match="Series"):
        grad(f)(X, series)
    with pytest.raises(MooncakeError, match="Series"):
        grad(lambda x: x[0] * np.sum(np.ones(3), where=series))(X)
