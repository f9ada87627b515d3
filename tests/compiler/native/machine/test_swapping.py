"""The quick level at once, the best one from a thread: in threads, processes, forks and at exit."""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, prepare, value_and_grad
from mooncake_py.compiler.native import form
from mooncake_py.compiler.native.machine import built as building
from mooncake_py.compiler.native.machine import paying
from mooncake_py.compiler.native.machine.background import WORKER
from mooncake_py.compiler.native.machine.built import built, hasten
from mooncake_py.compiler.native.machine.levels import BEST, QUICK
from tests.compiler.native.machine.texts import ends, scaled


@pytest.fixture(autouse=True)
def by_llvm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Have LLVM compile, and nothing kept that was compiled before."""
    WORKER.wait()
    monkeypatch.setattr(form, "COMPILER", form.LLVM)
    monkeypatch.setenv("MOONCAKE_CACHE_DIR", str(tmp_path))


@pytest.fixture
def levels(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the levels at which something is compiled, in order."""
    building.require_compiler()  # which compiles something once
    found: list[str] = []
    make = building.object_code

    def noted(text: str, level: Any) -> Any:
        found.append(level.name)
        return make(text, level)

    monkeypatch.setattr(building, "object_code", noted)
    return found


def energy(x: Any) -> Any:
    total = 0.0
    for i in range(1, len(x) - 1):
        x[i] += 0.1 * (x[i - 1] - x[i + 1]) * x[i]
        total += x[i] ** 2
    return total + np.sum(np.exp(0.01 * x) * x)


@pytest.mark.plain
def test_the_best_follows_the_quick_one(levels: list[str]) -> None:
    x = np.linspace(0.0, 1.0, 100)
    f = value_and_grad(energy, compile=True)
    first = f(x)
    WORKER.wait()
    assert levels == ["quick", "best"]
    again = f(x)
    assert first[0] == again[0]
    np.testing.assert_array_equal(first[1], again[1])
    assert levels == ["quick", "best"]


def test_another_process_finds_the_best(levels: list[str]) -> None:
    first = built(scaled())
    WORKER.wait()
    second = built(scaled())
    WORKER.wait()
    assert first.keys() == second.keys()
    assert levels == ["quick", "best"]


