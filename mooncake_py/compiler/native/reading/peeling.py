"""First passes of loops that come before them: dicts get their keys there, and deques their items.

for k in range(n):              require 0 < n
total["a"] += x[k]          total.a = 0.0; total.a += x[0]
for k in range(1, n):
total.a += x[k]
"""

from __future__ import annotations

import ast

from mooncake_py.compiler.native.building.deques import Deque
from mooncake_py.compiler.native.building.findings import Again
from mooncake_py.compiler.native.building.values import (
    Dictionary,
    Known,
    Value,
)
from mooncake_py.compiler.native.reading.bodies import has_jump
from mooncake_py.compiler.native.reading.lasting import LastingReader
from mooncake_py.compiler.native.reading.store import Slot
from mooncake_py.syntax.nodes import Place, place_of

__all__ = ["PeelingReader"]

MOST = 16  # items of a deque that is filled in first passes
MOST_OF_KEYS = 2


class PeelingReader(LastingReader):
    """Finds out which loops have first passes of their own.

    Attributes
    ----------
    may_peel : set of Place or None
        Loops that may, as nothing leaves them.
    """

    may_peel: set[Place | None]

    def peeled_of(self, node: ast.For) -> int:
        """Return how many passes of a loop come first."""
        place = place_of(node)
        if not has_jump(node.body, ast.Break | ast.Return):
            self.may_peel.add(place)
        return self.findings.peeled.get(place, 0)

    def find_peeled(self, slot: Slot, old: Value, new: Value, place: Place | None) -> None:
        """Find out that in first passes of a loop a dict gets keys, or a deque items."""
        findings = self.findings
        is_unrolled = place in self.short.values() and place not in findings.rows
        if is_unrolled or place not in self.may_peel:
            return
        assert isinstance(old, Known)
        assert isinstance(new, Known)
        if len(new.value) <= len(old.value):
            return
        made, count = self.holders[slot.owner[:-1]].like, findings.peeled.get(place, 0)
        if isinstance(made, Deque) and made.maxlen is not None:
            count, most = count + made.maxlen - len(old.value), MOST
        elif isinstance(made, Dictionary):
            count, most = count + 1, MOST_OF_KEYS
        else:
            return
        if count <= most:
            findings.peeled[place] = count
            raise Again
