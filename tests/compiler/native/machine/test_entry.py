"""Both entries pass the same, give the same back, and own the same memory."""

from __future__ import annotations

import ctypes
import gc
import math
import signal
import subprocess
import sys
import threading
import timeit
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native.machine import entry, layouts, slow_entry, symbols
from mooncake_py.compiler.native.machine.built import built
from mooncake_py.errors import MooncakeError
from tests.compiler.native.machine.texts import echo, ends, long, scaled

Built = Callable[[Any], dict[str, Callable[..., Any]]]


@pytest.fixture(params=["quick", "slow"])
def build(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Built:
    if request.param == "slow":
        monkeypatch.setattr(layouts, "are_known", lambda: False)
    elif not layouts.are_known():
        pytest.skip("objects look otherwise here")
    return built


def test_arrays_and_numbers_go_through(build: Built) -> None:
    f = build(scaled())["reverse"]
    for n in (0, 1, 10, 1000):
        x = np.arange(float(n))
        y, same = f(x, 3.0)
        assert same is x
        assert type(y) is np.ndarray
        assert y.flags.writeable
        assert y.flags.c_contiguous
        np.testing.assert_array_equal(y, 3 * x)
        assert y.base is None
        assert y.flags.owndata
        y[...] = 1.0  # its own memory
        np.testing.assert_array_equal(x, np.arange(float(n)))


@pytest.mark.parametrize(
    "values",
    [(1.5, 0.25, 7, True), (-1.0, -1.0, -1, False), (math.inf, -math.inf, -(2**63), True)],
)
def test_numbers_of_all_kinds_go_through(build: Built, values: tuple[Any, ...]) -> None:
    f = build(echo())["reverse"]
    found = f(*values)
    assert found == values
    assert list(map(type, found)) == [float, float, int, bool]
    assert f(np.float64(0.1), np.float32(0.1), np.int64(3), np.True_) == (
        0.1, float(np.float32(0.1)), 3, True,
    )  # fmt: skip
    assert math.copysign(1.0, f(-0.0, 0.0, 0, False)[0]) == -1.0
    assert math.isnan(f(math.nan, 0.0, 0, False)[0])


def test_what_is_no_argument_is_refused(build: Built) -> None:
    f, numbers = build(scaled())["reverse"], build(echo())["reverse"]
    x = np.ones(3)
    for args in ((x,), (x, 1.0, 2.0), (x, "a"), (1.0, 1.0), (np.ones((2, 2)), 1.0), ([1.0], 1.0)):
        with pytest.raises((TypeError, ValueError)):
            f(*args)
    with pytest.raises(OverflowError):
        numbers(1.0, 1.0, 2**63, True)
    with pytest.raises(TypeError):
        numbers(1.0, 1.0, 1.5j, True)


def test_ends_tell_their_codes(build: Built) -> None:
    f = build(ends())["forward"]
    stack = np.zeros(1)
    ok, grown, top, y = f(stack, 0)
    assert (ok, grown.size, top, y) == (True, 3, 2, 1.5)
    ok, grown, code, y = f(stack, 17)
    assert (ok, grown.size, code, y) == (False, 3, 17, None)
    with pytest.raises(MemoryError):
        f(stack, -1)


def test_an_end_on_the_way_back_is_an_error(build: Built) -> None:
    text = ends()
    text.text = text.text.replace("mc_forward", "mc_reverse")
    (signature,) = text.functions.values()
    text.functions = {"reverse": replace(signature, symbol="mc_reverse")}
    text.text = text.text.replace("call ptr @mc_malloc(i64 24)", "bitcast ptr null to ptr")
    with pytest.raises(MooncakeError, match="has raised"):
        build(text)["reverse"](np.zeros(1), 3)


class Allocator:
    """Memory of C, counted; it fails when told to."""

    def __init__(self) -> None:
        self.held: dict[int, int] = {}
        self.fails = False
        malloc, free = symbols.of_c("malloc"), symbols.of_c("free")
        assert malloc
        assert free
        take = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(malloc)
        drop = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(free)

        def own_malloc(size: int) -> int | None:
            if self.fails:
                return None
            found = take(size)
            self.held[found] = size
            return found

        def own_free(address: int | None) -> None:
            if address is not None:
                del self.held[address]  # an error if it is not held
                drop(address)

        self.malloc = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(own_malloc)
        self.free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(own_free)

    def address_of(self, name: str) -> int | None:
        own = {"mc_malloc": self.malloc, "mc_free": self.free}.get(name)
        return None if own is None else ctypes.cast(own, ctypes.c_void_p).value


KEPT: list[Any] = []
"""Allocators, which live as long as the process."""


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Allocator]:
    found, address_of = Allocator(), symbols.address_of

    def own(name: str) -> int | None:
        return found.address_of(name) or address_of(name)

    monkeypatch.setattr(symbols, "address_of", own)
    monkeypatch.setattr(slow_entry, "address_of", own)
    other, method = entry.entry.__wrapped__(), entry.method.__wrapped__
    monkeypatch.setattr(entry, "entry", lambda: other)
    made = method()
    monkeypatch.setattr(entry, "method", lambda: made)
    KEPT.append(found)
    yield found
    gc.collect()
    assert not found.held


