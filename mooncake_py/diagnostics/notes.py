"""Notes on exceptions: where in the user's code they arose, and in which adjoint."""

from __future__ import annotations

import re
from typing import Any

from mooncake_py.diagnostics.pages import PAGES
from mooncake_py.diagnostics.places import Position, is_library, is_rewritten, place_at
from mooncake_py.diagnostics.reporting import Error, Reporting
from mooncake_py.diagnostics.tracebacks import hint
from mooncake_py.errors import Location, MooncakeError, describe
from mooncake_py.rooms import PACKAGE
from mooncake_py.rules.kinds import Rule

__all__ = [
    "add_place", "advise", "in_plain_words", "locate", "locate_by_traceback", "located",
    "name_adjoint", "note_adjoint", "without_context",
]  # fmt: skip

# Patterns, which `re` compiles when there is an error.
COUNTS = (
    r"(?P<positional>\d+) positional arguments? "
    r"\(and (?P<keyword_only>\d+) keyword-only arguments?\) were given"
)
ENGINE = r"mooncake_py\.(?:modes|language|runtime|application|boundary)\.[\w.]+\(\)"  # by CPython
SAVING = PAGES["memory"]
MARK = "mooncake_py: while differentiating, at"
NAMED_BY_DEBUG = "debug=True names the line"


def in_plain_words(error: Exception) -> None:
    """Leave the engine's functions out of CPython's text for a call that does not fit."""
    if isinstance(error, TypeError) and error.args and isinstance(error.args[0], str):
        error.args = (re.sub(ENGINE, "function", error.args[0]), *error.args[1:])


def add_place(error: Exception) -> None:
    """Add a note with the user's line, unless there is one."""
    place = user_place(error)
    if place is not None and not any(MARK in note for note in getattr(error, "__notes__", ())):
        line = place._replace(column=None)
        error.add_note(f"{MARK} {line}{hint()}")


def advise(error: Exception) -> None:
    """Add a note to a `MemoryError` of a derivative that says how to keep less."""
    if isinstance(error, MemoryError):
        error.add_note(f"mooncake_py: the record of the forward pass takes memory;\n{SAVING}")


def name_adjoint(error: Exception, entry: tuple[Any, ...]) -> None:
    """Add a note with the function whose adjoint raised, and the line of its call if known."""
    advise(error)
    position = next((part for part in entry if type(part) is Position), None)
    rule = next((part for part in entry if isinstance(part, Rule)), None)
    where = place_at(position)
    if where is not None and where.file.startswith(PACKAGE):
        where = None  # a rule that is itself differentiated: the entry of its call says where
    if isinstance(error, MooncakeError):
        locate(error, where)
        refer_to_debug(error)
    elif rule is not None:
        note_adjoint(error, rule.name, where)
    else:
        error.add_note(f"mooncake_py: in an adjoint; {NAMED_BY_DEBUG}")


def refer_to_debug(error: MooncakeError) -> None:
    """Let an error without a line have a note that debug mode finds it."""
    note = f"mooncake_py: {NAMED_BY_DEBUG}"
    notes = getattr(error, "__notes__", [])
    if error.where is None and not notes:
        error.add_note(note)
    elif error.where is not None and note in notes:
        notes.remove(note)


def locate_by_traceback(error: MooncakeError) -> None:
    """Add the user's line to an error that a rule raised, from the frames that it passed."""
    if error.where is None:
        locate(error, user_place(error))


def note_adjoint(error: Exception, operation: str, where: Location | None) -> None:
    """Add a note that names the operation whose adjoint raised an exception."""
    place = f", run at {where}" if where is not None else f"; {NAMED_BY_DEBUG}"
    error.add_note(f"mooncake_py: in the adjoint of {operation}{place}")


def locate(error: MooncakeError, where: Location | None) -> None:
    """Add the user's line to an error of this package, unless it has one."""
    if error.where is None and where is not None:
        error.where = where
        error.args = (describe(error.what, where=where, why=error.why, fix=error.fix),)


def located(ctx: Reporting, error: Error) -> Error:
    """Return an error that says where it arose, remembered by the call, to be raised."""
    locate(error, ctx.user_location())
    return ctx.failed(error)


def without_context(error: TypeError) -> None:
    """Leave the context out of the error for a call with the wrong number of arguments."""
    traceback = error.__traceback__
    if error.args and traceback is not None and traceback.tb_next is None:
        error.args = (re.sub(COUNTS, counted, str(error.args[0])),)


def counted(match: re.Match[str]) -> str:
    """Return the words of CPython for one keyword-only argument less."""
    positional, rest = match["positional"], int(match["keyword_only"]) - 1
    plural = "s" if positional != "1" else ""
    if not rest:
        return f"{positional} {'were' if plural else 'was'} given"
    more = f"{rest} keyword-only argument{'s' if rest > 1 else ''}"
    return f"{positional} positional argument{plural} (and {more}) were given"


def user_place(error: BaseException) -> Location | None:
    """Return the innermost place in the user's code that an exception passed through."""
    place = None
    found_own = False
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        own = not is_library(code.co_filename)
        if code.co_filename.startswith(PACKAGE):
            pass  # its own code that is derived: of no use to users
        elif is_rewritten(code) and (own or not found_own):
            place = Position(code, traceback.tb_lasti)
            found_own = own
        traceback = traceback.tb_next
    return place_at(place)
