"""Finite differences of functions whose arguments are floats, arrays, and lists of them."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


def leaves(tree: Any) -> Iterator[np.ndarray]:
    """Yield the floats and arrays of nested tuples and lists, in order, as arrays."""
    if isinstance(tree, (tuple, list)):
        for part in tree:
            yield from leaves(part)
    else:
        yield np.asarray(tree)


def random_like(tree: Any, random: np.random.Generator) -> Any:
    """Return a random direction with the structure and shapes of `tree`."""
    if isinstance(tree, (tuple, list)):
        return type(tree)(random_like(part, random) for part in tree)
    return random.standard_normal(np.shape(tree) or None)


def inner(left: Any, right: Any) -> float:
    """Return the sum of the products of all numbers in two trees of the same structure."""
    pairs = zip(leaves(left), leaves(right), strict=True)
    return float(sum(np.sum(a * b) for a, b in pairs))


def moved(tree: Any, direction: Any, step: float) -> Any:
    """Return `tree` moved by `step` along `direction`."""
    if isinstance(tree, (tuple, list)):
        return type(tree)(moved(t, d, step) for t, d in zip(tree, direction, strict=True))
    return tree + step * direction


def directional_derivative(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    argnum: int,
    direction: Any,
    h: float = 1e-4,
) -> float:
    """Return the derivative along a change of one argument, by a fourth-order difference."""

    def value(step: float) -> float:
        fresh = list(copy.deepcopy(arguments))
        fresh[argnum] = moved(fresh[argnum], direction, step)
        return float(function(*fresh))

    return (8.0 * (value(h) - value(-h)) - (value(2.0 * h) - value(-2.0 * h))) / (12.0 * h)
