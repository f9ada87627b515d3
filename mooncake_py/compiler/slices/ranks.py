"""How many axes the names of a region have, from those of the arrays that it is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mooncake_py.compiler.regions.ir import (
    Assign,
    Block,
    Call,
    Const,
    End,
    Expr,
    Length,
    Let,
    Load,
    Name,
    Op,
    Sliced,
    parts_of,
    statements,
    walk,
)
from mooncake_py.compiler.slices.calls.arguments import Arguments, arguments_of
from mooncake_py.compiler.slices.calls.examples import rank_of
from mooncake_py.compiler.slices.calls.operations import operation_of
from mooncake_py.compiler.slices.plans import example
from mooncake_py.compiler.statements.core import Core
from mooncake_py.compiler.statements.views import read_part

__all__ = ["ARITHMETIC", "Ranks", "UnknownRankError"]

Binding = Assign | Let | Sliced
ARITHMETIC = frozenset({"add", "sub", "mul", "truediv", "neg", "pow"})


class UnknownRankError(Exception):
    """Something of which no one can tell whether it is a number or an array."""


class Ranks:
    """The axes of names and arrays.

    Parameters
    ----------
    body : Block
    functions : sequence of callable
    axes : mapping of str to int
        Of the inputs that are arrays, or lists of such.

    Attributes
    ----------
    found : dict of str to int
        Of all that is an array.

    Raises
    ------
    UnknownRankError
        If a name is bound to arrays here and to numbers there, or an operation on arrays is none
        of a statement.
    """

    def __init__(self, body: Block, functions: Sequence[Any], axes: Mapping[str, int]) -> None:
        self.functions = functions
        self.axes = axes
        self.found = dict(axes)
        bindings = list(bindings_in(body))
        while True:
            before = dict(self.found)
            for name, s in bindings:
                rank = self.of_value(s, is_certain=False)
                if rank:
                    self.found[name] = max(rank, self.found.get(name, 0))
            if self.found == before:
                break
        for name, s in bindings:
            if self.of_value(s) != self.found.get(name, 0):
                raise UnknownRankError

    def of_value(self, s: Binding, is_certain: bool = True) -> int:
        """Return the axes of what a statement binds; 0 for now where that is not certain."""
        try:
            if isinstance(s, Sliced):
                return self.of_sliced(s)
            rank = self.of(s.value)
            is_item = isinstance(s, Assign) and isinstance(s.target, End)
            return rank + 1 if is_item and rank else rank
        except UnknownRankError:
            if is_certain:
                raise
            return 0

    def of(self, e: Expr) -> int:
        """Return the axes of an expression."""
        match e:
            case Const() | Length():
                return 0
            case Name(name=name):
                return self.found.get(name, 0)
            case Load():
                return self.of_element(e)
        within = [self.of(part) for part in parts_of(e)]
        if not any(within):
            return 0
        if isinstance(e, Op) and e.op in ARITHMETIC:
            return max(within)
        if isinstance(e, Call) and type(self.function(e)) is np.ufunc:
            return max(within)
        raise UnknownRankError

    def function(self, e: Call) -> Any:
        """Return the function that is called."""
        return self.functions[e.function] if type(e.function) is int else e.function

    def of_element(self, e: Load) -> int:
        """Return the axes of an element, or of a row of elements."""
        self.see_numbers(*e.index)
        rank = self.found.get(e.array, len(e.index)) - len(e.index)
        if rank < 0:
            raise UnknownRankError
        return rank

    def see_numbers(self, *expressions: Expr) -> None:
        """Raise unless all that is read is numbers."""
        for e in expressions:
            for part in walk(e):
                if isinstance(part, Name | Load) and self.of(part):
                    raise UnknownRankError

    def of_sliced(self, s: Sliced) -> int:
        """Return the axes of the value of a statement on slices."""
        statement = s.statement
        arguments = arguments_of(statement.value)
        if arguments is not None:
            return self.of_call(s, arguments)
        core = Core(statement, tuple(self.functions))
        try:
            values = [example(v, self.found) for v in s.values]
            operands = [read_part(part, self.functions, values) for part in statement.layout]
            shapes = {f"v{k}": np.shape(v) for k, v in enumerate(operands)}
            shapes = core.shapes(shapes, len(core.lets))
        except (ValueError, IndexError, TypeError, KeyError):
            raise UnknownRankError from None
        return len(shapes[core.root.name]) if isinstance(core.root, Name) else 0

    def of_call(self, s: Sliced, arguments: Arguments) -> int:
        """Return the axes of the value of a call of a function on arrays."""
        operation = operation_of(self.function(s.statement.value), arguments)
        rank = None if operation is None else rank_of(s, operation, self.found)
        if rank is None:
            raise UnknownRankError
        return rank


def bindings_in(body: Block) -> Iterator[tuple[str, Binding]]:
    """Yield the statements that bind a name to a value, which may be an array, after the name.

    A list is one array of all that is appended to it.
    """
    for s in statements(body):
        match s:
            case Let(name=name):
                yield name, s
            case Assign(target=Name(name=name)) | Sliced(target=Name(name=name)):
                yield name, s
            case Assign(target=End(array=array)):
                yield array, s
