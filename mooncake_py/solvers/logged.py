"""Changes by derived callbacks of a solver where no walk leads, found in their records.

Each change is recorded with its inverse before it is made.  What was changed becomes a place like
those that could be reached, with what it held before the solver.
"""

from __future__ import annotations

from types import CellType
from typing import TYPE_CHECKING, Any

from mooncake_py.containers import containers, dicts
from mooncake_py.containers.holders import (
    Attributes,
    ClassAttributes,
    Contents,
    Elements,
    Global,
    Place,
    Setting,
    Variable,
    restore_setting,
)
from mooncake_py.containers.reachable import State
from mooncake_py.language import unfinished
from mooncake_py.runtime.classes import recorder
from mooncake_py.runtime.memory import undo_assign
from mooncake_py.runtime.pulls import RESTORES
from mooncake_py.solvers.noted import Noted, in_order, is_noted
from mooncake_py.tangents.fields import instance_dict, slots
from mooncake_py.tangents.memory import is_writeable, owner
from mooncake_py.tangents.subclasses import plain

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Logged"]

Entry = tuple[Any, ...]


class Logged:
    """A block whose changes outside of what a state has reached are added to the state."""

    def __init__(self, ctx: Mode, state: State) -> None:
        self.recorder = recorder(ctx)
        self.state = state
        self.entries: list[Entry] = []
        self.touched: set[int] = set()  # the ids of places that were changed at any time

    def __enter__(self) -> None:
        self.plainly = self.recorder.record
        self.ordered = self.recorder.ordered
        self.recorder.record = self.record
        if type(self.ordered) is dict:
            self.recorder.ordered = {}  # an order that was recorded before is recorded again

    def record(self, entry: Entry) -> None:
        """Record an entry, and keep it if it undoes a change."""
        self.plainly(entry)
        if entry[0] in RESTORES:
            self.entries.append(entry)

    def __exit__(self, *exception: object) -> None:
        self.recorder.record = self.plainly
        unfinished.look_from_now_on()  # may have been told by what stood here
        self.recorder.ordered = self.ordered
        self.add_places()

    def add_places(self) -> None:
        """Add the places that are not known, with what they held before the block."""
        known = {key_of(place): place for place, _ in self.state.kept}
        tangents = self.recorder.registry.memory_of_tangents()  # set with the arrays they are of
        places: dict[Any, Place] = {}
        entries: list[Entry] = []
        for entry in self.entries:
            place = place_of(entry)
            if place is None or id(place.holder) in tangents:
                continue
            key = key_of(place)
            self.touched.add(id(known.setdefault(key, place)))
            if known[key] is place or key in places:
                places.setdefault(key, place)
                entries.append(entry)
        end = [(place, place.read()) for place in places.values()]
        for entry in reversed(entries):
            entry[0](entry)
        for place in places.values():
            self.state.keep(place)
        for place, contents in in_order(end):
            place.write(contents)


def key_of(place: Place) -> tuple[Any, ...]:
    """Return a key that identifies a place."""
    if isinstance(place, Setting):
        return place.read_it, *map(id, place.which)
    if isinstance(place, Noted):
        return place.key
    kind = Attributes if isinstance(place, Attributes) else type(place)
    return kind, id(place.holder), place.name if isinstance(place, Global) else None


def place_of(entry: Entry) -> Place | None:
    """Return the place of the change that an entry undoes, if it can be read as a whole."""
    if entry[0] is undo_assign:
        a = owner(plain(entry[1]))
        return Elements("an array", a) if is_writeable(a) else None
    if is_noted(entry):
        return Noted(entry)
    _, inverse, o, *details = entry
    if inverse is restore_setting:
        return details[0]
    if type(o) is CellType:
        return Variable("a captured variable", o)
    if inverse is dicts.restore_key and type(o) is dict and "__name__" in o:
        return Global(f"global {details[0]!r}", o, details[0])
    if isinstance(o, type):
        return ClassAttributes(f"class {o.__name__}", o)
    name = type(o).__name__
    if containers.module_of(o) is not None:
        return Contents(f"a {name}", o)
    if instance_dict(o) is not None or slots(type(o)):
        return Attributes(f"attributes of a {name}", o)
    return None
