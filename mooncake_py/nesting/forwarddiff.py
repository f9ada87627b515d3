"""Forward mode for a part of a program that is differentiated in reverse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy import ndarray

from mooncake_py.boundary.exceptions import guarded
from mooncake_py.boundary.outgoing import independent
from mooncake_py.errors import InvalidTangentError, NestedDerivativeError
from mooncake_py.language.draws import Draws
from mooncake_py.modes.forward.call import run_over
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.modes.reverse.inner import InnerContext
from mooncake_py.overriding import override
from mooncake_py.recomputation.agreement import Runs
from mooncake_py.recomputation.structures import is_leaf, unit
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.enclosing import enclosing
from mooncake_py.runtime.pulls import UNDOES, deliver
from mooncake_py.words import with_article

__all__ = ["forwarddiff"]

X = TypeVar("X", bound=Any)
Y = TypeVar("Y")


def forwarddiff(f: Callable[[X], Y], x: X) -> Y:
    """Return ``f(x)``; where a reverse-mode derivative runs, `f` is differentiated forward.

    For functions of a few numbers with many operations: the reverse pass keeps their Jacobian, not
    a record of each operation.

    Parameters
    ----------
    f : callable
        Of one number or array; it returns one.  It must not capture anything else that is being
        differentiated: pass that as part of `x`.
    x : float or ndarray

    Returns
    -------
    float or ndarray
        ``f(x)``.

    Raises
    ------
    NestedDerivativeError
        If `f` reads anything but `x` that is being differentiated.

    Notes
    -----
    Inside derivatives of higher order, and where it changes arrays or containers, `f` is
    differentiated like any other code.

    Examples
    --------
    >>> from mooncake_py import forwarddiff, grad
    >>> def root(x):
    ...     y = 1.0
    ...     for _ in range(50):
    ...         y = 0.5 * (y + x / y)
    ...     return y
    >>> round(grad(lambda x: forwarddiff(root, x) ** 2)(2.0), 12)
    1.0
    """
    outer = enclosing()
    if outer is None:
        return f(x)
    if not isinstance(outer, ReverseContext) or outer.level or not is_leaf(x):
        return outer.call(f, x)
    draws, runs = Draws(), Runs(f)
    found = value_and_jacobian(outer, f, plain(x), draws, runs)
    if found is None:  # the changes must stay, with their derivatives
        with draws.again(), runs.run():
            y = outer.call(f, x)
        runs.agree(y)
        return y
    return moved_along(outer, x, *found)


class _Context(InnerContext):
    """The call of `f`, which may read only `x` of the outer active values."""

    @override
    def refusal(self) -> NestedDerivativeError:
        error = NestedDerivativeError(
            "the function of forwarddiff reads an active value other than its argument",
            where=self.user_location(),
            why="the derivative with respect to that would be lost",
            fix="pass it as part of the argument: forwarddiff(f, np.array([a, b]))",
        )
        for ctx in self.outers:
            ctx.failed(error)
        return error


def value_and_jacobian(
    outer: ReverseContext, f: Any, x: Any, draws: Draws, runs: Runs
) -> tuple[Any, Any] | None:
    """Return ``f(x)`` and its derivatives along each element of `x`, stacked in front.

    None if `f` changes something: its argument, what it has captured, or containers of its own.
    """
    rows: list[Any] = []
    y: Any = None
    for i in range(max(np.size(x), 1)):
        inner = _Context(outer)
        with draws.run(), guarded(inner), runs.run():
            ctx, output = run_over(inner, f, (x,), (unit(x, i),))
            inner.leave(output)
            if not is_leaf(output):
                raise not_one_number_or_array(output)
            y, t = ctx.split(output)
            y = independent(inner, y)
            runs.agree(y, t, x)
            if any(entry[0] in UNDOES for entry in inner.tape):
                inner.roll_back()
                return None
            rows.append(np.zeros(np.shape(y)) if t is None else np.array(unwrapped(t)))
            inner.roll_back()
    return y, np.array(rows)


def plain(x: Any) -> Any:
    """Return `x` as its own value that nothing differentiates."""
    return x.copy() if type(x) is ndarray else unwrapped(x)


def moved_along(ctx: ReverseContext, x: Any, y: Any, jacobian: ndarray) -> Any:
    """Return `y`, and record that it depends on `x` by a Jacobian."""
    node = ctx.node_of(x)
    if node is None:
        return y
    result, out = ctx.fresh_output(y)
    ctx.record((pull_jacobian, out, node, jacobian, np.shape(x)))
    return result


def pull_jacobian(entry: tuple[Any, ...]) -> None:
    """DX = J* dY."""
    _, out, node, jacobian, shape = entry
    g = out.take()
    if g is not None:
        dx = np.sum(np.conj(jacobian) * g, axis=tuple(range(1, jacobian.ndim)))
        deliver(node, dx.reshape(shape), None)


def not_one_number_or_array(output: Any) -> InvalidTangentError:
    """Return the error for a function that returns anything else."""
    kind = output.__class__ if type(output) is Active else type(output)
    return InvalidTangentError(
        f"the function of forwarddiff returned {with_article(kind.__name__)}",
        why="it keeps the Jacobian of one number or array",
        fix="return one array, or call the function without forwarddiff",
    )
