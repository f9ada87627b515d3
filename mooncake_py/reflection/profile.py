"""Time and memory of a gradient, by the lines of the user's source.

In the forward pass, the interpreter reports each line that rewritten code begins (`sys.settrace`);
the time until the next line counts for it, including that of the engine.  In the reverse pass, the
time of each entry counts for the line that recorded it.
"""

from __future__ import annotations

import linecache
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType, FrameType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.boundary.outputs import scalar_value
from mooncake_py.compiler.sites.spending import spending
from mooncake_py.diagnostics.places import is_library, is_rewritten, place_at
from mooncake_py.overriding import override
from mooncake_py.reflection.advice import advice_on
from mooncake_py.reflection.compiled import compiled_outcomes, grouped_lines
from mooncake_py.reflection.recording import WatchedContext, running
from mooncake_py.reflection.tape import table
from mooncake_py.runtime.active import Active

if TYPE_CHECKING:
    from mooncake_py.compiler.native.outcome import Outcome

__all__ = ["GradientProfile", "LineProfile", "profile"]

clock: Callable[[], float] = time.perf_counter
"""Tests replace it, to tell what took how long."""

Line = tuple[str, int]


@dataclass
class LineProfile:
    """The cost of one line of the user's source.

    Attributes
    ----------
    file, line : str, int
    source : str
        The text of the line.
    forward, reverse : float
        Seconds.
    entries : int
        On the tape.
    saved_bytes : int
        Bytes kept from the forward pass to the reverse pass.
    """

    file: str
    line: int
    source: str
    forward: float = 0.0
    reverse: float = 0.0
    entries: int = 0
    saved_bytes: int = 0

    @property
    def seconds(self) -> float:
        """Time of both passes."""
        return self.forward + self.reverse


@dataclass(frozen=True)
class GradientProfile:
    """The cost of a gradient; its text is a table, with the most expensive lines first.

    Attributes
    ----------
    lines : list of LineProfile
        The lines, in descending order of time.
    value : number
        The value of the function.
    compiled : list of Outcome
        What became of the functions that were to be compiled (``where``, ``found``, ``why``,
        ``line``); empty without compilation.
    """

    lines: list[LineProfile]
    value: Any
    compiled: list[Outcome] = field(default_factory=list)

    @property
    def forward(self) -> float:
        """Seconds of the forward pass."""
        return sum(line.forward for line in self.lines)

    @property
    def reverse(self) -> float:
        """Seconds of the reverse pass."""
        return sum(line.reverse for line in self.lines)

    @property
    def entries(self) -> int:
        """Entries on the tape."""
        return sum(line.entries for line in self.lines)

    @property
    def saved_bytes(self) -> int:
        """Bytes kept between the passes."""
        return sum(line.saved_bytes for line in self.lines)

    def __str__(self) -> str:
        rows = [("forward ms", "reverse ms", "entries", "saved bytes", "line", "source")]
        for line in self.lines:
            rows.append((*figures(line), str(line.line), line.source))
        rows.append((*figures(self), "", "total"))
        lines = [
            *grouped_lines(self.compiled),
            table(rows, right={0, 1, 2, 3, 4}),
            *advice_on(self.saved_bytes),
        ]
        return "\n".join(lines)


def figures(costs: LineProfile | GradientProfile) -> tuple[str, str, str, str]:
    """Return the figures of a row."""
    return (
        f"{1e3 * costs.forward:.3f}",
        f"{1e3 * costs.reverse:.3f}",
        f"{costs.entries:,}",
        f"{costs.saved_bytes:,}",
    )


@spending.unlimited()
def profile(f: Callable[..., Any], args: Any, kwargs: Any) -> GradientProfile:
    """Measure a gradient with respect to all arguments, and restore everything."""
    once(f, args, kwargs, ProfileContext())  # derives what is called, makes the fused forms
    ctx = ProfileContext()
    value = once(f, args, kwargs, ctx)
    found = [line for line in ctx.lines.values() if line.seconds or line.entries]
    costliest_first = sorted(found, key=lambda line: -line.seconds)
    return GradientProfile(costliest_first, value, compiled_outcomes(ctx.called.values()))


