"""A tuple that stands within an index picks elements by a copy, as NumPy reads it as an array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, hvp, jvp, value_and_grad
from tests.programs.comparing import function_of
from tests.support.pairs import rotating

INDICES = (
    ":, (0, -1)", "(0, 2),", "((0, 1),)", "(0, 1), (1, 0)", "k, (0, 1)", "(0, 1), k", "..., (1, 0)",
    "(0, 1)", "COLUMNS, 1", "..., COLUMNS", "1:, (0, 0)", "(0, 0),", "None, (0, 1)", "True", "None",
    "(True, False, True)", "(True, False, True), 1", "((0,), (1,)), (0, 1)", "k == 1", "k > 5",
)  # fmt: skip
STATEMENTS = {
    "read": "y = np.sum(u[{i}]**2 * 1.5)",
    "scaled": "u[{i}] *= 0.5; y = np.sum(u**2)",
    "added": "u[{i}] += np.sin(u[{i}]); y = np.sum(u**3)",
    "stored": "u[{i}] = u[{i}]**2 + 1.0; y = np.sum(u**3)",
}
U = np.random.default_rng(0).random((3, 3)) + 0.5
D = np.random.default_rng(1).random((3, 3))
STEP = 1e-6


def program(index: str, statement: str) -> Any:
    """Return a function with one index in it."""
    text = STATEMENTS[statement].format(i=index)
    return function_of(
        f"import numpy as np\nCOLUMNS = (0, 2)\ndef f(u):\n    k = 1\n    {text}\n    return y\n",
        f"<index {index}, {statement}>",
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("index", "statement"), rotating(INDICES, STATEMENTS, times=2))
def test_index(index: str, statement: str) -> None:
    f = program(index, statement)
    value, g = value_and_grad(f)(U)
    assert value == f(U.copy())
    slope = (f(U + STEP * D) - f(U - STEP * D)) / (2 * STEP)
    np.testing.assert_allclose(np.sum(g * D), slope, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (U,), (D,))[1], np.sum(g * D), rtol=1e-12)
    change = (grad(f)(U + STEP * D) - grad(f)(U - STEP * D)) / (2 * STEP)
    np.testing.assert_allclose(hvp(f, (U,), D), change, rtol=1e-5, atol=1e-5)
