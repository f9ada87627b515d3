"""Lines of the compiler that are changed on purpose, one at a time.

A change is the text of a line, or of a part of one, and what is in its place.  The functions in
which it stands get other code, wherever they were imported.  The text must be there, once: a break
whose line is gone tells so.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from tests.programs.breaking import Change, Patch

__all__ = ["Line", "break_line", "change_of", "require_line"]


class Line(NamedTuple):
    """A change of a line.

    Attributes
    ----------
    module : module
    old, new : str
    """

    module: ModuleType
    old: str
    new: str


def require_line(line: Line) -> str:
    """Return the text of the module; raise if it does not have the line once."""
    text = inspect.getsource(line.module)
    count = text.count(line.old)
    assert count == 1, f"{line.module.__name__} has {count} times {line.old!r}"
    return text


def break_line(patch: Patch, line: Line) -> None:
    """Change a line while a patch lasts."""
    text = require_line(line)
    name = line.module.__file__ or ""
    before = compile(text, name, "exec", dont_inherit=True)
    after = compile(text.replace(line.old, line.new), name, "exec", dont_inherit=True)
    changed = list(different(before, after))
    assert changed, f"{line.new!r} is what {line.module.__name__} has already"
    for path, code in changed:
        function: Any = line.module
        for part in path.split("."):
            function = inspect.getattr_static(function, part)
        function = getattr(function, "fget", None) or getattr(function, "func", function)
        patch.setattr(function, "__code__", code)


def change_of(name: str, line: Line, table: str) -> Change:
    """Return a break of a line, which is listed in a file."""

    def change(patch: Patch) -> None:
        break_line(patch, line)

    change.__name__ = name
    change.__code__ = change.__code__.replace(co_filename=table)  # see `breaking.path_of`
    return change


def different(before: CodeType, after: CodeType) -> Iterator[tuple[str, CodeType]]:
    """Yield the functions of a module, and the methods of its classes, that are not the same."""
    for one, other in zip(codes_in(before), codes_in(after), strict=True):
        if is_class(one):
            yield from different(one, other)
        elif one != other:
            yield one.co_qualname, other


def codes_in(code: CodeType) -> list[CodeType]:
    """Return the functions and classes that code makes."""
    return [c for c in code.co_consts if isinstance(c, CodeType)]


def is_class(code: CodeType) -> bool:
    """Whether code is the body of a class."""
    return "__module__" in code.co_names and "__qualname__" in code.co_names
