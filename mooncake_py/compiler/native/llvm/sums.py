"""Sums over a counter, whose numbers may be added in any order: here in one of our own.

It is written into the text, so that code of every level and processor gives the same bits::

    for all i:                  if n >= FEW:
        total += x[i]               many, few = [0.0] * MANY, [0.0] * FEW
                                    for i in range(0, n - n % MANY, MANY):
                                        for k in range(MANY):
                                            many[k] += x[i + k]
                                    few[k] = (many[k] + many[k + 8]) + (many[k + 4] + many[k + 12])
                                    for i in range(n - n % MANY, n - n % FEW, FEW):
                                        for k in range(FEW):
                                            few[k] += x[i + k]
                                    total += (few[0] + few[2]) + (few[1] + few[3])
                                for i in range(n - n % FEW, n):
                                    total += x[i]

At the best level a loop over `k` becomes a few instructions for several numbers each, and the
partial sums are in registers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mooncake_py.compiler.native.regions.helpers import plus, plus_product
from mooncake_py.compiler.native.regions.mentions import expressions_in
from mooncake_py.compiler.native.regions.region import FLOAT
from mooncake_py.compiler.regions.ir import (
    Assign,
    Block,
    Call,
    Const,
    Expr,
    ForAll,
    Load,
    Name,
    Statement,
    walk,
)

if TYPE_CHECKING:
    from mooncake_py.compiler.native.llvm.expressions import Expressions

__all__ = ["FEW", "LANE", "MANY", "Sums", "totals_of"]

MANY, FEW = 32, 4
"""How many partial sums there are, and then of the rest: those that are added up at once."""
LANE = Name(".lane")
"""Which of them; names with a dot are ours."""
VECTOR = f"<{FEW} x double>"


def totals_of(s: ForAll, kind: Callable[[Expr], str]) -> tuple[str, ...]:
    """Return the names of the sums of an innermost loop; none if it is to stay unchanged."""
    extent = s.extents[-1]
    if any(extent == Const(n) for n in range(FEW)):
        return ()
    totals = [total_of(inner) for inner in s.body]
    found = tuple(dict.fromkeys([total for total in totals if total is not None]))
    if any(kind(Name(total)) != FLOAT for total in found):
        return ()
    names = [part.name for part in parts_in(s.body) if isinstance(part, Name)]
    is_read = any(names.count(total) > totals.count(total) for total in found)
    return () if is_read else found


def total_of(s: Statement) -> str | None:
    """Return the name to which a statement adds, of a sum in any order."""
    match s:
        case Assign(target=Name(name=name), value=Call(function=f, args=(Name(name=total), *_))):
            return name if total == name and f in (plus, plus_product) else None
    return None


def parts_in(body: Block) -> list[Expr]:
    """Return the parts of all expressions."""
    return [part for s in body for e in expressions_in(s) for part in walk(e)]


class Sums:
    """The partial sums of one loop.

    Parameters
    ----------
    totals : tuple of str
        The names of the sums.
    """

    def __init__(self, to: Expressions, totals: tuple[str, ...]) -> None:
        self.to = to
        self.writer = to.writer
        self._many = {total: to.arrays.hidden(MANY) for total in totals}
        self._few = {total: to.arrays.hidden(FEW) for total in totals}

    def begin(self) -> None:
        """Write what makes them zero."""
        for arrays, size in ((self._many, MANY), (self._few, FEW)):
            for array in arrays.values():
                for place in range(0, size, FEW):
                    self._store(array, place, "zeroinitializer")

    def within(self, body: Block, size: int) -> Block:
        """Return the body of the loop over so many partial sums."""
        arrays = self._many if size == MANY else self._few
        return tuple([in_parts(s, arrays) for s in body])

    def gather(self) -> None:
        """Write what makes few of many."""
        for total, array in self._many.items():
            rows = [self._load(array, place) for place in range(0, MANY, FEW)]
            self._store(self._few[total], 0, self._added(VECTOR, rows))

    def end(self) -> None:
        """Write what adds the few to the sums."""
        do = self.writer.do
        for total, array in self._few.items():
            row = self._load(array, 0)
            numbers = [do(f"extractelement {VECTOR} {row}, i32 {k}") for k in range(FEW)]
            more = self._added("double", numbers)
            self.to.set(total, do(f"fadd double {self.to.named(total)}, {more}"))

    def _added(self, type_: str, parts: list[str]) -> str:
        while len(parts) > 1:
            half = len(parts) // 2
            pairs = zip(parts[:half], parts[half:], strict=True)
            parts = [self.writer.do(f"fadd {type_} {a}, {b}") for a, b in pairs]
        return parts[0]

    def _load(self, array: str, place: int) -> str:
        address = self.to.arrays.element(array, str(place))
        return self.writer.do(f"load {VECTOR}, ptr {address}{self.to.arrays.scope(array)}")

    def _store(self, array: str, place: int, value: str) -> None:
        address = self.to.arrays.element(array, str(place))
        self.writer.line(f"store {VECTOR} {value}, ptr {address}{self.to.arrays.scope(array)}")


def in_parts(s: Statement, arrays: dict[str, str]) -> Statement:
    """Return a statement that adds to a partial sum where it adds to a sum."""
    total = total_of(s)
    if total is None or not isinstance(s, Assign) or not isinstance(s.value, Call):
        return s
    part = Load(arrays[total], (LANE,))
    return Assign(part, Call(s.value.function, (part, *s.value.args[1:])), place=s.place)
