"""Printed sweeps: statements, the stack, what leaves early, and memory on every way out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py.compiler.native.llvm import printer as llvm_printer
from mooncake_py.compiler.native.llvm.printer import Printer
from mooncake_py.compiler.regions.ir import Apply, Check, Grow
from tests.compiler.native.llvm.kernels import Memory, kernels
from tests.compiler.native.llvm.random_sweeps import printed, run
from tests.compiler.native.random_regions import random_region
from tests.compiler.native.writing import region, written
from tests.support.interpreted import PLAIN

pytest.importorskip("llvmlite")

KINDS = {"k": "int", "m": "int", "i": "int", "j": "int", "n": "int", "on": "bool", "c": "int"}
EMPTY = np.empty(0)
LARGE = 1e6
"""No derivative is larger where results are compared."""


def forward(
    text: str, inputs: str, results: str, axes: int = 1, memory: Memory | None = None
) -> Any:
    """Return the forward sweep of a text; arrays have these many axes."""
    printer = Printer(KINDS, dict.fromkeys("xyzc", axes), by_blas=False)
    printer.forward(written(text, KINDS, {}), inputs.split(), results.split())
    return kernels(printer, memory)["forward"]


SWEEP = """
y = empty(len(x), size(x, 1))
for i, j in all(len(x), size(x, 1)):
    y[i, j] = x[i, j] * a
for i, j in all(len(x), size(x, 1)):
    push(y[i, j])
k = 0
for m in range(1, len(x)):
    assert m < 5
    if x[m, 0] > 0.5:
        push(True)
        k = k + 1
    else:
        push(False)
for i in all(len(x)):
    s += np.exp(y[i, k])
"""
BACK = """
for m in range(len(x) - 1, 0, -1):
    if pop():
        d_a += 1.0
for i, j in all(len(x), size(x, 1)):
    y[i, j] = pop()
for i, j in all(len(x), size(x, 1)):
    d_x[i, j] += d_y[i, j] * a
"""
SIZES = """
for i, j in all(len(x), size(x, 1)):
    push(0.0)
for m in range(1, len(x)):
    push(True)
"""


@pytest.mark.parametrize("counted", [False, True])
def test_sweeps(counted: bool) -> None:
    memory = Memory()
    printer = Printer(KINDS, {"x": 2, "y": 2, "d_x": 2, "d_y": 2}, by_blas=False)
    if counted:
        printer.count(written(SIZES), ["x", "a"])
    printer.forward(written(SWEEP, KINDS), ["x", "a"], ["s", "k", "y"])
    printer.reverse(written(BACK), ["x", "y", "a", "d_x", "d_y"], ["d_a"])
    made = kernels(printer, memory)
    x = np.random.default_rng(0).random((5, 6))
    ok, S, p, s, k, y = made["forward"](EMPTY, x, 2.0)
    assert ok
    assert p == 34
    assert S.size == (34 if counted else 60)
    assert k == (x[1:, 0] > 0.5).sum()
    assert_allclose(s, sum(np.exp(y[:, k])), rtol=1e-14)
    assert_array_equal(y, 2 * x)
    d_x, d_y = np.ones((5, 6)), np.full((5, 6), 3.0)
    y[...] = 0.0
    assert made["reverse"](S, p, x, y, 2.0, d_x, d_y) == (float(k),)
    assert_array_equal(y, 2 * x)
    assert_array_equal(d_x, np.full((5, 6), 7.0))
    ok, more, code, *_ = made["forward"](EMPTY, np.ones((7, 6)), 2.0)
    assert not ok
    assert isinstance(printer.checks[code - 1], Check)
    assert more.size >= 42  # what has grown is kept
    memory.check()


def test_each_check_has_its_own_code() -> None:
    f = forward("assert a > 0.0\nfor m in range(3):\n    assert a > m\nassert a < 9.0", "a", "")
    assert [f(EMPTY, a)[2] for a in (-1.0, 0.5, 9.5)] == [1, 2, 3]
    assert f(EMPTY, 5.0)[0]


def test_what_stands_behind_a_test_is_not_read() -> None:
    far = 2**40
    for text in (
        "s = 1.0 if 0 <= k and k < len(x) and x[k] > 0.0 else 2.0",
        "s = x[k] if k < len(x) else 2.0",
        "s = 1.0 if 0 < k < len(x) < x[k] + 9.0 else 2.0",
        "s = 1.0 if not (k >= len(x) or x[k] > 5.0) else 2.0",
    ):
        f = forward(text, "x k", "s")
        assert f(EMPTY, np.ones(3), far)[-1] == 2.0
        assert f(EMPTY, np.ones(3), 2)[-1] == 1.0


@pytest.mark.parametrize("step", [1, -1, 2, -3, 7, 2**62, -(2**62)])
def test_ranges(step: int) -> None:
    text = "for m in range(i, j, k):\n    s += float(m)\n    n = n + 1"
    f = forward(text, "i j k", "s n m")
    ends = (0, 1, -4, 9, 2**63 - 1, -(2**63))
    for lo in ends:
        for hi in ends:
            steps = range(lo, hi, step)
            if len(steps.__class__(0, 1)) and (hi - lo) // step < 1000:
                _, _, _, s, n, m = f(EMPTY, lo, hi, step)
                assert n == len(steps)
                assert s == float(sum(map(float, steps)))
                assert not steps or m == steps[-1]
    assert f(EMPTY, 0, 5, 0)[:3:2] == (False, 1)


def test_breaks_leave_the_innermost_loop() -> None:
    text = """
