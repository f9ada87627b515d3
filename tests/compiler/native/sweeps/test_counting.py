"""What tells how many numbers a forward sweep saves comes to an end where the sweep does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad
from mooncake_py.compiler.native.sweeps.counting import counted
from mooncake_py.compiler.regions.ir import While, statements
from tests.compiler.native.writing import written

KINDS = {"i": "int", "n": "int", "c": "int"}


def test_loops_that_a_check_may_end_are_not_counted() -> None:
    endless = """
i = 0
while True:
    assert i < len(x)
    push(x[i])
    i = i + 1
"""
    assert counted(written(endless, KINDS, {}), {}) is None
    ends = endless.replace("True", "i < n").replace("    assert i < len(x)\n", "")
    found = counted(written(ends, KINDS, {}), {})
    assert found is not None
    assert any(isinstance(s, While) for s in statements(found))


def test_all_elements_are_counted() -> None:
    text = "for j in all(len(x)):\n    push(x[j])\npush(n)"
    expected = "for j in all(len(x)):\n    push(0.0)\npush(0.0)"
    assert counted(written(text, KINDS, {}), {}) == written(expected, KINDS, {})


def forever(a: Any) -> None:
    i, t = -1, 0.0
    while True:
        i += 1
        t = t + a[i] * 0.9
        a[i] = t


def nearly_forever(a: Any) -> None:
    i, t = 0, 0.0
    while i < 10**15:
        t = t + a[i] * 0.9
        a[i] = t
        i += 1


@pytest.mark.plain
@pytest.mark.parametrize("run", [forever, nearly_forever])
@pytest.mark.parametrize("compile", [False, True])
def test_what_an_exception_ends_is_left(run: Any, compile: bool) -> None:
    def f(x: Any) -> Any:
        a = x * 1.0
        try:
            run(a)
        except IndexError:
            return a.sum()

    x = np.linspace(0.5, 1.0, 9)
    value, g = value_and_grad(f, compile=compile)(x)
    assert value == f(x)
    np.testing.assert_allclose(g, 0.9 * np.arange(9, 0, -1), rtol=1e-14)
