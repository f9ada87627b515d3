"""Names that are the same in each reading of a function, whatever else is read: findings have them.

They follow from where something is made: the call of a function within its callers, the statement,
and how often that came before.
"""

from __future__ import annotations

from collections import Counter
from types import CodeType
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.findings import Findings

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.scope import Scope

__all__ = ["Naming"]


class Naming:
    """Names calls of functions, and the objects, lists and dicts that they make.

    Attributes
    ----------
    scopes : list of Scope
        Of the functions that are being read, the outermost one first.
    entered : Counter
        How often which function was called from where, and what was made where.
    born : dict of str to int
        When objects, lists and dicts were made, by their names.
    """

    b: Builder
    findings: Findings
    scopes: list[Scope]
    entered: Counter[Any]
    born: dict[str, int]

    def scope_name(self, code: CodeType) -> str:
        """Return the prefix of the names of the variables of a call."""
        return self.steady_name("u", code.co_name, code.co_firstlineno)

    def name_made(self, kind: str) -> str:
        """Return a name for a new object, list or dict."""
        name = self.steady_name(kind)
        self.b.count += 1
        self.born[name] = self.b.count
        return name

    def serial(self, name: str) -> int:
        """Return when what has a name was made, 0 for what is passed or has the name of a slot."""
        return self.born.get(name, 0)

    def steady_name(self, kind: str, *parts: Any) -> str:
        """Return a name that begins with its kind."""
        outer = self.scopes[-1].prefix if self.scopes else ""
        key = kind, outer, self.b.place, *parts
        self.entered[key] += 1
        names = self.findings.names
        return names.setdefault((*key, self.entered[key]), f"{kind}{len(names) + 1}")
