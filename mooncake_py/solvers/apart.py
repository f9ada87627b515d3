"""Native runs of solvers on plain numbers, with the changes of their callbacks.

What a solver writes itself would be a constant: one of the user's must not change its arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.boundary.arguments import name_of
from mooncake_py.errors import UntrackedWriteError
from mooncake_py.language.callbacks import run_calling_back
from mooncake_py.modes.debug.snapshot import CONTAINERS, Snapshot, difference_between, joined
from mooncake_py.overriding import override
from mooncake_py.rules.declare import contextual
from mooncake_py.utilities.ignoring import Watch, has_changed, restorer, run_watched

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["solved_apart", "solved_unchanged"]


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


def solved_unchanged(solve: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Return the result of a solver, without a derivative, inside which it changes no argument."""
    return solve(*args, **kwargs)


@contextual(solved_unchanged)
def solve_unchanged_inside(
    ctx: Mode, solve: Callable[..., Any], /, *args: Any, **kwargs: Any
) -> Any:
    """Run the solver natively; raise if it has changed arrays or containers among its arguments."""
    try:
        return run_watched(ctx, Guarding(ctx, solve, args, kwargs), solve, args, kwargs)
    except Changed:
        return run_calling_back(ctx, solve, args, kwargs)


class Changed(Exception):
    """Data that the derivative depends on have changed."""


class Looking(Watch):
    """A watch that reports changes, and refuses none."""

    @override
    def refusal(self, path: str, found: Any, objection: str) -> Exception:
        return Changed(path)


class Given(Snapshot):
    """The arrays and containers in arguments, without what functions and objects among them hold.

    Callbacks may write into what they hold, and objects may keep results.
    """

    @override
    def keep(self, path: str, value: Any) -> None:
        if isinstance(value, (ndarray, tuple, set, *CONTAINERS)):
            super().keep(path, value)


class Guarding(Looking):
    """A watch that refuses changes by the solver, of arguments those without a derivative too."""

    def __init__(self, ctx: Mode, f: Callable[..., Any], args: Any, kwargs: Any) -> None:
        super().__init__(ctx, f, args, kwargs)
        self.has_callbacks = any(map(callable, (*args, *kwargs.values())))
        self.given = Given(None, args, kwargs).kept
        self.given_restorers = [restorer(holder, old) for _, holder, old in self.given]

    @override
    def __exit__(self, *details: object) -> None:
        for path, holder, old in self.given if details[0] is None else ():
            found = difference_between(holder, old) if has_changed(holder, old) else None
            if found is not None:
                for put_back in self.given_restorers:
                    put_back()
                raise self.written(path, found)
        super().__exit__(*details)

    @override
    def refusal(self, path: str, found: Any, objection: str) -> Exception:
        """Return the error, unless callbacks may have made the change, which are then derived."""
        is_of_callback = self.has_callbacks and path.startswith("argument ")
        return Changed(path) if is_of_callback else self.written(path, found)

    def written(self, path: str, found: tuple[str, str, str]) -> UntrackedWriteError:
        """Return the error for what the solver itself has changed."""
        is_argument = path.startswith("argument ")
        changed = "one of its arguments" if is_argument else "data that the derivative depends on"
        part, new, former = found
        error = UntrackedWriteError(
            f"the solver {name_of(self.f)} changed {changed}, inside a derivative",
            where=self.ctx.user_location(),
            why=f"{joined(path, part)} is {new}, and was {former} before; `implicit` "
            "differentiates\nonly what a solver returns: what it writes would be a constant",
            fix="let the solver work on a copy: a = a.copy(); and return all that is used "
            "afterwards",
        )
        self.ctx.failed(error)
        return error
