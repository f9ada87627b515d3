"""Roots: the residual is the function itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize

from mooncake_py.integrations.scipy.solvers.results import changed, of_point, tuple_of
from mooncake_py.rules.declare import overlay_in_context
from mooncake_py.solvers.apart import solved_apart
from mooncake_py.solvers.implicit import at_solution
from mooncake_py.solvers.start import Solved

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

BRACKETING = ("bisect", "brenth", "brentq", "ridder", "toms748")
BY_JACOBIANS = (
    "anderson", "broyden1", "broyden2", "diagbroyden", "excitingmixing", "linearmixing",
    "newton_krylov",
)  # fmt: skip


def declare_bracketing(finder: Callable[..., Any]) -> None:
    """Declare a function that finds a root between two points."""

    @overlay_in_context(finder)
    def find(ctx: Mode, f: Any, a: Any, b: Any, args: Any = (), *rest: Any, **options: Any) -> Any:
        def differentiated(run: Solved, found: Any) -> Any:
            root = found[0] if isinstance(found, tuple) else found
            x = at_solution(run, root, of_point(f, args), (a, b))
            return (x, changed(run, found[1], root=x)) if isinstance(found, tuple) else x

        return solved_apart(ctx, differentiated, True, finder, f, a, b, args, *rest, **options)


def declare_by_jacobian(finder: Callable[..., Any]) -> None:
    """Declare a function that finds a root by approximations of the Jacobian."""

    @overlay_in_context(finder)
    def find(ctx: Mode, F: Any, xin: Any, *rest: Any, **options: Any) -> Any:
        def differentiated(run: Solved, x: Any) -> Any:
            return at_solution(run, x, F, xin)

        return solved_apart(ctx, differentiated, True, finder, F, xin, *rest, **options)


for name in BRACKETING:
    declare_bracketing(getattr(optimize, name))
for name in BY_JACOBIANS:
    declare_by_jacobian(getattr(optimize, name))


@overlay_in_context(optimize.newton)
def newton(
    ctx: Mode, func: Any, x0: Any, fprime: Any = None, args: Any = (), *rest: Any, **options: Any
) -> Any:
    """Run `newton`; for an array it may return a named tuple."""

    def differentiated(run: Solved, found: Any) -> Any:
        root = found[0] if isinstance(found, tuple) else found
        x = at_solution(run, root, of_point(func, tuple(args)), x0)
        if hasattr(found, "zero_der"):  # of an array: a named tuple
            return type(found)(x, *found[1:])
        return (x, changed(run, found[1], root=x)) if isinstance(found, tuple) else x

    return solved_apart(
        ctx, differentiated, True, optimize.newton, func, x0, fprime, args, *rest, **options
    )


@overlay_in_context(optimize.root_scalar)
def root_scalar(
    ctx: Mode,
    f: Any,
    args: Any = (),
    method: Any = None,
    bracket: Any = None,
    fprime: Any = None,
    *rest: Any,
    **options: Any,
) -> Any:
    """Run `root_scalar`; the function may return its slope too."""
    residual = of_point(f, args) if callable(fprime) or not fprime else first_of(f, args)

    def differentiated(run: Solved, found: Any) -> Any:
        root = at_solution(run, found.root, residual, (bracket, rest, options))
        return changed(run, found, root=root)

    return solved_apart(
        ctx, differentiated, True,
        optimize.root_scalar, f, args, method, bracket, fprime, *rest, **options,
    )  # fmt: skip


def first_of(f: Callable[..., Any], args: Any) -> Callable[[Any], Any]:
    """Return a callback as a function of the point alone, without the derivative it returns too."""
    further = tuple_of(args)
    return lambda x: f(x, *further)[0]


def as_array(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that returns an array in place of a list."""

    def of_array(x: Any) -> Any:
        y = f(x)
        return np.array(y) if type(y) is list else np.asarray(y)  # lists of numbers are quick

    return of_array


@overlay_in_context(optimize.fsolve)
def fsolve(ctx: Mode, func: Any, x0: Any, args: Any = (), *rest: Any, **options: Any) -> Any:
    """Run `fsolve`."""

    def differentiated(run: Solved, found: Any) -> Any:
        x = found[0] if isinstance(found, tuple) else found
        x = at_solution(run, x, as_array(of_point(func, args)), x0)
        return (x, changed(run, found[1], x), *found[2:]) if isinstance(found, tuple) else x

    return solved_apart(
        ctx, differentiated, True, optimize.fsolve, func, x0, args, *rest, **options
    )


@overlay_in_context(optimize.root)
def root(
    ctx: Mode, fun: Any, x0: Any, args: Any = (), method: Any = "hybr", jac: Any = None,
    **options: Any,
) -> Any:  # fmt: skip
    """Run `root`; the function may return its Jacobian too."""
    residual = as_array(of_point(fun, args) if callable(jac) or not jac else first_of(fun, args))

    def differentiated(run: Solved, found: Any) -> Any:
        return changed(run, found, x=at_solution(run, found.x, residual, x0))

    return solved_apart(
        ctx, differentiated, True, optimize.root, fun, x0, args, method, jac, **options
    )
