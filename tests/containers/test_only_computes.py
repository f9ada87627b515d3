"""Functions that name nothing but values of libraries are seen at once to change nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mooncake_py.containers.effects import changes_something, only_computes

seen: list[Any] = []
scale = 2.0


def enclosing(held: Any) -> Any:
    def computes(g: Any) -> Any:
        return g * held

    def appends(g: Any) -> Any:
        held.append(g)
        return g

    return computes, appends


def by_globals(g: Any) -> Any:
    return np.sin(g) * scale + math.cos(g)


def writes_global(g: Any) -> Any:
    global scale
    scale = g
    return g


def with_inner(g: Any) -> Any:
    return (lambda: seen.append(g))()


def calls_another(g: Any) -> Any:
    return writes_global(g)


def stores(g: Any) -> Any:
    g[0] = 1.0
    return g


@pytest.mark.parametrize("held", [2.0, np.ones(3), np.float32(1.0), "text", None, 3])
def test_what_names_plain_values_computes(held: Any) -> None:
    computes, appends = enclosing(held)
    assert only_computes(computes)
    assert not changes_something(computes)
    assert not only_computes(appends)
    assert changes_something(appends)


def test_globals() -> None:
    assert only_computes(by_globals)
    for f in (writes_global, with_inner, calls_another, stores):
        assert not only_computes(f)
        assert changes_something(f)


@pytest.mark.parametrize("held", [[], {}, enclosing, np.sum, seen.append])
def test_what_names_other_objects_is_looked_through(held: Any) -> None:
    assert not only_computes(enclosing(held)[0])
