"""Roots: the residual is the function itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

from mooncake_py.rules.declare import overlay
from mooncake_py.solvers.apart import Start, solved_apart
from mooncake_py.solvers.implicit import at_solution
from mooncake_py.solvers.scipy.results import changed, number, tuple_of

BRACKETING = ("bisect", "brenth", "brentq", "ridder", "toms748")
BY_JACOBIANS = (
    "anderson", "broyden1", "broyden2", "diagbroyden", "excitingmixing", "linearmixing",
    "newton_krylov",
)  # fmt: skip


def declare_bracketing(finder: Callable[..., Any]) -> None:
    """Declare a function that finds a root between two points."""

    @overlay(finder)
    def find(f: Any, a: Any, b: Any, args: Any = (), *rest: Any, **options: Any) -> Any:
        def differentiated(found: Any, start: Start) -> Any:
            root = found[0] if isinstance(found, tuple) else found
            x = at_solution(root, lambda x: number(f(x, *tuple_of(args))), start, (a, b))
            return (x, changed(found[1], root=x)) if isinstance(found, tuple) else x

        return solved_apart(differentiated, True, finder, f, a, b, args, *rest, **options)


def declare_by_jacobian(finder: Callable[..., Any]) -> None:
    """Declare a function that finds a root by approximations of the Jacobian."""

    @overlay(finder)
    def find(F: Any, xin: Any, *rest: Any, **options: Any) -> Any:
        return solved_apart(
            lambda x, start: at_solution(x, F, start, xin), True, finder, F, xin, *rest, **options
        )


for name in BRACKETING:
    declare_bracketing(getattr(optimize, name))
for name in BY_JACOBIANS:
    declare_by_jacobian(getattr(optimize, name))


@overlay(optimize.newton)
def newton(
    func: Any, x0: Any, fprime: Any = None, args: Any = (), *rest: Any, **options: Any
) -> Any:
    """Run `newton`; for an array it may return a named tuple."""

    def differentiated(found: Any, start: Start) -> Any:
        root = found[0] if isinstance(found, tuple) else found
        x = at_solution(root, lambda x: func(x, *args), start, x0)
        if hasattr(found, "zero_der"):  # of an array: a named tuple
            return type(found)(x, *found[1:])
        return (x, changed(found[1], root=x)) if isinstance(found, tuple) else x

    return solved_apart(
        differentiated, True, optimize.newton, func, x0, fprime, args, *rest, **options
    )


@overlay(optimize.root_scalar)
def root_scalar(
    f: Any,
    args: Any = (),
    method: Any = None,
    bracket: Any = None,
    fprime: Any = None,
    *rest: Any,
    **options: Any,
) -> Any:
    """Run `root_scalar`; the function may return its slope too."""

    def residual(x: Any) -> Any:
        y = f(x, *tuple_of(args))
        return number(y if callable(fprime) or not fprime else y[0])

    def differentiated(found: Any, start: Start) -> Any:
        root = at_solution(found.root, residual, start, (bracket, rest, options))
        return changed(found, root=root)

    return solved_apart(
        differentiated, True,
        optimize.root_scalar, f, args, method, bracket, fprime, *rest, **options,
    )  # fmt: skip


@overlay(optimize.fsolve)
def fsolve(func: Any, x0: Any, args: Any = (), *rest: Any, **options: Any) -> Any:
    """Run `fsolve`."""

    def differentiated(found: Any, start: Start) -> Any:
        x = found[0] if isinstance(found, tuple) else found
        x = at_solution(x, lambda x: np.asarray(func(x, *tuple_of(args))), start, x0)
        return (x, changed(found[1], x), *found[2:]) if isinstance(found, tuple) else x

    return solved_apart(differentiated, True, optimize.fsolve, func, x0, args, *rest, **options)


@overlay(optimize.root)
def root(
    fun: Any, x0: Any, args: Any = (), method: Any = "hybr", jac: Any = None, **options: Any
) -> Any:
    """Run `root`; the function may return its Jacobian too."""

    def residual(x: Any) -> Any:
        y = fun(x, *tuple_of(args))
        return np.asarray(y if callable(jac) or not jac else y[0])

    return solved_apart(
        lambda found, start: changed(found, x=at_solution(found.x, residual, start, x0)), True,
        optimize.root, fun, x0, args, method, jac, **options,
    )  # fmt: skip
