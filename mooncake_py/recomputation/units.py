"""Unit directions of structures, in which parts that share memory are one variable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.recomputation.structures import is_leaf, unit
from mooncake_py.rules.declare import contextual
from mooncake_py.tangents.contents import elements_of, plain_dict
from mooncake_py.tangents.memory import cells

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["unit_parts", "variables_in"]


def variables_in(value: Any) -> list[ndarray] | None:
    """Return for each number and array in a structure which variable each of its elements is.

    None if each is a variable of its own: an array or a container may be held twice, and views may
    overlap.  The order is that of the parts of the structure.
    """
    leaves = [*placed(value, None)]
    arrays = [leaf for leaf, _ in leaves if issubclass(type(leaf), ndarray)]
    if all(a.base is None for a in arrays) and len({place for _, place in leaves}) == len(leaves):
        return None
    numbers: dict[Any, int] = {}
    found = [
        cells(leaf)
        if issubclass(type(leaf), ndarray)
        else np.array(numbers.setdefault(place, -1 - len(numbers)))  # no address is negative
        for leaf, place in leaves
    ]
    every = np.concatenate([variables.reshape(-1) for variables in found])
    return None if len(np.unique(every)) == len(every) else found


@contextual(variables_in)
def variables_inside(ctx: Mode, value: Any) -> list[ndarray] | None:
    """Return the same inside a derivative: where parts are does not depend on their values."""
    return variables_in(value)


def placed(value: Any, place: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the numbers and arrays in a structure, and what is the same for the same variable."""
    if is_leaf(value):
        yield value, id(value) if issubclass(type(value), ndarray) else place
    elif issubclass(type(value), (list, tuple, dict)):
        is_dict = issubclass(type(value), dict)
        parts = plain_dict(value).items() if is_dict else enumerate(elements_of(value))
        for key, part in parts:
            yield from placed(part, (id(value), key))


def unit_parts(leaves: list[Any], variables: list[ndarray] | None, k: int, i: int) -> list[Any]:
    """Return the unit direction along element `i` of part `k`, a tangent for each part."""
    if variables is None:
        return [unit(leaf, i) if j == k else zero(leaf) for j, leaf in enumerate(leaves)]
    chosen = variables[k].reshape(-1)[i]
    return [
        (own == chosen).astype(leaf.dtype)
        if issubclass(type(leaf), ndarray)
        else float(own == chosen)
        for leaf, own in zip(leaves, variables, strict=True)
    ]


def zero(leaf: Any) -> Any:
    """Return zero like a number or an array."""
    if np.ndim(leaf) == 0 and not issubclass(type(leaf), np.ndarray):
        return 0.0
    return np.zeros(np.shape(leaf), leaf.dtype)
