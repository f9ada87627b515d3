"""Weak references answer as in the plain call: what only the engine holds is gone."""

from __future__ import annotations

import weakref

import pytest

from mooncake_py import checkpoint, grad, jvp, value_and_grad


class Held:
    pass


def deleted(x):
    p = Held()
    p.v = 5.0
    r = weakref.ref(p)
    before = 1.0 if r() is p else 100.0
    del p
    return x * (before if r() is None else 2.0)


def changed_several_times(x):
    p = Held()
    p.v = x
    p.v = p.v * 2
    r = weakref.ref(p)
    q = p
    del p
    y = x * (1.0 if r() is q else 5.0)
    del q
    return y * (1.0 if r() is None else 7.0)


def of_a_mapping(x):
    d = weakref.WeakValueDictionary()
    p = Held()
    p.v = x
    d["a"] = p
    n = len(d)
    p = None
    return x * (n + (10 if "a" in d else 0) + (100 if d.get("a") is not None else 0))


def of_a_function(x):
    def made():
        p = Held()
        p.v = x
        return weakref.ref(p)

    return x * (1.0 if made()() is None else 7.0)


def of_a_parent(x):
    parent, child = Held(), Held()
    child.parent = weakref.ref(parent)
    parent.child = child
    parent.v = x
    return child.parent().v * x


WAYS = {
    "grad": lambda f: grad(f)(3.0),
    "debug": lambda f: grad(f, debug=True)(3.0),
    "checkpoint": lambda f: grad(lambda x: checkpoint(f, x))(3.0),
    "nested": lambda f: grad(lambda x: grad(f)(x) * 0 + f(x))(3.0),
}


@pytest.mark.without_modes("the modes are those of the test")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "f", [deleted, changed_several_times, of_a_mapping, of_a_function, of_a_parent]
)
def test_what_only_records_hold_is_gone(f, way):
    slope = (f(3.0 + 1e-6) - f(3.0 - 1e-6)) / 2e-6
    assert value_and_grad(f)(3.0)[0] == jvp(f, (3.0,), (1.0,))[0] == f(3.0)
    assert abs(WAYS[way](f) - slope) < 1e-6
