"""Filters that pick an element of each window, of images with missing and infinite data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import MissingRuleError, jvp, value_and_grad
from tests.support.pairs import rotating

nd = pytest.importorskip("scipy.ndimage")
sg = pytest.importorskip("scipy.signal")

LINE = np.array([0.5, np.nan, 1.0, 2.0, 1.5, 0.25, -np.inf, 0.75, np.nan, np.nan, np.nan, 0.1])
PLANE = np.array([
    [0.5, np.nan, 1.0, 2.0], [1.5, 0.25, np.inf, 0.75], [np.nan, 3.0, 0.1, 1.25],
])  # fmt: skip

FILTERS: dict[str, Callable[..., Any]] = {
    "median": lambda x: nd.median_filter(x, 3),
    "median of four": lambda x: nd.median_filter(x, 4, mode="wrap"),
    "percentile": lambda x: nd.percentile_filter(x, 30, 3, mode="constant", cval=0.6),
    "rank": lambda x: nd.rank_filter(x, 1, 3, mode="nearest"),
    "rank in a footprint": lambda x: nd.rank_filter(x, -1, footprint=np.eye(3)[:, : x.ndim * 3]),
    "minimum": lambda x: nd.minimum_filter(x, 3),
    "maximum": lambda x: nd.maximum_filter(x, 2, mode="mirror"),
    "minimum along an axis": lambda x: nd.minimum_filter1d(x, 3),
    "maximum along an axis": lambda x: nd.maximum_filter1d(x, 4, origin=1, mode="constant"),
    "erosion": lambda x: nd.grey_erosion(x, 3),
    "dilation": lambda x: nd.grey_dilation(x, structure=0.3 * np.ones([2] * x.ndim)),
    "closing": lambda x: nd.grey_closing(x, 3),
    "top hat": lambda x: nd.white_tophat(x, 2),
    "bottom hat": lambda x: nd.black_tophat(x, 3),
    "morphological gradient": lambda x: nd.morphological_gradient(x, 3),
    "single precision": lambda x: nd.minimum_filter(x, 3, output=np.float32),
    "signal: median": lambda x: sg.medfilt(x, 3),
    "signal: order": lambda x: sg.order_filter(x, np.ones([3] * x.ndim), 1),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("image", "name"), rotating([LINE, PLANE, LINE.reshape(4, 3).T], FILTERS))
def test_images_with_missing_data(name: str, image: np.ndarray) -> None:
    if name == "rank in a footprint" and image.ndim == 1:
        pytest.skip("a footprint of two axes")
    check_filter(FILTERS[name], image)


@pytest.mark.filterwarnings("ignore")
def test_the_median_of_a_plane_of_signals() -> None:
    check_filter(lambda x: sg.medfilt2d(x, 3), PLANE)


@pytest.mark.filterwarnings("ignore")
def test_images_that_are_constant() -> None:
    for image in (PLANE, np.where(PLANE == 0.1, -0.0, PLANE)):
        for f in FILTERS.values():
            (_, y), _ = value_and_grad(lambda x, f=f, a=image: (x, f(a)), has_aux=True)(1.5)
            require_same(y, f(image))
            y, _ = jvp(f, (image,), (image,))
            require_same(y, f(image))


def test_what_scipy_refuses() -> None:
    with pytest.raises(RuntimeError, match="not supported"):
        jvp(lambda x: nd.maximum_filter1d(x, 3, output=complex).real, (PLANE,), (PLANE,))
    if hasattr(nd._filters, "_rank_filter_1d"):  # plain SciPy writes beyond the end of the output
        with pytest.raises(MissingRuleError, match="float64 into an array of float32"):
            jvp(lambda x: nd.median_filter(x, 3, output=np.float32), (LINE,), (LINE,))


def check_filter(f: Callable[..., Any], x: np.ndarray) -> None:
    """Compare bits and layout with the plain call, and derivatives with its differences."""
    expected = f(x.copy())
    w = np.random.default_rng(0).normal(size=expected.shape)
    v = np.random.default_rng(1).normal(size=x.shape)

    def total(x: Any) -> Any:
        y = f(x)
        return np.nansum(np.where(np.isfinite(y), w * y, 0)), y

    y, dy = jvp(f, (x,), (v,))
    require_same(y, expected)
    finite = np.isfinite(expected)
    h = 1e-4 if expected.dtype == float else 0.02
    slopes = (f(x + h * v).astype(float) - f(x - h * v)) / (2 * h)
    np.testing.assert_allclose(dy[finite], slopes[finite], atol=1e-5)
    (_, y), g = value_and_grad(total, has_aux=True)(x)
    require_same(y, expected)
    np.testing.assert_allclose(np.sum(g * v), np.sum((w * dy)[finite]), rtol=1e-6)


def require_same(y: Any, expected: np.ndarray) -> None:
    """Require the same bits, type and layout."""
    assert (type(y), y.dtype, y.strides) == (type(expected), expected.dtype, expected.strides)
    assert y.tobytes() == expected.tobytes()
