"""Derivatives in parameters that have no closed form, by differences that converge.

A distribution function is analytic in its shape parameters (and a Bessel function in its order),
on a scale that is known: central
differences of eighth order take three or four steps to agree to the last digits.  They are linear
in the function, so their own derivatives are those of the rule that the function has.  Where they
do not agree the derivative is not a number, never a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.rules.declare import zero_derivative

__all__ = ["by_unit", "differentiated", "of_smaller_tail", "positive"]

Function = Callable[..., Any]

WEIGHTS = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))
FIRST, RATIO, COUNT = 0.2, 3.0, 9
CLOSE, ENOUGH = 1e-9, 1e-6  # two estimates agree; the later one is better by RATIO**8


def positive(theta: Any) -> Any:
    """Return the scale on which functions vary with a positive shape parameter."""
    return theta / np.sqrt(1 + theta)


def by_unit(theta: Any) -> Any:
    """Return the scale for a parameter of any sign."""
    return np.ones_like(theta) + np.abs(theta) / 8


def differentiated(f: Function, i: int, xs: tuple[Any, ...], scale: Function = positive) -> Any:
    """Return the derivative of a function of `xs` in one of them, which is real."""
    xs = tuple(
        [np.asarray(x, np.result_type(x, float)) for x in xs]
    )  # single precision would not converge
    unit = detached(scale, xs[i])
    size = f(*xs) / unit
    best: Any = None
    error: Any = np.inf
    before: Any = None
    for k in range(COUNT):
        step = FIRST * RATIO**-k * unit
        now = central(f, i, xs, step) / step
        if best is None:
            best = now
        else:
            change = distance(now, before)
            closer = nearer(change, error)
            best = np.where(closer, now, best)
            error = np.where(closer, change, error)
            if converged(best, error, size):
                break
        before = now
    return np.where(agree(best, error, size), best, np.nan)


def central(f: Function, i: int, xs: tuple[Any, ...], step: Any) -> Any:
    """Return the central difference for a step, without the division by it."""
    total = 0.0
    for k, weight in WEIGHTS:
        upper = f(*xs[:i], xs[i] + k * step, *xs[i + 1 :])
        lower = f(*xs[:i], xs[i] - k * step, *xs[i + 1 :])
        total = total + weight * (upper - lower)
    return total


# Steps, and where to stop: chosen by values, and held as they are.


def detached(scale: Function, theta: Any) -> Any:
    """Return the unit of the steps."""
    return scale(np.asarray(theta, float))


def distance(now: Any, before: Any) -> Any:
    """Return how far two estimates are apart; infinity where one is not a number."""
    change = np.abs(now - before)
    return np.where(np.isnan(change), np.inf, change)


def nearer(change: Any, error: Any) -> Any:
    """Return whether estimates agree better than those before."""
    return change < error


def converged(best: Any, error: Any, size: Any) -> bool:
    """Return whether no smaller step is needed."""
    return bool(np.all(error <= CLOSE * (np.abs(best) + CLOSE * np.abs(size))))


def agree(best: Any, error: Any, size: Any) -> Any:
    """Return whether the estimates that were kept agree."""
    return error <= ENOUGH * (np.abs(best) + ENOUGH * np.abs(size))


zero_derivative(
    detached, distance, nearer, converged, agree, because="chooses the steps of differences"
)


def of_smaller_tail(
    lower: Function, upper: Function, i: int, xs: tuple[Any, ...], scale: Function = positive
) -> Any:
    """Return the derivative of `lower` = 1 - `upper`, of which differences take the smaller one."""
    small = is_small(lower(*xs))
    if np.all(small):
        return differentiated(lower, i, xs, scale)
    if not np.any(small):
        return -differentiated(upper, i, xs, scale)
    xs = np.broadcast_arrays(*xs)
    slope = np.empty(np.shape(small))
    slope[small] = differentiated(lower, i, tuple([x[small] for x in xs]), scale)
    slope[~small] = -differentiated(upper, i, tuple([x[~small] for x in xs]), scale)
    return slope


def is_small(y: Any) -> Any:
    """Return whether a probability is at most one half."""
    return y <= 0.5


zero_derivative(is_small, because="chooses the smaller tail")
