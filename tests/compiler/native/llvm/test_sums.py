"""Sums in an order of our own: the same bits at every level."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py.compiler.native.llvm.marks import are_apart
from mooncake_py.compiler.native.llvm.nests import nested
from mooncake_py.compiler.native.llvm.printer import Printer
from mooncake_py.compiler.native.llvm.sums import FEW, MANY, totals_of
from mooncake_py.compiler.native.machine.built import Work, built
from mooncake_py.compiler.native.machine.levels import QUICK
from mooncake_py.compiler.native.regions.kinds import kind_of
from mooncake_py.compiler.regions.ir import ForAll
from tests.compiler.native.llvm.kernels import Memory, kernels
from tests.compiler.native.writing import written

pytest.importorskip("llvmlite")

AXES = {"x": 1, "y": 1, "z": 1, "w": 1, "g": 1, "m": 2, "idx": 1}
KINDS = {"i": "int", "j": "int", "k": "int", "n": "int", "idx": "int", "g": "float32"}
EMPTY = np.empty(0)
LENGTHS = (0, 1, 3, 4, 5, 7, 31, 32, 33, 63, 64, 67, 100)


def forward(text: str, inputs: str, results: str, memory: Memory | None = None) -> list[Any]:
    """Return the forward sweep of a text at both levels, and without vectors."""
    printer = Printer(KINDS, AXES, by_blas=False)
    printer.forward(written(text, KINDS, {}), inputs.split(), results.split())
    work = Work(printer)
    quick = work.entries(work.made(QUICK))[0]
    others = [kernels(printer, memory, level) for level in (0, 2)]
    return [made["forward"] for made in (built(printer), quick, *others)]


def in_our_order(x: Any, total: float) -> float:
    """Return a sum of numbers, added as in the text."""
    many = np.zeros(MANY)
    most = len(x) // MANY * MANY
    for i in range(0, most, MANY):
        many += x[i : i + MANY]
    while many.size > FEW:
        many = many[: many.size // 2] + many[many.size // 2 :]
    last = len(x) // FEW * FEW
    for i in range(most, last, FEW):
        many += x[i : i + FEW]
    if last:
        total += (many[0] + many[2]) + (many[1] + many[3])
    for e in x[last:]:
        total += e
    return total


def test_numbers_are_added_in_our_order() -> None:
    for f in forward("for i in all(len(x)):\n    s += x[i]", "x s", "s"):
        for n in LENGTHS:
            x = np.random.default_rng(n).normal(size=n) * 10.0 ** (np.arange(n) % 13)
            assert f(EMPTY, x, 0.25)[-1] == in_our_order(x, 0.25)


BODIES = {
    "product": "s += x[i] * y[i]",
    "difference": "s += -(x[i] * x[i])",
    "two sums": "s += x[i]\n    t += y[i] * 2.0\n    s += y[i]",
    "next to a store": "z[i] = x[i] * a\n    s += x[i] * z[i]",
    "next to a sum of elements": "z[i] += x[i] * y[i]\n    s += x[i] * y[i]",
    "through a let": "v = x[i] * x[i]\n    s += v\n    y[i] += v",
    "backwards": "s += x[len(x) - 1 - i] * y[i]",
    "a choice": "s += x[i] if x[i] > y[i] else y[i] * y[i]",
    "a function": "s += np.exp(x[i]) * y[i]",
    "float32": "s += g[i] * x[i]",
    "a sum in float32": "g[0] += x[i]",
    "rows": "m[k, i] -= x[i] * y[k]\n    s += x[i] * m[j, i]",
    "an element": "w[k] += x[i] * y[i]",
    "an element at an index": "w[idx[i]] += x[i]\n    s += w[idx[i]]",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_levels_give_the_same_bits(body: str) -> None:
    text = f"for i in all(len(x)):\n    {body}"
    memory = Memory()
    found = forward(text, "x y z w g m idx k j a s t", "s t", memory)
    for n in LENGTHS:
        rng = np.random.default_rng(n)
        given = [rng.normal(size=n), rng.normal(size=n + 3), rng.normal(size=n), np.ones(4)]
        given += [rng.normal(size=n + 1).astype(np.float32), rng.normal(size=(3, n))]
        given += [rng.integers(0, 4, n)]
        results = []
        for f in found:
            arrays = [np.array(a) for a in given]
            results.append([*f(EMPTY, *arrays, 1, 2, 0.7, 0.25, -0.5)[3:], *arrays])
        for a, b in zip(results[0], results[1], strict=True):
            np.testing.assert_array_equal(a, b)
        for a, b in zip(results[2], results[3], strict=True):
            np.testing.assert_array_equal(a, b)
        for a, b in zip(results[0], results[2], strict=True):  # products are rounded twice
            assert_allclose(a, b, rtol=1e-6 if a is results[0][-3] else 1e-11, atol=1e-11)
    memory.check()


@pytest.mark.parametrize("seed", range(4))
def test_loops_of_several_statements(seed: int) -> None:
    rng = random.Random(seed)
    lines = [f"    {rng.choice(list(BODIES.values()))}" for _ in range(3)]
    text = "for i in all(len(x)):\n" + "\n".join(lines)
    best, quick, *_ = forward(text, "x y z w g m idx k j a s t", "s t")
    for n in (5, 70):
        values = np.random.default_rng(n)
        arrays = [values.normal(size=k) for k in (n, n + 3, n)]
        arrays += [np.ones(4), np.ones(n, np.float32), values.normal(size=(3, n))]
        arrays += [values.integers(0, 4, n)]
        results = []
        for f in (best, quick):
            own = [np.array(a) for a in arrays]
            results.append([*f(EMPTY, *own, 1, 2, 0.7, 0.25, -0.5)[3:], *own])
        for a, b in zip(*results, strict=True):
            np.testing.assert_array_equal(a, b)


def loop(body: str) -> ForAll:
    """Return the innermost loop over `i` that is printed for a body."""
    (s,) = written(f"for i in all(len(x)):\n    {body}", KINDS, {})
    assert isinstance(s, ForAll)
    found = nested(s, lambda e: kind_of(e, KINDS))
    return next(s for s in found if isinstance(s, ForAll))


def test_which_sums_are_in_parts() -> None:
    def totals(s: ForAll) -> int:
        return len(totals_of(s, lambda e: kind_of(e, KINDS)))

    assert totals(loop("s += x[i]")) == totals(loop("w[k] += x[i] * y[i]")) == 1
    assert totals(loop(BODIES["two sums"])) == 2
    assert totals(loop("y[i] = x[i]")) == totals(loop("s += m[i, k]")) == 0
    (few,) = written("for i in all(3):\n    s += x[i]", KINDS, {})
    assert isinstance(few, ForAll)
    assert not any(totals(s) for s in nested(few, lambda e: "float") if isinstance(s, ForAll))


APART = ("z[i] = x[i]", "z[i] += x[i] * z[j]", "m[k, i] -= m[j, i]", "v = x[i]\n    z[i + k] = v")
TOGETHER = (
    "w[idx[i]] += x[i]", "z[i] = x[i]\n    z[i + 1] += x[i]", "z[0] = x[i]",
    "k = idx[i]\n    z[k + i] = x[i]", "z[2 * i] = x[i]", "z[i * 0] = x[i]",
)  # fmt: skip


def test_which_passes_are_apart() -> None:
    def apart(body: str) -> bool:
        (s,) = written(f"for i in all(len(x)):\n    {body}", KINDS, {})
        assert isinstance(s, ForAll)
        return are_apart(s.body, "i")

    assert all(map(apart, APART))
    assert not any(map(apart, TOGETHER))
