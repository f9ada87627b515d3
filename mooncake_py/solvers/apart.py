"""Native runs of solvers on plain numbers, with the changes of their callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mooncake_py.language.callbacks import run_calling_back
from mooncake_py.overriding import override
from mooncake_py.rules.declare import contextual
from mooncake_py.utilities.ignoring import Watch, run_watched

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["solved_apart"]


def solved_apart(solve: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Return the result of a solver, without a derivative."""
    return solve(*args, **kwargs)


@contextual(solved_apart)
def solve_inside(ctx: Mode, solve: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Run the solver natively.

    If its callbacks change data that the derivative depends on, for example a buffer, the data are
    restored, and the solver runs again with derived callbacks, whose changes are recorded.
    """
    try:
        return run_watched(ctx, Looking(ctx, solve, args, kwargs), solve, args, kwargs)
    except Changed:
        return run_calling_back(ctx, solve, args, kwargs)


class Changed(Exception):
    """Data that the derivative depends on have changed."""


class Looking(Watch):
    """A watch that reports changes, and refuses none."""

    @override
    def refusal(self, path: str, found: Any, objection: str) -> Exception:
        return Changed(path)
