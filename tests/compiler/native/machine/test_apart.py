"""Long modules are taken apart, loop by loop, before the best level: they compute the same."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native.llvm.printer import Printer
from mooncake_py.compiler.native.machine import levels
from mooncake_py.compiler.native.machine.built import Work, built
from mooncake_py.compiler.native.machine.levels import BEST, MANY_LOOPS, QUICK, loops_in
from tests.compiler.native.writing import written

pytest.importorskip("llvmlite")

KINDS = {"i": "int", "j": "int", "m": "int", "k": "int", "n": "int"}
EMPTY = np.empty(0)
PIECES = (
    "for i in all(len(x)):\n    y[i] = x[i] * a + y[i]",
    "for i in all(len(x)):\n    s += x[i] * y[i]",
    "for m in range(len(x)):\n    assert x[m] < 50.0\n    x[m] = x[m] * 0.5 + a",
    "for m in range(3):\n    for i in all(len(x)):\n        s += x[i]\n    s = s * 0.5",
    "while s > 1.0:\n    s = s * 0.5\n    n = n + 1\n    if n > 7:\n        break",
    """z = empty(len(x) + 1)
for i in all(len(z)):
    z[i] = a
for i in all(len(x)):
    push(x[i])
    x[i] = z[i] + x[i] * 0.1""",
    """for m in range(n):
    if x[0] > 0.2:
        x[m] = 0.3
        break
    w = zeros(m + 1)
    w[m] = s
    y[m] = w[m]""",
)  # fmt: skip


def long(seed: int) -> Printer:
    """Return a printer that has printed a function with many loops."""
    rng = random.Random(seed)
    lines = [rng.choice(PIECES) for _ in range(MANY_LOOPS)]
    printer = Printer(KINDS, dict.fromkeys("xyzw", 1), by_blas=False)
    body = written("n = 2\n" + "\n".join(lines), KINDS, {})
    printer.forward(body, ["x", "y", "a", "s"], ["s", "n", "x", "y"])
    return printer


@pytest.mark.parametrize("seed", [0, *[pytest.param(k, marks=pytest.mark.slow) for k in (1, 2, 3)]])
def test_what_is_taken_apart_computes_the_same(seed: int) -> None:
    printer = long(seed)
    assert loops_in(printer.text) > MANY_LOOPS
    best = built(printer, BEST)["forward"]
    work = Work(printer)
    quick = work.entries(work.made(QUICK))[0]["forward"]
    for last in (0.3, 99.0):
        found: list[Any] = []
        for f in (best, quick):
            x, y = np.linspace(-1.0, 1.0, 45), np.ones(45)
            x[-1] = last
            ok, stack, top, *results = f(EMPTY, x, y, 0.7, 1.5)
            found.append([ok, top, stack[:top], *results, x, y] if ok else [ok, top, x, y])
        for a, b in zip(*found, strict=True):
            np.testing.assert_array_equal(a, b)
    assert not ok


@pytest.mark.skipif(not levels.can_take_apart(), reason="an old llvmlite")
def test_loops_are_functions_of_their_own() -> None:
    text = long(0).text
    with levels.parsed(text) as module:
        machine = levels.target_machine(3)
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        levels.take_apart(module, machine)
        module.verify()
        own = [f for f in module.functions if levels.BODY in f.name]
        assert len(own) > 0.7 * MANY_LOOPS
        assert all(b"noinline" in attribute for f in own for attribute in [b" ".join(f.attributes)])
