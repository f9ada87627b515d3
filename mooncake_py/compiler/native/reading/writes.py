"""Writes to the memory of arrays: elements, views, where a mask is true."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from mooncake_py.compiler.native.building import complexes, joined, operations
from mooncake_py.compiler.native.building.findings import Findings
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.indexing import (
    Part,
    are_copied,
    settles_duplicates,
    viewed,
)
from mooncake_py.compiler.native.building.values import (
    Array,
    Cells,
    Choice,
    ComplexArray,
    ComplexNumber,
    Dictionary,
    Index,
    Known,
    Number,
    Partial,
    Picked,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading import growing, own_operators, tags
from mooncake_py.compiler.native.reading.aliases import Aliases
from mooncake_py.compiler.native.reading.calls import CallReader
from mooncake_py.compiler.native.reading.expressions import is_list
from mooncake_py.compiler.native.reading.merging import bases_in
from mooncake_py.compiler.native.reading.picked import is_same
from mooncake_py.compiler.native.reading.scope import Scope
from mooncake_py.compiler.native.reading.store import Slot
from mooncake_py.compiler.native.regions.region import BOOL, INT, REAL
from mooncake_py.compiler.regions.ir import Assign, Const, Expr, Load, Op, Select
from mooncake_py.overriding import override

__all__ = ["MemoryWriter"]


def has_only_numbers(value: Value) -> bool:
    """Whether a value is a tuple of numbers; NumPy writes one row of arrays after another."""
    return isinstance(value, Tuple) and all(
        isinstance(item, Number) or has_only_numbers(item) for item in value.items
    )


class MemoryWriter(CallReader):
    """Reads writes to memory.

    Attributes
    ----------
    findings : Findings
    scopes : list of Scope
        Of the functions that are being read, from the outermost on.
    guarded : set of str
        Memory that stands for other memory, and must not be written.
    buffers : dict of str to str
        By the memory of arrays that a loop binds again, the variable in the region.
    aliases : Aliases
    holds_input : dict of str to str
        Of memory that stands for an input, of which the function has no other name, that input.
    private : set of str
        Inputs that may have been written, though not in their memory.
    initial, known_as : dict
        What attributes that nothing assigns, and captured variables, stand for.
    holders : dict of str to Holder
        The lists and dicts whose items are slots.
    """

    findings: Findings
    scopes: list[Scope]
    guarded: set[str]
    buffers: dict[str, str]
    aliases: Aliases
    holds_input: dict[str, str]
    private: set[str]
    initial: dict[str, Value]
    known_as: dict[Any, Value]
    holders: dict[str, Any]

    def set_item(self, made: Value, key: Value, value: Value) -> None:
        """Read ``made[key] = value`` for a list or a dict."""
        raise NotImplementedError

    def write_cell(self, made: Cells, at: Number, value: Value) -> None:
        """Write an item of a list of numbers."""
        raise NotImplementedError

    @override
    def kept_apart(self, value: Value) -> Value:
        if isinstance(value, Number) and not isinstance(value.e, Const):
            if value.kind in REAL:
                rank = None if value.rank is None else self.b.counted(value.rank)
                return Number(self.b.number(value.e, value.kind), value.type, rank, value.narrow)
            if value.kind == INT:
                return Number(self.b.steady(value.e), value.type)
            found = self.b.counted(value.e)
            self.b.kinds[found.name] = BOOL
            return Number(found, value.type)
        if isinstance(value, ComplexNumber):
            re, im = (self.number_apart(part) for part in (value.re, value.im))
            return ComplexNumber(re, im)
        if isinstance(value, Array) and not value.base:
            self.require_no_view(value)
            return self.b.kept(value)
        if isinstance(value, Tuple | Dictionary) and value.name not in self.holders:
            return replace(value, items=tuple(map(self.kept_apart, value.items)))
        if isinstance(value, Choice):
            return self.choice_apart(value)
        if isinstance(value, Partial):
            return value.mapped(self.kept_apart)
        return value

    def require_no_view(self, value: Array) -> None:
        """Raise for a view of one of several arrays, of which a copy would get a name."""
        if isinstance(value, tags.ChosenView):
            raise Unfit("a view of one of several arrays under a name: use a copy", self.b.place)

    def number_apart(self, value: Number) -> Number:
        """Return a number as it is now."""
        found = self.kept_apart(value)
        assert isinstance(found, Number)
        return found

    def of_shape(self, value: Array, like: Array) -> Array:
        """Return an array that must have the shape of another one."""
        if len(value.shape) != len(like.shape):
            raise Unfit("an array whose number of axes differs from its target", self.b.place)
        for n, m in zip(value.shape, like.shape, strict=True):
            self.b.check("eq", n, m)
        return value

    def written(self, base: ast.expr, index: ast.expr, value: Value) -> None:
        """Write an element, a view, or where a mask is true."""
        self.written_to_value(self.value(base), index, value)

    def written_to_value(self, a: Value, index: ast.expr, value: Value) -> None:
        """Write an element, a view, or where a mask is true, of what is read."""
        b = self.b
        if isinstance(a, Choice):

            def run(v: Value) -> Value:
                self.written_to_value(v, index, value)
                return Known(None)

            self.but_none(a, run)
            return
        if own_operators.are_own(a):
            own_operators.store(self, a, index, value)
            return
        if isinstance(a, Cells):
            self.write_cell(a, self.number(index), value)
            return
        if isinstance(a, Tuple) and a.name not in self.holders and isinstance(value, Number):
            growing.find_out(a, self.findings)
        if isinstance(a, Dictionary) or is_list(a):
            self.set_item(a, self.value(index), value)
            return
        if not isinstance(a, Array) or not a.base:
            raise Unfit(
                f"an assignment to an item of {said(a)} that has no memory of its own: use an array"
                if isinstance(a, Array)
                else f"an assignment to an item of {said(a)}: use an array",
                b.place,
            )
        if has_only_numbers(value):
            value = joined.made_of(b, value)
        parts = self.parts(index)
        mask = self.mask_of(a, parts)
        if mask is not None and not isinstance(value, Array):
            self.where(a, mask, value)
        else:
            self.store_at(a, parts, viewed(b, a, parts), value)

    def store_at(self, a: Array, parts: Sequence[Part], view: Array, value: Value) -> None:
        """Write the elements of an array that an index tells, whose view is given."""
        indices = [part for part in parts if isinstance(part, Array)]
        if indices:
            self.require_memory(a)
            self.scatter(a, indices, view, value)
        else:
            self.store(view, value)

    def scatter(self, a: Array, indices: list[Array], view: Array, value: Value) -> None:
        """Write the elements that arrays of ints pick, the last of those to one element last."""
        b = self.b
        ints = [index for index in indices if index.kind == INT]
        if any(index.base == a.base for index in ints):
            raise Unfit("a write to memory that holds the index", b.place)
        if not settles_duplicates(b, ints):
            raise Unfit("a write to elements that several axes of ints pick", b.place)
        value = self.kept_apart(value)
        if isinstance(value, Array) and value.base == a.base:
            raise Unfit("a copy of memory onto itself, which NumPy may not buffer", b.place)
        if isinstance(view, ComplexArray):
            pairs = list(zip(view.parts, self.parts_for(view, value), strict=True))
        elif isinstance(value, Number | Array):
            pairs = [(view, self.part_for(view, value))]
        else:
            raise Unfit("a value that is neither a number nor an array", b.place)
        for part, element in pairs:
            b.in_order(view.shape, lambda at: b.add(b.stored(part, at, element(at))))  # noqa: B023

    def store(self, a: Array, value: Value) -> None:
        """Write all elements of a view."""
        b = self.b
        self.require_memory(a)
        if isinstance(a, ComplexArray):
            self.store_complex(a, value)
            return
        if not isinstance(value, Number | Array):
            raise Unfit("a value that is neither a number nor an array", b.place)
        if not a.shape and isinstance(value, Number):
            target = a.at(())
            assert isinstance(target, Load)
            b.add(Assign(target, self.converted(value.e, value.kind, a.kind), place=b.place))
            return
        element = self.part_for(a, value)
        if (
            isinstance(value, Array)
            and value.base == a.base
            and b.overlaps(a, element)
            and not are_copied(a, value)
        ):
            raise Unfit("a copy of memory onto itself, which NumPy may not buffer", b.place)
        b.store(a, element)

    def store_complex(self, a: ComplexArray, value: Value) -> None:
        """Write all elements of a view of complex numbers."""
        b = self.b
        if not a.shape:
            value = self.kept_apart(value)
        parts = self.parts_for(a, value)
        if isinstance(value, Array) and value.base == a.base:
            for own, part in zip(a.parts, parts, strict=True):
                if b.overlaps(own, part):
                    raise Unfit("a copy of memory onto itself, which NumPy may not buffer", b.place)
        complexes.store(b, a, *parts)

    def parts_for(self, a: ComplexArray, value: Value) -> list[Callable[[Index], Expr]]:
        """Return functions of the real and the imaginary parts to be written to an array."""
        parts = zip(a.parts, complexes.parts_of(self.b, value), strict=True)
        return [self.part_for(own, p) for own, p in parts]

    def part_for(self, a: Array, value: Number | Array) -> Callable[[Index], Expr]:
        """Return a function of the elements to be written to an array."""
        at = operations.broadcast_to(value, a.shape, self.b)
        return lambda index: self.converted(at(index), value.kind, a.kind)

    def require_memory(self, a: Array) -> None:
        """Raise for an array whose memory is not to be written."""
        if not a.base:
            raise Unfit("a write to elements that an array of ints picks", self.b.place)
        if a.frozen:
            raise Unfit("a write to a view that must not be written", self.b.place)
        others = self.aliases.others(a.base)
        if not self.in_lists.isdisjoint({a.base, *others}) or self.is_listed(a.base):
            raise Unfit("a write to an array that a list has too: append a copy", self.b.place)
        if a.base in self.guarded or not others.isdisjoint(self.buffers):
            raise Unfit("a write to an array that a loop assigns to its name again", self.b.place)
        self.require_private(a.base)
        for base in others:
            self.forget(base)

    def is_listed(self, base: str) -> bool:
        """Return True for memory of a slot whose array is appended to a list."""
        return bool(self.findings.listed) and any(
            slot.own in self.findings.listed and base in bases_in([held])
            for slot, held in self.slots.values.items()
        )

    def require_private(self, base: str) -> None:
        """Note that nobody must look at an input afterwards, if memory stands for one."""
        if base in self.holds_input:
            self.private.add(self.holds_input[base])

    def is_named_twice(self, base: str) -> bool:
        """Return True for memory to which several names refer, and captured or global memory."""
        if base in bases_in([*self.initial.values(), *self.known_as.values()]):
            return True
        here_too = {scope.owner for scope in self.going_on()}
        outside = {s.owner: s for s in self.scopes if s.owner not in here_too}
        names: dict[str, set[str]] = {owner: set() for owner in outside}
        here = 0
        for slot in self.slots_of(base):
            if slot.owner in outside:
                names[slot.owner].add(slot.name)
            else:
                here += 1
        if here > 1:
            return True
        return any(found and outside[owner].may_read(found) for owner, found in names.items())

    def going_on(self) -> Iterator[Scope]:
        """Yield the scopes of which statements are read: that of the function, as a rule."""
        yield self.scope

    def slots_of(self, base: str) -> list[Slot]:
        """Return the slots that stand for memory, each item of a tuple once."""
        return [
            slot
            for slot, value in self.slots.values.items()
            if base in bases_in([value])
            and not (isinstance(value, Tuple) and slot.own in self.findings.unpacked)
        ]

    def require_new(self, base: str) -> None:
        """Note that the variable that memory stands for is bound to another array."""

    def forget(self, base: str, but: Slot | None = None) -> None:
        """Forget what slots stand for that refer to memory, all but one."""
        values = self.slots.values
        for slot in [s for s, v in values.items() if s != but and base in bases_in([v])]:
            del values[slot]

    def converted(self, e: Expr, kind: str, to: str) -> Expr:
        """Return an element as one of the array that it is written to."""
        if kind == to:
            return operations.as_float(e) if to in REAL else e
        if to not in REAL or kind == BOOL:
            raise Unfit("a write that changes the kind of a number", self.b.place)
        return operations.as_float(e) if isinstance(e, Const) else Op(to, (e,))

    def where(self, a: Array, mask: Array, value: Value) -> None:
        """Write a number, or elements that the same mask picks, where a mask is true."""
        b = self.b
        self.require_memory(a)
        self.of_shape(mask, a)
        if isinstance(value, Picked):
            if not is_same(value.mask, mask):
                raise Unfit("elements that another mask picks", b.place)
            value = self.of_shape(value.array, a)
        elif not isinstance(value, Number | ComplexNumber):
            raise Unfit(
                f"{said(value)} written where a mask is true: use a number",
                b.place,
            )
        if isinstance(a, ComplexArray):
            self.where_complex(a, mask, value)
            return
        if isinstance(value, ComplexNumber | ComplexArray):
            raise Unfit("a complex number in place of another", b.place)
        mask = mask if mask.base != a.base else b.kept(mask)
        element = self.part_for(a, value)

        def chosen(at: Index) -> Expr:
            return Select(mask.at(at), element(at), a.at(at), place=b.place)

        b.store(a, chosen)

    def where_complex(self, a: ComplexArray, mask: Array, value: Value) -> None:
        """Write complex numbers where a mask is true."""
        changed = value if isinstance(value, Array) else self.kept_apart(value)

        def chosen(new: Callable[[Index], Expr], old: Array) -> Callable[[Index], Expr]:
            return lambda at: Select(mask.at(at), new(at), old.at(at), place=self.b.place)

        parts = self.parts_for(a, changed)
        complexes.store(self.b, a, *[chosen(p, old) for p, old in zip(parts, a.parts, strict=True)])

    def changed(self, a: Array, op: ast.operator, value: Value) -> Value:
        """Return the array that results from a change in place."""
        if not a.shape:
            return self.operated(op, self.element(a), value)
        found = self.operated(op, a, value)
        assert isinstance(found, Array)
        if len(found.shape) != len(a.shape):
            raise Unfit("a change of an array by one with more axes", self.b.place)
        return self.of_shape(found, a)

    @override
    def written_to(self, out: Value, value: Value) -> Value:
        if not isinstance(out, Array):
            raise Unfit(f"out= as {said(out)}: use an array", self.b.place)
        if isinstance(value, Array):
            self.of_shape(value, out)
        self.store(out, value)
        return out
