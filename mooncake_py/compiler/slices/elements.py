"""Elements of what names are bound to, in expressions of numbers, and arrays in lists.

    s += v[3] * y[0]        r0 = v[3]
                            r1 = y[0]
                            s += r0 * r1

The rest is computed as numbers, or arrays, are everywhere.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from mooncake_py.compiler.regions.ir import Expr, Load, Name, Sliced, parts_of, rebuilt, walk
from mooncake_py.compiler.slices.calls.arguments import Arguments, Hole, called_with
from mooncake_py.compiler.slices.calls.operations import ELEMENT, ITEM
from mooncake_py.compiler.slices.ranks import UnknownRankError
from mooncake_py.compiler.statements.statement import Statement

if TYPE_CHECKING:
    from mooncake_py.compiler.slices.on_arrays import Rereader

__all__ = ["Elements"]


class Elements:
    """Gives names to the elements of some arrays, or the items of lists of them.

    Parameters
    ----------
    reader : Rereader
    arrays : collection of str
        Names that are bound to arrays, and lists.

    Attributes
    ----------
    before : list of Sliced
        What binds these names.
    """

    def __init__(self, reader: Rereader, arrays: Collection[str]) -> None:
        self.reader = reader
        self.arrays = arrays
        self.before: list[Sliced] = []
        self.known: dict[Load, Name] = {}

    def read(self, e: Expr) -> Expr:
        """Return an expression with names in the place of such elements."""
        if isinstance(e, Load) and e.array in self.arrays:
            if e not in self.known:
                self.known[e] = self.named(e)
            return self.known[e]
        return rebuilt(e, tuple(map(self.read, parts_of(e))))

    def named(self, e: Load) -> Name:
        """Return the name of an element or an item, which is bound before."""
        is_item = e.array in self.reader.lists
        name = self.reader.new_array(e) if is_item else self.reader.new_name(e)
        self.before.append(self.bound(e, name))
        return name

    def bound(self, e: Load, name: Name) -> Sliced:
        """Return what binds a name to an element or an item."""
        self.reader.ranks.see_numbers(*e.index)
        if any(isinstance(part, Load) and part.array in self.arrays
               for index in e.index for part in walk(index)):  # fmt: skip
            raise UnknownRankError
        if e.array in self.reader.lists:
            value = called_with(ITEM, 1, Arguments((Hole(0),), may_view=True))
        else:
            self.reader.note(e.array)
            value = called_with(ELEMENT, 1, Arguments((Hole(0),)))
        statement = Statement(value, ((0, 1),), 2, certain=frozenset({1}))
        values = Name(e.array, place=e.place), e.index
        return Sliced(statement, values, name, None, place=e.place)
