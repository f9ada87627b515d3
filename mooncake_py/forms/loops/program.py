"""What a loop consists of that can be one entry: statements on numbers, loops, branches.

Names and elements of the user's code are written as in the generated code: ``u_s`` for a number,
``m_x[u_i - 1]`` for an element of an array.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from mooncake_py.forms.fusion import Step

__all__ = [
    "Assign", "Block", "Branch", "Count", "Item", "Operand", "Program", "Repeat", "Statement",
    "Stop", "While", "items_of",
]


class Item(NamedTuple):
    """An element of an array."""

    base: str
    at: str

    def of(self, prefix: str) -> str:
        """Return the text of the element, in the primal (``m``) or in the shadow (``d``)."""
        return f"{prefix}_{self.base}[{self.at}]"


Operand = str | Item
"""A name, or an element."""


class Assign(NamedTuple):
    """``s = e`` or ``x[i] = e`` for floats; an augmented assignment reads its target first.

    Attributes
    ----------
    steps : tuple of Step
        The operations of the expression over the operands.
    operands : tuple of Operand
    augments : bool
        Whether operand 0 is the target's old value, from which the new one is made.
    """

    target: Operand
    steps: tuple[Step, ...]
    operands: tuple[Operand, ...]
    augments: bool


class Count(NamedTuple):
    """``k = e`` for an int, which has no derivative."""

    name: str
    text: str


class Repeat(NamedTuple):
    """``for name in range(...)``; of the outermost loop the text is that of the range given."""

    name: str
    text: str
    body: Block


class While(NamedTuple):
    """``while test: ...``."""

    test: str
    body: Block


class Branch(NamedTuple):
    """``if test: ... else: ...``; what follows a ``continue`` or ``break`` is the other side."""

    test: str
    body: Block
    orelse: Block


class Stop(NamedTuple):
    """``break``."""


Statement = Assign | Count | Repeat | While | Branch | Stop
Block = list[Statement]


class Program:
    """A loop that may be one entry.

    Attributes
    ----------
    loop : Repeat or While
    inputs : dict of str to expr
        What is read that the loop does not bind before: names in generated code, and what they
        stand for; numbers, and the arrays of which elements are read or written.
    bases : dict of str to int
        Of the arrays the number of indices.
    functions : list of expr
        The functions that are called.
    bound : dict of str to str
        What the loop binds: names in generated code and the user's.
    counts : set of str
        Which of these are ints for certain.
    steered : set of str
        Which ints the way back needs: those in indices and ranges.
    extents : dict of str to (str, int)
        Lengths of arrays that are read: the array and the axis.
    steps : str or None
        The range of a loop over arrays; None where the range is given.
    equal : list of list of str
        Lengths that must be equal.
    """

    loop: Repeat | While
    steps: str | None

    def __init__(self) -> None:
        self.inputs: dict[str, ast.expr] = {}
        self.bases: dict[str, int] = {}
        self.functions: list[ast.expr] = []
        self.bound: dict[str, str] = {}
        self.counts: set[str] = set()
        self.steered: set[str] = set()
        self.extents: dict[str, tuple[str, int]] = {}
        self.equal: list[list[str]] = []
        self.steps = None

    def assignments(self) -> Iterator[Assign]:
        """Yield the assignments of floats."""
        return (item for item in items_of([self.loop]) if isinstance(item, Assign))

    def written(self) -> set[str]:
        """Return the arrays of which elements are written."""
        return {a.target.base for a in self.assignments() if isinstance(a.target, Item)}


def items_of(block: Block) -> Iterator[Statement]:
    """Yield the statements of a block and those within them."""
    for item in block:
        yield item
        if isinstance(item, Repeat | While):
            yield from items_of(item.body)
        elif isinstance(item, Branch):
            yield from items_of(item.body)
            yield from items_of(item.orelse)
