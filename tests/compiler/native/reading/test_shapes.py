"""Arrays that have another shape in each pass of a loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad
from tests.compiler.native.agreeing import require_compiled

pytestmark = pytest.mark.plain

X = np.random.default_rng(5).standard_normal(16)


def halved(x, steps):
    for _ in range(3):
        x = 0.5 * (x[::2] + x[1::2]) * x[::2]
    return x @ x


def grown(x, steps):
    y = x[:2]
    for k in range(4):
        y = np.concatenate((y, y[: k + 1] * x[k]))
        y[0] += x[k] ** 2
    return y @ y


def levels(x, steps):
    total, details = 0.0, x * 1.0
    for _ in range(steps):
        total += np.sum(details)
        a = x * 1.0
        for level in range(3, 0, -1):
            h = a[: len(a) // 2] * a[len(a) // 2 :]
            for i in range(len(h)):
                h[i] += level * a[i]
            if level > 1:
                total += h[level]
            a = h
        x[:2] += a
        details = np.sin(details)
    return total + x @ x


def of_one_shape(x, steps):
    u = x[: len(x) - 1]
    for _ in range(3):
        n = len(u)
        u = np.zeros(n) + u * u
    return u.sum()


COMPILED = [halved, grown, levels, of_one_shape]


def derivatives(f: Any, **how: Any) -> list[Any]:
    direction = (np.cos(X), None)
    value, partials = value_and_grad(f, **how)(X.copy(), 2)
    tangent = jvp(f, (X.copy(), 2), direction, **how)[1]
    return [value, partials, tangent, hvp(f, (X.copy(), 2), np.cos(X), **how)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("f", COMPILED)
def test_loops_of_few_passes_are_read_once_for_each(f: Any, tried: list[bool]) -> None:
    for a, b in zip(derivatives(f, compile=True), derivatives(f), strict=True):
        assert_allclose(a, b, rtol=1e-10, atol=1e-13)
    require_compiled(f, tried)


def any_number(x, steps):
    for _ in range(steps):
        x = x[::2] * x[1::2]
    return x @ x


def many(x, steps):
    y = x[:1]
    for k in range(9):
        y = np.concatenate((y, y[:1] * x[k]))
    return y @ y


def as_long_as(x, steps):
    while len(x) > 2:
        x = x[::2] * x[1::2]
    return x @ x


@pytest.mark.parametrize("f", [any_number, many, as_long_as])
def test_others_run_as_without(f: Any, tried: list[bool]) -> None:
    for a, b in zip(derivatives(f, compile=True), derivatives(f), strict=True):
        assert_allclose(a, b, rtol=1e-12)
    assert not any(tried)
