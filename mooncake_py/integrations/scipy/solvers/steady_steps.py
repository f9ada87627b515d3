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

__all__ = ["BDF", "DOP853", "METHODS"]


def steady(method: Any) -> Any:
    """Return a method of a solver for which norms and the first step are constants."""
    known = dict(method.__globals__)
    known.update({name: constant(known[name]) for name in OF_STEPS if name in known})
    return FunctionType(
        method.__code__, known, method.__name__, method.__defaults__, method.__closure__
    )


OF_STEPS = ("norm", "select_initial_step", "validate_first_step", "validate_max_step")
"""Functions that the sizes of steps come from."""


def constant(f: Any) -> Any:
    """Return a function whose result has no derivative."""
    return lambda *args: stop_gradient(f(*args))


class Steady:
    """The common part of explicit methods: the error of a step is estimated from plain numbers."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.h_abs, self.max_step = stop_gradient((self.h_abs, self.max_step))

    def _estimate_error_norm(self, *of_step: Any) -> Any:
        return super()._estimate_error_norm(*stop_gradient(of_step))  # type: ignore[misc]


class RK23(Steady, integrate.RK23):  # pyright: ignore[reportIncompatibleMethodOverride]
    """The explicit Runge-Kutta method of order 3."""


class RK45(Steady, integrate.RK45):  # pyright: ignore[reportIncompatibleMethodOverride]
    """The explicit Runge-Kutta method of order 5."""


class DOP853(Steady, integrate.DOP853):  # pyright: ignore[reportIncompatibleMethodOverride]
    """The explicit Runge-Kutta method of order 8."""


class Radau(integrate.Radau):
    """The implicit Runge-Kutta method of order 5."""

    __init__ = steady(integrate.Radau.__init__)
    _step_impl = steady(integrate.Radau._step_impl)  # type: ignore[attr-defined]


class BDF(integrate.BDF):
    """Backward differentiation formulas."""

    __init__ = steady(integrate.BDF.__init__)
    _step_impl = steady(integrate.BDF._step_impl)  # type: ignore[attr-defined]


METHODS = {
    key: steady_method
    for method, steady_method in (
        (integrate.RK23, RK23), (integrate.RK45, RK45), (integrate.DOP853, DOP853),
        (integrate.Radau, Radau), (integrate.BDF, BDF),
    )
    for key in (method, method.__name__)
}  # fmt: skip
"""By the names and classes that `solve_ivp` takes."""
