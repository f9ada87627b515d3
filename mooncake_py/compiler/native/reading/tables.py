"""Tables: lists of lists of floats that a comprehension makes, all alike, in one vector.

    t = [[0.0] * m for _ in range(n)]       t = array(n * m), of zeros
    t[i][j] = t[i - 1][j] + x               t[i * m + j] = t[(i - 1) * m + j] + x

A row is a view of it, so that it may be written under any name.  A table whose rows are bound
again, or get longer, is read row by row: that is found out where it cannot be read otherwise.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.values import Number, Stack, Value
from mooncake_py.compiler.native.regions.linear import times
from mooncake_py.compiler.native.regions.region import FLOAT
from mooncake_py.syntax.nodes import place_of

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.comprehensions import ComprehensionReader, Renamed
    from mooncake_py.compiler.native.reading.iterables import Iterable

__all__ = ["LEAST", "made"]

LEAST = 9
"""So many rows must be known to be there, or their number is not known: fewer are read one by one,
which knows more of them."""
PLAIN = (
    ast.Constant, ast.Name, ast.Attribute, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop,
    ast.expr_context,
)  # fmt: skip


def made(
    r: ComprehensionReader,
    node: ast.expr,
    found: Renamed,
    over: Iterable,
    known: int | None,
) -> Stack | None:
    """Read a comprehension that makes a table; None for any other."""
    place = place_of(node)
    if not isinstance(node, ast.ListComp) or place in r.findings.tableless:
        return None
    if known is not None and known < LEAST:
        return None
    row = repeated(found.elements[0], found.names)
    if len(found.generators) > 1 or found.generators[0].ifs or row is None:
        return None
    item, count = row
    b = r.b
    rows = b.natural(b.steady(r.length(over)))
    x, columns = r.value(item), r.value(count)
    if not is_float(x) or not isinstance(columns, Number) or columns.type != "int":
        return None
    assert isinstance(x, Number)
    columns = b.natural(b.steady(columns.e))
    memory = b.new((times(rows, columns),), FLOAT)
    if memory.base in r.findings.mixed:
        return None
    e = operations.as_float(operations.as_element(b, x))
    b.for_all(memory.shape, lambda at: b.stored(memory, at, e))
    r.findings.tables.add(place)
    return Stack(("row", x.type), (memory.base,), rows, "", {memory.base: (columns,)}, b.loops)


def repeated(node: ast.expr, names: set[str]) -> tuple[ast.expr, ast.expr] | None:
    """Return the item that a row repeats, and how often, if all are alike and run no code.

    Parameters
    ----------
    names : set of str
        Those that differ from row to row.
    """
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return None
    left, right = node.left, node.right
    if not isinstance(left, ast.List) or len(left.elts) != 1:
        return None
    parts = [part for top in (left.elts[0], right) for part in ast.walk(top)]
    if not all(isinstance(part, PLAIN) for part in parts):
        return None
    if any(isinstance(part, ast.Name) and part.id in names for part in parts):
        return None
    return left.elts[0], right


def is_float(x: Value) -> bool:
    """Return True for a float of which the type is known."""
    return isinstance(x, Number) and x.rank is None and x.kind == FLOAT
