"""The source of a function with marks that show how its lines run."""

from __future__ import annotations

import ast
import linecache
import textwrap
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from mooncake_py.reflection.callees import Callee, CallMark, callees
from mooncake_py.reflection.code import is_docstring
from mooncake_py.reflection.marks import Mark, line_marks
from mooncake_py.syntax.source import locate

__all__ = ["marked_lines"]

LEGEND = {
    Mark.LOOP: "[ |  a loop that runs as one entry, where its values allow it",
    Mark.ENTRY: "=    one entry, if an operand is active",
    Mark.OPERATIONS: "-    operations not fused: an entry for each, if an operand is active",
    Mark.STEPS: "~    a loop whose steps run again on the way back",
}
CALLS = {
    CallMark.DERIVED: ">    calls a function derived from its own source",
    CallMark.CONSTANT: "0    calls a function without a derivative, its result is constant",
    CallMark.REFUSED: "!    calls a function that is refused on active values",
    CallMark.LATER: "?    calls a function that is known only at run time",
}


def marked_lines(f: Any, derived: FunctionType) -> list[str]:
    """Return the marked lines of the function that is derived for `f`, and a legend."""
    code = derived.__code__
    marks = line_marks(code, derived.__globals__)
    calls = sorted(callees(f, derived), key=lambda call: call.line)
    called = {
        line: "".join(sorted({call.mark for call in calls if call.line == line}))
        for line in {call.line for call in calls}
    }
    source = list(numbered_source(derived))
    width = max(map(len, called.values()), default=0)
    digits = len(str(source[-1][0]))
    lines = [
        f"{marks.get(n, ' ')}{called.get(n, ''):<{width}}  {n:>{digits}}  {text}".rstrip()
        for n, text in source
    ]
    return [*lines, "", *legend(set(marks.values()), calls)]


def numbered_source(derived: FunctionType) -> Iterator[tuple[int, str]]:
    """Yield the numbers of the user's lines and their text, without the docstring."""
    found = locate(derived.__code__)
    node: Any = found.node
    first = derived.__code__.co_firstlineno
    numbers = set(range(first, node.end_lineno + 1))
    if not isinstance(node, ast.Lambda) and len(node.body) > 1 and is_docstring(node.body[0]):
        numbers -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    texts = {number: linecache.getline(found.file, number).rstrip() for number in numbers}
    dedented = textwrap.dedent("\n".join(texts[number] for number in sorted(texts)))
    yield from zip(sorted(texts), dedented.split("\n"), strict=True)


def legend(marks: set[Mark], calls: list[Callee]) -> Iterator[str]:
    """Yield the meanings of the marks, and the called functions."""
    yield from (text for mark, text in LEGEND.items() if mark in marks)
    for mark, text in CALLS.items():
        names = dict.fromkeys(call.name for call in calls if call.mark is mark)
        if names:
            yield f"{text}: {', '.join(names)}"
