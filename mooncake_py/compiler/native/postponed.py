"""Readings of parts of programs that are postponed, as the time limit for parts asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mooncake_py.compiler.sites.spending import spending
from mooncake_py.compiler.sites.trials import is_repeated
from mooncake_py.runtime.compilation import AUTO

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Postponed"]

PAUSE = 16  # calls


class Postponed:
    """The calls of one function or loop before its first reading.

    Parameters
    ----------
    has_loops : bool

    Attributes
    ----------
    calls : int
        The number of calls in which the limit was asked.
    pause : int
        The number of calls until it is asked again.
    """

    def __init__(self, has_loops: bool) -> None:
        self.has_loops = has_loops
        self.calls = 0
        self.pause = 0

    def rests(self, ctx: Mode) -> bool:
        """Return True if a call runs without a reading, and nobody need ask why."""
        return self.pause > 0 and not self.may_begin(ctx)

    def may_begin(self, ctx: Mode) -> bool:
        """Return whether a first reading may begin, and count the call if not."""
        if self.pause > 0 and not spending.is_unlimited and not is_exempt(ctx):
            self.pause -= 1
            return False
        if self.may_go_on(ctx):
            return True
        self.calls += 1
        self.pause = PAUSE if self.calls > PAUSE else 0
        return False

    def may_go_on(self, ctx: Mode | None) -> bool:
        """Return whether any reading may begin; without a context it may."""
        return is_exempt(ctx) or spending.may_go_on(self.has_loops, self.calls)


def is_exempt(ctx: Mode | None) -> bool:
    """Return True for calls without a limit.

    If parts of a call run twice, the second run must do the same as the first.
    """
    return ctx is None or ctx.compiles is AUTO or is_repeated(ctx)
