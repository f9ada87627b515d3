"""Marks for the lines of a function: recorded as one entry, or operation by operation."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import StrEnum
from types import CodeType
from typing import Any, NamedTuple

from mooncake_py.errors import UnsupportedSyntaxError
from mooncake_py.frontend.load import Derived, derive
from mooncake_py.reflection.code import readable
from mooncake_py.syntax.compiled import walk_code
from mooncake_py.syntax.source import locate

__all__ = ["Mark", "line_marks"]

FUNCTION = 0x1  # CO_OPTIMIZED: the body of a class has not
CALLS = {"call", "call_one", "method", "delegate"}
AGAIN = "run_again"
SILENT = {
    "lt", "le", "gt", "ge", "eq", "ne", "contained", "truth", "choose", "matching",
    "len", "iter", "items", "unpack", "peek", "key", "mapping", "manager", "format", "decorator",
    "class_statement", "chosen", "getattr", "link", "linked", "range_of", "raised", "cleaning",
}  # fmt: skip
"""Operations that record nothing by themselves."""


class Mark(StrEnum):
    """The way in which a line runs."""

    LOOP = "["
    IN_LOOP = "|"
    ENTRY = "="
    STEPS = "~"
    OPERATIONS = "-"


class Operation(NamedTuple):
    """A call of the context, and the line of its statement."""

    line: int
    name: str


def line_marks(code: CodeType, globals_: dict[str, Any]) -> dict[int, Mark]:
    """Return the marks of the lines of a function and of those nested in it."""
    marks: dict[int, Mark] = {}
    for part in walk_code(code):
        if part.co_flags & FUNCTION and (part is code or is_function(part)):
            try:
                marks |= marks_of(part, derive(part, globals_))
            except UnsupportedSyntaxError:
                if part is code:
                    raise  # a nested function may never be called
    return marks


def is_function(code: CodeType) -> bool:
    """Whether a code object is that of a function, not of a comprehension."""
    return code.co_name == "<lambda>" or not code.co_name.startswith("<")


def marks_of(code: CodeType, derived: Derived) -> dict[int, Mark]:
    """Return the marks of the lines of one function."""
    names: dict[int, list[str]] = {}
    for operation in operations(readable(derived), derived.node.lineno):
        names.setdefault(operation.line, []).append(operation.name)
    marks: dict[int, Mark] = {}
    for statement in ast.walk(locate(code).node):
        if isinstance(statement, ast.stmt | ast.Lambda):
            mark = mark_of(names.get(statement.lineno, []))
            if mark is Mark.LOOP:
                lines = range(statement.lineno + 1, last_line(statement) + 1)
                marks |= dict.fromkeys(lines, Mark.IN_LOOP)
            if mark is not None and marks.get(statement.lineno) is not Mark.IN_LOOP:
                last = statement.lineno if hasattr(statement, "body") else last_line(statement)
                for line in range(statement.lineno, last + 1):
                    marks.setdefault(line, mark)
    return marks


def mark_of(names: list[str]) -> Mark | None:
    """Return the mark for the operations of a statement."""
    if "fused_loop" in names:
        return Mark.LOOP
    if AGAIN in names:
        return Mark.STEPS
    recording = [name for name in names if name not in SILENT]
    if not recording:
        return None
    computing = [name for name in recording if name != "setattr"]
    is_one = len(computing) <= 1 and CALLS.isdisjoint(computing)
    return Mark.ENTRY if is_one else Mark.OPERATIONS


def last_line(node: ast.stmt | ast.Lambda) -> int:
    """Return the last line of a node."""
    return node.end_lineno or node.lineno


def operations(node: ast.AST, line: int) -> Iterator[Operation]:
    """Yield the calls of the context, except those to which a trial falls back."""
    line = node.lineno if isinstance(node, ast.stmt) else line
    match node:
        case ast.Attribute(value=ast.Name(id="C"), attr=name):
            yield Operation(line, name)
        case ast.If(test=ast.Compare(comparators=[ast.Name(id="Elsewhere")])):
            parts = [node.test, *node.orelse]
            yield from (found for part in parts for found in operations(part, line))
            return
    for child in ast.iter_child_nodes(node):
        yield from operations(child, line)
