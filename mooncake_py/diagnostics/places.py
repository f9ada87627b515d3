"""Positions in the user's source, found from the frames of rewritten code."""

from __future__ import annotations

import os
import re
import sys
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

from mooncake_py.by_identity import answers_itself
from mooncake_py.errors import Location, MooncakeError, describe
from mooncake_py.modules import module_of
from mooncake_py.rooms import PACKAGE, is_engine
from mooncake_py.rules.kinds import Rule
from mooncake_py.rules.refusing import may_raise

__all__ = [
    "GENERATED", "OWN", "Position", "current_place", "definition_of", "is_library",
    "is_rewritten", "name_library", "outside", "place_at", "position_for_rule", "positions_running",
    "start_of", "users_function",
]  # fmt: skip

OF_A_LOOP = re.compile(r"\.<locals>\._mk_body\d+")
"""In the name of a function that was made of the body of a loop."""


class Position(NamedTuple):
    """Code and the offset of an instruction in it: a place that is cheap to remember."""

    code: CodeType
    offset: int


GENERATED = "<mooncake_py: "  # begins the names of files that exist in memory only
OWN = (PACKAGE, GENERATED)


def is_rewritten(code: CodeType) -> bool:
    """Return whether code was rewritten by the engine."""
    of_context = "_mk_ctx" in code.co_varnames or "_mk_ctx" in code.co_freevars
    return of_context and not code.co_filename.startswith(GENERATED)


LIBRARIES = (PACKAGE, os.path.dirname(os.__file__) + os.sep, os.path.dirname(np.__file__) + os.sep)
INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


@lru_cache(maxsize=256)
def is_library(file: str) -> bool:
    """Return whether a file is installed, not written by whoever reads a message about it.

    Code without a file that could be derived all the same was made by a library.
    """
    if file.startswith(("<frozen ", "<string>", *LIBRARIES)):
        return True
    return any(part in file for part in INSTALLED)


def current_place(depth: int = 1) -> tuple[Location | None, Location | None]:
    """Return where rewritten code is being run: the user's line, and the innermost one."""
    position, innermost = positions_running(depth + 1)
    return place_at(position), place_at(innermost)


def positions_running(depth: int = 1) -> tuple[Position | None, Position | None]:
    """Return the positions of the rewritten code that runs, in the user's files and innermost."""
    frame: FrameType | None = sys._getframe(depth)
    innermost = None
    while frame is not None:
        code = frame.f_code
        # The engine itself is never rewritten: told by its file, which is quicker.
        if not is_engine(code.co_filename) and is_rewritten(code):
            position = Position(code, frame.f_lasti)
            innermost = innermost or position
            if not is_library(code.co_filename):
                return position, innermost
        frame = frame.f_back
    return innermost, innermost


def position_for_rule(rule: Rule, pullback: Any) -> Position | None:
    """Return the running position, for a rule whose pullback may raise."""
    return positions_running(2)[0] if may_raise(rule, pullback) else None


def name_library(error: MooncakeError) -> None:
    """Add the library's line to an error that arose in a library, after the user's line."""
    where, innermost = current_place(2)
    if innermost is None or innermost == where or error.where != where:
        return
    if innermost.file.startswith(PACKAGE) or str(innermost) in error.why:
        return
    error.why = f"{error.why}\n" * bool(error.why) + f"it arose in {innermost}"
    error.args = (describe(error.what, where=where, why=error.why, fix=error.fix),)


def place_at(position: Position | None) -> Location | None:
    """Return file, line and columns of a position in code."""
    if position is None:
        return None
    code, offset = position
    line, end_line, column, end_column = list(code.co_positions())[offset // 2]
    if end_line != line:
        end_column = None
    function = OF_A_LOOP.sub("", code.co_qualname)
    return Location(code.co_filename, line or code.co_firstlineno, function, column, end_column)


def users_function(f: Any) -> Any:
    """Return the user's function, where `f` is one of this package that calls it."""
    for _ in range(DEEPEST):
        called = called_by(f)
        if called is None:
            break
        f = called
    return f


DEEPEST = 16  # derivatives of derivatives


def called_by(f: Any) -> Any:
    """Return the function that a function or derivative of this package wraps, else None."""
    code = code_of(f)
    if code is None:
        return getattr(f, "__wrapped__", None) if module_of(type(f)).startswith(NAME) else None
    name = next((name for name in CALLED if name in code.co_freevars), None)
    if name is None or not code.co_filename.startswith(PACKAGE):
        return None
    try:
        return f.__closure__[code.co_freevars.index(name)].cell_contents
    except ValueError:  # the cell is empty
        return None


def code_of(f: Any) -> CodeType | None:
    """Return the code of a function, None for an object that would answer the question itself."""
    asked = answers_itself(f, "__getattribute__", "__getattr__")
    return None if asked else getattr(f, "__code__", None)


CALLED = ("f", "function", "residual")
NAME = f"{__name__.partition('.')[0]}."


def definition_of(f: Any) -> Location | None:
    """Return where a Python function is defined, or None if that is not known."""
    code = code_of(users_function(f))
    return None if code is None else start_of(code)


def outside(where: Location | None, f: Any) -> Location | None:
    """Return a place; where that is in this package, the one where `f` is defined."""
    if where is not None and not where.file.startswith(PACKAGE):
        return where
    return definition_of(f) or where


def start_of(code: CodeType) -> Location:
    """Return where code begins."""
    return Location(code.co_filename, code.co_firstlineno, code.co_qualname)
