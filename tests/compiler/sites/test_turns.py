"""From when on functions run as text of NumPy, and which of them are left to the general way."""

from __future__ import annotations

import gc
from collections.abc import Callable
from itertools import pairwise
from types import MethodType
from typing import Any

import pytest

from mooncake_py.compiler.sites import turns
from mooncake_py.compiler.sites.pace import met
from mooncake_py.compiler.sites.turns import either

FEW = 3


class Clock:
    """A clock that the ways of a derivative move on."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(turns, "clock", found)
    monkeypatch.setattr(turns, "OFTEN", FEW)
    return found


class Ways:
    """Counts which way calls of a function's derivative go."""

    def __init__(self, clock: Clock, f: Any, **times: float) -> None:
        self.clock, self.f = clock, f
        self.times = {"in_parts": 1.0, "in_text": 0.5} | times
        self.entries = 0
        self.ran: list[str] = []
        self.gives: dict[str, Any] = {"in_parts": (1.0,), "in_text": (1.0,)}

    def run(self, way: str) -> Any:
        self.ran.append(way)
        self.clock.now += self.times[way]
        met.entries += self.entries
        found = self.gives[way]
        if isinstance(found, Exception):
            raise found
        return found

    def call(self, count: int = 1) -> list[str]:
        """Return which ways ran."""
        self.ran = []
        for _ in range(count):
            either("gradient", self.f, *map(self.way, ("in_text", "in_parts")), agree)
        return self.ran

    def way(self, name: str) -> Callable[[], Any]:
        return lambda: self.run(name)


def agree(a: Any, b: Any) -> bool:
    return a == b


def function() -> Any:
    scope: dict[str, Any] = {}
    exec("def f(x): return x", scope)
    return scope["f"]


BOTH = ["in_parts", "in_text"]


def test_text_runs_the_sooner_the_more_is_recorded(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "OFTEN", 10)
    for entries, calls in ((0, 10), (turns.ENTRIES - 1, 10), (2 * turns.ENTRIES, 4), (10**6, 2)):
        ways = Ways(clock, function())
        ways.entries = entries
        assert ways.call(calls) == ["in_parts"] * calls
        assert ways.call() == BOTH


def test_text_runs_once_a_function_is_called_often(clock: Clock) -> None:
    ways = Ways(clock, function())
    assert ways.call(FEW) == ["in_parts"] * FEW
    assert ways.call(1 + turns.SAMPLES) == BOTH * (1 + turns.SAMPLES)
    assert ways.call(3) == ["in_text"] * 3


def test_the_call_that_makes_the_text_does_not_count(clock: Clock) -> None:
    ways = Ways(clock, function())
    ways.call(FEW)
    ways.times["in_text"] = 50.0
    ways.call()
    ways.times["in_text"] = 0.9
    ways.call(turns.SAMPLES)
    assert ways.call() == ["in_text"]


def test_times_that_are_alike_do_not_count(clock: Clock) -> None:
    ways = Ways(clock, function(), in_text=1.2)
    ways.call(FEW + 1 + turns.SAMPLES)
    assert ways.call() == ["in_text"]


def test_text_that_is_far_slower_is_left(clock: Clock) -> None:
    ways = Ways(clock, function(), in_text=2.5)
    ways.call(FEW + 1 + turns.SAMPLES)
    assert ways.call(500) == ["in_parts"] * 500


def test_text_that_gives_something_else_is_left(clock: Clock) -> None:
    ways = Ways(clock, function())
    ways.gives["in_text"] = (2.0,)
    assert ways.call(FEW + 1) == ["in_parts"] * FEW + BOTH
    assert ways.call(500) == ["in_parts"] * 500


@pytest.mark.parametrize("gives", [None, ValueError("text")])
def test_where_there_is_no_text_it_is_tried_ever_more_seldom(clock: Clock, gives: Any) -> None:
    ways = Ways(clock, function())
    ways.gives["in_text"] = gives
    ran = ways.call(10_000)
    places = [k for k, way in enumerate(ran) if way == "in_text"]
    pauses = [b - a - 2 for a, b in pairwise(places)]
    assert pauses == [FEW * turns.FEWER**k for k in range(1, len(places))]
    assert ran.count("in_parts") == 10_000


def test_a_call_that_cannot_run_as_text_runs_in_parts(clock: Clock) -> None:
    ways = Ways(clock, function())
    ways.call(FEW + 1 + turns.SAMPLES)
    ways.gives["in_text"] = None
    assert ways.call() == ["in_text", "in_parts"]
    ways.gives["in_text"] = (1.0,)
    assert ways.call(FEW * turns.FEWER + 1) == ["in_parts"] * FEW * turns.FEWER + ["in_text"]


def test_errors_of_the_function_pass(clock: Clock) -> None:
    ways = Ways(clock, function())
    ways.call(FEW)
    ways.gives["in_parts"] = ZeroDivisionError("x")
    with pytest.raises(ZeroDivisionError):
        ways.call()
    ways.gives["in_parts"] = (1.0,)
    assert ways.call(1 + turns.SAMPLES) == BOTH * (1 + turns.SAMPLES)


def test_each_kind_of_derivative_has_its_own_turns(clock: Clock) -> None:
    f = function()
    ways = Ways(clock, f)
    ways.call(FEW + 1 + turns.SAMPLES)
    assert either("pullback", f, lambda: (2.0,), lambda: (3.0,), agree) == (3.0,)


def test_functions_are_told_apart_by_their_code(clock: Clock) -> None:
    def made() -> Any:
        return lambda x: x

    ways = Ways(clock, made())
    for _ in range(FEW + 1 + turns.SAMPLES):
        ways.f = made()
        ways.call()
    assert ways.call() == ["in_text"]
    ways.f = MethodType(made(), 1)
    assert ways.call() == ["in_text"]


@pytest.mark.parametrize("f", [len, either, turns.Turns().missed, object()])
def test_what_is_no_function_of_the_user_runs_in_parts(clock: Clock, f: Any) -> None:
    assert Ways(clock, f).call(20) == ["in_parts"] * 20


def test_nothing_is_kept_of_functions_that_are_gone(clock: Clock) -> None:
    f = function()
    Ways(clock, f).call()
    key = id(f.__code__)
    assert key in turns._turns["gradient"].found
    del f
    gc.collect()
    assert key not in turns._turns["gradient"].found
