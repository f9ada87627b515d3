"""The parts of a function that cannot be rewritten, and the errors that name them.

Most of it is refused where it is reached: a branch that is not taken, or code that does not run for
these arguments, does no harm.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType
from typing import Any

from mooncake_py.errors import Location, UnsupportedSyntaxError
from mooncake_py.syntax.compiled import walk_code
from mooncake_py.syntax.nodes import PREFIX

__all__ = ["Refusal", "Unsupported"]

ASYNCHRONOUS = "an event loop runs other code in between, whose effects could not be undone"
SCOPE = "it reads or writes local variables by name, which the rewritten code cannot follow"
TEXT = "it runs code from a text, which is not rewritten and so cannot be differentiated"
TARGET = "a comprehension that assigns to an element or an attribute"
RUNS_AGAIN = "the body of a loop over checkpointed(...) runs again, which this cannot"
RESERVED = f"names that begin with {PREFIX!r} are reserved for generated code"

_FIXES = {
    ASYNCHRONOUS: "make the differentiated part an ordinary function and await outside it",
    SCOPE: "name the variables, or use a dict of your own",
    TEXT: "write the expression as code, or pass a function instead of the text",
    TARGET: "write a for statement",
    RUNS_AGAIN: "loop over the items themselves, write super(Class, self), name the variables",
    RESERVED: "rename them",
}
_NAMED = ("id", "arg", "name", "asname", "rest")


class Unsupported:
    """Places of one function, by its code, that cannot be rewritten."""

    def __init__(self, code: CodeType) -> None:
        self._code = code
        self._places: list[tuple[Any, str]] = []
        self._at_once = False  # whether a place is among them that nothing can be derived with

    def add(self, node: Any, why: str) -> None:
        """Record a place without which the function cannot be derived."""
        self._places.append((node, why))
        self._at_once = True

    def add_reached(self, node: Any, why: str) -> Refusal:
        """Record a place, and return what refuses it when it is reached.

        `why` is one of the reasons of this module.
        """
        self._places.append((node, why))
        return Refusal(self, node)

    def add_reserved_names(self, node: ast.AST) -> None:
        """Record names of the user's that generated names could clash with, at any depth."""
        names = {
            name
            for code in walk_code(self._code)
            for name in code.co_names + code.co_varnames + code.co_freevars + code.co_cellvars
        }
        if any(name.startswith(PREFIX) for name in names):
            for item in _reserved(node):
                self.add(item, RESERVED)

    def raise_at_once(self) -> None:
        """Raise the error for what the function cannot be derived with."""
        if self._at_once:
            raise self.error()

    def error(self, reached: Any = None) -> UnsupportedSyntaxError:
        """Return one error that lists all places, in the order of the source.

        It is raised at that which is reached, or at the first.
        """
        places = sorted(self._places, key=lambda place: (place[0].lineno, place[0].col_offset))
        name = self._code.co_qualname
        lines: list[str] = []
        reasons = list(dict.fromkeys(why for _, why in places))
        for reason in reasons:
            lines.append(reason + ":")
            for node, why in places:
                if why == reason:
                    where = self._location(node)
                    lines.append(f"  {where}")
                    lines.extend(f"    {row}" for row in where.excerpt())
        return UnsupportedSyntaxError(
            f"{name} uses syntax that cannot be differentiated ({len(places)} places)"
            if len(places) > 1
            else f"{name} uses syntax that cannot be differentiated",
            where=self._location(places[0][0] if reached is None else reached),
            why="\n".join(lines) if len(places) > 1 else reasons[0],
            fix="\n".join(dict.fromkeys(_FIXES[why] for why in reasons)),
        )

    def _location(self, node: Any) -> Location:
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        return Location(
            self._code.co_filename, node.lineno, self._code.co_qualname, node.col_offset, end
        )


class Refusal:
    """Makes the error for a place that is reached."""

    def __init__(self, unsupported: Unsupported, node: Any) -> None:
        self._unsupported = unsupported
        self._node = node

    def __call__(self) -> UnsupportedSyntaxError:
        """Return the error."""
        return self._unsupported.error(self._node)

    def __repr__(self) -> str:
        return f"refusal of line {self._node.lineno}"


def _reserved(node: ast.AST) -> Iterator[ast.AST]:
    for item in ast.walk(node):
        names = [getattr(item, field, None) for field in _NAMED]
        names += getattr(item, "names", [])
        if any(isinstance(name, str) and name.startswith(PREFIX) for name in names):
            yield item
