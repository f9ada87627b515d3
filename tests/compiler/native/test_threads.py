"""Compiled functions run alongside other threads, and are compiled by several at once."""

from __future__ import annotations

import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, value_and_grad
from mooncake_py.compiler.native.llvm.printer import Printer
from mooncake_py.compiler.native.machine.built import built
from mooncake_py.compiler.native.site import FunctionSite
from tests.compiler.native.writing import written

pytest.importorskip("llvmlite")

EMPTY = np.empty(0)
WORKING = """
for k in range(2000000000):
    y[k % 5] = y[k % 5] + x[0]
    if y[5 + k % 5] > 0.5:
        break
"""
"""It works for about a second; it is over at once where y[5] is one."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the test a cache directory of its own."""
    monkeypatch.setenv("MOONCAKE_CACHE_DIR", str(tmp_path))


def made(text: str) -> Printer:
    printer = Printer({"k": "int"}, {"x": 1, "y": 1})
    printer.forward(written(text, {"k": "int"}), ["x", "y"], ["k"])
    return printer


@pytest.mark.thorough
def test_other_threads_run_meanwhile() -> None:
    forward = built(made(WORKING))["forward"]
    x, y = np.ones(1), np.zeros(10)
    y[5] = 1.0
    forward(EMPTY, x, y)
    y[:] = 0.0
    rounds = 0
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(forward, EMPTY, x, y)
        while not future.done():
            time.sleep(0.001)
            rounds += 1
    assert rounds > 20, "a region that holds the lock of the interpreter leaves two or three"


def test_filters_of_warnings_are_left_alone() -> None:
    before = list(warnings.filters)
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(built, [made(f"y[0] = x[0] * {c}.0") for c in range(3)]))
    assert warnings.filters == before
    for c, functions in enumerate(found):
        x, y = np.full(1, 2.0), np.zeros(1)
        functions["forward"](EMPTY, x, y)
        assert y[0] == 2.0 * c


def smoothed(x: np.ndarray, n: int) -> float:
    for _ in range(n):
        x[1:-1] = 0.25 * (x[:-2] + 2.0 * x[1:-1] + x[2:])
    return np.sum(x * x)


@pytest.mark.slow
def test_gradients_in_several_threads() -> None:
    gradient = value_and_grad(smoothed, compile=True)
    x = np.sin(np.arange(200.0))
    value, expected = value_and_grad(smoothed, compile=False)(x.copy(), 50)

    def work(_: int) -> None:
        for _ in range(20):
            found, grad = gradient(x.copy(), 50)
            assert abs(found - value) < 1e-12 * value
            np.testing.assert_allclose(grad, expected, rtol=1e-10, atol=1e-12)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, range(3)))


def scaled(k: float) -> Any:
    def f(x: Any) -> Any:
        total = 0.0
        for i in range(len(x)):
            total += x[i] ** 2 * k
        return total

    return f


def test_a_captured_variable_is_that_of_the_function_itself() -> None:
    f, other = scaled(2.0), scaled(3.0)
    site = FunctionSite(f)
    found = site.matched(f, (np.ones(3),), {})
    assert found is not None
    reading, _ = found
    reading.callees.every[0].stand_for(other)  # as a call in another thread does
    inputs = reading.inputs(f, [np.ones(3)])
    assert inputs is not None
    assert [v for v in inputs.values() if type(v) is float] == [2.0]


def test_a_form_that_several_threads_make_is_one() -> None:
    f = scaled(2.0)
    found = FunctionSite(f).matched(f, (np.ones(3),), {})
    assert found is not None
    site = found[0].site
    moving = frozenset(site.region.arrays)
    first = site.form_where(moving)
    forms = site._forms

    class Late(dict[Any, Any]):
        """Has the form of another thread once it is to be kept."""

        def __getitem__(self, key: Any) -> Any:
            raise KeyError(key)

    site._forms = Late(forms)
    assert site.form_where(moving) is first
    assert id(first) in site._entries
    assert len(site._entries) == 1


@pytest.mark.slow
def test_new_functions_of_one_code_in_threads() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    wrong: list[tuple[int, Any]] = []

    def run(k: int) -> None:
        df, x = grad(scaled(float(k)), compile=True), np.arange(50.0) + k
        barrier.wait()
        for _ in range(20):
            g = df(x)
            if not np.array_equal(g, 2 * x * k):
                wrong.append((k, g))

    try:
        for _ in range(10):
            barrier = threading.Barrier(8)
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(run, range(8)))
    finally:
        sys.setswitchinterval(interval)
    assert not wrong
