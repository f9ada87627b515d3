"""Loops that follow one another are one, where that computes the same and pays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mooncake_py.compiler.native.sweeps.fusing import forward_only
from mooncake_py.compiler.regions.ir import ForAll, Let, statements
from tests.compiler.native.sweeping import finished
from tests.compiler.native.writing import region

X = np.array([0.3, -0.8, 0.5, 1.25])
INPUTS = {"x": X, "y": X[::-1] + 2.0, "z": np.cos(X), "m": np.outer(X, X + 1.0), "s": 0.7, "n": 4}

FUSED = {
    "a value and its tangent": """
with all(k=n): y[k] = z[k] * np.exp(x[k])
with all(k=n): x[k] = np.exp(x[k])
""",
    "what the pass before has written": """
with all(k=n): y[k] = x[k] + 1.0
with all(j=n): z[j] = y[j] * x[j]
""",
    "what is written twice": """
with all(k=n): y[k] = x[k]
with all(k=n): y[k] = 2.0 * y[k]
""",
    "sums": """
with all(k=n): s = s + x[k] * y[k]
with all(k=n): m[0, 0] = m[0, 0] + x[k] * z[k]
""",
    "rows and columns": """
with all(i=n, j=n): m[i, j] = m[i, j] + x[i] * y[j]
with all(k=n, l=n): z[l] = z[l] + m[k, l]
""",
}
APART = {
    "an element that another pass has written": """
with all(k=n): y[k] = x[k]
with all(k=n): z[k] = y[n - 1 - k]
""",
    "an element that another pass writes": """
with all(k=n): z[k] = y[n - 1 - k]
with all(k=n): y[k] = x[k]
""",
    "elements of one array": """
with all(k=n): y[k] = x[k]
with all(k=n - 1): y[k + 1] = z[k]
""",
    "one element in all passes": """
with all(k=n): y[0] = y[0] + x[k]
with all(k=n): z[k] = y[0] * x[k]
""",
    "a sum": """
with all(k=n): s = s + x[k]
with all(k=n): y[k] = s
""",
    "a number that is added up later": """
with all(k=n): y[k] = s
with all(k=n): s = s + x[k]
""",
    "passes that have one element": """
with all(i=n, j=n): m[i, 0] = m[i, 0] + x[j]
with all(i=n, j=n): y[i] = y[i] + m[i, 0]
""",
    "diagonals": """
with all(i=n, j=n): y[min(i + j, n - 1)] = y[min(i + j, n - 1)] + x[j]
with all(i=n, j=n): m[i, j] = m[i, j] + y[min(i + j, n - 1)]
""",
    "too many arrays to tell whether they overlap": """
with all(k=n): y[k] = x[k] * z[k] + x[n - 1 - k]
with all(k=n): m[0, k] = x[k] + m[n - 1, k] * m[n - 2, k] * m[n - 3, k]
""",
}
VARIABLES = "x:1 y:1 z:1 m:2 s n:int"


def loops(text: str) -> tuple[list[ForAll], dict[str, Any], dict[str, Any]]:
    """Return the loops of a region that runs forward, and what it and the region compute."""
    found = region(text, VARIABLES, "s")
    only = forward_only(found)
    made = [s for s in statements(only.body) if isinstance(s, ForAll)]
    return made, finished(only, INPUTS), finished(found, INPUTS)


def compare(got: dict[str, Any], expected: dict[str, Any]) -> None:
    for name in INPUTS:
        assert_array_equal(got[name], expected[name])


@pytest.mark.parametrize("name", FUSED)
def test_one_loop(name: str) -> None:
    made, got, expected = loops(FUSED[name])
    assert len(made) == 1
    compare(got, expected)


@pytest.mark.parametrize("name", APART)
def test_loops_that_stay_apart(name: str) -> None:
    made, got, expected = loops(APART[name])
    assert len(made) == 2
    compare(got, expected)


def test_slow_operations_are_done_once() -> None:
    (loop,), *_ = loops(FUSED["a value and its tangent"])
    assert [type(s) is Let for s in loop.body] == [True, False, False]
    (loop,), got, expected = loops(
        "with all(k=n): y[k] = np.exp(x[k] / z[k]) ** 2.5 / (x[k] / z[k])"
    )
    assert [type(s) is Let for s in loop.body] == [True, False]
    compare(got, expected)


@pytest.mark.parametrize(
    "text",
    [
        "with all(k=n): y[k] = np.exp(x[k + 1]) * np.exp(x[k + 1]) if k < n - 1 else 0.0",
        """
with all(k=n): x[k] = np.exp(x[k])
with all(k=n): y[k] = np.exp(x[k]) + np.exp(x[k])
""",
    ],
)
def test_what_may_not_be_done_before(text: str) -> None:
    (loop,), got, expected = loops(text)
    assert not any(isinstance(s, Let) for s in loop.body)
    compare(got, expected)
