"""What NumPy does not take as an output, a mask or a mode, and operands that it does not find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, vjp

pytestmark = pytest.mark.plain

X = np.array([1.3, 0.7, 2.1])

OUTPUTS: dict[str, Callable[[Any], Any]] = {
    "a truth": lambda x: True,
    "a text": lambda x: "a",
    "a slice": lambda x: slice(0, 2),
    "a number": lambda x: x[0] * 1.0,
    "a list": lambda x: [x[0], x[1], x[2]],
    "a tuple of numbers": lambda x: (x[0],),
    "a tuple of one": lambda x: (np.zeros(3),),
    "a tuple of two": lambda x: (np.zeros(3), np.zeros(3)),
    "an array": lambda x: np.zeros(3),
    "nothing": lambda x: None,
    "dots": lambda x: ...,
}
FUNCTIONS: list[Any] = [
    np.abs, np.isnan, np.rint, np.modf, np.frexp, np.max, np.sum, np.any, np.argmax, np.around,
    np.mean, np.std, np.cumsum, np.nanmax, np.isposinf, np.fix, np.conj, np.add.reduce,
    np.logical_not, np.median,
]  # fmt: skip
OTHERS: dict[str, Callable[[Any], Any]] = {
    "a mask that is a number": lambda x: np.abs(x[0], where=x[0], out=np.zeros(())),
    "a mask of numbers, of two results": lambda x: np.modf(
        x, where=x, out=(np.zeros(3), np.zeros(3))
    ),
    "an operand as the output": lambda x: np.divmod(x[0], 2, x[0]),
    "outputs of two shapes": lambda x: np.modf(x[0], np.zeros(()), x * 1.0),
    "outputs of two lengths": lambda x: np.divmod(x, 2.0, np.zeros(3), np.zeros((3, 3))),
    "an output of what takes none": lambda x: np.flip(x, out=np.zeros(3)),  # type: ignore[call-arg]
    "no output of what takes none": lambda x: np.tile(x, 2, out=None),  # type: ignore[call-arg]
    "no output of a draw": lambda x: np.random.default_rng(0).exponential(x, out=None),  # type: ignore[call-arg]
    "one item drawn as an array": lambda x: [np.random.default_rng(0).choice(x, ())],
    "the polynomial of a number": lambda x: np.poly(x[0]),
    "roots of a number": lambda x: np.roots(float(x[0])),
    "samples that are a number": lambda x: np.histogramdd(float(x[0])),
    "an empty product into an output": lambda x: np.dot(2, True, np.zeros(())),
    "ints times a number": lambda x: np.dot(np.arange(3), 1, x * 1.0),
    **{
        f"put by the mode {mode!r}": lambda x, mode=mode: put(x, mode)
        for mode in (0, 1, 2, 3, True, "w", "clip", None, 1.0)
    },
}


def put(x: Any, mode: Any) -> Any:
    y = x * 2.0
    np.put(x[0], -1, 2.0)  # a copy of the number
    np.put(y, [5, -1], [x[0], 8.0], mode)
    return y


def outcome(run: Callable[[], Any]) -> tuple[Any, str]:
    try:
        with np.errstate(all="ignore"):
            return "returned", repr(run())
    except Exception as error:  # whatever NumPy raises
        kind = TypeError if isinstance(error, TypeError) else type(error)
        return kind, ""


def require_same(f: Callable[[Any], Any], where: Any) -> None:
    def beside(x: Any) -> Any:
        return [x * 1.0, f(x)]

    expected = outcome(lambda: beside(X))
    assert outcome(lambda: vjp(beside, X)[0]) == expected, where
    assert outcome(lambda: jvp(beside, (X,), (X,))[0]) == expected, where


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_outputs(f: Any) -> None:
    for name, make in OUTPUTS.items():
        require_same(lambda x, make=make: f(x, out=make(x)), name)
        if isinstance(f, np.ufunc):
            require_same(lambda x, make=make: f(x, make(x)), (name, "by position"))


@pytest.mark.parametrize("name", OTHERS)
def test_others(name: str) -> None:
    require_same(OTHERS[name], name)
