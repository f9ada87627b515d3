"""Stacks of matrices, for which SciPy calls a function of one matrix again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from mooncake_py.rules.kinds import NotImplementedDerivative
from mooncake_py.tangents.kinds import NoTangent

__all__ = ["VECTORS", "over_stacks"]

F = TypeVar("F", bound=Callable[..., Any])
Shape = tuple[int, ...]
VECTORS = "1|2"  # a right-hand side: one vector, or a matrix of them


def over_stacks(function: Callable[..., Any], *cores: Any) -> Callable[[F], F]:
    """Let a rule by pullback for one matrix take stacks: it is applied to each matrix.

    Parameters
    ----------
    function : callable
        The function of the rule, which broadcasts stacks and computes the values.
    *cores : int, VECTORS, None or tuple
        How many axes of each of the first arguments belong to one matrix, None for an argument that
        is not an array, a tuple for a tuple.
    """

    def declare(rule: F) -> F:
        @wraps(rule)
        def rule_of_stacks(*args: Any, **options: Any) -> Any:
            operands, others = args[: len(cores)], args[len(cores) :]
            shapes = [s for a, core in zip(operands, cores, strict=False) for s in stacks(a, core)]
            if not any(shapes):
                return rule(*args, **options)
            whole = np.broadcast_shapes(*shapes)

            def cotangents_at(index: Shape, dy: Any) -> Any:
                pairs = zip(operands, cores, strict=False)
                one = [matrix_at(a, core, whole, index) for a, core in pairs]
                _, pullback = rule(*one, *others, **options)
                found = pullback(part_at(dy, index))
                return found if isinstance(found, tuple) else (found,)

            def pullback_of_stacks(dy: Any) -> Any:
                found = [cotangents_at(index, dy) for index in np.ndindex(whole)]
                return tuple([joined(parts, whole) for parts in zip(*found, strict=True)])

            return function(*args, **options), pullback_of_stacks

        return rule_of_stacks  # type: ignore[return-value]

    return declare


def stacks(argument: Any, core: Any) -> Iterator[Shape]:
    """Yield the shapes of the stacks in an argument; that of one matrix is ()."""
    if isinstance(core, tuple):
        for part, its_core in zip(argument, core, strict=False):
            yield from stacks(part, its_core)
    elif core is not None and argument is not None:
        shape = np.shape(argument)
        yield shape[: max(0, len(shape) - axes_of(core, len(shape)))]


def axes_of(core: Any, ndim: int) -> int:
    """Return how many axes of an array belong to one matrix."""
    return min(ndim, 2) if core == VECTORS else core


def matrix_at(argument: Any, core: Any, whole: Shape, index: Shape) -> Any:
    """Return the part of an argument that belongs to one place of the whole stack."""
    if isinstance(core, tuple):
        parts = zip(argument, core, strict=False)
        return tuple([matrix_at(part, its_core, whole, index) for part, its_core in parts])
    if core is None or argument is None:
        return argument
    a = np.asarray(argument)
    n = a.ndim - axes_of(core, a.ndim)
    if n <= 0:
        return a
    places = zip(index[len(index) - n :], a.shape, strict=False)
    return a[tuple([0 if length == 1 else k for k, length in places])]


def part_at(dy: Any, index: Shape) -> Any:
    """Return the cotangent of the result for one matrix; of what has none it stays the same."""
    if isinstance(dy, (tuple, list)):
        return tuple([part_at(part, index) for part in dy])
    return dy if dy is None or isinstance(dy, NoTangent) else dy[index]


def joined(parts: Any, whole: Shape) -> Any:
    """Return the cotangent of a stack from those of its matrices."""
    first = parts[0]
    for part in parts:
        if isinstance(part, NotImplementedDerivative):
            return part
    if first is None:
        return None
    if isinstance(first, (tuple, list)):
        return [joined(inner, whole) for inner in zip(*parts, strict=True)]
    arrays: list[Any] = [part() if callable(part) else part for part in parts]
    stack = np.stack(arrays)
    return np.reshape(stack, (*whole, *stack.shape[1:]))
