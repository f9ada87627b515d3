"""What a fit passes to its model: the data of the program, or what SciPy makes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, grad, jvp, value_and_grad
from tests.solvers.differences import along

optimize = pytest.importorskip("scipy.optimize")

P = np.array([1.3, 0.7])
V = np.array([0.6, -1.1])
W = np.array([1.0, 2.0])
TIMES = np.linspace(0.0, 1.0, 6)

Program = Callable[[Any], Any]


def decay(t: Any, a: Any, b: Any) -> Any:
    return a * np.exp(-b * t)


def fitted(model: Callable[..., Any], t: Any, y: Any, **options: Any) -> Any:
    return optimize.curve_fit(model, t, y, p0=[1.0, 1.0], **options)[0] @ W


def same(p: Any) -> Any:
    seen: dict[str, Any] = {}

    def model(t: Any, a: Any, b: Any) -> Any:
        seen["model"] = t is TIMES
        return decay(t, a, b)

    def slope(t: Any, a: Any, b: Any) -> Any:
        seen["slope"] = t is TIMES
        return np.stack([np.exp(-b * t), -a * t * np.exp(-b * t)], axis=1)

    best = fitted(model, TIMES, decay(TIMES, *p), jac=slope)
    return best + seen["model"] + 2 * seen["slope"]


def keeping(then: Callable[[Any, Any, Any], Any]) -> Program:
    def f(p: Any) -> Any:
        t, seen = TIMES * p[0], {}

        def model(t: Any, a: Any, b: Any) -> Any:
            seen["t"] = t
            return decay(t, a, b)

        return fitted(model, t, decay(t, *p)) + then(t, seen["t"], p)

    return f


def written(t: Any, kept: Any, p: Any) -> Any:
    kept[1:] *= 2.0
    return t.sum() * p[1]


def read(t: Any, kept: Any, p: Any) -> Any:
    t[:2] = p[1]
    return kept.sum() * p[0]


def scaled(p: Any) -> Any:
    t = (TIMES + 0.1) * p[0]
    y = p[0] + p[1] * t

    def model(t: Any, a: Any, b: Any) -> Any:
        t *= 1.01
        return a + b * t / t.max()

    return fitted(model, t, y) + t.sum()


def line(t: Any, a: Any, b: Any) -> Any:
    return a * t + b


DATA: dict[str, tuple[Any, Callable[..., Any]]] = {
    "list": ([0, 1, 2, 3], line),
    "tuple": ((0, 1, 2, 3), line),
    "range": (range(4), lambda t, a, b: a * np.array(t) + b),
    "bools": (np.array([True, False, True, False]), line),
    "small ints": (np.array([10, 20, 30, 40], dtype=np.uint8), lambda t, a, b: a * t**2 + b),
    "large ints": (np.array([1, 2, 4, 5]) * 10**9, lambda t, a, b: a * 1e-18 * t**2 + b),
    "inverse": (np.array([1, 2, 4, 5]), lambda t, a, b: a * t**-1 + b),
    "float32": (np.array([0.1, 0.2, 0.3, 0.5], np.float32), lambda t, a, b: a * t**2 + b),
    "nested": ([[0, 1, 2, 3], [1, 1, 2, 5]], lambda t, a, b: a * t[0] + b * t[1]),
}


def of_data(t: Any, model: Callable[..., Any]) -> Program:
    return lambda p: fitted(model, t, p[0] * np.array([1.3, 0.7, 2.1, 4.0]) + p[1] ** 2)


PROGRAMS: dict[str, Program] = {
    "the same array": same,
    "written afterwards": keeping(written),
    "read afterwards": keeping(read),
    "written by the model": scaled,
    "active list": lambda p: fitted(line, [p[0], p[1], 2.0, 3], np.array([1.0, 2, 4, 9])),
    **{name: of_data(*case) for name, case in DATA.items()},
}


@pytest.mark.without_modes("the numbers of calls differ")
@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_data_of_fits(f: Program) -> None:
    value, slope = value_and_grad(f)(P)
    np.testing.assert_allclose(value, f(P), rtol=1e-12)
    np.testing.assert_allclose(jvp(f, (P,), (V,))[1], slope @ V, rtol=1e-8)
    np.testing.assert_allclose(slope @ V, along(f, P, V), rtol=1e-4)


@pytest.mark.parametrize("name", ["the same array", "written by the model", "list"])
def test_them_in_other_modes(name: str) -> None:
    f = PROGRAMS[name]
    slope = grad(f)(P)
    np.testing.assert_allclose(grad(f, debug=True)(P), slope, rtol=1e-9)
    np.testing.assert_allclose(grad(lambda p: checkpoint(f, p))(P), slope, rtol=1e-9)
