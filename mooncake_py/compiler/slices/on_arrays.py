"""Read a region again in which names and elements turn out to be arrays.

    u = u + h * (a @ u)         u is bound to a new array in each pass
    x[k + 1] = x[k] + h * v     x[k] is a row of x
    row = x[k]                  what is read of row is read of x[k]
    u += h * v                  u[...] += h * v
    q.append(q[-1] * c)         r0 = q[-1], r1 = r0 * c, q.append(r1)

The text does not tell numbers from arrays: the first run with arrays does.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mooncake_py.compiler.derivatives.declared import SMALL
from mooncake_py.compiler.regions.indices import EVERYTHING, ends_of, is_part, taken_in
from mooncake_py.compiler.regions.ir import (
    Assign,
    Block,
    Call,
    Check,
    Const,
    Count,
    End,
    Expr,
    For,
    If,
    Let,
    Load,
    Name,
    Op,
    Sliced,
    Statement,
    While,
    parts_of,
    rebuilt,
    statements,
    walk,
    with_blocks,
    with_value,
)
from mooncake_py.compiler.regions.region import Axes, Region
from mooncake_py.compiler.regions.simplify import names_of
from mooncake_py.compiler.slices.alone import are_alone
from mooncake_py.compiler.slices.calls.arguments import arguments_of
from mooncake_py.compiler.slices.elements import Elements
from mooncake_py.compiler.slices.ranks import ARITHMETIC, Ranks, UnknownRankError
from mooncake_py.compiler.statements.array_forms import SYMBOLS
from mooncake_py.compiler.statements.statement import (
    Part,
    changing,
    index_in,
    is_operand,
    operand,
    position_of,
)
from mooncake_py.compiler.statements.statement import Statement as OnArrays

__all__ = ["on_arrays"]

ONE_MORE = Const(None)  # after ints: an array of one element in the place of an element


def on_arrays(
    region: Region, functions: Sequence[Any], axes: Axes, local: frozenset[str]
) -> Region | None:
    """Return a region with statements on arrays where arrays are, or None if it has no such.

    Parameters
    ----------
    region : Region
    functions : sequence of callable
    axes : Axes
    local : frozenset of str
        The names that nothing outside the region reads.
    """
    try:
        return Rereader(region, functions, axes, local).region
    except UnknownRankError:
        return None


class Rereader:
    """Goes through a region, once.

    Attributes
    ----------
    region : Region
        The region that was read.
    views : dict of str to Load
        The names of parts of arrays, while what they stand for is the same.
    whole : set of str
        The arrays of which parts are operands.
    variables : set of str
        The names that are bound to arrays.
    lists : set of str
        The lists of arrays.
    """

    def __init__(
        self, region: Region, functions: Sequence[Any], axes: Axes, local: frozenset[str]
    ) -> None:
        self.given = region
        self.axes = axes.arrays
        self.ranks = Ranks(region.body, functions, {**axes.arrays, **axes.lists})
        self.lists = {name for name in region.grown if self.ranks.found.get(name)}
        self.lists.update(axes.lists)
        self.whole: set[str] = set()
        self.variables: set[str] = set()
        self.in_place = {name for name in region.changed if self.ranks.found.get(name)}
        self.bound = [name for s in statements(region.body) for name in bound_by(s)]
        users = region.bound.keys()
        self.local = {name for name in self.bound if name not in users or name in local}
        self.local -= {*region.inputs, *self.in_place}
        self.named_views = self.names_of_views()
        self.views: dict[str, Load] = {}
        self.numbers = 0
        self.see_names()
        body = self.block(region.body)
        arrays = {n for n in region.inputs if n in self.axes and n not in region.data}
        counts = {
            name: self.axes.get(name, region.arrays.get(name, 0))
            for name in region.inputs
            if name in region.arrays or name in arrays
        }
        written = {s.written for s in statements(body) if isinstance(s, Sliced)}
        if not are_alone(body, self.variables.intersection(written)):
            raise UnknownRankError
        hidden = self.named_views | (self.in_place - self.variables)
        self.region = replace(
            region,
            body=body,
            arrays=counts,
            bound={k: v for k, v in region.bound.items() if k not in hidden},
            shaped=region.shaped | self.whole,
            whole=frozenset(self.whole),
            local=frozenset(self.local),
            variables=frozenset(self.variables),
            lists=frozenset(self.lists),
        )

    # Names.

    def names_of_views(self) -> set[str]:
        """Return the names of parts of arrays, which nothing else binds or changes."""
        return {
            name
            for s in statements(self.given.body)
            if isinstance(s, Assign | Let) and isinstance(s.value, Load) and self.ranks.of(s.value)
            if s.value.array not in self.lists
            for name in bound_by(s)
            if name in self.local and self.bound.count(name) == 1
        }

    def see_names(self) -> None:
        """Raise if a name is bound to an array in a way that is none of a region."""
        for name in self.bound:
            if not self.ranks.found.get(name) or name in self.named_views:
                continue
            is_given = name in self.given.inputs
            if is_given and name not in self.axes:
                raise UnknownRankError  # a number before
            if name not in self.in_place or name in self.given.rebound:
                self.variables.add(name)
            elif not is_given:
                raise UnknownRankError
        if not self.given.in_parts <= self.variables:
            raise UnknownRankError  # parts of something else

    # Statements.

    def block(self, block: Block) -> Block:
        """Return a block."""
        outer, self.views = self.views, dict(self.views)
        found: list[Statement] = []
        for s in block:
            found += self.statement(s)
        self.views = outer
        return tuple(found)

    def statement(self, s: Statement) -> list[Statement]:
        """Return what a statement becomes."""
        match s:
            case Assign() | Let():
                return self.assigned(s)
            case Sliced():
                return [self.on_slices(s)]
            case Count(value=e) | Check(test=e) | For(range=e) | While(test=e) | If(test=e):
                self.ranks.see_numbers(e)
                if self.reads(e, self.variables):
                    raise UnknownRankError
        return [with_blocks(s, self.block)]

    def assigned(self, s: Assign | Let) -> list[Statement]:
        """Return an assignment: of numbers as it is."""
        target = s.target if isinstance(s, Assign) else Name(s.name, place=s.place)
        value = self.seen(s.value)
        rank = self.ranks.of(value)
        arrays = self.lists if rank else self.lists | self.variables
        if self.reads(value, arrays):
            reader = Elements(self, arrays)
            if isinstance(target, Name) and self.is_always(target.name, value):
                assert isinstance(value, Load)
                return [reader.bound(value, target)]
            value = reader.read(value)
            again = with_value(s, lambda _: value)
            assert isinstance(again, Assign | Let)
            return [*reader.before, *self.assigned(again)]
        if isinstance(target, End):
            return self.appended(s, target, value) if rank else [s]
        if isinstance(target, Load):
            if not self.ranks.of_element(target):
                if rank:
                    raise UnknownRankError
                if target.array not in self.variables and not self.reads(value, self.variables):
                    return [s]
            return self.written(s, target, value)
        if not rank:
            return [s]
        if target.name in self.named_views:
            assert isinstance(value, Load)
            if {value.array, *names_of(value.index)}.intersection(self.bound):
                raise UnknownRankError  # another part in the same pass
            self.views[target.name] = value
            return []
        if target.name in self.in_place and (
            target.name not in self.variables or changed_by(target, value) is not None
        ):
            return self.written(s, target, value)
        writer = Writer(self)
        read = writer.read(value)
        if isinstance(value, Load) or isinstance(read, Const):
            raise UnknownRankError
        return [*writer.before, writer.sliced(s, read, target=target)]

    def is_always(self, name: str, value: Expr) -> bool:
        """Return True if a name is bound to an item of a list, and to nothing else."""
        is_item = isinstance(value, Load) and value.array in self.lists
        return is_item and self.bound.count(name) == 1 and name not in self.given.inputs

    def reads(self, e: Expr, arrays: Collection[str]) -> bool:
        """Return True if an expression reads elements of some arrays, or items of lists."""
        return any(isinstance(part, Load) and part.array in arrays for part in walk(e))

    def appended(self, s: Statement, target: End, value: Expr) -> list[Statement]:
        """Return what appends an array: a new one, or one that nothing in the region changes."""
        before: list[Statement] = []
        if isinstance(value, Op | Call):
            writer = Writer(self)
            read, name = writer.read(value), self.new_array(value)
            before += [*writer.before, writer.sliced(s, read, target=name)]
            value = name
        if not isinstance(value, Name) or value.name not in self.variables:
            raise UnknownRankError
        return [*before, Assign(target, value, place=s.place)]

    def seen(self, e: Expr) -> Expr:
        """Return an expression with parts of arrays in the place of their names."""
        if isinstance(e, Name):
            if e.name in self.named_views and e.name not in self.views:
                raise UnknownRankError  # it is bound elsewhere
            if e.name in self.given.arrays and e.name not in self.axes:
                raise UnknownRankError  # a list
            return self.views.get(e.name, e)
        return rebuilt(e, tuple(map(self.seen, parts_of(e))))

    def written(self, s: Assign | Let, target: Load | Name, value: Expr) -> list[Statement]:
        """Return what writes a part of an array, or changes it in place."""
        writer = Writer(self)
        change = changed_by(target, value)
        if isinstance(target, Name) and change is None:
            raise UnknownRankError
        place = writer.place(target)
        if change is None:
            read = writer.read(value)
        else:
            writer.layout.append(place)
            writer.first = 1
            assert isinstance(value, Op)
            read = Op(value.op, (operand(0), writer.read(change)), place=value.place)
        return [*writer.before, writer.sliced(s, read, place=place, augments=change is not None)]

    def call(self, s: Sliced) -> Sliced:
        """Return a call of a function on arrays, of which some operands are names of arrays."""
        values = list(s.values)
        layout: list[Part] = []
        for part in s.statement.layout:
            if not isinstance(part, int):
                if values[part[0]].name in self.lists:
                    raise UnknownRankError
                self.note(values[part[0]].name)
            layout.append(self.as_seen(part, values))
        for index in (v for v in s.values if type(v) is tuple):
            self.ranks.see_numbers(*ends_of(index))
        if s.bound in self.in_place - self.variables:
            raise UnknownRankError  # an array that others may know by another name
        indices = frozenset(k for k, v in enumerate(values) if type(v) is tuple)
        statement = s.statement._replace(layout=tuple(layout), passed=len(values), certain=indices)
        return Sliced(statement, tuple(values), s.target, None, place=s.place)

    def on_slices(self, s: Sliced) -> Sliced:
        """Return a statement on slices that reads some names as arrays."""
        if arguments_of(s.statement.value) is not None:
            return self.call(s)
        values = list(s.values)
        layout: list[Part] = []
        for part in s.statement.layout:
            layout.append(self.of_one(self.as_seen(part, values), values))
        for base, _ in s.statement.pairs:
            self.note(values[base].name)
        for index in (v for v in s.values if type(v) is tuple):
            self.ranks.see_numbers(*ends_of(index))
            self.whole.update(taken_in(index))
        statement = s.statement._replace(
            layout=tuple(layout),
            target=self.of_one(s.statement.target, values),
            passed=len(values),
            certain=s.statement.certain | set(range(len(s.values), len(values))),
        )
        target, written = s.target, s.written
        if target is not None and target.name in self.in_place:
            place = self.whole_part(values, target)
            if target.name not in self.variables or is_change(statement, place):
                statement = changed_in_place(statement, place)._replace(passed=len(values))
                target, written = None, target.name
        return Sliced(statement, tuple(values), target, written, place=s.place)

    def as_seen(self, part: Any, values: list[Any]) -> Any:
        """Return where an operand is, as an array or a part of one where a name stands for it."""
        if not isinstance(part, int):
            return part
        seen = self.seen(values[part])
        return self.whole_part(values, seen) if self.ranks.of(seen) else part

    def of_one(self, part: Any, values: list[Any]) -> Any:
        """Return where an operand is, as an array of one where it is an element of a variable."""
        if type(part) is not tuple or values[part[0]].name not in self.variables:
            return part
        base, index = values[part[0]], values[part[1]]
        if any(is_part(e) for e in index) or self.ranks.of(Load(base.name, index)):
            return part
        return self.whole_part(values, Load(base.name, index, place=base.place))

    def whole_part(self, values: list[Any], e: Expr) -> tuple[int, int]:
        """Return where an array, or a part of one, is among values to which it is added."""
        assert isinstance(e, Name | Load)
        name, index = (e.name, EVERYTHING) if isinstance(e, Name) else (e.array, e.index)
        if name in self.variables and isinstance(e, Load) and not self.ranks.of(e):
            index = (*index, ONE_MORE)
        self.note(name)
        return index_in(values, Name(name, place=e.place)), index_in(values, index)

    def new_name(self, e: Expr) -> Name:
        """Return a new name for a number."""
        self.numbers += 1
        return Name(f"r{self.numbers - 1}", place=e.place)

    def new_array(self, e: Expr) -> Name:
        """Return a new name for an array."""
        name = self.new_name(e)
        self.ranks.found[name.name] = self.ranks.of(e)
        self.variables.add(name.name)
        self.local.add(name.name)
        return name

    def note(self, name: str) -> None:
        """Note an array of which parts are operands."""
        if name not in self.variables or name in self.given.inputs:
            self.whole.add(name)


class Writer:
    """Makes a statement on slices of an assignment.

    Attributes
    ----------
    before : list of Assign
        What gives names to numbers that are computed in another way than arrays are.
    """

    def __init__(self, reader: Rereader) -> None:
        self.reader = reader
        self.ranks = reader.ranks
        self.before: list[Assign] = []
        self.values: list[Any] = []
        self.layout: list[Part] = []
        self.first = 0  # of the operands that may be read again

    def place(self, e: Load | Name) -> tuple[int, int]:
        """Return where an array or a part of one is."""
        if isinstance(e, Load) and (
            e.array not in self.ranks.found or e.array in self.reader.lists
        ):
            raise UnknownRankError  # a list
        return self.reader.whole_part(self.values, e)

    def operand(self, e: Name | Load) -> Name:
        """Return an operand."""
        part: Part
        if isinstance(e, Load) or self.ranks.of(e):
            part = self.place(e)
        else:
            part = index_in(self.values, e)
        if part not in self.layout[self.first :]:
            self.layout.append(part)
        return operand(self.layout.index(part, self.first))

    def read(self, e: Expr) -> Expr:
        """Return an expression over operands."""
        match e:
            case Const():
                return e
            case Name() | Load():
                return self.operand(e)
            case Op(op="pow", args=(base, Const(value=n))):
                if type(n) is not bool and (n in SMALL or (self.ranks.of(base) and n)):
                    return Op("pow", (self.read(base), e.args[1]), place=e.place)
            case Op(op=op) if op in ARITHMETIC and op != "pow":
                return rebuilt(e, tuple(map(self.read, e.args)))
            case Call() if type(self.ranks.function(e)) is np.ufunc:
                return rebuilt(e, tuple(map(self.read, e.args)))
        return self.operand(self.named(e))

    def named(self, e: Expr) -> Name:
        """Return the name of a number, which an assignment before this one computes."""
        if self.ranks.of(e) or self.reader.reads(e, self.reader.variables):
            raise UnknownRankError
        name = self.reader.new_name(e)
        self.before.append(Assign(name, e, place=e.place))
        return name

    def sliced(
        self,
        s: Statement,
        value: Expr,
        *,
        target: Name | None = None,
        place: tuple[int, int] | None = None,
        augments: bool = False,
    ) -> Sliced:
        """Return the statement."""
        indices = {k for k, v in enumerate(self.values) if type(v) is tuple}
        statement = OnArrays(
            value, tuple(self.layout), len(self.values), place, augments,
            certain=frozenset(indices),
        )  # fmt: skip
        written = None if place is None else self.values[place[0]].name
        return Sliced(statement, tuple(self.values), target, written, place=s.place)


def is_change(statement: OnArrays, place: tuple[int, int]) -> bool:
    """Return True if a statement may be an operator that changes an array in place."""
    value = statement.value
    if not (isinstance(value, Op) and value.op in SYMBOLS and is_operand(value.args[0])):
        return False
    return statement.layout[position_of(value.args[0])] == place


def changed_in_place(statement: OnArrays, place: tuple[int, int]) -> OnArrays:
    """Return the statement that changes an array in place, by an operator on its name."""
    if not is_change(statement, place):
        raise UnknownRankError
    value: Any = statement.value
    layout = statement.layout
    return statement._replace(
        value=changing(value.op, value.args[1], len(layout)),
        layout=(place, *layout),
        target=place,
        augments=True,
        certain=statement.certain | {place[1]},
    )


def bound_by(s: Statement) -> list[str]:
    """Return the name that a statement binds, but for counters of loops."""
    match s:
        case Assign(target=Name(name=name)) | Let(name=name) | Count(name=name):
            return [name]
        case Sliced(target=Name(name=name)):
            return [name]
    return []


def changed_by(target: Load | Name, value: Expr) -> Expr | None:
    """Return the right operand where an operator changes what is written, else None."""
    if isinstance(value, Op) and value.op in SYMBOLS and value.args[0] == target:
        return value.args[1]
    return None
