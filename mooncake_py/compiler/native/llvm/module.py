"""The common parts of the functions of a module: declarations, helpers, metadata, and exits."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from mooncake_py.compiler.native.llvm.called import digest, fingerprint
from mooncake_py.compiler.native.llvm.helpers import HELPERS
from mooncake_py.compiler.native.llvm.numbers import REGISTER
from mooncake_py.compiler.native.llvm.signature import Foreign, Shaped
from mooncake_py.compiler.native.regions.region import BOOL
from mooncake_py.compiler.regions.ir import Statement

__all__ = ["Module"]

WEIGHTS = {"often": "i32 2000, i32 1", "rare": "i32 1, i32 2000"}
"""Of branches that go one way nearly always."""


class Module:
    """A text in the making.

    Parameters
    ----------
    has_blas : callable
        Returns whether there are products of matrices by BLAS: asked where there is one, since
        who looks imports a part of SciPy.

    Attributes
    ----------
    foreign : dict of str to Foreign
        Functions of Python that are called, by their symbols.
    checks : list of Statement
        What may end a function early: its number, counted from 1, is the code.
    is_lasting : bool
        Whether symbols are the same in every process.
    """

    def __init__(self, *, has_blas: Callable[[], bool]) -> None:
        self.has_blas = has_blas
        self.functions: list[str] = []
        self.foreign: dict[str, Foreign] = {}
        self.checks: list[Statement] = []
        self.is_lasting = True
        self._declared: dict[str, str] = {}
        self._helpers: dict[str, str] = {}
        self._metadata: list[str] = []
        self._shared: dict[str, int] = {}
        self._symbols: dict[Any, str] = {}
        self._numbers = count()
        self._codes: dict[int, int] = {}

    @property
    def text(self) -> str:
        """All of it."""
        metadata = [f"!{k} = {node}" for k, node in enumerate(self._metadata)]
        parts = [*self._declared.values(), *self._helpers.values(), *self.functions, *metadata]
        return "\n".join(parts) + "\n"

    def declare(self, name: str, text: str) -> None:
        """Declare a function that the text calls."""
        self._declared[name] = text

    def helper(self, name: str) -> None:
        """Take up one of our functions, with those that it calls."""
        if name in self._helpers:
            return
        helper = HELPERS[name]
        self._helpers[name] = helper.text
        for called, text in helper.declares.items():
            self.declare(called, text)
        for called in helper.calls:
            self.helper(called)

    def node(self, made: Callable[[int], str]) -> int:
        """Return the number of a new node of metadata, which may mention it."""
        number = len(self._metadata)
        self._metadata.append(made(number))
        return number

    def set_node(self, number: int, text: str) -> None:
        """Replace a node of metadata."""
        self._metadata[number] = text

    def shared(self, text: str) -> int:
        """Return the number of a node of metadata that others have too."""
        if text not in self._shared:
            self._shared[text] = self.node(lambda _: text)
        return self._shared[text]

    @property
    def rare(self) -> str:
        """The metadata written after a branch that is hardly ever taken."""
        return self._weighted("rare")

    @property
    def often(self) -> str:
        """The metadata written after a branch that is nearly always taken."""
        return self._weighted("often")

    def _weighted(self, how: str) -> str:
        node = self.shared(f'!{{!"branch_weights", {WEIGHTS[how]}}}')
        return f", !prof !{node}"

    def code_of(self, s: Statement) -> int:
        """Return the number of a statement that may end a function early."""
        found = self._codes.get(id(s))
        if found is None:
            self.checks.append(s)
            found = self._codes[id(s)] = len(self.checks)
        return found

    def symbol_of(self, f: Any, kinds: tuple[Shaped, ...], result: str) -> str:
        """Return the symbol of a function of Python, and declare it."""
        key = f, kinds
        if key in self._symbols:
            return self._symbols[key]
        known = fingerprint(f)
        if known is None:
            self.is_lasting = False
        mark = f"own{next(self._numbers)}" if known is None else digest(f"{known}{kinds!r}")
        symbol = self._symbols[key] = f"mc_call_{mark}"
        types: list[str] = []
        for kind, axes in kinds:
            types += [as_passed(kind)] if axes is None else ["ptr", *["i64"] * axes]
        if are_numbers(kinds):
            types.append("ptr")
        self.declare(symbol, f"declare i8 @{symbol}({', '.join(types)}) nounwind")
        self.foreign[symbol] = Foreign(f, kinds, result)
        return symbol


def are_numbers(kinds: tuple[Shaped, ...]) -> bool:
    """Return True if a function takes numbers only, and so gives one back."""
    return all(axes is None for _, axes in kinds)


def as_passed(kind: str) -> str:
    """Return the type as which a number is passed to a function of C."""
    return "i8" if kind == BOOL else REGISTER[kind]
