"""Jacobians and Hessians of functions compiled whole, column by column.

The compiled derivative runs along each unit vector, without the engine in between.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mooncake_py.boundary.arguments import ArgNums, choose_arguments
from mooncake_py.compiler.native.regions.refused import LeftOnTheWayBack, NotYet
from mooncake_py.jacobian_blocks import (
    FEW,
    Mode,
    arranged,
    collect,
    of_columns,
    real_leaves,
    require_numbers,
    unit_directions,
)
from mooncake_py.modes.reverse.whole_or_parts import may_run_whole
from mooncake_py.runtime.compilation import compiles

__all__ = ["compiled_columns", "compiled_hessian"]


def compiled_columns(
    f: Any, argnums: ArgNums, args: tuple[Any, ...], mode: Mode
) -> tuple[Any, Any] | None:
    """Return the output and the Jacobian by the compiled derivative of `f` along each direction.

    None if `f` is not compiled whole, or if rows are to be computed.
    """
    if not compiles() or not may_run_whole():
        return None
    chosen = choose_arguments(f, argnums, args, {})
    values = tuple([args[k] for k in chosen])  # type: ignore[index]
    leaves = real_leaves(f, chosen, values)
    # Only where functions run whole.
    from mooncake_py.modes.forward.whole import push_whole_along

    def directions(*places: int) -> list[tuple[Any, ...]]:
        return [
            tuple([part[chosen.index(k)] if k in chosen else None for k in range(len(args))])
            for part in unit_directions(values, leaves, *places)
        ]

    try:
        first = push_whole_along(f, args, directions(0, 1))
    except NotYet:
        return None  # the general way goes without
    if first is None:
        return None
    y, columns = first
    size = sum([np.size(leaf) for leaf in leaves])
    count = sum([np.size(part) for part in require_numbers(f, y)])
    if mode == "auto" and size > max(count, FEW):
        return None
    if size > 1:
        rest = push_whole_along(f, args, directions(1))
        if rest is None:
            return None
        columns = [*columns, *rest[1]]
    return y, arranged(of_columns(y, columns, leaves), values, isinstance(argnums, tuple))


def compiled_hessian(f: Any, argnums: ArgNums, args: tuple[Any, ...]) -> Any:
    """Return value, gradient and Hessian by compiled products with unit vectors.

    None if `f` is not compiled whole.
    """
    if not compiles() or not may_run_whole():
        return None
    chosen = choose_arguments(f, argnums, args, {})
    values = tuple([args[k] for k in chosen])  # type: ignore[index]
    leaves: list[Any] = []
    collect(values, leaves)
    if any(map(np.iscomplexobj, leaves)):
        return None  # the general way says why
    # Only where functions run whole.
    from mooncake_py.modes.forward.whole import products_of_whole

    directions = unit_directions(values, leaves)
    try:
        found = products_of_whole(f, chosen, args, directions, with_gradient=True)
    except (LeftOnTheWayBack, NotYet):
        return None  # the general way begins again without compilation
    if found is None:
        return None
    value, gradients, products = found
    if not isinstance(argnums, tuple):
        gradients, products = gradients[0], [product[0] for product in products]
    blocks = of_columns(gradients, products, leaves)
    return value, gradients, arranged(blocks, values, isinstance(argnums, tuple))
