"""Indices of statements on slices: tuples of which the parts are ints, slices and other parts.

    x[i, 1:k, None]         (i, Op("slice", (1, k, None)), None)
    x[columns[a:b]]         (Op("taken", (columns, a, b, None)),)

The way back reads them again, so they are ints that the region can compute again.
"""

from __future__ import annotations

from mooncake_py.compiler.regions.ir import Const, Expr, Load, Op, Sliced

__all__ = [
    "EVERYTHING", "ends_of", "ints_of", "is_none", "is_part", "of_row_and_column", "taken_in",
]  # fmt: skip

EVERYTHING = (Op("ellipsis", ()),)
"""The index of all of an array."""

NO_INTS = "slice", "ellipsis", "taken"
"""Operations that stand for parts of an index of a `Sliced`: of slices the ends are ints.

``taken`` has an array of ints, without an index, before the ends of the slice that is the index.
"""


def ints_of(s: Sliced) -> list[Expr]:
    """Return the ints of the indices of a statement."""
    return [e for index in s.values if type(index) is tuple for e in ends_of(index)]


def ends_of(index: tuple[Expr, ...]) -> list[Expr]:
    """Return the ints of an index of which parts are slices."""
    found: list[Expr] = []
    for part in index:
        found += part.args if isinstance(part, Op) and part.op in NO_INTS else (part,)
    return [e for e in found if not is_none(e) and not is_taken(e)]


def is_none(e: Expr) -> bool:
    """Return True for an end that is not given, or a new axis."""
    return type(e) is Const and e.value is None


def is_part(e: Expr) -> bool:
    """Return True for a part of an index that is no int."""
    return is_none(e) or (isinstance(e, Op) and e.op in NO_INTS)


def taken_in(index: tuple[Expr, ...]) -> list[str]:
    """Return the arrays of ints of which slices are an index."""
    return [e.args[0].array for e in index if isinstance(e, Op) and e.op == "taken"]  # type: ignore[union-attr]


def is_taken(e: Expr) -> bool:
    """Return True for an array itself, of which a slice is an index."""
    return isinstance(e, Load) and not e.index


def of_row_and_column(a: tuple[Expr, ...], b: tuple[Expr, ...]) -> list[Expr] | None:
    """Return the ints of the indices of a row and a column that begin alike, None for other ones.

        c[i + 1 :, i]   c[i, i + 1 :]       [i, i + 1]

    What they have in common, ``c[i, i]`` if that is in both, is at one position in both, unless
    these ints are negative: a matrix may have more rows than columns.
    """
    if len(a) != 2 or len(b) != 2:
        return None
    column, row = (a, b) if isinstance(b[1], Op) and b[1].op == "slice" else (b, a)
    parts, of_row = column[0], row[1]
    if not (isinstance(parts, Op) and parts.op == "slice") or parts != of_row:
        return None
    lower, _, step = parts.args
    if column[1] != row[0] or is_part(row[0]) or not is_none(step):
        return None
    return [row[0]] if is_none(lower) else [row[0], lower]
