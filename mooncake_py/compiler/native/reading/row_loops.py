"""Loops over objects that stay loops: what is known of one while it is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from mooncake_py.compiler.native.building.values import Array, Object, Value
from mooncake_py.compiler.native.reading.alike import Alike
from mooncake_py.compiler.native.reading.columns import Column
from mooncake_py.compiler.native.reading.store import Slot
from mooncake_py.compiler.regions.ir import Expr, Statement
from mooncake_py.syntax.nodes import Place

__all__ = ["ANYWHERE", "Home", "Path", "Row", "RowLoop"]

Path = tuple[int | str, ...]
ANYWHERE = ("#item",)
"""The path of an item that an index tells: what it holds cannot be assigned."""


class Home(NamedTuple):
    """Where an attribute of an object is while loops run that assign it.

    Attributes
    ----------
    column : Array
        Of this attribute of several objects.
    at : int
    type : str
        Of a number, empty for an array.
    ranks : str
        The memory that tells the types of floats, where they vary.
    key : (Place, str)
        The loop and the attribute.
    """

    column: Array
    at: int
    type: str
    ranks: str
    key: tuple[Place, str]


@dataclass(eq=False)
class RowLoop:
    """A loop over objects that is being read.

    Attributes
    ----------
    place : Place
    block : list of Statement
        The one that it stands in.
    loops : int
        How many are around it.
    over : Alike
    looked : dict of Slot to Path
        Those that were read before it, and how they are found in the items, if they can be.
    bound : set of Slot
        Those that it binds.
    memory, wrote : set of str
        That were read before it, and that it writes.
    homes : dict of Slot to (Object, str)
        Of the attributes that are at home in memory until it ends the objects, and their names.
    """

    place: Place
    block: list[Statement]
    loops: int
    over: Alike
    looked: dict[Slot, Path] = field(default_factory=dict)
    bound: set[Slot] = field(default_factory=set)
    memory: set[str] = field(default_factory=set)
    wrote: set[str] = field(default_factory=set)
    homes: dict[Slot, tuple[Object, str]] = field(default_factory=dict)

    @property
    def items(self) -> tuple[Value, ...]:
        """The items that it runs over."""
        return self.over.values


@dataclass(eq=False)
class Row:
    """An object that is another one in each pass of a loop.

    Attributes
    ----------
    loop : RowLoop
    sources : tuple of Object
        In the order of the passes.
    at : Expr
        In which pass the loop is.
    path : Path
        How the objects are found in the items of the loop.
    columns : dict of str to Column
        Of the attributes that were read.
    """

    loop: RowLoop
    sources: tuple[Object, ...]
    at: Expr
    path: Path
    columns: dict[str, Column] = field(default_factory=dict)
