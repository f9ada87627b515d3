"""Attributes of objects that loops over them assign: at home in memory while such a loop runs.

By whatever name an object is met, its attribute is the element of the column that stands for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mooncake_py.compiler.native.building import narrow
from mooncake_py.compiler.native.building.findings import Again
from mooncake_py.compiler.native.building.values import (
    Array,
    Choice,
    Dictionary,
    Number,
    Object,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading import columns
from mooncake_py.compiler.native.reading.alike import part_at
from mooncake_py.compiler.native.reading.columns import Column
from mooncake_py.compiler.native.reading.listed import ListedReader
from mooncake_py.compiler.native.reading.merging import Before, bases_in
from mooncake_py.compiler.native.reading.objects import owned
from mooncake_py.compiler.native.reading.row_loops import ANYWHERE, Home, Path, Row, RowLoop
from mooncake_py.compiler.native.reading.store import Slot, Snapshot
from mooncake_py.compiler.native.regions.region import FLOAT
from mooncake_py.compiler.regions.ir import Assign, Const, Expr, Load, Statement
from mooncake_py.overriding import override

__all__ = ["HomeReader"]


class HomeReader(ListedReader):
    """Reads and binds attributes that are at home in memory.

    Attributes
    ----------
    rows : dict of str to Row
        By what their objects are called in the region.
    homes : dict of Slot to Home
    copied : dict of str to sequence of Array
        By the memory of columns the arrays that they are copies of.
    """

    rows: dict[str, Row]
    homes: dict[Slot, Home]
    copied: dict[str, Sequence[Array]]

    def column(
        self, loop: RowLoop, values: Sequence[Value], at: Expr, path: tuple[int | str, ...]
    ) -> Column:
        """Return the reader of the value of a pass."""
        raise NotImplementedError

    def homes_of(self, row: Row, name: str) -> list[Home]:
        """Return where an attribute of the objects is, which is nowhere or in one column."""
        found = [self.homes.get(owned(s, name)) for s in row.sources]
        homes = [home for home in found if home is not None]
        if homes and (len(homes) < len(found) or len({h.column.base for h in homes}) > 1):
            self.find_home(row, name)
        return homes

    def place_of_row(self, row: Row, homes: Sequence[Home]) -> Expr:
        """Return where in its column an attribute of the object of a pass is."""
        places = [Const(home.at) for home in homes]
        found = columns.at_row(places, row.at)
        if found is None:
            key = "#place " + homes[0].column.base
            if key not in row.columns:
                numbers = [Number(place, "int") for place in places]
                row.columns[key] = self.column(row.loop, numbers, row.at, ())
            value = row.columns[key]()
            assert isinstance(value, Number)
            found = value.e
        return found

    def at_home(self, home: Home, at: Expr) -> Value:
        """Return an attribute as it is now."""
        b = self.b
        if not home.type:
            return replace(b.kept(columns.array_at(home.column, at)), frozen=True)
        load = Load(home.column.base, (at,))
        if home.column.kind != FLOAT:
            return self.kept_apart(columns.number_at(b, load, home.type))
        if not home.ranks:
            return Number(b.number(load), home.type)
        return Number(b.number(load), "float64", b.counted(Load(home.ranks, (at,))))

    @override
    def bind_attribute(self, o: Value, name: str, value: Value) -> None:
        row = self.rows.get(o.name) if isinstance(o, Object) else None
        if row is not None:
            homes = self.homes_of(row, name)
            if not homes:
                self.find_home(row, name)
            self.put_home(homes[0], self.place_of_row(row, homes), value)
            return
        home = self.homes.get(owned(o, name)) if isinstance(o, Object) else None
        if home is None:
            super().bind_attribute(o, name, value)
        else:
            self.put_home(home, Const(home.at), value)

    def find_home(self, row: Row, name: str) -> None:
        """Find out that a loop assigns an attribute of its objects."""
        key = row.loop.place, self.path_of(row, name)
        if (
            key in self.findings.homes
            or any(s.is_row for s in row.sources)
            or key[1][:1] == ANYWHERE
        ):
            raise Unfit(f"an assignment to the attribute {name}", self.b.place)
        self.findings.homes[key] = None
        raise Again

    def path_of(self, row: Row, name: str) -> Path:
        """Return how an attribute of the object of a pass is found in the items of the loop."""
        if row.path[:1] == ANYWHERE:
            names = {o.name for o in row.sources}
            for path, found in objects_in(row.loop.items):
                if names <= found:
                    return *path, name
        return *row.path, name

    def put_home(self, home: Home, at: Expr, value: Value) -> None:
        """Assign an attribute."""
        b = self.b
        if isinstance(value, Array) and not home.type:
            kept = value if value.base else b.kept(value)
            self.keep_in_list(kept)
            columns.store_array(b, columns.array_at(home.column, at), kept)
            return
        if not isinstance(value, Number) or not home.type or value.kind != home.column.kind:
            raise Unfit("an attribute that gets another type", b.place)
        if not home.ranks and (value.rank is not None or value.type != home.type):
            if value.kind != FLOAT or value.narrow or home.key in self.findings.mixed_rows:
                raise Unfit("an attribute that gets another type", b.place)
            self.findings.mixed_rows.add(home.key)
            raise Again
        if home.ranks:
            rank = narrow.rank_of(b, value)
            b.add(Assign(Load(home.ranks, (at,)), rank, place=b.place))
        columns.store_number(b, Load(home.column.base, (at,)), value)

    @override
    def keep_in_list(self, value: Value) -> None:
        for base in [*bases_in([value])]:  # what holds a row holds the array itself
            for source in self.copied.get(base, ()):
                super().keep_in_list(source)
        super().keep_in_list(value)

    @override
    def own_copy(self, slot: Slot, value: Object | Tuple | Dictionary) -> list[Slot]:
        self.require_not_at_home(value)
        return super().own_copy(slot, value)

    @override
    def take_over(self, slot: Slot, value: Object | Tuple | Dictionary) -> None:
        self.require_not_at_home(value)
        super().take_over(slot, value)

    @override
    def note(self, slot: Slot, value: Value) -> bool:
        self.require_lasting([value])
        return super().note(slot, value)

    @override
    def tagged(
        self,
        known: Before,
        blocks: Sequence[list[Statement]],
        sides: Sequence[Snapshot] | None,
        values: Sequence[Value],
    ) -> Choice:
        self.require_lasting(values)
        return super().tagged(known, blocks, sides, values)

    def require_lasting(self, values: Sequence[Value]) -> None:
        """Raise for objects that are others in each pass among what is chosen from."""
        for value in values:
            if isinstance(value, Choice):
                self.require_lasting(value.options)
            elif isinstance(value, Tuple):
                self.require_lasting(value.items)
            elif isinstance(value, Object) and value.is_row:
                raise Unfit("an object of a loop that a test on numbers chooses", self.b.place)

    def require_not_at_home(self, value: Object | Tuple | Dictionary) -> None:
        """Raise for an object of which an attribute is in a column."""
        if value.name in self.rows or any(s.owner == f"{value.name}." for s in self.homes):
            raise Unfit("a variable that a loop over objects binds to one of them", self.b.place)

    def bring_home(self, loop: RowLoop) -> None:
        """Put the attributes that a loop assigns into columns."""
        found: dict[str, dict[str, Object]] = {}
        for place, path in self.findings.homes:
            if place == loop.place:
                *steps, name = path
                objects = {o.name: o for o in self.followed(loop.items, steps)}
                found.setdefault(str(name), {}).update(objects)
        for name, objects in found.items():
            self.settle(loop, [*objects.values()], name)

    def followed(self, values: Sequence[Value], steps: Sequence[int | str]) -> list[Object]:
        """Return the objects that are found in the items of a loop on some path."""
        found = list(values)
        for step in steps:
            if isinstance(step, str) and "/" in step:
                found = [*part_at(found, step)]
            elif isinstance(step, str):
                found = [self.attribute_of(o, step) for o in found if isinstance(o, Object)]
            else:
                found = [t.items[step] for t in found if isinstance(t, Tuple)]
        objects = [o for o in found if isinstance(o, Object)]
        if len(objects) < len(found) or any(o.is_row for o in objects):
            raise Unfit("an assignment to an attribute", self.b.place)
        return objects

    def settle(self, loop: RowLoop, objects: Sequence[Object], name: str) -> None:
        """Put an attribute of objects into a column."""
        key = loop.place, name
        slots = [owned(o, name) for o in objects]
        if any(slot in self.homes for slot in slots):
            if all(slot in self.homes for slot in slots):
                return
            raise Unfit(f"the attribute {name}, which only some objects keep", self.b.place)
        self.assign_all(objects, slots)
        if any(slot not in self.slots.values or slot in self.slots.maybe for slot in slots):
            raise Unfit(f"the attribute {name}, which may not be bound here", self.b.place)
        values = [self.attribute_of(o, name) for o in objects]
        first, is_mixed = values[0], key in self.findings.mixed_rows
        if any(type(v) is not type(first) for v in values) or not (
            isinstance(first, Number) or type(first) is Array
        ):
            raise Unfit(columns.DIFFERENT, self.b.place)
        for value in values:
            if isinstance(value, Array):  # which other names may stand for
                loop.memory.add(value.base)
                self.keep_in_list(value)
        column, ranks = columns.stored_rows(self.b, values), ""
        numbers = [v for v in values if isinstance(v, Number)]
        if numbers and (columns.are_mixed(self.b, numbers) or is_mixed):
            ranks = columns.stored_rows(self.b, columns.ranks_of(self.b, numbers)).base
        for k, (o, slot) in enumerate(zip(objects, slots, strict=True)):
            self.slots.unbound(slot)
            type_ = first.type if isinstance(first, Number) else ""
            self.homes[slot] = Home(column, k, type_, ranks, key)
            loop.homes[slot] = o, name

    def assign_all(self, objects: Sequence[Object], slots: Sequence[Slot]) -> None:
        """Find out that an attribute of objects that are passed is assigned."""
        assigned = self.findings.assigned
        new = {
            slot.own: (o.path, slot)
            for o, slot in zip(objects, slots, strict=True)
            if o.path and slot.own not in assigned
        }
        if new:
            if any(path[0] >= self.passed_first for path, _ in new.values()):
                raise Unfit("an assignment to an attribute of a global object", self.b.place)
            assigned.update(new)
            raise Again

    def take_home(self, loop: RowLoop) -> None:
        """Bind the attributes that were in columns while a loop ran."""
        for slot, (o, name) in loop.homes.items():
            home = self.homes.pop(slot)
            self.bind_attribute(o, name, self.at_home(home, Const(home.at)))


def objects_in(items: Sequence[Value]) -> Iterator[tuple[Path, set[str]]]:
    """Yield the names of the objects that the items of a loop are, or that are in tuples."""
    yield (), {o.name for o in items if isinstance(o, Object)}
    tuples = [t.items for t in items if isinstance(t, Tuple)]
    if len(tuples) == len(items):
        for k in range(min(map(len, tuples))):
            yield (k,), {o.name for t in tuples if isinstance(o := t[k], Object)}
