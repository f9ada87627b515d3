"""The derivative of the solution of a differential equation, by collocation.

The right-hand side is evaluated at nodes along a solution that is known: these evaluations do not
depend on one another, and tell what the solution changes by.  With Jacobians J of the right-hand
side at the nodes, the changes Z of the slopes there and y of the state at the start of a step are

    Z_i = F_i + J_i (y + h sum_j A_ij Z_j),        y := y + h sum_j b_j Z_j,

where F_i is what the right-hand side changes by itself: the method of Gauss with these nodes,
linearised.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray
from scipy import integrate

from mooncake_py.integrations.scipy.solvers.long_steps import (
    Known,
    linearised_along,
    rule_of_gauss,
    step_at,
)
from mooncake_py.rules.declare import from_vjp
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.solvers.implicit import FEW, jacobian_at
from mooncake_py.solvers.start import Solved

__all__ = ["FEW", "moved_along", "solution_along"]

Matrices = tuple[ndarray, ndarray, ndarray, ndarray, ndarray]
"""The inverses of the systems and the Jacobians of all steps, their lengths, and for each time the
step that it is in and the weights of the slopes of that step.
"""


class Along(NamedTuple):
    """A solution that is known, and its nodes."""

    success: bool
    message: str
    at_times: ndarray
    starts: ndarray  # of the steps, states
    nodes: list[tuple[Any, Any]]
    matrices: Matrices


def solution_along(
    f: Any, state_first: bool, y0: ndarray, times: ndarray, rtol: Any, atol: Any
) -> Along:
    """Return a solution from plain numbers by an explicit method, and nodes along it.

    The right-hand side is a function of time and state, or of state and time.
    """
    function = (lambda t, y: f(y.copy(), t)) if state_first else (lambda t, y: f(t, y.copy()))
    span = float(times[0]), float(times[-1])
    found: Any = integrate.solve_ivp(
        function, span, y0, "DOP853", rtol=rtol, atol=atol, dense_output=True
    )
    none: Any = ()
    if not found.success:
        return Along(False, found.message, none, none, [], none)
    known = Known(found)
    steps = linearised_along(known, partial(linearised_at, f, state_first), rtol, atol)
    rule = rule_of_gauss(steps.states.shape[1])
    starts, lengths = steps.spans[:, 0], steps.lengths
    of_time = step_at(starts, lengths[0] > 0, times)
    weights = rule.weights_at((times - starts[of_time]) / lengths[of_time])
    at = starts[:, None] + lengths[:, None] * rule.nodes
    nodes = list(zip(at.ravel().tolist(), np.concatenate(steps.states), strict=True))
    matrices = steps.inverses, steps.jacobians, lengths, of_time, weights
    return Along(True, "", known(times), known(starts), nodes, matrices)


def linearised_at(f: Any, state_first: bool, nodes: list[tuple[Any, Any]]) -> tuple[Any, ndarray]:
    """Return a right-hand side and its Jacobians at nodes."""
    n = len(nodes[0][1])

    def moved(shift: Any) -> Any:
        if state_first:
            return np.array([f(y + shift, t) for t, y in nodes], dtype=float)
        return np.array([f(t, y + shift) for t, y in nodes], dtype=float)

    slopes, jacobian = jacobian_at(moved, np.zeros(n))
    return slopes, jacobian.reshape(len(nodes), n, n)


def moved_along(
    run: Solved, f: Any, state_first: bool, y0: Any, found: ndarray, along: Along
) -> tuple[Any, ndarray, ndarray]:
    """Return a solver's solution at some times, with its derivative.

    And the states at the nodes, with those that follow from the slopes there.
    """
    ctx = run.ctx
    slopes = ctx.call(slopes_at, f, state_first, along.nodes)
    y = ctx.call(propagated, slopes, y0, found, *along.matrices)
    _, jacobians, lengths, _, _ = along.matrices
    plain = np.reshape(unwrapped(slopes), jacobians.shape[:3])
    within = lengths[:, None, None] * rule_of_gauss(jacobians.shape[1]).within
    states = np.array([y for _, y in along.nodes]).reshape(plain.shape)
    return y, states, along.starts[:, None] + within @ plain


def slopes_at(f: Any, state_first: bool, nodes: list[tuple[Any, Any]]) -> Any:
    """Return the slopes at nodes."""
    if state_first:
        return np.array([f(y.copy(), t) for t, y in nodes], dtype=float)
    return np.array([f(t, y.copy()) for t, y in nodes], dtype=float)


def propagated(slopes: Any, y0: Any, found: ndarray, *matrices: Any) -> ndarray:
    """Return the solution at some times, which changes with the slopes at nodes and the start."""
    return found.copy()


def push_propagated(
    tangents: Any, y: ndarray, slopes: Any, y0: Any, found: ndarray, *matrices: Any
) -> ndarray:
    """Return the change of the solution."""
    inverses, jacobians, lengths, of_time, weights = matrices
    steps, count, n = jacobians.shape[:3]
    moved, state = tangents[:2]
    changes = np.zeros((steps, count, n)) if moved is None else moved.reshape(steps, count, n)
    state = np.zeros(n) if state is None else state
    starts, z = np.empty((steps, n)), np.empty((steps, count, n))
    of_all = lengths[:, None] * rule_of_gauss(count).series[0]
    for k in range(steps):
        starts[k] = state
        z[k] = (inverses[k] @ (changes[k] + jacobians[k] @ state).ravel()).reshape(count, n)
        state = state + of_all[k] @ z[k]
    within = lengths[of_time][:, None] * weights
    return starts[of_time] + np.einsum("mi,min->mn", within, z[of_time])


@from_vjp(propagated, jvp=push_propagated)
def propagated_rule(slopes: Any, y0: Any, found: ndarray, *matrices: Any) -> Any:
    """Return the solution and its pullback, which goes through the steps backwards."""
    inverses, jacobians, lengths, of_time, weights = matrices
    steps, count, n = jacobians.shape[:3]

    def pull(dy: ndarray) -> Any:
        of_starts, of_z = np.zeros((steps, n)), np.zeros((steps, count, n))
        np.add.at(of_starts, of_time, dy)
        within = lengths[of_time][:, None] * weights
        np.add.at(of_z, of_time, within[:, :, None] * dy[:, None, :])
        of_all = lengths[:, None] * rule_of_gauss(count).series[0]
        of_changes, state = np.empty_like(of_z), np.zeros(n)
        for k in reversed(range(steps)):
            z = of_z[k] + of_all[k][:, None] * state
            of_changes[k] = (z.ravel() @ inverses[k]).reshape(count, n)
            state = state + of_starts[k] + np.einsum("ipq,ip->q", jacobians[k], of_changes[k])
        return of_changes.reshape(np.shape(slopes)), state, *[None] * 6

    return found.copy(), pull
