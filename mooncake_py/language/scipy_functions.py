"""Functions of SciPy's that search: roots have a derivative, minima found by comparing have none.

Most of SciPy that is written in Python is derived like any other code.  SciPy is never imported
here: the table is made when the user has imported it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mooncake_py.diagnostics.refusals import missing_rule
from mooncake_py.language.callbacks import run_calling_back
from mooncake_py.rules.roots import bracketed_root, without_derivative

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["handlers", "is_loaded"]

MODULE = "scipy.optimize"
ROOTS = ("bisect", "brenth", "brentq", "ridder")
SEARCHES = (
    "basinhopping", "brent", "brute", "differential_evolution", "direct", "dual_annealing",
    "fmin", "fmin_bfgs", "fmin_cg", "fmin_cobyla", "fmin_l_bfgs_b", "fmin_ncg", "fmin_powell",
    "fmin_slsqp", "fmin_tnc", "fminbound", "golden", "least_squares", "minimize",
    "minimize_scalar", "shgo",
)  # fmt: skip


def is_loaded() -> bool:
    """Tell whether the program has imported `scipy.optimize`, wholly."""
    return hasattr(sys.modules.get(MODULE), SEARCHES[-1])


def handlers() -> dict[Any, Callable[..., Any]]:
    """Return the table from function to handler."""
    table: dict[Any, Callable[..., Any]] = {without_derivative: run_without_derivative}
    if is_loaded():
        module = sys.modules[MODULE]
        for names, handler in ((ROOTS, run_root), (SEARCHES, run_search)):
            table |= {getattr(module, name): handler for name in names if hasattr(module, name)}
    return table


def run_without_derivative(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run the function that is the first argument on numbers; its callbacks run derived."""
    return run_calling_back(ctx, args[0], args[1:], kwargs)


def run_root(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``brentq(f, a, b, ...)``."""
    return ctx.call_function(bracketed_root, (f, *args), kwargs)


def run_search(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a search for a minimum: derived if nothing active goes in, else refused."""
    values = (*args, *kwargs.values())
    if any(map(ctx.contains_active, values)):
        raise missing_rule(
            ctx,
            f,
            values,
            "it searches by comparing values: the derivative of its steps is not that of the "
            "minimum",
        )
    return ctx.call_function(f, args, kwargs)
