"""Constants of subclasses of arrays: their methods, which NumPy calls, run as in the plain call.

What these methods change is put back, and second runs find it as the first did.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, jvp, value_and_grad
from tests.support.pairs import rotating

pytestmark = pytest.mark.without_modes("the modes are tried here")

CALLS = [0]


class Ufuncs(np.ndarray):
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        CALLS[0] += 1
        plain = [np.asarray(i) if isinstance(i, Ufuncs) else i for i in inputs]
        return getattr(ufunc, method)(*plain, **kwargs)


class Finalized(np.ndarray):
    def __array_finalize__(self, template: Any) -> None:
        CALLS[0] += 1


class Items(np.ndarray):
    def __getitem__(self, i: Any) -> Any:
        CALLS[0] += 1
        return super().__getitem__(i)


class Functions(np.ndarray):
    def __array_function__(self, f: Any, types: Any, args: Any, kwargs: Any) -> Any:
        CALLS[0] += 1
        return super().__array_function__(f, types, args, kwargs)


class Wrapped(np.ndarray):
    def __array_wrap__(self, a: Any, context: Any = None, scalar: bool = False) -> Any:
        CALLS[0] += 1
        return np.asarray(a)


CLASSES: list[Any] = [Ufuncs, Finalized, Items, Functions, Wrapped]
CONSTANTS = {cls: np.linspace(0.4, 1.1, 4).view(cls) for cls in CLASSES}
USES: dict[str, Callable[[Any], Any]] = {
    "a.sum()": lambda a: a.sum(), "a.max()": lambda a: a.max(), "a.std()": lambda a: a.std(),
    "a.clip": lambda a: a.clip(0.5, 0.6), "a.cumsum()": lambda a: a.cumsum(),
    "np.sum": np.sum, "np.sin": np.sin, "a * 2": lambda a: a * 2, "2 * a": lambda a: 2 * a,
    "a.copy()": lambda a: a.copy(), "a[1:]": lambda a: a[1:], "a[1]": lambda a: a[1],
    "a @ a": lambda a: a @ a, "a.dot": lambda a: a.dot(a), "np.sort": np.sort, "list": list,
    "abs": abs, "-a": lambda a: -a, "a.round": lambda a: a.round(1), "max": max, "sum": sum,
    "a.argmax()": lambda a: a.argmax(), "np.where": lambda a: np.where(a > 0.5, a, 0),
    "np.concatenate": lambda a: np.concatenate([a, a]), "np.median": np.median, "np.var": np.var,
    "a > 0.5": lambda a: a > 0.5, "divmod": lambda a: divmod(a, 2), "a ** 2": lambda a: a**2,
    "np.ptp": np.ptp, "trace": lambda a: a.reshape(2, 2).trace(),
    "loop": lambda a: [v * 1 for v in a],
    "outer": lambda a: np.multiply.outer(a, a), "reduce": lambda a: np.add.reduce(a),
}  # fmt: skip

MODES: dict[str, Callable[[Any, Any], Any]] = {
    "gradient": lambda f, x: value_and_grad(f)(x),
    "forward": lambda f, x: jvp(f, (x,), (1.0,)),
    "debug": lambda f, x: value_and_grad(f, debug=True)(x),
    "checkpoint": lambda f, x: value_and_grad(lambda x: checkpoint(f, x))(x),
}


@pytest.mark.parametrize(("cls", "mode"), rotating(CLASSES, MODES, times=2))
def test_what_methods_of_constants_change(cls: Any, mode: str) -> None:
    a, wrong = CONSTANTS[cls], []
    for name, use in USES.items():

        def f(x: Any, use: Any = use) -> Any:
            use(a)
            return x * (1.0 + CALLS[0])

        CALLS[0] = 0
        value = f(1.0)
        CALLS[0] = 0
        if MODES[mode](f, 1.0) != (value, value) or CALLS[0]:
            wrong.append(name)
    CALLS[0] = 0
    assert not wrong


class Scaled(np.ndarray):
    """An array whose ufuncs read a number by another name."""

    scale: Any = 1.0

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*[np.asarray(i) for i in inputs], **kwargs) * Scaled.scale


def test_methods_of_constants_that_read_what_is_active() -> None:
    a = np.array([1.0, 2.0]).view(Scaled)

    def f(x: Any) -> Any:
        Scaled.scale = x * x
        return np.sum(np.negative(a))

    value = f(3.0)
    Scaled.scale = 1.0
    assert value_and_grad(f)(3.0) == (value, pytest.approx(2 * value / 3.0))
    assert Scaled.scale == 1.0


class Unsized(list[Any]):
    def __len__(self) -> int:
        CALLS[0] += 1
        return super().__len__()


@pytest.mark.parametrize("f", [sum, max, min], ids=["sum", "max", "min"])
def test_functions_that_iterate_do_not_ask_for_the_length(f: Any) -> None:
    def g(x: Any) -> Any:
        return f(Unsized([x, 2.0 * x])) * (1.0 + CALLS[0])

    for differentiate in MODES.values():
        CALLS[0] = 0
        value = g(0.5)
        assert differentiate(g, 0.5) == (value, value / 0.5)
        assert CALLS[0] == 0
