"""Cases for `scipy.spatial.distance`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.spatial.distance as sd

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw

__all__ = ["cases"]

PLAIN = {"layouts": False, "dtypes": False}
WEIGHTED = (
    "braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "euclidean",
    "minkowski", "sqeuclidean",
)  # fmt: skip
METRICS = (*WEIGHTED, "mahalanobis", "seuclidean")


def by_weights(metric: str, function: Any, *sets_and_weights: Any) -> Any:
    *sets, w = sets_and_weights
    return function(*sets, metric, w=w)


def by_exponent(a: Any, b: Any, p: Any, w: Any) -> Any:
    return sd.cdist(a, b, "minkowski", p=p, w=w), sd.pdist(a, "minkowski", p=p, w=w)


def by_inverse_covariance(a: Any, b: Any, vi: Any) -> Any:
    return sd.cdist(a, b, "mahalanobis", VI=vi), sd.pdist(b, "mahal", VI=vi)


def by_variances(a: Any, b: Any, v: Any) -> Any:
    return sd.cdist(a, b, "seuclidean", V=v), sd.pdist(b, "se", V=v)


def by_function(a: Any, b: Any) -> Any:
    return sd.cdist(a, b, sd.canberra), sd.pdist(a, lambda u, v: np.sum((u - v) ** 3))


def into_an_array(a: Any, b: Any) -> Any:
    out = np.ones((3, 4))
    return sd.cdist(a, b, out=out) + 3 * out


def cases() -> list[Case]:
    """All cases of the family."""
    a, b, w = draw(3, 2), draw(4, 2) + 0.3, np.array([0.5, 2.0])
    same = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0], [0.0, -1.0]])
    kinks = {"interface_only": True, "options": PLAIN}
    return [
        *(Case(sd.cdist, (a, b, metric), label=metric, options=PLAIN) for metric in METRICS),
        *(Case(sd.pdist, (b, metric), label=metric, options=PLAIN) for metric in METRICS),
        Case(sd.cdist, (abs(a), abs(b), "jensenshannon"), label="js", options=PLAIN),
        Case(sd.pdist, (abs(b), "jensenshannon"), label="js", options=PLAIN),
        *(Case(by_weights, (metric, sd.cdist, a, b, w), label=metric, options=PLAIN)
          for metric in WEIGHTED),
        *(Case(by_weights, (metric, sd.pdist, b, w), label=f"{metric}-pdist", options=PLAIN)
          for metric in WEIGHTED),
        Case(by_exponent, (a, b, 3.5, w), options=PLAIN),
        Case(by_exponent, (a, b, 1.5, w), label="small", options=PLAIN),
        Case(sd.cdist, (a, b, "minkowski"), {"p": np.inf}, "infinite", options=PLAIN),
        Case(by_inverse_covariance, (a, b, np.array([[2.0, 0.5], [-0.2, 1.0]])), options=PLAIN),
        Case(by_variances, (a, b, w), options=PLAIN),
        Case(by_function, (a, b), options=PLAIN),
        Case(into_an_array, (a, b), options=PLAIN),
        Case(sd.cdist, (a, np.ones((0, 2))), label="empty", options=PLAIN),
        Case(sd.pdist, (a[:1],), label="one", options=PLAIN),
        *(Case(sd.pdist, (same, metric), label=f"{metric}-same", **kinks)
          for metric in WEIGHTED),
        Case(sd.pdist, (abs(same), "js"), label="js-same", **kinks),
        Case(sd.squareform, (draw(6),), options=PLAIN),
        Case(sd.squareform, (draw(4, 4),), {"checks": False}, "matrix", options=PLAIN),
        Case(sd.squareform, (draw(0),), label="none", options=PLAIN),
    ]  # fmt: skip
