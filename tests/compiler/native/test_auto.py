"""``compile="auto"``: derivatives run as without until a thread has compiled what they run."""

from __future__ import annotations

import _thread
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    checkpoint,
    compile_mode,
    grad,
    hessian,
    hvp,
    jacobian,
    jvp,
    prepare,
    value_and_grad,
    value_and_hvp,
    value_grad_and_hessian,
    vjp,
)
from mooncake_py.compiler.native import region_site
from mooncake_py.compiler.native.machine.background import READER
from mooncake_py.compiler.native.site import known_site
from mooncake_py.errors import InvalidModeError

pytestmark = pytest.mark.plain

X = np.linspace(0.1, 1.0, 7)
SCALE = 2.0


@pytest.fixture(autouse=True)
def _done() -> Iterator[None]:
    """Leave no work to other tests."""
    yield
    READER.wait()


def settled(derivative: Callable[[], Any], count: int = 6) -> Any:
    """Return a derivative's result once all is compiled: of a reading comes a form, and so on."""
    for _ in range(count):
        derivative()
        READER.wait()
    return derivative()


def made() -> Callable[..., Any]:
    """Return a function that was not compiled before."""

    def energy(x):
        total = 0.0
        for i in range(1, len(x)):
            x[i] += 0.1 * np.sin(x[i - 1])
            total += SCALE * x[i] ** 3
        return total

    energy.__code__ = energy.__code__.replace()
    return energy


def is_compiled(f: Any) -> bool:
    """Return whether there is code of a function."""
    site = known_site(f.__code__)
    return site is not None and any([*r.site.forms()] for r in site.read_so_far())


DERIVATIVES: dict[str, Callable[..., Any]] = {
    "grad": lambda f, **o: grad(f, **o)(X),
    "value_and_grad": lambda f, **o: value_and_grad(f, **o)(X),
    "forward": lambda f, **o: grad(f, mode="forward", **o)(X),
    "vjp": lambda f, **o: vjp(f, X, **o)[1](1.0),
    "jvp": lambda f, **o: jvp(f, (X,), (X,), **o),
    "jvp along": lambda f, **o: jvp(f, (X,), [(X,), (X[::-1].copy(),)], **o),
    "jacobian": lambda f, **o: jacobian(f, mode="forward", **o)(X),
    "hvp": lambda f, **o: hvp(f, (X,), X, **o),
    "value_and_hvp": lambda f, **o: value_and_hvp(f, (X,), X, **o),
    "hessian": lambda f, **o: hessian(f, **o)(X),
    "all three": lambda f, **o: value_grad_and_hessian(f, **o)(X),
    "second order": lambda f, **o: grad(lambda x: np.sum(grad(f)(x) ** 2), **o)(X),
}


def assert_same(found: Any, expected: Any, rtol: float = 0.0) -> None:
    if isinstance(expected, tuple | list):
        for pair in zip(found, expected, strict=True):
            assert_same(*pair, rtol)
    else:
        np.testing.assert_allclose(found, expected, rtol=rtol)


@pytest.mark.parametrize("name", DERIVATIVES)
def test_plain_first_then_compiled(name: str, tried: list[bool]) -> None:
    f, derivative = made(), DERIVATIVES[name]
    expected = derivative(f)
    READER.pause()
    try:
        for _ in range(3):
            assert_same(derivative(f, compile="auto"), expected)  # bit for bit
        assert not is_compiled(f)
    finally:
        READER.resume()
    found = settled(lambda: derivative(f, compile="auto"))
    assert is_compiled(f)
    assert_same(found, expected, rtol=1e-12)


