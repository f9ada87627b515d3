"""``try`` and ``with`` whose bodies raise nothing, and what runs where they do."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad
from mooncake_py.compiler.native.site import report
from tests.compiler.native.reading.decided import agrees, agrees_compiled

pytestmark = pytest.mark.plain

X = np.array([0.3, 0.7, -0.4])


def divided(x, d):
    n = 0
    try:
        s = float(x[0]) / d
    except ZeroDivisionError:
        s = float(x[1]) * 7.0
    else:
        s = s * 2.0
    finally:
        n += 1
    return s * x[2] * n


def indexed(x, k):
    s = 0.0
    for i in range(4):
        try:
            s += x[i + k] ** 2
        except IndexError:
            s += 3.0 * x[0]
    return s


def factored(x, d):
    a = np.array([[1.0 + x[0], d], [d, 1.0]])
    try:
        c = np.linalg.cholesky(a)
        return np.sum(c * x[1])
    except np.linalg.LinAlgError:
        return x[1] ** 2 * np.trace(a)


def solved(x, d):
    a = np.array([[d, 2.0 * d], [1.0, 2.0]]) + (x[0] * 0.0 if d == 1.0 else x[0])
    try:
        return np.sum(np.linalg.solve(a, x[:2]))
    except np.linalg.LinAlgError:
        return np.sum(a) * x[1]


def raised(x, d):
    try:
        if x[0] * d < 0.0:
            raise ValueError("negative")
        s = math.log(x[0] * d)
    except ValueError:
        s = x[1] * x[1]
    return s * x[0]


def half_way(x, d):
    y = x.copy()
    with contextlib.suppress(ZeroDivisionError):
        y[0] = y[0] * 5.0
        y[1] = y[1] * (2.0 / d)
        y[2] = 0.5
    return np.sum(y * y)


@pytest.mark.parametrize("f", [divided, raised, half_way, factored, solved])
def test_what_raises_runs_the_plain_way(f: Any, tried: list[bool]) -> None:
    agrees_compiled(f, tried, X, 0.5)
    for d in (0.0, 0.25, 1.0, -2.0):
        agrees(f, X, d)


def test_indices_that_are_not_there(tried: list[bool]) -> None:
    for k in (0, 1, -1, -9):
        agrees(indexed, X, k)


def left_early(x, d):
    total = 0.0
    count = 0
    for v in x:
        try:
            if v * d > 0.25:
                break
            if v < 0.0:
                continue
            total += math.sqrt(v)
        finally:
            count += 1
    try:
        return total * count + x[2]
    finally:
        total = 100.0


def in_contexts(x, d):
    with np.errstate(divide="ignore", invalid="ignore"), contextlib.nullcontext(x[0]) as first:
        y = np.log(np.abs(x)) * first
        if d > 0.0:
            return np.sum(y)
    return np.sum(y * d)


@pytest.mark.parametrize("f", [left_early, in_contexts])
@pytest.mark.parametrize("d", [0.1, 0.5, -0.7])
def test_ways_out(f: Any, d: float, tried: list[bool]) -> None:
    agrees_compiled(f, tried, X, d)


class Context:
    def __enter__(self):
        return 2.0

    def __exit__(self, *args):
        return True


def of_other_contexts(x):
    with Context() as a:
        return a * x[0]


def that_raises_in_numpy(x):
    with np.errstate(divide="raise"):
        return np.sum(x / np.abs(x))


@pytest.mark.parametrize("f", [of_other_contexts, that_raises_in_numpy])
def test_contexts_that_are_left(f: Any, tried: list[bool]) -> None:
    agrees(f, X)
    assert report(f)[0].found == "not compiled"


def asserted(x, kind):
    assert kind in ("a", "b"), kind
    assert x[0] > 0.0, "negative"
    if kind == "b":
        raise ValueError(kind)
    return x[0] * x[1]


def test_errors_are_those_of_the_program(tried: list[bool]) -> None:
    agrees_compiled(asserted, tried, X, "a")
    for x, kind, error in (
        (X, "b", ValueError),
        (X, "c", AssertionError),
        (-X, "a", AssertionError),
    ):
        with pytest.raises(error):
            value_and_grad(asserted, compile=True)(x, kind)
