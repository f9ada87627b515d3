"""Differences that refute a derivative: only where the function has one for certain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py.testing.stencil import Stencil


def refute(f: Callable[[float], Any], *found: float) -> Any:
    def at(t: float) -> Any:
        with np.errstate(all="ignore"):
            return np.atleast_1d(np.asarray(f(t), float))

    return Stencil(at, 1.0).refute(np.array(found), rtol=1e-6, atol=1e-9)


def test_right_ones_are_confirmed() -> None:
    assert refute(np.sin, 1.0) is None
    assert refute(lambda t: [np.exp(3 * t), t * t], 3.0, 0.0) is None


def test_wrong_ones_are_refuted() -> None:
    wrong = refute(np.sin, 1.001)
    assert wrong.expected == pytest.approx(1.0)
    assert wrong.got == 1.001
    assert "step 1e-05" in wrong.ladder()
    assert refute(lambda t: [np.exp(3 * t), t * t], 3.0, 0.1).index == 1
    assert refute(np.sin, np.nan).expected == pytest.approx(1.0)


@pytest.mark.parametrize(
    "f",
    [
        np.abs,
        lambda t: np.maximum(t, 0.0),
        lambda t: 100.0 * t + np.abs(t),
        np.sign,
        lambda t: np.sqrt(np.abs(t)),
        np.sqrt,
        lambda t: np.sin(1 / t) if t else 0.0,
    ],
    ids=["abs", "relu", "small kink", "jump", "cusp", "edge of the domain", "wild"],
)
def test_nothing_is_said_where_there_is_no_derivative(f: Callable[[float], Any]) -> None:
    for found in (-3.0, 0.5, 100.4):
        assert refute(f, found) is None


def test_a_kink_in_one_component_hides_no_other() -> None:
    assert refute(lambda t: [np.abs(t), 2 * t], 0.3, 2.5).index == 1


def test_a_wild_function_is_not_judged() -> None:
    assert refute(lambda t: 1e3 * t * np.sin(1e9 * t), 4.0) is None
