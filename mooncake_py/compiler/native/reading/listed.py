"""Objects, and dicts, that a loop appends to a list: their attributes are in vectors.

    for m in range(n):                  for m in range(n):
        month = Month(m, rent)              index[m], rents[m] = m, rent
        months.append(month)            ...
    months[-1].rent                     rents[n - 1]

An object of the list is a copy here, where it is the very object in Python: neither may be changed
any more, by whatever name.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from mooncake_py.compiler.native.building.findings import Again
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.types import ObjectType
from mooncake_py.compiler.native.building.values import (
    Cells,
    Dictionary,
    Number,
    Object,
    Stack,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading import stacks
from mooncake_py.compiler.native.reading.merging import Before
from mooncake_py.compiler.native.reading.moving import Reference
from mooncake_py.compiler.native.reading.objects import ObjectReader, owned
from mooncake_py.compiler.native.reading.row_loops import Row
from mooncake_py.compiler.native.reading.store import Slot, Snapshot
from mooncake_py.compiler.regions.ir import Statement
from mooncake_py.overriding import override

__all__ = ["ListedReader"]


@dataclass(frozen=True)
class Listed:
    """Stands for the class of a tuple that has the attributes of an object, or the items of a dict.

    Attributes
    ----------
    cls : type
    names : tuple
        Of attributes, or the keys.
    """

    cls: type
    names: tuple[Any, ...]


RANKED = Listed(float, ("value", "rank"))
"""Stands for the class of two numbers that are one whose type is known only when it runs."""


class ListedReader(ObjectReader):
    """Reads lists of objects that loops make.

    Attributes
    ----------
    rows : dict of str to Row
        Objects that are others in each pass, whose attributes loops may assign.
    """

    rows: dict[str, Row]

    @override
    def find_stack(self, made: Tuple | Cells, value: Value, is_turned: bool = False) -> None:
        if has_objects(value):
            self.unroll_at(self.around[-1].place if self.around else None)
            value = self.as_listed(value)
        super().find_stack(made, value, is_turned)

    @override
    def stacked_up(self, made: Stack, value: Value, is_turned: bool = False) -> None:
        listed = self.as_listed(value)
        if listed is not value:
            self.find_form(made, listed)
        super().stacked_up(made, listed, is_turned)

    def find_form(self, made: Stack, listed: Value) -> None:
        """Find out that the type of an attribute varies, after it was found out that it is kept."""
        form = stacks.form_of(self.b, listed)
        places = [p for p, known in self.findings.stacked.items() if known == made.form]
        if form != made.form and made.count and len(places) == 1 and listed_as(made.form, form):
            self.findings.stacked[places[0]] = form
            raise Again

    def as_listed(self, value: Value) -> Value:
        """Return a tuple of what an object or a dict holds, which must not be changed any more."""
        if isinstance(value, Number) and value.rank is not None and not value.narrow:
            parts = Number(value.e, "float64"), Number(value.rank, "int")
            return Tuple(parts, cls=RANKED)  # type: ignore[arg-type]
        if isinstance(value, Dictionary | Tuple):
            return self.structure_listed(value)
        if not isinstance(value, Object):
            return value
        self.require_unchanging(value)
        slots = sorted([s for s in self.slots.values if s.owner == f"{value.name}."])
        if any(slot in self.slots.maybe for slot in slots):
            raise Unfit(f"a list of {said(value)}, an attribute of which may not be bound")
        items = [self.as_listed(self.held(slot)) for slot in slots]
        self.in_lists.add(f"{value.name}.")
        names = tuple([slot.name for slot in slots])
        return Tuple(tuple(items), cls=Listed(value.cls, names))  # type: ignore[arg-type]

    def structure_listed(self, value: Dictionary | Tuple) -> Tuple:
        """Return a tuple of the items of a dict, or those of a list."""
        if value.name in self.holders:
            self.require_unchanging(value)
            self.in_lists.add(f"{value.name}.")
        now = self.current(value)
        assert isinstance(now, Dictionary | Tuple)
        items = tuple(map(self.as_listed, now.items))
        if isinstance(now, Dictionary):
            return Tuple(items, cls=Listed(now.cls, now.keys))  # type: ignore[arg-type]
        return Tuple(items, now.is_list, cls=now.cls)

    def require_unchanging(self, o: Object | Dictionary | Tuple) -> None:
        """Raise for an object of which a list cannot hold a copy.

        One that is not new in each pass must not be changed before it is appended either: that
        would be the next pass.
        """
        path = o.path if isinstance(o, Object) else self.holders[o.name].path
        if path or o.name in self.rows:
            raise Unfit(
                f"a list of {said(o)} to which a loop appends one that is there before it: "
                "append a copy",
                self.b.place,
            )
        is_item = isinstance(o, Object) and o.is_row  # of another such list
        is_noted = f"{o.name}." in self.findings.listed
        if not (is_item or is_noted or self.is_new_in_pass(o.name)):
            self.findings.listed.add(f"{o.name}.")
            raise Again

    def is_new_in_pass(self, name: str) -> bool:
        """Return True for an object that is made in this pass of the innermost loop."""
        return not self.around or self.serial(name) > self.around[-1].before.names

    @override
    def of_list(self, value: Value) -> Value:
        if not isinstance(value, Tuple):
            return value
        if value.cls is RANKED:
            e, rank = value.items
            assert isinstance(e, Number)
            assert isinstance(rank, Number)
            return Number(e.e, "float64", rank.e)
        if not isinstance(value.cls, Listed):
            return replace(value, items=tuple(map(self.of_list, value.items)))
        cls = value.cls.cls
        if issubclass(cls, dict):
            return Dictionary(value.cls.names, tuple(map(self.of_list, value.items)), cls=cls)
        found = Object(self.b.fresh("#item"), cls, ObjectType(weakref.ref(cls), False, ()), ())
        for name, item in zip(value.cls.names, value.items, strict=True):
            self.slots.bound(owned(found, name), self.of_list(item))
        return found

    @override
    def require_unshared(self, slot: Slot) -> None:
        self.require_unlisted(slot.owner[:-1])
        super().require_unshared(slot)

    @override
    def set_keys(self, made: Dictionary | Tuple, keys: Sequence[Any]) -> None:
        self.require_unlisted(made.name)
        super().set_keys(made, keys)

    def require_unlisted(self, name: str) -> None:
        """Raise for an object, a list or a dict that a list holds, or did in the pass before."""
        own = f"{name}."
        was_listed = own in self.findings.listed and not self.is_new_in_pass(name)
        if own in self.in_lists or was_listed:
            raise Unfit(
                "a change of an object, a list or a dict that a list, which a loop makes, holds "
                "too: append a copy",
                self.b.place,
            )

    # Other names of what lists hold.

    @override
    def own_copy(self, slot: Slot, value: Reference) -> list[Slot]:
        if f"{value.name}." in self.in_lists:
            self.in_lists.add(f"{slot.own}.")
        return super().own_copy(slot, value)

    @override
    def take_over(self, slot: Slot, value: Reference) -> None:
        is_listed = f"{value.name}." in self.in_lists
        super().take_over(slot, value)
        if is_listed:
            self.in_lists.add(f"{slot.own}.")
            if f"{slot.own}." not in self.findings.listed:  # the next pass begins with it
                self.findings.listed.add(f"{slot.own}.")
                raise Again

    @override
    def one_of_two(
        self,
        slot: Slot,
        known: Before,
        blocks: Sequence[list[Statement]],
        sides: Sequence[Snapshot],
    ) -> bool:
        names = [getattr(side.values.get(slot), "name", "") for side in sides]
        is_one = super().one_of_two(slot, known, blocks, sides)
        if is_one and not self.in_lists.isdisjoint([f"{name}." for name in names]):
            self.in_lists.add(f"{self.moved_to[names[0]]}.")
        return is_one


def listed_as(old: tuple[Any, ...], new: tuple[Any, ...]) -> bool:
    """Return True for two forms that differ in numbers whose type varies, in the new one only."""
    if old[0] == "number":
        return new == old or new[:2] == ("tuple", RANKED)
    if old[0] == new[0] == "tuple" and old[1] == new[1] and len(old[2]) == len(new[2]):
        return all(map(listed_as, old[2], new[2]))
    return old == new


def has_objects(value: Value) -> bool:
    """Return True for an object or a dict, or a tuple that holds one."""
    return isinstance(value, Object | Dictionary) or (
        isinstance(value, Tuple) and any(map(has_objects, value.items))
    )
