"""The builder of a region: its statements so far, and the known facts about its ints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from mooncake_py.compiler.native.building.layouts import Layouts
from mooncake_py.compiler.native.building.values import (
    Array,
    ComplexArray,
    Index,
    Number,
    Unfit,
    names_as_index,
    stored,
    stored_complex,
)
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, Linear, Ranges, linear, minus
from mooncake_py.compiler.native.regions.region import FLOAT, INT
from mooncake_py.compiler.regions.ir import (
    Alloc,
    Assign,
    Check,
    Compare,
    Const,
    Count,
    Expr,
    For,
    ForAll,
    Load,
    Name,
    Op,
    Reduce,
    Statement,
    substituted,
    walk,
)
from mooncake_py.syntax.nodes import Place

__all__ = ["Builder"]

WHOLE = 8
"""So many statements on numbers compile in the time of one on whole arrays."""


class Builder:
    """Takes the statements of a region.

    Attributes
    ----------
    first : list of Statement
        Those that come before all others.
    block : list of Statement
        The statements of the block that is being read.
    outside : list of list of Statement
        Those of the blocks around it, from the outermost on.
    kinds : dict of str to str
    arrays : dict of str to int
    lists : set of str
        The inputs that are passed as lists.
    complexes : set of str
        The arrays that hold complex numbers.
    contiguous : set of str
        The inputs that are read as arrays in order in memory: see `NativeRegion`.
    is_exact : bool
        Whether all operations are those of the user's code: see `NativeRegion`.
    ranges : Ranges
    stable : set of str
        The names of ints that keep their value in the pass in which they are bound.
    before_write : callable
        Takes an array that the user's code writes; raises `Unfit` if that is not to be.
    place : Place or None
        Of the statement that is being read.
    loops : int
        How many loops the statement is in.
    made : dict of str to int
        Of new arrays in how many loops they are made.
    layouts : Layouts
        In which order NumPy keeps these.
    frozen : dict of Expr to Name
        Names for what ints that are bound again are now.
    required : set of Check
        The checks in the present block.
    added : int
        How many statements there are so far; those on whole arrays count as several.
    """

    def __init__(self, before_write: Callable[[Array], None] = lambda a: None) -> None:
        self.before_write = before_write
        self.first: list[Statement] = []
        self.block: list[Statement] = []
        self.outside: list[list[Statement]] = []
        self.kinds: dict[str, str] = {}
        self.arrays: dict[str, int] = {}
        self.complexes: set[str] = set()
        self.lists: set[str] = set()
        self.contiguous: set[str] = set()
        self.is_exact = True
        self.ranges = Ranges()
        self.stable: set[str] = set()
        self.place: Place | None = None
        self.loops = 0
        self.made: dict[str, int] = {}
        self.layouts = Layouts(self.made)
        self.frozen: dict[Expr, Name] = {}
        self.required: set[Check] = set()
        self.count = 0
        self.added = 0

    def fresh(self, prefix: str) -> str:
        """Return a new name."""
        self.count += 1
        return f"{prefix}{self.count}"

    def add(self, s: Statement) -> None:
        """Add a statement."""
        self.added += WHOLE if isinstance(s, ForAll | Reduce) else 1
        self.block.append(s)

    @contextmanager
    def beginning(self) -> Iterator[None]:
        """Collect statements that run once, before all others."""
        outer, self.block = self.block, []
        required, self.required = self.required, set()
        try:
            yield
        finally:
            self.first += self.block
            self.block, self.required = outer, required

    @contextmanager
    def within(self) -> Iterator[list[Statement]]:
        """Collect the statements of a block within."""
        outer, self.block = self.block, []
        self.outside.append(outer)
        required, self.required = self.required, set()
        known = set(self.ranges.natural)
        self.frozen = {}
        try:
            yield self.block
        finally:
            self.block, self.required = self.outside.pop(), required
            self.frozen = {}
            self.ranges.natural &= known

    # Ints.

    def check(self, op: str, a: Expr, b: Expr) -> None:
        """Leave the region unless a comparison of ints holds, if that is not known."""
        if op == "eq":
            if minus(a, b) == ZERO:
                return
        elif op == "le":
            if self.ranges.is_natural(minus(b, a)):
                return
        elif op == "lt" and self.ranges.is_below(a, b):
            return
        self.require(Compare((op,), (a, b)))

    def require(self, test: Expr) -> None:
        """Leave the region unless a test holds."""
        s = Check(test, place=self.place)
        if s not in self.required or not self.is_steady(test):  # it may test another number
            self.required.add(s)
            self.add(s)

    def natural(self, e: Expr) -> Expr:
        """Return an int that must not be negative, under a name if it is not known to be so."""
        if self.ranges.is_natural(e):
            return e
        self.require(Compare(("ge",), (e, ZERO)))
        if isinstance(e, Name):
            self.ranges.natural.add(e.name)
        return e

    def steady(self, e: Expr) -> Expr:
        """Return an int as it is now: under its own name if others may be bound again."""
        if self.is_steady(e):
            return e
        found = linear(e)
        for part, count in found.parts.items():
            if not self.is_steady(part):
                if part not in self.frozen:
                    self.frozen[part] = self.counted(part)
                own = Linear(0, {self.frozen[part]: 1, part: -1})
                found = found.plus(own, count)
        return found.expression()

    def is_steady(self, e: Expr) -> bool:
        """Return True for an int that is computed from none that is bound again."""
        return all(
            part.name in self.stable if isinstance(part, Name) else not isinstance(part, Load)
            for part in walk(e)
        )

    def counted(self, e: Expr, prefix: str = "c") -> Name:
        """Bind a new name to an int."""
        name = self.fresh(prefix)
        self.kinds[name] = INT
        self.stable.add(name)
        self.ranges.sizes[name] = self.ranges.size(e)
        self.add(Count(name, e, place=self.place))
        return Name(name, place=self.place)

    # Loops.

    @contextmanager
    def loop(self, name: str, least: Expr, greatest: Expr) -> Iterator[list[Statement]]:
        """Collect the body of a loop, whose counter stays between bounds."""
        self.kinds[name] = INT
        self.stable.add(name)
        self.ranges.counters[name] = least, greatest
        with self.within() as block:
            yield block
        del self.ranges.counters[name]

    def for_all(self, extents: Sequence[Expr], body: Callable[[Index], Statement]) -> None:
        """Add a statement for all indices within some extents."""
        counters, within, index = self.all_within(extents)
        s = body(index)
        self.add(ForAll(counters, within, (s,), place=self.place) if counters else s)

    def adds_up(self, a: Array) -> None:
        """Note that elements are added up, in an order that follows that of the array."""
        self.is_exact = self.is_exact and self.layouts.is_sure(a)

    def reduce(
        self,
        op: str,
        extents: Sequence[Expr],
        along: Iterable[int],
        value: Callable[[Index], Expr],
        target: Callable[[Index], Expr],
    ) -> None:
        """Add an operation along some axes, for all indices within some extents."""
        counters, within, index = self.all_within(extents)
        found = target(index)
        assert isinstance(found, Name | Load)
        own = tuple([k.name for k in map(index.__getitem__, along) if isinstance(k, Name)])
        self.add(Reduce(op, found, counters, within, own, value(index), place=self.place))

    def all_within(
        self, extents: Sequence[Expr]
    ) -> tuple[tuple[str, ...], tuple[Expr, ...], Index]:
        """Return counters that go through some extents, these, and an index made of them.

        There is none for an extent of one.
        """
        names: list[str] = []
        index: list[Expr] = []
        for n in extents:
            if n == ONE:
                index.append(ZERO)
                continue
            name = self.fresh("k")
            self.kinds[name] = INT
            self.stable.add(name)
            names.append(name)
            index.append(Name(name))
        return tuple(names), tuple([n for n in extents if n != ONE]), tuple(index)

    def in_order(
        self, extents: Sequence[Expr], body: Callable[[Index], None], index: Index = ()
    ) -> None:
        """Add what a function adds, for all indices within some extents, one after another."""
        if not extents:
            body(index)
            return
        n, *inner = extents
        if n == ONE:
            self.in_order(inner, body, (*index, ZERO))
            return
        name = self.fresh("k")
        with self.loop(name, ZERO, minus(n, ONE)) as block:
            self.in_order(inner, body, (*index, Name(name)))
        steps = Op("range", (ZERO, n, ONE))
        self.add(For(name, steps, tuple(block), place=self.place))

    def changing(self, e: Expr, kind: str, prefix: str = "c") -> Name:
        """Bind a new name to an int or a truth; it will be bound again: see `rebind`."""
        name = self.fresh(prefix)
        self.kinds[name] = kind
        self.rebind(Name(name), e)
        return Name(name)

    def rebind(self, name: Name, e: Expr) -> None:
        """Bind the name of an int or a truth."""
        self.add(Count(name.name, e, place=self.place))

    # Numbers and arrays.

    def number(self, e: Expr, kind: str = FLOAT, prefix: str = "s") -> Name:
        """Bind a new name to a float."""
        target = self.unbound(kind, prefix)
        self.add(Assign(target, e, place=self.place))
        return target

    def as_now(self, a: Number) -> Number:
        """Return a float as it is now, also where it is an element that is written afterwards."""
        return replace(a, e=self.number(a.e, a.kind)) if isinstance(a.e, Load) else a

    def unbound(self, kind: str, prefix: str = "s") -> Name:
        """Return a new name of a number, which is yet to be bound."""
        name = self.fresh(prefix)
        self.kinds[name] = kind
        return Name(name, place=self.place)

    def unbound_int(self) -> Name:
        """Return a new name of an int, which is yet to be bound, once."""
        found = self.unbound(INT, "c")
        self.stable.add(found.name)
        return found

    def new(self, shape: Sequence[Expr], kind: str, zero: bool = False, prefix: str = "b") -> Array:
        """Return a new array."""
        shape = tuple(map(self.steady, shape))
        name = self.fresh(prefix)
        self.kinds[name], self.arrays[name] = kind, len(shape)
        self.made[name] = self.loops
        self.add(Alloc(name, shape, kind, zero, place=self.place))
        return stored(name, shape, kind)

    def new_complex(self, shape: Sequence[Expr], kind: str, zero: bool = False) -> ComplexArray:
        """Return a new complex array, whose parts are of a kind."""
        found = self.new((*shape, Const(2)), kind, zero)
        self.complexes.add(found.base)
        return stored_complex(found.base, found.shape[:-1], kind)

    def kept(self, a: Array) -> Array:
        """Return an array whose elements are computed, in its own memory."""
        if isinstance(a, ComplexArray):
            copy = self.new_complex(a.shape, a.re.kind)
            self.layouts.follow(copy, [a])
            for own, part in zip(copy.parts, a.parts, strict=True):
                self.store(own, part.at)
            return copy
        found = self.new(a.shape, a.kind)
        self.layouts.follow(found, [a])
        self.for_all(a.shape, lambda at: self.stored(found, at, a.at(at)))
        return found

    def with_order(self, a: Array) -> Array:
        """Return an array that tells in which order NumPy has its axes: kept, if need be."""
        return a if self.layouts.keeps_order(a) else self.kept(a)

    def stored(self, a: Array, index: Index, e: Expr) -> Assign:
        """Return a statement that stores an element."""
        return Assign(self.written_at(a, index), e, place=self.place)

    def written_at(self, a: Array, index: Index) -> Load:
        """Return the element of memory that is written."""
        target = a.at(index)
        if not isinstance(target, Load):
            raise Unfit(
                "a write to elements of a temporary array: write to an array that a variable holds",
                self.place,
            )
        return target

    def store(self, a: Array, value: Callable[[Index], Expr]) -> None:
        """Store all elements; where that would overwrite what is still to be read, copy first."""
        if self.overlaps(a, value):
            found = self.kept(Array(a.shape, a.kind, value))
            value = found.at
        self.for_all(a.shape, lambda at: self.stored(a, at, value(at)))

    def overlaps(self, a: Array, value: Callable[[Index], Expr]) -> bool:
        """Return True if a value may read elements of an array that are written before."""
        passes, others = (
            [f"{name}{axis}" for axis in range(len(a.shape))] for name in ("probe", "other")
        )
        target = self.written_at(a, names_as_index(tuple(passes)))
        renamed: dict[str, Expr] = dict(zip(passes, map(Name, others), strict=True))
        self.ranges.natural.update(passes, others)
        return any(
            isinstance(part, Load)
            and part.array == target.array
            and part.index != target.index
            and not self.are_apart(
                target.index, [substituted(e, renamed) for e in part.index], {*passes, *others}
            )
            for part in walk(value(names_as_index(tuple(passes))))
        )

    def are_apart(self, a: Sequence[Expr], b: Sequence[Expr], counters: set[str]) -> bool:
        """Return True if two indices differ, but where all their counters are zero.

        That is where they are not of different passes.
        """
        zero: set[str] = set()
        for i, j in zip(a, b, strict=True):
            for difference in (minus(i, j), minus(j, i)):
                if self.ranges.is_natural(minus(difference, ONE)):
                    return True
                if self.ranges.is_natural(difference):
                    zero |= {part.name for part in walk(difference) if isinstance(part, Name)}
        return counters <= zero
