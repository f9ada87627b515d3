"""Arguments are compared with those of an example."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from mooncake_py.boundary.example import Example
from mooncake_py.errors import PreparedArgumentsError

A = np.zeros((2, 3))


@dataclass
class Box:
    a: object


def f(x, y=None):
    return x


SAME = [
    (1.0, np.float64(2.0)), (np.int64(1), 3), ("a", "b"), (A, np.ones((2, 3))), (A, A.T.copy().T),
    ([A, 1.0], [A + 1.0, 2.0]), ({"a": (A, None)}, {"a": (A, None)}), (Box(A), Box(2 * A)),
    (True, False), (f, lambda x: x), (None, None), (1j, 2j),
]  # fmt: skip
OTHER = [
    (1.0, 1), (1, True), (A, A.T), (A, A.astype(np.float32)), (A, 1.0), (A, A[0]), ([A], [A[0]]),
    ([A], (A,)), ([A, A], [A]), ({"a": A}, {"b": A}), (Box(A), Box(A.T)), (Box(A), A), (None, 1.0),
    (np.zeros(3), np.zeros(3, dtype=">f8")), ([[1.0]], [[1]]), ([], [1.0]), (Box([]), Box([A])),
]  # fmt: skip


@pytest.mark.parametrize(("given", "other"), SAME)
def test_what_is_like_the_example(given, other):
    for a, b in ((given, other), (other, given)):
        Example("g", f, (a,), {}).require((b,), {})
        Example("g", f, (), {"x": a}).require((), {"x": b})


@pytest.mark.parametrize(("given", "other"), OTHER)
def test_what_is_not_like_the_example(given, other):
    for a, b in ((given, other), (other, given)):
        with pytest.raises(PreparedArgumentsError, match=r"another argument 0 \('x'\)"):
            Example("g", f, (a,), {}).require((b,), {})
        with pytest.raises(PreparedArgumentsError, match="another argument y"):
            Example("g", f, (1.0,), {"y": a}).require((1.0,), {"y": b})


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((A,), {}), ((A, 1.0, 2.0), {}), ((A,), {"y": 1.0}), ((A, 1.0), {"z": 1.0}), ((), {})],
)
def test_other_arguments(args, kwargs):
    with pytest.raises(PreparedArgumentsError, match="g was prepared for other arguments"):
        Example("g", f, (A, 1.0), {}).require(args, kwargs)
