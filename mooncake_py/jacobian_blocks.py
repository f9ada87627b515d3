"""Jacobians as arrays, in the structures of outputs and arguments."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from mooncake_py.boundary.arguments import name_of, not_differentiable
from mooncake_py.errors import (
    InvalidTangentError,
    NonDifferentiableArgumentError,
    NonScalarOutputError,
)
from mooncake_py.recomputation.units import unit_parts, variables_in
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.values import INEXACT_SCALARS
from mooncake_py.tangents.contents import elements_of, plain_dict
from mooncake_py.utilities.structures import holds_numbers
from mooncake_py.words import with_article

__all__ = [
    "FEW", "Block", "Mode", "arranged", "collect", "is_leaf", "of_both", "of_columns",
    "real_leaves", "refilled", "require_numbers", "spread", "unit_directions",
]  # fmt: skip

FEW = 4
"""Inputs of which the columns are computed before it is known how many rows there are.

A run in forward mode along four directions takes about as long as one in reverse mode and back."""

Mode = Literal["auto", "forward", "reverse"]


class Block(NamedTuple):
    """The Jacobians of one number or array of the output, one for each of the input."""

    arrays: list[Any]


def of_columns(y: Any, columns: list[Any], leaves: list[Any]) -> Any:
    """Return a `Block` for each number and array of an output, from its derivatives."""

    def block(part: Any, path: tuple[Any, ...]) -> Block:
        arrays: list[Any] = []
        start = 0
        for leaf in leaves:
            found = [at(dy, path) for dy in columns[start : start + np.size(leaf)]]
            start += np.size(leaf)
            if not found:
                arrays.append(of_both(np.zeros(np.shape(part) + np.shape(leaf)), part, leaf))
            elif np.ndim(leaf) == 0:
                arrays.append(of_both(found[0], part, leaf))
            else:
                own = np.stack(found, axis=-1).reshape(np.shape(part) + np.shape(leaf))
                arrays.append(of_both(own, part, leaf))
        return Block(arrays)

    return spread(block, y, ())


def of_both(block: Any, part: Any, leaf: Any) -> Any:
    """Return a block in the precision of output and input together, the same in both modes."""
    kind = np.result_type(dtype_of(part), dtype_of(leaf))
    if kind == dtype_of(block):
        return block
    return block.astype(kind) if isinstance(block, np.ndarray) else kind.type(block)


def dtype_of(value: Any) -> Any:
    """Return the dtype of an array or a number."""
    return value.dtype if isinstance(value, (np.ndarray, np.generic)) else np.dtype(type(value))


def is_leaf(value: Any) -> bool:
    """Return whether a value is a number or an array that can have a derivative."""
    if issubclass(type(value), np.ndarray):
        return value.dtype.kind in "fc"
    return type(value) is Active or type(value) in INEXACT_SCALARS  # and none of a subclass


def collect(value: Any, found: list[Any], above: tuple[int, ...] = ()) -> None:
    """Append the numbers and arrays in a value, in order."""
    if is_leaf(value):
        found.append(value)
    elif issubclass(type(value), (list, tuple, dict)):
        if id(value) in above:
            raise no_place(value, "contains itself")
        above = (*above, id(value))
        is_dict = issubclass(type(value), dict)
        for part in plain_dict(value).values() if is_dict else elements_of(value):
            collect(part, found, above)
    elif holds_numbers(value):
        raise no_place(value, "holds numbers")


def spread(f: Any, value: Any, path: tuple[Any, ...]) -> Any:
    """Apply ``f(leaf, path)`` to the numbers and arrays in a value; the rest becomes None."""
    if is_leaf(value):
        return f(value, path)
    if issubclass(type(value), (list, tuple)):
        return like(
            value, [spread(f, part, (*path, i)) for i, part in enumerate(elements_of(value))]
        )
    if issubclass(type(value), dict):
        return {key: spread(f, part, (*path, key)) for key, part in plain_dict(value).items()}
    return None


def like(value: Any, parts: list[Any]) -> Any:
    """Return a list, a tuple or a namedtuple like `value` with these parts."""
    if issubclass(type(value), list):
        return parts
    return type(value)(*parts) if hasattr(type(value), "_fields") else tuple(parts)


def refilled(value: Any, parts: list[Any]) -> Any:
    """Return the structure of a value with other numbers and arrays, in order."""
    rest = iter(parts)
    return spread(lambda leaf, path: next(rest), value, ())


def at(value: Any, path: tuple[Any, ...]) -> Any:
    """Return the part of a structure at a path."""
    for key in path:
        value = value[key]
    return value


def arranged(blocks: Any, values: Any, several: bool) -> Any:
    """Put, for each part of the output, the arrays into the structure of the arguments."""
    if isinstance(blocks, Block):
        filled = refilled(values, blocks.arrays)
        return filled if several else filled[0]
    if issubclass(type(blocks), dict):
        return {key: arranged(part, values, several) for key, part in blocks.items()}
    if issubclass(type(blocks), (list, tuple)):
        return like(blocks, [arranged(part, values, several) for part in blocks])
    return blocks


def no_place(value: Any, trouble: str) -> InvalidTangentError:
    """Return the error for a part of an argument or an output that a Jacobian has no place for."""
    kind = type(value).__name__
    return InvalidTangentError(
        f"a Jacobian was asked for with respect to, or of, {with_article(kind)} that {trouble}",
        why="it has an array for each number or array of the output, and of the arguments, in\n"
        "their tuples, lists and dicts",
        fix="pass and return arrays, or tuples, lists and dicts of these; or use vjp or jvp",
    )


def unit_directions(
    values: Any, leaves: list[Any], first: int = 0, end: int | None = None
) -> list[Any]:
    """Return unit vectors of the input, in its structure: all of them may take much memory."""
    variables = variables_in(values)
    places = [(k, i) for k, leaf in enumerate(leaves) for i in range(np.size(leaf))]
    return [refilled(values, unit_parts(leaves, variables, k, i)) for k, i in places[first:end]]


def real_leaves(f: Any, chosen: Any, values: Any) -> list[Any]:
    """Return the numbers and arrays in the chosen arguments, which must be there and be real."""
    leaves: list[Any] = []
    collect(values, leaves)
    if any(map(np.iscomplexobj, leaves)):
        raise complex_argument(f)
    if not leaves:
        raise not_differentiable(f, chosen[0], values[0])
    return leaves


def require_numbers(f: Any, y: Any) -> list[Any]:
    """Return the numbers and arrays in a result; raise if it is something else."""
    outputs: list[Any] = []
    collect(y, outputs)
    if not outputs and not issubclass(type(y), (list, tuple, dict)):
        raise no_numbers(f, y)
    return outputs


def complex_argument(f: Any) -> NonDifferentiableArgumentError:
    """Return the error for a Jacobian with respect to complex numbers."""
    return NonDifferentiableArgumentError(
        f"the Jacobian of {name_of(f)} with respect to complex numbers was asked for",
        why="the derivative with respect to a complex number is a complex number only if the "
        "function is holomorphic",
        fix="pass real and imaginary parts as real arrays",
    )


def no_numbers(f: Any, y: Any) -> NonScalarOutputError:
    """Return the error for a function that returns None, a text or ints."""
    kind = f"an array of dtype {y.dtype}" if issubclass(type(y), np.ndarray) else type(y).__name__
    return NonScalarOutputError(
        f"the Jacobian of {name_of(f)} was asked for, which returned no floats: {kind}",
        fix="return a float, or an array of floats: is a `return` missing?",
    )
