"""A statement, or an expression, over values that are passed to it.

    x[i] += a * y[j]      value    v0 + a * v2           over the operands v0, v1, v2
                          layout   (1, 2), 0, (3, 4)     values: a, x, i, y, j
                          target   (1, 2)

An operand is a value, or an element or slice of a value, with another value as the index.
"""

from __future__ import annotations

from typing import NamedTuple

from mooncake_py.compiler.regions.ir import Call, Expr, Name, Op, substituted, walk

__all__ = [
    "Part", "Place", "Statement", "View", "changing", "is_operand", "operand",
    "position_of",
]  # fmt: skip


class View(NamedTuple):
    """An operand that is read through a view of a part of an array.

    Attributes
    ----------
    base, at : int
        The positions of what is indexed, and of the index.
    whole : bool
        Whether all of a name is read; the index is the ellipsis then.
    function : int or str
        Which function makes the view, or which attribute is one: ``T``, ``real``, ``imag``.
    """

    base: int
    at: int
    whole: bool
    function: int | str

    @property
    def is_real(self) -> bool:
        """Whether it is the real or the imaginary part of an array."""
        return self.function in ("real", "imag")


Place = int | tuple[int, int]
"""The position of a value, or those of what is indexed and of the index."""

Part = Place | View
"""Where an operand is."""


class Statement(NamedTuple):
    """A computation, its operands, and its target.

    Attributes
    ----------
    value : Expr
        Over operands; of an augmented assignment the whole of it, whose operand 0 is what the
        target held before.
    layout : tuple of Part
        Where each operand is.
    passed : int
        Number of values.
    target : Place or None
        Where the value goes; a position is that of a name which is changed in place if it is
        bound to an array, or of what is written by ``out=``.
    augments : bool
        Whether the target is changed in place.
    into : bool
        Whether the last function of the value writes into the target, by ``out=``; if it augments,
        the target is an operand of functions.
    ints : tuple of (int, int)
        The position of each index that may be of one element, and how many ints it has.
    certain : frozenset of int
        Positions of indices that are ints, or slices of ints, for certain.
    has_complex : bool
        Whether a number that is written down is complex.
    of_numbers : bool
        Whether it is supported on numbers and elements only.
    """

    value: Expr
    layout: tuple[Part, ...]
    passed: int
    target: Place | None = None
    augments: bool = False
    into: bool = False
    ints: tuple[tuple[int, int], ...] = ()
    certain: frozenset[int] = frozenset()
    has_complex: bool = False
    of_numbers: bool = False

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The indexed operands, with their indices, and the target."""
        return [part[:2] for part in (*self.layout, self.target) if isinstance(part, tuple)]

    @property
    def names(self) -> dict[int, int]:
        """The operands that are values, by their positions."""
        return {k: part for k, part in enumerate(self.layout) if isinstance(part, int)}

    @property
    def size(self) -> int:
        """Number of operations, reads of elements and views included."""
        kinds = [e.__class__ for e in walk(self.value)]
        operations = kinds.count(Op) + kinds.count(Call)
        reads = [type(part) for part in self.layout].count(tuple)
        return operations + reads + sum(2 - part.whole for part in self.views)

    @property
    def readings(self) -> frozenset[int]:
        """The positions of the indices by which operands are read, except views and the target."""
        written = self.target[1] if isinstance(self.target, tuple) else None
        return frozenset([p[1] for p in self.layout if type(p) is tuple and p[1] != written])

    @property
    def written(self) -> tuple[int, int] | None:
        """The written operand and its index, if the index may be a mask."""
        return self.target if isinstance(self.target, tuple) and not self.into else None

    @property
    def views(self) -> list[View]:
        """The operands that are read through views."""
        return [part for part in self.layout if isinstance(part, View)]


def operand(k: int) -> Name:
    """Return an operand."""
    return Name(f"v{k}")


def changing(op: str, change: Expr, count: int) -> Op:
    """Return an operation that changes a target, a new operand 0, by a value over operands."""
    moved: dict[str, Expr] = {f"v{k}": operand(k + 1) for k in range(count)}
    return Op(op, (operand(0), substituted(change, moved)), place=change.place)


def is_operand(e: Expr) -> bool:
    """Return True if an expression is an operand."""
    return isinstance(e, Name) and e.name[0] == "v"


def position_of(e: Expr) -> int:
    """Return which operand it is."""
    assert isinstance(e, Name)
    return int(e.name[1:])
