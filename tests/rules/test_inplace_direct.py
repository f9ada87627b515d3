"""The overlays of in-place functions do exactly what NumPy does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py.errors import MissingRuleError
from mooncake_py.rules import inplace
from tests.rules.equal_calls import assert_same_call

X = np.arange(12.0).reshape(3, 4)
MASK = X % 3 == 0

CALLS: list[tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
    (inplace.copyto, np.copyto, (X, X[::-1]), {}),
    (inplace.copyto, np.copyto, (X, 7.0), {"where": MASK}),
    (inplace.copyto, np.copyto, (X, [1.0, 2, 3, 4]), {"where": MASK}),
    (inplace.copyto, np.copyto, (X, -X), {"where": [True, False, False, True]}),
    (inplace.copyto, np.copyto, (X, -X), {"where": [1, 0, 0, 1]}),
    (inplace.copyto, np.copyto, (X, -X), {"where": np.array([1, 0, 0, 1])}),
    (inplace.copyto, np.copyto, (X, -X), {"where": False}),
    (inplace.copyto, np.copyto, (X.astype(int), X + 0.5), {}),
    (inplace.copyto, np.copyto, (X.astype(int), X + 0.5), {"casting": "unsafe"}),
    (inplace.copyto, np.copyto, (X.astype(np.float32), X), {}),
    (inplace.copyto, np.copyto, (X, np.ones(3)), {}),
    (inplace.copyto, np.copyto, ([1.0], [2.0]), {}),
    (inplace.copyto, np.copyto, (np.zeros(()), 3.0), {"where": True}),
    (inplace.fill, np.ndarray.fill, (X, 3), {}),
    (inplace.fill, np.ndarray.fill, (X, [1.0, 2.0, 3.0, 4.0]), {}),
    (inplace.fill, np.ndarray.fill, (X, np.array(2.0)), {}),
    (inplace.place, np.place, (X, MASK, [9.0, 8.0]), {}),
    (inplace.place, np.place, (X, MASK.ravel(), X.copy()), {}),
    (inplace.place, np.place, (X, MASK, []), {}),
    (inplace.place, np.place, (X, X < 0, []), {}),
    (inplace.place, np.place, (X, [True], [1.0]), {}),
    (inplace.putmask, np.putmask, (X, MASK, [9.0, 8.0]), {}),
    (inplace.putmask, np.putmask, (X, MASK, -X), {}),
    (inplace.putmask, np.putmask, (X, MASK, 5.0), {}),
    (inplace.putmask, np.putmask, (X, MASK, []), {}),
    (inplace.putmask, np.putmask, (X, [True], 5.0), {}),
    (inplace.put, np.put, (X, [0, -1, 5], [1.0, 2.0, 3.0]), {}),
    (inplace.put, np.put, (X, [[0, 1], [0, 3]], [1.0, 2.0, 3.0]), {}),
    (inplace.put, np.put, (X, [0, 99], 1.0), {}),
    (inplace.put, np.put, (X, [0, 99, -99], [1.0, 2.0]), {"mode": "wrap"}),
    (inplace.put, np.put, (X, [5, 99, -99], [1.0, 2.0, 3.0]), {"mode": "clip"}),
    (inplace.put, np.put, (X, [0], [1.0]), {"mode": "none"}),
    (inplace.put, np.put, (X, [], []), {}),
    (inplace.put, np.put, (X, [1], []), {}),
    (inplace.put, np.put, (X, np.array([1.5]), 1.0), {}),
    (inplace.put, np.put, (X, 3, 1.0), {}),
    (inplace.put, np.put, ([1.0], [0], 1.0), {}),
    (inplace.put_method, np.ndarray.put, (X, [3, 3], [1.0, 2.0]), {}),
    (inplace.put_method, np.ndarray.put, (X.T, [3, 1], [1.0, 2.0]), {}),
    (inplace.put_along_axis, np.put_along_axis, (X, np.array([[1], [0], [3]]), 9.0, 1), {}),
    (inplace.put_along_axis, np.put_along_axis, (X, np.array([[1, 0, 2, 1]]), -X[:1], -2), {}),
    (inplace.put_along_axis, np.put_along_axis, (X, np.array([1, 5]), [2.0, 3.0], None), {}),
    (inplace.put_along_axis, np.put_along_axis, (X[0], np.array([1, 2]), [2.0, 3.0], 0), {}),
    (inplace.put_along_axis, np.put_along_axis, (X, np.array([1]), 9.0, 1), {}),
    (inplace.put_along_axis, np.put_along_axis, (X, np.array([[1.0]]), 9.0, 1), {}),
    (inplace.put_along_axis, np.put_along_axis, (X, np.array([[1]]), 9.0, None), {}),
    (inplace.fill_diagonal, np.fill_diagonal, (X, 9.0), {}),
    (inplace.fill_diagonal, np.fill_diagonal, (X, [9.0, 8.0]), {}),
    (inplace.fill_diagonal, np.fill_diagonal, (np.zeros((7, 2)), [9.0, 8.0]), {}),
    (inplace.fill_diagonal, np.fill_diagonal, (np.zeros((7, 2)), [9.0, 8.0], True), {}),
    (inplace.fill_diagonal, np.fill_diagonal, (np.zeros((3, 3, 3)), [9.0, 8.0, 7.0, 6.0]), {}),
    (inplace.fill_diagonal, np.fill_diagonal, (np.zeros((3, 3, 2)), 1.0), {}),
    (inplace.fill_diagonal, np.fill_diagonal, (np.zeros(3), 1.0), {}),
    (inplace.sort, np.ndarray.sort, (X[:, ::-1].copy(),), {}),
    (inplace.sort, np.ndarray.sort, (-X, 0), {"kind": "stable"}),
    (inplace.sort, np.ndarray.sort, (-X, None), {}),
    (inplace.sort, np.ndarray.sort, (-X,), {"stable": True}),
    (inplace.partition, np.ndarray.partition, (-X, 2), {}),
    (inplace.partition, np.ndarray.partition, (-X, [0, 1], 0), {}),
]


@pytest.mark.parametrize(("ours", "theirs", "args", "kwargs"), CALLS)
def test_overlay_equals_numpy(ours: Any, theirs: Any, args: Any, kwargs: Any) -> None:
    assert_same_call(ours, theirs, *args, **kwargs)


@pytest.mark.parametrize("seed", range(4))
def test_strided_destinations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((6, 8))[::2, ::-3]
    mask = rng.random(x.shape) < 0.5
    assert_same_call(inplace.putmask, np.putmask, x, mask, rng.standard_normal(4))
    assert_same_call(inplace.place, np.place, x, mask, rng.standard_normal(4))
    assert_same_call(inplace.put_method, np.ndarray.put, x, rng.integers(-9, 9, 5), x)
    assert_same_call(inplace.sort, np.ndarray.sort, x, 0)


@pytest.mark.parametrize(
    ("method", "args"),
    [
        (inplace.resize, (X, 3)),
        (inplace.byteswap, (X, True)),
        (inplace.setfield, (X, 1, int)),
    ],
)
def test_refused_methods_say_what_to_do(method: Any, args: tuple[Any, ...]) -> None:
    with pytest.raises(MissingRuleError, match="fix:"):
        method(*args)
