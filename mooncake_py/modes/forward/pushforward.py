"""Propagation of tangents through a function, from the declaration of its reverse rule.

These functions are ordinary Python and NumPy code: they run natively if primals and tangents are
plain, and are derived if the context below differentiates them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.rules.broadcasting import fit_to_parts
from mooncake_py.rules.declare import contextual
from mooncake_py.rules.exact_zeros import pushed, pushed_linearly, sum_of_pushed
from mooncake_py.rules.holomorphic import Wirtinger
from mooncake_py.rules.kinds import NotImplementedDerivative, VjpRule
from mooncake_py.rules.returned import (
    cotangents_in,
    output_and_pullback,
    positional_count,
    require_shape,
)

if TYPE_CHECKING:
    from mooncake_py.modes.forward.context import ForwardContext

__all__ = [
    "fitted", "inner", "of_bilinear", "of_elementwise", "of_jvp", "of_linear", "of_linear_only",
    "of_sequence", "of_vjp", "transposed", "weighed", "weighted",
]  # fmt: skip


def of_elementwise(partials: Any, primals: Any, tangents: Any, y: Any) -> Any:
    """Return the sum of partial * tangent over the inputs that have both."""
    total: Any = None
    for partial, t in zip(partials, tangents, strict=False):
        if t is not None and partial is not None:
            c = contribution(partial, t, primals, y)
            total = c if total is None else total + c
    return None if total is None else fitted(total, y)


def contribution(partial: Any, t: Any, primals: Any, y: Any) -> Any:
    """Return partial * t in new memory."""
    if callable(partial):
        try:
            partial = partial(*primals, y)
        except (ZeroDivisionError, OverflowError, ValueError):
            # NumPy's scalars give infinities where Python's floats raise.
            partial = partial(*[np.asarray(v)[()] for v in primals], np.asarray(y)[()])
    elif not isinstance(partial, Wirtinger) and partial == 1:
        return +t
    return pushed(t, partial)


def fitted(t: Any, y: Any) -> Any:
    """Return a new tangent with the shape, dtype and layout of a value; `t` itself if it has."""
    if type(t) is not float and np.iscomplexobj(t) and not np.iscomplexobj(y):
        t = np.real(t)
    if issubclass(type(y), np.ndarray):
        if isinstance(t, np.ndarray) and t.base is None and laid_out(t) == laid_out(y):
            return t
        new = np.zeros_like(y)
        new[...] = t
        return new
    kind = type(y)
    if isinstance(t, np.ndarray):
        t = t[()]
    return t if type(t) is kind else kind(t)


def laid_out(a: np.ndarray) -> tuple[Any, ...]:
    """Return the dtype, shape and strides of an array."""
    return a.dtype, a.shape, a.strides


def of_linear(f: Callable[..., Any], moved: Any, fixed: Any, kwargs: Any, y: Any) -> Any:
    """Return the tangent of a function that is linear in some arguments, up to a constant.

    Parameters
    ----------
    f : callable
    moved, fixed : tuple
        Its arguments, with tangents and with zeros where it is linear.  What it adds (padding,
        initial values) is the same for both.
    kwargs : dict
    y : array or number
        The output.
    """
    return fitted(f(*moved, **kwargs) - f(*fixed, **kwargs), y)


def of_linear_only(f: Callable[..., Any], tangents: Any, kwargs: Any, y: Any) -> Any:
    """Return the tangent of a function that is linear in all arguments but axes."""
    return fitted(f(*tangents, **kwargs), y)


def of_bilinear(
    f: Callable[..., Any], a: Any, b: Any, ta: Any, tb: Any, rest: Any, kwargs: Any, y: Any
) -> Any:
    """Return the tangent of a function that is linear in each of its first two arguments.

    A zero drops what it is multiplied with, in the tangents and in the other argument.
    """

    def product(p: Any, q: Any) -> Any:
        return f(p, q, *rest, **kwargs)

    if tb is None:
        return fitted(sum_of_pushed(product, ta, b), y)
    if ta is None:
        return fitted(sum_of_pushed(product, a, tb), y)
    return fitted(sum_of_pushed(product, ta, b) + sum_of_pushed(product, a, tb), y)


def of_sequence(tangents: Any, y: Any) -> Any:
    """Return the tangent of an array that was made of a sequence, from those of its parts."""
    return fitted(np.array(tangents).reshape(np.shape(y)), y)


# Rules that give a pullback: the tangent map is its transpose.


def of_vjp(
    rule: VjpRule, primals: Any, kwargs: Any, tangents: Any, gradient: Callable[..., Any]
) -> Any:
    """Return output and tangent of a function with a rule ``(*args) -> (output, pullback)``.

    The pullback is linear in the cotangent: the gradient of <pullback(g), t> with respect to g
    is the tangent of the output, whatever g is.  Of a real number it is <pullback(1), t>.
    """
    y, pullback = output_and_pullback(rule.rule(*primals, **kwargs), rule)
    g = cotangent_like(y)
    if g is None:
        return y, None
    if isinstance(g, (float, np.floating)):
        t = weighted(g, pullback, tangents, rule)
        if np.isfinite(t):  # else zeros may have met inf or nan
            return y, t
    elif rule.built_in and isinstance(g, np.ndarray) and g.size <= FEW:
        t = element_by_element(g, pullback, tangents, rule)
        if np.isfinite(t).all():
            return y, t
    elif rule.built_in and type(g) is tuple and NUMBERS.issuperset(map(type, g)):
        found = [
            None if part is None else weighted(alone(g, k), pullback, tangents, rule)
            for k, part in enumerate(g)
        ]
        if all(t is None or np.isfinite(t) for t in found):
            return y, tuple(found)
    return y, transposed(g, pullback, tangents, rule, gradient)


NUMBERS = frozenset({float, np.float64, type(None)})


def alone(g: tuple[Any, ...], k: int) -> tuple[Any, ...]:
    """Return cotangents of several outputs of which only one has any."""
    return tuple([part if i == k else None for i, part in enumerate(g)])


FEW = 8
"""Numbers of which each has its own reverse: to transpose a pullback takes as long as 30."""


def element_by_element(g: Any, pullback: Any, tangents: Any, rule: VjpRule) -> Any:
    """Return the tangent of an array, of which each number is <pullback(cotangent), tangents>.

    Several arrays do not go by this: what they depend on shows in all their cotangents.
    """
    units = (1.0, 1.0j) if g.dtype.kind == "c" else (1.0,)
    total = np.zeros_like(g)
    for index in np.ndindex(g.shape):
        for unit in units:
            c = np.zeros_like(g)
            c[index] = unit
            total[index] += unit * weighted(c, pullback, tangents, rule)
    return total


def transposed(
    g: Any, pullback: Any, tangents: Any, rule: VjpRule, gradient: Callable[..., Any]
) -> Any:
    """Return tangents pushed through a transposed pullback; `g` is like the output."""

    def push(tangents: Any) -> Any:
        return gradient(weighted, g, pullback, tangents, rule)

    return push(tangents) if rule.by_user else pushed_linearly(push, tangents)


def of_jvp(jvp: Callable[..., Any], tangents: Any, y: Any, primals: Any) -> Any:
    """Return the tangent of the output of a function by a rule of ours that gives it."""
    return pushed_linearly(lambda tangents: jvp(tangents, y, *primals), tangents)


def cotangent_like(y: Any) -> Any:
    """Return a cotangent of ones for an output; None for what has no derivative."""
    if issubclass(type(y), (tuple, list)):
        parts = tuple(map(cotangent_like, y))
        return None if all(part is None for part in parts) else parts
    if issubclass(type(y), np.ndarray):
        one = 1.0 + 1.0j if y.dtype.kind == "c" else 1.0
        return np.full_like(y, one) if y.dtype.kind in "fc" else None
    if isinstance(y, (complex, np.complexfloating)):
        return type(y)(1.0 + 1.0j)
    return type(y)(1.0) if isinstance(y, (float, np.floating)) else None


def weighted(g: Any, pullback: Callable[..., Any], tangents: Any, rule: VjpRule) -> Any:
    """Return <pullback(g), tangents>."""
    found = pullback(g)
    if found is None and issubclass(type(g), tuple):
        return 0.0  # the cotangent of one of several outputs, which has none
    takes_list = tangents[0] is None or issubclass(type(tangents[0]), list)
    least = max(i for i, t in enumerate(tangents) if t is not None) + 1
    most = positional_count(rule.rule)
    cotangents = cotangents_in(found, rule, least, most, takes_list)
    total = 0.0
    for position, (c, t) in enumerate(zip(cotangents, tangents, strict=False)):
        if isinstance(t, np.ndarray) and issubclass(type(c), np.ndarray):
            require_shape(c, t, rule, position)
        total = total + inner(c, t, rule, position)
    return total


def weighed(f: Callable[..., Any], cotangent: Any, *args: Any) -> Any:
    """Return Re<f(*args), cotangent>, and what `f` returned."""
    y = f(*args)
    total = 0.0
    for part, c in with_cotangents(y, cotangent):
        total = total + np.sum(np.real(np.conj(c) * part))
    return total, y


def with_cotangents(y: Any, cotangent: Any) -> list[tuple[Any, Any]]:
    """Return the numbers and arrays of an output that are active, with their cotangents."""
    raise NotImplementedError


@contextual(with_cotangents)
def with_cotangents_inside(ctx: ForwardContext, y: Any, cotangent: Any) -> list[tuple[Any, Any]]:
    """Return them inside the derivative to which they belong."""
    # Only where derivatives nest.
    from mooncake_py.boundary.outputs import paired

    pairs = list(paired(y, cotangent, "dy", ctx.contains_active))
    return [pair for pair in pairs if ctx.contains_active(pair[0])]


def inner(c: Any, t: Any, rule: VjpRule, position: int) -> Any:
    """Return Re<c, t>, summed over sequences; a cotangent may still be spread over more axes."""
    if t is None:
        return 0.0
    if callable(c):
        c = c()
    if isinstance(c, NotImplementedDerivative):
        raise c.fail(rule.name, position)
    if c is None:
        return 0.0
    if isinstance(t, list):
        total = 0.0
        if isinstance(c, np.ndarray):
            c = fit_to_parts(c, shape_of_parts(t))
        for part, tangent in zip(c, t, strict=True):
            total = total + inner(part, tangent, rule, position)
        return total
    total = np.sum(np.real(np.conj(c) * t))
    return total if np.isfinite(total) else np.sum(np.real(pushed(t, np.conj(c))))


def shape_of_parts(tangents: Any) -> tuple[int, ...]:
    """Return the shape of the array that a nested sequence makes, by the tangent of an element."""
    first = next(t for t in tangents if t is not None)
    shape = shape_of_parts(first) if isinstance(first, list) else np.shape(first)
    return len(tangents), *shape
