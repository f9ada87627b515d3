"""Whether a compiled loop pays: the cost of entering and leaving it, against its computation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.native import printed_loop
from mooncake_py.compiler.native.regions.region import INT, NativeRegion
from mooncake_py.compiler.regions.evaluate import Work, evaluated, passes
from mooncake_py.compiler.regions.ir import (
    Apply,
    Assign,
    Block,
    Call,
    For,
    ForAll,
    Length,
    Load,
    Name,
    Places,
    Reduce,
    Statement,
    While,
    blocks_of,
    statements,
    walk,
)
from mooncake_py.compiler.sites.items import bytes_copied
from mooncake_py.overriding import override

__all__ = ["ON_ARRAYS", "Effort", "PrintedEffort"]

LEAST = 50  # passes over numbers, fewer than which take less time than the way in and out
ARRAY = 10  # statements on numbers take as long as one on arrays
BYTES = 1024  # to be copied for each pass, at most
SMALL = 1 << 14  # bytes that may be copied where nothing tells how often a loop runs
COPIED = 8192  # bytes for each of these: what takes as long to copy as it saves
OF_OPERATION = 64  # bytes for each operation on numbers
MOST = 256  # ints and lengths for which it is remembered whether a loop pays
OF_NUMBER = 0.1  # of a statement on arrays, takes one on numbers
CHOICES = frozenset({np.maximum, np.minimum, np.fmax, np.fmin})
ON_ARRAYS = ForAll | Reduce | Places | Apply


class Effort:
    """The numbers that a loop computes and copies.

    Parameters
    ----------
    region : NativeRegion
        The last loop of it is the one.
    written : sequence of str
        The arrays that are copied before it runs.
    """

    def __init__(self, region: NativeRegion, written: Sequence[str]) -> None:
        loop = next((s for s in reversed(region.body) if isinstance(s, For | While)), None)
        within = [] if loop is None else list(statements((loop,)))
        self.is_none = loop is None  # over a few items that are known
        self.loop = loop if isinstance(loop, For) else None
        if any(isinstance(s, While) for s in within):
            self.loop = None  # nothing tells how often it runs
        self.each = ARRAY if any(isinstance(s, ForAll) for s in within) else 1
        self.copied = {*written, *region.lists.intersection(region.inputs)}
        ranges = [s.range for s in within if isinstance(s, For)]
        read = {part.name for e in ranges for part in walk(e) if isinstance(part, Name)}
        measured = {part.array for e in ranges for part in walk(e) if isinstance(part, Length)}
        self.ints = [name for name in region.inputs if name in read]
        self.measured = [name for name in region.inputs if name in measured | self.copied]
        self.is_of_ints = all(region.kinds[name] == INT for name in self.ints)
        self.known: dict[Any, bool] = {}

    def pays(self, inputs: Mapping[str, Any]) -> bool:
        """Return whether it is worth it, found out once for the same ints and lengths."""
        if not self.is_of_ints:
            return self.is_worth(inputs)
        measures = [measure(inputs[name]) for name in self.measured]
        key = (*[inputs[name] for name in self.ints], *measures)
        found = self.known.get(key)
        if found is None:
            found = self.is_worth(inputs)
            if len(self.known) < MOST:
                self.known[key] = found
        return found

    def is_worth(self, inputs: Mapping[str, Any]) -> bool:
        """Return False for few passes, and where what is copied before is far larger."""
        if self.loop is None:
            return not self.is_none
        try:
            work = self.amount(self.loop, inputs)
        except (LookupError, ArithmeticError, TypeError, ValueError):
            return True
        return work >= self.least and self.bytes_of(inputs) <= self.bytes * work

    def bytes_of(self, inputs: Mapping[str, Any]) -> int:
        """Return how many bytes are copied before it runs."""
        return sum([bytes_copied(inputs[name]) for name in self.copied])

    @property
    def least(self) -> float:
        """The work that is worth it."""
        return LEAST

    @property
    def bytes(self) -> int:
        """How many bytes may be copied for each unit of it."""
        return BYTES

    def amount(self, loop: For, inputs: Mapping[str, Any]) -> float:
        """Return how much a loop does."""
        return self.each * passes(loop, evaluated(loop.range, inputs), dict(inputs))


class PrintedEffort(Effort):
    """The same, of text of NumPy: what runs without it takes no longer for what it computes."""

    def __init__(self, region: NativeRegion, written: Sequence[str]) -> None:
        super().__init__(region, written)
        loop = next((s for s in reversed(region.body) if isinstance(s, For | While)), None)
        within = [] if loop is None else list(statements((loop,)))
        self.of_numbers = not any(isinstance(s, ON_ARRAYS) for s in within)
        self.work = None
        if self.loop is not None and self.of_numbers:
            self.work = Work(self.loop.body)
        elif self.loop is not None and only_chooses(self.loop):
            self.loop = None
        self.is_none = self.loop is None and (loop is None or not self.of_numbers)

    @override
    def is_worth(self, inputs: Mapping[str, Any]) -> bool:
        if self.of_numbers and self.loop is None:  # nothing tells how often it runs
            return not self.is_none and self.bytes_of(inputs) <= SMALL
        return super().is_worth(inputs)

    @property
    @override
    def least(self) -> float:
        return printed_loop.LEAST if self.of_numbers else printed_loop.FEWEST

    @property
    @override
    def bytes(self) -> int:
        return OF_OPERATION if self.of_numbers else COPIED

    @override
    def amount(self, loop: For, inputs: Mapping[str, Any]) -> float:
        if self.work is None:
            return amount(loop, dict(inputs))
        scope = dict(inputs)
        found = self.work.amount(loop, evaluated(loop.range, inputs), scope)
        if found is None:
            raise LookupError
        return found


def measure(value: Any) -> Any:
    """Return a key for the passes over an array or a list and the cost of a copy."""
    return (value.shape, value.itemsize) if type(value) is ndarray else len(value)


def only_chooses(loop: For) -> bool:
    """Return True if all that a loop computes are the greater or smaller elements of two arrays.

    Their shares are computed again on the way back, in twice the time; single statements keep them.
    """
    values = [s.value for each in statements((loop,)) if isinstance(each, ForAll)
              for s in each.body if isinstance(s, Assign)]  # fmt: skip
    computed = [value for value in values if not isinstance(value, Load)]
    return bool(computed) and all(
        isinstance(value, Call) and value.function in CHOICES for value in computed
    )


def amount(loop: For, scope: dict[str, Any]) -> float:
    """Return how many statements on arrays a loop runs, from the middle of each range."""
    steps = evaluated(loop.range, scope)
    if not steps:
        return 0.0
    scope[loop.name] = steps[len(steps) // 2]
    return len(steps) * in_block(loop.body, scope)


def in_block(block: Block, scope: dict[str, Any]) -> float:
    """Return the same for a block."""
    return sum([in_statement(s, scope) for s in block])


def in_statement(s: Statement, scope: dict[str, Any]) -> float:
    """Return the same for a statement."""
    if isinstance(s, ON_ARRAYS):
        return 1.0
    if isinstance(s, For):
        return amount(s, scope)
    return OF_NUMBER + sum([in_block(inner, scope) for inner in blocks_of(s)])
