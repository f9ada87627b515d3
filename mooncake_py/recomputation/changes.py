"""The log of changes to containers, objects and names in a first run.

A run of many steps may change a place many times, and may change objects that it has made itself.
So the log keeps each place once, keeps a container as a whole if much of it has changed, and drops
unreachable objects.
"""

from __future__ import annotations

import sys
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from mooncake_py.application.walker import replace_parts
from mooncake_py.containers import containers, dicts, lists, sets, state
from mooncake_py.recomputation.places import place_of
from mooncake_py.runtime import objects
from mooncake_py.runtime.attribute_lookup import in_class
from mooncake_py.runtime.pulls import pull_key, pull_state
from mooncake_py.runtime.references import references_beside
from mooncake_py.tangents.fields import instance_dict

__all__ = ["Changes", "is_alone"]

Entry = tuple[Any, ...]

FEW = 16
ORDERS = (dicts.restore_order, sets.restore_order)
KEPT_WHOLE = frozenset({list, dict, set, deque})
BESIDES = (state.restore_attribute, state.restore_slot, dicts.FACTORY.__set__, deque.__init__)
"""Inverses of changes to more than the contents of a container: to attributes, its longest size."""


class Changes:
    """Entries that undo changes, each with the inverse, the changed object, and details."""

    def __init__(self) -> None:
        self.kept: list[Any] = []  # entries; None where one was dropped
        self.groups: dict[int, Group] = {}
        self.count = 0
        self.limit = FEW

    def entries(self, after_error: bool = False) -> list[Entry]:
        """Return the entries in the order in which they were recorded.

        After an error, which may be an interrupt of what keeps them, these are all of them.
        """
        if not after_error:
            self.forget_unreachable()
        return [entry for entry in self.kept if entry is not None]

    # In place of the table of dicts whose order is recorded: see `dicts.note_order`.

    def __contains__(self, key: int) -> bool:
        group = self.groups.get(key)
        return group is not None and group.has_order

    def __setitem__(self, key: int, d: Any) -> None:
        pass

    def pop(self, key: int, default: None) -> None:
        """Leave the group, whose undo entries are about a copy."""

    def add(self, entry: Entry) -> None:
        """Keep an entry unless an earlier one brings the place back anyway."""
        if entry[1] is state.restore_attribute:
            entry = of_shared_attributes(entry)
        o = entry[2]
        group = self.groups.get(id(o))  # the entries of a group keep the object alive
        if group is None:
            group = self.groups[id(o)] = Group(len(o) if type(o) in KEPT_WHOLE else 0)
        if group.is_whole and entry[1] not in BESIDES:
            return
        part = part_of(entry)
        if part in group.parts:
            return
        self.kept.append(entry)
        group.positions.append(len(self.kept) - 1)
        self.count += 1
        if part is not None:
            group.parts.add(part)
        elif not adds_at_the_end(entry):
            group.parts.clear()  # from here on they mean something else
            if entry[1] in ORDERS:  # of the attributes of an object, perhaps
                group.has_order = True
                for other in self.groups.values():
                    other.parts.clear()
        module = containers.module_of(o)
        if module is not None and entry[1] is module.restore:
            group.is_whole = True
        elif (
            type(o) in KEPT_WHOLE
            and not group.is_whole
            and len(group.positions) > 2 * group.size + 8
        ):
            self.keep_whole(o, module, group)
        if self.count > self.limit:
            self.forget_unreachable()
            self.limit = FEW + 2 * self.count

    def keep_whole(self, o: Any, module: Any, group: Group) -> None:
        """Replace the entries of a container by one that has its contents before them all.

        The change that is being recorded has not been made: to undo it does no harm.
        """
        before = deque(o, o.maxlen) if type(o) is deque else type(o)(o)
        for position in reversed(group.positions):
            entry = self.kept[position]
            entry[1](before, *entry[3:])
        whole: Entry = pull_state, module.restore, o, module.contents(before)
        if type(before) is deque:
            whole = pull_state, deque.__init__, o, list(before), before.maxlen
        for position in group.positions:  # from the first one on: all of them undo the same
            self.kept[position] = whole
        last = group.positions[-1]  # undone before the attributes of what is taken out again
        for position in group.positions[:-1]:
            self.kept[position] = None
        self.count -= len(group.positions) - 1
        group.positions = [last]
        group.is_whole = True

    def forget_unreachable(self) -> None:
        """Drop the entries about what only they refer to: it was made within the run."""
        before = 0
        while before != len(self.groups):  # one object may be all that refers to another
            before = len(self.groups)
            for key, group in list(self.groups.items()):
                if is_alone([self.kept[group.positions[0]][2]], len(group.positions)):
                    del self.groups[key]
                    for position in group.positions:
                        self.kept[position] = None
        self.close_ranks()

    def forget(self, key: int) -> None:
        """Drop the entries about an object, by its id."""
        for position in self.groups.pop(key).positions:
            self.kept[position] = None
            self.count -= 1

    def close_ranks(self) -> None:
        """Take out the positions of entries that were dropped."""
        new: list[Entry] = []
        moved: dict[int, int] = {}
        for position, entry in enumerate(self.kept):
            if entry is not None:
                moved[position] = len(new)
                new.append(entry)
        for group in self.groups.values():
            group.positions = [moved[position] for position in group.positions]
        self.kept = new
        self.count = len(new)


@dataclass(slots=True, eq=False)
class Group:
    """The entries about one container, object or variable."""

    size: int  # when it was changed first
    positions: list[int] = field(default_factory=list)  # in the list of all entries
    parts: set[Any] = field(default_factory=set)  # whose changes are kept, once
    has_order: bool = False  # of the keys of a dict
    is_whole: bool = False  # they bring back all contents


def of_shared_attributes(entry: Entry) -> Entry:
    """Return an entry about an attribute as one about the dict that holds it, if others have that.

    The object may be new although its attributes are not: ``new.__dict__ = old.__dict__``.
    """
    _, _, o, name, old = entry
    if issubclass(type(o), type) or hasattr(type(in_class(type(o), name)), "__set__"):
        return entry
    held = instance_dict(o)
    if type(held) is not dict or sys.getrefcount(held) <= OF_ONE:
        return entry
    return pull_key, dicts.restore_key, held, name, old


OF_ONE = 3
"""How many refer to a dict of attributes that one object has, while it is looked at."""


def part_of(entry: Entry) -> Any:
    """Return a key of the place of a change, None if the inverse is relative."""
    _, inverse, _, *details = entry
    if inverse is list.__setitem__ and type(details[0]) is int:
        return details[0]
    if inverse is objects.put:
        return inverse, *details[0]
    place = place_of(entry)
    return None if place.inverse in (None, replace_parts) else place[1:]


def adds_at_the_end(entry: Entry) -> bool:
    """Return whether a change has added to a list, so that indices keep their meaning."""
    return entry[1] is lists.truncate


def is_alone(holder: list[Any], held: int) -> bool:
    """Return whether only the list and `held` other references lead to the element of a list."""
    return references_beside(holder) <= held