def test_what_a_function_reads_may_change_meanwhile(
    tried: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    f = made()
    df = grad(f, compile="auto")
    READER.pause()
    df(X)
    monkeypatch.setitem(f.__globals__, "SCALE", 3.0)
    READER.resume()
    assert_same(settled(lambda: df(X)), grad(f)(X), rtol=1e-12)
    monkeypatch.setitem(f.__globals__, "SCALE", 5.0)
    assert_same(df(X), grad(f)(X), rtol=1e-12)
    assert_same(settled(lambda: df(X)), grad(f)(X), rtol=1e-12)


def test_other_types_are_compiled_for_themselves(tried: list[bool]) -> None:
    f = made()
    df = grad(f, compile="auto")
    settled(lambda: df(X))
    tried.clear()
    short = X.astype(np.float32)
    READER.pause()
    assert_same(df(short), grad(f)(short))
    assert True not in tried
    READER.resume()
    assert settled(lambda: df(short)).dtype == np.float32


@pytest.mark.parametrize("error", [ValueError, MemoryError, SystemExit])
def test_a_failure_of_the_thread_is_nobodys(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = []

    def fail(*args: Any) -> Any:
        if threading.current_thread() is threading.main_thread():  # text of NumPy, for loops
            return form_of(*args)
        failed.append(args)
        raise error

    form_of = region_site.form_of
    monkeypatch.setattr(region_site, "form_of", fail)
    f = made()
    assert_same(settled(lambda: grad(f, compile="auto")(X)), grad(f)(X))  # warnings are errors
    assert failed


def test_parts_are_compiled_too(tried: list[bool]) -> None:
    inner = made()

    def program(x):
        names = {k: x * k for k in {1, 2}}  # a set, which is not compiled
        return sum(inner(y.copy()) for y in names.values())

    assert_same(settled(lambda: grad(program, compile="auto")(X)), grad(program)(X), rtol=1e-12)
    assert True in tried


def test_what_runs_again_runs_as_it_did(tried: list[bool]) -> None:
    inner = made()

    def program(x):
        return checkpoint(lambda y: inner(y * 1.0), x) + inner(x.copy())

    expected = grad(program)(X)
    for _ in range(5):
        assert_same(grad(program, compile="auto")(X), expected, rtol=1e-12)
        READER.wait()


def test_prepared_calls_wait_for_the_thread(tried: list[bool]) -> None:
    f = made()
    step = prepare(grad, f, X, compile="auto")
    assert not READER.is_busy
    assert_same(settled(lambda: step(X).copy()), grad(f)(X), rtol=1e-12)


def test_nobody_waits_longer_than_is_said(
    tried: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    f = made()
    go_on = threading.Event()
    make = region_site.form_of

    def slow(*args: Any) -> Any:
        go_on.wait(60.0)
        return make(*args)

    monkeypatch.setattr(region_site, "form_of", slow)
    df = grad(f, compile=True, compile_timeout=0.02)
    assert_same(df(X), grad(f)(X))
    assert True not in tried
    go_on.set()
    READER.wait()
    assert_same(grad(f, compile=True, compile_timeout=60.0)(X), grad(f)(X), rtol=1e-12)
    assert True in tried
    with compile_mode(compile_timeout=60.0):
        assert_same(grad(f)(X), grad(f, compile=False)(X), rtol=1e-12)


def test_an_interrupt_ends_the_wait(tried: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    f = made()
    go_on, begun = threading.Event(), threading.Event()
    make = region_site.form_of

    def slow(*args: Any) -> Any:
        begun.set()
        go_on.wait(60.0)
        return make(*args)

    def interrupt() -> None:
        begun.wait(60.0)
        _thread.interrupt_main()

    monkeypatch.setattr(region_site, "form_of", slow)
    x = X.copy()
    thread = threading.Thread(target=interrupt)
    ignored = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background, say
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            grad(f, compile=True, compile_timeout=60.0)(x)
    finally:
        signal.signal(signal.SIGINT, ignored)
    thread.join()
    np.testing.assert_array_equal(x, X)
    go_on.set()
    READER.wait()
    assert_same(grad(f, compile=True)(x), grad(f)(x), rtol=1e-12)
    assert True in tried


def test_threads_ask_once(tried: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    f = made()
    count: list[int] = []
    make = region_site.form_of

    def noted(*args: Any) -> Any:
        count.append(1)
        return make(*args)

    monkeypatch.setattr(region_site, "form_of", noted)
    df = grad(f, compile="auto")
    expected = grad(f)(X)
    before = len(count)
    READER.pause()
    threads = [threading.Thread(target=lambda: df(X)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    READER.resume()
    assert_same(settled(lambda: df(X)), expected, rtol=1e-12)
    assert len(count) == before + 1


def test_what_is_no_setting_is_refused() -> None:
    for bad in ("yes", "Auto", "plainly", 2, 0.5):
        with pytest.raises(InvalidModeError):
            grad(made(), compile=bad)  # type: ignore[arg-type]
    for seconds in (-1.0, "5", True):
        with pytest.raises(InvalidModeError, match="not a number of seconds"):
            grad(made(), compile=True, compile_timeout=seconds)  # type: ignore[arg-type]


# Processes.

PROGRAM = """
import ctypes, os, sys, time
import numpy as np
from mooncake_py import grad
from mooncake_py.compiler.native.machine import built
from mooncake_py.compiler.native.machine.background import READER

built.require_compiler()
make = built.object_code
def slow(text, level):
    {hold}
    return make(text, level)
built.object_code = slow

def f(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
    return total

df = grad(f, compile="auto")
x = np.arange(50.0)
"""
LEAVES = """
for _ in range(200):
    assert np.array_equal(df(x), 2 * x)
    time.sleep(0.01)
    if any(name.endswith(".lock") for name in os.listdir(os.environ["MOONCAKE_CACHE_DIR"])):
        break
print("done")
sys.exit(3)
"""
FORKS = """
df(x)
pid = os.fork()
for _ in range(6):
    assert np.allclose(df(x), 2 * x)
    READER.wait()
from mooncake_py.compiler.native.site import known_site
(reading,) = known_site(f.__code__).read_so_far()
assert reading.site._forms, os.getpid()
if not pid:
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
print("done")
sys.exit(3)
"""


def run(program: str, folder: Path) -> None:
    """Run a program, which ends with 3 and says that it is done."""
    pytest.importorskip("llvmlite")
    own = {"MOONCAKE_CACHE_DIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    path = folder / "program.py"
    path.write_text(program)
    found = subprocess.run(
        [sys.executable, str(path)], env=os.environ | own, capture_output=True, text=True,
        timeout=100, check=False,
    )  # fmt: skip
    assert (found.returncode, found.stdout, found.stderr) == (3, "done\n", "")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="others wait for the thread")
def test_a_program_ends_while_code_is_made(tmp_path: Path) -> None:
    run(PROGRAM.format(hold="ctypes.CDLL(None).sleep(60)") + LEAVES, tmp_path)
    left = {path.suffix for path in tmp_path.iterdir()}
    assert not left & {".lock", ".tmp"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_both_processes_of_a_fork_compile(tmp_path: Path) -> None:
    run(PROGRAM.format(hold="time.sleep(0.1)") + FORKS, tmp_path)
