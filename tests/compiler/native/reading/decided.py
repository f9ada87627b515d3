"""What tests of things that are decided while a function is read require."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad
from tests.compiler.native.agreeing import require_compiled

__all__ = ["agrees", "agrees_compiled"]


def agrees(f: Any, x: np.ndarray, *args: Any) -> None:
    """Require values and derivatives to be those of the plain way, and of differences."""
    ways = []
    for way in (False, True):
        given = copy.deepcopy(args)
        y = x.copy()
        value, g = value_and_grad(f, compile=way)(y, *given)
        np.testing.assert_array_equal(y, x)
        ways.append((value, g))
    (value, g), (compiled, h) = ways
    assert value == f(x.copy(), *copy.deepcopy(args))
    assert_allclose(compiled, value, rtol=1e-13)
    assert_allclose(h, g, rtol=1e-12, atol=1e-13)

    def of_x(x: Any) -> Any:
        return f(x, *copy.deepcopy(args))

    v, step = np.cos(np.arange(len(x))), 1e-6
    slope = jvp(of_x, (x.copy(),), (v,), compile=True)[1]
    assert_allclose(slope, g @ v, rtol=1e-12, atol=1e-13)
    apart = of_x(x + step * v) - of_x(x - step * v)
    assert_allclose(slope, apart / (2.0 * step), rtol=1e-6, atol=1e-7)
    seconds = [hvp(of_x, (x.copy(),), v, compile=way) for way in (False, True)]
    assert_allclose(seconds[1], seconds[0], rtol=1e-11, atol=1e-12)


def agrees_compiled(f: Any, tried: list[bool], x: np.ndarray, *args: Any) -> None:
    """Require the same, and that the function was compiled whole."""
    agrees(f, x, *args)
    value_and_grad(f, compile=True)(x.copy(), *copy.deepcopy(args))
    require_compiled(f, tried)
