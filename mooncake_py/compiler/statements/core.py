"""The operations of a statement with known functions, and those among them on arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from mooncake_py.compiler.regions.ir import Call, Expr, Name, Op, parts_of, rebuilt
from mooncake_py.compiler.regions.steps import Names, Steps
from mooncake_py.compiler.statements.array_partials import declared, is_conjugate, is_int
from mooncake_py.compiler.statements.choices import is_choice
from mooncake_py.compiler.statements.contractions import (
    is_contraction,
    is_sum,
    ndim_of,
    shape_of,
)
from mooncake_py.compiler.statements.methods import is_method, of_array, of_arrays
from mooncake_py.compiler.statements.reductions import is_reduction
from mooncake_py.compiler.statements.statement import Statement
from mooncake_py.compiler.statements.views import VIEWS

__all__ = ["Core", "bound"]

Shape = tuple[int, ...]


class Core:
    """The value of a statement as a sequence of operations; equal if it is the same one.

    Parameters
    ----------
    statement : Statement
    functions : tuple of callable

    Attributes
    ----------
    value : Expr
    lets : list of Let
        The operations t0, t1, ... over the operands v0, v1, ...
    root : Expr
        The value: mostly the name of the last one.
    objects : list of Expr
        Those of which methods are called.
    contractions, sums, reductions : list of Let
        Those that are products of vectors or matrices, sums, or reductions along axes.
    """

    def __init__(self, statement: Statement, functions: tuple[Any, ...]) -> None:
        self.statement = statement
        self.functions = functions
        steps = Steps(Names("t"), None)
        value = bound(statement.value, functions)
        self.value = of_arrays(value)
        self.root = steps.of(value)
        self.objects = [let.value.args[0] for let in steps.lets if is_method(let.value)]
        self.lets = [of_array(let) for let in steps.lets]
        self.contractions = [let for let in self.lets if is_contraction(let.value)]
        self.sums = [let for let in self.lets if is_sum(let.value)]
        self.reductions = [let for let in self.lets if is_reduction(let.value)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Core):
            return NotImplemented
        return (self.statement, self.functions) == (other.statement, other.functions)

    def __hash__(self) -> int:
        return hash((self.statement, self.functions))

    @property
    def is_declared(self) -> bool:
        """Whether all functions compute, with derivatives that are known, or make views."""
        calls = [let.value for let in self.lets if isinstance(let.value, Call)]
        views = [part.function for part in self.statement.views]
        return all(map(has_derivative, calls)) and all(
            isinstance(k, str) or any(self.functions[k] is f for f in VIEWS) for k in views
        )

    def once(self, statement: Statement) -> list[str]:
        """Return the test, if there is one, that the program may not see how NumPy warns.

        Operations that occur twice run once; what is computed for a target to which it cannot be
        written in this way is computed again; and sums warn at another place.
        """
        repeats = count(self.value) > len(self.lets)
        tells = repeats or self.sums or statement.target is not None
        return ["not may_be_caught()"] if tells else []

    @property
    def by_operator(self) -> bool:
        """Whether the target is changed by an operator, if it is an array."""
        return self.statement.augments and not self.statement.into

    @property
    def change(self) -> Expr:
        """Of an augmented assignment by an operator, the right operand."""
        assert isinstance(self.lets[-1].value, Op)
        return self.lets[-1].value.args[1]

    @cached_property
    def roles(self) -> tuple[set[str], set[str]]:
        """The names that are contracted, and those that other operations read."""
        contracted: set[str] = set()
        elementwise: set[str] = set()
        for let in self.lets:
            role = contracted if is_contraction(let.value) else elementwise
            role.update(part.name for part in parts_of(let.value) if isinstance(part, Name))
        return contracted, elementwise

    def shapes(self, operands: Mapping[str, Shape], count: int) -> dict[str, Shape]:
        """Return the shapes of the results of the first operations, and those of the operands.

        Raises
        ------
        ValueError
            If shapes do not fit.
        """
        found = dict(operands)
        for let in self.lets[:count]:
            shapes = [found[e.name] if isinstance(e, Name) else () for e in parts_of(let.value)]
            found[let.name] = shape_of(let.value, shapes)
        return found

    def arrays(self, ndims: Mapping[str, int]) -> set[str]:
        """Return the names of what is an array: inner products are numbers.

        Parameters
        ----------
        ndims : dict of str to int
            Of the operands that are arrays, how many axes they have; 0 if no one knows.
        """
        found = set(ndims)
        known = dict(ndims)
        for let in self.lets:
            e = let.value
            if is_contraction(e):
                left, right = [known[part.name] for part in parts_of(e) if isinstance(part, Name)]
                known[let.name] = ndim_of(e, left, right)
                if known[let.name]:
                    found.add(let.name)
            elif not is_sum(e) and not is_int(e) and any(on_array(a, found) for a in parts_of(e)):
                found.add(let.name)
        return found


def count(e: Expr) -> int:
    """Return how many operations there are in an expression."""
    parts = parts_of(e)
    return (1 if parts else 0) + sum(map(count, parts))


def has_derivative(e: Call) -> bool:
    """Return True for a call whose derivatives are declared."""
    linear = is_sum(e) or is_contraction(e) or is_reduction(e) or is_choice(e) or is_conjugate(e)
    return bool(linear or declared(e))


def on_array(e: Expr, arrays: set[str]) -> bool:
    """Return True if an operand is an array."""
    return isinstance(e, Name) and e.name in arrays


def bound(e: Expr, functions: Sequence[Any]) -> Expr:
    """Return an expression with functions in the place of their positions, if it has such."""
    parts = parts_of(e)
    if not parts:
        return e
    given = tuple([bound(part, functions) for part in parts])
    if isinstance(e, Call):
        f = e.function
        return Call(functions[f] if type(f) is int else f, given, place=e.place)
    return rebuilt(e, given)
