"""SciPy's searches for minima by comparing values, which have no derivative.

Most of SciPy that is written in Python is derived like any other code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mooncake_py.diagnostics.refusals import missing_rule

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["LATER"]

SEARCHES = (
    "basinhopping", "brent", "brute", "differential_evolution", "direct", "dual_annealing",
    "fmin", "fmin_bfgs", "fmin_cg", "fmin_cobyla", "fmin_l_bfgs_b", "fmin_ncg", "fmin_powell",
    "fmin_slsqp", "fmin_tnc", "fminbound", "golden",
    "shgo",
)  # fmt: skip


def searches(module: Any) -> dict[Any, Callable[..., Any]]:
    """Return the table from function to handler, for those that this version of SciPy has."""
    return {getattr(module, name): run_search for name in SEARCHES if hasattr(module, name)}


def run_search(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a search for a minimum: derived if nothing active goes in, else refused."""
    values = (*args, *kwargs.values())
    if any(map(ctx.contains_active, values)):
        raise missing_rule(
            ctx,
            f,
            values,
            "it searches by comparing values: the derivative of its steps is not that of the "
            "minimum;\nminimize and minimize_scalar have derivatives",
        )
    return ctx.call_function(f, args, kwargs)


LATER = {"scipy.optimize": searches}
"""Handlers by module: SciPy is never imported here."""
