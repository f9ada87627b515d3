"""Roots: the residual is the function itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

from mooncake_py.rules.declare import overlay
from mooncake_py.solvers.apart import solved_apart
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
        found = solved_apart(finder, f, a, b, args, *rest, **options)
        if not isinstance(found, tuple):
            return at_solution(found, lambda x: number(f(x, *tuple_of(args))))
        x = at_solution(found[0], lambda x: number(f(x, *tuple_of(args))))
        return x, changed(found[1], root=x)


def declare_by_jacobian(finder: Callable[..., Any]) -> None:
    """Declare a function that finds a root by approximations of the Jacobian."""

    @overlay(finder)
    def find(F: Any, xin: Any, *rest: Any, **options: Any) -> Any:
        return at_solution(solved_apart(finder, F, xin, *rest, **options), F)


for name in BRACKETING:
    declare_bracketing(getattr(optimize, name))
for name in BY_JACOBIANS:
    declare_by_jacobian(getattr(optimize, name))


@overlay(optimize.newton)
def newton(
    func: Any, x0: Any, fprime: Any = None, args: Any = (), *rest: Any, **options: Any
) -> Any:
    """Run `newton`; for an array it may return a named tuple."""
    found: Any = solved_apart(optimize.newton, func, x0, fprime, args, *rest, **options)
    if hasattr(found, "zero_der"):  # of an array: a named tuple
        return found._replace(root=at_solution(found.root, lambda x: func(x, *args)))
    if not isinstance(found, tuple):
        return at_solution(found, lambda x: func(x, *args))
    x = at_solution(found[0], lambda x: func(x, *args))
    return x, changed(found[1], root=x)


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
    found = solved_apart(optimize.root_scalar, f, args, method, bracket, fprime, *rest, **options)

    def residual(x: Any) -> Any:
        y = f(x, *tuple_of(args))
        return number(y if callable(fprime) or not fprime else y[0])

    return changed(found, root=at_solution(found.root, residual))


@overlay(optimize.fsolve)
def fsolve(func: Any, x0: Any, args: Any = (), *rest: Any, **options: Any) -> Any:
    """Run `fsolve`."""
    found = solved_apart(optimize.fsolve, func, x0, args, *rest, **options)
    x = found[0] if isinstance(found, tuple) else found
    x = at_solution(x, lambda x: np.asarray(func(x, *tuple_of(args))))
    return (x, changed(found[1]), *found[2:]) if isinstance(found, tuple) else x


@overlay(optimize.root)
def root(
    fun: Any, x0: Any, args: Any = (), method: Any = "hybr", jac: Any = None, **options: Any
) -> Any:
    """Run `root`; the function may return its Jacobian too."""
    found = solved_apart(optimize.root, fun, x0, args, method, jac, **options)

    def residual(x: Any) -> Any:
        y = fun(x, *tuple_of(args))
        return np.asarray(y if callable(jac) or not jac else y[0])

    return changed(found, x=at_solution(found.x, residual))
