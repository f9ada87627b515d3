"""Objects that a log of changes refers to, and lets go of when nobody else does.

An object that only the log can reach need not be brought back, unless other entries put it
somewhere: then its own changes are undone at once, as nobody sees them.  Looked at are objects that
lead to generators with code for their end.
"""

from __future__ import annotations

import gc
from types import (
    BuiltinFunctionType,
    CellType,
    FrameType,
    FunctionType,
    GeneratorType,
    ModuleType,
)
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.containers import state
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.pulls import (
    STATES,
    pull_appended,
    pull_attribute,
    pull_item,
    pull_key,
    pull_state,
)
from mooncake_py.runtime.references import references_beside

if TYPE_CHECKING:
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["Held"]

GONE = object()
"""Stands in entries for what was made within the call, and is never seen again."""
PLAIN = (type, ModuleType, BuiltinFunctionType, ndarray, FrameType, Active)
CODE = "cleaning"  # what rewritten generators with code for their end call
FAR = 100  # what leads to more objects is taken to lead to a generator


def nothing(_: Any) -> None:
    """Undo nothing."""


NOTHING = (pull_state, nothing, None)


class Place:
    """Where the tape refers to an object: in an entry, or in a container that an entry holds."""

    __slots__ = ("container", "index")

    def __init__(self, index: int, container: Any = None) -> None:
        self.index = index
        self.container = container


class Object:
    """An object that the entries refer to."""

    __slots__ = ("again", "holder", "is_opened", "places")

    def __init__(self, o: Any, again: int) -> None:
        self.holder = [o]
        self.places: list[Place] = []
        self.again = again
        self.is_opened = False


class Held:
    """Objects to which the undo entries of a tape, or of a part that runs unrecorded, refer."""

    def __init__(self, ctx: ReverseMode, part: Any = None) -> None:
        self.ctx = ctx
        self.part = part
        self.objects: dict[int, Object] = {}
        self.leading: dict[int, Object] = {}  # those that lead to generators
        self.reaching: dict[int, set[int]] = {}  # by id, the others that lead there
        self.seen, self.scanned = 0, None

    @property
    def entries(self) -> list[Any]:
        """The entries, which may be others by now."""
        return self.ctx.tape if self.part is None else self.part.changes.kept

    def leads_anywhere(self) -> bool:
        """Return whether there may be anything to let go of, if this is the only log."""
        ctx = self.ctx
        if self.leading or self.part is not None or ctx.rehearsal is not None:
            return True
        tape = ctx.tape
        if self.is_of_others(tape):
            self.start_anew(tape)
        if len(tape) > self.seen:
            self.scan(tape)
        return bool(self.leading) or hasattr(ctx, "setting")

    def is_of_others(self, entries: list[Any]) -> bool:
        """Return whether entries that were seen have gone: others may be in their place."""
        seen = self.seen
        return entries is not self.scanned or (
            seen > 0 and (len(entries) < seen or entries[seen - 1] is not self.last)
        )

    def start_anew(self, entries: list[Any]) -> None:
        """Forget which object is where."""
        self.seen, self.again = 0, self.ctx.registry.again
        self.scanned: Any = entries
        self.count = -1
        self.limit = FAR
        for table in (self.objects, self.leading, self.reaching):
            table.clear()

    def release(self, cleanups: list[Any]) -> bool:
        """Let go of the objects that nobody else refers to; return whether there were any."""
        if self.part is not None and self.ctx.rehearsal is not self.part:
            return False
        entries = self.entries
        if self.is_of_others(entries):
            self.start_anew(entries)
        if self.part is not None and self.count != self.part.changes.count:
            self.start_anew(entries)
            self.count = self.part.changes.count
        if len(entries) > self.seen:
            self.scan(entries)
        frames = [c.frame for c in cleanups if c.recorder is self.ctx and c.part is self.part]
        if len(self.leading) > self.limit:
            for key in list(self.leading):
                self.ask(key)
            self.limit = 2 * len(self.leading) + FAR
        try:
            return self.drop_alone(frames)
        finally:
            frames.clear()  # that of a generator which has ended refers to this one
            if 0 < self.seen <= len(entries):
                self.last = entries[self.seen - 1]

    def drop_alone(self, frames: list[Any]) -> bool:
        """Drop the objects that nobody else refers to; return whether anything has changed."""
        found, any_found = True, False
        while found:
            found = False
            for key in list(self.leading):
                known = self.leading.get(key)
                if known is not None and self.is_alone(key, known):
                    found = self.drop(key, known, frames) or found
            any_found = any_found or found
        return any_found

    def scan(self, entries: list[Any]) -> None:
        """Note what new entries refer to, and which objects lead to generators by now."""
        changed: set[int] = set()
        for k in range(self.seen, len(entries)):
            entry = entries[k]
            if entry is not None and entry[0] in STATES and len(entry) > 2:
                details = () if entry[1] is state.restore_raised else entry[3:]
                for part in (entry[2], *details):
                    self.add(part, Place(k), changed)
                if id(entry[2]) not in changed and not holds_value(entry):
                    changed |= self.reaching.get(id(entry[2]), set())
        self.seen, self.again = len(entries), self.ctx.registry.again
        self.last = entries[-1]
        for key in changed:
            self.ask(key)

    def add(self, part: Any, place: Place, new: set[int]) -> None:
        """Note a place that refers to an object."""
        if type(part) in INERT or isinstance(part, PLAIN) or part is self.ctx.ordered:
            return
        if id(part) not in self.objects:
            self.objects[id(part)] = Object(part, self.again)
            new.add(id(part))
        self.objects[id(part)].places.append(place)

    def ask(self, key: int) -> None:
        """Note whether an object leads to a generator."""
        known = self.objects.get(key)
        if known is None:
            return
        seen = reached(known.holder[0])
        if seen is None:
            self.leading[key] = known
            return
        self.leading.pop(key, None)
        for other in seen:
            self.reaching.setdefault(other, set()).add(key)

    def is_alone(self, key: int, known: Object) -> bool:
        """Return whether nobody else refers to an object."""
        own = len(known.places) + (self.part is None and key in self.ctx.ordered)
        return references_beside(known.holder) <= own

    def drop(self, key: int, known: Object, frames: list[Any]) -> bool:
        """Let go of an object that nobody else refers to; return whether anything has changed."""
        entries = self.entries
        targets, others = self.split(known)
        if targets is None:  # the entries are others by now
            self.start_anew(entries)
            return True
        if not others:
            self.forget(key, targets)
            del self.objects[key], self.leading[key]
            return True
        if known.is_opened or not leads(known.holder[0], frames):
            return False
        if self.part is None and self.ctx.registry.again != known.again:
            return False  # what runs again may find it as it was then
        for k in reversed(targets):
            entries[k][0](entries[k])
        self.forget(key, targets)
        known.places = others
        if type(known.holder[0]) in (list, dict):
            self.open_up(known)
        elif leads(known.holder[0], frames):
            self.replace(key, others)
        return True

    def forget(self, key: int, targets: list[int]) -> None:
        """Drop the entries about an object."""
        if self.part is not None:
            if targets:
                self.part.changes.forget(key)
                self.count = self.part.changes.count
            return
        for k in targets:
            self.ctx.tape[k] = NOTHING
        self.ctx.ordered.pop(key, None)

    def split(self, known: Object) -> tuple[list[int] | None, list[Place]]:
        """Return the entries about an object, and the places that would put it somewhere."""
        tape = self.entries
        targets: list[int] = []
        others: list[Place] = []
        for place in known.places:
            if place.container is not None:
                others.append(place)
                continue
            entry = tape[place.index] if place.index < len(tape) else None
            if entry is None or not any(part is known.holder[0] for part in entry[2:]):
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
        new: set[int] = set()
        for part in list(container.values() if type(container) is dict else container):
            self.add(part, Place(-1, container), new)
        for key in new:
            self.ask(key)

    def replace(self, key: int, places: list[Place]) -> None:
        """Put something else where entries would put an object that was made in this call."""
        tape = self.entries
        del self.leading[key]
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


