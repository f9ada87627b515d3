"""A derivative of functions that run as text of NumPy, compared with the general way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from mooncake_py.modes.reverse import whole_or_parts
from tests.support.modes.problem import ModeError, Problem

__all__ = ["in_parts", "in_text", "printing"]


def in_text(
    problem: Problem, expected: Any, rng: np.random.Generator, counts: Counter[str]
) -> None:
    """Take the gradient, a pullback and the derivative along a random direction."""
    with printing(counts):
        problem.value_and_grad()
        problem.slope(problem.directions(rng))
        if not problem.has_aux:
            y, pullback = problem.pullback()
            pullback(np.ones(y.shape) if isinstance(y, np.ndarray) else 1.0)


@contextmanager
def in_parts() -> Iterator[None]:
    """Let no function run as text in a block, as often as it is called: last bits would change."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(whole_or_parts, "either", lambda kind, f, text, parts, agree: parts())
        yield


@contextmanager
def printing(counts: Counter[str]) -> Iterator[None]:
    """Let text run at each call within a block, and compare what it gives with the general way."""

    def both(
        kind: str,
        f: Any,
        in_text: Callable[[], Any],
        in_parts: Callable[[], Any],
        agree: Callable[[Any, Any], bool],
    ) -> Any:
        result = in_parts()
        found = in_text()
        if found is None:
            return result
        counts["derivatives that ran as text"] += 1
        if not agree(result, found):
            raise ModeError(f"the {kind} as text is {found!r}, not {result!r}")
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(whole_or_parts, "either", both)
        yield