def test_memory_is_freed_with_the_last_array(build: Built, memory: Allocator) -> None:
    f, g = build(scaled())["reverse"], build(ends())["forward"]
    x = np.ones(5)
    y, _ = f(x, 2.0)
    assert not memory.held  # it is a copy
    assert y.tolist() == [2.0] * 5
    _, stack, *_ = g(np.zeros(1), 0)
    part = stack[1:3]
    del stack
    assert len(memory.held) == 1
    assert part.size == 2
    del part
    gc.collect()
    assert not memory.held
    g(x, 0)
    g(x, 3)
    with pytest.raises(MemoryError):
        g(x, -1)
    with pytest.raises(TypeError):
        f(x, None)
    memory.fails = True
    with pytest.raises(MemoryError):
        f(x, 2.0)


def test_references_are_as_before(build: Built) -> None:
    f, g = build(scaled())["reverse"], build(ends())["forward"]
    x = np.ones(5)
    objects = (x, None, True, False, g)
    before = [sys.getrefcount(o) for o in objects]
    for _ in range(1000):
        f(x, 2.0)
        g(x, 0)
        g(x, 1)
    after = [sys.getrefcount(o) for o in objects]
    assert all(abs(a - b) < 100 for a, b in zip(after, before, strict=True))


def test_functions_can_be_dropped(build: Built) -> None:
    f = build(scaled())["reverse"]
    y, _ = f(np.ones(3), 2.0)
    del f
    gc.collect()
    assert y.tolist() == [2.0] * 3
    del y
    gc.collect()


def test_functions_in_cycles_can_be_dropped(build: Built) -> None:
    """A cycle is freed in any order, and what LLVM has of a function before its code."""
    f = build(scaled())["reverse"]
    own = pytest.importorskip("llvmlite.binding").context.ContextRef
    for o in gc.get_objects():
        if type(o) is own:
            o.close()
    del f
    gc.collect()


def test_eight_threads_call_at_once(build: Built) -> None:
    f = build(scaled())["reverse"]
    wrong: list[Any] = []

    def run(k: int) -> None:
        x = np.arange(300.0) + k
        for factor in range(200):
            y, same = f(x, float(factor))
            if same is not x or not np.array_equal(y, x * factor):
                wrong.append((k, factor))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_other_threads_run_while_a_kernel_does(build: Built) -> None:
    f = build(long())["reverse"]
    done = threading.Event()

    def run() -> None:
        f(3_000_000)
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    passes = 0
    while not done.is_set():
        passes += 1
    thread.join()
    assert passes > 1000


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_interrupts_are_seen_after_a_kernel(build: Built) -> None:
    f = build(long())["reverse"]

    def again(f: Callable[[int], Any]) -> None:
        for _ in range(1000):
            f(2_000_000)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            again(f)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


PROGRAM = """
import numpy as np
from mooncake_py.compiler.native.machine.built import built
from tests.compiler.native.machine.texts import scaled
class Holds:
    pass
held = Holds()
held.f = built(scaled())["reverse"]
held.y = held.f(np.ones(3), 2.0)
held.itself = held
np.ours = np.linalg.ours = held
"""


def test_programs_end_with_functions_and_arrays_about() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], timeout=60, check=True)


@pytest.mark.slow
def test_small_calls_take_less_than_three_microseconds() -> None:
    f = built(scaled())["reverse"]
    x = np.ones(10)
    taken = min(timeit.repeat(lambda: f(x, 2.0), number=1000, repeat=20)) / 1000
    assert taken < 3e-6
