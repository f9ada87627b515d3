"""Generators that have code for their end: ``finally``, ``with``, ``except GeneratorExit``.

Python runs that code as soon as nobody refers to an unfinished generator any more.  But a tape
refers to the objects that the program has changed, and so to what they hold.  While such generators
are open, a tape lets go of what nobody else refers to, where the program calls the context or comes
back from it.

An object that only the tape can reach need not be brought back, unless other entries put it
somewhere: then its own changes are undone at once, as nobody sees them.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from types import BuiltinFunctionType, FrameType, FunctionType, GeneratorType, ModuleType
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.containers import state
from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.language import moved
from mooncake_py.remembered import remembered
from mooncake_py.rooms import PACKAGE
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.classes import recorder
from mooncake_py.runtime.pulls import STATES, pull_state
from mooncake_py.runtime.references import references_beside
from mooncake_py.syntax.nodes import CONTEXT

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Cleanup", "finish", "let_go"]

GONE = object()
"""Stands on a tape for what was made within the call, and is never seen again."""
PLAIN = (type, ModuleType, FunctionType, BuiltinFunctionType, ndarray, FrameType)
MANY = 256  # objects; more are looked at less often
FAR = 2000


class _Thread(threading.local):
    """What this thread watches."""

    def __init__(self) -> None:
        self.watch = Watch()


class Cleanup:
    """The block that is the body of such a generator, in rewritten code."""

    __slots__ = ("ctx", "frame", "watch")

    def __init__(self, ctx: Mode) -> None:
        self.ctx = ctx

    def __enter__(self) -> None:
        self.frame: FrameType | None = sys._getframe(1)
        self.watch = _thread.watch
        self.watch.begin(self)

    def __exit__(self, kind: Any, *details: Any) -> None:
        self.frame = None
        self.watch.end(self)
        if kind is GeneratorExit and self.watch.is_late:
            dropped(
                self.ctx,
                "an unfinished generator was closed later than in the plain call",
                why="what is recorded to undo changes kept it alive, so the code for its end, a\n"
                "`finally` or a `with` block, has run too late",
                fix="close it where it is no longer needed, for example by contextlib.closing",
            )


class Watch:
    """The open generators of a thread, and the tapes that may keep them alive."""

    is_late = False
    is_busy = False

    def __init__(self) -> None:
        self.open: list[Cleanup] = []
        self.tapes: dict[int, Held] = {}

    def begin(self, cleanup: Cleanup) -> None:
        """Watch from now on what refers to a generator that runs for the first time."""
        self.open.append(cleanup)
        lowest: Any = recorder(cleanup.ctx)
        for ctx in (lowest, *map(recorder, lowest.outers)):
            if id(ctx) not in self.tapes:
                self.tapes[id(ctx)] = Held(ctx)
        if sys.getprofile() is None:
            sys.setprofile(self.on_event)

    def end(self, cleanup: Cleanup) -> None:
        """Note that a generator is at its end."""
        if cleanup in self.open:
            self.open.remove(cleanup)
        if not self.open:
            self.tapes.clear()

    def on_event(self, frame: FrameType, event: str, _: Any) -> None:
        """Look whether an object has gone, between two operations of the program."""
        if not self.open:
            sys.setprofile(None)
            return
        caller = frame if event == "c_call" else frame.f_back
        if caller is not None and event in EVENTS and is_rewritten(caller.f_code):
            self.look(False)

    def look(self, is_late: bool) -> None:
        """Let go of what nobody refers to."""
        if self.is_busy:
            return
        self.is_busy, self.is_late = True, is_late
        try:
            moved.forget_all()
            for held in list(self.tapes.values()):
                held.release(self.open)
        finally:
            self.is_busy = self.is_late = False

    @property
    def is_prompt(self) -> bool:
        """Whether it is looked after each operation of the program."""
        return sys.getprofile() == self.on_event


_thread = _Thread()
EVENTS = frozenset({"call", "return", "c_call"})


@remembered
def is_rewritten(code: Any) -> bool:
    """Return whether code is that of a rewritten function of the program."""
    names = (*code.co_varnames, *code.co_freevars)
    return CONTEXT in names and not code.co_filename.startswith(PACKAGE)


class Place:
    """Where the tape refers to an object: in an entry, or in a container that an entry holds."""

    __slots__ = ("container", "index")

    def __init__(self, index: int, container: Any = None) -> None:
        self.index = index
        self.container = container


class Object:
    """An object that the tape refers to."""

    __slots__ = ("again", "holder", "is_opened", "places")

    def __init__(self, o: Any, again: int) -> None:
        self.holder = [o]
        self.places: list[Place] = []
        self.again = again
        self.is_opened = False


class Held:
    """What the undo entries of a tape refer to."""

    def __init__(self, ctx: Any) -> None:
        self.ctx = ctx
        self.seen = 0
        self.again = 0
        self.objects: dict[int, Object] = {}
        self.skipped = 0

    def release(self, cleanups: list[Cleanup]) -> None:
        """Let go of the objects that nobody else refers to."""
        tape = self.ctx.tape
        if len(tape) < self.seen:
            self.seen, self.again = 0, self.ctx.registry.again
            self.objects.clear()
        if len(tape) > self.seen:
            self.scan(tape)
        frames = [cleanup.frame for cleanup in cleanups]
        found = True
        while found:
            found = False
            for key in list(self.objects):
                known = self.objects.get(key)
                if known is not None and self.is_alone(key, known):
                    found = self.drop(key, known, frames) or found

    def scan(self, tape: list[Any]) -> None:
        """Note what new entries refer to."""
        for k in range(self.seen, len(tape)):
            entry = tape[k]
            if entry[0] in STATES and len(entry) > 2:
                details = () if entry[1] is state.restore_raised else entry[3:]
                for part in (entry[2], *details):
                    self.add(part, Place(k))
        self.seen, self.again = len(tape), self.ctx.registry.again

    def add(self, part: Any, place: Place) -> None:
        """Note a place that refers to an object."""
        if type(part) in INERT or isinstance(part, PLAIN) or part is self.ctx.ordered:
            return
        if id(part) not in self.objects:
            self.objects[id(part)] = Object(part, self.again)
        self.objects[id(part)].places.append(place)

    def is_alone(self, key: int, known: Object) -> bool:
        """Return whether nobody else refers to an object."""
        own = len(known.places) + (key in self.ctx.ordered)
        return references_beside(known.holder) <= own

    def drop(self, key: int, known: Object, frames: list[Any]) -> bool:
        """Let go of an object that nobody else refers to; return whether anything has changed."""
        tape = self.ctx.tape
        targets, others = self.split(known)
        if targets is None:  # the tape is another one by now
            self.seen = len(tape) + 1
            return False
        if not others:
            for k in targets:
                tape[k] = NOTHING
            self.ctx.ordered.pop(key, None)
            del self.objects[key]
            return True
        if known.is_opened or not leads(known.holder[0], frames):
            return False
        if self.ctx.registry.again != known.again or self.ctx.rehearsal is not None:
            return False  # a part that runs again may find it as it was then
        for k in reversed(targets):
            tape[k][0](tape[k])
            tape[k] = NOTHING
        known.places = others
        if type(known.holder[0]) in (list, dict):
            self.open_up(known)
        elif leads(known.holder[0], frames):
            self.replace(key, others)
        return True

    def split(self, known: Object) -> tuple[list[int] | None, list[Place]]:
        """Return the entries about an object, and the places that would put it somewhere."""
        tape = self.ctx.tape
        targets: list[int] = []
        others: list[Place] = []
        for place in known.places:
            if place.container is not None:
                others.append(place)
                continue
            entry = tape[place.index] if place.index < len(tape) else ()
            if not any(part is known.holder[0] for part in entry[2:]):
                return None, []
            if entry[2] is known.holder[0] and place.index not in targets:
                targets.append(place.index)
            else:
                others.append(place)
        return targets, others

    def open_up(self, known: Object) -> None:
        """Note what a container holds that only the tape refers to."""
        known.is_opened = True
        container = known.holder[0]
        for part in list(container.values() if type(container) is dict else container):
            self.add(part, Place(-1, container))

    def replace(self, key: int, places: list[Place]) -> None:
        """Put something else where the tape would put an object that was made in this call."""
        tape = self.ctx.tape
        o = self.objects.pop(key).holder.pop()
        for place in places:
            container = place.container
            if type(container) is dict:
                container.update({k: GONE for k, part in container.items() if part is o})
            elif container is not None:
                container[:] = [GONE if part is o else part for part in container]
            else:
                entry = tape[place.index]
                tape[place.index] = tuple([GONE if part is o else part for part in entry])


def nothing(_: Any) -> None:
    """Undo nothing."""


NOTHING = (pull_state, nothing, None)


def leads(o: Any, frames: list[Any]) -> bool:
    """Return whether an object leads to an open generator."""
    todo, seen = [o], set[int]()
    while todo and len(seen) < FAR:
        value = todo.pop()
        if type(value) in INERT or id(value) in seen:
            continue
        seen.add(id(value))
        if type(value) is GeneratorType and value.gi_frame in frames:
            return True
        if type(value) is FunctionType:
            todo += value.__closure__ or ()
        elif not isinstance(value, PLAIN):
            todo += gc.get_referents(value)
    return bool(todo)


def let_go(ctx: Mode) -> None:
    """Let go of what nobody refers to after the program has run."""
    watch = _thread.watch
    if watch.open:
        watch.look(not watch.is_prompt)


def finish(ctx: Any) -> None:
    """Close the generators that a call leaves open, before what they change is undone."""
    watch = _thread.watch
    if not watch.open:
        return
    frames = [c.frame for c in watch.open if recorder(c.ctx) is ctx and c.frame is not None]
    for generator in generators_of(frames):
        with suppress(Exception):
            generator.close()


def generators_of(frames: list[FrameType]) -> Iterator[Any]:
    """Return the generators that these are the frames of."""
    return iter([
        o for o in gc.get_objects() if type(o) is GeneratorType and o.gi_frame in frames
    ]) if frames else iter(())
