"""What can be reached from some values: read, compared, put back."""

from __future__ import annotations

import argparse
import contextvars
import dataclasses
import functools
import logging
import math
import sys
import threading
from array import array
from collections import deque
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from mooncake_py.containers.reachable import Reachable, State
from mooncake_py.runtime.active import active_number


class Constants:
    """A mode in which nothing is active."""

    outers = ()

    def contains_active(self, value: Any) -> bool:
        return False

    def find(self, value: Any) -> None:
        return None


CTX: Any = Constants()


class Slotted:
    __slots__ = ("a", "b")


class Plain:
    shared = 1.0


def slotted() -> Slotted:
    new = Slotted()
    new.a = 1.0
    return new


def write_slots(o: Any) -> None:
    o.a, o.b = 2.0, 3.0


def write_class(o: Any) -> None:
    o.x = 1.0
    type(o).shared = 2.0


@pytest.mark.parametrize(
    ("make", "change", "seen"),
    [
        (lambda: np.arange(3.0), lambda a: a.__setitem__(1, -0.0), lambda a: a.tobytes()),
        (lambda: np.arange(6.0)[::2], lambda a: a.base.__setitem__(1, 9.0), lambda a: a.tobytes()),
        (lambda: [1, 2], lambda a: a.append(3), list),
        (lambda: {"a": 1, "b": 2}, lambda a: a.__setitem__("a", a.pop("a")), list),
        (lambda: {1, 2}, lambda a: a.add(3), set),
        (lambda: deque([1, 2]), lambda a: a.rotate(1), list),
        (lambda: bytearray(b"ab"), lambda a: a.extend(b"c"), bytes),
        (lambda: array("d", [1.0]), lambda a: a.append(2.0), list),
        (slotted, write_slots, lambda o: (o.a, hasattr(o, "b"))),
        (Plain, write_class, lambda o: (dict(vars(o)), type(o).shared)),
        (lambda: [[1.0]], lambda a: a[0].append(2.0), repr),
    ],
)
def test_changes_are_found_and_put_back(make: Any, change: Any, seen: Any) -> None:
    value = make()
    before = seen(value)
    state = State(CTX, [value])
    assert state.changes() == []
    change(value)
    assert seen(value) != before or isinstance(value, np.ndarray)
    assert state.put_back() != []
    assert seen(value) == before
    assert state.changes() == []


def test_variables_that_functions_capture() -> None:
    n, log = 0, []

    def count() -> None:
        nonlocal n
        n += 1
        log.append(n)

    state = State(CTX, [count])
    count()
    assert "captured variable 'n'" in [place.path for place, _ in state.put_back()]
    assert (n, log) == (0, [])


def test_what_cannot_be_put_back_is_told_apart() -> None:
    streams = [iter([1]), np.random.default_rng(1), lru_cache(len)]
    found = Reachable(CTX, [streams])
    assert all(any(stream is s for s in found.streams) for stream in streams)


@dataclasses.dataclass
class Data:
    a: float = 1.0


class Named(NamedTuple):
    a: float


class Computed:
    @functools.cached_property
    def a(self) -> float:
        return np.sin(1.0)


@pytest.mark.parametrize(
    ("f", "is_open"),
    [
        (lambda: Data().a, False),
        (lambda: Named(1.0).a, False),
        (lambda: Computed().a, False),
        (lambda x: np.linalg.solve(x, math.sin(x)), False),
        (lambda: globals()["f"], True),
        (lambda: sys.modules, True),
        (lambda f: f.__globals__, True),
        (threading.get_ident, True),
        (contextvars.ContextVar("v"), True),
    ],
)
def test_what_leads_beyond_all_that_is_met(f: Any, is_open: bool) -> None:
    assert Reachable(CTX, [f]).is_open == is_open


NUMBER = active_number(1.0, CTX)


class Pair(NamedTuple):
    a: Any
    b: Any


class Shared:
    held = NUMBER


def attribute(value: Any) -> Any:
    new = Plain()
    new.x = value  # pyright: ignore[reportAttributeAccessIssue]
    return new


def captured(value: Any) -> Any:
    return lambda: value


def with_default(value: Any) -> Any:
    return lambda k=value: k


IN_PLACES: dict[str, Any] = {
    "itself": NUMBER,
    "list": [NUMBER],
    "dict": {"a": NUMBER},
    "tuple": (1.0, NUMBER),
    "tuples within": {"a": ([NUMBER], (NUMBER,))},
    "attribute": attribute(NUMBER),
    "list in an attribute": attribute([NUMBER]),
    "variable": captured(NUMBER),
    "dict in a variable": captured({"a": NUMBER}),
}
ELSEWHERE: dict[str, Any] = {
    "named tuple": Pair(1.0, NUMBER),
    "tuple in an attribute": attribute((NUMBER,)),
    "tuple in a variable": captured((NUMBER,)),
    "default": with_default(NUMBER),
    "class": attribute(Shared),
    "own class": Shared(),
    "partial": functools.partial(max, NUMBER),
    "deque": deque([NUMBER]),
    "slice": slice(NUMBER),
    "set": [{NUMBER}],
    "slice in a variable": captured(slice(NUMBER)),
}


@pytest.mark.parametrize("name", IN_PLACES)
def test_numbers_in_places(name: str) -> None:
    found = Reachable(CTX, [IN_PLACES[name]])
    assert found.has_numbers
    assert not found.may_hide


@pytest.mark.parametrize("name", ELSEWHERE)
def test_numbers_that_may_hide(name: str) -> None:
    found = Reachable(CTX, [ELSEWHERE[name]])
    assert found.has_numbers
    assert found.may_hide


def test_what_a_stream_has_yet_to_write_is_its_own(tmp_path: Path) -> None:
    path = tmp_path / "text"
    with path.open("w") as file:
        file.write("ab")
        file.write("cd")
        state = State(CTX, [(file,)])
        file.write("ef")
        file.write("gh")
        assert state.put_back() == []
    assert path.read_bytes() == b"abcdefgh"


def test_functions_of_a_library_hold_those_of_the_program_in_defaults() -> None:
    calls: list[int] = []
    scope: dict[str, Any] = {}
    source = "def between(a):\n    return lambda f=calls.append, *, g=calls.copy: (a, f(1), g())\n"
    exec(compile(source, dataclasses.__file__, "exec"), {"calls": calls}, scope)
    assert not State(CTX, [scope["between"](1)]).changes()
    state = State(CTX, [scope["between"](1)])
    calls.append(1)
    state.put_back()
    assert calls == []


@pytest.mark.parametrize(
    "make", [logging.Filter, logging.NullHandler, argparse.Namespace, threading.Event]
)
def test_attributes_of_instances_of_the_standard_library_are_put_back(make: Any) -> None:
    o = make()
    o.calls, o.seen = 0, []
    before = dict(vars(o))
    kept = State(CTX, [lambda: o])
    o.calls += 1
    o.seen.append(1)
    o.new = 2
    kept.put_back()
    assert vars(o) == before
    assert o.seen == []


def test_a_logger_does_not_lead_to_those_of_other_libraries() -> None:
    known = State(CTX, [logging.getLogger("test_reachable")]).known.values()
    assert logging.root in known
    assert logging.Logger.manager.loggerDict not in [k for k in known if type(k) is dict]
