"""Rules for the functions of `statistics` that add up exact fractions: means, variances.

The others (``fmean``, ``median``, ``correlation``, ``NormalDist``) are derived from their source,
``NormalDist.from_samples`` except for the moments that it computes.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterable
from typing import Any

from mooncake_py.rules.declare import from_vjp, overlay, zero_derivative

__all__: list[str] = []


def items_of(data: Iterable[Any]) -> list[Any]:
    """Return the items, for which `statistics` does not ask at once, as `list` would."""
    found: list[Any] = []
    for _, values in itertools.groupby(data, type):
        for value in values:
            found.append(value)
            if not is_ratio(value):  # for which an error is raised before the next one is read
                return found
    return found


def is_ratio(value: Any) -> bool:
    """Return whether `statistics` can make a fraction of a value."""
    return hasattr(value, "as_integer_ratio") or hasattr(value, "numerator")


zero_derivative(is_ratio, because="returns an answer")


@overlay(statistics.mean)
def mean(data: Iterable[Any]) -> Any:
    return mean_of_list(items_of(data))


def mean_of_list(data: list[Any]) -> Any:
    return statistics.mean(data)


@from_vjp(mean_of_list)
def mean_rule(data: list[Any]) -> tuple[Any, Any]:
    return statistics.mean(data), lambda dy: ([dy / len(data)] * len(data),)


@overlay(statistics.harmonic_mean)
def harmonic_mean(data: Any, weights: Any = None) -> Any:
    data = list(data) if iter(data) is data else data
    n = len(data)
    if n == 1 and weights is None:
        return harmonic_mean_of_list([data[0]], None)
    if weights is None or n == 0:
        return harmonic_mean_of_list([x for _, x in zip(range(n), data, strict=False)], None)
    weights = list(weights) if iter(weights) is weights else weights
    m = len(weights)
    if m != n:
        return harmonic_mean_of_list([1.0] * n, [1.0] * m)  # raises
    items_of(w for w in weights)  # for their sum
    pairs = [*zip(weights, data, strict=False)]
    return harmonic_mean_of_list([x for _, x in pairs], [w for w, _ in pairs])


def harmonic_mean_of_list(data: list[Any], weights: Any) -> Any:
    return statistics.harmonic_mean(data, weights)


@from_vjp(harmonic_mean_of_list)
def harmonic_mean_rule(data: list[Any], weights: Any) -> tuple[Any, Any]:
    """Differentiate h = sum(w) / sum(w / x)."""
    h = statistics.harmonic_mean(data, weights)

    def harmonic_mean_pullback(dy):
        if not h:  # a datum is zero, where the function has a kink
            return None, None
        ws = [1.0] * len(data) if weights is None else weights
        scale = dy * h / sum(ws)
        dweights = None if weights is None else [scale * (1 - h / x) for x in data]
        return [scale * w * h / x**2 for w, x in zip(ws, data, strict=True)], dweights

    return h, harmonic_mean_pullback


# Spread about the mean or another centre.  Both forms share the derivative: about the mean, the
# sum of squares is stationary in the centre.


def declare_spread(function: Callable[..., Any], lost: int, root: bool) -> None:
    """Declare a sum of squares over ``len(data) - lost``, or its square root."""

    def spread(data: Iterable[Any], xbar: Any = None, *, mu: Any = None) -> Any:
        center = xbar if mu is None else mu
        return spread_of_list(items_of(data if center is None else (x for x in data)), center)

    def spread_of_list(data: list[Any], center: Any) -> Any:
        return function(data, center)

    def spread_rule(data: list[Any], center: Any) -> tuple[Any, Any]:
        y = function(data, center)

        def spread_pullback(dy):
            if root and not y:  # a kink
                return None, None
            middle = statistics.fmean(data) if center is None else center
            scale = dy / (len(data) - lost) * (1 / y if root else 2)
            dx = [scale * (x - middle) for x in data]
            return dx, None if center is None else -sum(dx)

        return y, spread_pullback

    overlay(function)(spread)
    from_vjp(spread_of_list)(spread_rule)


declare_spread(statistics.variance, 1, root=False)
declare_spread(statistics.stdev, 1, root=True)
declare_spread(statistics.pvariance, 0, root=False)
declare_spread(statistics.pstdev, 0, root=True)


def mean_and_spread(data: Iterable[Any]) -> tuple[float, float]:
    """Return the moments of a sample, for ``NormalDist.from_samples``."""
    values = items_of(data)
    spread = statistics.stdev(values)  # which raises if there are too few
    return float(statistics.mean(values)), float(spread)


_moments = getattr(statistics, "_mean_stdev", None)
if _moments is not None:  # since Python 3.11
    overlay(_moments)(mean_and_spread)
