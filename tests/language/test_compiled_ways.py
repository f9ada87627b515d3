"""What compiling does not help runs as it would without, and nothing is asked of it."""

from __future__ import annotations

from collections import Counter

import pytest

from mooncake_py import checkpoint, grad, value_and_grad
from mooncake_py.compiler.native import form
from mooncake_py.compiler.native.loop_site import LoopSite
from mooncake_py.compiler.native.machine.background import WORKER
from mooncake_py.compiler.native.site import FunctionSite
from mooncake_py.compiler.sites.pace import Pace
from mooncake_py.language.compiled_ways import WATCHED
from mooncake_py.runtime.compilation import is_installed
from tests.support.interpreted import INTERPRETED

pytestmark = [
    pytest.mark.plain,
    pytest.mark.without_modes("counts how often a function is asked for"),
    pytest.mark.skipif(not is_installed(), reason="compile=True needs llvmlite"),
]

N = 60


def pulled(x, k):
    y = x * k
    if y > 2.0:
        y = 2.0 + 0.5 * (y - 2.0)
    z = y * y + k
    w = z / (1.0 + y * y)
    u = w * 0.5 + y * 0.25
    v = u * u + w * z
    return v * 0.1 + u + x * 0.3


class Spring:
    def __init__(self, k):
        self.k = k

    def pulled(self, x):
        return pulled(x, self.k)


def passes():
    """Yield often, in a way that is not compiled."""
    kept = {}
    for k in range(N):
        kept[str(k)] = k
        yield kept


def function(x):
    for _ in passes():
        x = pulled(x, 0.9)
    return x


def method(x):
    spring = Spring(0.9)
    for _ in passes():
        x = spring.pulled(x)
    return x


def lambdas(x):
    shifted = lambda x, k: pulled(x, k) + x * 0.1  # noqa: E731
    for _ in passes():
        x = shifted(x, 0.9)
    return x


def with_loop(x, names):
    y = x
    for name in names:
        y = y * 0.5 + (x if name == "b" else 0.1)
    return y


def loops(x):
    for _ in passes():
        x = with_loop(x, ["a", "b"])
    return x


@pytest.fixture
def asked(monkeypatch):
    """Count what functions and loops are asked; compiled code is slow."""
    WORKER.wait()
    found: Counter = Counter()
    call, tried = FunctionSite.call, LoopSite.tried
    took, plainly = Pace.took, Pace.took_plainly

    def called(self, *args):
        found[self.name] += 1
        return call(self, *args)

    def looped(self, *args):
        found[self.name] += 1
        return tried(self, *args)

    monkeypatch.setattr(form, "COMPILER", INTERPRETED)
    monkeypatch.setattr(FunctionSite, "call", called)
    monkeypatch.setattr(LoopSite, "tried", looped)
    monkeypatch.setattr(Pace, "took", lambda self, seconds: took(self, 1e-4))
    monkeypatch.setattr(Pace, "took_plainly", lambda self, seconds: plainly(self, 1e-6))
    return found


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (function, "pulled"),
        (method, "Spring.pulled"),
        (lambdas, "lambdas.<locals>.<lambda>"),
        (loops, "with_loop"),
    ],
)
def test_what_is_left_is_not_asked_again(f, name, asked):
    expected = value_and_grad(f)(0.7)
    for _ in range(4):
        assert value_and_grad(f, compile=True)(0.7) == pytest.approx(expected, rel=1e-14)
    assert asked[name] > 2 * WATCHED
    asked.clear()
    assert value_and_grad(f, compile=True)(0.7) == expected
    assert 0 < asked[name] <= WATCHED + 1
    assert max(asked.values()) <= WATCHED + 1
    again = grad(lambda x: checkpoint(f, x), compile=True)(0.7)
    assert again == expected[1]
