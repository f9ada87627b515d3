"""The tape of a call, as data and as text."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.sites.spending import spending
from mooncake_py.diagnostics.places import definition_of, place_at
from mooncake_py.errors import Location
from mooncake_py.reflection.advice import advice_on
from mooncake_py.reflection.compiled import compiled_outcomes, grouped_lines
from mooncake_py.reflection.recording import Note, WatchedContext, running
from mooncake_py.reflection.rules import place
from mooncake_py.rules.kinds import Rule
from mooncake_py.runtime.memory import undo_assign

if TYPE_CHECKING:
    from mooncake_py.compiler.native.outcome import Outcome

__all__ = ["TapeEntry", "TapeRecord", "record_tape", "tape_and_functions"]

OPERATIONS = {
    "pull": "fused expression",
    "pull_accumulate": "scatter",
    "pull_assign": "write of elements",
    "pull_bilinear": "product",
    "pull_codual": "handwritten rule",
    "pull_dot": "product",
    "pull_element": "read of an element",
    "pull_elementwise": "elementwise",
    "pull_elementwise_out": "elementwise, in place",
    "pull_conversion": "number",
    "pull_extremum": "rule",
    "pull_gather": "read by index arrays",
    "pull_inplace_element": "element += or -=",
    "pull_inplace_linear": "+= or -=",
    "pull_inplace_scale": "*= or /=",
    "pull_inplace_scale_active": "*= or /=",
    "pull_interpolated": "interpolation",
    "pull_linear": "linear",
    "pull_native": "compiled function",
    "pull_native_loop": "loop",
    "pull_region": "loop",
    "pull_numbers": "array of numbers",
    "pull_one": "elementwise",
    "pull_quotient": "number",
    "pull_replay": "part that runs again",
    "pull_scalar_one": "number",
    "pull_scalar_two": "number",
    "pull_state": "undo: object or container",
    "pull_added": "number",
    "pull_appended": "undo: object or container",
    "pull_attribute": "undo: object or container",
    "pull_item": "undo: object or container",
    "pull_key": "undo: object or container",
    "pull_sum": "number",
    "pull_total": "linear",
    "pull_two": "elementwise",
    "pull_vjp": "rule",
    "undo_assign": "undo: overwritten elements",
}


@dataclass(frozen=True)
class TapeEntry:
    """One entry of a tape.

    Attributes
    ----------
    where : Location or None
        Position in the user's source; the definition, if the whole function is one operation.
    source : str
        The expression or statement at this position.
    operation : str
        The recorded operation.
    shape : tuple or None
        Shape of the array that was computed or changed.
    saved : list of (shape, dtype)
        The arrays that the entry keeps.
    nbytes : int
        Bytes that dropping this entry and all later ones would free.
    """

    where: Location | None
    source: str
    operation: str
    shape: tuple[int, ...] | None
    saved: list[tuple[tuple[int, ...], Any]]
    nbytes: int


@dataclass(frozen=True)
class TapeRecord:
    """The tape of a call, in the order of execution; its text is a table.

    Attributes
    ----------
    entries : list of TapeEntry
    compiled : list of Outcome
        What became of the functions that were to be compiled (``where``, ``found``, ``why``,
        ``line``); empty without compilation.
    """

    entries: list[TapeEntry]
    compiled: list[Outcome] = field(default_factory=list)

    @property
    def nbytes(self) -> int:
        """The bytes that all entries keep."""
        return sum(entry.nbytes for entry in self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __str__(self) -> str:
        rows = [("", "place", "operation", "shape", "saved", "bytes", "source")]
        for i, entry in enumerate(self.entries):
            rows.append(
                (
                    str(i),
                    "" if entry.where is None else place(entry.where),
                    entry.operation,
                    "" if entry.shape is None else str(entry.shape),
                    " ".join(f"{dtype}{list(shape)}" for shape, dtype in entry.saved),
                    f"{entry.nbytes:,}" if entry.nbytes else "",
                    entry.source,
                )
            )
        text = table(rows, right={0, 5})
        total = f"{len(self)} entries, {self.nbytes:,} bytes saved"
        return "\n".join([*grouped_lines(self.compiled), text, total, *advice_on(self.nbytes)])


def table(rows: list[tuple[str, ...]], right: set[int]) -> str:
    """Return rows as text in columns, some of them aligned on the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def record_tape(f: Callable[..., Any], args: Any, kwargs: Any) -> TapeRecord:
    """Run a function forward, return its tape, and restore everything."""
    return tape_and_functions(f, args, kwargs)[0]


@spending.unlimited()
def tape_and_functions(
    f: Callable[..., Any], args: Any, kwargs: Any
) -> tuple[TapeRecord, list[FunctionType]]:
    """Return also which functions have run."""
    ctx = WatchedContext()
    with running(ctx, f, args, kwargs):
        pairs = list(zip(ctx.tape, ctx.notes, strict=True))[ctx.before :]
        entries = [described(entry, note, definition_of(f)) for entry, note in pairs]
        del pairs
    called = [*ctx.called.values()]
    return TapeRecord(entries, compiled_outcomes(called)), called


def described(entry: tuple[Any, ...], note: Note, whole: Location | None) -> TapeEntry:
    """Return an entry for display, with a default place for one outside of the user's code."""
    where = whole if note.position is None else place_at(note.position)
    saved = note.saved if entry[0] is not undo_assign else note.saved[1:]
    return TapeEntry(where, source_at(where), operation_of(entry), note.shape, saved, note.nbytes)


def operation_of(entry: tuple[Any, ...]) -> str:
    """Return the name of the recorded operation."""
    rule = next((part for part in entry if issubclass(type(part), Rule)), None)
    name: str = entry[0].__name__
    operation: str = OPERATIONS.get(name, name)
    return operation if rule is None else f"{operation}: {rule.name}"


def source_at(where: Location | None) -> str:
    """Return the expression at a place, or the whole line."""
    if where is None:
        return ""
    line = linecache.getline(where.file, where.line).rstrip("\n")
    if where.column is None or where.end_column is None:
        return line.strip()
    return line.encode()[where.column : where.end_column].decode(errors="replace")
