"""Copies of arguments lead to copies by keys, weak references and attributes of functions too."""

from __future__ import annotations

import weakref
from types import MappingProxyType

import numpy as np
import pytest

from mooncake_py import grad, stop_gradient, vjp
from mooncake_py.application.copying import copy_jointly


class Node:
    def __init__(self, v):
        self.v = v

    def twice(self):
        return 2 * self.v


class ByContents(Node):
    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return self.name == other.name


def two():
    a, b = Node(1.3), Node(0.7)
    a.b = b
    return a, b


def weak_parent():
    a, b = two()
    b.parent = weakref.ref(a)
    return a


def by_weak_parent(a):
    a.b.parent().v *= a.b.v
    return a.v * a.b.v


def weak_proxy():
    a, b = two()
    b.parent = weakref.proxy(a)
    return a


def by_weak_proxy(a):
    a.v *= a.b.v
    return a.b.parent.v * a.b.v


def keyed():
    a, b = two()
    a.weight = {b: 1.5, a: 0.5, (a, b): 2.0}
    return a


def by_keys(a):
    a.b.v *= 3
    total = a.weight[a.b] * a.weight[a, a.b]
    return total * sum(n.v * w for n, w in a.weight.items() if type(n) is Node) * a.v


def keyed_by_contents():
    a = ByContents(1.3)
    a.name = "a"
    a.weight = {a: 1.5}
    return a


def by_contents(a):
    return sum(n.v * w for n, w in a.weight.items()) * a.weight[a]


def adjacency():
    a, b = two()
    a.edges = {a: {b: {"w": 2.0}}, b: {a: {"w": 3.0}}}
    return a


def by_edges(a):
    return sum(m.v * n.v * e["w"] for m, es in a.edges.items() for n, e in es.items()) * a.v


def in_set():
    a, b = two()
    a.known, a.frozen = {a, b}, frozenset([b])
    return a


def by_set(a):
    a.b.v *= a.v
    return sum(n.v for n in a.known) * sum(n.v for n in a.frozen) * (a in a.known)


def in_view():
    a, b = two()
    a.view = MappingProxyType({"b": b})
    return a


def by_view(a):
    a.b.v *= a.v
    return a.view["b"].v * a.v


def with_function():
    a = Node(1.3)

    def h(other=a):
        return h.total * a.v * other.v * h.held.v

    h.total, h.held = 2.0, a
    a.h = h
    return a


def by_function(a):
    a.h.total *= a.v
    a.v *= 2
    return a.h()


def weak_keys():
    a, b = two()
    a.d = weakref.WeakKeyDictionary({a: 0.7, b: 0.2})
    return a


def by_weak_keys(a):
    a.v *= 3
    return sum(n.v * w for n, w in a.d.items()) * a.d[a]


def weak_values():
    a, b = two()
    a.d = weakref.WeakValueDictionary({"a": a, "b": b})
    return a


def by_weak_values(a):
    a.v *= 3
    return a.d["a"].v ** 2 * a.d["b"].v


def weak_set():
    a, b = two()
    a.d = weakref.WeakSet([a, b])
    return a


def by_weak_set(a):
    a.v *= 3
    return sum(n.v**2 for n in a.d)


def weak_method():
    a, _ = two()
    a.m = weakref.WeakMethod(a.twice)
    return a


def by_weak_method(a):
    a.v *= 3
    return a.m()() ** 2


def in_object_array():
    a, b = two()
    a.all = np.array([a, b], dtype=object)
    return a


def by_object_array(a):
    a.v *= 3
    return a.all[0].v * a.all[1].v


PROGRAMS = [
    (weak_parent, by_weak_parent), (keyed, by_keys), (keyed_by_contents, by_contents),
    (adjacency, by_edges), (in_set, by_set), (in_view, by_view), (with_function, by_function),
    (weak_keys, by_weak_keys), (weak_values, by_weak_values), (weak_set, by_weak_set),
    (weak_method, by_weak_method), (in_object_array, by_object_array),
    (weak_proxy, by_weak_proxy),
]  # fmt: skip


@pytest.mark.parametrize(("make", "f"), PROGRAMS)
def test_a_copy_is_like_its_original(make, f):
    new = copy_jointly(make())
    assert f(new) == f(make())
    assert f(stop_gradient(make())) == f(make())


@pytest.mark.parametrize(("make", "f"), PROGRAMS)
def test_originals_stay_as_they_are(make, f):
    a = make()
    f(copy_jointly(a))
    assert f(a) == f(make())


def shifted(make, by):
    a = make()
    a.v += by
    return a


@pytest.mark.parametrize(
    ("make", "f"),
    [p for p in PROGRAMS if p[0] not in (in_set, in_object_array, in_view, weak_proxy)],
)
def test_pullbacks_of_such_arguments(make, f):
    value, pullback = vjp(f, make())
    expected = (f(shifted(make, 1e-6)) - f(shifted(make, -1e-6))) / 2e-6
    assert value == pytest.approx(f(make()))
    assert pullback(1.0)[0].v == pytest.approx(expected)
    assert pullback(1.0)[0].v == pytest.approx(expected)


def test_a_graph_keyed_by_its_nodes_beside_other_arguments():
    a, b = two()
    graph = {"nodes": [a, b], "weight": {a: 2.0, b: 3.0}}

    def f(x, g):
        return x[0] * sum(g["weight"].get(n, 100.0) * n.v for n in g["nodes"])

    value, pullback = vjp(f, np.array([0.7, 1.3]), graph)
    assert value == pytest.approx(3.29)
    np.testing.assert_allclose(pullback(1.0)[0], [4.7, 0.0])

    def outer(x):
        return vjp(f, x, graph)[0]

    np.testing.assert_allclose(grad(outer)(np.array([0.7, 1.3])), [4.7, 0.0])


def test_keys_that_other_names_hold_stay_the_same():
    key, parent = Node(2.0), Node(3.0)
    a = Node(1.5)
    a.settings, a.parent, a.known = {key: 2.0}, weakref.ref(parent), {key}
    new = copy_jointly(a)
    assert new.settings[key] == 2.0
    assert new.parent() is parent
    assert key in new.known
    del a.known
    assert vjp(lambda a: a.settings[key] * a.v * (a.parent() is parent), a)[0] == 3.0


def test_a_parent_held_by_a_weak_reference_alone_leads_to_the_copy():
    parent, child = two()
    child.parent, parent.child = weakref.ref(parent), child
    new = copy_jointly(child)
    assert new.parent().child is new
    assert new.parent() is not parent
