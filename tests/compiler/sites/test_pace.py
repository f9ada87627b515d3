"""Functions that take longer as compiled code than by their derived form are left to that."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from mooncake_py import checkpoint, grad, value_and_grad
from mooncake_py.compiler.native import form
from mooncake_py.compiler.native.machine.background import WORKER, Worker
from mooncake_py.compiler.native.site import site_of
from mooncake_py.compiler.sites import pace
from mooncake_py.compiler.sites.pace import (
    COMPILED,
    FEW,
    FIRST,
    GAIN,
    HOPE,
    MISSES,
    PLAINLY,
    REST,
    SAMPLES,
    TIMED,
    TIMED_PLAINLY,
    Pace,
    Paces,
)
from mooncake_py.runtime.compilation import is_installed
from tests.support.interpreted import INTERPRETED

pytestmark = [
    pytest.mark.plain,
    pytest.mark.without_modes("counts how often a function runs either way"),
    pytest.mark.skipif(not is_installed(), reason="compile=True needs llvmlite"),
]

ONCE = SimpleNamespace(outers=(), rehearsal=None, repeats=False)
AGAIN = SimpleNamespace(outers=(), rehearsal=None, repeats=True)


@pytest.fixture(autouse=True)
def at_rest() -> None:
    """Wait until code of other tests is at its best: nothing is timed before."""
    WORKER.wait()


def decided(compiled: float, plain: float, has_loops: bool = True) -> Pace:
    """Return a pace after calls that took so long."""
    own = Pace()
    own.has_loops = has_loops
    for _ in range(FIRST + 3 * SAMPLES):
        way = own.way(ONCE)  # type: ignore[arg-type]
        if way in (COMPILED, TIMED):
            own.ran()
        if way == TIMED:
            own.took(compiled)
        elif way == TIMED_PLAINLY and not own.is_left:
            own.took_plainly(plain)
    return own


def test_quick_code_is_left_only_if_better_code_is_slower_too() -> None:
    """Better code is made if it might help, once, and all is timed again."""
    for compiled, better, hastened, is_left in (
        (GAIN * 1.5, GAIN * 0.8, 1, False),
        (GAIN * 1.5, GAIN * 1.2, 1, True),
        (GAIN * HOPE * 1.1, 0.0, 0, True),
        (GAIN * 0.9, 0.0, 0, False),
    ):
        asked: list[int] = []
        own = Pace(hasten=lambda asked=asked: not asked.append(1) and len(asked) == 1)
        for _ in range(FIRST + 6 * SAMPLES):
            way = own.way(ONCE)  # type: ignore[arg-type]
            if way in (COMPILED, TIMED):
                own.ran()
            if way == TIMED:
                own.took(1e-6 * (better if asked else compiled))
            elif way == TIMED_PLAINLY and not own.is_left:
                own.took_plainly(1e-6)
        assert min(len(asked), 1) == hastened
        assert own.is_left is is_left


def test_the_faster_way_is_taken():
    assert decided(2e-5, 1e-5).is_left
    own = decided(1e-5, 2e-5)
    assert not own.is_left
    assert own.way(ONCE) == COMPILED  # type: ignore[arg-type]


def test_long_calls_with_loops_are_not_compared():
    own = decided(1e-2, 1e-9)
    assert not own.is_left
    assert own.way(ONCE) == COMPILED  # type: ignore[arg-type]


def test_long_calls_without_loops_are_compared():
    assert decided(1e-2, 1e-3, has_loops=False).is_left
    own = decided(1e-3, 1e-2, has_loops=False)
    assert not own.is_left
    assert own.way(ONCE) == COMPILED  # type: ignore[arg-type]
    assert len(own._plain) == FEW


def test_what_was_left_is_measured_anew_if_it_takes_far_longer():
    own = decided(2e-5, 1e-5)
    for _ in range(pace.STRIKES):
        own.took_plainly(1.0)
    assert not own.is_left
    assert own.way(ONCE) == TIMED  # type: ignore[arg-type]


def test_what_never_comes_to_its_end_as_it_is_written_stays_compiled():
    own = Pace()
    ways = []
    for _ in range(FIRST + 6 * SAMPLES):
        ways.append(own.way(ONCE))  # type: ignore[arg-type]
        if ways[-1] in (COMPILED, TIMED):
            own.ran()
        if ways[-1] == TIMED:
            own.took(1e-5)
    assert ways.count(TIMED_PLAINLY) == 3 * SAMPLES
    assert ways[-1] == COMPILED


def test_another_mode_begins_with_what_was_decided():
    paces = Paces()
    paces[int] = decided(2e-5, 1e-5)
    assert paces[float].is_left
    paces = Paces()
    paces[int] = Pace()
    assert not paces[float].is_left


def test_nothing_changes_where_parts_of_a_call_run_twice():
    own = Pace()
    for _ in range(FIRST + 3 * SAMPLES):
        assert own.way(AGAIN) == COMPILED  # type: ignore[arg-type]
        own.ran()
    for _ in range(2 * MISSES):
        own.missed(1.0)
    assert own.way(ONCE) == COMPILED  # type: ignore[arg-type]
    never = Pace()
    for _ in range(2 * MISSES):
        assert never.way(AGAIN) in (COMPILED, PLAINLY)  # type: ignore[arg-type]
        never.missed(1.0)
    assert never.is_left
    never.took_plainly(1e9)
    assert never.way(ONCE) == PLAINLY  # type: ignore[arg-type]
    left = decided(2e-5, 1e-5)
    assert left.way(AGAIN) == PLAINLY  # type: ignore[arg-type]
    for _ in range(10):
        left.took_plainly(1.0)
    assert left.is_left


def test_what_cannot_be_compiled_is_asked_ever_more_seldom():
    own = Pace()
    asked = 0
    for _ in range(10000):
        way = own.way(ONCE)  # type: ignore[arg-type]
        if way == COMPILED:
            asked += 1
            own.missed(1.0)
        elif way == TIMED_PLAINLY:
            own.took_plainly(10.0)
    assert MISSES < asked < 3 * MISSES
    assert own.is_left


def test_what_is_left_is_asked_once_in_a_while():
    own = Pace()
    for _ in range(MISSES + 1):
        own.missed(1.0)
    assert own.way(ONCE) == TIMED_PLAINLY  # type: ignore[arg-type]
    assert [own.rests(ONCE) for _ in range(REST)] == [True] * (REST - 1) + [False]  # type: ignore[arg-type]
    assert not own.rests(AGAIN)  # type: ignore[arg-type]


def test_a_function_is_left_with_its_loops_and_tried_again_with_them():
    loops = [Pace(), Pace()]
    own = Pace(lambda: loops)
    for part in (own, *loops[:1]):
        for _ in range(MISSES + 1):
            part.missed(1.0)
    assert not own.is_left
    assert own.way(ONCE) == TIMED_PLAINLY  # type: ignore[arg-type]
    assert own.in_parts
    for _ in range(MISSES + 1):
        loops[1].missed(1.0)
    while own.way(ONCE) == PLAINLY:  # type: ignore[arg-type]
        pass
    assert own.is_left
    assert not own.in_parts
    own.took_plainly(1e9)
    assert not any(part.is_left for part in (own, *loops))
    for part in (own, *loops):
        part.missed(1.0)
    assert all(part.is_left for part in loops)


class Tank:
    def __init__(self, level):
        self.level, self.flow = level, 0.0

    def settle(self, dt):
        self.level += dt * self.flow
        self.flow = 0.0


class OtherTank(Tank):
    def settle(self, dt):
        self.level += self.flow * dt
        self.flow = 0.0


def tanks(k, steps, cls):
    row = {"a": cls(1.0), "b": cls(0.0)}
    for _ in range(steps):
        q = k * row["a"].level
        row["a"].flow -= q
        row["b"].flow += q
        for name in {"a", "b"}:  # in no known order: `settle` is compiled alone
            row[name].settle(0.1)
    return row["b"].level


@pytest.mark.parametrize("cls", [Tank, OtherTank])
def test_both_ways_give_the_same(cls, monkeypatch):
    is_left = cls is Tank
    now = [0.0]

    def later():
        now[0] += 1e-6
        return now[0]

    took = Pace.took

    def slow(self, seconds):
        took(self, 1e-4 if is_left else 1e-9)

    monkeypatch.setattr(form, "COMPILER", INTERPRETED)
    monkeypatch.setattr(pace, "clock", later)
    monkeypatch.setattr(Pace, "took", slow)
    expected = value_and_grad(tanks)(0.3, 50, cls)
    for _ in range(3):
        assert value_and_grad(tanks, compile=True)(0.3, 50, cls) == pytest.approx(expected)
    paces = site_of(cls.settle).paces  # type: ignore[union-attr]
    assert [own.is_left for own in paces.values()] == [is_left]
    again = grad(lambda k: checkpoint(tanks, k, 50, cls), compile=True)(0.3)
    assert again == pytest.approx(expected[1])


class ThirdTank(Tank):
    def settle(self, dt):
        self.level, self.flow = self.level + dt * self.flow, 0.0


def test_nothing_is_timed_while_code_becomes_better(monkeypatch):
    monkeypatch.setattr(form, "COMPILER", INTERPRETED)
    monkeypatch.setattr(Worker, "is_busy", True)
    for _ in range(2):
        value_and_grad(tanks, compile=True)(0.3, 50, ThirdTank)
    (own,) = site_of(ThirdTank.settle).paces.values()  # type: ignore[union-attr]
    assert own._runs > 2 * FIRST
    assert not own._compiled
    assert not own._plain
    monkeypatch.undo()
    monkeypatch.setattr(form, "COMPILER", INTERPRETED)
    value_and_grad(tanks, compile=True)(0.3, 50, ThirdTank)
    assert own._compiled


def scaled(x, y):
    return x * y + np.sin(x)


def test_types_that_come_later_are_served_too(monkeypatch):
    monkeypatch.setattr(form, "COMPILER", INTERPRETED)
    monkeypatch.setattr(pace, "clock", lambda: 0.0)

    def f(x):
        total = 0.0
        for k in {*range(40)}:  # in no known order: `scaled` is compiled alone
            total += np.sum(scaled(x, float(k)))
        return total

    for x in (0.5, np.array([0.5, 1.5])):
        for _ in range(2):
            np.testing.assert_allclose(grad(f, compile=True)(x), grad(f)(x))
        assert site_of(scaled).paces  # type: ignore[union-attr]


def test_loops_with_calls_of_python_are_compared():
    own = Pace()
    own.ran(0.4, 1.0)
    assert own.has_loops
    own.ran(0.6, 1.0)
    assert not own.has_loops
