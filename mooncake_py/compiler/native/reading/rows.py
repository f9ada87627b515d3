"""Loops over objects of one class, which stay loops: what is read of an object is a column.

    for p in particles:             vs = [a.v, b.v, c.v, ...]       before the loop
        p.x += h * p.v              xs = [a.x, b.x, c.x, ...]
                                    for i in range(n):
                                        xs[i] = xs[i] + h * vs[i]
                                    a.x = xs[0]; b.x = xs[1]; ...   after it

An attribute that the loop assigns is *at home* in memory while the loop runs, by whatever name its
object is met; all others are read before it.  Whatever does not fit into this (objects of other
classes, an array that is written in place, a list that changes) has the loop read pass by pass.
"""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mooncake_py.compiler.native.building.findings import Again, TooMuch
from mooncake_py.compiler.native.building.indexing import Part, element, sliced
from mooncake_py.compiler.native.building.types import ObjectType
from mooncake_py.compiler.native.building.values import (
    Array,
    Cells,
    ComplexArray,
    Dictionary,
    Known,
    Number,
    Object,
    Slice,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading import columns
from mooncake_py.compiler.native.reading.alike import Alike
from mooncake_py.compiler.native.reading.bodies import has_jump, is_read_freely, names_bound
from mooncake_py.compiler.native.reading.columns import Column
from mooncake_py.compiler.native.reading.iterables import Iterable
from mooncake_py.compiler.native.reading.merging import bases_in
from mooncake_py.compiler.native.reading.objects import owned
from mooncake_py.compiler.native.reading.row_homes import HomeReader
from mooncake_py.compiler.native.reading.row_loops import ANYWHERE, Path, Row, RowLoop
from mooncake_py.compiler.native.reading.scope import Scope
from mooncake_py.compiler.native.reading.statements import Heads
from mooncake_py.compiler.native.reading.store import KEYS, Slot
from mooncake_py.compiler.native.regions.linear import plus
from mooncake_py.compiler.native.regions.region import INT
from mooncake_py.compiler.regions.ir import (
    Compare,
    Const,
    Expr,
    Load,
)
from mooncake_py.overriding import override
from mooncake_py.syntax.nodes import Place, place_of

__all__ = ["RowReader"]

LEAST = 4
"""Passes from which on a loop over objects may stay a loop."""
MOST_KINDS = 8
"""So many kinds of objects may follow one another, again and again, in a loop that stays one."""
PAYS = 200
"""Statements that passes must add before a loop over objects stays a loop."""


class RowReader(HomeReader):
    """Reads loops over objects as loops.

    Attributes
    ----------
    row_loops : list of RowLoop
    fallen : dict of Slot to Place
        Variables that loops bind, which stand for nothing after them.
    """

    row_loops: list[RowLoop]
    fallen: dict[Slot, Place]

    # Loops.

    def stays(self, place: Place | None) -> bool:
        """Return True for a loop over known items that was found out to stay a loop."""
        return place in self.findings.rows

    @override
    def unrolled(self, node: ast.For, items: Sequence[Value], is_back: bool) -> None:
        if not self.stays(place_of(node)):
            super().unrolled(node, items, is_back)
            return
        scope, period = self.scope, self.findings.periods.get(place_of(node), 1)
        first = period * self.peeled_of(node)
        if first:
            super().unrolled(node, items[:first], is_back)
        for name in {*names_bound([ast.Expr(node.target)]), *names_bound(node.body)}:
            if isinstance(scope.env.get(name), Object | Tuple):
                self.fallen[scope.slot(name)] = place_of(node)
                del scope.env[name]
        with self.row_loop(place_of(node), items[first:]) as loop:
            if loop.over.period > 1 and has_jump(node.body, ast.Break | ast.Return):
                raise Unfit("a loop over objects of several classes that is left", place_of(node))
            self.kept_loop(node, loop.over, None)
        target, leaves = node.target, has_jump(node.body, ast.Break | ast.Return)
        if isinstance(target, ast.Name) and not leaves and target.id not in names_bound(node.body):
            self.bind(target.id, items[-1])

    @override
    def kept_pass(self, node: ast.For, heads: Heads, at: Number, low: Expr) -> None:
        over = heads[0][1] if heads else None
        if not isinstance(over, Alike) or over.period == 1:
            super().kept_pass(node, heads, at, low)
            return
        items = [self.row_of(part, at.e) for part in over.parts]
        super().unrolled(node, items, is_back=False)

    @contextmanager
    def counting(self, counts: bool, node: ast.expr | ast.stmt, passes: int) -> Iterator[None]:
        """Find out that a loop must stay one, if its passes add many statements."""
        added, place = self.b.added, place_of(node)
        found = self.findings
        may_stay = passes >= LEAST and is_row_loop(node) and place not in found.rows | found.rowless
        try:
            with super().counting(counts, node, passes):
                yield
        except TooMuch as error:
            if not may_stay or error.place != place:
                raise
            found.rows.add(place)
            raise Again from None
        alike = (self.b.added - added) * (passes - 2) if counts else 0
        if may_stay and alike >= PAYS:
            found.rows.add(place)
            raise Again

    @contextmanager
    def row_loop(self, place: Place, items: Sequence[Value]) -> Iterator[RowLoop]:
        """Read a loop over items as one that stays; if that cannot be, pass by pass."""
        over = Alike(tuple(items), period=self.findings.periods.get(place, 1))
        loop = RowLoop(place, self.b.block, self.b.loops, over)
        self.row_loops.append(loop)
        try:
            self.bring_home(loop)
            yield loop
            self.require_unchanged_before(loop)
        except Unfit as error:
            if isinstance(error, TooMuch) or self.findings.is_late:
                raise
            if isinstance(error, columns.Different):
                self.find_period(loop, error.values)
            self.read_passes(place)
        self.row_loops.pop()
        self.take_home(loop)

    def find_period(self, loop: RowLoop, values: Sequence[Value]) -> None:
        """Find out that items of several kinds follow one another, again and again."""
        before = loop.over.period
        period = before * columns.period_of(values)
        is_of_loop = len(values) * before == len(loop.items)
        if is_of_loop and before < period <= MOST_KINDS and len(loop.items) >= LEAST * period:
            self.findings.periods[loop.place] = period
            raise Again

    def require_unchanged_before(self, loop: RowLoop) -> None:
        """Raise for a loop that changes what was read before it; attributes may be at home."""
        paths = [loop.looked[slot] for slot in loop.bound if slot in loop.looked]
        keys = [(loop.place, path) for path in paths if path and path[0] != ANYWHERE[0]]
        new = [key for key in keys if key not in self.findings.homes]
        if len(keys) < len(paths) or (keys and not new) or loop.memory & loop.wrote:
            raise Unfit("a loop over objects that changes what it reads", loop.place)
        if new:
            self.findings.homes.update(dict.fromkeys(new))
            raise Again

    def read_passes(self, place: Place) -> None:
        """Find out that a loop must be read pass by pass after all."""
        self.findings.rows.discard(place)
        self.findings.rowless.add(place)
        raise Again

    @override
    def unroll_at(self, place: Place | None, pins: bool = True) -> None:
        if place is not None and self.stays(place):
            self.read_passes(place)
        super().unroll_at(place, pins)

    @override
    def find_stack(self, made: Tuple | Cells, value: Value, is_turned: bool = False) -> None:
        if self.row_loops and made.place is not None:  # lists of known items can do more
            self.findings.stacked_in[self.row_loops[-1].place] = made.place
        super().find_stack(made, value, is_turned)

    @override
    def variable_in(self, scope: Scope, name: str) -> Value:
        slot = scope.slot(name)
        if slot in self.fallen and slot not in self.slots.values:
            self.read_passes(self.fallen[slot])
        return super().variable_in(scope, name)

    @contextmanager
    def before(self, loop: RowLoop) -> Iterator[None]:
        """Add statements before a loop."""
        b = self.b
        held = b.block, b.required, b.frozen, b.loops
        b.block, b.required, b.frozen, b.loops = loop.block, set(), {}, loop.loops
        try:
            yield
        finally:
            b.block, b.required, b.frozen, b.loops = held

    # What loops change.

    @override
    def bind(self, at: str | Slot, value: Value) -> None:
        slot = self.slot(at)
        for loop in self.row_loops:
            loop.bound.add(slot)
            loop.wrote.update(bases_in([v for v in [self.slots.values.get(slot)] if v]))
        super().bind(slot, value)

    @override
    def require_memory(self, a: Array) -> None:
        for loop in self.row_loops:
            loop.wrote |= {a.base, *self.aliases.others(a.base)}
        super().require_memory(a)

    @override
    def set_keys(self, made: Tuple | Dictionary, keys: Sequence[Any]) -> None:
        for loop in self.row_loops:
            loop.bound.add(Slot(f"{made.name}.", KEYS))
        super().set_keys(made, keys)

    # Items.

    @override
    def row_of(self, over: Alike, at: Expr) -> Value:
        if over.count is not None:
            return self.column(self.row_loops[-1], over.values, plus(over.start, at), ANYWHERE)()
        return self.column(self.row_loops[-1], over.values, at, over.path)()

    @override
    def iterated(self, node: ast.expr) -> Iterable:
        if self.row_loops and isinstance(node, ast.Subscript) and is_part(node):
            base = self.value(node.value)
            if isinstance(base, Tuple) and len(base.items) >= LEAST:
                found = self.slice_of_rows(base, self.part(node.slice))
                if found is not None:
                    return found
        return super().iterated(node)

    def slice_of_rows(self, base: Tuple, part: Part) -> Alike | None:
        """Return a slice of known items whose bounds are known only when it runs, if they are."""
        assert isinstance(part, Slice)
        bounds = [e for e in (part.start, part.stop) if e is not None]
        if all(isinstance(e, Const) for e in bounds):
            return None
        if base.name in self.holders:
            self.look_at_items(self.row_loops[-1], base)
        axis = sliced(self.b, part, Const(len(base.items)))
        count = self.b.natural(self.b.steady(axis.extent))
        return Alike(base.items, self.b.steady(axis.first), count)

    def column(self, loop: RowLoop, values: Sequence[Value], at: Expr, path: Path) -> Column:
        """Return the reader of the value of a pass."""
        b, first = self.b, values[0]
        if any(type(v) is not type(first) for v in values):
            raise columns.Different(values, b.place)
        if all(v is first for v in values) and not isinstance(first, Number | Array | Tuple):
            return lambda: first
        names = {getattr(v, "name", "") for v in values}
        if len(names) == 1 and names.isdisjoint({""}):  # one list, which may change
            return lambda: first
        match first:
            case Number():
                return self.column_of_numbers(loop, values, at)  # type: ignore[arg-type]
            case Array() if not isinstance(first, ComplexArray):
                return self.column_of_arrays(loop, values, at)  # type: ignore[arg-type]
            case Tuple() if columns.are_alike(values):
                return self.column_of_tuples(loop, values, at, path)  # type: ignore[arg-type]
            case Object():
                found = self.row_object(loop, values, at, path)  # type: ignore[arg-type]
                return lambda: found
        same = columns.the_same(b, values)
        return lambda: same

    def column_of_numbers(self, loop: RowLoop, values: Sequence[Number], at: Expr) -> Column:
        """Return the reader of a number."""
        b, type_ = self.b, values[0].type
        if columns.are_mixed(b, values):
            rank = self.column_of_numbers(loop, columns.ranks_of(b, values), at)
            floats = columns.as_floats(b, values)
            e = Load(self.stored_before(loop, floats), (at,))
            return lambda: Number(e, "float64", rank().e)  # type: ignore[union-attr]
        e = columns.of_numbers(values, at)
        if e is None:
            e = Load(self.stored_before(loop, values), (at,))
        elif isinstance(e, Load):
            loop.memory.add(e.array)
        if isinstance(e, Load):
            return lambda: columns.number_at(b, e, type_)
        return lambda: Number(e, type_)

    def stored_before(self, loop: RowLoop, values: Sequence[Value]) -> str:
        """Return memory in which numbers are stored before a loop."""
        with self.before(loop):
            return columns.stored_rows(self.b, values).base

    def column_of_arrays(self, loop: RowLoop, values: Sequence[Array], at: Expr) -> Column:
        """Return the reader of an array, which must not be written."""
        loop.memory.update(v.base for v in values if v.base)
        view = columns.of_arrays(values, at)
        if view is None:
            with self.before(loop):
                found = columns.stored_rows(self.b, values)
            view = columns.array_at(found, at)
            self.copied[found.base] = values
        return lambda: view

    def column_of_tuples(
        self, loop: RowLoop, values: Sequence[Tuple], at: Expr, path: Path
    ) -> Column:
        """Return the reader of a tuple, or of a list that must not be changed."""
        for value in values:
            if value.name in self.holders:
                self.look_at_items(loop, value)
        items = list(zip(*[value.items for value in values], strict=True))
        parts = [self.column(loop, part, at, (*path, k)) for k, part in enumerate(items)]
        return lambda: columns.bare(values[0], [part() for part in parts])

    def look_at_items(self, loop: RowLoop, value: Tuple) -> None:
        """Note that a loop reads the items that a list has before it."""
        names = [*map(str, range(len(value.items))), KEYS]
        loop.looked.update((Slot(f"{value.name}.", name), ()) for name in names)

    def row_object(self, loop: RowLoop, sources: Sequence[Object], at: Expr, path: Path) -> Object:
        """Return the object of a pass."""
        cls = sources[0].cls
        if any(o.cls is not cls for o in sources):
            raise columns.Different(sources, self.b.place)
        name = self.b.fresh("#row")
        self.rows[name] = Row(loop, tuple(sources), at, path)
        return Object(name, cls, ObjectType(weakref.ref(cls), True, ()), ())

    @override
    def same_rows(self, x: Object, y: Object) -> Expr:
        if any(o.is_row and o.name not in self.rows for o in (x, y)):
            raise Unfit("`is` between objects of a list that a loop makes", self.b.place)
        sources = [self.rows[o.name].sources if o.is_row else (o,) for o in (x, y)]
        places = [self.rows[o.name].at if o.is_row else Const(0) for o in (x, y)]
        names = [[o.name for o in found] for found in sources]
        if any(o.is_row for found in sources for o in found) or any(
            len(set(found)) < len(found) for found in names
        ):
            raise Unfit("`is` between objects that are others in each pass", self.b.place)
        if set(names[0]).isdisjoint(names[1]):
            return Const(False)
        if names[0] == names[1]:
            return Compare(("eq",), tuple(places))
        for k in (0, 1):
            if len(names[k]) == 1:
                return Compare(("eq",), (places[1 - k], Const(names[1 - k].index(names[k][0]))))
        raise Unfit("`is` between objects of lists of which one is a part", self.b.place)

    @override
    def item_of_row(self, base: Tuple, at: Number) -> Value | None:
        if not self.row_loops or at.kind != INT or len(base.items) < LEAST:
            return None
        e = element(self.b, at.e, Const(len(base.items)))
        loop = self.row_loops[-1]
        if base.name in self.holders:
            self.look_at_items(loop, base)
        return self.column(loop, base.items, e, ANYWHERE)()

    # Attributes.

    @override
    def attribute_of(self, o: Object, name: str) -> Value:
        row = self.rows.get(o.name)
        if row is not None:
            return self.of_row(o, row, name)
        home = self.homes.get(owned(o, name))
        return super().attribute_of(o, name) if home is None else self.at_home(home, Const(home.at))

    def of_row(self, o: Object, row: Row, name: str) -> Value:
        """Read an attribute of the object of a pass."""
        if name in row.columns:
            return row.columns[name]()
        homes = self.homes_of(row, name)
        if homes:
            return self.at_home(homes[0], self.place_of_row(row, homes))
        if not self.has_own(row.sources, name):
            found = [self.of_class_alone(s, name) for s in row.sources]
            return self.of_instance(o, o.cls, name, found[0])
        path = self.path_of(row, name)
        row.loop.looked.update((owned(s, name), path) for s in row.sources)
        with self.before(row.loop):
            values = [self.attribute_of(s, name) for s in row.sources]
        row.columns[name] = self.column(row.loop, values, row.at, (*row.path, name))
        return row.columns[name]()

    def has_own(self, sources: Sequence[Object], name: str) -> bool:
        """Return whether objects, all or none, have an attribute of their own."""
        if name.startswith("__"):
            raise Unfit(f"the attribute {name}", self.b.place)
        found = [self.has_it(s, name) for s in sources]
        if len(set(found)) > 1:
            raise columns.Different([Known(has) for has in found], self.b.place)
        return found[0]

    def has_it(self, o: Object, name: str) -> bool:
        """Return whether an object has an attribute of its own."""
        row, slot = self.rows.get(o.name), owned(o, name)
        if row is not None:
            return bool(self.homes_of(row, name)) or self.has_own(row.sources, name)
        is_bound = slot in self.homes or slot in self.slots.values
        return is_bound or slot.own in self.findings.assigned or self.type_at(o, name) is not None

    @override
    def has_attribute(self, o: Object, name: str) -> bool:
        if o.name in self.rows:
            return self.has_it(o, name) or all(
                super(RowReader, self).has_attribute(s, name) for s in self.rows[o.name].sources
            )
        return owned(o, name) in self.homes or super().has_attribute(o, name)


def is_part(node: ast.Subscript) -> bool:
    """Return True for a slice of a variable or an attribute, with bounds of sums of variables."""
    s = node.slice
    if not isinstance(s, ast.Slice) or s.step is not None or not is_read_freely(node.value):
        return False
    parts = [n for bound in (s.lower, s.upper) if bound for n in ast.walk(bound)]
    return all(
        isinstance(n, ast.Name | ast.Constant | ast.BinOp | ast.Add | ast.Sub | ast.Load)
        for n in parts
    )


def is_row_loop(node: ast.expr | ast.stmt) -> bool:
    """Return True for a loop, or a comprehension with one loop, that may stay one."""
    if isinstance(node, ast.For):
        return True
    if not isinstance(node, ast.ListComp | ast.GeneratorExp):
        return False
    return len(node.generators) == 1 and not node.generators[0].ifs
