"""When a region is tried that may fail.

A trial that fails costs as much as what runs then.  After some in a row a region is left alone for
a while, which is twice as long each time: a line search that meets no finite value, say, must not
make all later calls slow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Trials"]

MOST = 3  # that fail in a row
FIRST = 4  # calls for which a region is left alone then


class Trials:
    """The trials of a region.

    Attributes
    ----------
    failed : int
        How many failed since the last one that did not.
    """

    __slots__ = ("_is_kept", "_is_over", "_passed", "_wait", "failed")

    def __init__(self) -> None:
        self.failed = 0
        self._passed = 0
        self._wait = FIRST
        # The second run of a part must repeat the actions of its rehearsal.
        self._is_kept = False
        self._is_over = False

    def rest(self, ctx: Mode | None = None) -> bool:
        """Return True if the region is left alone in this call, which is counted then.

        Parameters
        ----------
        ctx : Mode, optional
            The call, if it may be part of one that runs again.
        """
        if self.failed < MOST or self._is_kept:
            return False
        if ctx is not None and not self._is_over:
            self._is_over = is_repeated(ctx)
        if self._passed >= self._wait and not self._is_over:
            return False
        self._passed += 1
        return True

    def begin(self) -> None:
        """Note a trial, which counts as failed until it has succeeded."""
        self.failed += 1
        if self._passed:
            self._passed = 0
            self._wait *= 2

    def succeed(self, ctx: Mode | None = None) -> None:
        """Note that the last trial has not failed."""
        self.failed = 0
        self._wait = FIRST
        if ctx is not None and ctx.rehearsal is not None:
            self._is_kept = True


def is_repeated(ctx: Mode) -> bool:
    """Return True if parts of a call, or of those round it, run twice."""
    return repeats(ctx) or any(map(repeats, ctx.outers))


def repeats(ctx: Mode) -> bool:
    """Return True if parts of a call run twice."""
    return ctx.rehearsal is not None or ctx.repeats
