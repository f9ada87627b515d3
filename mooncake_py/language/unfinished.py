"""Generators that have code for their end: ``finally``, ``with``, ``except GeneratorExit``.

Python runs that code as soon as nobody refers to an unfinished generator any more.  But a tape
refers to the objects that the program has changed, and so to what they hold.  While such generators
are open, a tape lets go of what nobody else refers to, where the program calls the context or comes
back from it.  This is asked only from a change on that may lead to such a generator.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from types import FrameType, GeneratorType
from typing import TYPE_CHECKING, Any

from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.language import moved
from mooncake_py.language.held import Held
from mooncake_py.remembered import remembered
from mooncake_py.rooms import PACKAGE
from mooncake_py.runtime.classes import recorder
from mooncake_py.runtime.pulls import STATES
from mooncake_py.runtime.references import references_beside
from mooncake_py.syntax.nodes import CONTEXT

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["Cleanup", "finish", "holders", "let_go", "look_from_now_on"]

MANY = 256  # objects that lead to generators; more are looked at less often, and too late
DEEP = 16


class _Thread(threading.local):
    """The changes that this thread watches."""

    def __init__(self) -> None:
        self.watch = Watch()


class Cleanup:
    """The block that is the body of such a generator, in rewritten code."""

    __slots__ = ("bases", "ctx", "frame", "part", "recorder", "watch")

    def __init__(self, ctx: Mode) -> None:
        self.ctx = ctx

    def __enter__(self) -> None:
        self.frame: FrameType | None = sys._getframe(1)
        self.recorder: Any = recorder(self.ctx)
        self.bases = bases_of(self.ctx)
        self.part = self.recorder.rehearsal
        self.watch = _thread.watch
        self.watch.begin(self)

    def __exit__(self, kind: Any, *details: Any) -> None:
        self.frame = None
        self.watch.end(self)
        if kind is GeneratorExit and self.watch.is_late:
            dropped(
                self.ctx,
                "an unfinished generator was closed later than in the plain call",
                why="the record for undoing changes kept it alive, so the code for its end, a\n"
                "`finally` or a `with` block, has run too late",
                fix="close it where it is no longer needed, for example by contextlib.closing",
            )

    @contextlib.contextmanager
    def on_its_bases(self) -> Iterator[None]:
        """Let contexts of forward mode compute on top of those that they had as it began.

        They belong to calls around this one, and have others by the end of it.
        """
        with contextlib.ExitStack() as stack:
            for ctx, base in self.bases:
                if ctx.base is not base:
                    stack.enter_context(ctx.based_on(base))
            yield


def bases_of(ctx: Mode) -> list[tuple[Any, Any]]:
    """Return the contexts of forward mode down to the one that records, each with its base."""
    found: list[tuple[Any, Any]] = []
    upper: Any = ctx
    while hasattr(upper, "base"):
        found.append((upper, upper.base))
        upper = upper.base
    return found


class Watch:
    """The open generators of a thread, and what may keep them alive."""

    is_late = False
    is_busy = False
    is_looking = False  # after each operation of the program
    turn = 0

    def __init__(self) -> None:
        self.open: list[Cleanup] = []
        self.logs: dict[int, Held] = {}
        self.told: dict[int, tuple[Any, Any]] = {}  # what tells of changes, and records them

    def begin(self, cleanup: Cleanup) -> None:
        """Watch from now on what refers to a generator that runs for the first time."""
        self.open.append(cleanup)
        lowest = cleanup.recorder
        for ctx in (lowest, *map(recorder, lowest.outers)):
            if id(ctx) not in self.logs:
                if ctx.kept_alive is None:
                    ctx.kept_alive = Held(ctx)
                self.logs[id(ctx)] = ctx.kept_alive
        if self.is_looking or is_of_manager(cleanup.frame):
            return
        if self.may_lead_anywhere():
            self.look_from_now_on()
        elif id(lowest) not in self.told:
            self.told[id(lowest)] = lowest.record, self.telling(lowest.record)
            lowest.record = self.told[id(lowest)][1]

    def end(self, cleanup: Cleanup) -> None:
        """Note that a generator is at its end."""
        if cleanup in self.open:
            self.open.remove(cleanup)
        if not self.open:
            for key, (record, telling) in self.told.items():
                ctx = self.logs[key].ctx
                if ctx.record is telling:
                    ctx.record = record
            self.told.clear()
            self.logs.clear()
            self.stop()

    def telling(self, record: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return a function that records an entry, and looks at the changes from the first on."""

        def record_and_look(entry: tuple[Any, ...]) -> None:
            record(entry)
            if entry[0] in STATES and self.open:
                self.look_from_now_on()

        return record_and_look

    def look_from_now_on(self) -> None:
        """Look after each operation of the program, until nothing leads to a generator."""
        self.is_looking = True
        if sys.getprofile() is None:
            sys.setprofile(self.on_event)

    def stop(self) -> None:
        """Look no more."""
        self.is_looking = False
        if sys.getprofile() == self.on_event:
            sys.setprofile(None)

    def may_lead_anywhere(self) -> bool:
        """Return whether something may be to be let go of, whatever the program changes."""
        if len(self.logs) > 1 or moved.holds_any():
            return True
        (held,) = self.logs.values()
        return held.leads_anywhere()

    def on_event(self, frame: FrameType, event: str, _: Any) -> None:
        """Look whether an object has gone, between two operations of the program."""
        if not self.open:
            self.stop()
            return
        caller = frame if event == "c_call" else frame.f_back
        if caller is None or event not in EVENTS or not is_rewritten(caller.f_code):
            return
        if not self.may_lead_anywhere():
            (held,) = self.logs.values()
            if held.ctx.record is self.told.get(id(held.ctx), (None, None))[1]:
                self.stop()
            return
        count = sum([len(held.leading) for held in self.logs.values()])
        self.turn += 1
        if count <= MANY or self.turn % (count // 16) == 0:
            self.look(count > MANY)

    def look(self, is_late: bool) -> None:
        """Let go of what nobody refers to: each may be all that refers to another."""
        if self.is_busy:
            return
        self.is_busy, self.is_late = True, is_late
        try:
            while any([moved.forget_all(), self.forget_cells(), self.release()]):
                pass
        finally:
            self.is_busy = self.is_late = False

    def release(self) -> bool:
        """Let logs of changes let go; return whether any did."""
        for held in list(self.logs.values()):
            part = held.ctx.rehearsal
            if part is not None and held.part is None and id(part) not in self.logs:
                self.logs[id(part)] = Held(held.ctx, part)
        return sum(held.release(self.open) for held in list(self.logs.values())) > 0

    def forget_cells(self) -> bool:
        """Forget the captured variables of functions that nobody has any more."""
        contexts = [held.ctx for held in self.logs.values()]
        found = [getattr(ctx, "setting", None) for ctx in contexts]
        found += [None if ctx.rehearsal is None else ctx.rehearsal.setting for ctx in contexts]
        tables = list({id(s): s.cells for s in found if s is not None}.values())
        before = sum(map(len, tables))
        for key in {key for table in tables for key in table}:
            having = [table for table in tables if key in table]
            if references_beside([having[0][key][0]]) <= len(having):
                for table in having:
                    del table[key]
        return sum(map(len, tables)) < before

    @property
    def is_prompt(self) -> bool:
        """Whether there was nothing to look for, or it was looked after each operation."""
        return not self.is_looking or sys.getprofile() == self.on_event


_thread = _Thread()
EVENTS = frozenset({"call", "return", "c_call"})


@remembered
def is_rewritten(code: Any) -> bool:
    """Return whether code is that of a rewritten function of the program."""
    names = (*code.co_varnames, *code.co_freevars)
    return CONTEXT in names and not code.co_filename.startswith(PACKAGE)


def is_of_manager(frame: FrameType | None) -> bool:
    """Return whether a generator runs as the context manager of a block, which will end it."""
    for _ in range(DEEP):
        frame = None if frame is None else frame.f_back
        if frame is None:
            return False
        if frame.f_code.co_filename == contextlib.__file__:
            return frame.f_code.co_name == "__enter__"
    return False


def holders(contexts: Iterable[Any]) -> list[list[Any]]:
    """Return the holders of objects that have been looked at since a generator was open."""
    kept = [getattr(ctx, "kept_alive", None) for ctx in contexts]
    logs = {id(log): log for log in (*_thread.watch.logs.values(), *kept) if log is not None}
    return [known.holder for log in logs.values() for known in log.objects.values()]


def look_from_now_on() -> None:
    """Look after each operation: a context need not be told of changes any more."""
    if _thread.watch.open:
        _thread.watch.look_from_now_on()


def let_go() -> None:
    """Let go of what nobody refers to after the program has run."""
    watch = _thread.watch
    if watch.open:
        watch.look(not watch.is_prompt)


def finish(ctx: ReverseMode) -> None:
    """Close the generators that a call leaves open, before what they change is undone."""
    ctx.kept_alive = None
    watch = _thread.watch
    if not watch.open:
        return
    own = [cleanup for cleanup in watch.open if cleanup.recorder is ctx]
    if not own:
        return
    by_frame = {cleanup.frame: cleanup for cleanup in own}
    for o in gc.get_objects():
        if type(o) is GeneratorType and o.gi_frame in by_frame:
            with by_frame[o.gi_frame].on_its_bases(), contextlib.suppress(Exception):
                o.close()
    by_frame.clear()  # the frames of ended generators refer to this one
    for cleanup in own:
        watch.end(cleanup)
