"""The memory that one derivative may keep, and what it keeps: bytes of its tape, as they are met.

What the tape keeps is counted once, when somebody asks: for a few passes of each loop, not for each
entry.  What was counted is remembered by where on the tape it begins, so that it counts no longer
when the tape is shorter.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.native import pulling as native
from mooncake_py.errors import Location, MemoryBudgetError
from mooncake_py.recomputation.plan import Plan
from mooncake_py.recomputation.stored import on_disk
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.allowance import ENDLESS, Allowance, in_units
from mooncake_py.runtime.memory import Memory
from mooncake_py.runtime.views import View
from mooncake_py.tangents.memory import owner

if TYPE_CHECKING:
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["Budget"]

Entry = tuple[Any, ...]

SMALL = 0.001
"""Share of the budget that is little."""
SHARE = 0.25
"""Of what is kept in all: of a loop that an error names."""
MORE = 1.1
"""Than was measured: what an error says would do."""
OFTEN = 3
"""How often a loop keeps little before it is taken for granted."""
NUMBER = 32
"""Bytes of a float in Python and a reference to it."""
NODE = 128
"""Bytes of an active number, or of the record of a block of memory."""
ARRAY = 128
"""Bytes of an array without its elements."""


class Budget:
    """What a derivative keeps, and may keep.

    Attributes
    ----------
    used : int
        Bytes that the tape keeps up to `mark`, the number of entries that were counted.
    limit : float
        What may be used now; `total` is what the user has said.
    scale : float
        By how much more has to be allowed in all, for each byte that is allowed more here.
    watches : bool
        Whether loops that begin now are watched, or simply run.
    plans : list of Plan
        What was decided for each loop.
    """

    def __init__(self, given: Allowance, held: Iterable[Any]) -> None:
        self.total = self.limit = float(given.nbytes)
        self.folder = given.folder
        self.plans: list[Plan] = given.plans
        self.scale = 1.0
        self.watches = True
        self.used = 0.0
        self.last_state = 0.0
        self.small: dict[CodeType, int] = {}  # how often loops kept little
        self.mark = 0
        self.counted: list[tuple[int, float]] = []  # where something begins, and what was used then
        self.seen: dict[int, ref[ndarray]] = {}  # arrays that were counted, by id
        self.hold(held)

    @property
    def left(self) -> float:
        """How many bytes may still be used."""
        return self.limit - self.used

    # Counting.

    def settle(self, tape: list[Entry]) -> None:
        """Forget what is on the tape no longer."""
        while self.counted and self.counted[-1][0] >= len(tape):
            self.used = self.counted.pop()[1]
        self.mark = min(self.mark, len(tape))

    def count(
        self,
        tape: list[Entry],
        held: Iterable[Any] = (),
        given: float | None = None,
        more: int = 0,
    ) -> float:
        """Count the entries that were not counted, what else they hold, and `more`; return all.

        What was measured otherwise is `given`.
        """
        self.settle(tape)
        found = given
        if found is None:
            found = self.size_of(tuple(tape[self.mark :])) + self.size_of(tuple(held)) + more
        self.counted.append((self.mark, self.used))
        self.used += found
        self.mark = len(tape)
        return found

    def hold(self, values: Iterable[Any]) -> None:
        """Leave out what the program itself holds."""
        self.size_of(tuple(values))

    def size_of(self, values: tuple[Any, ...]) -> int:
        """Return how many bytes values and all that they lead to keep that nothing kept before."""
        total = 0
        met: set[int] = set()
        todo: list[Any] = [values]
        while todo:
            value = todo.pop()
            t = type(value)
            if t is float:
                total += NUMBER
            elif issubclass(t, ndarray):
                total += ARRAY + self.size_of_array(value)
            elif t in CONTAINERS or t is Active or t in NODES:
                if id(value) in met:
                    continue
                met.add(id(value))
                if t is Active or t in NODES:
                    total += NODE
                    continue
                total += sys.getsizeof(value)
                if t is list and value and type(value[0]) is float:  # slopes of a loop
                    total += NUMBER * len(value)
                    continue
                if t is tuple and value and type(value[0]) is FunctionType:
                    total += SIZES.get(value[0], nothing)(value)
                todo += [*value.keys(), *value.values()] if t is dict else value
            elif (t is FunctionType or t is CellType) and id(value) not in met:
                met.add(id(value))
                todo += contents_of(value)
        return total

    def size_of_array(self, a: ndarray) -> int:
        """Return the bytes of the memory of an array, zero if it was counted."""
        block = owner(a)
        if isinstance(block, np.memmap):
            return 0
        known = self.seen.get(id(block))
        if known is not None and known() is block:
            return 0
        self.seen[id(block)] = ref(block)
        return block.nbytes

    # Parts of a derivative.

    @contextmanager
    def within(self, share: float, *, watches: bool) -> Iterator[None]:
        """Let the block use a share of what is left."""
        before = self.limit, self.scale, self.watches
        self.limit = self.used + share * self.left
        self.scale /= share
        self.watches = watches
        try:
            yield
        finally:
            self.limit, self.scale, self.watches = before

    def keep_state(self, ctx: ReverseMode, start: int, held: Iterable[Any], own: int) -> None:
        """Count a state, the entries of which begin at some place: on disk where that is asked."""
        if self.folder is not None:
            ctx.tape[start:] = [on_disk(entry, self.folder) for entry in ctx.tape[start:]]
        self.last_state = self.count(ctx.tape, held, more=own)

    def is_small(self, code: CodeType) -> bool:
        """Return whether a loop, known by its code, kept so little that it is not measured now."""
        return self.small.get(code, 0) >= OFTEN

    def note_size(self, code: CodeType, kept: float) -> None:
        """Note how much a loop has kept."""
        self.small[code] = self.small.get(code, 0) + 1 if kept < SMALL * self.total else -ENDLESS

    def require(self, ctx: ReverseMode) -> None:
        """Raise if the forward pass as a whole keeps too much."""
        self.count(ctx.tape)
        if self.used > self.total:
            plans = [plan for plan in self.plans if plan.recorded is None]
            largest = max(plans, key=lambda plan: plan.kept, default=None)
            if largest is None or largest.kept < SHARE * self.used:
                where, kept = None, in_units(self.used)
                why = f"the forward pass keeps too much outside of loops: {kept} in all"
            else:
                where, why = largest.where, largest.excuse()
            raise ctx.failed(self.exceeded(where, why, MORE * self.used))

    def exceeded(self, where: Location | None, why: str, need: float) -> MemoryBudgetError:
        """Return the error for a budget that is too small, where so much would do."""
        return MemoryBudgetError(
            f"a gradient does not fit into memory={in_units(self.total)!r}",
            where=where,
            why=why,
            fix=f"pass memory={in_units(need)!r}",
        )


def contents_of(value: FunctionType | CellType) -> list[Any]:
    """Return the cells of a function, or the content of a cell."""
    if isinstance(value, FunctionType):
        return list(value.__closure__ or ())
    try:
        return [value.cell_contents]
    except ValueError:  # not bound
        return []


def nothing(entry: Entry) -> int:
    """Return the bytes of what an entry keeps that cannot be seen from outside: none."""
    return 0


CONTAINERS = frozenset({tuple, list, dict, set})
NODES = frozenset({Memory, View})
SIZES: dict[Any, Callable[[Entry], int]] = {
    native.pull_native: native.bytes_kept,
    native.pull_native_loop: native.bytes_kept,
}
