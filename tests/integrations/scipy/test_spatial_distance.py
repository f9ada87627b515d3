"""`cdist` and `pdist` where cases do not reach: blocks, refusals, rows that are not numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import grad
from mooncake_py.errors import MissingRuleError
from tests.rules.cases.drawing import draw

sd = pytest.importorskip("scipy.spatial.distance")


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "canberra", "mahalanobis"])
def test_blocks_add_up_to_the_whole(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def loss(a: Any, b: Any, w: Any) -> Any:
        options = {"VI": np.outer(w, w)} if metric == "mahalanobis" else {"w": w}
        across, inside = sd.cdist(a, b, metric, **options), sd.pdist(a, metric, **options)
        return np.sum(np.sin(across)) + np.sum(inside**2)

    points = draw(7, 3), draw(5, 3), np.array([0.5, 1.0, 2.0])
    whole = grad(loss, argnums=(0, 1, 2))(*points)
    from mooncake_py.integrations.scipy import spatial_distance

    monkeypatch.setattr(spatial_distance, "BLOCK", 20)
    for found, expected in zip(grad(loss, argnums=(0, 1, 2))(*points), whole, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13, strict=True)


@pytest.mark.parametrize("metric", ["hamming", "jaccard", "dice", "yule"])
def test_metrics_that_count_are_refused(metric: str) -> None:
    with pytest.raises(MissingRuleError, match=f"{metric}.*no derivative"):
        grad(lambda a: sd.cdist(a, a, metric).sum())(draw(3, 2))


@pytest.mark.parametrize(
    ("metric", "options", "error"),
    [
        ("euclid?", {}, ValueError),
        ("euclidean", {"p": 2.0}, TypeError),
        ("mahalanobis", {}, ValueError),
    ],
)
def test_what_scipy_refuses_is_refused_alike(metric: str, options: Any, error: Any) -> None:
    def loss(a: Any) -> Any:
        return sd.pdist(a, metric, **options).sum()

    with pytest.raises(error):
        loss(draw(2, 3))
    with pytest.raises(error):
        grad(loss)(draw(2, 3))


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "correlation", "braycurtis"])
def test_points_that_nothing_depends_on_may_be_nan(metric: str) -> None:
    def loss(a: Any) -> Any:
        return sd.pdist(a, metric)[0] ** 2 + sd.cdist(a, a, metric)[1, 0]

    a = draw(3, 4)
    expected = grad(loss)(a)
    a[2] = np.nan
    np.testing.assert_array_equal(grad(loss)(a)[:2], expected[:2])
    np.testing.assert_array_equal(grad(loss)(a)[2], 0.0)


def test_equal_points_have_a_derivative_of_zero() -> None:
    a = np.array([[1.0, 2.0], [1.0, 2.0]])
    np.testing.assert_array_equal(grad(lambda a: sd.pdist(a).sum())(a), 0.0)
