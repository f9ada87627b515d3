"""From branches in the source to those of a region, and what variables stand for after them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from mooncake_py.compiler.native.building.values import (
    Array,
    Cells,
    ComplexNumber,
    Dictionary,
    Known,
    Number,
    Stack,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading import ragged
from mooncake_py.compiler.native.reading.assignments import alike
from mooncake_py.compiler.native.reading.choosing import CHOSEN, RESULT_SLOT
from mooncake_py.compiler.native.reading.lowering import has_return, is_flag
from mooncake_py.compiler.native.reading.merging import Before, bases_in, merged
from mooncake_py.compiler.native.reading.returning import ReturnReader, is_result
from mooncake_py.compiler.native.reading.store import Slot, Snapshot, is_same
from mooncake_py.compiler.native.reading.tags import united
from mooncake_py.compiler.regions.ir import Const, Expr, If, Statement
from mooncake_py.overriding import override
from mooncake_py.syntax.nodes import place_of

__all__ = [
    "LEAVING",
    "NOTHING",
    "BranchReader",
    "Unrolled",
    "leaves",
    "may_leave",
]

MAY_LEAVE = "mooncake_may_leave"
LEAVES = ast.Break | ast.Continue | ast.Raise
LEFT_BY = ast.Raise  # in a pass of a loop that is read pass by pass: others lead to its end
NOT_CHOSEN = Array | Cells | Stack | Dictionary
LEAVING = ast.Break | ast.Continue | ast.Return | ast.Raise
NOTHING = Known(None)


class Unrolled(list[Snapshot]):
    """Stands among the jumps of loops for one that is read pass by pass.

    Attributes
    ----------
    flag : str
        What tells whether the loop has been left.
    """

    def __init__(self, flag: str) -> None:
        super().__init__()
        self.flag = flag


class BranchReader(ReturnReader):
    """Reads branches, and what they give back.

    Attributes
    ----------
    result : Value or None
        What the function that is being read gives back, where it is known.
    jumps : list of list of Snapshot
        For each loop of this function that is being read what slots stand for where a pass is left.
    initial, known_as : dict
        What attributes that nothing assigns, and captured variables, stand for.
    """

    result: Value | None
    jumps: list[list[Snapshot]]
    initial: dict[str, Value]
    known_as: dict[Any, Value]

    def read(self, nodes: Sequence[ast.stmt]) -> None:
        """Read statements."""
        raise NotImplementedError

    def branch(self, node: ast.If, rest: Sequence[ast.stmt]) -> None:
        """Read ``if``; what follows is part of both sides where one may leave."""
        test = self.test(node.test)
        sides = [[*node.body, *([] if leaves(node.body) else rest)]]
        sides.append([*node.orelse, *([] if leaves(node.orelse) else rest)])
        if isinstance(test, Const):
            self.read(sides[0 if test.value else 1])
            return
        jumps = LEFT_BY if self.jumps and isinstance(self.jumps[-1], Unrolled) else LEAVES
        lefts = tuple([leaves(s, jumps) and not any(map(has_return, s)) for s in sides])
        self.split(test, tuple([lambda s=s: self.read(s) for s in sides]), lefts, node)

    def split(
        self, test: Expr, sides: Sequence[Callable[[], None]], lefts: Sequence[bool], node: ast.AST
    ) -> None:
        """Read the two sides of a test, some of which leave the loop or its pass for certain."""
        b = self.b
        slots, entry, before = self.slots, self.slots.snapshot(), self.result
        was_straight, self.is_straight = self.is_straight, False
        known = Before.of(b)
        found: list[tuple[Any, Snapshot, Value | None, bool]] = []
        for read, left in zip(sides, lefts, strict=True):
            slots.restore(entry)
            self.assume(test, not found)
            self.result = None
            with b.within() as block:
                read()
                self.settle_result()
            found.append((block, slots.snapshot(), self.result, left))
        (x, after, result, left), (y, after2, result2, left2) = found
        if left and not left2:
            result = self.merged_result(known, [y], [result2], self.seen_outside([after2]))
            after = after2
        elif left2 and not left:
            result = self.merged_result(known, [x], [result], self.seen_outside([after]))
        elif not left and not left2:
            seen = set() if result == result2 else self.seen_outside([after, after2])
            held = self.result_slot((after, after2), (result, result2))
            after = self.joined(known, (x, y), (after, after2))
            if held is not None:
                result = after.values.pop(held, None)
                if result is None:  # two that were there before stay two
                    raise Unfit("returns of one of two objects, lists or dicts", b.place)
            elif result != result2:
                result = self.merged_result(known, (x, y), (result, result2), seen)
        b.add(If(test, tuple(x), tuple(y), place=place_of(node)))
        slots.restore(after)
        self.is_straight = was_straight
        self.result = result if result is not None else before

    def result_slot(
        self, sides: Sequence[Snapshot], results: Sequence[Value | None]
    ) -> Slot | None:
        """Put what two sides give back into a slot, where it meets, if it is not numbers."""
        self.find_meeting(*results)
        if results[0] == results[1]:
            return None
        given = [NOTHING if result is None else result for result in results]
        if not all(map(self.is_held, results)) and not self.may_meet(*given):
            return None
        slot = self.scope.slot(RESULT_SLOT)
        for side, result in zip(sides, given, strict=True):
            side.values[slot] = result
        return slot

    def may_meet(self, x: Value, y: Value) -> bool:
        """Return True for results of which some part is a choice of different things."""
        if is_same(x, y) or isinstance(x, NOT_CHOSEN) or isinstance(y, NOT_CHOSEN):
            return False
        if isinstance(x, Tuple) and isinstance(y, Tuple) and alike(x, y):
            return any(map(self.may_meet, x.items, y.items))
        return not all(isinstance(v, Number | ComplexNumber) for v in (x, y))

    def joined(
        self, known: Before, blocks: Sequence[list[Statement]], sides: tuple[Snapshot, Snapshot]
    ) -> Snapshot:
        """Return the values of slots where the two sides of a branch meet."""
        one, other = sides
        for slot in different(one.values, other.values):
            self.meet(slot, known, blocks, sides)
        tests = (one.maybe, other.maybe)
        slots = {**tests[0], **tests[1]}
        maybe = {s: (*tests[0].get(s, ()), *tests[1].get(s, ())) for s in slots}
        values = {
            slot: v
            for slot, v in one.values.items()
            if is_same(v, other.values.get(slot)) and (slot not in maybe or known.has(maybe[slot]))
        }
        facts = united(one.facts, other.facts)
        return Snapshot(values, maybe, one.shared | other.shared, facts)

    @override
    def meet(
        self,
        slot: Slot,
        known: Before,
        blocks: Sequence[list[Statement]],
        sides: Sequence[Snapshot],
    ) -> None:
        one, other = (side.values for side in sides)
        v, there = one.get(slot), other.get(slot)
        if not is_same(v, there) and not self.one_of_two(slot, known, blocks, sides):
            if slot.name != RESULT_SLOT:
                self.unpack(slot, v, there)
            refilled = ragged.refilled(self.b, slot, known, blocks, (one, other))
            if refilled is not None:
                self.require_no_loop_over(refilled)
                one[slot] = other[slot] = refilled
                return
            self.merge(slot, known, blocks, (one, other))
            self.choose(slot, known, blocks, sides)

    def merge(
        self,
        slot: Slot,
        known: Before,
        blocks: Sequence[list[Statement]],
        sides: Sequence[dict[Slot, Value]],
    ) -> None:
        """Let a slot that stands for two arrays stand for one, which holds either.

        Memory from before must have no other name: who writes it would not see this one.  But of
        arrays among which the code chooses neither may be written any more then; in a loop a write
        may come before, in the text.
        What the caller can see must not be written by this name, either.
        """
        if is_flag(slot.name):
            self.merge_flag(slot, blocks, sides)
            return
        if is_result(slot):
            self.merge_result(slot, known, blocks, sides)
            return
        values = [side.get(slot) for side in sides]
        arrays = [v for v in values if isinstance(v, Array)]
        if len(arrays) < 2:
            return
        others = set(bases_in([*self.initial.values(), *self.known_as.values()]))
        named: set[str] = set()
        for side, a in zip(sides, arrays, strict=True):
            rest = bases_in([v for other, v in side.items() if other != slot])
            named |= {a.base}.intersection(others.union(rest)) - {""}
        if named and (self.b.loops or not slot.name.startswith(CHOSEN)):
            return
        found = merged(self.b, known, blocks, arrays)
        if found is None:
            return
        if named or any(a.base in self.inputs | self.guarded for a in arrays):
            self.guarded |= {found.base, *named}
        for side in sides:
            side[slot] = found

    def seen_outside(self, ends: Sequence[Snapshot]) -> set[str]:
        """Return the memory that other functions, attributes and captured variables refer to."""
        found = [*self.initial.values(), *self.known_as.values()]
        own = self.scope.owner
        found += [v for end in ends for s, v in end.values.items() if s.owner != own]
        return set(bases_in(found))

    def returned(self, value: Value) -> None:
        """Note what the function gives back."""
        if self.jumps:
            raise Unfit("a return in this kind of loop", self.b.place)
        self.result = value

    def settle_result(self) -> None:
        """Bind what a side of a branch gives back to a variable, as the other side does."""
        if self.result is None or self.result == NOTHING:
            return
        self.result = self.settled(self.result, "return")

    def settled(self, value: Value, name: str) -> Value:
        """Return a result under names of ours."""
        if isinstance(value, Tuple) and not self.is_held(value):
            items = [self.settled(v, f"{name}.{k}") for k, v in enumerate(value.items)]
            return replace(value, items=tuple(items))
        if isinstance(value, ComplexNumber):
            return self.bind_complex(name, value)
        if not isinstance(value, Number):
            return value
        self.scope.bindings[name] = 2
        return self.bind_number(name, value)


def different(one: dict[Slot, Value], other: dict[Slot, Value]) -> list[Slot]:
    """Return the slots of one side that do not stand for the same on the other one."""
    get = other.get
    return [slot for slot, v in one.items() if (w := get(slot)) is not v and v != w]


def may_leave(node: ast.stmt) -> bool:
    """Return True if a branch may leave the pass of the loop or the function that it is in."""
    if isinstance(node, LEAVING):
        return True
    if not isinstance(node, ast.If):
        return False
    known = node.__dict__.get(MAY_LEAVE)  # branches in branches are asked about at each level
    if known is None:
        known = any(map(may_leave, (*node.body, *node.orelse)))
        setattr(node, MAY_LEAVE, known)
    return known


def leaves(body: Sequence[ast.stmt], how: Any = LEAVING) -> bool:
    """Return True if a block leaves for certain."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and leaves(last.body, how) and leaves(last.orelse, how)
    return isinstance(last, how)
