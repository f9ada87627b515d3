"""The reverse pass over a tape, and its roll back where a call ends otherwise.

An entry is taken from the tape before its function runs, so that it runs once.  If the function is
interrupted and restores state, in ways that do no harm twice, the roll back runs it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

from mooncake_py.compiler.sites.pace import met
from mooncake_py.diagnostics.notes import name_adjoint
from mooncake_py.language import unfinished
from mooncake_py.runtime import pulls
from mooncake_py.runtime.interrupts import through_interrupts
from mooncake_py.runtime.quiet import loud_again, quiet, setting

if TYPE_CHECKING:
    from mooncake_py.runtime.reverse_mode import ReverseMode
else:
    ReverseMode = object  # what the classes built on this one add up to

__all__ = ["ReversePass"]


class ReversePass(ReverseMode):
    """The handling of a tape's entries once the function has run."""

    waiting: Any = None  # writes of functions of the user that take effect in the end
    settings: Any = None  # restores those of NumPy
    kept_alive: Any = None
    postpones = False  # that end, until the state of the caller is back

    def run_backwards(self) -> None:
        """Reverse the tape: undo every change to primal state and apply every adjoint."""
        unfinished.finish(self)
        met.entries += len(self.tape)
        if self.budget is not None:
            self.budget.require(self)
        if self.meter is not None:
            # Only where progress is reported.
            from mooncake_py.utilities.effects import Apart

            self.meter.around = partial(Apart, cast("Any", self))
            self.meter.reverse(self.reverse_until_due)
            self.close_gate()
            self.end()
            return
        tape = self.tape
        entry: tuple[Any, ...] = ()
        before = setting()
        try:
            quiet()
            while tape:
                entry = tape[-1]
                del tape[-1]  # after the return of `pop` an interrupt could come
                entry[0](entry)
        except BaseException as error:
            self.fail(error, entry)
            raise
        finally:
            loud_again(before)
            if self.settings is not None:
                self.settings()
            if self.gate is not None:  # of parts that have run again
                self.close_gate()
        if self.waiting is not None:
            self.end()

    def end(self) -> None:
        """Write what functions of the user have written on the way, and had to wait."""
        if self.settings is not None:
            self.settings()
        if self.postpones:
            return
        waiting, self.waiting = self.waiting, None
        if waiting is not None:
            waiting()

    def reverse_until_due(self) -> None:
        """Reverse entries, at least one, until it is time to tell how far it is."""
        tape, meter = self.tape, self.meter
        entry: tuple[Any, ...] = ()
        before = setting()
        try:
            quiet()
            while tape:
                entry = tape[-1]
                del tape[-1]
                meter.reversed += 1
                entry[0](entry)
                if perf_counter() >= meter.due:
                    break
        except BaseException as error:
            self.fail(error, entry)
            raise
        finally:
            loud_again(before)
            if self.settings is not None:
                self.settings()

    def fail(self, error: BaseException, entry: tuple[Any, ...]) -> None:
        """Note an error that an entry raised, or an interrupt."""
        self.keep(entry)
        if isinstance(error, Exception):
            name_adjoint(error, entry)

    @contextmanager
    def taking(self) -> Iterator[tuple[Any, ...]]:
        """Take the last entry, which the block reverses; where speed does not count."""
        entry = self.tape[-1]
        del self.tape[-1]
        try:
            yield entry
        except BaseException:
            self.keep(entry)
            raise

    def keep(self, entry: tuple[Any, ...]) -> None:
        """Leave it to the roll back to undo what an entry that was interrupted undoes."""
        if entry and entry[0] in pulls.RESTORES:
            self.tape.append(entry)

    def roll_back(self) -> None:
        """Undo every change to primal state, without derivatives, whatever interrupts come."""
        unfinished.finish(self)
        if not self.is_suspended:
            through_interrupts(self.undo_all)

    def undo_all(self) -> None:
        """Undo what is left on the tape."""
        if self.rehearsal is not None:  # an interrupt came where it was about to end
            self.rehearsal.end()
        tape = self.tape
        while tape:
            entry = tape[-1]
            if entry[0] in pulls.RESTORES:
                entry[0](entry)
                del tape[-1]
            else:
                del tape[-1]
                if entry[0] in pulls.UNDOES:  # by code of the user, once
                    entry[0](entry)
        if self.settings is not None:
            self.settings()
