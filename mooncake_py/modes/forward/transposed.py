"""Tangents through rules with pullbacks, if the context below differentiates them.

With y = f(x), tangents t and the pullback J(x)*, the tangent of the output is J(x) t.  As a map of
x and t it has its own pullback: for a cotangent c,

    dt = J(x)* c,    dx = gradient of <J(x)* c, t> with respect to x,

Both are gradients of one number that the rule computes.  So derivatives of any order terminate,
even if the pullback calls the function itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.modes.forward.pushforward import cotangent_like, transposed, weighted
from mooncake_py.modes.reverse.differentiate import gradient_of_first
from mooncake_py.recomputation.structures import leaves, mapped, rebuilt
from mooncake_py.rules.declare import from_vjp
from mooncake_py.rules.kinds import VjpRule
from mooncake_py.rules.returned import output_and_pullback
from mooncake_py.runtime.active import Active

if TYPE_CHECKING:
    from mooncake_py.modes.forward.context import ForwardContext

__all__ = ["tangent_below"]


class Application:
    """A rule applied to primals and tangents, whose arrays and active numbers are given apart."""

    def __init__(self, rule: VjpRule, kwargs: Any, values: Any) -> None:
        self.rule = rule
        self.kwargs = kwargs
        self.values = mapped(lambda leaf: PART if is_part(leaf) else leaf, values)
        self.tangent: Any = None  # its form

    def filled(self, parts: Any) -> Any:
        """Return primals and tangents."""
        rest = iter(parts)
        return mapped(lambda leaf: next(rest) if leaf is PART else leaf, self.values)


PART = float("nan")  # in place of a part, known by identity


def is_part(leaf: Any) -> bool:
    """Return whether a number or array may be active: a plain number is a constant."""
    return type(leaf) is Active or issubclass(type(leaf), np.ndarray)


def form_of(value: Any) -> Any:
    """Return the structure of a value, with zeros for its numbers and arrays."""
    return mapped(lambda leaf: 0.0, value)


def tangent_below(
    ctx: ForwardContext, rule: VjpRule, primals: Any, kwargs: Any, tangents: Any
) -> Any:
    """Return the tangent of an output, a value of the context below that is followed there."""
    values = primals, tangents
    application = Application(rule, kwargs, values)
    given = filter(is_part, leaves(values))
    parts = ctx.lower(moved_by, application, *given)
    return rebuilt(application.tangent, list(parts))


def moved_by(application: Application, *parts: Any) -> tuple[Any, ...]:
    """Return the numbers and arrays of the tangent of an output."""
    primals, tangents = application.filled(list(parts))
    rule = application.rule
    y, pullback = output_and_pullback(rule.rule(*primals, **application.kwargs), rule)
    g = cotangent_like(y)
    if g is None:
        return ()
    tangent = transposed(g, pullback, tangents, rule, gradient_of_first)
    application.tangent = form_of(tangent)
    return tuple(leaves(tangent))


@from_vjp(moved_by)
def moved_by_rule(application: Application, *parts: Any) -> tuple[Any, Any]:
    """Return the tangent and its pullback."""
    output = moved_by(application, *parts)

    def pullback(cotangents: Any) -> tuple[Any, ...]:
        given = [
            np.zeros_like(y)[()] if c is None else c
            for c, y in zip(cotangents, output, strict=True)
        ]
        c = rebuilt(application.tangent, given)
        # Arrays that share memory have one cotangent, and here each has its own.
        apart = [np.array(p) if issubclass(type(p), np.ndarray) else p for p in parts]
        return (None, *gradient_of_first(paired_with, apart, application, c))

    return output, pullback


def paired_with(parts: Any, application: Application, cotangent: Any) -> Any:
    """Return <pullback(cotangent), tangents>."""
    primals, tangents = application.filled(parts)
    _, pullback = application.rule.rule(*primals, **application.kwargs)
    return weighted(cotangent, pullback, tangents, application.rule)
