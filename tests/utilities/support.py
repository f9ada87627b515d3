"""Ways to take a derivative, all of which must agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from mooncake_py import NoRData, build_rrule, debug_mode, grad, rdata, vjp, zero_coduals

__all__ = ["WAYS", "of_rule"]


def by_grad(f: Any, x: Any) -> Any:
    return grad(f)(x)


def by_debug(f: Any, x: Any) -> Any:
    with debug_mode():
        return grad(f)(x)


def by_vjp(f: Any, x: Any) -> Any:
    y, pullback = vjp(f, x)
    first = pullback(np.ones(np.shape(y))[()])[0]
    second = pullback(np.ones(np.shape(y))[()])[0]
    np.testing.assert_equal(first, second)
    return first


def by_nested_function(f: Any, x: Any) -> Any:
    def outer(x: Any) -> Any:
        def inner(v: Any) -> Any:
            return f(v)

        return inner(x)

    return grad(outer)(x)


def of_rule(f: Any, x: Any) -> Any:
    """Take the gradient by the derived rule, over CoDuals."""
    function, argument = zero_coduals(f, x)
    out, pullback = build_rrule(f, x)(function, argument)
    rdata_y = rdata(1.0) if not isinstance(out.primal, np.ndarray) else NoRData()
    if isinstance(out.primal, np.ndarray):
        out.fdata[...] = 1.0
    _, dx = pullback(rdata_y)
    return argument.fdata if isinstance(dx, NoRData) else dx


WAYS = [by_grad, by_debug, by_vjp, by_nested_function, of_rule]
