"""Nested arguments and outputs of functions of other packages, as flat ones for their rules."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from mooncake_py.errors import MissingRuleError
from mooncake_py.rules.kinds import function_name
from mooncake_py.tangents.spec import TangentSpec, register_tangent

__all__ = [
    "FlatFunction", "Nesting", "has_derivative", "like_arguments", "nested", "replacing",
    "with_derivative",
]  # fmt: skip

DICTS = dict, OrderedDict
SEQUENCES = tuple, list


class Nesting:
    """How the arguments of one call are nested and, once it has run, its outputs.

    Either is a tree of dicts, tuples and lists with a position in place of each leaf.
    """

    def __init__(self, arguments: Any) -> None:
        self.arguments = arguments
        self.outputs: Any = None

    def called(self, function: Callable[..., Any], leaves: Sequence[Any]) -> list[Any]:
        """Call a function of nested arguments, and return the leaves of its outputs."""
        outputs: list[Any] = []
        self.outputs = numbered(function(*filled(self.arguments, leaves)), outputs)
        return outputs


def numbered(tree: Any, leaves: list[Any]) -> Any:
    """Return containers with positions in place of leaves, which are appended to `leaves`."""
    kind = type(tree)
    if kind in DICTS:
        return kind([(name, numbered(part, leaves)) for name, part in tree.items()])
    if hasattr(kind, "_fields") and isinstance(tree, tuple):
        return kind(*[numbered(part, leaves) for part in tree])
    if kind in SEQUENCES:
        return kind([numbered(part, leaves) for part in tree])
    leaves.append(tree)
    return len(leaves) - 1


def filled(tree: Any, leaves: Sequence[Any]) -> Any:
    """Return containers with the leaves whose positions they hold."""
    if type(tree) is int:
        return leaves[tree]
    kind = type(tree)
    if kind in DICTS:
        return kind([(name, filled(part, leaves)) for name, part in tree.items()])
    if kind in SEQUENCES:
        return kind([filled(part, leaves) for part in tree])
    return kind(*[filled(part, leaves) for part in tree])


def with_derivative(leaves: Sequence[Any]) -> list[int]:
    """Return the positions of the leaves that can have a derivative."""
    return [i for i, leaf in enumerate(leaves) if has_derivative(leaf)]


def has_derivative(value: Any) -> bool:
    """Whether a value is a float or complex number or array."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc"
    return isinstance(value, (float, complex, np.inexact))


def like_arguments(
    leaves: Sequence[Any], positions: Sequence[int], gradients: Sequence[Any]
) -> tuple[Any, ...]:
    """Return cotangents of a nesting and its leaves, None for those that have none."""
    return (None, *replacing([None] * len(leaves), positions, gradients))


def replacing(leaves: Iterable[Any], positions: Sequence[int], values: Iterable[Any]) -> list[Any]:
    """Return leaves with others at some positions."""
    given = list(leaves)
    for i, value in zip(positions, values, strict=True):
        given[i] = value
    return given


class FlatFunction:
    """A function of leaves that another package computes, to which a rule belongs.

    Parameters
    ----------
    function : callable
        Of the other package; gives the name.
    run : callable
        ``run(nesting, *leaves)`` returns the leaves of the outputs, and notes their nesting.
    """

    def __init__(self, function: Callable[..., Any], run: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function, updated=())
        self.run = run

    def __call__(self, nesting: Nesting, *leaves: Any) -> list[Any]:
        """Run it on the leaves of arguments."""
        return self.run(nesting, *leaves)


def nested(flat: FlatFunction) -> Callable[..., Any]:
    """Return the function of nested arguments: the engine derives it around the rule."""

    def of_arrays(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise keywords_refused(flat, kwargs)
        leaves: list[Any] = []
        nesting = Nesting(numbered(args, leaves))
        outputs = flat(nesting, *leaves)
        return filled(nesting.outputs, outputs)

    of_arrays.__doc__ = flat.__doc__
    for name in ("__module__", "__name__", "__qualname__"):
        setattr(of_arrays, name, getattr(flat, name, of_arrays.__name__))
    return of_arrays


def keywords_refused(flat: FlatFunction, kwargs: Iterable[str]) -> MissingRuleError:
    """Return the error for keyword arguments."""
    return MissingRuleError(
        f"{function_name(flat)} takes positional arguments only",
        why=f"it was called with {', '.join(kwargs)}=, which the other package's "
        "derivative does not reach",
        fix="bind constants by functools.partial or a lambda, and pass the rest by position",
    )


@register_tangent(Nesting)
@register_tangent(FlatFunction)
class ConstantSpec(TangentSpec):
    """Whatever these hold is constant."""

    differentiable = False
