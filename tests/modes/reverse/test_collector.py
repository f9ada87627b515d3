"""The cyclic garbage collector: held back while a tape grows, and left as the user has set it."""

from __future__ import annotations

import gc
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from mooncake_py import grad, value_and_grad, vjp
from mooncake_py.runtime import limits
from mooncake_py.runtime.limits import MOST_YOUNG_OBJECTS, YOUNG_OBJECTS

USUAL = (701, 11, 12)


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Begin with thresholds that are not the default ones."""
    monkeypatch.setattr(limits, "_young", YOUNG_OBJECTS)
    before, enabled = gc.get_threshold(), gc.isenabled()
    gc.set_threshold(*USUAL)
    gc.enable()
    yield
    gc.set_threshold(*before)
    (gc.enable if enabled else gc.disable)()


@contextmanager
def collections() -> Iterator[list[int]]:
    """Give the generations that were collected within the block."""
    found: list[int] = []

    def note(phase: str, info: dict[str, Any]) -> None:
        if phase == "start":
            found.append(info["generation"])

    gc.collect()
    gc.callbacks.append(note)
    try:
        yield found
    finally:
        gc.callbacks.remove(note)


def sines(s, n):
    a = 0.1
    for _ in range(n):
        a = math.sin(a) * s + 0.3 * a
    return a


def raises(s, n):
    sines(s, n)
    raise ArithmeticError


@pytest.mark.plain
def test_a_tape_of_many_entries_wakes_no_collector():
    grad(sines)(0.5, 3)
    with collections() as found:
        grad(sines)(0.5, 20_000)
    assert len(found) <= 1  # some seventy otherwise
    assert gc.get_threshold() == USUAL


class Ring:
    def __init__(self, s):
        self.own = self
        self.s = s


def rings(s, n):
    a = 0.1
    for _ in range(n):
        a = {"ring": Ring(a)}["ring"].s * s  # a dict: no loop as text
    return a


def test_where_next_to_nothing_was_found_the_next_tape_wakes_no_collector(monkeypatch):
    monkeypatch.setattr(limits, "YOUNG_OBJECTS", 2000)
    monkeypatch.setattr(limits, "_young", 2000)
    grad(sines)(0.5, 1000)
    with collections() as found:
        grad(sines)(0.5, 1000)
    assert found == []
    for _ in range(3):
        grad(sines)(0.5, 30_000)
    assert limits._young <= MOST_YOUNG_OBJECTS
    assert gc.get_threshold() == USUAL


@pytest.mark.plain
def test_where_the_program_makes_cycles_they_are_found_as_early_as_ever(monkeypatch):
    monkeypatch.setattr(limits, "YOUNG_OBJECTS", 2000)
    monkeypatch.setattr(limits, "_young", 8000)
    with collections() as found:
        grad(rings)(0.5, 20_000)
    assert limits._young == 2000
    assert len(found) > 10
    assert gc.get_threshold() == USUAL


@pytest.mark.slow
def test_a_tape_of_a_million_entries_is_looked_at_a_few_times():
    """Each collection of young objects looks at those that are new, so the cost is linear."""
    grad(sines)(0.5, 3)
    with collections() as found:
        grad(sines)(0.5, 1_000_000)
    assert len(found) < 20
    assert found.count(2) <= 1
    assert gc.get_threshold() == USUAL


def test_settings_are_as_before_after_results_and_exceptions():
    _, pullback = vjp(sines, 0.5, 3)
    assert gc.get_threshold() == USUAL
    pullback(1.0)
    assert gc.get_threshold() == USUAL
    for call in (
        lambda: value_and_grad(raises)(0.5, 3),
        lambda: vjp(raises, 0.5, 3),
        lambda: pullback("no number"),
        lambda: grad(sines)("no number", 3),
    ):
        with pytest.raises((ArithmeticError, TypeError, ValueError)):
            call()
        assert gc.get_threshold() == USUAL
        assert gc.isenabled()
    gc.disable()
    grad(sines)(0.5, 3)
    assert not gc.isenabled()


def test_settings_that_the_user_changes_within_are_put_back():
    def whole(s):
        gc.set_threshold(500, 5, 5)
        assert gc.get_threshold() == (500, 5, 5)
        return s * s

    def older_generations(s):
        gc.set_threshold(gc.get_threshold()[0], 5, 6)
        return s * s

    def disabled(s):
        gc.disable()
        return s * s

    for f in (whole, older_generations, disabled):
        assert grad(f)(2.0) == 4.0
        assert gc.get_threshold() == USUAL
        assert gc.isenabled()


@pytest.mark.parametrize("young", [0, YOUNG_OBJECTS, 10 * YOUNG_OBJECTS])
def test_a_collector_that_is_quieter_stays_so(young):
    gc.set_threshold(young, 7, 8)

    def f(s):
        assert gc.get_threshold() == (young, 7, 8)
        return s * s

    grad(f)(2.0)
    assert gc.get_threshold() == (young, 7, 8)


def test_settings_return_when_the_last_of_several_threads_is_done():
    inside, go_on = threading.Barrier(2, timeout=60), threading.Event()

    def slow(s):
        inside.wait()
        go_on.wait(60)
        return s * s

    thread = threading.Thread(target=lambda: grad(slow)(2.0))
    thread.start()
    inside.wait()
    grad(sines)(0.5, 3)
    with pytest.raises(ArithmeticError):
        grad(raises)(0.5, 3)
    assert gc.get_threshold()[0] == YOUNG_OBJECTS  # the other one still records
    go_on.set()
    thread.join()
    assert gc.get_threshold() == USUAL
