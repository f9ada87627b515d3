"""Arrays that only a loop binds, and that are read after it: in memory that is made before it.

for s in paths:                 y = array(n)
    y = s * w                   for s in paths:
    t += y                          y[:] = s * w
return t / y                        t += y
                                return t / y
"""

from __future__ import annotations

from mooncake_py.compiler.native.building.findings import Again
from mooncake_py.compiler.native.building.values import Array, Choice, ComplexArray, Value
from mooncake_py.compiler.native.reading.branches import BranchReader
from mooncake_py.compiler.native.reading.scope import Scope
from mooncake_py.compiler.native.reading.store import Slot
from mooncake_py.overriding import override

__all__ = ["LastingReader"]


class LastingReader(BranchReader):
    """Keeps arrays that loops bind.

    Attributes
    ----------
    lost : set of Slot
        Variables of arrays that loops have bound, in memory that is there only within.
    lost_choices : dict of Slot to Choice
        Variables that loops have bound to one of several things.
    """

    lost: set[Slot]
    lost_choices: dict[Slot, Choice]

    @override
    def variable_in(self, scope: Scope, name: str) -> Value:
        slot = scope.slot(name)
        is_lost = slot in self.lost and slot not in self.slots.values
        if is_lost and slot.own not in self.findings.lasting:
            self.findings.lasting.add(slot.own)
            raise Again
        is_lost = slot in self.lost_choices and slot not in self.slots.values
        if is_lost and slot.own not in self.findings.left_over:
            self.findings.left_over.add(slot.own)
            self.note(slot, self.lost_choices[slot])
            raise Again
        return super().variable_in(scope, name)

    @override
    def bind_array(self, slot: Slot, value: Array) -> Array:
        if slot.own not in self.findings.lasting or self.b.loops == self.loops_outside:
            return super().bind_array(slot, value)
        held = self.slots.values.get(slot)
        is_new = not isinstance(held, Array) or held.base == self.lasting_base(slot)
        is_known = self.around[self.loops_outside].before.has(value.shape)
        if not is_new or not is_known or isinstance(value, ComplexArray):
            return super().bind_array(slot, value)
        return self.kept_lasting(slot, value)

    def kept_lasting(self, slot: Slot, value: Array) -> Array:
        """Store an array in memory that is made before the loops; other names keep what it held."""
        b = self.b
        found = self.results.get(slot.own)
        if found is None or found.kind != value.kind or found.shape != value.shape:
            found = self.before_loops(value)
            self.results[slot.own] = found
        b.layouts.follow(found, [value])
        if value.base in self.guarded:
            self.guarded.add(found.base)
        if value.base in self.holds_input:
            self.holds_input[found.base] = self.holds_input[value.base]
        b.store(found, value.at)
        self.aliases.copied(found.base, value.base, True)
        self.forget(found.base, slot)
        self.buffers[found.base] = slot.own
        return found

    def lasting_base(self, slot: Slot) -> str:
        """Return the memory that is made for a variable before the loops, if any."""
        found = self.results.get(slot.own)
        return "" if found is None else found.base
