"""Arrays with errors in all that is computed with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy import ndarray
from numpy.testing import assert_allclose

from mooncake_py.modes.debug.shaken_arrays import SPREAD, ShakenArray

X = np.arange(1.0, 13.0).reshape(3, 4)
Y = X[::-1] * 0.5
OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "product": lambda x: x * Y,
    "product of a plain array": lambda x: Y * x,
    "sum": np.sum,
    "product of vectors": lambda x: x[0].dot(Y[0]),
    "product of matrices": lambda x: Y.T @ x,
    "einsum": lambda x: np.einsum("ij,ij->i", x, Y),
    "outer": lambda x: np.outer(x[:, 1], Y[0]),
    "element": lambda x: x[1, 2],
}


def shaken() -> ShakenArray:
    found = X.copy().view(ShakenArray)
    found.random = np.random.default_rng(1)
    return found


def is_near(y: Any, expected: Any) -> bool:
    """Return True if there are errors, and no large ones."""
    assert_allclose(y, expected, rtol=SPREAD)
    return bool(np.all(np.asarray(y) != expected))


@pytest.mark.parametrize("name", OPERATIONS)
def test_results_are_plain_with_errors(name: str) -> None:
    f = OPERATIONS[name]
    y = f(shaken())
    assert type(y) in (ndarray, float, np.float64)
    assert is_near(y, f(X))


def add(x: Any) -> None:
    x += Y


def add_at_some(x: Any) -> None:
    np.add.at(x, ([0, 0], [1, 1]), 2.0)


def test_changes_in_place_make_errors() -> None:
    x = shaken()
    x[1:].T[...] *= 2.0
    add(x)
    assert is_near(x[1:].view(ndarray), 2.0 * X[1:] + Y[1:])


def test_what_is_written_or_added_at_some_places_is_kept() -> None:
    x, expected = shaken(), X.copy()
    for a in (x, expected):
        a[2, 1:] = 5.0
        add_at_some(a)
        a[:, 3].fill(0.0)
    assert np.array_equal(x.view(ndarray), expected)


@pytest.mark.parametrize("view", [np.transpose, np.ravel, lambda x: x[::-1], np.flip])
def test_views_write_through(view: Callable[[Any], Any]) -> None:
    x = shaken()
    seen = view(x)
    seen[...] = 0.0
    assert type(seen) is ShakenArray
    assert not x.view(ndarray).any()


def test_comparisons_have_no_errors() -> None:
    assert np.isfinite(shaken()).all()
    assert (shaken() == X).all()
