"""Arguments and outputs of functions of other packages."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from mooncake_py.errors import MissingRuleError
from mooncake_py.rules.kinds import function_name
from mooncake_py.tangents.spec import TangentSpec, register_tangent

__all__ = [
    "ForeignFunction", "differentiable_positions", "has_derivative", "like_arguments", "mapped",
    "replacing",
]  # fmt: skip


def differentiable_positions(args: Sequence[Any]) -> list[int]:
    """Return the positions of the arguments that can have a derivative."""
    return [i for i, a in enumerate(args) if has_derivative(a)]


def has_derivative(value: Any) -> bool:
    """Return whether a value is a float or complex number or array."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc"
    return isinstance(value, (float, complex, np.inexact))


def like_arguments(
    args: Sequence[Any], positions: Sequence[int], gradients: Sequence[Any]
) -> tuple[Any, ...]:
    """Return a cotangent for each argument, None for those that have none."""
    return tuple(replacing([None] * len(args), positions, gradients))


def replacing(args: Iterable[Any], positions: Sequence[int], values: Iterable[Any]) -> list[Any]:
    """Return arguments with others at some positions."""
    given = list(args)
    for i, value in zip(positions, values, strict=True):
        given[i] = value
    return given


def mapped(convert: Callable[[Any], Any], value: Any) -> Any:
    """Return a tuple or list with its parts converted, anything else converted itself."""
    if isinstance(value, (tuple, list)):
        return type(value)(mapped(convert, part) for part in value)
    return convert(value)


class ForeignFunction:
    """A function of NumPy arrays that another package computes; itself a constant.

    Parameters
    ----------
    function : callable
        Of the other package; gives name and documentation.
    run : callable
        Of NumPy arrays.
    """

    def __init__(self, function: Callable[..., Any], run: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function, updated=())
        self.run = run

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it on arrays."""
        self.refuse(kwargs)
        return self.run(*args)

    def refuse(self, kwargs: Any) -> None:
        """Raise if there are keyword arguments."""
        if kwargs:
            raise MissingRuleError(
                f"{function_name(self)} takes positional arguments only",
                why=f"it was called with {', '.join(kwargs)}=, which the other package's "
                "derivative does not reach",
                fix="bind constants by functools.partial or a lambda, and pass the rest by "
                "position",
            )


@register_tangent(ForeignFunction)
class ForeignFunctionSpec(TangentSpec):
    """Whatever it holds is constant."""

    differentiable = False
