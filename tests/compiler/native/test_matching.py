"""What is printed to compare types says what `type_of` does."""

from __future__ import annotations

import math
from enum import Enum
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native.building.looked import found_at
from mooncake_py.compiler.native.building.types import (
    ArrayType,
    DictType,
    ListType,
    NumberType,
    ObjectType,
    TupleType,
    UnservedType,
    type_of,
)
from mooncake_py.compiler.native.matching import matcher
from mooncake_py.runtime.active import Active, active_number


class Plain:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Other(Plain):
    pass


class Taken(Plain):
    @property
    def a(self):
        return 1.0

    @a.setter
    def a(self, value):
        raise AssertionError


class Custom(Plain):
    def __getattr__(self, name):
        return 1.0


class Written(Plain):
    def __setattr__(self, name, value):
        raise AssertionError


def active(value) -> Active:
    return active_number(value, None)


X = np.arange(3.0)
VALUES = [
    1.0, np.float64(1.0), np.float32(1.0), 1, np.int64(1), 2**70, True, False, None, "a", "b", 1j,
    np.float64, np.exp, math.exp, len, np, active(1.0), active(np.float64(2.0)),
    active(active(1.0)), X, X[:1], np.ones((1, 3)), np.ones((3, 1)), np.ones((2, 3)), np.array(1.0),
    X.astype("f"), X.astype(int), X.astype(int)[::-1], X > 1, X.astype(">f8"), X + 1j,
    np.ones((2, 3))[:, ::2], [1.0, 2.0], [1.0], [], [1.0, active(2.0)], [1, 2], (1.0, 2.0),
    (1.0, X), [1.0, X], (1.0, (1, X)), {"a": 1.0}, {"a": 1.0, "b": X}, {"b": X, "a": 1.0}, {"a": 1},
    {1: 1.0}, Plain(a=1.0), Plain(a=1), Plain(b=1.0), Plain(a=1.0, b=X), Plain(b=X, a=1.0),
    Other(a=1.0), Taken(a=1.0), Custom(a=1.0), Written(a=1.0), SimpleNamespace(a=1.0),
    Plain(a=Plain(a=1.0)), Plain(a=(1.0, X)), Plain(a="a"), Plain(a=None), (Plain(a=1.0),),
]  # fmt: skip


def served(value):
    known = type_of(value)
    return None if isinstance(known, UnservedType) else known


def kept(match, value) -> bool:
    return match((value,)) is not None


@pytest.mark.parametrize("k", range(len(VALUES)))
def test_a_match_is_of_equal_types(k):
    known = served(VALUES[k])
    match = None if known is None else matcher([known], places_in(known, (0,)))
    if match is None or known is None:
        return
    found = match((VALUES[k],))
    assert found is not None
    places = [found_at((VALUES[k],), path) for path in places_in(known, (0,))]
    assert list(map(id, found)) == list(map(id, places))
    for value in VALUES:
        assert kept(match, value) == has(type_of(value), known), value


def has(t, known):
    """Return whether a type has all that one knows: objects may have other attributes too."""
    if type(t) is not type(known):
        return isinstance(known, UnservedType)
    if isinstance(t, ObjectType):
        own = dict(t.attributes)
        return t.cls == known.cls and all(n in own and has(own[n], k) for n, k in known.attributes)
    if isinstance(t, (TupleType, DictType)):
        pairs = zip(t.items, known.items, strict=False)
        return (
            t._replace(items=()) == known._replace(items=())
            and len(t.items) == len(known.items)
            and all(has(*pair) for pair in pairs)
        )
    return t == known


def places_in(t, path):
    """Return where numbers and arrays are, those in objects too."""
    if isinstance(t, (NumberType, ArrayType, ListType)):
        return [path]
    if isinstance(t, ObjectType):
        return [p for name, part in t.attributes for p in places_in(part, (*path, name))]
    if isinstance(t, DictType):
        pairs = zip(t.keys, t.items, strict=True)
        return [p for key, part in pairs for p in places_in(part, (*path, key))]
    if isinstance(t, TupleType):
        return [p for k, part in enumerate(t.items) for p in places_in(part, (*path, k))]
    return []


def test_most_of_these_have_one():
    types = [t for value in VALUES if (t := served(value)) is not None]
    found = [matcher([t], []) is not None for t in types]
    assert sum(found) > 0.9 * len(found)


class Text(str):
    __slots__ = ()


class Alike(Enum):
    A = 1
    B = 2

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


EQUAL = [
    ({"a": 1.0}, {Text("a"): 1.0}), ({1: 1.0}, {True: 1.0}), ({(1, "a"): 1.0}, {(True, "a"): 1.0}),
    ({0.0: 1.0}, {-0.0: 1.0}), ({"a", (0.0, 1)}, {"a", (-0.0, 1)}), ({"a"}, {Text("a")}),
]  # fmt: skip


@pytest.mark.parametrize("pair", EQUAL)
def test_equal_keys_and_items_of_sets_are_told_apart(pair):
    for one, other in (pair, pair[::-1]):
        match = None if served(one) is None else matcher([type_of(one)], [])
        if match is not None:
            assert kept(match, one)
            assert not kept(match, other)
    assert served(pair[0])


def test_members_that_say_what_is_equal_are_not_served():
    assert not any(map(served, (Alike.A, {Alike.A: 1.0}, {Alike.B}, {(1, Alike.A): 1.0})))


def test_attributes_are_found_where_they_are():
    o: Any = Plain(a=1.0, b=Plain(c=X, d=(2.0, X)))
    types = [type_of(o), type_of(3.0)]
    match = matcher(types, [(1,), (0, "b", "c"), (0, "b", "d", 0), (0, "a")])
    assert match is not None
    found = match((o, 5.0))
    assert found is not None
    assert found[1] is X
    assert found[0::2] == [5.0, 2.0]
    assert found[3] == 1.0
    o.b.d = (2, X)
    assert match((o, 5.0)) is None


def test_objects_with_two_names_do_not_match():
    a, b = Plain(a=1.0), Plain(a=2.0)
    types = [type_of(a), type_of(b)]
    match = matcher(types, [(0, "a"), (1, "a")])
    assert match is not None
    assert match((a, b)) == [1.0, 2.0]
    assert match((a, a)) is None


def test_classes_that_change_do_not_match_any_more():
    Changing: Any = type("Changing", (Plain,), {})
    o = Changing(a=1.0)
    match = matcher([type_of(o)], [(0, "a")])
    assert match is not None
    assert match((o,)) == [1.0]
    Changing.a = 3.0  # the instance has it before the class: it is asked again
    assert match((o,)) is None
    Changing.a = property(lambda self: 2.0)
    assert match((o,)) is None
    del Changing.a
    Changing.__getattr__ = lambda self, name: 1.0
    assert match((o,)) is None
    del Changing.__getattr__
    Changing.__setattr__ = lambda self, name, value: None
    assert match((o,)) is None
    del Changing.__setattr__
    assert match((o,)) == [1.0]


def test_functions_that_are_gone_match_nothing():
    def f():
        pass

    match = matcher([type_of(f)], [])
    assert match is not None
    assert match((f,)) == []
    del f
    assert match((None,)) is None
