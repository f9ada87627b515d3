"""Images and outputs of integers: `scipy.ndimage` rounds, cuts off and wraps around as it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import MissingRuleError, grad, jvp, value_and_grad
from tests.support.pairs import pairwise

nd = pytest.importorskip("scipy.ndimage")

RANDOM = np.random.default_rng(8)
IMAGES = {
    "bool": RANDOM.integers(0, 2, (5, 6)).astype(bool),
    "uint8": RANDOM.integers(0, 256, (5, 6)).astype(np.uint8),
    "int8": RANDOM.integers(-128, 128, (5, 6)).astype(np.int8),
    "float": 3 * RANDOM.standard_normal((5, 6)),
    "single": RANDOM.standard_normal((5, 6)).astype(np.float32),
}
OUTPUTS = [None, bool, np.uint8, np.int8, np.int32, np.uint64]
POINTS = [[0.3, 1.2, 3.4, 2.5], [0.6, 3.2, 4.5, 1.0]]


def stencil(extended: Any, line: Any) -> None:
    line[:] = 0.7 * extended[1:-1] + 0.1 * extended[2:]


OPERATIONS: dict[str, Callable[..., Any]] = {
    "zoom": lambda a, **k: nd.zoom(a, 1.7, **k),
    "zoom by constants": lambda a, **k: nd.zoom(a, 1.7, order=0, **k),
    "shift": lambda a, **k: nd.shift(a, 0.4, order=1, **k),
    "rotate": lambda a, **k: nd.rotate(a, 30, **k),
    "points": lambda a, **k: nd.map_coordinates(a, POINTS, order=1, **k),
    "affine": lambda a, **k: nd.affine_transform(a, [[0.8, 0.1], [0, 0.9]], **k),
    "mapping": lambda a, **k: nd.geometric_transform(a, lambda p: (p[0] * 0.7, p[1] * 0.8), **k),
    "spline": lambda a, **k: nd.spline_filter1d(a, **k),
    "filter": lambda a, **k: nd.generic_filter(a, np.mean, 3, **k),
    "sum in doubles": lambda a, **k: nd.generic_filter(a, np.sum, 3, **k),
    "filter of lines": lambda a, **k: nd.generic_filter1d(a, stencil, 3, **k),
    "smooth": lambda a, **k: nd.gaussian_filter(a, 1.0, **k),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "image", "output"), pairwise(OPERATIONS, IMAGES, OUTPUTS))
def test_values_are_those_of_the_plain_call(name: str, image: str, output: Any) -> None:
    def program(x: Any) -> Any:
        scale = x[0] if IMAGES[image].dtype.kind == "f" else 1
        options = {} if output is None else {"output": output}
        return np.sum(x), OPERATIONS[name](IMAGES[image] * scale, **options)

    x = np.ones(1, IMAGES[image].dtype if IMAGES[image].dtype.kind == "f" else float)
    expected = program(x)[1]
    found = value_and_grad(program, has_aux=True)(x)[0][1]
    assert (found.dtype, found.tobytes()) == (expected.dtype, expected.tobytes())


def test_a_mask_scales_what_is_differentiated() -> None:
    mask = np.array([True, True, False, False, True, True])

    def f(x: Any) -> Any:
        return x.sum() * nd.zoom(mask, 2, order=1).sum()

    x = np.array([1.5, -2.0, 0.3])
    assert value_and_grad(f)(x)[0] == jvp(f, (x,), (x,))[0] == f(x)
    np.testing.assert_array_equal(grad(f)(x), np.full(3, nd.zoom(mask, 2, order=1).sum()))


def test_images_without_elements_are_constant() -> None:
    def f(x: Any) -> Any:
        outside = nd.map_coordinates(x[2:], [[0.3, 0.6]], order=1, cval=x[0])
        turned = nd.rotate(x.reshape(2, 1)[:, :0], 30)
        return np.sum(outside) + np.sum(turned) + nd.shift(x[2:], 0.5, mode="mirror").sum()

    x = np.array([1.5, -2.0])
    value, g = value_and_grad(f)(x)
    assert value == f(x) == 3.0
    np.testing.assert_array_equal(g, [2.0, 0.0])


def test_lines_without_elements() -> None:
    def f(x: Any) -> Any:
        return nd.generic_filter1d(x[2:], stencil, 3).sum() + x[0]

    x = np.array([1.5, -2.0])
    assert value_and_grad(f)(x)[0] == f(x)


def test_what_is_read_beyond_an_empty_image_is_refused() -> None:
    def f(x: Any) -> Any:
        return nd.map_coordinates(x[2:], [[0.3, 0.6]], order=1, mode="mirror").sum() + x[0]

    with pytest.raises(MissingRuleError, match="an image without elements"):
        grad(f)(np.array([1.5, -2.0]))


def test_filters_refuse_images_that_scipy_refuses() -> None:
    def f(x: Any) -> Any:
        return float(nd.generic_filter(x.astype(np.longdouble), np.sum, size=2)[0])

    x = np.array([1.5, -2.0])
    for call in (f, value_and_grad(f)):
        with pytest.raises(RuntimeError, match="array type not supported"):
            call(x)
