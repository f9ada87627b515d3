"""``match`` of what has a known structure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native.site import report
from tests.compiler.native.reading.decided import agrees, agrees_compiled

pytestmark = pytest.mark.plain

X = np.array([0.3, 0.7, -0.4])


class Dose:
    __match_args__ = ("amount", "day")

    def __init__(self, amount, day):
        self.amount, self.day = amount, day


class Rest:
    def __init__(self, days):
        self.days = days


def of_event(x, event):
    match event:
        case Dose(amount, day=1 | 2) if amount * x[0] > 0.5:
            s = amount * x[1]
        case Dose(amount, day):
            s = amount * x[2] * day
        case Rest(days=d):
            s = d * x[0] ** 2
        case ("wait", days) | ("pause", days) if False:
            s = days
        case ("wait", days):
            s = days * np.sin(x[0])
        case [first, *others, last] if len(others) > 0:
            s = first * x[0] + last * x[1] + sum(others) * x[2]
        case {"kind": "bolus", "rate": rate}:
            s = rate * x[0] * x[1]
        case {"kind": kind}:
            s = x[2] * len(kind)
        case float(value) | int(value) if False:
            s = value
        case float(v):
            s = v * x[0]
        case None | "none":
            s = x[1]
        case str():
            s = x[1] * 2.0
        case _:
            s = np.sum(x)
    return s * x[0]


def of_parts(x, event):
    match event:
        case Dose(amount, day=1 | 2) if amount * x[0] > 0.5:
            return amount * x[1]
        case Dose(amount, day):
            return amount * x[2] * day
        case Rest(days=d):
            return d * x[0] ** 2
        case ("wait", days):
            return days * np.sin(x[0])
        case [first, *others, last] if len(others) > 0:
            return first * x[0] + last * x[1] + sum(others) * x[2]
        case {"kind": "bolus", "rate": rate}:
            return rate * x[0] * x[1]
        case {"kind": kind}:
            return x[2] * len(kind)
        case float(v):
            return v * x[0]
        case None | "none":
            return x[1]
        case str():
            return x[1] * 2.0
        case _:
            return np.sum(x)


EVENTS = [
    Dose(2.0, 1), Dose(1.0, 2), Dose(2.0, 3), Rest(2.5), ("wait", 3.0), ("other", 2.0),
    (1.0, 2.0, 3.0, 4.0), {"kind": "bolus", "rate": 0.5}, {"kind": "drip"}, 3.0, None, "none",
    "some", 7,
]  # fmt: skip


@pytest.mark.parametrize("event", EVENTS, ids=range(len(EVENTS)))
def test_structure_decides(event: Any, tried: list[bool]) -> None:
    agrees_compiled(of_parts, tried, X, event)


def test_patterns_that_bind_on_several_ways_are_left(tried: list[bool]) -> None:
    agrees(of_event, X, EVENTS[0])
    assert report(of_event)[0].found == "not compiled"


def of_numbers(x, codes):
    s = 0.0
    for k in range(len(codes)):
        match int(codes[k]):
            case 0:
                s += x[0]
            case 1 | 2:
                s += x[1] ** 2
                if s > 1.0:
                    break
            case n if n > 5:
                continue
            case _:
                s *= x[2]
        s += 0.1 * x[0]
    return s


def test_numbers_decide_when_it_runs(tried: list[bool]) -> None:
    for codes in ([0, 1, 7, 2, 3], [9, 9], [1, 1, 1, 1, 1, 1]):
        agrees_compiled(of_numbers, tried, X, np.array(codes))


def rebound(x, pair):
    x = x * 2.0
    match (x[0], pair):
        case (pair, (x, y)):
            return pair * x * y
    return 0.0


def test_names_of_the_subject_that_a_pattern_binds(tried: list[bool]) -> None:
    agrees(rebound, X, (2.0, 3.0))
