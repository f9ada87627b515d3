"""Sequences that change when they are read, given to NumPy: right, or an error that says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import mooncake_py
from mooncake_py import DerivativeDropError
from tests.support.pairs import rotating

X = np.array([1.25, 1.5, 0.5])
ONES = np.ones(3)


class Counting(list):
    """Count how often it is iterated over."""

    n = 0

    def __iter__(self) -> Iterator[Any]:
        self.n += 1
        return super().__iter__()


class Growing(list):
    """Have larger items each time."""

    n = 0

    def __iter__(self) -> Iterator[Any]:
        self.n = self.n + 1
        return (item * self.n for item in list.__iter__(self))


class Items:
    """Log which items are read, in a list and in an array."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items
        self.log: list[int] = []
        self.counts = np.zeros(9)

    @property
    def n(self) -> Any:
        return len(self.log) + self.counts[0]

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, i: int) -> Any:
        item = self.items[i]
        self.log.append(i)
        self.counts[0] += 1.0
        return item


class Index:
    n = 0

    def __index__(self) -> int:
        self.n += 1
        return 1


KINDS: list[Callable[[list[Any]], Any]] = [Counting, Growing, Items]
OF_ROWS: dict[str, Callable[[Any, Any], Any]] = {
    "stack": lambda x, s: np.stack(s),
    "vstack": lambda x, s: np.vstack(s),
    "concatenate": lambda x, s: np.concatenate(s),
    "array": lambda x, s: np.array(s),
    "nested": lambda x, s: np.array([s, s]),
    "block": lambda x, s: np.block(s),
    "sum": lambda x, s: np.sum(s),
    "mean": lambda x, s: np.mean(s, axis=0),
    "add": lambda x, s: np.add(s, x),
}
OF_NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "dot": lambda x, s: np.dot(x, s),
    "interp": lambda x, s: np.interp(x, s, [1.0, 2.0, 4.0]),
    "where": lambda x, s: np.where(s, x, 0.0),
    "operator": lambda x, s: x * s,
    "copyto": lambda x, s: np.copyto(x, s) or x,
    "written": lambda x, s: x.__setitem__(slice(None), s) or x,
    "norm": lambda x, s: np.linalg.norm(s) * x,
    "subscript": lambda x, s: x[s],
    "fromiter": lambda x, s: np.fromiter(s, float) * x if hasattr(s, "__iter__") else x,
}


def slopes_of(f: Callable[[Any], Any]) -> np.ndarray:
    """Return central differences."""
    return np.array([(f(X + step) - f(X - step)) / 2e-6 for step in 1e-6 * np.eye(3)])


def check(f: Callable[[Any], Any]) -> None:
    """Check value and gradient, where the function is not refused, in both modes."""
    expected, slopes = f(X.copy()), slopes_of(f)
    try:
        y, dx = mooncake_py.value_and_grad(f)(X.copy())
    except DerivativeDropError as error:
        assert "changes something" in str(error)  # noqa: PT017
        with pytest.raises(DerivativeDropError):
            mooncake_py.jvp(f, (X.copy(),), (ONES,))
        return
    assert y == pytest.approx(expected)
    np.testing.assert_allclose(dx, slopes, rtol=1e-5, atol=1e-8)
    y, dy = mooncake_py.jvp(f, (X.copy(),), (ONES,))
    assert y == pytest.approx(expected)
    assert dy == pytest.approx(slopes.sum(), rel=1e-5)


@pytest.mark.parametrize(("kind", "name"), rotating(KINDS, OF_ROWS))
def test_of_active_rows(kind: Callable[[list[Any]], Any], name: str) -> None:
    def f(x: np.ndarray) -> Any:
        s = kind([x, ONES])
        return np.sum(OF_ROWS[name](x, s)) * (1.0 + s.n)

    check(f)


@pytest.mark.parametrize(("kind", "name"), rotating(KINDS, OF_NUMBERS))
def test_of_constants(kind: Callable[[list[Any]], Any], name: str) -> None:
    def f(x: np.ndarray) -> Any:
        s = kind([0, 1, 2])
        return np.sum(OF_NUMBERS[name](x, s)) * (1.0 + s.n)

    check(f)


@pytest.mark.parametrize(
    "read",
    [
        lambda x, i: x[i],
        lambda x, i: x.reshape(1, 3)[0, i],
        lambda x, i: np.roll(x, i)[0],
        lambda x, i: np.repeat(x, i),
    ],
)
def test_index_that_counts(read: Callable[[Any, Any], Any]) -> None:
    def f(x: np.ndarray) -> Any:
        i = Index()
        return np.sum(read(x, i)) * (1.0 + i.n)

    check(f)


def test_sequences_that_only_compute_stay_as_they_are() -> None:
    shared = Counting([1.0, 2.0])

    def f(x: np.ndarray) -> Any:
        return np.sum(x) * np.sum(shared) * (1 + shared.n)

    before = shared.n
    mooncake_py.grad(f)(X)
    assert shared.n == before


class Numbered(int):
    """An int whose methods NumPy and Python do not ask, as it is an int itself."""

    n = 0

    def __index__(self) -> int:
        self.n += 1
        return 2

    def __float__(self) -> float:
        self.n += 1
        return 0.5


@pytest.mark.parametrize(
    "read",
    [
        lambda x, i: x[i],
        lambda x, i: x[i:].sum(),
        lambda x, i: x.reshape(1, 3)[0, i],
        lambda x, i: [x[0], x[2]][i],
        lambda x, i: range(5)[i] * x[0],
        lambda x, i: x.__setitem__(i, 0.5) or x[0] * x[1],
    ],
)
def test_ints_of_other_classes_are_subscripts(read: Callable[[Any, Any], Any]) -> None:
    def f(x: np.ndarray) -> Any:
        i = Numbered(1)
        return read(x, i) * (1.0 + i.n) * x[2]

    value, dx = mooncake_py.value_and_grad(f)(X.copy())
    assert value == f(X.copy())
    np.testing.assert_allclose(dx, slopes_of(f), rtol=1e-6)
