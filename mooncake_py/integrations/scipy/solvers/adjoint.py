"""`solve_ivp` with the derivative of the continuous adjoint, instead of that of its steps.

For y' = f(t, y, p) the cotangent of y, lambda, solves an equation of its own, backwards:

    lambda' = -(df/dy)^T lambda,    dy0 = lambda(t0),    dp = integral of (df/dp)^T lambda dt,

with a jump by the cotangent of y(t) at each time t that was asked for.  Any method solves it, with
steps of its own; y is read from the dense output of the forward run, as y itself, run backwards,
is unstable where the equation is stiff.  Nothing is recorded between the steps.  The integral is by
Gauss's rule on the steps of both runs.

References
----------
Y. Cao, S. Li, L. Petzold, R. Serban, Adjoint sensitivity analysis for differential-algebraic
equations, SIAM J. Sci. Comput. 24 (2003) 1076-1089.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray
from scipy import integrate
from scipy.integrate._ivp.ivp import OdeResult

from mooncake_py.errors import (
    InvalidModeError,
    MissingRuleError,
    NestedDerivativeError,
    SolverError,
)
from mooncake_py.integrations.structure import has_derivative, replacing, with_derivative
from mooncake_py.interface import jvp, vjp
from mooncake_py.jacobians import jacobian
from mooncake_py.rules.declare import contextual, from_vjp, zero_derivative
from mooncake_py.solvers.reading import Reader
from mooncake_py.utilities.nesting import is_deriving, nest_level

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["solve_ivp"]

IMPLICIT = ("Radau", "BDF", "LSODA")
SMALL = 1e-3
"""The absolute tolerance of the run backwards, relative to `rtol` times the largest cotangent."""
NODES = {"DOP853": 5, "RK45": 3, "Radau": 3}
"""Of Gauss's rule on a step of methods of high order; two are enough for the others."""


def solve_ivp(
    fun: Callable[..., Any],
    t_span: Sequence[float],
    y0: Any,
    method: str = "RK45",
    t_eval: Any = None,
    *,
    args: tuple[Any, ...] = (),
    compile: bool | None = None,
    **options: Any,
) -> Any:
    """Solve an initial value problem as SciPy does; differentiate it by the continuous adjoint.

    Parameters
    ----------
    fun : callable
        ``fun(t, y, *args)`` returns the slope of `y`.  Data that are differentiated must come by
        `args`, as numbers and arrays of floats: captured ones raise an error.
    t_span, y0, method, t_eval
        As for `scipy.integrate.solve_ivp`; `method` is the name of one, also for the run backwards.
        Derivatives with respect to times and limits work.
    args : tuple, optional
        Further arguments of `fun`, which have derivatives.
    compile : bool, optional
        For the derivatives of `fun`, as for :func:`mooncake_py.vjp`.
    **options
        `rtol` and `atol`, also for the run backwards, where `atol` is relative to the largest
        cotangent; `jac`, for implicit methods only, and other options of the method.

    Returns
    -------
    result
        That of SciPy, in which `t` and `y` have derivatives.

    Raises
    ------
    MissingRuleError
        In a derivative, if `fun` or `jac` captures data that are differentiated.
    InvalidModeError
        With `events`, `dense_output` or `vectorized`, whose results would have no derivative.
    NestedDerivativeError
        In a derivative of second order.
    SolverError
        In a derivative, if a run fails.

    Examples
    --------
    >>> from mooncake_py import grad
    >>> def cooled(rate):
    ...     slope = lambda t, y, rate: -rate * y
    ...     return solve_ivp(slope, (0.0, 2.0), [1.0], "BDF", args=(rate,), rtol=1e-8).y[0, -1]
    >>> round(grad(cooled)(0.5), 4)
    -0.7358
    """
    for name in ("events", "dense_output", "vectorized"):
        if options.get(name):
            raise InvalidModeError(
                f"the continuous adjoint of solve_ivp does not support {name}=",
                why="its run backwards knows nothing of it",
                fix="call scipy.integrate.solve_ivp, whose steps are differentiated",
            )
    if not is_deriving():
        return integrate.solve_ivp(fun, t_span, y0, method, t_eval, args=args or None, **options)
    if nest_level() > 1:
        raise NestedDerivativeError(
            "the continuous adjoint of solve_ivp has derivatives of first order only",
            why="the run backwards is not differentiated in its turn",
            fix="call scipy.integrate.solve_ivp, whose steps are differentiated",
        )
    others = [arg for arg in args if not has_derivative(arg)]
    require_nothing_captured(fun, others, *options.values())
    found = forward(fun, t_span, y0, method, t_eval, args, options)
    if t_eval is None:
        limits = [np.array([t_span[0]]), found.t[1:-1], np.array([t_span[1]])]
        times = np.concatenate(limits, dtype=float)
    else:
        times = np.array(t_eval, dtype=float)
    equation = Equation(fun, method, options, compile)
    start = np.atleast_1d(np.array(y0, dtype=float))
    y = states(found, equation, times, start, t_span[0], *args)
    return OdeResult({**found, "t": times, "y": y, "sol": None})


