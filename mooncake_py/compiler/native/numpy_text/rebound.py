"""Arrays of which all is written wherever they are written: these become new ones each time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mooncake_py.compiler.native.regions.mentions import bound_by
from mooncake_py.compiler.regions.ir import (
    Alloc,
    Assign,
    Block,
    Expr,
    ForAll,
    Length,
    Load,
    Name,
    Pop,
    statements,
)

if TYPE_CHECKING:
    from mooncake_py.compiler.native.numpy_text.blocks import Blocks

__all__ = ["written_whole"]


def written_whole(printer: Blocks, body: Block) -> frozenset[str]:
    """Return the arrays of which all is written at once, and that nobody else has.

    On the way back inputs are among them if all of their elements are put back.
    """
    shapes = {s.name: s.shape for s in statements(body) if isinstance(s, Alloc)}
    if printer.scalars.in_reverse:
        for name in printer.inputs.intersection(printer.arrays):
            shapes[name] = tuple([Length(name, k) for k in range(printer.arrays[name])])
    every = [s for s in statements(body) if isinstance(s, ForAll)]
    whole = {id(s.body[0]) for s in every if writes_all(printer, s, shapes)}
    parts = {
        name
        for s in statements(body)
        if not isinstance(s, Alloc) and id(s) not in whole
        for name in bound_by(s)
    }
    return frozenset(shapes.keys() - parts)


def writes_all(printer: Blocks, s: ForAll, shapes: Mapping[str, Sequence[Expr]]) -> bool:
    """Return True for what stores in each element of an array of some shape."""
    match s.body:
        case (Assign(target=Load(array=array, index=index), value=value),) if array in shapes:
            is_whole = index == tuple(map(Name, s.counters))
            is_own = array not in printer.inputs or isinstance(value, Pop)
            same = map(printer.lengths.same, s.extents, shapes[array])
            return is_whole and is_own and all(same)
    return False
