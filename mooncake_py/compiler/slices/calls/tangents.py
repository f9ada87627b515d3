"""The tangent of a call of a function on whole arrays, as other calls before it.

    y = np.convolve(u, k)       e0 = np.convolve(t_u, k)
                                e1 = np.convolve(u, t_k)
                                t_y = e0 + e1
                                y = np.convolve(u, k)

These are of the same kind, so that they have sweeps and tangents too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.derivatives.partials import NoPartial
from mooncake_py.compiler.regions.indices import EVERYTHING
from mooncake_py.compiler.regions.ir import Assign, Block, Name, Op, Sliced, Statement
from mooncake_py.compiler.slices.calls.arguments import (
    Arguments,
    Hole,
    Literal,
    Part,
    Several,
    arguments_of,
    called_with,
    replaced,
    zeros_of,
)
from mooncake_py.compiler.slices.calls.operations import (
    Chosen,
    Cleared,
    Constant,
    Operation,
    Pulled,
    Pushed,
    PushedChoice,
    operation_of,
)
from mooncake_py.compiler.statements.statement import Statement as OnArrays
from mooncake_py.compiler.statements.statement import index_in, operand

if TYPE_CHECKING:
    from mooncake_py.compiler.slices.tangent import SlicedPushforward

__all__ = ["tangent_of_call"]

Term = tuple[Any, Arguments]
"""A function, and how values and tangents of operands stand among its arguments."""


def tangent_of_call(s: Sliced, push: SlicedPushforward) -> Block:
    """Return what computes the tangent of a call.

    Raises
    ------
    NoPartial
        If its rule does not tell.
    """
    return CallTangent(s, push).block()


class CallTangent:
    """Makes the statements; a tangent of operand k is the hole -1 - k."""

    def __init__(self, s: Sliced, push: SlicedPushforward) -> None:
        arguments = arguments_of(s.statement.value)
        assert arguments is not None
        f = s.statement.value.function
        found = operation_of(push.functions[f] if type(f) is int else f, arguments)
        if found is None:
            raise NoPartial
        self.s = s
        self.push = push
        self.arguments = arguments
        self.operation: Operation = found

    def block(self) -> Block:
        """Return the statements."""
        assert self.s.target is not None
        name = self.push.names[self.s.target.name]
        terms = self.terms()
        if len(terms) == 1:
            return (self.statement(name, *terms[0]),)
        result: list[Statement] = []
        total = ""
        is_array = self.s.target.name in self.push.variables
        for k, term in enumerate(terms):
            part = self.temporary(is_array)
            result.append(self.statement(part, *term))
            last = name if k == len(terms) - 1 else self.temporary(is_array)
            if total:
                result.append(self.added(last, total, part, is_array))
            total = last if total else part
        return tuple(result)

    def temporary(self, is_array: bool) -> str:
        """Return a new name."""
        name = self.push.fresh()
        if is_array:
            self.push.temporaries.add(name)
        return name

    def added(self, name: str, a: str, b: str, is_array: bool) -> Statement:
        """Return what binds a name to a sum."""
        place = self.s.place
        if not is_array:
            return Assign(Name(name, place=place), Op("add", (Name(a), Name(b))), place=place)
        value = Op("add", (operand(0), operand(1)))
        statement = OnArrays(value, ((0, 1), (2, 1)), 3, certain=frozenset({1}))
        values = Name(a), EVERYTHING, Name(b)
        return Sliced(statement, values, Name(name, place=place), None, place=place)

    # The terms.

    def terms(self) -> list[Term]:
        """Return the calls whose sum the tangent is."""
        op, own = self.operation, self.arguments
        positions = sorted({path[0] for path, hole in own.holes if self.moves(hole)})
        positions = [k for k in positions if k not in op.flat]
        if isinstance(op, Constant) or not positions:
            return [(Cleared(op), own)]
        if any(map(self.moves, own.named_holes)):
            raise NoPartial
        if isinstance(op, Chosen):
            return [
                (PushedChoice(op, k), self.before(self.tangent_alone(own.positional[k])))
                for k in positions
            ]
        jointly, apart = op.linear_in
        if set(positions) <= set(jointly):
            return [(op.callee, self.moved(jointly))]
        if set(positions) <= set(apart):
            return [(op.callee, self.moved([k])) for k in positions]
        if isinstance(op, Pulled) and op.rule.jvp is not None:
            tangents = tuple(map(self.tangent_or_none, own.positional))
            return [(Pushed(op), self.before(Several(tangents, False)))]
        raise NoPartial

    def moves(self, hole: Hole) -> bool:
        """Return True for an operand that has a tangent."""
        return not hole.is_zero and self.array_or_name(hole.operand) in self.push.names

    def array_or_name(self, k: int) -> str:
        """Return the array that an operand is part of, or the number that it is."""
        part = self.s.statement.layout[k]
        return self.s.values[part if isinstance(part, int) else part[0]].name

    def before(self, first: Part) -> Arguments:
        """Return the arguments after another one."""
        own = self.arguments
        return own._replace(positional=(first, *own.positional))

    def tangent_alone(self, part: Part) -> Part:
        """Return the tangent of an argument that is an operand."""
        if not isinstance(part, Hole):
            raise NoPartial
        return Hole(-1 - part.operand)

    def tangent_or_none(self, part: Part) -> Part:
        """Return the tangent of an argument, None where there is none."""
        if isinstance(part, Hole) and self.moves(part):
            return Hole(-1 - part.operand)
        if isinstance(part, Several) and any(self.moves(h) for _, h in holes_in(part)):
            return part._replace(parts=tuple(map(self.tangent_or_none, part.parts)))
        return Literal(None)

    def moved(self, positions: Any) -> Arguments:
        """Return the arguments with tangents at some positions, zeros where there are none."""
        own = self.arguments
        return own._replace(
            positional=tuple(
                self.tangent_or_zero(part) if k in positions else part
                for k, part in enumerate(own.positional)
            )
        )

    def tangent_or_zero(self, part: Part) -> Part:
        """Return the tangent of an argument, zeros like it where there is none."""
        if isinstance(part, Hole):
            return Hole(-1 - part.operand) if self.moves(part) else zeros_of(part)
        if isinstance(part, Several):
            return part._replace(parts=tuple(map(self.tangent_or_zero, part.parts)))
        return zeros_of(part)

    # Their statements.

    def statement(self, name: str, function: Any, arguments: Arguments) -> Sliced:
        """Return the call that binds a name, with the operands that it has."""
        values: list[Any] = []
        layout: list[Any] = []

        def place(hole: Hole) -> Hole:
            is_tangent = hole.operand < 0
            part: Any = self.s.statement.layout[-1 - hole.operand if is_tangent else hole.operand]
            base = self.s.values[part if isinstance(part, int) else part[0]]
            own = index_in(values, Name(self.push.names[base.name]) if is_tangent else base)
            part = own if isinstance(part, int) else (own, index_in(values, self.s.values[part[1]]))
            if part not in layout:
                layout.append(part)
            return hole._replace(operand=layout.index(part))

        of: Callable[[Part], Part] = lambda part: replaced(part, place)  # noqa: E731
        found = arguments._replace(
            positional=tuple(map(of, arguments.positional)),
            named=tuple([(key, of(part)) for key, part in arguments.named]),
        )
        indices = frozenset(k for k, v in enumerate(values) if type(v) is tuple)
        value = called_with(function, len(layout), found)
        statement = OnArrays(value, tuple(layout), len(values), certain=indices)
        target = Name(name, place=self.s.place)
        return Sliced(statement, tuple(values), target, None, place=self.s.place)


def holes_in(part: Part) -> list[Any]:
    """Return the operands within a part."""
    return Arguments((part,)).holes
