"""Products of matrices among loops: what BLAS does faster, where the matrices are large enough.

A ForAll, and what is found in it::

    for all i, k, j:                            Contraction
        z[i, j] += x[i, k] * y[j, k]                target   z[:n]
                                                    left     x[:n]
                                                    right    y[:p].T

The loops remain as well, for small matrices and for products that BLAS cannot do.  On the way back
each operand has its own product, in which a cotangent of zero must stay zero next to an infinite
partial: BLAS multiplies them all, so that results that are not finite are left to the loops.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mooncake_py.compiler.native.regions.helpers import times
from mooncake_py.compiler.native.regions.linear import minus
from mooncake_py.compiler.native.regions.region import REAL
from mooncake_py.compiler.regions.ir import (
    Assign,
    Block,
    Bump,
    Call,
    Expr,
    Let,
    Load,
    Name,
    Op,
    substituted,
    walk,
)

__all__ = ["Contraction", "Window", "contractions", "window"]


class Window(NamedTuple):
    """A part of an array that is a matrix.

    Attributes
    ----------
    array : str
    axes : tuple of Expr or (Expr, str)
        For each axis where it is, or where the matrix begins and by which counter it goes on.
    is_transposed : bool
        Whether the first of these counters is that of the columns.
    """

    array: str
    axes: tuple[Expr | tuple[Expr, str], ...]
    is_transposed: bool


@dataclass(frozen=True)
class Contraction:
    """``target += left @ right``.

    Attributes
    ----------
    target, left, right : Window
    extents : dict of str to Expr
        Of each counter.
    order : tuple of str
        The counters of the rows of the product, of the sum, and of the columns.
    is_negative : bool
        Whether it is subtracted.
    is_guarded : bool
        Whether a factor of zero is to make a product zero, whatever the other one is.
    loops : Block
        Does the same.
    """

    target: Window
    left: Window
    right: Window
    extents: Mapping[str, Expr]
    order: tuple[str, str, str]
    is_negative: bool
    is_guarded: bool
    loops: Block = ()

    @property
    def windows(self) -> tuple[Window, Window, Window]:
        """The three matrices."""
        return self.target, self.left, self.right


def contractions(
    body: Sequence[Assign | Bump | Let],
    counters: Sequence[str],
    extents: Sequence[Expr],
    kind: Callable[[Expr], str],
) -> list[tuple[Contraction, Bump]]:
    """Return the products that loops are the sum of; none if anything else is in them.

    The statements must be such that each of them may have loops of its own.

    Parameters
    ----------
    kind : callable
        Returns the kind of an expression.
    """
    if len(counters) != 3:
        return []
    values: dict[str, Expr] = {}
    found: list[tuple[Contraction, Bump]] = []
    lengths = dict(zip(counters, extents, strict=True))
    for s in body:
        value = substituted(s.value, values)
        if isinstance(s, Let):
            values[s.name] = value
            continue
        terms = terms_of(value) if isinstance(s, Bump) else []
        for term, is_negative in terms:
            product = contraction(s.target, term, is_negative, lengths)
            if product is None or not are_alike(product.windows, kind):
                return []
            found.append((product, Bump(s.target, Op("neg", (term,)) if is_negative else term)))
        if not terms:
            return []
    return found


def are_alike(windows: Sequence[Window], kind: Callable[[Expr], str]) -> bool:
    """Return True for matrices of floats that are equally wide."""
    kinds = {kind(Load(w.array, ())) for w in windows}
    return len(kinds) == 1 and kinds <= REAL


def terms_of(e: Expr, is_negative: bool = False) -> list[tuple[Expr, bool]]:
    """Return the terms of an expression, and whether each is subtracted."""
    if isinstance(e, Op) and e.op == "neg":
        return terms_of(e.args[0], not is_negative)
    if isinstance(e, Op) and e.op in ("add", "sub"):
        a, b = e.args
        return [*terms_of(a, is_negative), *terms_of(b, is_negative != (e.op == "sub"))]
    return [(e, is_negative)]


def contraction(
    target: Name | Load, e: Expr, is_negative: bool, extents: Mapping[str, Expr]
) -> Contraction | None:
    """Return the product that one term adds to a matrix, None if it is none."""
    guards = (isinstance(e, Op) and e.op == "times") or (
        isinstance(e, Call) and e.function is times
    )
    if not guards and not (isinstance(e, Op) and e.op == "mul"):
        return None
    assert isinstance(e, Op | Call)
    a, b = e.args
    if not isinstance(target, Load) or not isinstance(a, Load) or not isinstance(b, Load):
        return None
    if target.array in (a.array, b.array):
        return None
    own, first, second = (counters_in(part, extents) for part in (target, a, b))
    shared = first & second
    rows, columns = first - shared, second - shared
    if not len(shared) == len(rows) == len(columns) == 1 or own != rows | columns:
        return None
    (i,), (k,), (j,) = rows, shared, columns
    z, x, y = window(target, i, j), window(a, i, k), window(b, k, j)
    if z is None or x is None or y is None:
        return None
    if z.is_transposed:  # the same, with rows that are adjacent in the target
        z, x, y = turned(z), turned(y), turned(x)
        i, j = j, i
    return Contraction(z, x, y, extents, (i, k, j), is_negative, guards)


def counters_in(e: Expr, counters: Container[str]) -> set[str]:
    """Return the counters that an expression reads."""
    return {part.name for part in walk(e) if isinstance(part, Name) and part.name in counters}


def window(e: Load, row: str, column: str) -> Window | None:
    """Return the matrix that an element goes through with two counters, None if it is none."""
    counters = row, column
    axes: list[Expr | tuple[Expr, str]] = []
    found: list[str] = []
    for i in e.index:
        own = counters_in(i, counters)
        if not own:
            axes.append(i)
            continue
        counter = own.pop()
        first = minus(i, Name(counter))
        if counters_in(first, counters):
            return None
        axes.append((first, counter))
        found.append(counter)
    if sorted(found) != sorted((row, column)):
        return None
    return Window(e.array, tuple(axes), found[0] == column)


def turned(w: Window) -> Window:
    """Return the transpose of a matrix."""
    return Window(w.array, w.axes, not w.is_transposed)
