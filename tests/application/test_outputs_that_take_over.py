"""`out=` with an object whose class runs ufuncs itself, into an array that it holds."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad
from tests.support.pairs import rotating

X = np.array([0.7, 1.3])


class Lent:
    """An object that writes results into an array of the program."""

    def __init__(self, a: np.ndarray) -> None:
        self.a = a

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        del kwargs["out"]
        plain = [v.a if isinstance(v, Lent) else v for v in inputs]
        self.a[...] = getattr(ufunc, method)(*plain, **kwargs)
        return self


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "exp": lambda x, o: np.exp(x, out=o),
    "by position": lambda x, o: np.add(x, x, o),
    "tuple": lambda x, o: np.multiply(x, x, out=(o,)),
    "constants": lambda x, o: np.exp(np.ones(2), out=o),
    "floor": lambda x, o: np.floor(x, out=o),
    "isnan": lambda x, o: np.isnan(x, out=o),
    "matmul": lambda x, o: np.matmul(np.eye(2), x, out=o),
    "reduce": lambda x, o: np.add.reduce(x[:, None] * np.ones(2), out=o),
    "operand too": lambda x, o: np.add(o, x, out=o),
    "dtype": lambda x, o: np.exp(x, out=o, dtype=float),
}


@pytest.mark.parametrize(("call", "inside"), rotating(CALLS.values(), [True, False]))
def test_the_method_runs_derived(call: Any, inside: bool) -> None:
    a = np.zeros(2)
    outside = Lent(a)

    def f(x: Any) -> Any:
        o = Lent(a) if inside else outside
        call(x, o)
        return (a * x).sum()

    def plain(x: Any) -> Any:
        a[:] = 0.0
        y = f(x)
        a[:] = 0.0
        return y

    steps = 1e-6 * np.eye(2)
    slopes = [(plain(X + h) - plain(X - h)) / 2e-6 for h in steps]
    value, gradient = value_and_grad(f)(X)
    assert value == plain(X)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6)
    _, slope = jvp(f, (X,), (np.array([1.0, 0.0]),))
    np.testing.assert_allclose(slope, slopes[0], rtol=1e-6)
    assert not a.any()
