"""Check a gradient by finite differences, and time it."""

import statistics
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def largest_difference(
    function: Callable[[Array], float],
    x: Array,
    gradient: Array,
    places: Iterable[Any],
    step: float = 1e-3,
) -> float:
    """Compare some entries of a gradient with finite differences of fourth order.

    Parameters
    ----------
    function : callable
        From an array to a float.
    x, gradient : ndarray
        The point, and the gradient to check there.
    places : iterable of index
        The entries to compare.
    step : float
        The change of an entry of `x` between the points of a difference.

    Returns
    -------
    float
        The largest difference, relative to the largest of the entries compared.
    """

    def value(place: Any, distance: float) -> float:
        moved = x.copy()
        moved[place] += distance
        return function(moved)

    worst = largest = 0.0
    for place in places:
        near = value(place, step) - value(place, -step)
        far = value(place, 2.0 * step) - value(place, -2.0 * step)
        expected = (8.0 * near - far) / (12.0 * step)
        worst = max(worst, abs(float(gradient[place]) - expected))
        largest = max(largest, abs(expected))
    return worst / largest


def seconds(call: Callable[[], Any], rounds: int = 7) -> float:
    """Return the median time of a call."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