for m in range(3):
    i = 0
    while True:
        i = i + 1
        if i > m:
            break
        n = n + 1
    if m == 1:
        break
"""
    assert forward(text, "a", "n m i")(EMPTY, 0.0)[3:] == (1, 1, 2)


IN_LOOPS = """
y = zeros(3)
for m in range(k):
    z = empty(m)
    for i in all(m):
        z[i] = x[i]
    y[0] = y[0] + float(len(z))
    assert m < 6
c = empty(k)
"""


@pytest.mark.parametrize("n", [0, 1, 4, 7, 9])
def test_memory_of_arrays_in_loops(n: int) -> None:
    memory = Memory()
    f = forward(IN_LOOPS, "x k", "y", memory=memory)
    ok, *_, y = f(EMPTY, np.ones(9), n)
    assert ok is (n < 7)
    if ok:
        assert y[0] == sum(range(n))
    memory.check()


def test_there_is_no_memory() -> None:
    memory = Memory()
    f = forward(IN_LOOPS + "for i in all(k):\n    push(x[i])", "x k", "y", memory=memory)
    codes = []
    for left in range(20):
        memory.left, memory.given = left, 0
        codes.append(f(EMPTY, np.ones(9), 5)[:3:2])
        memory.check()
    assert codes[0] == (False, -1)
    assert codes[-1] == (True, 5)
    assert set(codes) == {codes[0], codes[-1]}


@pytest.mark.parametrize(("n", "code"), [(-1, 1), (2**62, 1), (2**40, -1)])
def test_lengths_that_no_array_has(n: int, code: int) -> None:
    f = forward("y = zeros(k, len(x), 1000)", "x k", "y", axes=3)
    found = f(EMPTY, np.ones((3, 1, 1)), n)
    assert found[:3:2] == (False, code)
    assert f(EMPTY, np.ones((3, 1, 1)), 0)[-1].shape == (0, 3, 1000)


def test_lists_grow() -> None:
    memory = Memory()
    found = region(
        """
        w = empty(1)
        for t in range(n):
            grow(w, t + 1)
            grow(x, t + 1)
            w[t] = a * t
            x[t] = a
        """,
        "x:1 a n:int",
        "w x",
    )
    assert any(isinstance(s, Grow) for s in found.body[1].body)  # type: ignore[union-attr]
    printer = Printer(found.kinds, found.arrays, by_blas=False)
    printer.forward(found.body, found.inputs, found.results)
    f = kernels(printer, memory)["forward"]
    for n in (0, 1, 2, 9):
        x = np.zeros(2)
        _, _, _, w, y = f(EMPTY, x, 0.5, n)
        assert_array_equal(w[:n], 0.5 * np.arange(n))
        assert_array_equal(y[:n], np.full(n, 0.5))
        assert (y is x) is (n <= 2)
    memory.check()


def test_what_is_called_by_its_address_is_described() -> None:
    def rule(x: float, k: int) -> float:
        return x * k

    printer = Printer(KINDS, {"x": 2, "y": 2}, by_blas=False)
    body = written("s = rule(a, k)\ns = rule(s, 3)", KINDS, {"rule": rule})
    printer.forward((*body, Apply(rule, "y", ("x",))), ["x", "y", "a", "k"], ["s"])
    numbers, arrays = printer.foreign.values()
    assert (numbers.function, numbers.result) == (rule, "float")
    assert numbers.kinds == (("float", None), ("int", None))
    assert arrays.kinds == (("float", 2), ("float", 2))
    assert printer.is_lasting
    again = Printer(KINDS, {})
    again.forward(written("s = rule(a, k)", KINDS, {"rule": rule}), ["a", "k"], ["s"])
    assert set(again.foreign) < set(printer.foreign)


def test_an_array_is_given_back_once() -> None:
    printer = Printer(KINDS, {"x": 1})
    with pytest.raises(ValueError, match="given back twice"):
        printer.forward((), ["x"], ["x", "x"])


# Random regions.


@pytest.mark.parametrize("start", [0, pytest.param(1000, marks=pytest.mark.slow)])
def test_random_regions(start: int) -> None:
    for seed in range(start, start + (4 if start == 0 else 150)):
        text, found = random_region(seed, 6 + seed % 10)
        active = {n for n in found.kinds if found.kinds[n] == "float"}
        memory = Memory()
        ours, sweeps = printed(Printer, found, active)
        plain, _ = printed(PLAIN.printer, found, active)
        with np.errstate(all="ignore"):
            got = run(kernels(ours, memory, level=seed % 3), found, sweeps, seed)
            expected = run(PLAIN.built(plain), found, sweeps, seed)
        try:
            assert len(got) == len(expected)
            memory.check()
            if max(np.max(np.abs(b), initial=0.0) for b in expected) > LARGE:
                continue  # the last bits of what is computed become its first ones
            for a, b in zip(got, expected, strict=True):
                assert_allclose(a, b, rtol=1e-9, atol=1e-12)
        except AssertionError as error:
            error.add_note(f"seed {seed}:\n{text}")
            raise


def test_who_prints_no_product_does_not_look_for_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(llvm_printer, "has_blas", lambda: bool(asked.append(True)))
    for text in (
        "for i in all(len(x)):\n    s += x[i, 0] * a",
        "for i, j, k in all(len(x), size(x, 1), size(y, 1)):\n    z[i, k] += x[i, j] * y[j, k]",
    ):
        printer = Printer(KINDS, {"x": 2, "y": 2, "z": 2})
        printer.forward(written(text, KINDS, {}), ["x", "y", "z", "a", "s"], ["s"])
        assert asked == [True] * ("y" in text)
