"""Functions of NumPy that read deques, lists of classes of their own, and other sequences."""

from __future__ import annotations

from collections import UserList, deque
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, jvp
from tests.support.gradients import check

X = np.array([0.7, 1.3])


class Own(list[Any]):
    pass


class Window(deque[Any]):
    pass


class Doubling(deque[Any]):
    def __iter__(self) -> Any:
        return (2.0 * v for v in super().__iter__())


class Sequence:
    def __init__(self, items: Any) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, i: int) -> Any:
        return 3.0 * self.items[i]


MAKERS = [deque, UserList, Own, Window, Doubling, Sequence]
FUNCTIONS = {
    "array": np.array,
    "array of floats": lambda s: np.array(s, float, ndmin=2),
    "in a list": lambda s: np.array([s, [1.0, 2.0]]),
    "cumsum": np.cumsum,
    "take": lambda s: np.take(s, [1, 0]),
    "diff": np.diff,
    "clip": lambda s: np.clip(s, -9.0, 9.0),
    "full": lambda s: np.full((3, 2), s),
    "mean": np.mean,
}


CALLS = [(make, "array") for make in MAKERS] + [(deque, name) for name in FUNCTIONS]


@pytest.mark.parametrize(("make", "name"), [*CALLS, (Own, "cumsum"), (Doubling, "mean")])
def test_sequences_are_read_as_numpy_reads_them(make: Any, name: str) -> None:
    def f(x: Any) -> Any:
        y = FUNCTIONS[name](make([x[0] * x[1], x[1]]))
        return (y * np.arange(1.0, np.size(y) + 1).reshape(np.shape(y))).sum()

    check(f, X)
    expected = grad(f)(X)
    assert_allclose(grad(f, debug=True)(X), expected, rtol=1e-14)
    assert_allclose(jvp(f, (X,), (X,))[1], expected @ X, rtol=1e-14)


def test_no_array_without_a_copy_can_be_made_of_a_deque() -> None:
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        grad(lambda x: np.array(deque([x[0]]), copy=False).sum())(X)
