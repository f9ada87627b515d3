"""The arguments of a user's solver, which it must not change: changes would be constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.boundary.arguments import name_of
from mooncake_py.containers.reach import CONTAINERS, joined
from mooncake_py.errors import UntrackedWriteError
from mooncake_py.modes.debug.snapshot import Snapshot, difference_between
from mooncake_py.overriding import override

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Given"]


class Given(Snapshot):
    """The arrays and containers in arguments, without what functions and objects among them hold.

    Callbacks may write into what they hold, and objects may keep results.
    """

    @override
    def keep(self, path: str, value: Any) -> None:
        if isinstance(value, (ndarray, tuple, set, *CONTAINERS)):
            super().keep(path, value)

    def refuse_changes(self, ctx: Mode, solve: Callable[..., Any]) -> None:
        """Raise if anything has changed."""
        for path, holder, old in self.kept:
            found = difference_between(holder, old)
            if found is None:
                continue
            part, new, former = found
            error = UntrackedWriteError(
                f"the solver {name_of(solve)} changed one of its arguments, inside a derivative",
                where=ctx.user_location(),
                why=f"{joined(path, part)} is {new}, and was {former} before; `implicit` "
                "differentiates\nonly the solver's result: its writes would be constants",
                fix="let the solver work on a copy: a = a.copy(); and return all that is used "
                "afterwards",
            )
            ctx.failed(error)
            raise error
