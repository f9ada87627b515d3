"""The forms of statements along several directions: the value once, then the tangents.

y[1:] = a * x[1:]       def run(C, F, V):
...                     values, and rows T0, T1, ... of tangents, as the pattern has them
y = v0 * v1
if is_small(C, y):      without warnings
    d1 = part_of(T1, a2, N)
    t = v0 * d1         of all rows
else:
    rows = []
    for k in C.range:
        d1 = T1[k, ...][a2]
        t = v0 * d1
        rows.append(t)
a1[a3] = y
write the rows

Large ones are quicker one after the other, as they stay in the cache.  Measured, 16 directions over
one: with 50 elements 2.2 all together and 7.3 one after the other, with 2,000 elements 17 and 9.
"""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from mooncake_py.compiler.statements.forward_forms import Computation, ForwardForm
from mooncake_py.compiler.statements.lines import indented
from mooncake_py.compiler.statements.views import through
from mooncake_py.overriding import override
from mooncake_py.runtime.rows import aligned, rows_at

__all__ = ["RowForm"]

SMALL = 1 << 14  # elements of all rows up to which they are computed together


class RowForm(ForwardForm):
    """Prints the form of a statement along several directions for one pattern."""

    marker = "C.several"
    look_up = "rows_of"

    @override
    def number(self, p: int) -> list[str]:
        rows = [f"r{p} = a{p}.grad", f"if type(r{p}) is not ndarray:", "    return choose(C, F, V)"]
        return [*super().number(p), *rows]

    @override
    def reads(self) -> list[str]:
        return [self.value_read(k) for k in range(len(self.statement.layout))]

    @override
    def tangent_read(self, k: int) -> str:
        part = self.statement.layout[k]
        if isinstance(part, tuple):
            return f"d{k} = {through(part, f'T{part[0]}[k, ...][a{part[1]}]')}"
        return f"d{k} = T{part}[k, ...]" if part in self.arrays else f"d{k} = r{part}[k]"

    def rows_read(self, k: int) -> str:
        """Return the line that reads all tangents of an operand."""
        part = self.statement.layout[k]
        if isinstance(part, tuple):
            return f"d{k} = part_of(T{part[0]}, a{part[1]}, N)"
        return f"d{k} = aligned({'T' if part in self.arrays else 'r'}{part}, N)"

    @property
    def is_elementwise(self) -> bool:
        """Whether tangents of all directions may be computed together, by broadcasting."""
        core = self.core
        return not (self.statement.views or core.sums or core.contractions or core.reductions)

    @override
    def attempted(self, found: Computation) -> tuple[list[str], list[str]]:
        first, then, _ = found
        if not then:
            return [*self.reads(), *first], []
        self.scope |= {"aligned": aligned, "is_small": is_small, "part_of": part_of, "write": write}
        each = [self.tangent_read(k) for k in self.operands]
        each += [*then, "if not is_finite(t):", f"    t = exactly({', '.join(self.names())})"]
        loop = ["rows = []", "for k in C.range:", *indented([*each, "rows.append(t)"])]
        if self.is_elementwise:
            together = [*map(self.rows_read, self.operands), *then]
            together += ["if is_finite(t):", "    rows = t"]
            values = "".join(f", v{k}" for k in range(len(self.statement.layout)))
            loop = [
                "rows = None",
                f"if is_small(C.directions, y{values}):",
                *indented(["N = y.ndim if type(y) is ndarray else 0", *together]),
                "if rows is None:",
                *indented(loop),
            ]
        return [*self.reads(), *first], self.quietly(loop)

    @override
    def given(self, moves: bool) -> list[str]:
        return ["return C.fresh_rows(y, rows)" if moves else "return y"]

    @override
    def tangents_stored(self, moves: bool, i: str) -> tuple[list[str], list[str]]:
        T = f"T{self.base}"
        if moves:
            activate = [f"{T} = B.rows_to_write(a{self.base})", f"if {T} is None:"]
            activate += ["    return otherwise(C, F, V)"]
            before = [] if self.base in self.moving else activate
            return before, [f"write({T}, {i}, rows, {self.op!r})"]
        if self.base in self.moving and not self.op:
            return [], ["for k in C.range:", f"    {T}[k, ...][{i}] = 0.0"]
        return [], []


def is_small(directions: int, y: Any, *operands: Any) -> bool:
    """Return True if the tangents of a value are to be computed together."""
    if type(y) is not ndarray:
        return not any(type(v) is ndarray for v in operands)
    ndim = y.ndim
    return directions * y.size <= SMALL and all(
        type(v) is not ndarray or v.ndim <= ndim for v in operands
    )


def part_of(rows: ndarray, i: Any, ndim: int) -> ndarray:
    """Return the rows of a part of an array, to broadcast with values of so many axes.

    Raises
    ------
    IndexError
        If they must be read one by one.
    """
    at = rows_at(i)
    if at is None:
        raise IndexError
    return aligned(rows[at], ndim)


def write(rows: ndarray, i: Any, found: Any, op: str) -> None:
    """Write the tangents of a part of an array, all of them or a list, or add or subtract them."""
    at = rows_at(i) if type(found) is ndarray else None
    if at is None:
        for k, t in enumerate(found):
            changed(rows[k, ...], i, t, op)
    elif type(i) is ndarray:  # a mask, which picks a copy
        changed(rows, at, aligned(found, rows.ndim - i.ndim), op)
    else:
        part = rows[at]
        changed(part, Ellipsis, aligned(found, part.ndim - 1), op)


def changed(a: ndarray, i: Any, v: Any, op: str) -> None:
    """Run ``a[i] = v``, or ``a[i] op= v``."""
    if not op:
        a[i] = v
    elif op == "add":
        a[i] += v
    else:
        a[i] -= v
