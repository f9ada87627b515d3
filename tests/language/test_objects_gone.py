"""Weak references answer as in the plain call: what only the engine holds is gone."""

from __future__ import annotations

import weakref

import pytest

from mooncake_py import checkpoint, grad, jvp, value_and_grad
from tests.support.pairs import rotating


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


class Owner:
    def __init__(self, v):
        self.v = v

    def area(self):
        return self.v


def of_a_method(x):
    p = Owner(x)
    r = weakref.WeakMethod(p.area)
    before = r()() if r() is not None else 100.0
    del p
    return before * (1.0 if r() is None else 7.0)


class Own(weakref.ref):
    def __call__(self):
        return super().__call__()


def of_a_class_of_references(x):
    p = Owner(x)
    r = Own(p)
    before = r().v
    del p
    return before * (1.0 if r() is None else 7.0)


def sizes(x, collection, store):
    kept, lost = Owner(x), Owner(x * x)
    store(collection, 1, kept)
    store(collection, 2, lost)
    before = len(collection)
    del lost
    return x * (10 * before + len(collection)) + kept.v


def size_of_a_set(x):
    return sizes(x, weakref.WeakSet(), lambda c, _, o: c.add(o))


def size_by_keys(x):
    return sizes(x, weakref.WeakKeyDictionary(), lambda c, k, o: c.update({o: k}))


def size_of_values(x):
    return sizes(x, weakref.WeakValueDictionary(), lambda c, k, o: c.update({k: o}))


WAYS = {
    "grad": lambda f: grad(f)(3.0),
    "debug": lambda f: grad(f, debug=True)(3.0),
    "checkpoint": lambda f: grad(lambda x: checkpoint(f, x))(3.0),
    "nested": lambda f: grad(lambda x: grad(f)(x) * 0 + f(x))(3.0),
}


@pytest.mark.without_modes("the modes are those of the test")
@pytest.mark.parametrize(
    ("f", "way"),
    rotating(
        [
            deleted,
            changed_several_times,
            of_a_mapping,
            of_a_function,
            of_a_parent,
            of_a_method,
            of_a_class_of_references,
            size_of_a_set,
            size_by_keys,
            size_of_values,
        ],
        WAYS,
        times=2,
    ),
)
def test_what_only_records_hold_is_gone(f, way):
    slope = (f(3.0 + 1e-6) - f(3.0 - 1e-6)) / 2e-6
    assert value_and_grad(f)(3.0)[0] == jvp(f, (3.0,), (1.0,))[0] == f(3.0)
    assert abs(WAYS[way](f) - slope) < 1e-6


def in_part_by_argument(x):
    p = Owner(1.0)
    r = weakref.ref(p)

    def part(x, p):
        p.v = x * 2.0
        return p.v * x

    y = checkpoint(part, x, p) * p.v
    del p
    return y * (1.0 if r() is None else 7.0)


def in_part_by_capture(x):
    p = Owner(1.0)
    r = weakref.ref(p)

    def part(x):
        p.v = x * 2.0  # noqa: F821 (it is there when this runs)
        return p.v * x  # noqa: F821

    y = checkpoint(part, x) * p.v
    del p, part
    return y * (1.0 if r() is None else 7.0)


def in_part_by_reference(x):
    p = Owner(1.0)
    r = weakref.ref(p)

    def part(x):
        r().v = x * 2.0
        return r().v * x

    return checkpoint(part, x) * p.v


def made_in_part(x, collection, store, holds):
    def part(x):
        p = Owner(x)
        store(collection, p)
        y = p.v * (1 + len(collection))
        del p
        return y * (2.0 if holds() else 3.0)

    return checkpoint(part, x) * (2.0 if holds() else 5.0) * (1 + len(collection))


def in_a_set(x):
    known = weakref.WeakSet()
    return made_in_part(x, known, lambda c, o: c.add(o), lambda: len(known) > 0)


def by_keys(x):
    known = weakref.WeakKeyDictionary()
    return made_in_part(x, known, lambda c, o: c.__setitem__(o, o.v * 2.0), lambda: any(known))


def in_values(x):
    known = weakref.WeakValueDictionary()
    return made_in_part(x, known, lambda c, o: c.update(k=o), lambda: "k" in known)


def in_a_list(x):
    known = []
    return made_in_part(
        x, known, lambda c, o: c.append(weakref.ref(o)), lambda: known[0]() is not None
    )


@pytest.mark.without_modes("the modes are those of the test")
@pytest.mark.parametrize(
    ("f", "way"),
    rotating(
        [
            in_part_by_argument,
            in_part_by_capture,
            in_part_by_reference,
            in_a_set,
            by_keys,
            in_values,
            in_a_list,
        ],
        [way for way in WAYS if way != "nested"],
    ),
)
def test_what_only_the_record_of_a_checkpointed_part_holds_is_gone(f, way):
    slope = (f(3.0 + 1e-6) - f(3.0 - 1e-6)) / 2e-6
    assert value_and_grad(f)(3.0)[0] == f(3.0)
    assert abs(WAYS[way](f) - slope) < 1e-5
