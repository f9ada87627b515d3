"""The derivative of the solution of a differential equation, by collocation.

The right-hand side is evaluated at nodes along a solution that is known: these evaluations do not
depend on one another, and tell what the solution changes by.  With Jacobians J of the right-hand
side at the nodes, the changes Z of the slopes there and y of the state at the start of a step are

    Z_i = F_i + J_i (y + h sum_j A_ij Z_j),        y := y + h sum_j b_j Z_j,

where F_i is what the right-hand side changes by itself: the method of Gauss with these nodes,
linearised.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray
from scipy import integrate

from mooncake_py.interface import jvp
from mooncake_py.rules.declare import from_vjp
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.solvers.start import Solved

__all__ = ["FEW", "moved_along", "solution_along"]

FEW = 8
"""Unknowns up to which the Jacobians are matrices."""
NODES = 7
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


@functools.cache
def rule_of_gauss() -> tuple[ndarray, ndarray, ndarray]:
    """Return nodes in [0, 1], and coefficients of the integrals of their Lagrange polynomials."""
    nodes = (np.polynomial.legendre.leggauss(NODES)[0] + 1) / 2
    powers = np.arange(NODES)
    polynomials = np.linalg.inv(nodes[None, :] ** powers[:, None])  # rows: by powers of t
    integrals = polynomials / (powers + 1)
    return nodes, integrals, weights_at(nodes, integrals)


def weights_at(place: ndarray, integrals: ndarray) -> ndarray:
    """Return the integrals of the Lagrange polynomials from 0 to some places."""
    return place[:, None] ** np.arange(1, NODES + 1) @ integrals.T


def solution_along(
    f: Any, state_first: bool, y0: ndarray, times: ndarray, rtol: Any, atol: Any
) -> Along:
    """Return a solution from plain numbers, by an explicit method whose steps are then used.

    The right-hand side is a function of time and state, or of state and time.
    """
    function = (lambda t, y: f(y, t)) if state_first else f
    span = float(times[0]), float(times[-1])
    found: Any = integrate.solve_ivp(
        function, span, y0, "DOP853", rtol=rtol, atol=atol, dense_output=True
    )
    none: Any = ()
    if not found.success:
        return Along(False, found.message, none, none, [], none)
    places, integrals, within = rule_of_gauss()
    starts, lengths = found.t[:-1], np.diff(found.t)
    states = [
        step(step.t_old + (step.t - step.t_old) * places).T for step in found.sol.interpolants
    ]
    at = (starts[:, None] + lengths[:, None] * places).ravel().tolist()
    nodes = list(zip(at, np.concatenate(states), strict=True))
    sign = 1.0 if lengths[0] > 0 else -1.0
    of_time = np.clip(np.searchsorted(sign * starts, sign * times, "right") - 1, 0, None)
    weights = weights_at((times - starts[of_time]) / lengths[of_time], integrals)
    jacobians = jacobians_along(f, state_first, nodes, len(y0)).reshape(-1, NODES, *2 * y0.shape)
    systems = np.einsum("k,kipq,ij->kipjq", lengths, jacobians, within)
    size = NODES * len(y0)
    inverses = np.linalg.inv(np.eye(size) - systems.reshape(-1, size, size))
    matrices = inverses, jacobians, lengths, of_time, weights
    return Along(True, "", found.sol(times).T, found.y.T[:-1], nodes, matrices)


def jacobians_along(f: Any, state_first: bool, nodes: list[tuple[Any, Any]], n: int) -> ndarray:
    """Return the Jacobians of a right-hand side at nodes."""

    def moved(shift: Any) -> Any:
        if state_first:
            return np.array([f(y + shift, t) for t, y in nodes])
        return np.array([f(t, y + shift) for t, y in nodes])

    if n == 1:
        found = [jvp(moved, (np.zeros(1),), (np.ones(1),))[1]]
    else:
        directions: Any = [(row,) for row in np.eye(n)]
        _, found = jvp(moved, (np.zeros(n),), directions)
    return np.stack([np.reshape(column, (len(nodes), n)) for column in found], axis=-1)


def moved_along(
    run: Solved, f: Any, state_first: bool, y0: Any, found: ndarray, along: Along
) -> tuple[Any, ndarray, ndarray]:
    """Return what a solver has found at some times, with its derivative.

    And the states at the nodes, with those that follow from the slopes there.
    """
    ctx = run.ctx
    slopes = ctx.call(slopes_at, f, state_first, along.nodes)
    y = ctx.call(propagated, slopes, y0, found, *along.matrices)
    lengths = along.matrices[2]
    plain = np.reshape(unwrapped(slopes), (len(lengths), NODES, -1))
    within = lengths[:, None, None] * rule_of_gauss()[2]
    states = np.array([y for _, y in along.nodes]).reshape(plain.shape)
    return y, states, along.starts[:, None] + within @ plain


def slopes_at(f: Any, state_first: bool, nodes: list[tuple[Any, Any]]) -> Any:
    """Return the slopes at nodes."""
    if state_first:
        return np.array([f(y, t) for t, y in nodes])
    return np.array([f(t, y) for t, y in nodes])


def propagated(slopes: Any, y0: Any, found: ndarray, *matrices: Any) -> ndarray:
    """Return the solution at some times, which changes with the slopes at nodes and the start."""
    return found.copy()


def push_propagated(
    tangents: Any, y: ndarray, slopes: Any, y0: Any, found: ndarray, *matrices: Any
) -> ndarray:
    """Return the change of the solution."""
    inverses, jacobians, lengths, of_time, weights = matrices
    n, steps = y.shape[1], len(lengths)
    moved, state = tangents[:2]
    changes = np.zeros((steps, NODES, n)) if moved is None else moved.reshape(steps, NODES, n)
    state = np.zeros(n) if state is None else state
    starts, z = np.empty((steps, n)), np.empty((steps, NODES, n))
    of_all = lengths[:, None] * rule_of_gauss()[1].sum(axis=1)
    for k in range(steps):
        starts[k] = state
        z[k] = (inverses[k] @ (changes[k] + jacobians[k] @ state).ravel()).reshape(NODES, n)
        state = state + of_all[k] @ z[k]
    within = lengths[of_time][:, None] * weights
    return starts[of_time] + np.einsum("mi,min->mn", within, z[of_time])


@from_vjp(propagated, jvp=push_propagated)
def propagated_rule(slopes: Any, y0: Any, found: ndarray, *matrices: Any) -> Any:
    """Return the solution and its pullback, which goes through the steps backwards."""
    inverses, jacobians, lengths, of_time, weights = matrices
    n, steps = found.shape[1], len(lengths)

    def pull(dy: ndarray) -> Any:
        of_starts, of_z = np.zeros((steps, n)), np.zeros((steps, NODES, n))
        np.add.at(of_starts, of_time, dy)
        within = lengths[of_time][:, None] * weights
        np.add.at(of_z, of_time, within[:, :, None] * dy[:, None, :])
        of_all = lengths[:, None] * rule_of_gauss()[1].sum(axis=1)
        of_changes, state = np.empty_like(of_z), np.zeros(n)
        for k in reversed(range(steps)):
            z = of_z[k] + of_all[k][:, None] * state
            of_changes[k] = (z.ravel() @ inverses[k]).reshape(NODES, n)
            state = state + of_starts[k] + np.einsum("ipq,ip->q", jacobians[k], of_changes[k])
        return of_changes.reshape(np.shape(slopes)), state, *[None] * 6

    return found.copy(), pull
