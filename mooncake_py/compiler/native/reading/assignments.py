"""From assignments in the source to stores, and to what variables stand for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from mooncake_py.compiler.native.building import complexes, narrow, operations
from mooncake_py.compiler.native.building.findings import Again
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.indexing import viewed
from mooncake_py.compiler.native.building.values import (
    Array,
    Cells,
    Choice,
    ComplexArray,
    ComplexNumber,
    Dictionary,
    Generator,
    Known,
    Number,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading import growing, lists, own_operators
from mooncake_py.compiler.native.reading.expressions import is_list
from mooncake_py.compiler.native.reading.store import Slot
from mooncake_py.compiler.native.reading.writes import MemoryWriter
from mooncake_py.compiler.native.regions.linear import ZERO, minus
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT, REAL
from mooncake_py.compiler.regions.ir import Assign, Const, Count, Name
from mooncake_py.overriding import override
from mooncake_py.syntax.nodes import Place, place_of

__all__ = ["AssignmentReader", "alike"]


class AssignmentReader(MemoryWriter):
    """Reads assignments.

    Attributes
    ----------
    few : dict of str to Place
        By their counters where loops of few passes stand.
    is_straight : bool
        Whether what is read runs in each pass of the innermost loop.
    """

    few: dict[str, Place]
    is_straight: bool

    def assigned(self, targets: Sequence[ast.expr], value: Value) -> None:
        """Bind or write targets."""
        if len(targets) > 1:  # the value is computed once, before any of them is bound
            value = self.computed(value)
        for target in targets:
            self.to_target(target, value)

    def assigned_value(self, targets: Sequence[ast.expr], node: ast.expr) -> Value:
        """Read the value of an assignment; one item may take what a mask picks."""
        self.picks = len(targets) == 1 and isinstance(targets[0], ast.Subscript)
        found = self.value(node)
        self.picks = False
        return found

    @contextmanager
    def taking_masks(self) -> Iterator[None]:
        """Read an assignment; read it again if elements picked by a mask meet other operands."""
        before, self.has_picked = self.has_picked, False
        try:
            yield
        except Unfit:
            is_found = self.findings.is_late or self.b.place in self.findings.compressed
            if not self.has_picked or is_found:
                raise
            self.findings.compressed.add(self.b.place)
            raise Again from None
        self.has_picked |= before

    @override
    def named(self, target: ast.Name, node: ast.expr) -> Value:
        if self.exclusive:
            raise Unfit("`:=` in a part of an expression that may not be computed", self.b.place)
        if self.b.place not in self.findings.written:
            self.findings.written.add(self.b.place)
            raise Again
        self.to_target(target, self.value(node))
        return self.variable(target.id)

    def to_target(self, target: ast.expr, value: Value) -> None:
        """Bind or write a target."""
        match target:
            case ast.Name(id=name):
                self.bind(name, value)
            case ast.Tuple(elts=elts):
                items = self.items(value, len(elts))
                self.require_apart_from_targets(elts, items)
                kept = self.exchanged(elts, [self.kept_apart(item) for item in items])
                for part, item in zip(elts, kept, strict=True):
                    self.to_target(part, item)
            case ast.Subscript(value=base, slice=index):
                self.written(base, index, value)
            case ast.Attribute(value=base, attr=name):
                self.set_attribute(self.value(base), name, value)
            case _:
                raise Unfit(
                    "an assignment to something other than a variable, an item or an attribute",
                    place_of(target),
                )

    def set_attribute(self, o: Value, name: str, value: Value) -> None:
        """Bind an attribute of an object, or of what is known only when it runs."""

        def run(v: Value) -> Value:
            self.bind_attribute(v, name, self.current(value))
            return Known(None)

        if isinstance(o, Choice):
            self.but_none(o, run)
        else:
            self.bind_attribute(o, name, value)

    def require_apart_from_targets(
        self, targets: Sequence[ast.expr], values: Sequence[Value]
    ) -> None:
        """Raise where what one target gives up is what another one gets."""
        raise NotImplementedError

    def items(self, value: Value, count: int) -> Sequence[Value]:
        """Return the parts of a value that is unpacked."""
        if own_operators.are_own(value):
            value = own_operators.iterated(self, value)
        if isinstance(value, Generator):
            value = self.listed(value)
        if isinstance(value, Choice):
            value = self.but_none(value, lambda v: Tuple((*self.items(v, count),)))
        if isinstance(value, Tuple) and len(value.items) == count:
            return value.items
        if isinstance(value, Array) and value.shape:
            self.b.check("eq", value.shape[0], Const(count))
            views = [viewed(self.b, value, [Number(Const(k), "int")]) for k in range(count)]
            return [v if v.shape else self.element(v) for v in views]
        if isinstance(value, Cells):
            self.b.check("eq", value.shape[0], Const(count))
            return [lists.item(self.b, value, Number(Const(k), "int")) for k in range(count)]
        raise Unfit("unpacking into another number of variables than there are items", self.b.place)

    def listed(self, generator: Generator) -> Value:
        """Return a list of what a generator yields."""
        raise NotImplementedError

    def computed(self, value: Value) -> Value:
        """Return a value as it is now, with the parts of a tuple."""
        if isinstance(value, Tuple) and value.name not in self.holders:
            return replace(value, items=tuple(map(self.computed, value.items)))
        return self.kept_apart(value)

    def exchanged(self, targets: Sequence[ast.expr], values: Sequence[Value]) -> Sequence[Value]:
        """Return arrays that a loop rebinds as they are now, before others take their memory."""
        own = {
            found.base
            for target in targets
            if isinstance(target, ast.Name)
            and isinstance(found := self.scope.env.get(target.id), Array)
        }
        own &= self.buffers.keys()
        if not all(isinstance(target, ast.Name) for target in targets):  # attributes, say
            own = set(self.buffers)
        moved = [v.base if isinstance(v, Array) and v.base in own else "" for v in values]
        bases = [base for base in moved if base]
        if len(set(bases)) < len(bases):
            raise Unfit("arrays of one memory that change places", self.b.place)
        return [self.moved(v) if base else v for v, base in zip(values, moved, strict=True)]

    def moved(self, value: Value) -> Value:
        """Return an array as it is now, in memory that only the new name for it stands for."""
        assert isinstance(value, Array)
        found = self.b.kept(value)
        self.require_private(value.base)
        if value.base in self.guarded or not value.whole:  # which may have other names
            self.guarded.add(found.base)
            return found
        if self.aliases.others(value.base):
            self.aliases.copied(found.base, value.base, True)
            return found
        return of_no_memory(found)

    def slot(self, at: str | Slot) -> Slot:
        """Return the slot of a variable of the function that is being read."""
        return at if isinstance(at, Slot) else self.scope.slot(at)

    def bind(self, at: str | Slot, value: Value) -> None:
        """Bind a variable, or any other slot."""
        slot, slots = self.slot(at), self.slots
        if slot.own in slots.nonlocals and self.b.loops and not isinstance(value, Number):
            raise Unfit(
                f"the `nonlocal` variable {slot.name} that a loop binds to {said(value)}: "
                "use numbers, or write elements",
                self.b.place,
            )
        slots.maybe.pop(slot, None)
        if isinstance(value, Number):
            slots.values[slot] = self.bind_number(slot, value)
        elif isinstance(value, ComplexNumber):
            slots.values[slot] = self.bind_complex(slot, value)
        elif isinstance(value, Array):
            slots.values[slot] = self.bind_array(slot, value)
        elif isinstance(value, Tuple) and not value.name and slot.own in self.findings.unpacked:
            kept = self.kept_apart(value)
            assert isinstance(kept, Tuple)
            for k, item in enumerate(kept.items):
                self.bind(slot.item(k), item)
            slots.values[slot] = kept
            self.refresh(slot)
        else:
            slots.values[slot] = self.kept_apart(value)

    def refresh(self, slot: Slot) -> None:
        """Let the slot of a tuple stand for what its items, which are bound, stand for."""
        values, found = self.slots.values, self.slots.values.get(slot)
        if isinstance(found, Tuple) and not found.name and slot.own in self.findings.unpacked:
            keys = [slot.item(k) for k in range(len(found.items))]
            if all(key in values for key in keys):
                values[slot] = replace(found, items=tuple([values[key] for key in keys]))
            else:
                del values[slot]

    def unpack(self, slot: Slot, old: Value | None, value: Value | None) -> bool:
        """Find out that the slot of a tuple is bound again where it must stand for one thing."""
        if not isinstance(old, Tuple) or not isinstance(value, Tuple) or not alike(old, value):
            return False
        if slot.own in self.findings.unpacked:
            return False
        self.find_later(slot, self.findings.unpacked)
        return True

    def find_later(self, slot: Slot, *found: set[str]) -> None:
        """Note that a slot varies, which the next reading knows; this one goes on if it can."""
        for names in found:
            names.add(slot.own)
        self.findings.later()

    def bind_complex(self, at: str | Slot, value: ComplexNumber) -> ComplexNumber:
        """Bind a variable to a complex number: two of real ones, which may read one another."""
        slot = self.slot(at)
        re, im = (self.number_apart(part) for part in (value.re, value.im))
        return ComplexNumber(
            self.bind_number(slot.part("re"), re), self.bind_number(slot.part("im"), im)
        )

    def bind_number(self, at: str | Slot, value: Number) -> Number:
        """Bind a variable to a number; return what it stands for."""
        b, slot = self.b, self.slot(at)
        own = slot.own
        if own in b.arrays:  # an argument, the memory of which has the name
            self.findings.reused.add(own)
            raise Again
        if value.kind == INT and self.is_bound_once(slot) and value.type == "int":
            return Number(b.steady(value.e), "int")
        is_widened = own in self.findings.widened
        if is_widened and value.kind == BOOL:
            raise Unfit("a variable that is a bool on one way and a number on another", b.place)
        kind = FLOAT if is_widened else value.kind
        known = b.kinds.setdefault(own, kind)
        if known != kind:
            if BOOL in (known, kind):
                raise Unfit("a variable that is a bool on one way and a number on another", b.place)
            if FLOAT32 in (known, kind):
                self.findings.narrow.add(own)
            self.find_later(slot, self.findings.widened, self.findings.varied)
            b.kinds[f"{own}.rank"] = INT
            return Number(Name(own, place=b.place), "float64", Name(f"{own}.rank"))
        rank = f"{own}.rank"
        if own in self.findings.varied:
            if kind != FLOAT:
                raise Unfit("a variable whose type varies", b.place)
            b.kinds[rank] = INT  # first, as it may read what the name is bound to before
            b.add(Count(rank, operations.rank_of(b, value), place=b.place))
        e = narrow.as_float64(value) if kind == FLOAT else value.e
        target = Name(own, place=b.place)
        b.add(Assign(target, e, place=b.place) if kind in REAL else Count(own, e, place=b.place))
        b.ranges.natural.discard(own)
        b.frozen = {}
        if own in self.findings.varied:
            if narrow.is_narrow(value) and own not in self.findings.narrow:
                self.findings.narrow.add(own)
                raise Again
            is_narrow = own in self.findings.narrow
            if is_narrow and narrow.is_wide(value):
                raise Unfit("a variable that is a float32 or a float64", b.place)
            return Number(target, "float64", Name(rank), is_narrow)
        if value.rank is not None or self.types.setdefault(own, value.type) != value.type:
            self.find_later(slot, self.findings.varied)
            b.kinds[rank] = INT
            return Number(target, "float64", Name(rank))
        return Number(target, value.type)

    def bind_array(self, slot: Slot, value: Array) -> Array:
        """Bind a variable to an array; return what it stands for."""
        b, own = self.b, slot.own
        before = self.slots.values.get(slot)
        if own in self.findings.carried and b.loops and isinstance(before, Array):
            if value == before and value.whole:  # ``p.x += e`` binds the attribute to its array
                return before
            if value.base:
                if not value.whole or b.made.get(value.base) != b.loops:
                    raise Unfit(
                        f"{slot.shown} becomes another view in each pass of a loop", b.place
                    )
                self.name_anew(own, value.base)
            if value.frozen:  # the buffer, into which it is copied, may be written
                raise Unfit(f"{slot.shown} becomes a view that must not be written", b.place)
            if value.kind != before.kind or len(value.shape) != len(before.shape):
                raise Unfit(f"{slot.shown} becomes another kind of array in a loop", b.place)
            self.require_new(before.base)
            self.unroll_for(own, value, before)
            self.of_shape(value, before)
            b.layouts.rebind(before, value)
            self.aliases.copied(before.base, value.base, self.is_straight)
            if self.is_straight:
                self.holds_input.pop(before.base, None)
            if isinstance(before, ComplexArray):
                complexes.store(b, before, *self.parts_for(before, value))
            else:
                b.store(before, operations.broadcast_to(value, before.shape, b))
            self.forget(before.base, slot)  # what was there before
            return before
        if value.base in self.buffers:
            if not value.whole:
                return value
            found = b.kept(value)  # it keeps what the other name has now
            if value.base in self.guarded:
                self.guarded.add(found.base)
            if value.base in self.holds_input:
                self.holds_input[found.base] = self.holds_input[value.base]
            self.aliases.copied(found.base, value.base, True)
            return found
        self.require_no_view(value)
        return value if value.base else b.kept(value)

    def name_anew(self, own: str, base: str) -> None:
        """Note that an array becomes that of a variable which a loop binds again."""
        self.require_private(base)
        if base in self.guarded and own not in self.findings.named_twice:
            self.findings.named_twice.add(own)
            raise Again

    def unroll_for(self, own: str, value: Array, before: Array) -> None:
        """Have a short loop read pass by pass where an array may get another shape in each."""
        counters = self.b.ranges.counters
        place = self.few.get(next(reversed(counters), ""))
        pairs = zip(value.shape, before.shape, strict=True)
        if place is not None and any(minus(n, m) != ZERO for n, m in pairs):
            self.findings.unroll(place)
            self.findings.carried.discard(own)  # unless a loop around it rebinds it too
            raise Again

    def augmented_item(self, a: Value, node: ast.AugAssign, target: ast.Subscript) -> None:
        """Read ``a[key] op= value`` for a list or a dict."""
        if isinstance(a, Tuple) and a.name not in self.holders:
            growing.find_out(a, self.findings)
        old = self.item(a, target.slice)
        with self.among_others():
            value = self.value(node.value)
        found = self.augmented_value(old, node.op, value)
        if not is_changed_itself(old, node.op):
            self.set_item(a, self.value(target.slice), found)

    def augmented_value(self, old: Value, op: ast.operator, value: Value) -> Value:
        """Read ``old op= value`` for what a target stands for; return what it is bound to."""
        if isinstance(old, Choice):
            return self.but_none(old, lambda v: self.augmented_value(v, op, value))
        if isinstance(old, Array):
            self.store(old, self.changed(old, op, value))
        elif is_changed_itself(old, op):
            self.gains(old, value)
        else:
            return self.operated_in_place(op, old, value)
        return old

    def augmented(self, node: ast.AugAssign) -> None:
        """Read ``target op= value``."""
        target = node.target
        if isinstance(target, ast.Name):
            old, value = self.value(target_read(target)), self.value(node.value)
            found = self.augmented_value(old, node.op, value)
            if not is_changed_itself(old, node.op):
                self.bind(target.id, found)
            return
        if isinstance(target, ast.Attribute):
            o = self.value(target.value)
            old = self.attribute(o, target.attr)
            with self.among_others():
                value = self.value(node.value)
            self.set_attribute(o, target.attr, self.augmented_value(old, node.op, value))
            return
        self.augmented_at(self.value(target.value), node, target)

    def augmented_at(self, a: Value, node: ast.AugAssign, target: ast.Subscript) -> None:
        """Read ``a[index] op= value``."""
        if isinstance(a, Choice):

            def run(v: Value) -> Value:
                self.augmented_at(v, node, target)
                return Known(None)

            self.but_none(a, run)
            return
        if own_operators.are_own(a):
            index = own_operators.key(self, target.slice)
            old = own_operators.required(self, a, "__getitem__", index)
            value = self.operated_in_place(node.op, old, self.value(node.value))
            own_operators.required(self, a, "__setitem__", index, value)
            return
        if isinstance(a, Cells):
            at = self.number(target.slice)
            old = lists.item(self.b, a, at)
            with self.among_others():
                value = self.operated(node.op, old, self.value(node.value))
            self.write_cell(a, at, value)
            return
        if isinstance(a, Dictionary) or is_list(a):
            self.augmented_item(a, node, target)
            return
        if not isinstance(a, Array):
            raise Unfit(f"an assignment to an item of {said(a)}: use an array", place_of(target))
        parts = self.parts(target.slice)
        with self.among_others():  # an element is read before
            value = self.assigned_value([target], node.value)
        mask = self.mask_of(a, parts)
        if mask is not None:
            self.where(a, mask, self.operated(node.op, self.picked(a, mask), value))
            return
        view = viewed(self.b, a, parts)
        self.store_at(a, parts, view, self.changed(view, node.op, value))


def alike(a: Tuple, b: Tuple) -> bool:
    """Return True for two tuples, two lists or two lists that are passed, of one length."""
    kinds = [(len(t.items), t.is_list, t.is_passed, t.cls) for t in (a, b)]
    return kinds[0] == kinds[1]


def of_no_memory(a: Array) -> Array:
    """Return an array as if its elements were computed, so that it is copied where it is bound."""
    if isinstance(a, ComplexArray):
        return a.mapped(of_no_memory)
    return Array(a.shape, a.kind, a.at)


def target_read(target: ast.Name) -> ast.Name:
    """Return a target as it is read."""
    return ast.copy_location(ast.Name(target.id, ast.Load()), target)


def is_changed_itself(old: Value, op: ast.operator) -> bool:
    """Return whether ``op=`` writes into what its target stands for, and returns that."""
    return isinstance(old, Array) or (is_list(old) and isinstance(op, ast.Add))
