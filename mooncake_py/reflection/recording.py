"""A reverse-mode call that also records the origin of each entry of its tape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from numpy import ndarray

from mooncake_py.application.lift import Lifter
from mooncake_py.boundary.exceptions import guarded
from mooncake_py.boundary.outputs import run
from mooncake_py.compiler.native import pulling as native
from mooncake_py.diagnostics.places import Position, positions_running
from mooncake_py.modes.debug.operands import arrays_in
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.overriding import override
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.limits import limits_raised
from mooncake_py.runtime.memory import undo_assign
from mooncake_py.tangents.memory import owner

__all__ = ["Note", "WatchedContext", "running"]


@dataclass(slots=True)
class Note:
    """The origin and the memory of a tape entry.

    Attributes
    ----------
    position : Position or None
        Position in the user's code; None outside of it, for example if the outermost function runs
        compiled.
    shape : tuple or None
        Shape of the computed or changed array; None for a number, or without an array.
    saved : list of (shape, dtype)
        The arrays that the entry keeps.
    nbytes : int
        Bytes of these arrays that no earlier entry keeps and the caller does not hold.
    """

    position: Position | None
    shape: tuple[int, ...] | None
    saved: list[tuple[tuple[int, ...], Any]]
    nbytes: int


class WatchedContext(ReverseContext):
    """One reverse-mode call with notes on its entries."""

    has_gate = False

    def __init__(self) -> None:
        super().__init__()
        self.plainly = self.record
        self.record = self.record_with_note
        self.notes: list[Note] = []
        self.accounted: dict[int, ndarray] = {}  # memory, by id
        self.before = 0  # entries recorded before the function began
        self.called: dict[CodeType, FunctionType] = {}

    @override
    def call_function(self, f: FunctionType, args: Any, kwargs: Any) -> Any:
        self.called.setdefault(f.__code__, f)
        return super().call_function(f, args, kwargs)

    def record_with_note(self, entry: tuple[Any, ...]) -> None:
        """Append an entry to the tape, with a note."""
        del self.notes[len(self.tape) :]  # entries may have been taken back
        self.plainly(entry)
        self.notes.append(self.note(entry))

    @override
    def record_below(self, entry: tuple[Any, ...]) -> None:
        if self.rehearsal is None:
            super().record_below(entry)
            notes = self.notes
            notes[-1], notes[-2] = notes[-2], notes[-1]

    def note(self, entry: tuple[Any, ...]) -> Note:
        """Return the note of an entry."""
        saved, nbytes = [], 0
        for a in arrays_in(entry[1:], set()):
            saved.append((a.shape, a.dtype))
            block = owner(a)
            if id(block) not in self.accounted:
                self.accounted[id(block)] = block
                nbytes += block.nbytes
        if entry[0] is undo_assign and not issubclass(type(entry[3]), ndarray):
            nbytes += getattr(entry[3], "nbytes", 0)
        if entry[0] in (native.pull_native, native.pull_native_loop):
            nbytes += native.bytes_kept(entry)
        return Note(positions_running(3)[0], shape_of(entry), saved, nbytes)

    def hold(self, value: Any) -> None:
        """Exclude memory that the caller holds."""
        for a in arrays_in(value, set()):
            block = owner(a)
            self.accounted[id(block)] = block


def shape_of(entry: tuple[Any, ...]) -> tuple[int, ...] | None:
    """Return the shape of the array that an entry computed or changed."""
    first = entry[1] if len(entry) > 1 else None
    if isinstance(first, ndarray):
        return first.shape
    a = None if first is None or type(first) is Active else getattr(first, "ref", lambda: None)()
    return None if a is None else a.shape


@contextmanager
def running(ctx: WatchedContext, f: Callable[..., Any], args: Any, kwargs: Any) -> Iterator[Any]:
    """Run a function forward on active arguments, and restore everything afterwards."""
    with limits_raised(), Lifter(ctx) as lifter, guarded(ctx):
        ctx.hold((list(args), kwargs))
        args = [lifter.visit(a)[0] for a in args]
        kwargs = {name: lifter.visit(a)[0] for name, a in kwargs.items()}
        ctx.before = len(ctx.tape)
        output = run(ctx, f, args, kwargs)
        lifter.settle(ctx.tape)
        try:
            yield output
        finally:
            ctx.roll_back()
            ctx.forget()
