"""Gradients of functions that are compiled whole with respect to objects, dicts and such."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum
from types import FunctionType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import value_and_grad
from mooncake_py.compiler.native import choices
from mooncake_py.modes.reverse import whole
from mooncake_py.modes.reverse.agreement import agree
from mooncake_py.tangents.kinds import MutableTangent

pytestmark = pytest.mark.plain


class P:
    def __init__(self, **held):
        self.__dict__.update(held)


@dataclass
class Data:
    x: float
    n: int = 3
    u: Any = None


class Named(NamedTuple):
    x: float
    v: Any


class Kind(Enum):
    A = 1


def read(o):
    return o.x * o.x * np.sum(o.u) + o.child.x


def of_dict(d):
    return d["x"] * np.sum(d["o"].u) + d["o"].x


def of_items(o):
    return o.parts[0].x * o.parts[1].x + o.named[0] + sum(o.floats)


def written(o):
    o.x = o.x * 2.0
    o.u[0] = o.x
    return np.sum(o.u * o.u) * o.x


def held(**more):
    return P(x=1.5, u=np.array([1.0, 2.0]), child=P(x=2.0, y=3.0), **more)


SHARED = P(x=2.0)
ARRAY = np.array([1.0, 2.0])
CASES: dict[str, tuple[Any, Any]] = {
    "an object": (read, held),
    "unread parts": (
        read,
        lambda: held(
            n=3, s="a", none=None, f32=np.ones(2, "f"), i=np.arange(2), d={"a": 1.0, 2: np.ones(1)},
            l=[1.0, [2.0, "a"]], t=(1.0,), e=(), named=Named(1.0, 2), kind=Kind.A, cls=P,
            floats=[1.0, 2.0], np=np, data=Data(1.0), one=np.float64(2.0),
        ),
    ),
    "one object twice": (read, lambda: P(x=1.0, u=np.ones(2), child=SHARED, more=[SHARED] * 2)),
    "what holds itself": (read, lambda: (o := held(), o.__dict__.update(me=o))[0]),
    "arrays that are one": (read, lambda: P(x=1.0, u=ARRAY, other=ARRAY, child=P(x=2.0))),
    "a view": (read, lambda: P(x=1.0, u=np.ones(3)[1:], child=P(x=2.0))),
    "a deque": (read, lambda: held(q=deque([1.0]))),
    "a dict": (of_dict, lambda: {"x": 2.0, "o": held(), "n": 3}),
    "a dataclass": (lambda o: o.x * np.sum(o.u), lambda: Data(1.0, 2, np.ones(2))),
    "items": (
        of_items,
        lambda: P(parts=[P(x=1.0), P(x=2.0)], named=Named(1.0, 2.0), floats=[1.0, 2.0]),
    ),
    "an item twice": (of_items, lambda: P(parts=[SHARED, SHARED], named=(1.0,), floats=[3.0])),
    "written": (written, held),
    "a namespace": (written, lambda: SimpleNamespace(x=2.0, u=np.ones(3), more=[np.ones(2)])),
}  # fmt: skip


def same(a, b, met, rtol=1e-12):
    """Compare gradients: their types, what they hold, and what they hold twice."""
    assert type(a) is type(b)
    if isinstance(a, (list, dict, MutableTangent, np.ndarray)) or hasattr(a, "__dict__"):
        assert met.setdefault(id(a), id(b)) == id(b)
    if isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key], met, rtol)
    elif isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y, met, rtol)
    elif isinstance(a, MutableTangent):
        if (id(a), id(b)) not in met:
            met[id(a), id(b)] = True
            same(a._fields, b._fields, met, rtol)
    elif isinstance(a, (float, np.ndarray)):
        assert np.shape(a) == np.shape(b)
        assert_allclose(a, b, rtol=rtol)
        assert getattr(a, "dtype", None) == getattr(b, "dtype", None)
    elif hasattr(a, "__dict__"):
        same(vars(a), vars(b), met, rtol)
    else:
        assert a == b


@pytest.mark.parametrize("name", CASES)
def test_it_is_that_of_the_general_way(name):
    f, make = CASES[name]
    for _ in range(3):
        o = make()
        value, g = value_and_grad(f, compile=True)(o)
        expected, h = value_and_grad(f)(make())
        assert_allclose(value, expected, rtol=1e-12)
        same(g, h, {})


GENERAL = {"what holds itself", "arrays that are one", "a view", "a deque"}


@pytest.mark.parametrize("name", sorted(CASES.keys() - GENERAL))
def test_most_need_no_tape(name, monkeypatch):
    f, make = CASES[name]
    found = []
    original = whole.structured_gradient
    noted = lambda *args: (found.append(original(*args)), found[-1])[1]  # noqa: E731
    monkeypatch.setattr(whole, "structured_gradient", noted)
    monkeypatch.setattr(choices, "choice_of", lambda *given: None)  # whatever is faster
    f = FunctionType(f.__code__.replace(), f.__globals__, f.__name__)  # read for this alone
    for _ in range(2):
        value_and_grad(f, compile=True)(make())
    assert [pair is not None for pair in found] == [True, True]


def test_another_structure_is_looked_at_again():
    f = value_and_grad(read, compile=True)
    for more in ({}, {"a": 1.0}, {"a": 1}, {"a": [1.0]}, {"a": [1.0, 2.0]}, {"a": np.ones(2)}, {}):
        for _ in range(2):
            o = held(**more)
            same(f(o), value_and_grad(read)(o), {})
    o = held()
    o.other = o.child
    same(f(o), value_and_grad(read)(o), {})
    o.other = P(x=2.0, y=3.0)
    same(f(o), value_and_grad(read)(o), {})


def test_text_has_gradients_of_structures():
    def f(pairs):
        return pairs[0][0] * np.sum(pairs[0][1])

    for pair in ((2.0, ARRAY), Named(2.0, ARRAY)):
        found = whole.gradient_of_whole(f, [0], False, ((pair,),), {}, in_text=True)
        value, g = value_and_grad(f, compile=False)((pair,))
        assert found is not None
        assert found[0] == value
        assert type(found[1][0][0]) is type(g[0])
        assert agree((0.0, found[1][0]), (0.0, g))


def test_an_object_that_is_two_arguments():
    def f(a, b):
        return a.x * b.x * b.y

    g = value_and_grad(f, (0, 1), compile=True)
    a, b = P(x=2.0, y=3.0), P(x=4.0, y=5.0)
    for args in ((a, b), (a, a), (b, a)):
        same(g(*args), value_and_grad(f, (0, 1))(*args), {})


def test_what_was_read_is_found_under_other_names_too():
    def f(o):
        return o.pair[1].x * o.pair[0]

    g = value_and_grad(f, compile=True)
    part, numbers = P(x=2.0), (3.0, P(x=4.0))
    for o in (
        P(first=P(x=1.0), pair=(3.0, part)),
        P(first=part, pair=(3.0, part)),  # it is met there first
        P(first=numbers, pair=numbers),
        P(first=numbers[1], pair=numbers),
    ):
        same(g(o), value_and_grad(f)(o), {})
