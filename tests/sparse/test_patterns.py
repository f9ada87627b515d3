"""Patterns are detected by few products, whatever the matrix."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py.sparse.patterns import Pattern, detected


def banded(n: int, random: np.random.Generator) -> np.ndarray:
    distance = np.subtract.outer(np.arange(n), np.arange(n))
    return np.where(np.abs(distance) <= 1, random.normal(size=(n, n)), 0.0)


def scattered(n: int, random: np.random.Generator) -> np.ndarray:
    return np.where(random.random((n + 3, n)) < 0.1, random.normal(size=(n + 3, n)), 0.0)


def arrow(n: int, random: np.random.Generator) -> np.ndarray:
    matrix = np.diag(random.normal(size=n))
    matrix[0], matrix[:, 0] = random.normal(size=(2, n))
    return matrix


def zero(n: int, random: np.random.Generator) -> np.ndarray:
    return np.zeros((4, n))


@pytest.mark.parametrize("make", [banded, scattered, arrow, zero])
@pytest.mark.parametrize("n", [1, 2, 7, 33])
def test_all_entries_are_found(make, n: int) -> None:
    matrix = make(n, np.random.default_rng(n))
    pattern = detected(lambda vs: [matrix @ v for v in vs], len(matrix), n, np.dtype(float))
    found = np.zeros(matrix.shape, bool)
    found[pattern.rows, pattern.columns] = True
    np.testing.assert_array_equal(found, matrix != 0.0)


def test_a_band_takes_few_products() -> None:
    count = 0

    def products(vectors: list[np.ndarray]) -> list[np.ndarray]:
        nonlocal count
        count += len(vectors)
        return [v + np.append(v[1:], 0.0) + np.append(0.0, v[:-1]) for v in vectors]

    n = 4096
    pattern = detected(products, n, n, np.dtype(float))
    assert pattern.rows.size == 3 * n - 2
    assert pattern.colours.max() + 1 == 3
    assert count <= 6 * np.log2(n)


def test_patterns_are_joined() -> None:
    one = Pattern.of(np.array([0, 1]), np.array([0, 1]), (2, 2))
    other = Pattern.of(np.array([1, 1]), np.array([0, 1]), (2, 2))
    joined = one.joined(other)
    assert sorted(zip(joined.rows, joined.columns, strict=True)) == [(0, 0), (1, 0), (1, 1)]
    assert joined.colours.tolist() == [0, 1]