def require_nothing_captured(*values: Any) -> None:
    """Raise if functions or options hold data that are differentiated."""


@contextual(require_nothing_captured)
def require_nothing_captured_inside(ctx: Mode, *values: Any) -> None:
    """Raise inside a derivative; what this does not find, the rule of `states` does."""
    reader = Reader(ctx)
    for value in values:
        reader.reads(value)
    if reader.is_active:
        raise MissingRuleError(
            "the continuous adjoint of solve_ivp has no derivative in what its function captures",
            why="the function, an option or a container in args= holds an active value",
            fix="pass it by args=, as a number or an array; or call scipy.integrate.solve_ivp",
        )


def forward(
    fun: Any, t_span: Any, y0: Any, method: Any, t_eval: Any, args: Any, options: Any
) -> Any:
    """Return the plain solution, with the polynomials between the steps."""
    y0 = np.array(y0)  # the polynomials keep it
    found = integrate.solve_ivp(
        fun, t_span, y0, method, t_eval, dense_output=True, args=args or None, **options
    )
    if not found.success:
        raise SolverError(
            f"the equation could not be solved: {found.message}",
            why="a solution that ends early has no derivative",
        )
    return found


zero_derivative(forward, because="`states` has the derivative of the solution")


@dataclass
class Equation:
    """How to solve an equation, forwards and backwards."""

    fun: Callable[..., Any]
    method: str
    options: dict[str, Any]
    compile: bool | None

    def slope(self, t: Any, y: Any, *args: Any) -> Any:
        """Return the slope as an array."""
        return np.asarray(self.fun(t, y, *args), dtype=float)

    def of_some(self, t: float, args: Any, wanted: Sequence[int]) -> Callable[..., Any]:
        """Return the slope as a function of the state and some of the further arguments."""

        def slope(y: Any, *some: Any) -> Any:
            return self.slope(t, y, *replacing(args, wanted, some))

        return slope

    def pulled(
        self, v: ndarray, t: float, y: ndarray, args: Any, wanted: Sequence[int]
    ) -> tuple[Any, ...]:
        """Return the cotangents of some of the further arguments."""
        slope = self.of_some(t, args, wanted)
        some = [args[i] for i in wanted]
        return vjp(lambda *some: slope(y, *some), *some, compile=self.compile)[1](v)

    def pulled_state(self, v: ndarray, t: float, y: ndarray, *args: Any) -> Any:
        """Return the cotangent of y."""
        of_state = lambda y: self.slope(t, y, *args)  # noqa: E731
        return vjp(of_state, y, compile=self.compile)[1](v)[0]

    def matrix(self, t: float, y: ndarray, *args: Any) -> Any:
        """Return the Jacobian in y: that of the user, which may be an approximation, or ours."""
        given = self.options.get("jac")
        if given is None:
            return jacobian(lambda y: self.slope(t, y, *args), compile=self.compile)(y)
        return given(t, y, *args) if callable(given) else given

    def solve(
        self, slope: Any, span: Any, y0: ndarray, scale: float, matrix: Callable[[float], Any]
    ) -> Any:
        """Solve a linear equation along the solution, with its tolerances."""
        rtol = self.options.get("rtol", 1e-3)
        kept = {name: self.options[name] for name in self.options if name == "max_step"}
        if self.method in IMPLICIT:
            kept["jac"] = lambda t, _: matrix(t)
        found = integrate.solve_ivp(
            slope, span, y0, self.method, dense_output=True,
            rtol=rtol, atol=SMALL * rtol * scale, **kept,
        )  # fmt: skip
        if not found.success:
            raise SolverError(
                f"the equation of the derivative could not be solved: {found.message}",
                why="it was solved with the method and the tolerances of the solution",
            )
        return found


