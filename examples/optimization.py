"""Minimise a smooth function: by SciPy if it is installed, else by a small L-BFGS in NumPy."""

from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ValueAndGradient = Callable[[Array], tuple[float, Array]]
Report = Callable[[int, float], None]

# What a simulation that overflowed is worth: bad enough to be left, finite enough to be compared.
HOPELESS = 1e100


def minimize(function: ValueAndGradient, start: Array, iterations: int, report: Report) -> Array:
    """Return the best point found from `start`.

    Parameters
    ----------
    function : callable
        From a vector to the value there and its gradient.
    start : ndarray, shape (n,)
    iterations : int
        The most to do; fewer if no step makes the value smaller.
    report : callable
        Called with the number of each iteration and its value.
    """
    try:
        from scipy.optimize import minimize as scipy_minimize
    except ImportError:
        return lbfgs(guarded(function), start, iterations, report)

    done = 0

    def callback(intermediate_result: object) -> None:
        nonlocal done
        done += 1
        report(done, float(intermediate_result.fun))  # type: ignore[attr-defined]

    options = {"maxiter": iterations, "maxfun": 2 * iterations}
    return scipy_minimize(
        guarded(function), start, jac=True, method="L-BFGS-B", callback=callback, options=options
    ).x


def guarded(function: ValueAndGradient) -> ValueAndGradient:
    """Return `function` with a large value in place of infinities and nan."""

    def guarded_function(x: Array) -> tuple[float, Array]:
        with np.errstate(all="ignore"):
            value, gradient = function(x)
        if np.isfinite(value) and np.all(np.isfinite(gradient)):
            return float(value), gradient
        return HOPELESS, np.zeros_like(x)

    return guarded_function


def lbfgs(
    function: ValueAndGradient, start: Array, iterations: int, report: Report, memory: int = 10
) -> Array:
    """Limited-memory BFGS with backtracking.

    References
    ----------
    J. Nocedal and S. J. Wright, Numerical Optimization (2006), algorithms 3.1, 7.4 and 7.5.
    """
    x = start.copy()
    value, gradient = function(x)
    pairs: deque[tuple[Array, Array]] = deque(maxlen=memory)
    for iteration in range(1, iterations + 1):
        direction = -inverse_hessian_times(gradient, pairs)
        # Nothing is known of the scale at first: move by one unit at most.
        step = 1.0 if pairs else min(1.0, 1.0 / (np.linalg.norm(gradient) + 1e-300))
        slope = direction @ gradient
        while True:
            moved = x + step * direction
            moved_value, moved_gradient = function(moved)
            if moved_value <= value + 1e-4 * step * slope:
                break
            step *= 0.5
            if step < 1e-10:
                return x
        move, turn = moved - x, moved_gradient - gradient
        # Only a pair of positive curvature keeps the inverse Hessian positive definite.
        if move @ turn > 1e-10 * np.linalg.norm(move) * np.linalg.norm(turn):
            pairs.append((move, turn))
        little = value - moved_value <= 1e-10 * abs(value)
        x, value, gradient = moved, moved_value, moved_gradient
        report(iteration, value)
        if little:
            break
    return x


def inverse_hessian_times(gradient: Array, pairs: deque[tuple[Array, Array]]) -> Array:
    """Apply the inverse Hessian that the last moves suggest (two-loop recursion)."""
    q = gradient.copy()
    weights = []
    for move, turn in reversed(pairs):
        weight = (move @ q) / (move @ turn)
        q -= weight * turn
        weights.append(weight)
    if pairs:
        move, turn = pairs[-1]
        q *= (move @ turn) / (turn @ turn)
    for (move, turn), weight in zip(pairs, reversed(weights), strict=True):
        q += (weight - (turn @ q) / (move @ turn)) * move
    return q
