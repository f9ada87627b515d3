"""The values of slots in a pass of a loop and after it: those that differ at an end of a pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from mooncake_py.compiler.native.building.findings import Again
from mooncake_py.compiler.native.building.values import (
    Array,
    Choice,
    Number,
    Object,
    Stack,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading.alike import Alike
from mooncake_py.compiler.native.reading.bodies import has_jump, names_bound
from mooncake_py.compiler.native.reading.branches import LEAVING
from mooncake_py.compiler.native.reading.kept_choices import is_noted
from mooncake_py.compiler.native.reading.merging import Around, Before
from mooncake_py.compiler.native.reading.peeling import PeelingReader
from mooncake_py.compiler.native.reading.scope import Scope
from mooncake_py.compiler.native.reading.store import KEYS, Slot, is_same
from mooncake_py.compiler.regions.ir import Expr, Name

__all__ = ["LoopRule"]


class LoopRule(PeelingReader):
    """Enters and leaves loops.

    Attributes
    ----------
    rebound : set of Slot
        The variables that the innermost loop binds.
    from_input : set of str
        Memory of slots that loops bind again, which stood for inputs before.
    """

    rebound: set[Slot]
    from_input: set[str]

    def enter_loop(self, body: Sequence[ast.stmt], runs: Expr | None, over: set[str]) -> None:
        """Note what a loop binds; arrays that it binds again get their own memory.

        Not those that a loop around it binds again.  Memory that it runs over must not be written.
        """
        b, values, place = self.b, self.slots.values, self.b.place
        b.loops += 1
        self.jumps.append([])
        for slot in list(values):
            if (place, slot.own) in self.findings.dropped:
                del values[slot]
        bodies = list(self.bodies(body))
        self.rebound = {s.slot(name) for s, part in bodies for name in names_bound(part)}
        self.begin_carrying(self.rebound)
        self.begin_choosing(self.rebound)
        around = Around(self.is_straight, self.aliases.pairs, Before.of(b), over, place)
        self.is_straight = not has_jump(body, LEAVING)
        for scope, part in bodies:
            self.settle_flags(scope, part)
        for slot, value in list(values.items()):
            if isinstance(value, Array) and self.may_be_carried(slot):
                self.give_memory(slot, value, runs, over)
        own_buffers = {own: base for base, own in self.buffers.items()}
        for pair in self.findings.same:
            if pair <= own_buffers.keys():
                same = frozenset([own_buffers[own] for own in pair])
                self.aliases.pairs = self.aliases.pairs | {same}
        for slot in list(values):
            self.refresh(slot)
        self.around.append(around._replace(entry=self.slots.snapshot()))

    def row_of(self, over: Alike, at: Expr) -> Value:
        """Return the item of a pass of a loop that stays a loop over known items."""
        raise NotImplementedError

    def may_be_carried(self, slot: Slot) -> bool:
        """Return True for a slot of an array that the innermost loop may bind again."""
        is_bound = slot in self.rebound or not slot.is_variable
        return is_bound and slot.own in self.findings.carried

    def bodies(self, body: Sequence[ast.stmt]) -> Iterator[tuple[Scope, Sequence[ast.stmt]]]:
        """Yield the statements that run in each pass of a loop with this body, and their scopes."""
        yield self.scope, body

    def give_memory(self, slot: Slot, value: Array, runs: Expr | None, over: set[str]) -> None:
        """Put an array that a loop binds again into memory of its own."""
        b, own = self.b, slot.own
        if self.buffers.get(value.base) == own:
            if value.base in over:
                raise Unfit(f"a loop over {slot.shown}, which the loop assigns again", b.place)
            return
        is_named = value.base in over or not value.whole or self.is_named_twice(value.base)
        if is_named or value.base in self.inputs:
            if runs is None:
                raise Unfit(f"{slot.shown}, which a while loop assigns again", b.place)
            b.require(runs)  # else it is the very array afterwards
        buffer = b.kept(value)
        if is_named or value.base in self.guarded or own in self.findings.named_twice:
            self.guarded.add(buffer.base)
        if value.base in self.inputs:
            self.from_input.add(buffer.base)
        if value.base in self.inputs and buffer.base not in self.guarded:
            self.holds_input[buffer.base] = value.base
        if is_named:  # who writes it by another name would not write the buffer
            self.guarded.add(value.base)
        self.buffers[buffer.base] = own
        self.slots.values[slot] = buffer

    def leave_loop(self, runs: Expr | None) -> None:
        """Note what slots stand for after a loop, which may not have run."""
        self.b.loops -= 1
        at_the_end = [pair for pair in self.aliases.pairs if pair <= self.buffers.keys()]
        same = {frozenset([self.buffers[base] for base in pair]) for pair in at_the_end}
        if not same <= self.findings.same:
            self.findings.same |= same
            raise Again
        around = self.around.pop()
        before = around.entry.values
        self.is_straight = around.is_straight
        self.aliases.pairs = self.aliases.pairs | around.aliases
        jumps = self.jumps.pop()
        ends = [self.slots.values, *[end.values for end in jumps]]
        changed = {
            slot: v
            for end in ends[::-1]
            for slot, v in end.items()
            if not is_same(before.get(slot), v)
        }
        for slot in [slot for slot in changed if isinstance(before.get(slot), Array)]:
            if slot.own not in self.findings.carried:
                self.find_later(slot, self.findings.carried)
                del changed[slot]
        self.settle_results(changed, ends)
        for slot, value in changed.items():
            if slot in before:
                self.find_meeting(before[slot], value)
                if self.unpack(slot, before[slot], value):
                    continue
                if not is_number_again(before[slot], value):
                    if isinstance(before[slot], Choice) or isinstance(value, Choice):
                        self.find_choice(slot, [before[slot], value])
                    if slot.name == KEYS:
                        self.find_peeled(slot, before[slot], value, around.place)
                    self.unroll_at(around.place, pins=False)
                    if self.may_choose(before[slot], value, around):
                        self.find_choice(slot, [before[slot], value])
                    if self.carry(slot, before[slot], value, around.place):
                        continue
                    self.unroll_at(around.place)
                    raise self.another_type(slot)
            else:
                self.bound_within(slot, value, runs, around, ends)
        self.slots.maybe.update(around.entry.maybe)
        self.slots.facts = {
            tag: fact
            for tag, fact in around.entry.facts.items()
            if self.slots.facts.get(tag) == fact
        }
        self.slots.shared |= around.entry.shared.union(*[end.shared for end in jumps])
        lost = {slot.own for slot in before if any(slot not in end for end in ends)}
        if not lost:
            return
        places = [around.place, *[outer.place for outer in self.around]]
        self.findings.dropped |= {(place, own) for place in places for own in lost}
        self.findings.later()

    def may_choose(self, old: Value, value: Value, around: Around) -> bool:
        """Return True for a value that a loop binds a slot to, and that is not new in each pass."""
        if isinstance(value, Object):
            return self.serial(value.name) <= around.before.names
        return not (isinstance(old, Number) and isinstance(value, Number)) and not (
            isinstance(old, Array) and isinstance(value, Array)
        )

    def another_type(self, slot: Slot) -> Unfit:
        """Return the error for a slot that a pass binds to something else."""
        if slot.name == KEYS:
            return Unfit(
                "a list or a dict whose length or keys change in a loop whose passes are not known",
                self.b.place,
            )
        return Unfit(f"{slot.shown} gets another type in a loop", self.b.place)

    def bound_within(
        self,
        slot: Slot,
        value: Value,
        runs: Expr | None,
        around: Around,
        ends: Sequence[dict[Slot, Value]],
    ) -> None:
        """Note what a slot that only a loop binds stands for after it."""
        tests = self.slots.maybe.get(slot, ())  # of loops within, which may not have run
        always = all(slot in end for end in ends) and around.before.has(tests)
        is_named = (
            isinstance(value, Number) and isinstance(value.e, Name) and value.e.name == slot.own
        )
        array = value if isinstance(value, Array) and slot.is_variable else None
        is_lasting = array is not None and array.base == self.lasting_base(slot)
        is_kept = is_named or self.is_kept(slot, value)
        if isinstance(value, Stack) and value.count:  # in memory that is made before all else
            is_kept = all(map(around.before.has, value.shapes.values()))
        if always and (is_kept or is_lasting) and runs is not None:
            self.slots.maybe[slot] = runs, *tests
        else:
            if always and isinstance(value, Choice) and is_noted(value) and runs is not None:
                self.lost_choices[slot] = value
            if always and array is not None and runs is not None:
                self.lost.add(slot)
            self.slots.values.pop(slot, None)


def is_number_again(old: Value, value: Value) -> bool:
    """Return True for numbers under one name in the region."""
    return (
        isinstance(old, Number)
        and isinstance(value, Number)
        and isinstance(old.e, Name)
        and isinstance(value.e, Name)
        and old.e.name == value.e.name
    )
