"""The profile of a gradient, line by line."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, profile_gradient
from mooncake_py.errors import NonScalarOutputError

pytestmark = pytest.mark.without_modes("shows what runs where nothing is compiled", "compiled")

X = np.linspace(0.1, 1.0, 1000)


def helper(u):
    return np.exp(u) * u


def loss(u, steps):
    total = 0.0
    for _ in range(steps):
        v = helper(u)
        u[1:] += 0.1 * np.sin(u[:-1])
        total = total + np.sum(v)
    return total


def by_offset(profile: Any, f: Any) -> dict[int, Any]:
    """Return the lines of a function by their distance from its first."""
    first, last = f.__code__.co_firstlineno, f.__code__.co_firstlineno + 10
    return {
        line.line - first: line
        for line in profile.lines
        if line.file == __file__ and first <= line.line < last
    }


def test_lines() -> None:
    u = X.copy()
    profile = profile_gradient(loss, u, 3)
    np.testing.assert_array_equal(u, X)
    assert profile.value == loss(X.copy(), 3)
    lines = by_offset(profile, loss)
    inner = by_offset(profile, helper)[1]
    assert inner.source == "return np.exp(u) * u"
    assert inner.entries == 3
    assert inner.saved_bytes >= 3 * X.nbytes
    assert inner.forward > 0
    assert inner.reverse > 0
    assert lines[4].source == "u[1:] += 0.1 * np.sin(u[:-1])"
    assert lines[4].saved_bytes > 0
    assert lines[3].entries == 0
    assert lines[1].reverse == 0
    assert profile.entries == sum(line.entries for line in profile.lines)
    assert [line.seconds for line in profile.lines] == sorted(
        (line.seconds for line in profile.lines), reverse=True
    )
    assert profile.forward > sum(line.forward for line in lines.values())


def test_table() -> None:
    head, *rows, total = str(profile_gradient(loss, X.copy(), 1)).splitlines()
    assert head.split() == [
        "forward",
        "ms",
        "reverse",
        "ms",
        "entries",
        "saved",
        "bytes",
        "line",
        "source",
    ]
    assert any(row.endswith("v = helper(u)") for row in rows)
    assert total.endswith("total")


def test_checkpoint_counts_for_the_line_that_calls_it() -> None:
    def f(u):
        v = checkpoint(helper, u)
        return np.sum(v)

    lines = by_offset(profile_gradient(f, X.copy()), f)
    assert lines[1].entries == 1
    assert lines[1].saved_bytes == 0
    assert lines[1].reverse > 0


def test_trace_function_of_others_stays() -> None:
    def trace(*details: Any) -> None:
        return None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        profile_gradient(loss, X.copy(), 1)
        assert sys.gettrace() is trace
        with pytest.raises(NonScalarOutputError):
            profile_gradient(helper, X.copy())
        assert sys.gettrace() is trace
    finally:
        sys.settrace(before)


def test_generators_and_recursion() -> None:
    def parts(u, n):
        if n:
            yield from parts(u, n - 1)
        yield np.sum(u * u) * n

    def f(u):
        return sum(parts(u, 3))

    u = np.array([1.0, 2.0])
    profile = profile_gradient(f, u)
    assert profile.value == f(u)
    assert by_offset(profile, parts)[3].entries > 0