def test_what_is_gone_is_not_made_better(
    levels: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    todo: list[Any] = []
    monkeypatch.setattr(WORKER, "add", todo.append)
    found = built(scaled())
    assert hasten(found["reverse"])
    assert not hasten(found["reverse"])
    del found
    gc.collect()
    todo[0]()
    assert levels == ["quick"]
    found = built(scaled())
    del found
    gc.collect()
    WORKER.wait()
    assert len(todo) == 1


def test_better_code_is_made_once_it_pays(
    levels: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time of the calls is added up, of which the first, second, fourth and so on are taken."""
    now = [0.0]
    monkeypatch.setattr(paying, "clock", lambda: now[0])
    monkeypatch.setattr(building, "seconds_for", lambda text: 40.0)  # of which a quarter is to run
    f = built(scaled())["reverse"]
    x = np.ones(3)
    make = paying.Samples.end

    def ended(self: Any) -> int:
        now[0] += 1.0
        return make(self)

    monkeypatch.setattr(paying.Samples, "end", ended)
    for k in range(15):
        assert levels == ["quick"], k
        np.testing.assert_array_equal(f(x, 2.0)[0], 2.0 * x)
    assert now[0] == 4.0
    f(x, 2.0)
    assert now[0] == 5.0
    while WORKER.is_busy:
        pass
    assert levels == ["quick", "best"]
    for _ in range(40):
        np.testing.assert_array_equal(f(x, 2.0)[0], 2.0 * x)
    assert now[0] == 5.0


def test_calls_that_raise_are_timed_again(
    levels: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "seconds_for", lambda text: 0.0)
    f = built(ends())["forward"]
    for code in (-1, 17):
        with contextlib.suppress(MemoryError):
            f(np.zeros(1), code)
        assert not WORKER.is_busy
    assert f(np.zeros(1), 0)[0]
    while WORKER.is_busy:
        pass
    assert levels == ["quick", "best"]


def test_a_best_one_that_fails_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    make = building.object_code

    def fail(text: str, level: Any) -> Any:
        if level is BEST:
            raise MemoryError
        return make(text, level)

    monkeypatch.setattr(building, "object_code", fail)
    found = built(scaled())
    WORKER.wait()
    np.testing.assert_array_equal(found["reverse"](np.ones(3), 2.0)[0], np.full(3, 2.0))


@pytest.mark.plain
def test_code_is_swapped_while_threads_run_it() -> None:
    x = np.linspace(0.0, 1.0, 50)
    expected = grad(energy)(x)
    f = grad(energy, compile=True)

    def run(_: int) -> list[Any]:
        return [f(np.array(x)) for _ in range(20)]

    with ThreadPoolExecutor(8) as pool:
        found = [g for part in pool.map(run, range(8)) for g in part]
    WORKER.wait()
    found.append(f(x))
    for g in found:
        np.testing.assert_array_equal(g, found[0])
    np.testing.assert_allclose(found[0], expected, rtol=1e-13)


@pytest.mark.plain
def test_prepared_calls_have_the_best(levels: list[str]) -> None:
    def scaled_twice(x: Any) -> Any:
        return np.sum(x * x * 2.0)

    x = np.linspace(0.0, 1.0, 30)
    step = prepare(grad, scaled_twice, x, compile=True)
    assert not WORKER.is_busy
    assert levels == ["quick", "best"]
    np.testing.assert_allclose(step(x), 4.0 * x, rtol=1e-14)


def test_levels_are_told_apart_on_disk(tmp_path: Path) -> None:
    work = building.Work(scaled())
    assert work.kept(QUICK) is work.kept(BEST) is None
    work.made(QUICK)
    assert work.kept(QUICK) is not None
    assert work.kept(BEST) is None


PROGRAM = """
import os, sys, time
import numpy as np
from mooncake_py import grad
from mooncake_py.compiler.native.machine import built as building
from mooncake_py.compiler.native.machine.background import WORKER
from mooncake_py.compiler.native.machine import paying
from mooncake_py.compiler.native.machine.levels import BEST
from mooncake_py.diagnostics import waiting

waiting.PATIENCE = 1e9  # machines may be busy
paying.SHARE = 0.0
make = building.object_code
found = []
def slow(text, level):
    if level is BEST:
        time.sleep(0.3)
        found.append(os.getpid())
    return make(text, level)
building.object_code = slow

def f(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
    return total

df = grad(f, compile=True)
x = np.arange(50.0)
assert np.array_equal(df(x), 2 * x)
"""
BUSY = "assert WORKER.is_busy\n"
FORKS = """
def g(x):
    return (x * x * x).sum()

dg = grad(g, compile=True)
assert np.allclose(dg(x), 3 * x * x)
pid = os.fork()
assert len(found) == 1  # of two
WORKER.wait()
assert len(found) in (1, 2), found  # the other process may have been quicker
assert np.array_equal(df(x), 2 * x)
assert np.allclose(dg(x), 3 * x * x)
if pid:
    assert os.waitpid(pid, 0)[1] == 0
"""


def run(program: str, folder: Path, count: int = 1) -> None:
    """Run a program in some processes at once, which end well and say nothing."""
    pytest.importorskip("llvmlite")
    own = {"MOONCAKE_CACHE_DIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    environment = os.environ | own
    path = folder / "program.py"
    path.write_text(program)
    runs = [
        subprocess.Popen(
            [sys.executable, str(path)], env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        for _ in range(count)
    ]  # fmt: skip
    for one in runs:
        said, _ = one.communicate(timeout=300)
        assert (one.returncode, said) == (0, "")


def test_programs_end_while_code_is_made_better(tmp_path: Path) -> None:
    run(PROGRAM + BUSY, tmp_path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_both_processes_of_a_fork_have_the_best(tmp_path: Path) -> None:
    run(PROGRAM + BUSY + FORKS, tmp_path)


@pytest.mark.slow
def test_eight_processes_at_once(tmp_path: Path) -> None:
    run(PROGRAM + "WORKER.wait()\nassert np.array_equal(df(x), 2 * x)", tmp_path, 8)


EIGHT_THREADS = """
import threading
import numpy as np
from mooncake_py import grad

def made(k):
    def f(x):
        total = 0.0
        for i in range(len(x)):
            total += x[i] ** 2 * k
        return total
    return grad(f, compile=True)

def cube(x):
    return (x * x * x).sum()

shared = grad(cube, compile=True)
found = []
start = threading.Barrier(8)

def run(k):
    x = np.arange(50.0) + k
    own = made(float(k))
    start.wait()
    for _ in range(20):
        assert np.array_equal(own(x), 2 * x * k)
        assert np.allclose(shared(x), 3 * x * x, rtol=1e-14)
    found.append(k)

threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert sorted(found) == list(range(8)), found
"""


@pytest.mark.slow
def test_eight_threads_in_eight_processes_at_once(tmp_path: Path) -> None:
    """All find, make and replace the same files."""
    run(EIGHT_THREADS, tmp_path, 8)