def once(f: Callable[..., Any], args: Any, kwargs: Any, ctx: ProfileContext) -> Any:
    """Run a gradient in a context, and return the value."""
    ctx.start()
    try:
        with running(ctx, f, args, kwargs) as output:
            ctx.stop()
            value = scalar_value(f, output)
            if type(output) is Active:
                output.add(1.0)
            elif type(output) is ndarray and (node := ctx.find(output)) is not None:
                node.add_shared(np.ones(output.shape, output.dtype))
            del output
            ctx.run_backwards()
    finally:
        ctx.stop()
    return value


class ProfileContext(WatchedContext):
    """One reverse-mode call that is timed."""

    def __init__(self) -> None:
        super().__init__()
        self.first: Line | None = None  # of the outermost function, if it may run compiled
        self.lines: dict[Line, LineProfile] = {}
        self.current: Line | None = None
        self.callers: list[Line | None] = []
        self.traces = False
        self.followed: dict[int, bool] = {}
        self.codes: list[CodeType] = []  # ids must not be reused

    def at(self, line: Line) -> LineProfile:
        """Return the profile of a line."""
        found = self.lines.get(line)
        if found is None:
            source = linecache.getline(*line).strip()
            found = self.lines[line] = LineProfile(*line, source)
        return found

    # Forward.

    def start(self) -> None:
        """Begin to note lines."""
        self.traces = True
        self.outer_trace = sys.gettrace()
        self.since = clock()
        sys.settrace(self.entered)

    def stop(self) -> None:
        """Stop timing lines."""
        if self.traces:
            self.traces = False
            sys.settrace(self.outer_trace)
            self.turn_to(None)

    @override
    def call_function(self, f: FunctionType, args: Any, kwargs: Any) -> Any:
        if self.compiles and self.current is None:  # compiled as a whole it tells of no line
            self.first = f.__code__.co_filename, f.__code__.co_firstlineno
            self.turn_to(self.first)
        return super().call_function(f, args, kwargs)

    def turn_to(self, line: Line | None) -> None:
        """Add the elapsed time to the line that has run, and start timing the next."""
        now = clock()
        if self.current is not None:
            self.at(self.current).forward += now - self.since
        self.current = line
        self.since = clock()

    def entered(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Handle the start of a call: follow it if it is rewritten user code."""
        code = frame.f_code
        try:
            followed = self.followed[id(code)]
        except KeyError:
            followed = self.followed[id(code)] = is_followed(code)
            self.codes.append(code)
        if not followed:
            return None
        self.callers.append(self.current)
        self.turn_to((code.co_filename, frame.f_lineno))
        return self.moved

    def moved(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Handle a line, or the end of a call."""
        if event == "return":
            self.turn_to(self.callers.pop() if self.callers else None)
        elif event == "line":
            self.turn_to((frame.f_code.co_filename, frame.f_lineno))
        return self.moved

    @override
    def record_with_note(self, entry: tuple[Any, ...]) -> None:
        before = clock()
        super().record_with_note(entry)
        self.since += clock() - before  # what only the profile costs

    # Backward.

    @override
    def run_backwards(self) -> None:
        tape, notes = self.tape, self.notes
        del notes[len(tape) :]
        lines = [self.line_of(note) for note in notes]
        for note, line in zip(notes, lines, strict=True):
            if line is not None:
                line.entries += 1
                line.saved_bytes += note.nbytes
        self.accounted.clear()  # or nothing would be freed on the way back
        with np.errstate(all="ignore"):
            while tape:
                with self.taking() as entry:
                    del notes[len(tape) + 1 :]  # a part that ran again has taken its entries
                    line = self.line_of(notes.pop())
                    before = clock()
                    entry[0](entry)
                if line is not None:
                    line.reverse += clock() - before

    def line_of(self, note: Any) -> LineProfile | None:
        """Return the line that recorded an entry, or the first line if no line was running."""
        where = place_at(note.position)
        line = self.first if where is None else (where.file, where.line)
        return None if line is None else self.at(line)


def is_followed(code: CodeType) -> bool:
    """Return whether code is rewritten user code."""
    return is_rewritten(code) and not is_library(code.co_filename)
