"""Objects, lists and dicts that differ where two ways meet: one that holds what either holds.

    if c:                                   if c:
        p = Ball(a)                             o.h = a
    else:                                   else:
        p = Ball(b)                             o.h = b

    for k in range(n):                      for k in range(n):
        state = step(state)                     h, v = ...
                                                state.h = h; state.v = v

The new one takes the place of the others wherever these are held.  So they must be new themselves,
made on either side or in this pass: nobody who holds them has held them before.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from mooncake_py.compiler.native.building.deques import Deque
from mooncake_py.compiler.native.building.findings import Again
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.types import MOST_ITEMS, ObjectType
from mooncake_py.compiler.native.building.values import (
    Array,
    Choice,
    ComplexNumber,
    Dictionary,
    Function,
    Number,
    Object,
    Partial,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading.merging import Around, Before
from mooncake_py.compiler.native.reading.store import Slot, Snapshot, is_same
from mooncake_py.compiler.native.reading.structure_methods import StructureMethodReader
from mooncake_py.compiler.native.reading.structures import is_reference, referred
from mooncake_py.compiler.regions.ir import Statement
from mooncake_py.overriding import override
from mooncake_py.syntax.nodes import Place

__all__ = ["MovingReader"]

Reference = Object | Tuple | Dictionary


class MovingReader(StructureMethodReader):
    """Lets one object, list or dict take the place of others.

    Attributes
    ----------
    around : list of Around
        What holds around each loop that is being read.
    moved_to : dict of str to str
        By what was made what has taken its place.
    """

    moved_to: dict[str, str]
    around: list[Around]

    def is_held(self, value: Value | None) -> bool:
        """Return True for an object, or a list or dict whose items are slots."""
        return is_reference(value, self.holders)

    # Branches.

    def one_of_two(
        self,
        slot: Slot,
        known: Before,
        blocks: Sequence[list[Statement]],
        sides: Sequence[Snapshot],
    ) -> bool:
        """Let a slot that holds two new ones hold one; return whether it does."""
        values = [side.values.get(slot) for side in sides]
        self.find_meeting(*values)
        if not all(map(self.is_held, values)) or not are_alike(*values):
            return False
        names = [v.name for v in values]  # type: ignore[union-attr]
        inside = [owned(side.values, name) for side, name in zip(sides, names, strict=True)]
        if any(self.serial(name) <= known.names for name in names) or inside[0] != inside[1]:
            return False
        if any(names[k] in referred_by(sides[1 - k].values) for k in (0, 1)):
            return False
        name = self.name_made("l" if names[0] in self.holders else "o")
        self.copy_holder(names[0], name)
        for side, old in zip(sides, names, strict=True):
            move(side, old, name, inside[0])
            rename(side.values, old, name)
            self.moved_to[old] = name
        for part in inside[0]:
            self.meet_within(Slot(f"{name}.", part), known, blocks, sides)
        return True

    def find_meeting(self, x: Value | None, y: Value | None) -> None:
        """Find out that two dicts, or two lists of which one changes, meet in one place."""
        if isinstance(x, Dictionary) and isinstance(y, Dictionary):
            self.find_changing(x)
            self.find_changing(y)
        elif isinstance(x, Tuple) and isinstance(y, Tuple) and x.is_list and y.is_list:
            if self.is_held(x):
                self.find_changing(y)
            elif self.is_held(y):
                self.find_changing(x)

    def meet_within(
        self,
        slot: Slot,
        known: Before,
        blocks: Sequence[list[Statement]],
        sides: Sequence[Snapshot],
    ) -> None:
        """Let what two new ones hold be one; numbers get the name of the slot."""
        values = [side.values[slot] for side in sides]
        if not is_same(*values) and all(isinstance(v, Number | ComplexNumber) for v in values):
            for side, block in zip(sides, blocks, strict=True):
                with self.b.within() as more:
                    self.bind(slot, side.values[slot])
                block += more
                side.values[slot] = self.slots.values.pop(slot)
        elif not is_same(*values):
            self.meet(slot, known, blocks, sides)

    def meet(
        self,
        slot: Slot,
        known: Before,
        blocks: Sequence[list[Statement]],
        sides: Sequence[Snapshot],
    ) -> None:
        """Let a slot that stands for two things stand for one, if that can be."""
        raise NotImplementedError

    def copy_holder(self, name: str, new: str) -> None:
        """Let a new list or dict have slots as another one."""
        holder = self.holders.get(name)
        if holder is not None:
            like = (
                replace(holder.like, name=new, is_passed=False)
                if isinstance(holder.like, Tuple)
                else replace(holder.like, name=new)
            )
            self.holders[new] = replace(holder, like=like, path=(), first=(), keys={**holder.keys})

    # Loops.

    @override
    def unroll_at(self, place: Place | None, pins: bool = True) -> None:
        if place in self.short.values() and place not in self.findings.unrolled:
            self.findings.unroll(place)
            raise Again
        if pins and place in self.passes:
            self.pin(self.passes[place], MOST_ITEMS)

    def carry(self, slot: Slot, old: Value, value: Value, place: Place | None) -> bool:
        """Find out that a loop binds a slot to another object, list or dict in each pass."""
        if not self.is_held(old) or not self.is_held(value):
            return False
        if slot.own in self.findings.unpacked or not are_alike(old, value):
            self.unroll_at(place)
            raise Unfit(
                f"{slot.shown}, which becomes another {noun(value)} in each pass of a loop",
                self.b.place,
            )
        self.find_later(slot, self.findings.unpacked)
        return True

    def begin_carrying(self, bound: set[Slot]) -> None:
        """Let slots that a loop binds again hold what has their own name in the region."""
        todo = list(self.slots.values)
        while todo:
            slot = todo.pop()
            value = self.slots.values.get(slot)
            if (
                not self.is_held(value)
                or slot.own not in self.findings.unpacked
                or (slot.is_variable and slot not in bound)
            ):
                continue
            assert isinstance(value, Reference)
            if value.name != slot.own:
                todo += self.own_copy(slot, value)

    def own_copy(self, slot: Slot, value: Reference) -> list[Slot]:
        """Let a slot hold a copy under its own name; it is not to be changed if others see it."""
        values = self.slots.values
        names = self.names_within(value)
        is_private = self.serial(value.name) > 0 and (
            value.name not in referred([v for s, v in values.items() if s != slot], {})
        )
        if isinstance(value, Object):
            own: Value = Object(slot.own, value.cls, ObjectType(value.type.cls, True, ()), ())
        else:
            self.copy_holder(value.name, slot.own)
            own = self.holders[slot.own].like
        parts = []
        for name in names:
            part = Slot(f"{slot.own}.", name)
            self.bind_part(part, self.part_of(value, name))
            parts.append(part)
        if is_private:
            self.slots.drop(f"{value.name}.")
        else:
            self.slots.shared |= {slot.own, value.name}  # each stands for the other, at first
        self.slots.bound(slot, own)
        return parts

    def bind_part(self, slot: Slot, value: Value) -> None:
        """Bind a slot to something as it is now; ints are variables."""
        if isinstance(value, Number) and value.type == "int":
            self.findings.counters.add(slot.own)
        self.bind(slot, value)

    def names_within(self, value: Reference) -> list[str]:
        """Return the names of the slots of an object, a list or a dict."""
        names = owned(self.slots.values, value.name)
        if isinstance(value, Object):
            names = list(dict.fromkeys([*(name for name, _ in value.type.attributes), *names]))
        return names

    def part_of(self, value: Reference, name: str) -> Value:
        """Return the value in a slot of an object, a list or a dict."""
        if isinstance(value, Object):
            return self.attribute_of(value, name)
        return self.held(Slot(f"{value.name}.", name))

    @override
    def bind(self, at: str | Slot, value: Value) -> None:
        slot, value = self.slot(at), self.taken_over(value)
        before = self.slots.values.get(slot)
        if (
            slot.own in self.findings.unpacked
            and self.is_held(before)
            and before.name == slot.own  # type: ignore[union-attr]
            and self.is_held(value)
            and value.name != slot.own  # type: ignore[union-attr]
            and are_alike(before, value)
        ):
            assert isinstance(value, Reference)
            self.take_over(slot, value)
        else:
            super().bind(slot, value)

    def taken_over(self, value: Value) -> Value:
        """Return the value that has replaced another one since that was read."""
        while isinstance(value, Reference) and value.name in self.moved_to:
            value = renamed(value, value.name, self.moved_to[value.name])
        return value

    def take_over(self, slot: Slot, value: Reference) -> None:
        """Let what a slot holds take the place of a new one."""
        values, name, own = self.slots.values, value.name, slot.own
        if not self.around or self.serial(name) <= self.around[-1].before.names:
            self.unroll_at(self.around[-1].place if self.around else None)
            raise Unfit(
                f"{slot.shown}, which a loop binds to {said(value)} that is not new in each pass",
                self.b.place,
            )
        names = owned(values, name)
        parts = [Slot(f"{name}.", part) for part in names]
        if own in referred([values[part] for part in parts], values):
            raise Unfit(f"{said(value)} that holds the one before it", self.b.place)
        for other in [s for s, v in values.items() if s != slot and holds(v, own)]:
            self.slots.unbound(other)  # it holds what was there before
        items = self.apart_from_buffers(own, [(p.name, values[p]) for p in parts])
        lost = [part for part in owned(values, own) if part not in names]
        for part in lost:
            self.slots.unbound(Slot(f"{own}.", part))
        self.slots.shared.discard(own)
        if name in self.holders:
            mine, theirs = self.holders[own], self.holders[name]
            self.holders[own] = replace(mine, keys={**theirs.keys})
        for part, item in items:
            self.bind_part(Slot(f"{own}.", part), item)
        self.slots.drop(f"{name}.")
        rename(values, name, own)
        self.moved_to[name] = own

    def apart_from_buffers(
        self, own: str, items: list[tuple[str, Value]]
    ) -> list[tuple[str, Value]]:
        """Return items as they are now, arrays of memory that other items take too."""
        found: list[tuple[str, Value]] = []
        for part, item in items:
            value = self.kept_apart(item)
            base = value.base if isinstance(value, Array) else ""
            if base in self.buffers and self.buffers[base] != f"{own}.{part}":
                value = self.moved(value)
            found.append((part, value))
        return found

    def require_apart_from_targets(
        self, targets: Sequence[ast.expr], values: Sequence[Value]
    ) -> None:
        """Raise where what one target gives up is what another one gets."""
        slots = [self.scope.slot(t.id) for t in targets if isinstance(t, ast.Name)]
        own = {slot.own for slot in slots} & self.findings.unpacked
        for target, value in zip(targets, values, strict=True):
            mine = self.scope.slot(target.id).own if isinstance(target, ast.Name) else ""
            if any(holds(value, name) for name in own - {mine}):
                self.unroll_at(self.around[-1].place if self.around else None)
                raise Unfit(
                    f"{said(value)} that changes places with another in a loop", self.b.place
                )


def are_alike(x: Value | None, y: Value | None) -> bool:
    """Return True for two objects of one class, two lists or two dicts."""
    if isinstance(x, Object) and isinstance(y, Object):
        return x.cls is y.cls
    if isinstance(x, Dictionary) and isinstance(y, Dictionary):
        return x.cls is y.cls and x.factory == y.factory
    if isinstance(x, Deque) and isinstance(y, Deque):
        return x.maxlen == y.maxlen
    return type(x) is type(y) and not isinstance(x, Object)


def noun(value: Value) -> str:
    """Return a noun for a value."""
    return said(value).partition(" ")[2].partition(" ")[0]


def owned(values: dict[Slot, Value], name: str) -> list[str]:
    """Return the names of the slots of an object, a list or a dict, in an order of their own."""
    return sorted(slot.name for slot in values if slot.owner == f"{name}.")


def referred_by(values: dict[Slot, Value]) -> set[str]:
    """Return the objects, lists and dicts that slots hold."""
    return referred(list(values.values()), {})


def holds(value: Value, name: str) -> bool:
    """Return True for an object, a list or a dict of that name, or a tuple that holds it."""
    if isinstance(value, Object):
        return value.name == name
    if isinstance(value, Tuple | Dictionary):
        return value.name == name or any(holds(v, name) for v in value.items)
    if isinstance(value, Partial | Choice):
        return any(holds(v, name) for v in value.items)
    return isinstance(value, Function) and any(holds(v, name) for v in value.defaults.values())


def move(side: Snapshot, old: str, new: str, names: Sequence[str]) -> None:
    """Move slots from one owner to another one."""
    for name in names:
        side.values[Slot(f"{new}.", name)] = side.values.pop(Slot(f"{old}.", name))
        side.maybe.pop(Slot(f"{old}.", name), None)


def rename(values: dict[Slot, Value], old: str, new: str) -> None:
    """Let slots hold one object, list or dict in the place of another one."""
    for slot, value in list(values.items()):
        if holds(value, old):
            values[slot] = renamed(value, old, new)


def renamed(value: Value, old: str, new: str) -> Value:
    """Return a value with one object, list or dict in the place of another one."""
    if isinstance(value, Object):
        return replace(value, name=new) if value.name == old else value
    if isinstance(value, Tuple | Dictionary):
        items = tuple([renamed(v, old, new) for v in value.items])
        return replace(value, items=items, name=new if value.name == old else value.name)
    if isinstance(value, Partial | Choice):
        return value.mapped(lambda v: renamed(v, old, new))
    if isinstance(value, Function):
        defaults = {name: renamed(v, old, new) for name, v in value.defaults.items()}
        return replace(value, defaults=defaults)
    return value
