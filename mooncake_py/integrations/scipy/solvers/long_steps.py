"""The steps on which a method of Gauss linearises a differential equation along a known solution.

Several steps of the method that has found the solution are joined to one with more nodes, where the
solution is smooth: fewer nodes suffice in all.  What a change of the start becomes must be smooth
there too; otherwise the step is halved.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

__all__ = ["Known", "Linearised", "Rule", "linearised_along", "rule_of_gauss", "step_at"]

FEWEST, MANY = 7, 16
"""Nodes of one step of the known solution, and of several that are joined."""
LAST = 30.0
"""How many times the tolerance the last terms of series on joined steps may be."""
DEGREE = 7
"""Of the dense output of DOP853."""
SMALL = 10
"""Such steps are never too many."""


class Rule(NamedTuple):
    """Nodes in [0, 1], and matrices that apply to the values of a polynomial at them."""

    nodes: ndarray
    series: ndarray  # gives the coefficients of Legendre's polynomials
    within: ndarray  # gives the integrals from 0 to the nodes

    def weights_at(self, places: ndarray) -> ndarray:
        """Return the matrix that gives the integrals from 0 to some places."""
        count = len(self.nodes)
        p = np.polynomial.legendre.legvander(2 * places - 1, count)
        integrals = np.empty((len(places), count))
        integrals[:, 0] = 2 * places
        integrals[:, 1:] = (p[:, 2:] - p[:, :-2]) / (2 * np.arange(1, count) + 1)
        return integrals @ self.series / 2


@functools.cache
def rule_of_gauss(count: int) -> Rule:
    """Return the rule with so many nodes."""
    x, weights = np.polynomial.legendre.leggauss(count)
    products = np.polynomial.legendre.legvander(x, count - 1) * weights[:, None]
    rule = Rule((x + 1) / 2, ((np.arange(count) + 0.5) * products).T, np.empty(0))
    return rule._replace(within=rule.weights_at(rule.nodes))


def step_at(starts: ndarray, is_forward: bool, times: ndarray) -> ndarray:
    """Return the numbers of the steps that times are in."""
    sign = 1.0 if is_forward else -1.0
    return np.clip(np.searchsorted(sign * starts, sign * times, "right") - 1, 0, None)


class Known:
    """The solution of `solve_ivp` by a method whose dense outputs are polynomials.

    Its own evaluation of them goes through the steps one by one.
    """

    def __init__(self, found: Any) -> None:
        rule, steps = rule_of_gauss(DEGREE + 1), found.sol.interpolants
        places = [step.t_old + (step.t - step.t_old) * rule.nodes for step in steps]
        values = np.array([step(t).T for step, t in zip(steps, places, strict=True)])
        self.t = found.t
        self.size = max(float(np.max(np.abs(found.y))), np.finfo(float).tiny)
        self.series = rule.series @ values

    def __call__(self, times: ndarray) -> ndarray:
        """Return the states at some times, in rows."""
        t = self.t
        step = step_at(t[:-1], t[-1] > t[0], times)
        x = (times - t[step]) / (t[step + 1] - t[step])
        p = np.polynomial.legendre.legvander(2 * x - 1, DEGREE)
        return np.einsum("ij,ijn->in", p, self.series[step])


class Linearised(NamedTuple):
    """Steps, in arrays by step, node, equation and unknown."""

    spans: ndarray  # times of the start and the end
    states: ndarray
    slopes: ndarray
    jacobians: ndarray
    inverses: ndarray  # of the systems

    @property
    def lengths(self) -> ndarray:
        """In time, negative backwards."""
        return np.diff(self.spans)[:, 0]

    def chosen(self, which: ndarray) -> Linearised:
        """Return some of the steps."""
        return Linearised(*[part[which] for part in self])


class Allowed:
    """How large the last terms of series may be, by the tolerances of the solution."""

    def __init__(self, known: Known, rtol: Any, atol: Any) -> None:
        self.rtol, self.atol = rtol, atol
        self.relative = LAST * (np.max(rtol) + np.max(atol) / known.size)
        self.at_start = self.of(known(known.t[[0, 0]]))

    def of(self, states: ndarray) -> ndarray:
        """Return it for the unknowns in steps, by where they are smallest but not for a moment.

        What goes wrong where a solution is small may grow with it.
        """
        sizes = np.abs(states)
        least = np.min(np.maximum(sizes[..., 1:, :], sizes[..., :-1, :]), axis=-2)
        return LAST * (self.rtol * least + self.atol)


Evaluate = Callable[[list[tuple[Any, Any]]], tuple[ndarray, ndarray]]
"""Returns slopes and Jacobians at nodes, which are pairs of a time and a state."""


def linearised_along(known: Known, evaluate: Evaluate, rtol: Any, atol: Any) -> Linearised:
    """Return steps along a solution that is known."""
    allowed = Allowed(known, rtol, atol)
    short = np.stack([known.t[:-1], known.t[1:]], 1)
    most = max(FEWEST * len(short), MANY * SMALL)
    spans = joined(known, allowed)
    parts: list[Linearised] = []
    while MANY * (len(spans) + sum(len(part.spans) for part in parts)) <= most:
        parts.append(linearised(known, evaluate, spans, MANY))
        steps = Linearised(*map(np.concatenate, zip(*parts, strict=True)))
        steps = steps.chosen(np.argsort(np.abs(steps.spans[:, 0] - known.t[0])))
        smooth = are_smooth(steps, allowed)
        if smooth.all():
            return steps
        starts, ends = steps.spans[~smooth].T
        middle = (starts + ends) / 2
        spans, parts = np.stack([starts, middle, middle, ends], 1), [steps.chosen(smooth)]
        spans = spans.reshape(-1, 2)
    return linearised(known, evaluate, short, FEWEST)


def joined(known: Known, allowed: Allowed) -> ndarray:
    """Return the starts and ends of steps that are as long as the solution is smooth."""
    rule, t, steps = rule_of_gauss(MANY), known.t, len(known.t) - 1

    def is_smooth(i: int, j: int) -> bool:
        states = known(t[i] + (t[j] - t[i]) * rule.nodes)
        return bool(np.all(np.abs(rule.series[-2:] @ states) <= allowed.of(states)))

    if is_smooth(0, steps):
        return t[None, [0, -1]]
    spans, count, i = [], 1, 0
    while i < steps:
        before = count = min(count, steps - i)
        while count > 1 and not is_smooth(i, i + count):
            count -= max(count // 4, 1)
        if count == before:
            while (more := count + max(count // 4, 1)) <= steps - i and is_smooth(i, i + more):
                count = more
        spans.append((t[i], t[i + count]))
        i += count
    return np.array(spans)


def linearised(known: Known, evaluate: Evaluate, spans: ndarray, count: int) -> Linearised:
    """Return steps with so many nodes."""
    rule = rule_of_gauss(count)
    lengths = np.diff(spans)
    times = (spans[:, :1] + lengths * rule.nodes).ravel()
    states = known(times)
    slopes, jacobians = evaluate(list(zip(times.tolist(), states, strict=True)))
    n = states.shape[1]
    jacobians = jacobians.reshape(-1, count, n, n)
    systems = np.einsum("k,kipq,ij->kipjq", lengths[:, 0], jacobians, rule.within)
    inverses = np.linalg.inv(np.eye(count * n) - systems.reshape(-1, count * n, count * n))
    shape = (-1, count, n)
    return Linearised(spans, states.reshape(shape), slopes.reshape(shape), jacobians, inverses)


def are_smooth(steps: Linearised, allowed: Allowed) -> ndarray:
    """Return on which steps the slopes are smooth, and those of changes that begin at the start."""
    k, count, n = steps.slopes.shape
    of_states = allowed.of(steps.states)
    sizes = np.concatenate([np.ones(n), np.tile(allowed.at_start, n)])  # of what they are of
    most = np.concatenate([of_states, allowed.relative * np.repeat(of_states, n, axis=1)], axis=1)
    both = np.concatenate([steps.slopes, slopes_of_changes(steps)], axis=2)
    last = np.abs(rule_of_gauss(count).series[-2:] @ (both * sizes))
    last *= np.abs(steps.lengths)[:, None, None] / (4 * count)  # those of the integrals
    return np.all(last <= most.reshape(k, 1, -1), axis=(1, 2))


def slopes_of_changes(steps: Linearised) -> ndarray:
    """Return the slopes of what changes of each unknown at the start become, in one row."""
    k, count, n = steps.slopes.shape
    weights, change = rule_of_gauss(count).series[0], np.eye(n)
    lengths = steps.lengths
    found = np.empty((k, count, n, n))
    for i in range(k):
        of_start = (steps.jacobians[i] @ change).reshape(count * n, n)
        found[i] = (steps.inverses[i] @ of_start).reshape(count, n, n)
        change = change + lengths[i] * np.tensordot(weights, found[i], 1)
    return found.reshape(k, count, n * n)
