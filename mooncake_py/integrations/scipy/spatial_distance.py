"""Rules for `scipy.spatial.distance`: `cdist`, `pdist` and `squareform`.

The distances are SciPy's; a table says for each metric how they change with the first point.  All
metrics in it are symmetric, so the change with the second point has the two exchanged.  Where a
metric has a kink the derivative is a subgradient, zero for two equal points.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.spatial.distance as sd
from numpy import ndarray

from mooncake_py.errors import MissingRuleError
from mooncake_py.rules.declare import from_vjp, linear, overlay
from mooncake_py.rules.exact_zeros import scaled, sum_of_products
from mooncake_py.rules.inplace import written
from mooncake_py.rules.kinds import Like
from mooncake_py.rules.matrices import inverse_or_zero
from mooncake_py.rules.norms import shares
from mooncake_py.rules.plain_values import plain_result, same_values

__all__: list[str] = []

BLOCK = 1 << 16  # numbers of a temporary array
Slope = Callable[[Any, Any, Any, Any, Any], Any]

# Partial derivatives of a distance: of points a and b along the last axis, the distance y, weights
# w and the parameter of the metric.


def of_chebyshev(a: Any, b: Any, y: Any, w: Any, _: Any) -> Any:
    """Divide the slope equally among tied coordinates; weights only choose coordinates."""
    return np.sign(a - b) * shares(np.where(w > 0, np.abs(a - b), -1.0), y, -1)


def of_minkowski(a: Any, b: Any, y: Any, w: Any, p: Any) -> Any:
    return w * (a - b) * inverse_or_zero(y) * ratio_power(np.abs(a - b), y, p - 2)


def of_mahalanobis(a: Any, b: Any, y: Any, w: Any, vi: Any) -> Any:
    return ((a - b) @ ((vi + vi.T) / 2)) * inverse_or_zero(y)


def of_canberra(a: Any, b: Any, y: Any, w: Any, _: Any) -> Any:
    scale = inverse_or_zero(np.abs(a) + np.abs(b))
    return w * scale * (np.sign(a - b) - np.abs(a - b) * scale * np.sign(a))


def of_braycurtis(a: Any, b: Any, y: Any, w: Any, _: Any) -> Any:
    whole = np.sum(w * np.abs(a + b), axis=-1, keepdims=True)
    return w * (np.sign(a - b) - y * np.sign(a + b)) * inverse_or_zero(whole)


def of_cosine(a: Any, b: Any, y: Any, w: Any, _: Any) -> Any:
    size_a, size_b = (np.sqrt(np.sum(w * v * v, axis=-1, keepdims=True)) for v in (a, b))
    inverse = inverse_or_zero(size_a)
    return w * inverse * ((1 - y) * a * inverse - b * inverse_or_zero(size_b))


def of_jensenshannon(a: Any, b: Any, y: Any, w: Any, _: Any) -> Any:
    """Compute dy/dp = log(p / m) / (4 y), with p = a / sum(a) and m = (p + q) / 2."""
    whole = np.sum(a, axis=-1, keepdims=True)
    p = a / whole
    m = (p + b / np.sum(b, axis=-1, keepdims=True)) / 2
    dp = np.log(np.where(m == 0, 1.0, p * inverse_or_zero(m))) * inverse_or_zero(4 * y)
    inside = np.where(p == 0, 0.0, dp)
    return (dp - np.sum(inside * p, axis=-1, keepdims=True)) / whole


# With respect to weights, of the same shapes, and to parameters: what they are of each distance.


def weight_of_euclidean(a: Any, b: Any, y: Any, w: Any, _: Any) -> Any:
    return (a - b) ** 2 * inverse_or_zero(2 * y)


def weight_of_minkowski(a: Any, b: Any, y: Any, w: Any, p: Any) -> Any:
    return np.abs(a - b) * ratio_power(np.abs(a - b), y, p - 1) / p


def weight_of_canberra(a: Any, b: Any, y: Any, w: Any, _: Any) -> Any:
    return np.abs(a - b) * inverse_or_zero(np.abs(a) + np.abs(b))


def weight_of_braycurtis(a: Any, b: Any, y: Any, w: Any, _: Any) -> Any:
    whole = np.sum(w * np.abs(a + b), axis=-1, keepdims=True)
    return (np.abs(a - b) - y * np.abs(a + b)) * inverse_or_zero(whole)


def weight_of_cosine(a: Any, b: Any, y: Any, w: Any, _: Any) -> Any:
    u, v = (x * inverse_or_zero(np.sqrt(np.sum(w * x * x, axis=-1, keepdims=True))) for x in (a, b))
    return (1 - y) * (u * u + v * v) / 2 - u * v


def exponent_of_minkowski(dy: Any, a: Any, b: Any, y: Any, w: Any, p: Any) -> Any:
    """Compute dy/dp = y sum(w r^p log r) / p with r = abs(a - b) / y, as sum(w r^p) = 1."""
    r = np.abs(a - b) * inverse_or_zero(y)
    logs = np.log(np.where(r == 0, 1.0, r))
    power = np.power(r, p, out=np.zeros_like(r), where=r != 0)
    return np.sum(dy * y * w * power * logs) / p


def inverse_of_mahalanobis(dy: Any, a: Any, b: Any, y: Any, w: Any, vi: Any) -> Any:
    u = (a - b).reshape(-1, a.shape[-1])
    return u.T @ (u * (dy * inverse_or_zero(2 * y)).reshape(-1, 1))


def ratio_power(size: Any, y: Any, exponent: Any) -> Any:
    """Return (size / y) to a power, zero where that is infinite."""
    ratio = size * inverse_or_zero(y)
    return np.power(ratio, exponent, out=np.zeros_like(ratio), where=(size != 0) | (exponent >= 0))


class Metric(NamedTuple):
    """How a distance changes with the first point, with weights, and with the parameter.

    For `slope` None it is a function of the sum of weighted squares, and `factor` the slope of
    the distance over that of half the sum.
    """

    slope: Slope | None = None
    factor: Callable[[Any], Any] = inverse_or_zero
    of_weight: Slope | None = None
    parameter: str | None = None
    of_parameter: Callable[..., Any] | None = None


METRICS = {
    "braycurtis": Metric(of_braycurtis, of_weight=weight_of_braycurtis),
    "canberra": Metric(of_canberra, of_weight=weight_of_canberra),
    "chebyshev": Metric(of_chebyshev),
    "cityblock": Metric(
        lambda a, b, y, w, _: w * np.sign(a - b),
        of_weight=lambda a, b, y, w, _: np.abs(a - b),
    ),
    "cosine": Metric(of_cosine, of_weight=weight_of_cosine),
    "euclidean": Metric(of_weight=weight_of_euclidean),
    "jensenshannon": Metric(of_jensenshannon),
    "mahalanobis": Metric(
        of_mahalanobis, parameter="VI", of_parameter=inverse_of_mahalanobis
    ),
    "minkowski": Metric(
        of_minkowski, of_weight=weight_of_minkowski, parameter="p",
        of_parameter=exponent_of_minkowski,
    ),
    "sqeuclidean": Metric(
        factor=lambda y: 2.0, of_weight=lambda a, b, y, w, _: (a - b) ** 2
    ),
}  # fmt: skip


# From the cotangents of all distances to those of points, weights and parameters.


def blocks(a: ndarray, b: ndarray) -> list[slice]:
    """Return slices of the points `a`, such that their distances to all `b` fill a block."""
    step = max(1, BLOCK // max(1, b.size))
    return [slice(i, i + step) for i in range(0, len(a), step)]


def weighted_sum(dy: Any, slope: Any) -> Any:
    """Sum slopes times cotangents over the second axis."""
    return (dy[:, None, :] @ slope)[:, 0, :]


def of_points(metric: Metric, dy: Any, a: Any, b: Any, y: Any, w: Any, parameter: Any) -> Any:
    """Return the cotangent of the points `a` for distances `y` to `b`."""
    if metric.slope is None:
        return of_squares(scaled(dy, metric.factor(y)), a, b, w)
    rows = []
    for block in blocks(a, b):
        slope = metric.slope(a[block, None], b[None], y[block, :, None], w, parameter)
        rows.append(sum_of_products(weighted_sum, dy[block], slope))
    return np.concatenate(rows) if rows else np.zeros_like(a)


def of_squares(dy: Any, a: Any, b: Any, w: Any) -> Any:
    """Return the sum of dy w (a - b), by products of matrices.

    What cancels in it is of the size that rounding of the points makes.
    """
    return w * (scaled(dy.sum(axis=1, keepdims=True), a) - sum_of_products(np.matmul, dy, b))


def of_weights(metric: Metric, dy: Any, a: Any, b: Any, y: Any, w: Any, parameter: Any) -> Any:
    """Return the cotangent of the weights, zero for those that choose coordinates."""
    if metric.of_weight is None:
        return None
    total = np.zeros(a.shape[1])
    for block in blocks(a, b):
        slope = metric.of_weight(a[block, None], b[None], y[block, :, None], w, parameter)
        total = total + sum_of_products(weighted_sum, dy[block], slope).sum(axis=0)
    return total


def of_parameter(metric: Metric, dy: Any, a: Any, b: Any, y: Any, w: Any, parameter: Any) -> Any:
    """Return the cotangent of `p` or `VI`."""
    assert metric.of_parameter is not None
    total = 0.0
    for block in blocks(a, b):
        cotangents, distances = (v[block, :, None] for v in (dy, y))
        total = total + metric.of_parameter(
            cotangents, a[block, None], b[None], distances, w, parameter
        )
    return total


# The functions that users call.


def given(name: str, w: Any, parameter: Any) -> dict[str, Any]:
    """Return weights and a parameter as keywords."""
    found = {} if w is None else {"w": w}
    keyword = METRICS[name].parameter
    return found if keyword is None or parameter is None else {**found, keyword: parameter}


def between(name: Any, a: Any, b: Any, w: Any, parameter: Any) -> ndarray:
    """Return the distances of all pairs of two sets of points."""
    return sd.cdist(a, b, name, **given(name, w, parameter))


@from_vjp(between)
def between_rule(name: str, a: Any, b: Any, w: Any, parameter: Any) -> Any:
    y, metric = between(name, a, b, w, parameter), METRICS[name]
    weight = 1.0 if w is None else w

    def between_pullback(dy: ndarray) -> tuple[Any, ...]:
        return (
            None,
            lambda: of_points(metric, dy, a, b, y, weight, parameter),
            lambda: of_points(metric, dy.T, b, a, y.T, weight, parameter),
            lambda: of_weights(metric, dy, a, b, y, weight, parameter),
            lambda: of_parameter(metric, dy, a, b, y, weight, parameter),
        )

    return y, between_pullback


def within(name: Any, a: Any, w: Any, parameter: Any) -> ndarray:
    """Return the distances of all pairs of one set of points."""
    return sd.pdist(a, name, **given(name, w, parameter))


@from_vjp(within)
def within_rule(name: str, a: Any, w: Any, parameter: Any) -> Any:
    """Halve the sums over the table of distances, which has each distance twice."""
    y, metric = within(name, a, w, parameter), METRICS[name]
    weight = 1.0 if w is None else w

    def within_pullback(dy: ndarray) -> tuple[Any, ...]:
        if not y.size:
            return None, None, None, None
        table, half = sd.squareform(y, checks=False), sd.squareform(dy / 2, checks=False)
        return (
            None,
            lambda: of_points(metric, 2 * half, a, a, table, weight, parameter),
            lambda: of_weights(metric, half, a, a, table, weight, parameter),
            lambda: of_parameter(metric, half, a, a, table, weight, parameter),
        )

    return y, within_pullback


def prepared(metric: str, sets: list[Any], options: dict[str, Any]) -> tuple[Any, ...]:
    """Return a metric of the table with the points, weights and parameter to call it with."""
    known = ALIASES.get(metric.lower())
    if known is None:
        raise ValueError(f"Unknown Distance Metric: {metric}")
    name = known.canonical_name
    weights = options.pop("w", None)
    w = None if weights is None else np.asarray(weights, np.float64)
    parameter = None
    if name == "correlation":
        name, sets = "cosine", [x - centres(x, w) for x in sets]
    elif name == "seuclidean" and w is None:
        variances = options.pop("V", None)
        if variances is None:
            variances = np.var(np.vstack(sets), axis=0, ddof=1)
        name, w = "euclidean", 1 / np.asarray(variances, np.float64)
    elif name == "mahalanobis" and w is None:
        parameter = options.pop("VI", None)
        if parameter is None:
            parameter = inverse_covariance(np.vstack(sets))
        else:
            parameter = np.asarray(parameter)
    elif name == "minkowski":
        parameter = options.pop("p", 2.0)
        if parameter == np.inf:
            name, parameter = "chebyshev", None
    if name not in METRICS:
        raise MissingRuleError(
            f"the metric {name!r} has no derivative",
            why="it counts coordinates that agree",
            fix=f"take one of {', '.join(sorted([*METRICS, 'correlation', 'seuclidean']))}",
        )
    if options:
        raise TypeError(f"the metric {name!r} has no option {', '.join(options)}")
    return name, sets, w, parameter


ALIASES: dict[str, Any] = getattr(sd, "_METRIC_ALIAS", {})


def centres(x: Any, w: Any) -> Any:
    """Return the mean of the coordinates of each point."""
    if w is None:
        return x.mean(axis=1, keepdims=True)
    return np.sum(x * w, axis=1, keepdims=True) / np.sum(w)


def inverse_covariance(x: Any) -> Any:
    """Return that of points, None where they are too few: SciPy raises then."""
    if len(x) <= x.shape[1]:
        return None
    return np.linalg.inv(np.atleast_2d(np.cov(x.T))).T


def points(x: Any) -> Any:
    """Return points in double precision, as SciPy takes them; it has no complex ones."""
    x = np.asarray(x)
    return x if x.dtype.kind == "c" else np.asarray(x, np.float64)


@overlay(sd.cdist)
def cdist(XA: Any, XB: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    if isinstance(metric, str):
        name, (a, b), w, parameter = prepared(metric, [points(XA), points(XB)], dict(kwargs))
        y = between(name, a, b, w, parameter)
        if name != metric:
            y = same_values(y, plain_result(sd.cdist, (XA, XB, metric), kwargs))
    else:
        a, b = np.asarray(XA), np.asarray(XB)
        y = np.empty((len(a), len(b)))
        for i in range(len(a)):
            for j in range(len(b)):
                y[i, j] = metric(a[i], b[j], **kwargs)
    return y if out is None else written(out, y)


@overlay(sd.pdist)
def pdist(X: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    if isinstance(metric, str):
        name, (a,), w, parameter = prepared(metric, [points(X)], dict(kwargs))
        y = within(name, a, w, parameter)
        if name != metric:
            y = same_values(y, plain_result(sd.pdist, (X, metric), kwargs))
    else:
        a = np.asarray(X)
        pairs = [(i, j) for i in range(len(a)) for j in range(i + 1, len(a))]
        y = np.empty(len(pairs))
        for k, (i, j) in enumerate(pairs):
            y[k] = metric(a[i], a[j], **kwargs)
    return y if out is None else written(out, y)


@linear(sd.squareform)
def squareform_adjoint(dy: ndarray, X: Like, force: str = "no", checks: bool = True) -> ndarray:
    """Add both triangles if `X` is a vector; fill the upper triangle if it is a matrix."""
    if dy.ndim == 2:
        upper = np.triu_indices(len(dy), 1)
        return (dy + dy.T)[upper] if X.size else np.zeros(0, dy.dtype)
    dx = np.zeros(X.shape, dy.dtype)
    dx[np.triu_indices(len(dx), 1)] = dy
    return dx
