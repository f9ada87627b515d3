"""Statements along several directions: the tangents are those along each, from forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import jvp
from mooncake_py.compiler.statements import row_forms
from mooncake_py.modes.forward.stacked import StackedContext

pytestmark = pytest.mark.plain
X, M = np.array([0.7, -1.2, 0.8]), np.array([[0.3, -0.2, 1.1], [0.5, 0.9, -0.7], [0.2, 0.1, 0.4]])


def an_expression(x, m, a):
    return a * np.sin(x) * x + 1.0


def numbers(x, m, a):
    return a * a + 2.0


def elements(x, m, a):
    return x[1] * m[0, 2] - a


def broadcast(x, m, a):
    return m * x + x[:, None] * a - m[0, 1]


def a_constant_with_more_axes(x, m, a):
    c = np.ones((2, 3, 3)) * 3.0
    return x * c - a


def stores(x, m, a):
    x[1:] = a * x[:-1] * m[1, :2]
    m[0] += x * a
    m[:, 1] -= 0.5 * x
    m *= a * m
    m[1, 1] = x[0] * x[1]
    return m


def a_constant_is_written(x, m, a):
    x[:2] = 2.0 * np.arange(2.0)
    return x


def an_array_that_becomes_active(x, m, a):
    y = np.zeros((3, 3))
    y[1] = x * a
    y[:, 2] += m[0] * x
    return y


def products(x, m, a):
    return m @ x * a + np.sum(m * m)


def views(x, m, a):
    return m.T * x + np.flip(x[:2])[0]


def parts(x, m, a):
    i, everywhere = np.array([2, 0, 2]), x > -5.0
    return x[i] * x + x[everywhere] * a


def written_by_out(x, m, a):
    y = x * 1.0
    np.multiply(x, y + a, out=y)
    return y


def zeros_beside_infinities(x, m, a):
    with np.errstate(all="ignore"):
        return (x - x) * np.sqrt(x * 0.0) + a * 1.0


OTHERWISE = a_constant_is_written, numbers, elements
"""Functions without rows of arrays: statements on numbers have tangents of numbers."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("small", [row_forms.SMALL, 0])
@pytest.mark.parametrize(
    "f",
    [
        an_expression, numbers, elements, broadcast, a_constant_with_more_axes, stores,
        a_constant_is_written, an_array_that_becomes_active, products, views, parts,
        written_by_out, zeros_beside_infinities,
    ],
)  # fmt: skip
def test_tangents_are_those_along_each(f: Any, small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    args = X.copy(), M.copy(), 0.5
    directions: list[Any] = [
        tuple(random.normal(size=np.shape(a))[()] for a in args) for _ in range(4)
    ]
    directions.append((X * 0.0, M, 0.0))
    given = []
    monkeypatch.setattr(row_forms, "SMALL", small)
    fresh_rows = StackedContext.fresh_rows

    def noted(self: StackedContext, y: Any, rows: Any) -> Any:
        given.append(y)
        return fresh_rows(self, y, rows)

    monkeypatch.setattr(StackedContext, "fresh_rows", noted)
    writes = []
    write = row_forms.write
    monkeypatch.setattr(row_forms, "write", lambda *args: writes.append(write(*args)))
    with np.errstate(all="ignore"):
        value, tangents = jvp(f, args, directions)
        for t, direction in zip(tangents, directions, strict=True):
            expected = jvp(f, args, direction)
            assert_allclose(value, expected[0])
            assert_allclose(t, expected[1], rtol=1e-13, atol=1e-15)
    forms_are_new = small != 0
    assert given or writes or f in OTHERWISE or not forms_are_new