def holds_value(entry: Any) -> bool:
    """Return whether what was written, for which there is an entry, leads to no other object."""
    pull, _, o, *details = entry
    if pull is pull_attribute:
        value = state.old_attribute(o, details[0])
    elif pull is pull_key:
        value = o.get(details[0])
    elif pull is pull_item and type(details[0]) is int and details[0] < len(o):
        value = o[details[0]]
    elif pull is pull_appended and details[0] == len(o) - 1:
        value = o[-1]
    else:
        return False
    return type(value) in INERT or isinstance(value, PLAIN)


def is_open(generator: Any) -> bool:
    """Return whether a generator has code for its end, and is not at its end."""
    return generator.gi_frame is not None and CODE in generator.gi_code.co_names


def parts_of(value: Any) -> Any:
    """Return the parts of a value."""
    if type(value) is FunctionType:
        return value.__closure__ or ()
    return () if isinstance(value, PLAIN) else gc.get_referents(value)


def reached(o: Any) -> set[int] | None:
    """Return the ids of what an object leads to; None if a generator is or may be among that."""
    todo, seen = [o], set[int]()
    while todo:
        value = todo.pop()
        if type(value) in INERT or id(value) in seen:
            continue
        if type(value) is CellType or (type(value) is GeneratorType and is_open(value)):
            return None  # what a captured variable holds changes without an entry
        seen.add(id(value))
        if len(seen) > FAR:
            return None
        todo += parts_of(value)
    return seen


def leads(o: Any, frames: list[Any]) -> bool:
    """Return whether an object leads to one of these generators, which are open."""
    todo, seen = [o], set[int]()
    while todo and len(seen) < 10 * FAR:
        value = todo.pop()
        if type(value) in INERT or id(value) in seen:
            continue
        seen.add(id(value))
        if type(value) is GeneratorType and value.gi_frame in frames:
            return True
        todo += parts_of(value)
    return bool(todo)
