"""The intermediate representation: structured, immutable, a source position on each node.

Grammar, as it is read and as tangents take and leave it::

    block     = statement*
    statement = Assign(Name | Load, e)      s = e     x[i, j] = e      a float
              | Let(name, e)                the same for a name of ours
              | Count(name, e)              k = e                      an int, without derivative
              | Check(test)                 leave the region unless test
              | For(name, range, block) | While(test, block) | If(test, block, block) | Break
    e         = Const | Name | Load(array, e*) | Length(array, axis) | Op(op, e*)
              | Compare(op*, e*) | Call(function, e*) | Select(test, e, e)

Indices, ranges and tests are expressions too.  `adjoint` adds what has no derivative of its own::

    statement = Finite(e) | Push(stack, e) | Bump(Name | Load, e)      e' += e
    e         = Pop(stack)

Where a whole function is read (`native`) statements on arrays are loops over scalar stores::

    statement = ForAll(counters, extents, block) | Alloc(name, shape, kind, zero)
              | Grow(name, least) | Apply(function, array, array*)
              | Reduce(op, Name | Load, counters, extents, counters, e) | Places(...)

Nodes are equal if they mean the same, wherever they stand.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

from mooncake_py.compiler.regions.node import Node
from mooncake_py.compiler.regions.wholes import Places, Reduce

__all__ = [
    "FLOATS", "INTS", "Alloc", "Apply", "Assign", "Block", "Break", "Bump", "Call",
    "Check", "Compare", "Const", "Count", "Expr", "Finite", "For", "ForAll", "Grow", "If",
    "Length", "Let", "Load", "Name", "Op", "Places", "Pop", "Push", "Reduce", "Select",
    "Statement", "Target", "While", "blocks_of", "parts_of", "rebuilt", "statements",
    "substituted", "walk", "with_blocks", "with_test", "with_value",
]  # fmt: skip

FLOATS, INTS = "floats", "ints"
"""The stacks on which the forward sweep saves what the way back needs."""


class Const(Node):
    """A number that is written down; None where a function does not read an argument.

    In comparisons it may be None or text too.
    """

    value: float | None

    @staticmethod
    def _meaning(e: Const) -> tuple[type, str]:
        return type(e.value), repr(e.value)  # 0.0 is neither 0 nor -0.0


class Name(Node):
    """A number that a name is bound to."""

    name: str


class Load(Node):
    """An element of an array, read or written."""

    array: str
    index: tuple[Expr, ...]


class Length(Node):
    """The length of an array along an axis, which no statement changes."""

    array: str
    axis: int

    @property
    def name(self) -> str:
        """The name under which it is passed."""
        return f"n{self.axis}_{self.array}"


class Op(Node):
    """An operator of Python, by the name that `operator` has for it, or a builtin."""

    op: str
    args: tuple[Expr, ...]


class Compare(Node):
    """A chain of comparisons: ``0 <= i < n``."""

    ops: tuple[str, ...]
    args: tuple[Expr, ...]


class Call(Node):
    """A call of a function: its number among those of the region, or itself once it is known."""

    function: Any
    args: tuple[Expr, ...]


class Select(Node):
    """``a if test else b``."""

    test: Expr
    a: Expr
    b: Expr


class Pop(Node):
    """The value that was pushed last."""

    stack: str


Expr = Const | Name | Load | Length | Op | Compare | Call | Select | Pop
Target = Name | Load


class Assign(Node):
    """``s = e`` or ``x[i] = e`` for numbers that may have a derivative."""

    target: Target
    value: Expr


class Let(Node):
    """``v = e`` for a name of ours, which is used in the same pass only."""

    name: str
    value: Expr


class Count(Node):
    """``k = e`` for an int, which has no derivative."""

    name: str
    value: Expr


class Check(Node):
    """Leave the region, whose trial failed, unless a test holds."""

    test: Expr


class Finite(Node):
    """Note a value that must be finite: otherwise the trial fails in the end."""

    value: Expr


class Push(Node):
    """Save a value for the way back."""

    stack: str
    value: Expr


class Bump(Node):
    """Add to a cotangent."""

    target: Target
    value: Expr


class For(Node):
    """``for name in range: ...``."""

    name: str
    range: Expr
    body: Block


class ForAll(Node):
    """Passes that do not depend on one another, for all numbers below the extents.

    Sums are an exception: several passes may add to one target.
    """

    counters: tuple[str, ...]
    extents: tuple[Expr, ...]
    body: Block


class Alloc(Node):
    """A new array of float64, int64 or bool numbers, in C order.

    Attributes
    ----------
    zero : bool
        Whether it holds zeros; else what it holds is not defined.
    """

    name: str
    shape: tuple[Expr, ...]
    kind: str
    zero: bool


class Grow(Node):
    """Let an array with one axis have at least so many elements, the first of which stay."""

    name: str
    least: Expr


class Apply(Node):
    """Compute all of a new array from whole arrays, or leave the region.

    Attributes
    ----------
    function : callable
        Writes its first argument, and returns whether all went well.
    target : str
    operands : tuple of str
    """

    function: Any
    target: str
    operands: tuple[str, ...]


class While(Node):
    """``while test: ...``."""

    test: Expr
    body: Block


class If(Node):
    """``if test: ... else: ...``; what follows a ``continue`` or ``break`` is the other side."""

    test: Expr
    body: Block
    orelse: Block


class Break(Node):
    """``break``."""


Statement = (
    Assign
    | Let
    | Count
    | Check
    | Finite
    | Push
    | Bump
    | For
    | ForAll
    | While
    | If
    | Break
    | Alloc
    | Grow
    | Apply
    | Reduce
    | Places
)
Block = tuple[Statement, ...]


PARTS: dict[type, Callable[[Any], tuple[Expr, ...]]] = {
    Op: attrgetter("args"),
    Compare: attrgetter("args"),
    Call: attrgetter("args"),
    Load: attrgetter("index"),
    Select: attrgetter("test", "a", "b"),
}
"""By the type of an expression what it is made of; `match` takes twice as long."""


def parts_of(e: Expr) -> tuple[Expr, ...]:
    """Return the expressions that an expression is made of."""
    parts = PARTS.get(e.__class__)
    return () if parts is None else parts(e)


def rebuilt(e: Expr, parts: tuple[Expr, ...]) -> Expr:
    """Return an expression with others in the place of its parts, itself if they are the same."""
    if all(map(operator.is_, parts, parts_of(e))):
        return e
    match e:
        case Op():
            return Op(e.op, parts, place=e.place)
        case Load():
            return Load(e.array, parts, place=e.place)
        case Compare():
            return Compare(e.ops, parts, place=e.place)
        case Call():
            return Call(e.function, parts, place=e.place)
        case Select():
            return Select(*parts, place=e.place)
    return e


def substituted(e: Expr, values: dict[str, Expr]) -> Expr:
    """Return an expression with expressions in the place of names."""
    if isinstance(e, Name):
        return values.get(e.name, e)
    parts = parts_of(e) if values else ()
    if not parts:
        return e
    return rebuilt(e, tuple([substituted(part, values) for part in parts]))


def walk(e: Expr) -> list[Expr]:
    """Return an expression and all that it is made of, from left to right."""
    found: list[Expr] = []
    todo = [e]
    while todo:
        part = todo.pop()
        found.append(part)
        parts = PARTS.get(part.__class__)
        if parts is not None:
            todo += reversed(parts(part))
    return found


def blocks_of(s: Statement) -> tuple[Block, ...]:
    """Return the blocks within a statement."""
    match s:
        case For() | ForAll() | While():
            return (s.body,)
        case If():
            return s.body, s.orelse
    return ()


def statements(block: Block) -> Iterator[Statement]:
    """Yield the statements of a block and those within them."""
    todo = [iter(block)]  # a stack, as nested generators pass each item up through all levels
    while todo:
        for s in todo[-1]:
            yield s
            inner = blocks_of(s)
            if inner:
                todo += map(iter, reversed(inner))
                break
        else:
            todo.pop()


def with_blocks(s: Statement, change: Callable[[Block], Block]) -> Statement:
    """Return a statement with its blocks changed."""
    match s:
        case For():
            return For(s.name, s.range, change(s.body), place=s.place)
        case ForAll():
            return ForAll(s.counters, s.extents, change(s.body), place=s.place)
        case While():
            return While(s.test, change(s.body), place=s.place)
        case If():
            return If(s.test, change(s.body), change(s.orelse), place=s.place)
    return s


def with_test(s: Statement, change: Callable[[Expr], Expr]) -> Statement:
    """Return a statement with its test changed, if it has one."""
    match s:
        case If():
            return If(change(s.test), s.body, s.orelse, place=s.place)
        case While():
            return While(change(s.test), s.body, place=s.place)
    return s


def with_value(s: Statement, change: Callable[[Expr], Expr]) -> Statement:
    """Return a statement other than a block with its computed expression changed."""
    match s:
        case Assign():
            return Assign(s.target, change(s.value), place=s.place)
        case Bump():
            return Bump(s.target, change(s.value), place=s.place)
        case Let():
            return Let(s.name, change(s.value), place=s.place)
        case Count():
            return Count(s.name, change(s.value), place=s.place)
        case Finite():
            return Finite(change(s.value), place=s.place)
        case Push():
            return Push(s.stack, change(s.value), place=s.place)
        case Check():
            return Check(change(s.test), place=s.place)
        case Reduce():
            given = s.op, s.target, s.counters, s.extents, s.along
            return Reduce(*given, change(s.value), place=s.place)
        case Places():
            given = s.count, s.arrays, s.counters, s.extents, s.index
            return Places(*given, change(s.test), place=s.place)
    return s
