"""Which cotangents must be looked at: a zero one times an infinite slope shall be zero.

A cotangent that is finite stays so in sums, and in products with finite numbers.  It is looked at
after products with what may be anything, once: what is not finite stays so on its way.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence

from mooncake_py.compiler.ir import Call, Const, Expr, Let, Name, Op, parts_of, walk

__all__ = ["is_finite", "to_check", "without_implied"]


def to_check(totals: Iterable[Expr], lets: Sequence[Let], bounded: Container[str]) -> list[str]:
    """Return the names among `totals` that must be finite, without those that others tell of.

    Parameters
    ----------
    totals : iterable of Expr
        Names, or negatives of such.
    lets : sequence of Let
        How they are computed, operation by operation.
    bounded : container of str
        What is finite for certain where a cotangent of zero is concerned: the cotangent that
        comes in, shares of a choice, shapes.
    """
    risky: set[str] = set()
    for let in lets:
        if may_spoil(let.value, lets, risky, bounded):
            risky.add(let.name)
    given = {part.name for e in totals for part in walk(e) if isinstance(part, Name)}
    return without_implied(sorted(given & risky), lets)


def may_spoil(e: Expr, lets: Sequence[Let], risky: Container[str], bounded: Container[str]) -> bool:
    """Return True if a result may not be finite though the cotangent that comes in is."""
    known = {let.name for let in lets}

    def spoils(part: Expr) -> bool:
        if isinstance(part, Const):
            return not is_finite(part)
        assert isinstance(part, Name)
        return part.name not in bounded and (part.name in risky or part.name not in known)

    if isinstance(e, Call) or (isinstance(e, Op) and e.op in ("truediv", "pow")):
        return True
    return any(map(spoils, parts_of(e)))


def is_finite(e: Const) -> bool:
    """Return True for a finite number that is written down, or nothing."""
    return e.value is None or abs(e.value) < math.inf


def without_implied(names: list[str], lets: Sequence[Let]) -> list[str]:
    """Return names without those of which others are multiples or sums.

    A value that is not finite stays so in arithmetic, if nothing is left out, as BLAS may do
    with factors of zero.  Measured on Thomas's elimination of rows: a pass over memory in nine.
    """
    if len(names) < 2:
        return names
    values = {let.name: let.value for let in lets}
    sources: dict[str, set[str]] = {}
    for let in lets:
        read = set() if leaves_out(let.value, values) else set(read_by(let.value))
        sources[let.name] = read.union(*(sources.get(name, ()) for name in read))
    return [
        name
        for name in names
        if not any(name in sources.get(other, ()) for other in names if other != name)
    ]


def leaves_out(e: Expr, values: Mapping[str, Expr]) -> bool:
    """Return True for what BLAS may compute as a product with a matrix; inner ones take all in."""
    if isinstance(e, Op) and e.op == "fitted":
        summed = e.args[0]
        if isinstance(summed, Name):
            summed = values.get(summed.name, summed)
        return isinstance(summed, Op) and summed.op == "mul"
    return isinstance(e, Call)


def read_by(e: Expr) -> list[str]:
    return [part.name for part in walk(e) if isinstance(part, Name)]
