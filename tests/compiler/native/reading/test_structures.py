"""Structures as arguments of compiled functions: what they hold, and what they hold twice."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from enum import Enum
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import value_and_grad
from mooncake_py.compiler.native.building.types import (
    DictType,
    KnownType,
    ObjectType,
    SameType,
    TupleType,
    UnservedType,
    type_of,
)
from mooncake_py.compiler.native.site import known_site, report
from tests.compiler.native.reading.test_objects import same

pytestmark = pytest.mark.plain


class P:
    def __init__(self, x, v):
        self.x, self.v = x, v


class Slotted:
    __slots__ = ("v", "x")

    def __init__(self, x, v):
        self.x, self.v = x, v


@dataclass
class Data:
    x: float
    v: float = 2.0


@dataclass(frozen=True, slots=True)
class Frozen:
    x: float
    v: float = 2.0


class Named(NamedTuple):
    x: float
    v: Any


class Kind(Enum):
    A = 1


class Own(dict):
    pass


X = np.array([1.0, 2.0])


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ([P(1.0, 2.0), X], TupleType), ({1: X, (2, "a"): None}, DictType),
        (Named(1.0, X), TupleType), (Slotted(1.0, X), ObjectType), (Frozen(1.0), ObjectType),
        (Kind.A, KnownType), (math, KnownType), (math.exp, KnownType), (P, KnownType),
        (X.dtype, KnownType), (deque(), UnservedType), (Own(), UnservedType),
        ([].append, UnservedType), ({P(1.0, 2.0): 1.0}, UnservedType),
    ],
)  # fmt: skip
def test_types(value, kind):
    assert type(type_of(value)) is kind


def test_what_stands_twice_is_told():
    p, q = P(1.0, 2.0), P(1.0, 2.0)
    found = type_of([p, q, p, (q, [p])])
    assert isinstance(found, TupleType)
    assert found.items[2] == SameType((0, 0))
    assert found.items[3].items[0] == SameType((0, 1))
    assert type_of([p, q]) != type_of([p, p])
    p.x = p  # what holds itself
    assert dict(type_of(p).attributes)["x"] == SameType((0,))


def in_list(o, c):
    return o.items[0].x * o.items[1].v + o.table["a"].x * c + o.by[2, 1][0]


def first(o, c):
    o.x = o.x * c
    return o.x * o.v


def of_two(o, c):
    o.a.x = c * 2.0
    return o.a.x * o.b.x + o.b.v


def held(p, q):
    return SimpleNamespace(
        items=[p, q], table={"a": p, "b": deque()}, by={(2, 1): [3.0, None]}, rng=deque(), more=None
    )


def pair(p, q):
    return SimpleNamespace(a=p, b=q)


SHARED = P(0.5, 2.0)
CASES = {
    "lists and dicts": (in_list, held(P(1.0, 2.0), P(3.0, 4.0))),
    "an object that stands twice": (in_list, held(SHARED, SHARED)),
    "slots": (first, Slotted(1.5, 2.0)),
    "slots in a list": (in_list, held(Slotted(1.5, 2.0), P(3.0, 4.0))),
    "a dataclass": (first, Data(1.5)),
    "a frozen one": (in_list, held(Frozen(1.5), P(3.0, 4.0))),
    "written": (of_two, pair(P(1.0, 2.0), P(3.0, 4.0))),
    "written under two names": (of_two, pair(SHARED, SHARED)),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients(name, tried):
    f, o = CASES[name]
    value, g = value_and_grad(f, 1, compile=True)(o, 1.3)
    assert tried == [True], report(f)
    expected, h = value_and_grad(f, 1)(o, 1.3)
    assert_allclose([value, g], [expected, h], rtol=1e-12)


def test_another_structure_is_another_reading():
    calls = {name: (f, o) for name, (f, o) in CASES.items() if f in (in_list, of_two)}
    for _ in range(2):
        for f, o in calls.values():
            found = value_and_grad(f, (0, 1), compile=True)(o, 0.7)
            same(found, value_and_grad(f, (0, 1))(o, 0.7))


class Held:
    unread: Any = None

    def __init__(self):
        self.x, self.other, self.unread = 2.0, 3.0, deque()

    def value(self, c):
        return self.x * c


def test_what_is_not_read_does_not_matter(tried):
    o: Any = Held()
    f = value_and_grad(Held.value, 1, compile=True)
    for unread in (1.0, None, "a", [o], deque(), o):
        o.unread = o.more = unread
        assert f(o, 3.0) == (6.0, 2.0)
    del o.unread, o.other
    assert f(o, 3.0) == (6.0, 2.0)
    assert all(tried)
    site: Any = known_site(Held.value.__code__)
    assert len(site.read_so_far()) == 1
    o.x = 2  # an int
    assert f(o, 3.0) == (6.0, 2.0)
    assert len(site.read_so_far()) == 2


class Missing:
    pass


MISSING = Missing()
GLOBAL = P(2.0, np.array([1.0, 2.0]))
LISTED = [P(1.0, 2.0), P(2.0, 3.0)]


def of_globals(x):
    return GLOBAL.x * x + np.sum(GLOBAL.v) * x + LISTED[0].x * LISTED[1].v


def of_both(o, x):
    return o.x * x * GLOBAL.x


def counted(x):
    GLOBAL.x = GLOBAL.x + 1.0
    return GLOBAL.x * x


def with_default(x, scale=MISSING):
    return x * 3.0 if scale is MISSING else x * scale


def test_global_objects_are_inputs(tried):
    f, plain = value_and_grad(of_globals, compile=True), value_and_grad(of_globals)
    assert f(3.0) == plain(3.0)
    GLOBAL.x, LISTED[0].x = 5.0, 3.0
    assert f(3.0) == plain(3.0)
    assert tried == [True, True], report(of_globals)
    LISTED[1] = LISTED[0]
    assert f(3.0) == plain(3.0)
    LISTED.append(P(1.0, 1.0))
    assert f(3.0) == plain(3.0)
    assert all(tried)


def test_a_global_object_may_be_an_argument_too():
    f, plain = value_and_grad(of_both, (0, 1), compile=True), value_and_grad(of_both, (0, 1))
    for o in (P(1.0, 1.0), GLOBAL, P(2.0, 1.0)):
        same(f(o, 3.0), plain(o, 3.0))


def test_a_global_object_that_is_written_is_left_to_the_plain_way():
    before = GLOBAL.x
    assert value_and_grad(counted, compile=True)(3.0) == ((before + 1.0) * 3.0, before + 1.0)
    assert before == GLOBAL.x
    assert "global object" in report(counted)[0].why


def test_objects_that_stand_for_nothing(tried):
    f = value_and_grad(with_default, compile=True)
    assert f(2.0) == (6.0, 3.0)
    assert f(2.0, 4.0) == (8.0, 4.0)
    assert tried == [True, True], report(with_default)
