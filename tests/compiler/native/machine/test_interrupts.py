"""Signals within compiled loops: what a handler raises ends the call, and nothing has changed."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp, value_and_grad, vjp
from mooncake_py.compiler.native.llvm.listening import listens
from mooncake_py.compiler.native.machine import layouts
from mooncake_py.compiler.native.site import report
from mooncake_py.compiler.regions.ir import For, While, statements
from tests.compiler.native.writing import region

pytestmark = [
    pytest.mark.plain,
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers are those of Unix"),
]
LONG = 10**9
"""Passes that take half a minute and more."""


class Stop(BaseException):
    """What the handler raises."""


def spread(x: Any, n: int) -> Any:
    y = x.copy()
    for _ in range(n):
        for i in range(1, len(y) - 1):
            y[i] = y[i] + 0.1 * (y[i + 1] - 2.0 * y[i] + y[i - 1])
        x[0] = y[1]
    return np.sum(y * y)


def in_part(x: Any, n: int) -> Any:
    x[0] = len(str(n)) * x[1]  # the text keeps the function from being compiled whole
    k, s = 0.0, x[0]
    while k < n:
        s = s * 0.999999 + x[1] * 1e-9
        k += 1.0
    return s


def endless(x: Any, n: int) -> Any:
    s, k = x[0], 0.0
    while k < n:
        s = 0.5 * s + 0.5  # nothing is saved for the way back
        k = k + (1e-9 if n > 3 else 1e-8)
    return s


@pytest.fixture
def alarm() -> Iterator[Callable[[Any], None]]:
    """Return a function that sets a handler to be called after some time."""
    before = signal.getsignal(signal.SIGALRM)

    def start(handler: Any, after: float = 0.1) -> None:
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, after)

    yield start
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


def stop(*_: Any) -> None:
    raise Stop


CALLS: dict[str, Callable[[Any, Any, int], Any]] = {
    "grad": lambda f, x, n: grad(f, compile=True)(x, n),
    "value_and_grad": lambda f, x, n: value_and_grad(f, compile=True)(x, n),
    "vjp": lambda f, x, n: vjp(f, x, n, compile=True),
    "jvp": lambda f, x, n: jvp(f, (x, n), (np.ones_like(x), None), compile=True),
}


def check(f: Any, call: Callable[[Any, Any, int], Any], alarm: Any) -> None:
    x = np.linspace(0.5, 2.0, 30)
    before = x.copy()
    call(f, x.copy(), 0)
    expected = grad(f)(x.copy(), 0)
    alarm(stop)
    start = time.monotonic()
    with pytest.raises(Stop):
        call(f, x, LONG)
    assert time.monotonic() - start < 20.0
    np.testing.assert_array_equal(x, before)
    np.testing.assert_allclose(grad(f, compile=True)(x, 0), expected, 1e-12)


def test_what_a_handler_raises_ends_the_call(alarm: Any) -> None:
    check(spread, lambda f, x, n: grad(f, compile=True)(x, n), alarm)
    assert report(spread)[0].found == "compiled"


@pytest.mark.slow
@pytest.mark.parametrize("f", [spread, in_part, endless])
@pytest.mark.parametrize("call", CALLS)
def test_in_each_mode(f: Any, call: str, alarm: Any) -> None:
    check(f, CALLS[call], alarm)


def test_a_part_of_a_function_is_compiled(alarm: Any) -> None:
    check(in_part, CALLS["grad"], alarm)
    assert report(in_part)[1].found == "compiled", report(in_part)


@pytest.mark.slow
def test_by_the_slow_entry(alarm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layouts, "are_known", lambda: False)

    def own(x: Any, n: int) -> Any:
        s, k = x[0], 0.0
        while k < n:
            s = s * 0.5 + 0.25
            k = k + 1e-9 if n > 3 else k + 1.0
        return s

    check(own, CALLS["grad"], alarm)


@pytest.mark.slow
def test_a_handler_that_returns(alarm: Any) -> None:
    x, seen = np.linspace(0.5, 2.0, 30), []
    alarm(lambda *_: seen.append(time.monotonic()))
    value, _ = value_and_grad(endless, compile=True)(x, 3)  # 3e8 passes
    assert value == pytest.approx(1.0)
    assert time.monotonic() - seen[0] > 0.1  # it was called within the loop


TEXT = """
for t in range(n):
    for i in range(3):
        s += x[i]
    for i in range(3):
        for j in range(3):
            for k in range(3):
                s += x[j]
for t in range(n):
    s += x[0]
while s < 2.0:
    s += 1.0
while k < 2:
    k = k + 1
for t in range(n):
    with all(q=3): x[q] = 1.0
"""


def test_which_loops_look() -> None:
    body = region(TEXT, "x:1 s n:int k:int", "s").body
    loops = [s for s in statements(body) if isinstance(s, For | While)]
    looking = [listens(s, is_outermost=s in body) for s in loops]
    assert looking == [True, False, True, False, False, False, True, False, True]
