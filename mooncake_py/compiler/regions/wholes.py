"""Operations on whole arrays, for what NumPy prints in one call and compiled code as loops.

Each reads an expression for all indices, as a `ForAll` stores one.  See `ir`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mooncake_py.compiler.regions.node import Node

if TYPE_CHECKING:
    from mooncake_py.compiler.regions.ir import Expr, Load, Name

__all__ = ["ACCUMULATED", "CUMULATIVE", "SUMS", "Places", "Reduce"]

SUMS = frozenset({"sum", "total", "trace", "einsum", "dot", "inner", "matmul"})
"""Operations that sum, in some order: `total` as Python's ``sum`` does, `inner` as ``x @ y``."""
CUMULATIVE = {"cumsum": ("add", -0.0), "cumprod": ("mul", 1.0)}
"""Operations that give all partial results: the operator, and the starting value."""
ACCUMULATED = SUMS - {"matmul"}
"""Sums that compiled code adds up in float64, of float32 too."""


class Reduce(Node):
    """An operation along axes: of all numbers for which the other counters agree.

    Attributes
    ----------
    op : str
        One of `SUMS`, `CUMULATIVE`, or ``max``, ``min``, ``argmax``, ``argmin``, ``prod``,
        ``any``, ``all``, ``count``.
    target : Name or Load
        A number, or an element for the counters that it has: those that are not `along`, and of
        what is cumulative all of them.  An array holds zeros before sums are stored in it.
    counters : tuple of str
        In the order in which loops run over them.
    extents : tuple of Expr
    along : tuple of str
        Some of the counters, in this order.
    value : Expr
        One of the numbers; or a bool, if they are counted.
    """

    op: str
    target: Name | Load
    counters: tuple[str, ...]
    extents: tuple[Expr, ...]
    along: tuple[str, ...]
    value: Expr


class Places(Node):
    """Where a test holds, in the order of the counters.

    Attributes
    ----------
    count : str
        The int that tells in how many places.
    arrays : tuple of str
        What the first elements are of: for each place one index for each axis.
    counters, extents : tuple
    index : tuple of Expr
        Along each axis the place, by the counters.
    test : Expr
    """

    count: str
    arrays: tuple[str, ...]
    counters: tuple[str, ...]
    extents: tuple[Expr, ...]
    index: tuple[Expr, ...]
    test: Expr