def states(found: Any, equation: Equation, times: Any, y0: Any, start: Any, *args: Any) -> ndarray:
    """Return the states at some times, in columns."""
    return found.y.copy()


def states_jvp(
    tangents: Any, _: Any, found: Any, equation: Equation, times: Any, y0: Any, start: Any,
    *args: Any,
) -> ndarray:  # fmt: skip
    """Solve for the tangent along the solution, forwards."""
    _, _, dtimes, dy0, dstart, *dargs = tangents
    moved = [i for i, d in enumerate(dargs) if d is not None]

    def change(t: float, dy: ndarray) -> ndarray:
        slope = equation.of_some(t, args, moved)
        at = (found.sol(t), *[args[i] for i in moved])
        return jvp(slope, at, (dy, *[dargs[i] for i in moved]), compile=equation.compile)[1]

    dy = np.zeros(len(y0)) if dy0 is None else np.array(dy0, dtype=float)
    if dstart is not None:
        dy = dy - dstart * equation.slope(start, y0, *args)
    end = times[-1] if len(times) else start
    scale = max(1e-300, *np.abs(dy), *[np.max(np.abs(dargs[i]), initial=0.0) for i in moved])
    out = np.empty_like(found.y)
    out[:] = dy[:, None]
    if end != start:
        matrix = lambda t: equation.matrix(t, found.sol(t), *args)  # noqa: E731
        out = equation.solve(change, (start, end), dy, scale, matrix).sol(times)
    if dtimes is not None:
        out = out + np.stack(slopes(found, equation, times, args), axis=1) * dtimes
    return out


def slopes(found: Any, equation: Equation, times: Any, args: Any) -> list[ndarray]:
    """Return the slopes at the times that were asked for."""
    return [equation.slope(t, y, *args) for t, y in zip(times, found.y.T, strict=True)]


@from_vjp(states, jvp=states_jvp)
def states_rule(
    found: Any, equation: Equation, times: Any, y0: Any, start: Any, *args: Any
) -> tuple[ndarray, Callable[[Any], Any]]:
    """Solve for the cotangent along the solution, backwards."""

    def pullback(dy: ndarray) -> tuple[Any, ...]:
        along = slopes(found, equation, times, args)
        dtimes = np.array([v @ f for v, f in zip(dy.T, along, strict=True)])
        v, wanted = np.zeros(len(y0)), with_derivative(args)
        dargs: dict[int, Any] = {i: np.zeros(np.shape(args[i])) for i in wanted}
        for j in reversed(range(len(times))):
            v = v + dy[:, j]
            after = times[j - 1] if j else start
            if after != times[j] and np.any(v):
                v = moved_back(found, equation, times[j], after, v, args, dargs)
        dstart = -(v @ equation.slope(start, y0, *args))
        return (None, None, dtimes, v, dstart, *[dargs.get(i) for i in range(len(args))])

    return states(found, equation, times, y0, start, *args), pullback


def moved_back(
    found: Any,
    equation: Equation,
    begin: float,
    end: float,
    v: ndarray,
    args: Any,
    dargs: dict[int, Any],
) -> ndarray:
    """Return the cotangent of the state at `end`, and add to those of the further arguments."""

    def change(t: float, v: ndarray) -> ndarray:
        return -equation.pulled_state(v, t, found.sol(t), *args)

    def matrix(t: float) -> Any:
        return -equation.matrix(t, found.sol(t), *args).T

    back = equation.solve(change, (begin, end), v, np.max(np.abs(v)), matrix)
    low, high = sorted((begin, end))
    steps = found.sol.ts[(found.sol.ts > low) & (found.sol.ts < high)]
    mesh = np.unique(np.concatenate([back.t, steps]))
    nodes, weights = np.polynomial.legendre.leggauss(NODES.get(equation.method, 2))
    for left, right in pairwise(mesh) if dargs else ():
        for node, weight in zip(nodes, weights, strict=True):
            t = 0.5 * (left + right + (right - left) * node)
            share = 0.5 * weight * np.copysign(right - left, begin - end)
            pulled = equation.pulled(share * back.sol(t), t, found.sol(t), args, list(dargs))
            for i, part in zip(dargs, pulled, strict=True):
                dargs[i] = dargs[i] + part
    return back.y[:, -1]
