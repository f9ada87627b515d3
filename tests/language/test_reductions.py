"""Sums, extremes and order do what Python's own functions do, in every mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py.modes.reverse.context import ReverseContext
from tests.rules.equal_calls import assert_same_call

NAN = float("nan")

CALLS: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (sum, ([1.0, 2.0, 3],), {}),
    (sum, ([1e16, 1.0, -1e16],), {}),
    (sum, ([],), {}),
    (sum, ([], 2.5), {}),
    (sum, ([1.0],), {"start": 2}),
    (sum, ([[1], [2]], []), {}),
    (sum, (["a"], ""), {}),
    (sum, (["a"],), {}),
    (sum, ([np.arange(3.0), 1.0],), {}),
    (sum, (np.arange(6.0).reshape(2, 3),), {}),
    (sum, (np.arange(6.0).reshape(2, 3), np.ones(3)), {}),
    (sum, (np.arange(3, dtype=np.float32), 1), {}),
    (sum, (np.zeros(0),), {}),
    (sum, (np.array(1.0),), {}),
    (sum, (3,), {}),
    (min, (3.0, 1.0), {}),
    (min, (NAN, 1.0), {}),
    (min, (1.0, NAN, 0.0), {}),
    (min, ([3.0, 1.0, 2.0],), {}),
    (min, ([3.0, NAN, 2.0],), {}),
    (min, ([],), {}),
    (min, ([],), {"default": None}),
    (min, (1, 2), {"default": 0}),
    (min, (), {}),
    (min, (3,), {}),
    (min, (np.array([3.0, 1.0]),), {}),
    (min, (np.zeros((2, 2)),), {}),
    (min, ({3: "a", 2: "b"},), {}),
    (max, (-0.0, 0.0), {}),
    (max, (1, 2, 3.0), {}),
    (max, (["bb", "a", "cc"],), {"key": len}),
    (max, ("a", "bb"), {"key": len}),
    (max, (1, "a"), {}),
    (sorted, ([3.0, 1.0, 2.0],), {}),
    (sorted, ("banana",), {"reverse": True}),
    (sorted, ([(1, "b"), (0, "c"), (1, "a")],), {"key": lambda p: p[0]}),
    (sorted, ([1, "a"],), {}),
]


@pytest.mark.parametrize(("f", "args", "kwargs"), CALLS)
def test_calls_within_a_derivative_are_those_of_python(f: Any, args: Any, kwargs: Any) -> None:
    def ours(*args: Any, **kwargs: Any) -> Any:
        return ReverseContext().call(f, *args, **kwargs)

    assert_same_call(ours, f, *args, **kwargs)


def test_the_first_of_equal_items_is_kept() -> None:
    first, second = 1.0, 1
    assert ReverseContext().call(min, first, second) is first
    assert ReverseContext().call(max, [first, second]) is first
