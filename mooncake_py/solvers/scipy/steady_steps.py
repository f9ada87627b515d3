"""Methods of `solve_ivp` whose step sizes have no derivative.

A solution depends on the steps only within the tolerance, but the derivative of a step size may be
large: at a kink of the right-hand side, where steps are rejected again and again, it grows without
bound.  With constant steps the derivative is that of the solution.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from scipy import integrate

from mooncake_py.utilities.stopping import stop_gradient

__all__ = ["BDF", "DOP853"]


def steady(method: Any) -> Any:
    """Return a method of a solver for which norms and the first step are constants."""
    own = {
        name: constant(method.__globals__[name])
        for name in ("norm", "select_initial_step")
        if name in method.__globals__
    }
    known = {**method.__globals__, **own}
    return FunctionType(
        method.__code__, known, method.__name__, method.__defaults__, method.__closure__
    )


def constant(f: Any) -> Any:
    """Return a function whose result has no derivative."""
    return lambda *args: stop_gradient(f(*args))


class DOP853(integrate.DOP853):
    """The explicit Runge-Kutta method of order 8."""

    __init__ = steady(integrate.DOP853.__init__)
    _estimate_error_norm = constant(integrate.DOP853._estimate_error_norm)  # type: ignore[attr-defined]


class BDF(integrate.BDF):
    """Backward differentiation formulas."""

    __init__ = steady(integrate.BDF.__init__)
    _step_impl = steady(integrate.BDF._step_impl)  # type: ignore[attr-defined]
