"""Elementwise functions that return a tuple, by the partial derivatives of each output."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import numpy as np

from mooncake_py.errors import InvalidRuleError
from mooncake_py.rules.exact_zeros import scaled as quietly
from mooncake_py.rules.holomorphic import Wirtinger
from mooncake_py.rules.inputs import missing_partial
from mooncake_py.rules.kinds import NotImplementedDerivative, function_name
from mooncake_py.words import with_article

__all__ = ["rule_of_outputs", "scaled"]


def rule_of_outputs(
    function: Any, columns: tuple[Any, ...]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the rule ``(*inputs) -> (outputs, pullback)`` of an elementwise function, and its jvp.

    Parameters
    ----------
    function : callable
    columns : tuple
        For each input a tuple with the partial derivative of each output, None or a
        `NotImplementedDerivative` for all of them.
    """

    def require_partials(inputs: Any, options: Any) -> None:
        error = missing_partial(function, len(columns), inputs, options)
        if error is not None:
            raise error

    def rule(*inputs: Any, **options: Any) -> Any:
        require_partials(inputs, options)
        ys = function(*inputs, **options)
        require_outputs(function, columns, ys)

        def pullback(dys: Any) -> tuple[Any, ...]:
            return tuple(
                partial(cotangent, function, i, column, inputs, ys, dys)
                if isinstance(column, tuple)
                else column
                for i, column in enumerate(columns)
            )

        return ys, pullback

    def jvp(tangents: Any, ys: Any, *inputs: Any, **options: Any) -> tuple[Any, ...]:
        require_partials(inputs, options)
        require_outputs(function, columns, ys)
        return tuple(tangent(function, k, columns, inputs, ys, tangents) for k in range(len(ys)))

    return rule, jvp


def require_outputs(function: Any, columns: tuple[Any, ...], ys: Any) -> None:
    """Raise if a function does not return as many outputs as there are partial derivatives."""
    count = next(len(column) for column in columns if isinstance(column, tuple))
    if isinstance(ys, tuple) and len(ys) == count:
        return
    got = f"{len(ys)} values" if isinstance(ys, tuple) else with_article(type(ys).__name__)
    raise InvalidRuleError(
        f"the rule of {function_name(function)} by elementwise is for {count} "
        f"output{'s' * (count > 1)} in a tuple, and it returned {got}",
        why="a tuple of partial derivatives has one for each output",
        fix="for a function that returns no tuple pass partial derivatives without tuples",
    )


def tangent(function: Hashable, k: int, columns: Any, inputs: Any, ys: Any, tangents: Any) -> Any:
    """Return the tangent of one output: the sum over the inputs that have one."""
    values = *map(_as_numpy, inputs), tuple(map(_as_numpy, ys))
    total: Any = None
    for position, (column, t) in enumerate(zip(columns, tangents, strict=False)):
        p = column[k] if isinstance(column, tuple) else column
        if t is None or p is None:
            continue
        if isinstance(p, NotImplementedDerivative):
            raise p.fail(function_name(function), position)
        term = pushed(t, p(*values) if callable(p) else p)
        total = term if total is None else total + term
    return total


def pushed(t: Any, slope: Any) -> Any:
    """Return slope * t, zero where t is zero."""
    if isinstance(slope, Wirtinger):
        return pushed(t, slope.dz) + pushed(np.conj(t), slope.dzbar)
    return quietly(t, slope)


def cotangent(
    function: Hashable, position: int, column: Any, inputs: Any, ys: Any, dys: Any
) -> Any:
    """Return the cotangent of one input: the sum over the outputs that have one."""
    values = *map(_as_numpy, inputs), tuple(map(_as_numpy, ys))
    total: Any = None
    for p, dy in zip(column, dys, strict=True):
        if dy is None or p is None:
            continue
        if isinstance(p, NotImplementedDerivative):
            raise p.fail(function_name(function), position)
        term = scaled(dy, p(*values) if callable(p) else p)
        total = term if total is None else total + term
    return total


def _as_numpy(value: Any) -> Any:
    """Return a number as NumPy's, which gives infinities where plain floats raise."""
    return np.asarray(value)[()] if isinstance(value, (float, int, complex)) else value


def scaled(dy: Any, slope: Any) -> Any:
    """Return conj(slope) * dy, zero where dy is zero."""
    if isinstance(slope, Wirtinger):
        return scaled(dy, slope.dz) + np.conj(scaled(dy, slope.dzbar))
    return quietly(dy, np.conj(slope))
