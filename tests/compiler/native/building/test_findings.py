"""How often a function is read until nothing is found too late."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native.building import findings
from mooncake_py.compiler.native.building.types import type_of
from mooncake_py.compiler.native.building.values import Unfit
from mooncake_py.compiler.native.reading import reader
from mooncake_py.compiler.native.reading.reader import Reading, read_function


class Level:
    def __init__(self, height):
        self.height = height


def many_widened(x, n):
    a, b, c, d = 0, 0, 0, 0
    level = Level(0)
    y = np.zeros(3)
    for _ in range(n):
        a = a + x
        b = b + 2.0
        c = c + d
        d = d * x
        level.height = level.height + x
        y = y * x + a
    return a + b + c + d + level.height + y.sum()


def either(x):
    if x > 1.0:
        return 1
    if x > 0.5:
        return x
    return 0


def returns(x):
    return either(x) + either(x * 2.0) + either(x * 3.0)


def grown_after_widening(x, n):
    a = 0
    found = []
    for _ in range(n):
        a = a + x
        found.append(a)
    return found[0] + found[1]


def refused_after_widening(x, n):
    a = 0
    for _ in range(n):
        a = a + x
    return open(a)


def objects_in_loops(x, n):
    a, b, c = Level(x), Level(x * 2.0), Level(0.5)
    for _ in range(n):
        a = Level(a.height * x)
        b = Level(b.height + a.height)
        c = Level(c.height * b.height)
    return a.height + b.height + c.height


def readings(monkeypatch: pytest.MonkeyPatch, f: Callable[..., Any], *args: Any) -> list[Any]:
    """Return the outcome of each reading: a reading, or an error."""
    found: list[Any] = []

    def noting(read: Callable[[Any], Reading]) -> Reading:
        def noted(known: Any) -> Reading:
            try:
                found.append(read(known))
            except Exception as error:
                found.append(error)
                raise
            return found[-1]

        return findings.reread(noted)

    monkeypatch.setattr(reader, "reread", noting)
    read_function(f, [type_of(a) for a in args])  # type: ignore[arg-type]
    return found


def test_all_that_varies_is_found_in_one_reading(monkeypatch):
    assert len(readings(monkeypatch, many_widened, 0.5, 3)) <= 3
    assert len(readings(monkeypatch, returns, 0.5)) <= 3
    assert len(readings(monkeypatch, objects_in_loops, 0.5, 3)) <= 4


def test_structure_is_found_with_numbers_that_vary(monkeypatch):
    assert len(readings(monkeypatch, grown_after_widening, 0.5, 3)) <= 4


def test_a_reading_that_goes_on_does_not_refuse_by_what_it_has_mistaken(monkeypatch):
    with pytest.raises(Unfit, match="open"):
        readings(monkeypatch, refused_after_widening, 0.5, 3)


def test_what_is_found_of_numbers_that_decide_structure_is_forgotten():
    known = findings.Findings()
    known.later()
    known.pinned.add((0,))
    known.varied.add("u1_a")
    assert known.is_late
    known.again()
    assert not known.is_late
    assert not known.pinned
    assert known.varied == {"u1_a"}
