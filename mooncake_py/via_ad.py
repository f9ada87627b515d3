"""Derivatives of function arguments, for use inside a rule."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.application.gradients import scalar_gradient
from mooncake_py.boundary.arguments import require_callable
from mooncake_py.diagnostics.tracebacks import boundary
from mooncake_py.modes.reverse.pullback import Vjp
from mooncake_py.modes.reverse.settings import settings
from mooncake_py.overriding import override
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.limits import limits_raised
from mooncake_py.runtime.tangent_tree import TangentTree
from mooncake_py.tangents import NoTangent
from mooncake_py.tangents.containers import MUTABLE, fill_container, join_container

__all__ = ["rrule_via_ad"]


def rrule_via_ad(f: Callable[..., Any], *args: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Run a function inside a rule; return its output and a pullback for it and its arguments.

    Use it in rules of functions that take functions: the rule's pullback can return the cotangents
    of this pullback.

    Parameters
    ----------
    f : callable
        Any function; its rule is declared, or derived from its source.
    *args
        Its arguments.

    Returns
    -------
    y : object
        The output, as from :func:`~mooncake_py.vjp`.
    pullback : callable
        Function from a cotangent of `y` to a tuple: the cotangent of `f` itself (of its captured
        variables or attributes; ``NoTangent()`` if there are none), then that of each argument.

    Notes
    -----
    For :func:`~mooncake_py.vjp`, arguments that share memory are separate variables; here, as in
    all rules, memory has one cotangent.  The first argument with this memory gets it, and the
    others get zero, so that the sum is right if a rule returns all of them.

    Examples
    --------
    >>> from mooncake_py import from_vjp, grad
    >>> def apply_twice(f, x):
    ...     return f(f(x))
    >>> @from_vjp(apply_twice)
    ... def apply_twice_rule(f, x):
    ...     inner, pull_inner = rrule_via_ad(f, x)
    ...     outer, pull_outer = rrule_via_ad(f, inner)
    ...     def apply_twice_pullback(dy):
    ...         df_outer, d_inner = pull_outer(dy)
    ...         df_inner, dx = pull_inner(d_inner)
    ...         return {"a": df_outer.a + df_inner.a}, dx
    ...     return outer, apply_twice_pullback
    >>> grad(lambda a, x: apply_twice(lambda t: a * t, x), argnums=(0, 1))(3.0, 2.0)
    (12.0, 9.0)
    """
    with boundary, limits_raised():
        require_callable(f)
        return _ViaAd(operator.call, (f, *args), settings()).start()


class _ViaAd(Vjp):
    """A call of a function that is an argument itself, and its pullback."""

    separates = False  # as rules do not

    @override
    def gradients(self) -> tuple[Any, ...]:
        seen: set[int] = set()
        return tuple(taken(tree, seen) for tree in self.trees)


def taken(tree: Any, seen: set[int]) -> Any:
    """Take the cotangents from nodes; those taken before are zero."""
    if tree is None or id(tree) in seen:
        return NoTangent()
    if type(tree) is Active:
        g = scalar_gradient(tree)
        tree.grad = 0.0
        return g
    if type(tree) is not TangentTree:
        g = tree.take()
        return np.zeros_like(tree.shadow()) if g is None else g
    seen.add(id(tree))
    parts = {name: taken(part, seen) for name, part in tree.parts.items()}
    if tuple(parts) == ("cell_contents",):  # a captured variable
        return parts["cell_contents"]
    if tree.kind not in MUTABLE:
        return join_container(tree.kind, parts)
    tangent = tree.kind()
    fill_container(tangent, parts)
    return tangent
