"""Solvers run on plain numbers, with whatever their callbacks change."""

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
    """Return what a solver finds, without a derivative."""
    return solve(*args, **kwargs)


@contextual(solved_apart)
def solve_inside(ctx: Mode, solve: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Run the solver natively.

    If its callbacks turn out to change what the derivative depends on, say a buffer, that is put
    back, and the solver runs again with callbacks that run derived: these changes are recorded.
    """
    try:
        return run_watched(ctx, Looking(ctx, solve, args, kwargs), solve, args, kwargs)
    except Changed:
        return run_calling_back(ctx, solve, args, kwargs)


class Changed(Exception):
    """Something has changed on which the derivative depends."""


class Looking(Watch):
    """A watch that tells of changes, and refuses none."""

    @override
    def refusal(self, path: str, found: Any, objection: str) -> Exception:
        return Changed(path)
