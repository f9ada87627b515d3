"""Lists and dicts that a function changes: their items are slots.

    d["s"] = d["s"] * 0.5           d.0 = d.0 * 0.5         d.0 is what stands under "s"
    cells.append(c)                 cells.2 = c             and cells has three items now

Which keys there are is known while the function is read, and is in a slot as well: a branch or a
loop that changes it on one way only leaves nothing that could be read.  A list or dict that nothing
changes has no slots; that it changes is found out, and the function is read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from mooncake_py.compiler.native.building.deques import Deque
from mooncake_py.compiler.native.building.findings import Again
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.types import MOST_ITEMS, Path
from mooncake_py.compiler.native.building.values import (
    NO_KEY,
    Cells,
    Choice,
    Dictionary,
    Function,
    Known,
    Number,
    Object,
    Partial,
    Stack,
    Tuple,
    Unfit,
    Unread,
    Value,
    key_in,
)
from mooncake_py.compiler.native.reading import deques, growing, lists, ragged, stacks, tags
from mooncake_py.compiler.native.reading.assignments import AssignmentReader
from mooncake_py.compiler.native.reading.merging import bases_in
from mooncake_py.compiler.native.reading.store import KEYS, Slot
from mooncake_py.overriding import override
from mooncake_py.syntax.nodes import Place

__all__ = ["Holder", "StructureReader", "is_reference", "referred"]

LOST = Unread("an item of a list or a dict that is not the same on all ways that lead here")
Structure = Tuple | Dictionary


@dataclass
class Holder:
    """A list or a dict whose items are slots.

    Attributes
    ----------
    like : Tuple or Dictionary
        Without its items.
    path : tuple
        Where it is, if it is passed.
    keys : dict
        All that it had anywhere, with the numbers of their slots.
    first : tuple
        Those that a passed one had at first.
    """

    like: Structure
    path: tuple[Any, ...]
    keys: dict[Any, int]
    first: tuple[Any, ...] = ()


class StructureReader(AssignmentReader):
    """Reads and changes lists and dicts.

    Attributes
    ----------
    holders : dict of str to Holder
        Those that change, by what they are called in the region.
    iterating : list of (frozenset of str, int)
        Of the loops that are read pass by pass the lists and dicts that they run over, and in which
        pass they are.
    structures : dict of Path to Value
        The objects, lists and dicts that are passed, by where they were found first.
    bound_at : dict of Slot to (Place or None, str)
        Of ints in objects, lists and dicts that are made within: the statement, and the name.
    """

    bound_at: dict[Slot, tuple[Place | None, str]]
    holders: dict[str, Holder]
    iterating: list[tuple[frozenset[str], int]]
    structures: dict[tuple[Any, ...], Value]

    # Making them.

    @override
    def list_made(self, made: Value, place: Place | None) -> Value:
        if isinstance(made, Stack):
            return made
        assert isinstance(made, Structure | Cells)
        is_stacked = place in self.findings.stacked
        if is_stacked and isinstance(made, Tuple) and not isinstance(made, Deque):
            is_turned = place in self.findings.turned
            stack = stacks.started(self.b, self.findings.stacked[place], is_turned)
            for item in made.items[::-1] if is_turned else made.items:
                self.stacked_up(stack, item, is_turned)
            return stack
        if place in self.findings.changed and isinstance(made, Cells):
            count = lists.known_length(made)
            if count is not None and count <= MOST_ITEMS:  # as after `pop`
                made = Tuple(tuple(lists.items_now(self.b, made, count)), is_list=True)
        found = replace(made, place=place)
        if place in self.findings.changed and isinstance(found, Structure):
            return self.held_apart(found)
        first = self.findings.growing.get(place)
        if first is None or isinstance(made, Dictionary) or not growing.fits(made):
            return found
        return growing.started(self.b, made, first, self.findings.mixed)

    def held_apart(self, made: Structure) -> Value:
        """Return a new list or dict as one that the function changes."""
        name = self.name_made("l")
        keys = made.keys if isinstance(made, Dictionary) else range(len(made.items))
        found = self.set_out(replace(made, name=name), keys)
        for key, value in zip(keys, made.items, strict=True):
            self.bind_own(self.slot_of(name, key), value)
        return self.current(found)

    def set_out(
        self, made: Structure, keys: Sequence[Any], path: tuple[Any, ...] = ()
    ) -> Structure:
        """Note a list or dict that changes, of which the items are yet to be bound."""
        bare = replace(made, items=(), has_slots=True)
        if isinstance(bare, Dictionary):
            bare = replace(bare, keys=())
        self.holders[made.name] = Holder(bare, path, numbered(keys), tuple(keys) if path else ())
        self.slots.bound(Slot(f"{made.name}.", KEYS), Known(tuple(keys)))
        return bare

    def maybe_changing(self, found: Tuple | Dictionary, path: Path) -> Value:
        """Return a list or a dict that is passed, with slots if the function changes it."""
        if found.name and found.name in self.findings.changed:
            return self.passed_structure(found, found.items, path)
        return found

    def passed_structure(self, made: Structure, items: Sequence[Value], path: Any) -> Value:
        """Return a list or dict that is passed, and that the function changes."""
        keys = made.keys if isinstance(made, Dictionary) else range(len(items))
        found = self.set_out(made, keys, path)
        for key, value in zip(keys, items, strict=True):
            self.slots.bound(self.slot_of(made.name, key), value)
        return self.current(found)

    def changing(self, made: Value) -> Structure:
        """Return a list or dict that is to be changed; find out that it is, if need be.

        Raises
        ------
        Again, Unfit
        """
        if isinstance(made, Structure) and made.name in self.holders:
            if made.name in self.slots.shared:
                raise Unfit(
                    f"{said(made)} that a loop assigns to its name again, and that has other names",
                    self.b.place,
                )
            return made
        self.find_changing(made)
        raise Unfit(f"a change of {said(made)} that is global, captured or a result", self.b.place)

    def require_first_keys(self) -> None:
        """Raise for a list or a dict that is passed, and has lost keys or got longer."""
        for holder in self.holders.values():
            if holder.path:
                keys = self.keys_in(holder.like)
                if not set(holder.first) <= set(keys) or (
                    isinstance(holder.like, Tuple) and keys != holder.first
                ):
                    raise Unfit(
                        f"{said(holder.like)} that is passed, and gets longer or shorter: "
                        "return a new one",
                        self.b.place,
                    )

    def find_changing(self, made: Value) -> None:
        """Find out that a list or a dict must have slots, if it can."""
        if isinstance(made, Structure) and made.name in self.holders:
            return
        found: Place | str | None = None
        if isinstance(made, Dictionary) or (isinstance(made, Tuple) and made.is_list):
            found = made.name or (None if getattr(made, "is_passed", False) else made.place)
        elif isinstance(made, Cells):
            found = made.place
        if found is not None and found not in self.findings.changed:
            paths = [path for path, v in self.structures.items() if v == made]
            self.findings.changed[found] = paths[0] if type(found) is str else None
            raise Again

    # Looking at them.

    def slot_of(self, name: str, key: Any) -> Slot:
        """Return the slot of what stands under a key, or at a position."""
        keys = self.holders[name].keys
        return Slot(f"{name}.", str(keys.setdefault(key, len(keys))))

    def keys_in(self, made: Structure) -> tuple[Any, ...]:
        """Return the keys, or the positions, of what a list or a dict holds now."""
        slot = Slot(f"{made.name}.", KEYS)
        if slot not in self.slots.values:
            raise Unfit(
                f"{said(made)}, of which the keys or the length depend on numbers", self.b.place
            )
        found = self.held(slot)
        assert isinstance(found, Known)
        return found.value

    @override
    def current(self, value: Value) -> Value:
        if isinstance(value, Choice):
            found = tags.remaining(value, self.slots.facts)
            return found if isinstance(found, Choice) else self.current(found)
        if isinstance(value, Structure):
            if value.name in self.holders:
                keys = self.keys_in(value)
                items = [self.now_at(self.slot_of(value.name, key)) for key in keys]
                if isinstance(value, Dictionary):
                    return replace(value, keys=keys, items=tuple(items))
                return replace(value, items=tuple(items))
            if any(isinstance(v, Structure | Cells | Choice) for v in value.items):
                return replace(value, items=tuple(map(self.current, value.items)))
            return value
        return super().current(value)

    def now_at(self, slot: Slot) -> Value:
        """Return the value in a slot, which may be lost if nothing looks at it."""
        if slot not in self.slots.values:
            return LOST
        return self.held(slot)

    # Changing them.

    def bind_own(self, slot: Slot, value: Value) -> None:
        """Bind a slot of what is made within; ints may be sizes of arrays."""
        counters, here = self.findings.counters, (self.b.place, slot.name)
        self.require_unshared(slot)
        is_new = counters.isdisjoint((slot.own, here)) and isinstance(value, Number)
        was_int = slot in self.bound_at and (self.b.loops or not self.is_straight)
        if is_new and (value.type == "int" or was_int):  # type: ignore[union-attr]
            if not (slot in self.slots.values or self.b.loops):
                self.bound_at[slot] = here
                self.slots.bound(slot, Number(self.b.steady(value.e), "int"))  # type: ignore[union-attr]
                return
            counters.update((here, self.bound_at.get(slot, slot.own)))
            self.findings.later()
        self.bind(slot, value)

    def require_unshared(self, slot: Slot) -> None:
        """Raise for a slot of what stands for something else, or for which another one stands."""
        if slot.owner[:-1] in self.slots.shared:
            raise Unfit(
                f"a write of {slot.shown} of an object that a loop assigns to its name again, and "
                "that has other names",
                self.b.place,
            )

    def bind_at(self, made: Structure, key: Any, value: Value) -> None:
        """Bind what stands under a key that is there, or is added."""
        name = made.name
        holder, slot = self.holders[name], self.slot_of(made.name, key)
        if self.is_within(name, value):
            raise Unfit(f"{said(made)} that holds itself", self.b.place)
        self.require_passed_by(slot, value)
        if holder.path:
            if slot.own not in self.findings.assigned:
                self.findings.assigned[slot.own] = holder.path, slot
                raise Again
            self.bind(slot, value)
        else:
            self.bind_own(slot, value)

    def is_within(self, name: str, value: Value) -> bool:
        """Return True for a list or a dict that a value holds, but not by way of objects."""
        if isinstance(value, Structure) and value.name == name:
            return True
        now = self.current(value) if isinstance(value, Structure) else value
        return isinstance(now, Structure | Partial | Choice) and any(
            self.is_within(name, item) for item in now.items
        )

    def require_passed_by(self, slot: Slot, value: Value) -> None:
        """Raise for an item that a loop around this has yet to come to."""
        old = self.slots.values.get(slot)
        if isinstance(old, Number) and isinstance(value, Number):
            return
        for names, k in self.iterating:
            if slot.owner[:-1] in names and int(slot.name) > k:
                raise Unfit("a change of a list or a dict while a loop runs over it", self.b.place)

    def set_keys(self, made: Structure, keys: Sequence[Any]) -> None:
        """Note which keys or positions there are; what stood under others is gone."""
        if any(made.name in names for names, _ in self.iterating):
            raise Unfit(
                f"{said(made)} that gets longer or shorter while a loop runs over it", self.b.place
            )
        for key in self.keys_in(made):
            if key not in keys:
                self.slots.unbound(self.slot_of(made.name, key))
        self.slots.bound(Slot(f"{made.name}.", KEYS), Known(tuple(keys)))

    def set_item(self, made: Value, key: Value, value: Value) -> None:
        """Read ``made[key] = value``."""
        if isinstance(key, Choice):

            def run(k: Value) -> Value:
                self.set_item(made, k, value)
                return Known(None)

            self.for_each(key, run)
            return
        found = self.changing(made)
        keys = self.keys_in(found)
        at = self.place_in(found, key, keys)
        if at not in keys:
            self.set_keys(found, (*keys, at))
        self.bind_at(found, at, value)

    def delete_item(self, made: Value, key: Value) -> Value:
        """Read ``del made[key]``; return what was there."""
        found = self.changing(made)
        keys = self.keys_in(found)
        at = self.place_in(found, key, keys)
        if at not in keys:
            raise Unfit(f"{at!r} taken out of a dict in which it is not", self.b.place)
        gone = self.kept_apart(self.held(self.slot_of(found.name, at)))
        if isinstance(found, Dictionary):
            self.set_keys(found, [k for k in keys if k != at])
        else:
            items = self.items_in(found)
            self.refill(found, [*items[:at], *items[at + 1 :]])
        return gone

    def place_in(self, made: Structure, key: Value, keys: Sequence[Any]) -> Any:
        """Return a key that is known, or a position in a list."""
        found = key_in(key)
        if found is NO_KEY:
            if isinstance(key, Number):
                self.unroll(key.e)
                self.pin(key.e)
            raise Unfit(
                f"an item of {said(made)} that changes, at {said(key)} that is known only when it "
                "runs: use an array, or constant keys",
                self.b.place,
            )
        if isinstance(made, Dictionary):
            return found
        if type(found) is not int or not -len(keys) <= found < len(keys):
            raise Unfit("an item of a list that is not there", self.b.place)
        return found % len(keys)

    def items_in(self, made: Structure) -> list[Value]:
        """Return the present items of a list."""
        found = self.current(made)
        assert isinstance(found, Structure)
        return list(found.items)

    def refill(self, made: Structure, items: Sequence[Value]) -> None:
        """Let a list hold other items; those that move are as they are now."""
        before = self.items_in(made)
        if LOST in items:
            raise Unfit(LOST.why, self.b.place)
        moved = [k >= len(before) or before[k] is not v for k, v in enumerate(items)]
        kept = [self.kept_apart(v) if moves else v for v, moves in zip(items, moved, strict=True)]
        self.set_keys(made, range(len(items)))
        for k, value in enumerate(kept):
            if moved[k]:
                self.bind_at(made, k, value)

    @override
    def keep_in_list(self, value: Value) -> None:
        own = {cells.base for cells in ragged.lists_in(value)}
        before = self.around[-1].entry.values.values() if self.around else ()
        if own and not own.isdisjoint(bases_in(before)):
            raise Unfit("a list from before a loop, which appends it to another one", self.b.place)
        super().keep_in_list(value)

    def require_own(self, made: Value) -> None:
        """Raise for a list of numbers that another list has, too."""
        if isinstance(made, Cells) and (made.array.frozen or made.base in self.in_lists):
            raise Unfit("a change of a list that another list has too", self.b.place)

    @override
    def gains(self, made: Value, more: Value) -> None:
        self.require_own(made)
        if isinstance(made, Deque):
            deques.extended(self, made, (more,))
            return
        if not isinstance(more, Tuple | Cells):
            raise Unfit(f"a list that grows by {said(more)}: use a list", self.b.place)
        if isinstance(made, Stack) or self.is_appended_by_loop(made, more):
            super().gains(made, more)
            return
        is_held = isinstance(made, Tuple) and made.name in self.holders
        if not is_held and isinstance(more, Tuple) and all(self.fits(made, v) for v in more.items):
            super().gains(made, more)
            return
        if isinstance(more, Cells):
            raise Unfit("a list that grows by a list of numbers of any length", self.b.place)
        found = self.changing(made)
        self.refill(found, [*self.items_in(found), *more.items])

    def is_appended_by_loop(self, made: Value, more: Value) -> bool:
        """Return True for a list from before a loop that gets other things than numbers in it."""
        if not self.b.loops or not isinstance(made, Tuple) or made.place is None:
            return False
        if not isinstance(more, Tuple) or all(isinstance(v, Number) for v in more.items):
            return False
        return self.is_from_before(made)

    def is_from_before(self, made: Tuple) -> bool:
        """Return True for a list that is made before the innermost loop, which is there."""
        if not self.b.loops or made.place is None:
            return False
        before = self.around[-1].entry.values.values()
        return any(isinstance(v, Tuple) and v.place == made.place for v in before)

    def fits(self, made: Value, value: Value) -> bool:
        """Return True for a list of numbers that may gain another one."""
        if not isinstance(value, Number):
            return False
        if isinstance(made, Tuple):
            kinds = {v.kind for v in made.items if isinstance(v, Number)}
            return growing.fits(made) and not made.is_passed and kinds <= {value.kind}
        return True

    def write_cell(self, made: Cells, at: Number, value: Value) -> None:
        """Write an item of a list of numbers; anything else makes it a list of any items."""
        self.require_own(made)
        if not isinstance(value, Number) and made.place is not None:
            self.changing(made)
        lists.write(self.b, made, at, value, self.findings.mixed)


def numbered(keys: Sequence[Any]) -> dict[Any, int]:
    """Return keys with their numbers."""
    return {key: k for k, key in enumerate(keys)}


def is_reference(value: Value | None, holders: dict[str, Holder]) -> bool:
    """Return True for an object, or a list or dict whose items are slots."""
    return isinstance(value, Object) or (isinstance(value, Structure) and value.name in holders)


def referred(values: Sequence[Value], slots: dict[Slot, Value]) -> set[str]:
    """Return the objects, lists and dicts that can be reached from values."""
    found: set[str] = set()
    todo = list(values)
    owned: dict[str, list[Value]] = {}
    for slot, value in slots.items():
        owned.setdefault(slot.owner, []).append(value)
    while todo:
        value = todo.pop()
        if isinstance(value, Structure | Partial | Choice):
            todo += value.items
        if isinstance(value, Function):
            todo += value.defaults.values()
        if isinstance(value, Object | Structure) and value.name and value.name not in found:
            found.add(value.name)
            todo += owned.get(f"{value.name}.", ())
    return found
