"""What NumPy raises for an output, the derivative raises in the same words."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp
from tests.support.pairs import rotating

X = np.array([1.0, 2.0, 3.0])
BOTH: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: grad(f)(X.copy()),
    "jvp": lambda f: jvp(f, (X.copy(),), (X,)),
}


def still(shape: Any = 3, dtype: Any = float) -> Any:
    a = np.zeros(shape, dtype)
    a.flags.writeable = False
    return a


def set_item(a: Any, i: Any, v: Any) -> None:
    a[i] = v


def set_flat(a: Any, v: Any) -> None:
    a.flat = v


def add_to(a: Any, v: Any) -> None:
    a += v


def into_itself(f: Any) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        b = x * 1.0
        return f(b, None, out=b)

    return run


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "element": lambda x: set_item(still(), 0, x[0]),
    "in place": lambda x: add_to(still(), x),
    "flat": lambda x: set_flat(still(), x),
    "element of flat": lambda x: set_item(still().flat, 0, x[0]),
    "slice of flat": lambda x: set_item(still().flat, slice(0, 2), x[:2]),
    "add": lambda x: np.add(x, 1, out=still()),
    "sum": lambda x: np.sum(x, out=still(())),
    "cumsum": lambda x: np.cumsum(x, out=still()),
    "round": lambda x: np.round(x, 1, out=still()),
    "floor": lambda x: np.floor(x, out=still()),
    "floor to ints": lambda x: np.floor(x, out=still(3, int), casting="unsafe"),
    "take": lambda x: np.take(x, [0, 1, 2], out=still()),
    "fill": lambda x: still().fill(x[0]),
    "copyto": lambda x: np.copyto(still(), x),
    "put": lambda x: np.put(still(), [0], x[0]),
    "fft": lambda x: np.fft.fft(x, out=still(3, complex)),
    "divmod": lambda x: np.divmod(x, 2, out=(still(), still())),
    "add nothing": into_itself(np.add),
    "maximum with nothing": into_itself(np.maximum),
    "power with nothing": into_itself(np.power),
    "arctan2 of nothing": into_itself(np.arctan2),
    "fmax with text": lambda x: np.fmax(x, "b", out=x * 1.0),
}


@pytest.mark.parametrize(("name", "mode"), rotating(PROGRAMS, BOTH))
def test_errors_are_those_of_the_plain_call(name: str, mode: str) -> None:
    def f(x: Any) -> Any:
        PROGRAMS[name](x)
        return np.sum(x)

    with pytest.raises((ValueError, TypeError)) as plain:
        f(X.copy())
    with pytest.raises(plain.type) as raised:
        BOTH[mode](f)
    assert str(raised.value) == str(plain.value)


@pytest.mark.parametrize("mode", BOTH)
def test_bytes_in_another_order_are_refused_by_the_name_of_the_method(mode: str) -> None:
    with pytest.raises(NotImplementedError, match=r"derivative of numpy\.ndarray\.byteswap with"):
        BOTH[mode](lambda x: np.sum(x.byteswap()))
