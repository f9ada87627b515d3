"""Stand-ins for returns within loops: flags, and the returned values.  See `lowering`.

    _mk_left = False                    known, as long as no test on numbers and no loop decides it
    _mk_result0 = ...                   nothing yet: any value will do where no return was met
    for i in range(n):
        if x[i] > a:
            _mk_result0 = x * i         into memory that is made before the loop
            _mk_left = True
            break
    if _mk_left:
        return _mk_result0

A flag that is known decides.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from mooncake_py.compiler.native.building.values import (
    Array,
    Cells,
    Choice,
    ComplexArray,
    ComplexNumber,
    Dictionary,
    Known,
    Number,
    Stack,
    Tuple,
    Unfit,
    Value,
    stored,
)
from mooncake_py.compiler.native.reading.assignments import alike
from mooncake_py.compiler.native.reading.bodies import names_bound
from mooncake_py.compiler.native.reading.kept_choices import KeptChoiceReader
from mooncake_py.compiler.native.reading.lowering import RESULT, is_flag
from mooncake_py.compiler.native.reading.merging import Around, Before, merged
from mooncake_py.compiler.native.reading.scope import Scope
from mooncake_py.compiler.native.reading.store import Slot, is_same
from mooncake_py.compiler.native.regions.region import BOOL, INT, REAL
from mooncake_py.compiler.regions.ir import Alloc, Assign, Const, Count, Name, Statement
from mooncake_py.overriding import override

__all__ = ["NOTHING_YET", "ReturnReader", "is_result"]

NOTHING_YET = Known(...)


class ReturnReader(KeptChoiceReader):
    """Binds what stands for returns.

    Attributes
    ----------
    around : list of Around
        What holds around each loop that is being read.
    loops_outside : int
        How many of the loops that a statement is in are of functions around this one.
    results : dict of str to Array
        By the names of results in the region their memory that is made before a loop.
    pending : list of (int, Alloc)
        What makes this memory, and outside of how many loops it stands.
    inputs : set of str
        Arrays that are passed.
    """

    inputs: set[str]
    around: list[Around]
    loops_outside: int
    results: dict[str, Array]
    pending: list[tuple[int, Alloc]]

    @override
    def bind(self, at: str | Slot, value: Value) -> None:
        slot = self.slot(at)
        if is_flag(slot.name):
            self.bind_flag(slot, value)
        elif is_result(slot):
            self.slots.bound(slot, self.result_of(slot, value))
        else:
            super().bind(slot, value)

    def bind_flag(self, slot: Slot, value: Value) -> None:
        """Bind a flag, which is known until a loop or a test on numbers decides it."""
        assert isinstance(value, Number)
        known = self.slots.values.get(slot)
        if value.e == Const(False) or known is None or is_known(known):
            self.slots.bound(slot, value)
            return
        self.b.add(Count(slot.own, value.e, place=self.b.place))

    def settle_flags(self, scope: Scope, body: Sequence[ast.stmt]) -> None:
        """Let flags that a loop sets stand for what they are when it runs."""
        values, bound = self.slots.values, names_bound(body)
        flags = [s for s in values if s.owner == scope.owner and is_flag(s.name)]
        for slot in [slot for slot in flags if slot.name in bound]:
            if starts(body, slot.name):
                del values[slot]
            elif is_known(values[slot]):
                self.merge_flag(slot, [self.b.block], [values])

    def merge_flag(
        self, slot: Slot, blocks: Sequence[list[Statement]], sides: Sequence[dict[Slot, Value]]
    ) -> None:
        """Let a flag, of which some sides know what it is, stand for what it is when it runs."""
        self.b.kinds[slot.own] = BOOL
        found = Number(Name(slot.own), "bool")
        for block, side in zip(blocks, sides, strict=True):
            before = side[slot]
            if isinstance(before, Number) and before != found:
                block.append(Count(slot.own, before.e, place=self.b.place))
            side[slot] = found

    # Results.

    def result_of(self, slot: Slot, value: Value) -> Value:
        """Return a result under names of ours, in memory that there is after the loop."""
        self.scope.bindings[slot.name] = 2
        if self.is_held(value):
            return value
        match value:
            case Tuple(items=items):
                pairs = [(Slot(slot.owner, f"{slot.name}.{k}"), v) for k, v in enumerate(items)]
                return replace(value, items=tuple([self.result_of(*pair) for pair in pairs]))
            case ComplexNumber():
                return self.bind_complex(slot, value)
            case Number():
                return self.bind_number(slot, value)
            case Array():
                return self.result_array(slot, value)
        return value

    def result_array(self, slot: Slot, value: Array) -> Array:
        """Return the memory of a result that is an array."""
        b = self.b
        if b.loops == self.loops_outside:
            return value if value.base else b.kept(value)
        before = self.around[self.loops_outside].before
        if value.whole and value.base in before.arrays:
            return value
        if value.base and b.made.get(value.base, 0) <= self.loops_outside:
            raise Unfit("a return, within a loop, of a view of an array: return a copy", b.place)
        if value.frozen:  # what it is copied into may be written
            raise Unfit("a return, within a loop, of a view that must not be written", b.place)
        if isinstance(value, ComplexArray) or not before.has(value.shape):
            raise Unfit(
                "a return, within a loop, of an array whose length is known only there: return it "
                "after the loop",
                b.place,
            )
        found = self.results.get(slot.own)
        if found is None or found.kind != value.kind or found.shape != value.shape:
            found = self.before_loops(value)
            self.results[slot.own] = found
        b.layouts.follow(found, [value])
        b.store(found, value.at)
        return found

    def before_loops(self, like: Array) -> Array:
        """Return memory that is made before the outermost loop of this function."""
        b = self.b
        name = b.fresh("b")
        b.kinds[name], b.arrays[name], b.made[name] = like.kind, len(like.shape), self.loops_outside
        made = Alloc(name, like.shape, like.kind, False, place=b.place)
        self.pending.append((self.loops_outside, made))
        return stored(name, like.shape, like.kind)

    def settle_results(self, changed: dict[Slot, Value], ends: Sequence[dict[Slot, Value]]) -> None:
        """Let results that a loop may have bound stand for what they are after it.

        What is read afterwards is what a return has bound; else it is never looked at.
        """
        for slot in [slot for slot in changed if is_result(slot)]:
            found = [end[slot] for end in ends if end.get(slot, NOTHING_YET) != NOTHING_YET]
            if not all(is_same(v, found[0]) for v in found):
                raise Unfit(DIFFERENT, self.b.place)
            self.slots.values[slot] = found[0]
            self.start(found[0])
            del changed[slot]
        if self.b.loops == self.loops_outside:
            self.b.block += [s for depth, s in self.pending if depth == self.loops_outside]
            self.pending = [pair for pair in self.pending if pair[0] != self.loops_outside]

    def start(self, value: Value) -> None:
        """Bind the names of a result to something, for where no return binds them."""
        b = self.b
        match value:
            case Tuple(items=items) if not self.is_held(value):
                for item in items:
                    self.start(item)
            case ComplexNumber(re=re, im=im):
                self.start(re)
                self.start(im)
            case Choice(tag=tag, numbers=numbers, options=options):
                b.add(Count(tag.name, Const(numbers[0]), place=b.place))
                for option in options:
                    self.start(option)
            case Number(e=Name() as target):
                if value.kind in REAL:
                    b.add(Assign(target, Const(0.0), place=b.place))
                else:
                    zero = Const(False) if value.kind == BOOL else Const(0)
                    b.add(Count(target.name, zero, place=b.place))
                if isinstance(value.rank, Name):
                    b.kinds[value.rank.name] = INT
                    b.add(Count(value.rank.name, Const(0), place=b.place))

    def merge_result(
        self,
        slot: Slot,
        known: Before,
        blocks: Sequence[list[Statement]],
        sides: Sequence[dict[Slot, Value]],
    ) -> None:
        """Let a result stand for what the sides of a branch bind it to, or one of them."""
        values = [side.get(slot, NOTHING_YET) for side in sides]
        found = [v for v in values if v != NOTHING_YET]
        if len(found) == len(values):
            value = self.merged_result(known, blocks, values, set())
        else:
            (k,) = [k for k, v in enumerate(values) if v != NOTHING_YET]
            value = self.present(known, blocks[k], values[k])
            with self.b.within() as more:
                self.start(value)
            blocks[1 - k].extend(more)
        assert value is not None
        for side in sides:
            side[slot] = value

    def present(self, known: Before, block: list[Statement], value: Value) -> Value:
        """Return a side's value as it is after the branch: an array in memory that exists there."""
        if isinstance(value, Tuple):
            items = [self.present(known, block, item) for item in value.items]
            return replace(value, items=tuple(items))
        if not isinstance(value, Array) or self.is_there(known, value):
            return value
        found = merged(self.b, known, [block], [value])
        if found is None or value.base in self.inputs:
            raise Unfit(
                "a return, in a branch, of an array whose length is known only there", self.b.place
            )
        return found

    def is_there(self, known: Before, value: Array) -> bool:
        """Return True for memory that there is in any case."""
        made = any(value.base == own.base for own in self.results.values())
        return made or (value.whole and value.base in known.arrays)

    def merged_result(
        self,
        known: Before,
        blocks: Sequence[list[Statement]],
        values: Sequence[Value | None],
        seen: set[str],
    ) -> Value | None:
        """Return one result for those of the sides of a branch that do not leave."""
        first = values[0]
        if all(value == first for value in values) and (
            isinstance(first, SETTLED) or self.is_held(first)
        ):
            return first
        tuples = [v for v in values if isinstance(v, Tuple)]
        if len(tuples) == len(values) and all(alike(v, tuples[0]) for v in tuples):
            rows = zip(*[v.items for v in tuples], strict=True)
            items = [self.merged_result(known, blocks, row, seen) for row in rows]
            return replace(tuples[0], items=tuple([v for v in items if v is not None]))
        arrays = [v for v in values if isinstance(v, Array)]
        if len(arrays) == len(values):
            if all(a == arrays[0] for a in arrays) and self.is_there(known, arrays[0]):
                return arrays[0]
            if (self.inputs | seen).isdisjoint(a.base for a in arrays):
                found = merged(self.b, known, blocks, arrays)
                if found is not None:
                    return found
        numbers = [v for v in values if isinstance(v, Number)]
        if self.findings.is_late and len(numbers) == len(values):
            return max(numbers, key=lambda v: v.rank is not None)  # they are of one type next time
        if len(values) > 1 and not any(v is None or isinstance(v, NO_OPTION) for v in values):
            return self.one_of(known, blocks, None, [v for v in values if v is not None])
        raise Unfit(DIFFERENT, self.b.place)


NO_OPTION = Array | Cells | Stack | Dictionary
DIFFERENT = "returns of different types: return the same type everywhere"
SETTLED = Number | ComplexNumber | Known | None


def is_result(slot: Slot) -> bool:
    """Return True for what stands for what a return gives back."""
    return slot.name.startswith(RESULT)


def is_known(value: Value) -> bool:
    """Return True for a truth that is known while it is read."""
    return isinstance(value, Number) and isinstance(value.e, Const)


def starts(body: Sequence[ast.stmt], name: str) -> bool:
    """Return True if statements begin with a flag that is not set, wherever they do."""
    return any(
        isinstance(s, ast.Assign)
        and isinstance(s.targets[0], ast.Name)
        and s.targets[0].id == name
        and isinstance(s.value, ast.Constant)
        and s.value.value is False
        for top in body
        for s in ast.walk(top)
    )
