"""Products of vectors and matrices within statements that are recorded as one entry.

``a[k:, k:] -= np.outer(a[k:, k], w @ a[k:, k:])``: an operand is a name, a slice or such a product;
the shapes of operands that are contracted are their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mooncake_py.compiler.regions.ir import Call, Expr, Op
from mooncake_py.compiler.statements.reductions import is_reduction, reduced
from mooncake_py.rules import contraction, registry
from mooncake_py.rules.kinds import BilinearRule

__all__ = [
    "PRODUCTS", "adjoints_of", "is_built_in", "is_contraction", "is_mean", "is_sum", "ndim_of",
    "shape_of",
]  # fmt: skip

Texts = Mapping[tuple[int | None, ...], str]

PRODUCTS = (np.matmul, np.dot, np.outer)
LEFT: Texts = {
    (2, 2): "{d}.dot({b}.T)",
    (2, 1): "{d}[:, None].dot({b}[None])",
    (1, 2): "{b}.dot({d})",
}
RIGHT: Texts = {
    (2, 2): "{a}.T.dot({d})",
    (2, 1): "{d}.dot({a})",
    (1, 2): "{a}[:, None].dot({d}[None])",
}
ADJOINT_TEXTS: Mapping[Any, Texts] = {
    contraction.matmul_left: LEFT, contraction.matmul_right: RIGHT,
    contraction.dot_left: LEFT, contraction.dot_right: RIGHT,
    contraction.outer_left: {(1, 1): "{d}.dot({b})"},
    contraction.outer_right: {(1, 1): "{a}.dot({d})"},
}  # fmt: skip
"""The declared adjoints, by the axes of both factors a and b as one call of BLAS."""
IDS = frozenset(map(id, PRODUCTS))
SUMS = np.sum, np.mean
Shape = tuple[int, ...]


def is_contraction(e: Expr) -> bool:
    """Return True for a product of vectors or matrices."""
    if isinstance(e, Op):
        return e.op == "matmul"
    return isinstance(e, Call) and id(e.function) in IDS


def is_sum(e: Expr) -> bool:
    """Return True for the sum of all elements of an array, or their mean."""
    return isinstance(e, Call) and len(e.args) == 1 and any(e.function is f for f in SUMS)


def is_mean(e: Expr) -> bool:
    """Return True for the mean of all elements of an array."""
    return isinstance(e, Call) and e.function is np.mean and len(e.args) == 1


def is_outer(e: Expr) -> bool:
    return isinstance(e, Call) and e.function is np.outer


def adjoints_of(e: Expr) -> Any:
    """Return the adjoints of a product with respect to both factors, or None if it has none."""
    rule = registry.find(e.function if isinstance(e, Call) else np.matmul)
    if not isinstance(rule, BilinearRule) or not all(map(callable, rule.adjoints)):
        return None
    return rule.adjoints


def is_built_in(e: Expr) -> bool:
    """Return True if the adjoints of a product are those of this package."""
    rule = registry.find(e.function if isinstance(e, Call) else np.matmul)
    return rule is not None and rule.built_in


def ndim_of(e: Expr, left: int, right: int) -> int:
    """Return the number of axes of a product of vectors and matrices."""
    return 2 if is_outer(e) else left + right - 2


def shape_of(e: Expr, shapes: Sequence[Shape]) -> Shape:
    """Return the shape of the result of an operation on operands of these shapes.

    Raises
    ------
    ValueError
        If shapes do not fit, or a factor is neither a vector nor a matrix.
    """
    if is_sum(e):
        return ()
    if is_reduction(e):
        return reduced(e, shapes[0])
    if not is_contraction(e):
        return broadcast(shapes)
    left, right = shapes
    if not (1 <= len(left) <= 2 and 1 <= len(right) <= 2):
        raise ValueError("neither a vector nor a matrix")
    if is_outer(e):
        return int(np.prod(left)), int(np.prod(right))
    return (*left[:-1], *right[1:]) if len(right) > 1 else left[:-1]


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """Return the shape to which shapes are broadcast; mostly they are one."""
    distinct = {shape for shape in shapes if shape}
    return distinct.pop() if len(distinct) == 1 else np.broadcast_shapes(*distinct)
