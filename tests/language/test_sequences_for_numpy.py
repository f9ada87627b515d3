"""Functions of NumPy that read deques, lists of classes of their own, and other sequences."""

from __future__ import annotations

from collections import UserList, deque
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, jvp
from tests.support.gradients import check
from tests.support.pairs import rotating

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


class Column(Sequence):
    """Cells that are read by number in a unit, and passed as they are."""

    def __iter__(self) -> Any:
        return iter(self.items)


class Passing(Own):
    def __iter__(self) -> Any:
        return (2.0 * v for v in super().__iter__())


MAKERS = [deque, UserList, Own, Window, Doubling, Sequence, Column, Passing]
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


def written(write: Any) -> Any:
    def run(s: Any) -> Any:
        y = np.zeros(2)
        write(y, s)
        return y

    return run


FUNCTIONS |= {
    "max": np.max,
    "hstack": lambda s: np.hstack([s, [1.0]]),
    "nested": lambda s: np.array([s, s]),
    "slice": written(lambda y, s: y.__setitem__(slice(None), s)),
    "places": written(lambda y, s: y.__setitem__([1, 0], s)),
    "copyto": written(np.copyto),
    "in place": written(lambda y, s: y.__iadd__(s)),
    "interp": lambda s: np.interp(0.4, [0.0, 1.0], s),
    "norm": np.linalg.norm,
    "einsum": lambda s: np.einsum("i,i->", s, [1.0, 2.0]),
    "linspace": lambda s: np.linspace(s, 0.0, 3),
    "solve": lambda s: np.linalg.solve(2.0 * np.eye(2), s),
    "operator": lambda s: np.ones(2) + s,
}
CALLS = [(make, "array") for make in MAKERS] + [(deque, name) for name in FUNCTIONS]


CALLS += [(Column, name) for name in FUNCTIONS]


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


WITHOUT_DERIVATIVE = {
    "zeros_like": lambda s: np.zeros_like(s).sum() + 1.0,
    "shape": lambda s: np.shape(s)[0],
    "size": np.size,
    "argmax": np.argmax,
    "argsort": lambda s: np.argsort(s)[0],
    "allclose": lambda s: np.allclose(s, X),
    "array_equal": lambda s: np.array_equal(s, X),
    "count_nonzero": np.count_nonzero,
    "digitize": lambda s: np.digitize(s, [0.0, 1.0]).sum(),
    "greater": lambda s: (2.0 * X > s).sum(),  # noqa: SIM300
    "equal": lambda s: (X == s).sum(),  # noqa: SIM300
}


@pytest.mark.parametrize(
    ("make", "name"), rotating([Own, Column, Passing, tuple], WITHOUT_DERIVATIVE, times=2)
)
def test_functions_without_a_derivative(make: Any, name: str) -> None:
    def f(x: Any) -> Any:
        return x[0] * (1.0 + WITHOUT_DERIVATIVE[name](make([x[0], x[1]])))

    expected = f(X) / X[0]
    assert_allclose(grad(f)(X), [expected, 0.0], rtol=1e-14)
    assert_allclose(grad(f, debug=True)(X), [expected, 0.0], rtol=1e-14)
    assert_allclose(jvp(f, (X,), (X,)), (f(X), f(X)), rtol=1e-14)


def test_an_object_without_a_length_is_no_sequence() -> None:
    class Endless(Column):
        def __len__(self) -> int:
            raise TypeError

    def f(x: Any) -> Any:
        return x[0] * (1.0 + np.ndim(Endless([x[1]])))

    assert grad(f)(X).tolist() == [1.0, 0.0]
