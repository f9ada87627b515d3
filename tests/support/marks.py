"""Which of many parameters a test has in the fast set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

__all__ = ["each_second", "each_third"]


def each_second(values: Iterable[Any]) -> list[Any]:
    """Return the parameters of a test that is slow, except for each second of them."""
    return one_of(2, values)


def each_third(values: Iterable[Any]) -> list[Any]:
    """Return the parameters of a test that is slow, except for each third of them."""
    return one_of(3, values)


def one_of(n: int, values: Iterable[Any]) -> list[Any]:
    return [v if k % n == 0 else slow(v) for k, v in enumerate(values)]


def slow(value: Any) -> Any:
    if hasattr(value, "marks"):
        return pytest.param(*value.values, id=value.id, marks=(*value.marks, pytest.mark.slow))
    values = value if type(value) is tuple else (value,)
    return pytest.param(*values, marks=pytest.mark.slow)
