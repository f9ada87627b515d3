"""Which way the derivatives of a function go, as told by a clock that tests set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.sites import choice
from mooncake_py.compiler.sites.choice import (
    COMPILED,
    PLAINLY,
    REST,
    STRIKES,
    TIMED,
    TIMED_PLAINLY,
    Choice,
    sizes_of,
)


@pytest.fixture(autouse=True)
def _decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "FIRST", 1)


class Calls:
    """Calls of one function, which take as long as is said."""

    def __init__(self, first: float, compiled: float, plain: float, has_loops: bool = True) -> None:
        self.told: list[bool] = []
        self.own = Choice(remember=self.told.append)
        self.first, self.compiled, self.plain, self.has_loops = first, compiled, plain, has_loops

    def run(self, count: int, is_busy: bool = False) -> list[int]:
        """Return how calls go."""
        found: list[int] = []
        for _ in range(count):
            way = self.own.way(is_busy)
            found.append(way)
            if way == COMPILED and self.own.pays is None:
                self.own.ran(self.first)
            elif way == TIMED:
                self.own.took(self.compiled, self.has_loops)
            elif way == TIMED_PLAINLY:
                self.own.took_plainly(self.plain)
        return found


def test_what_loses_is_left_after_a_few_calls() -> None:
    calls = Calls(1.0, 2e-3, 1e-3)
    assert calls.run(5) == [COMPILED, TIMED, TIMED_PLAINLY, TIMED, PLAINLY]
    assert calls.told == [False]


def test_what_gains_stays() -> None:
    calls = Calls(1.0, 1e-3, 4e-3)
    assert calls.run(6) == [COMPILED, TIMED, TIMED_PLAINLY, TIMED, TIMED_PLAINLY, COMPILED]
    assert calls.told == [True]


def test_one_plain_call_tells_where_it_takes_very_long() -> None:
    calls = Calls(1.0, 1e-3, 8e-2)
    assert calls.run(4) == [COMPILED, TIMED, TIMED_PLAINLY, COMPILED]


def test_ways_that_are_alike_are_timed_some_times_and_the_plain_one_is_taken() -> None:
    calls = Calls(1.0, 0.98e-3, 1e-3)
    ways = calls.run(20)
    assert ways.count(TIMED_PLAINLY) == ways.count(TIMED) == choice.SAMPLES
    assert calls.told == [False]


def test_nobody_waits_in_vain_for_a_plain_call() -> None:
    calls = Calls(1.0, 0.1, 9.0)
    assert TIMED_PLAINLY not in calls.run(80)
    assert TIMED_PLAINLY in calls.run(20)  # they took as long as a plain one may take
    assert Calls(1.0, 0.1, 0.2, has_loops=False).run(3)[-1] == TIMED_PLAINLY


def test_what_calls_python_is_compared_sooner() -> None:
    """Such calls take about as long without, whatever loops are around them."""
    for outside, way in ((0.0, TIMED), (0.09, TIMED), (0.1, TIMED_PLAINLY), (0.2, TIMED_PLAINLY)):
        own = Choice()
        own.ran(0.8)
        own.took(0.1, has_loops=True, outside=outside)
        assert own.way() == way


def test_nothing_is_timed_while_code_is_made() -> None:
    calls = Calls(1.0, 2e-3, 1e-3)
    assert calls.run(20, is_busy=True) == [COMPILED] * 20


def test_what_is_left_is_asked_again_if_it_takes_far_longer() -> None:
    calls = Calls(1.0, 2e-3, 1e-3)
    calls.run(4)
    calls.plain = 1.0
    ways = calls.run(REST * STRIKES)
    assert ways.count(TIMED_PLAINLY) == STRIKES
    assert calls.own.pays is None
    calls.run(8)
    assert calls.told == [False, True]


def test_what_another_process_has_found_holds() -> None:
    assert Choice(True).way() == COMPILED
    assert Choice(False).way() == PLAINLY


@pytest.mark.parametrize(
    ("a", "b", "alike"),
    [
        (np.ones(100), np.ones(101), True),
        (np.ones(100), np.ones(1000), False),
        (np.ones(4), np.ones((2, 2)), False),
        (np.ones(4), np.ones(4, np.float32), False),
        (1.0, 2.0, True),
        (3, 1000, False),
        ([1.0] * 3, [1.0] * 100, False),
        (True, False, False),
        (None, None, True),
        ("a", "b", True),
    ],
)
def test_sizes(a: Any, b: Any, alike: bool) -> None:
    assert (sizes_of([a]) == sizes_of([b])) is alike
