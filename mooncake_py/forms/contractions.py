"""Products of vectors and matrices within statements that are recorded as one entry.

``a[k:, k:] -= np.outer(a[k:, k], w @ a[k:, k:])``: an operand is a name, a slice or such a product;
the shapes of operands that are contracted are their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mooncake_py.rules import registry
from mooncake_py.rules.kinds import BilinearRule

__all__ = [
    "CALLS", "PRODUCTS", "adjoints_of", "arities", "is_contraction", "is_sum", "ndim_of",
    "operands_of", "shapes_of_steps",
]  # fmt: skip

PRODUCTS = (np.matmul, np.dot, np.outer)
CALLS = frozenset({"call", "product"})
"""Operations that have the position of a function before their operands."""
Shape = tuple[int, ...]


def operands_of(step: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the references to the operands of a step."""
    return step[2:] if step[0] in CALLS else step[1:]


def arities(steps: Sequence[tuple[Any, ...]]) -> list[int]:
    """Return for each function that is called the number of its arguments."""
    return [len(step) - 2 for step in steps if step[0] in CALLS]


def is_contraction(step: tuple[Any, ...]) -> bool:
    """Tell whether a step is a product of vectors or matrices."""
    return step[0] == "matmul" or step[0] == "product"


def is_sum(step: tuple[Any, ...], functions: Sequence[Any]) -> bool:
    """Tell whether a step sums all elements of an array."""
    return step[0] == "call" and functions[step[1]] is np.sum


def adjoints_of(step: tuple[Any, ...], functions: Sequence[Any]) -> Any:
    """Return the adjoints of a product with respect to both factors, or None if it has none."""
    f = np.matmul if step[0] == "matmul" else functions[step[1]]
    rule = registry.find(f) if any(f is product for product in PRODUCTS) else None
    if not isinstance(rule, BilinearRule) or not all(map(callable, rule.adjoints)):
        return None
    return rule.adjoints


def ndim_of(step: tuple[Any, ...], functions: Sequence[Any], left: int, right: int) -> int:
    """Return the number of axes of a product of vectors and matrices."""
    return 2 if is_outer(step, functions) else left + right - 2


def is_outer(step: tuple[Any, ...], functions: Sequence[Any]) -> bool:
    return step[0] == "product" and functions[step[1]] is np.outer


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """Return the shape to which shapes are broadcast; mostly they are one."""
    distinct = {shape for shape in shapes if shape}
    return distinct.pop() if len(distinct) == 1 else np.broadcast_shapes(*distinct)


def shapes_of_steps(
    steps: Sequence[tuple[Any, ...]], functions: Sequence[Any], operands: Sequence[Shape]
) -> list[Shape]:
    """Return the shape of the result of each step.

    Raises
    ------
    ValueError
        If shapes do not fit, or a factor is neither a vector nor a matrix.
    """
    shapes: list[Shape] = []

    def shape_of(reference: Any) -> Shape:
        kind, which = reference
        return operands[which] if kind == "v" else shapes[which] if kind == "t" else ()

    for step in steps:
        found = [shape_of(ref) for ref in operands_of(step)]
        if is_sum(step, functions):
            shapes.append(())
            continue
        if not is_contraction(step):
            shapes.append(broadcast(found))
            continue
        left, right = found
        if not (1 <= len(left) <= 2 and 1 <= len(right) <= 2):
            raise ValueError("neither a vector nor a matrix")
        if is_outer(step, functions):
            shapes.append((int(np.prod(left)), int(np.prod(right))))
        else:
            shapes.append((*left[:-1], *right[1:]) if len(right) > 1 else left[:-1])
    return shapes
