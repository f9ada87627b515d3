"""Minima in many variables: systems with the Hessian are solved by Hessian-vector products.

A full Hessian takes one product for each variable, and memory for all of them.  The method of
conjugate gradients takes a few products for each derivative instead.  They are computed with the
derivative, for example in the reverse pass, when the engine has restored the state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.boundary.detached import Bare
from mooncake_py.boundary.hooked import protect_what_is_read
from mooncake_py.diagnostics.notes import located
from mooncake_py.errors import SolverError
from mooncake_py.interface import jvp
from mooncake_py.modes.forward.context import ForwardContext
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.rules.declare import contextual
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.enclosing import enclosed
from mooncake_py.runtime.pulls import deliver

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["correction_by_products"]

PRECISION = 1e-12
TOLERANCE = 1e-4


class Jacobian:
    """The Jacobian of a gradient; the rows of held variables are those of the identity.

    Parameters
    ----------
    ctx : Mode
        The context in which the gradient is defined; products are computed outside of it.
    gradient : callable
    x : ndarray
        Where.
    free : ndarray of bool
        False where a variable is held.
    """

    def __init__(
        self, ctx: Mode, gradient: Callable[[Any], Any], x: ndarray, free: ndarray
    ) -> None:
        protect_what_is_read(ctx, gradient)
        self.ctx, self.gradient, self.x, self.free = ctx, gradient, x, free

    def require_regular(self) -> None:
        """Raise if the Hessian is singular: then a system is solved for some right sides only.

        Of one that holds each direction in like measure, more than this part is in any of them.
        """
        n = self.x.size
        self.solve(np.cos(np.arange(float(n))), False, 1e-2 / np.sqrt(n))

    def solve(self, b: ndarray, transposed: bool, precision: float = PRECISION) -> ndarray:
        """Return the solution of a system with the Jacobian or its transpose."""
        with self.ctx.outside(), enclosed(None), Bare(self.ctx) as bare:
            gradient = bare.visit(self.gradient)[0]

            def product(v: ndarray) -> ndarray:
                return np.asarray(jvp(gradient, (self.x,), (v,))[1])

            free, held = self.free, np.where(self.free, 0.0, b)
            if transposed:
                z = conjugate_gradients(lambda v: free * product(v), free * b, precision)
                return z + held - np.where(free, 0.0, product(z))
            inner = free * (b - product(held)) if held.any() else free * b
            return held + conjugate_gradients(lambda v: free * product(v), inner, precision)


def conjugate_gradients(
    product: Callable[[ndarray], ndarray], b: ndarray, precision: float
) -> ndarray:
    """Solve a symmetric positive definite system (Hestenes and Stiefel, 1952)."""
    x, r = np.zeros_like(b), b.copy()
    p, rr = r.copy(), r @ r
    goal = precision**2 * rr
    for _ in range(10 * len(b)):
        if rr <= goal:
            return x
        q = product(p)
        curvature = p @ q
        if not curvature > 0:
            break
        step = rr / curvature
        x, r = x + step * p, r - step * q
        before, rr = rr, r @ r
        p = r + (rr / before) * p
    raise SolverError(
        "a minimum has no derivative: its Hessian is singular or not positive definite",
        why="the method of conjugate gradients does not converge with it",
        fix="hold the minimum constant by stop_gradient, or add a penalty to the function",
    )


def correction_by_products(r: Any, gradient: Any, x: Any, free: Any, guess: Any) -> Any:
    """Return zero with the derivatives of ``-solve(jacobian, r)``."""
    return r * 0.0


@contextual(correction_by_products)
def correct_inside(ctx: Mode, r: Any, gradient: Any, x: Any, free: Any, guess: Any) -> Any:
    """Check the solution, and add the correction, inside a derivative."""
    jacobian = Jacobian(ctx, gradient, unwrapped(x), free)
    try:
        jacobian.require_regular()
        step = np.linalg.norm(jacobian.solve(plain(r), False))
        if not step <= TOLERANCE * max(float(np.linalg.norm(jacobian.x)), 1.0):
            raise SolverError(
                "the solver has not converged, so that its result has no derivative",
                why=f"a step of Newton's method would change the solution by {step:.2g}",
                fix="run more iterations of the solver, with a smaller tolerance",
            )
    except SolverError as error:
        raise located(ctx, error) from None
    return ctx.call(minus_nearly_solved, r, jacobian)


def minus_nearly_solved(b: Any, jacobian: Jacobian) -> Any:
    """Return zero with the derivatives of the negative solution of a system."""
    return b * 0.0


def minus_solved(b: Any, jacobian: Jacobian) -> Any:
    """Return the negative of the solution of a system."""
    return -jacobian.solve(b, False)


@contextual(minus_nearly_solved)
def minus_nearly_solved_inside(ctx: Mode, b: Any, jacobian: Jacobian) -> Any:
    """Return zero with the derivatives of the solution."""
    if isinstance(ctx, ForwardContext):
        return pushed(ctx, minus_nearly_solved, b, jacobian)
    assert isinstance(ctx, ReverseContext)
    return recorded(ctx, np.zeros(np.shape(b)), b, jacobian)


@contextual(minus_solved)
def minus_solved_inside(ctx: Mode, b: Any, jacobian: Jacobian) -> Any:
    """Solve inside a derivative."""
    if isinstance(ctx, ForwardContext):
        return pushed(ctx, minus_solved, b, jacobian)
    assert isinstance(ctx, ReverseContext)
    return recorded(ctx, -jacobian.solve(plain(b), False), b, jacobian)


def pushed(ctx: ForwardContext, function: Callable[..., Any], b: Any, jacobian: Jacobian) -> Any:
    """Return value and tangent, both computed by the context below."""
    ctx.keep_first()
    p, t = ctx.split(b)
    y = ctx.lower(function, p, jacobian)
    return y if t is None else ctx.fresh(y, ctx.lower(minus_solved, t, jacobian))


def recorded(ctx: ReverseContext, y: ndarray, b: Any, jacobian: Jacobian) -> Any:
    """Record that `y` has the derivatives of the negative of the solution for `b`."""
    node = ctx.node_of(b)
    if node is None:
        return y
    result, out = ctx.fresh_output(y)
    ctx.record((pull_solved, out, node, jacobian))
    return result


def pull_solved(entry: tuple[Any, ...]) -> None:
    """Y = -J^-1 b.   db = -J^-T dy."""
    _, out, node, jacobian = entry
    g = out.take()
    if g is not None:
        deliver(node, -jacobian.solve(g, True), None)


def plain(a: Any) -> ndarray:
    """Return an inactive copy of an array."""
    return np.array(unwrapped(a))
