"""What changes between two calls of a compiled function: its guard sees what it was read for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad
from mooncake_py.compiler.native.site import known_site, report
from tests.modes.reverse.test_whole_structures import same

pytestmark = pytest.mark.plain

SCALE = 2.0
OFFSET = 3


def scaled(x):
    return x * SCALE


def other_scaled(x):
    return x * 5.0


def with_int(x):
    return x * OFFSET


class Part:
    def __init__(self, x, v):
        self.x, self.v = x, v

    def both(self):
        return self.x * self.v


class Sub(Part):
    pass


class Model:
    kind = 2.0
    gravity = 9.81

    def __init__(self):
        self.x, self.v, self.mode, self.n = 1.0, np.arange(3.0), "fast", 3
        self.child, self.other = Part(1.0, 2.0), Part(3.0, 4.0)
        self.table = {"a": 1.0, "b": 2.0}
        self.parts = [Part(1.0, 1.0), Part(2.0, 2.0)]
        self.flag = None
        self.shape = (1.0, 2.0)

    def value(self):
        y = scaled(self.x) + with_int(self.x) + self.gravity * np.sum(self.v * self.v)
        y += self.child.both() * self.other.v
        if self.mode == "fast":
            y += self.table["a"]
        for k in range(self.n):
            y += self.table["b"] * k
        if self.flag is None:
            y += self.x * self.shape[1]
        return y + self.parts[0].x * self.parts[1].both()

    @property
    def double(self):
        return self.x * 2.0


def slower(self):
    return self.x * 100.0


class Slower(Part):
    both = slower


def run(m):
    return m.value() * m.double


def changed(name, value):
    return lambda m, patch: setattr(m, name, value)


def patched(owner, name, value):
    return lambda m, patch: patch.setattr(owner, name, value, raising=False)


def swapped(m, patch):
    m.__class__ = type("Other", (Model,), {"gravity": 1.0})


def code_replaced(m, patch):
    patch.setattr(scaled, "__code__", other_scaled.__code__)


CHANGES: dict[str, tuple[bool, Any]] = {
    # Whether the guard may use an earlier reading.
    "another instance": (True, lambda m, patch: None),
    "values": (True, lambda m, patch: m.__dict__.update(x=5.0, v=np.arange(3.0) + 1.0)),
    "another length": (True, changed("v", np.arange(4.0))),
    "a global float": (True, lambda m, patch: patch.setitem(globals(), "SCALE", 3.0)),
    "an attribute more": (True, changed("extra", "a")),
    "an int": (True, changed("n", 4)),
    "a text": (False, changed("mode", "slow")),
    "an int for a float": (False, changed("x", 5)),
    "a number of NumPy for a float": (False, changed("x", np.float64(5.0))),
    "a matrix for a vector": (False, changed("v", np.ones((2, 3)))),
    "another dtype": (False, changed("v", np.arange(3, dtype="f"))),
    "an attribute deleted": (False, lambda m, patch: delattr(m, "x")),
    "a method shadowed": (False, changed("value", lambda: 7.0)),
    "a class attribute shadowed": (False, changed("gravity", 1.0)),
    "two children that are one": (False, lambda m, patch: setattr(m, "other", m.child)),
    "an item that is a child": (False, lambda m, patch: m.parts.__setitem__(0, m.child)),
    "a child of a subclass": (False, lambda m, patch: setattr(m, "child", Sub(1.0, 2.0))),
    "another class": (False, swapped),
    "a key more": (False, lambda m, patch: m.table.update(c=1.0)),
    "other order of keys": (False, lambda m, patch: setattr(m, "table", {"b": 2.0, "a": 1.0})),
    "a value that is None": (False, lambda m, patch: m.table.update(a=None)),
    "a list that has grown": (False, lambda m, patch: m.parts.append(Part(1.0, 2.0))),
    "a list that is a tuple": (False, lambda m, patch: setattr(m, "parts", tuple(m.parts))),
    "None that is a number": (False, changed("flag", 1.0)),
    "a tuple of ints": (False, changed("shape", (1, 2))),
    "a method patched": (False, patched(Part, "both", slower)),
    "a method of a subclass": (False, changed("child", Slower(1.0, 2.0))),
    "a class attribute": (False, patched(Model, "gravity", 1)),
    "a property over an attribute": (
        False,
        patched(Model, "x", property(lambda self: 7.0, lambda self, v: None)),
    ),
    "another property": (False, patched(Model, "double", property(slower))),
    "`__getattr__`": (False, patched(Part, "__getattr__", lambda self, name: 1.0)),
    "`__getattribute__`": (
        False,
        patched(Part, "__getattribute__", lambda self, name: object.__getattribute__(self, name)),
    ),
    "a global function": (False, lambda m, patch: patch.setitem(globals(), "scaled", other_scaled)),
    "a global int": (False, lambda m, patch: patch.setitem(globals(), "OFFSET", 4)),
    "code replaced": (False, code_replaced),
}  # fmt: skip


def outcome(f, m):
    try:
        return f(m)
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_given_is_that_of_the_plain_way(name, monkeypatch):
    serves, change = CHANGES[name]
    f, plain = value_and_grad(run, compile=True), value_and_grad(run)
    f(Model())
    site: Any = known_site(run.__code__)
    assert report(run)[0].found == "compiled", report(run)
    reading = next(r for r in site.read_so_far() if r.inputs(run, (Model(),)) is not None)
    for _ in range(2):
        m = Model()
        assert reading.inputs(run, (m,)) is not None
        change(m, monkeypatch)
        assert (reading.inputs(run, (m,)) is not None) == serves
        found, expected = outcome(f, m), outcome(plain, m)
        if isinstance(expected, type):
            assert found is expected
        else:
            assert found[0] == pytest.approx(expected[0], rel=1e-12)
            same(found[1], expected[1], {})
        monkeypatch.undo()


def test_what_is_captured_may_be_bound_again():
    def made(k):
        def f(x):
            return x * k + scale

        scale = 1.0
        return f

    for k in (2.0, 3, 2.5, np.float64(1.5)):
        assert value_and_grad(made(k), compile=True)(3.0) == value_and_grad(made(k))(3.0)
