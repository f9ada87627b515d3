"""Statements on ints and floats of which none is active: what Python computes, and no entry."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad
from mooncake_py.modes.reverse.context import ReverseContext


class Lease:
    def __init__(self, start: Any, months: Any) -> None:
        self.start = start
        self.months = months

    def gap(self, month: Any) -> Any:
        return month - self.start - self.months

    def share(self, month: Any) -> Any:
        return 1.0 - 0.9 ** (month / self.months) * -self.start

    def root(self, month: Any) -> Any:
        return 2 * max(self.start, 0) + math.sqrt(self.months * month)


METHODS = [Lease.gap, Lease.share, Lease.root]
NUMBERS = [3, 0, -2, 2.5, -0.0, math.inf, True, 10**400, np.float64(1.5), 1j, "a", np.ones(2)]


def outcome(f: Any, *args: Any) -> Any:
    try:
        value, gradient = value_and_grad(f)(0.5, *args)
    except Exception as error:
        return type(error), str(error).splitlines()[:1]
    return repr(value), gradient


@pytest.mark.parametrize("method", METHODS)
def test_what_comes_out_is_what_single_operations_give(
    method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def f(x: Any, *args: Any) -> Any:
        value: Any = 0.0
        for _ in range(3):
            value = method(Lease(*args[:2]), args[2])
        return x * np.sum(np.real(value))

    outcome(f, 3, 2.5, 3)
    for args in itertools.product(NUMBERS, [2, 0, -1.5], [5, 2.5, -1]):
        quick = outcome(f, *args)
        with monkeypatch.context() as patch:
            patch.setattr(ReverseContext, "fuses", False)
            assert quick == outcome(f, *args), args


@pytest.mark.plain
def test_nothing_is_recorded_and_no_operation_of_the_engine_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def f(x: Any) -> Any:
        lease, total = Lease(3, 40), 0.0
        total += lease.gap(50)
        total += lease.gap(51)
        return total + lease.gap(52) * x

    operations: list[str] = []
    sub = ReverseContext.sub

    def counted(self: Any, a: Any, b: Any) -> Any:
        operations.append("sub")
        return sub(self, a, b)

    monkeypatch.setattr(ReverseContext, "sub", counted)
    assert value_and_grad(f)(1.0) == (24.0, 9.0)
    assert len(operations) <= 2  # what reading an attribute runs is not known from the start
    assert jvp(f, (1.0,), (1.0,)) == (24.0, 9.0)


def test_statements_of_literals_alone() -> None:
    def f(x: Any) -> Any:
        held = [np.float64(1.5), x]
        held[0] += 1.25 + 0.5**2
        return held[0] * x

    assert value_and_grad(f)(2.0) == (6.0, 3.0)
    assert jvp(f, (2.0,), (1.0,)) == (6.0, 3.0)
