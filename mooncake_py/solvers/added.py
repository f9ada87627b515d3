"""Exceptions that callbacks raise only where the derivative of a solver evaluates them once more.

The plain call meets none of them.  A program that catches one would go on as it never does without
a derivative, so what it meets is an error of the engine.
"""

from __future__ import annotations

import dis
import signal
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from mooncake_py.boundary.arguments import name_of
from mooncake_py.diagnostics.notes import located
from mooncake_py.diagnostics.places import OWN, Position, is_library, place_at
from mooncake_py.errors import MooncakeError, SolverError

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["is_raised_by_name", "run_added"]

OF_PROCESS = (MooncakeError, MemoryError, RecursionError)
"""Exceptions that say nothing of where a callback is evaluated."""


def run_added(ctx: Mode, solver: Any, run: Callable[..., Any], *args: Any) -> Any:
    """Return ``run(*args)``, which evaluates callbacks where the plain call does not."""
    try:
        return run(*args)
    except Exception as error:
        refusal = refusal_of(ctx, solver, error)
        if refusal is None:
            raise
        raise refusal from error


def refusal_of(ctx: Mode, solver: Any, error: Exception) -> SolverError | None:
    """Return the error to be raised in place of an exception, None if no callback has raised it."""
    entries = list(entries_of(error))
    own = [entry for entry in entries if is_of_program(entry)]
    if isinstance(error, OF_PROCESS) or not own or is_of_signal(entries):
        return None
    first, last = own[0], own[-1]
    place = place_at(Position(last.tb_frame.f_code, last.tb_lasti))
    rows = [] if place is None else [f"| {row}" for row in place.excerpt()]
    kind, name = type(error).__name__, first.tb_frame.f_code.co_qualname
    return located(
        ctx,
        SolverError(
            f"{name} raised {kind} in an evaluation that the derivative of {name_of(solver)} adds",
            where=ctx.user_location(),
            why="a callback is evaluated more often for the derivative, perhaps at other points "
            "near those of\nthe solver, which itself has met no exception; it was raised at\n"
            + "\n".join([f"{place}", *rows]),
            fix="let the callback return a value there too; if it raises after a number of calls, "
            "allow for more,\nand if it takes items of an iterator, let it take them in its first "
            "call alone",
        ),
    )


def is_raised_by_name(error: Exception) -> bool:
    """Return whether an exception was raised by a statement of the program's."""
    entries = list(entries_of(error))
    if not entries or not is_of_program(entries[-1]):
        return False
    code = entries[-1].tb_frame.f_code.co_code
    return code[entries[-1].tb_lasti] == dis.opmap["RAISE_VARARGS"]


def entries_of(error: Exception) -> Iterator[TracebackType]:
    """Yield the entries of a traceback, the outermost first."""
    entry = error.__traceback__
    while entry is not None:
        yield entry
        entry = entry.tb_next


def is_of_program(entry: TracebackType) -> bool:
    """Return whether an entry is of the program's own code, as it was written or rewritten."""
    file = entry.tb_frame.f_code.co_filename
    return not (file.startswith(OWN) or is_library(file))


def is_of_signal(entries: list[TracebackType]) -> bool:
    """Return whether a handler of signals has raised, such as that of an alarm."""
    handlers = map(signal.getsignal, signal.valid_signals())
    codes = {getattr(handler, "__code__", None) for handler in handlers} - {None}
    return any(entry.tb_frame.f_code in codes for entry in entries)
