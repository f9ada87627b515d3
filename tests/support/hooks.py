"""Code of a program that something else calls: what it reads, computes and writes, in every mode.

A scenario is a function of an array and a hook, which it has Python or native code call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py import checkpoint, grad, hvp, jvp, value_and_grad, vjp
from tests.support.gradients import check

__all__ = ["HOOKS", "Hook", "Scenario", "X", "check_all_modes", "check_gradient"]

Hook = Callable[[], Any]
Scenario = Callable[[Any, Hook], Any]
Program = Callable[[Any], Any]

X = np.array([0.3, 1.2, 0.7])
_log: list[float] = []


def element(f: Scenario) -> Program:
    """Return a program in which the hook reads elements of an active array."""
    return lambda x: f(x, lambda: x[0] * x.sum())


def number(f: Scenario) -> Program:
    """Return a program in which the hook computes with an active number."""

    def program(x):
        v = x[0] * x[1]
        return f(x, lambda: v * v)

    return program


def writing(f: Scenario) -> Program:
    """Return a program in which the hook writes to a global list."""

    def hook():
        _log.append(1.0)
        return 0.5 + len(_log)

    def program(x):
        del _log[:]
        return f(x, hook) * x[0]

    return program


HOOKS = (element, number, writing)
"""Each makes a program of a scenario."""


def check_gradient(program: Program) -> None:
    """Check the gradient of a program against differences."""
    _log[:] = [7.0]
    check(program, X, rtol=1e-5)


def check_all_modes(program: Program) -> None:
    """Check that all modes agree, and that each puts the global list back."""
    _log[:] = [7.0]
    value, expected = value_and_grad(program)(X)
    assert _log == [7.0]
    direction = np.array([1.0, -2.0, 0.5])
    slope = jvp(program, (X,), (direction,))
    assert _log == [7.0]
    np.testing.assert_allclose(slope, (value, expected @ direction), rtol=1e-12)
    pulled = vjp(program, X)
    (cotangent,) = pulled[1](1.0)
    assert _log == [7.0]
    within = grad(lambda x: checkpoint(program, x) * 1.0)
    debug, compiled = grad(program, debug=True), grad(program, compile=True)
    for found in (cotangent, debug(X), compiled(X), within(X)):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    step = 1e-5 * direction
    curvature = (grad(program)(X + step) - grad(program)(X - step)) / 2e-5
    np.testing.assert_allclose(hvp(program, (X,), direction), curvature, rtol=1e-6, atol=1e-8)
    assert _log == [7.0]
