"""State that is no element: flags, orders, and objects in arrays, restored in every mode."""

from __future__ import annotations

import collections
from os import urandom
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, grad, hessian, hvp, jvp, value_and_grad, vjp
from tests.support.gradients import check
from tests.support.pairs import rotating

X = np.array([0.7, -1.3])
A = np.ones(2)
D: Any = {}
ORDERED: Any = collections.OrderedDict()
S: Any = set()
KEPT = np.zeros(2)
OBJECTS = np.empty(3, object)
RECORDS = np.zeros(3, [("a", float), ("b", int)])


class Holder:
    pass


HOLDER: Any = Holder()


def flag_by_attribute(x):
    A[0] = x[0]
    A.flags.writeable = False
    s = np.sum(A * x)
    A.flags["W"] = True
    return s * x[1]


def flag_by_method(x):
    A.setflags(write=False)
    try:
        A[0] = x[0]
    except ValueError:
        return np.sum(A * x * x)


def flag_by_what_was_read_before(x):
    flags = A.flags
    A[0] = x[0]
    flags.writeable = False
    s = np.sum(A * x)
    flags.writeable = True
    A[1] = x[0] * x[1]
    setattr(A.flags, "writeable", False)  # noqa: B010
    return s * A[1]


def key_deleted_and_set(x):
    del D["b"]
    D["b"] = x[0]
    return sum((i + 1) * v * v for i, v in enumerate(D.values()))


def key_taken_out(x):
    for _ in range(2):
        v = D.pop("b")
        D["c"] = x[0]
        D["b"] = v * x[1]
    return sum((i + 1) * v * v for i, v in enumerate(D.values()))


def key_moved(x):
    ORDERED.move_to_end("b")
    ORDERED.popitem(last=False)
    ORDERED["a"] = x[1] * x[0]
    return sum((i + 1) * v * v for i, v in enumerate(ORDERED.values()))


def attribute_deleted_and_set(x):
    del HOLDER.b
    HOLDER.c = x[1]
    HOLDER.b = x[0]
    return sum((i + 1) * v * v for i, v in enumerate(vars(HOLDER).values()))


def elements_of_a_set(x):
    S.discard(5.0)
    S.add(x[0])
    S.remove(1.0)
    S.update([5.0, x[1]])
    return sum(v * v for v in sorted(S))


def set_operators(x):
    global S
    S -= {5.0}
    S |= {x[0], 5.0}
    S ^= {1.0}
    return sum(v * v for v in sorted(S))


def objects_in_an_array(x):
    OBJECTS[1] = "b"
    OBJECTS[0] = [2.0]
    OBJECTS[2:] = None
    return x[0] * OBJECTS[0][0] * x[1]


def records_in_an_array(x):
    RECORDS["b"] = 3
    RECORDS[0] = (1.0, 2)
    RECORDS["a"][1] = 4.0
    return x[0] * x[1] * RECORDS["a"].sum() * RECORDS[0]["b"]


def reset() -> None:
    global S
    A.setflags(write=True)
    A[:] = 1
    D.clear()
    ORDERED.clear()
    vars(HOLDER).clear()
    for d in (D, ORDERED, vars(HOLDER)):
        d["b"], d["a"] = 1.0, 2.0
    S = {1.0, 2.0, 5.0, 9.0, 17.0, 33.0}
    OBJECTS[:] = [1.0, "a", KEPT]
    RECORDS[:] = np.zeros(3, RECORDS.dtype)


def state() -> Any:
    objects = list(map(id, OBJECTS))
    orders = [list(d.items()) for d in (D, ORDERED, vars(HOLDER))]
    return A.tolist(), A.flags.writeable, orders, list(S), objects, RECORDS.tolist()


PROGRAMS = [
    flag_by_attribute, flag_by_method, flag_by_what_was_read_before, key_deleted_and_set,
    key_taken_out, key_moved, attribute_deleted_and_set, elements_of_a_set, set_operators,
    objects_in_an_array, records_in_an_array,
]  # fmt: skip
MODES = {
    "grad": lambda f: grad(f)(X),
    "debug": lambda f: value_and_grad(f, debug=True)(X)[1],
    "jvp": lambda f: jvp(f, (X,), (X,)),
    "hessian": lambda f: hessian(f)(X),
    "hvp": lambda f: hvp(f, (X,), X),
    "reverse over reverse": lambda f: grad(lambda z: np.sum(grad(f)(z) ** 2))(X),
    "checkpoint": lambda f: grad(lambda z: checkpoint(f, z))(X),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("f", "mode"), rotating(PROGRAMS, MODES, times=2))
def test_state_is_restored(f: Any, mode: str) -> None:
    reset()
    before = state()
    MODES[mode](f)
    assert state() == before


@pytest.mark.parametrize("f", PROGRAMS)
def test_state_is_restored_by_vjp_and_its_pullback(f: Any) -> None:
    reset()
    before = state()
    _, pullback = vjp(f, X)
    assert state() == before
    gradient = pullback(1.0)
    for _ in range(2):
        np.testing.assert_array_equal(pullback(1.0), gradient)
        assert state() == before


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients(f: Any) -> None:
    def of_fresh_state(x: Any) -> Any:
        reset()
        return f(x)

    check(of_fresh_state, X)


def test_state_is_restored_where_a_second_run_differs() -> None:
    calls: list[Any] = []

    def f(x: Any) -> Any:
        D["new"] = x[0]
        return x[0] * len(str(id(calls))) * int.from_bytes(urandom(4), "big")

    reset()
    before = state()
    _, pullback = vjp(f, X)
    pullback(1.0)
    with pytest.raises(Exception, match="another result"):
        pullback(1.0)
    assert state() == before


class Attributes(dict):
    """Attributes that are items: methods in C under other names."""

    __setattr__ = dict.__setitem__
    __getattr__ = dict.__getitem__
    __delattr__ = dict.__delitem__


class Items:
    __setitem__ = object.__setattr__
    __delitem__ = object.__delattr__

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)


def test_special_methods_that_are_those_of_others() -> None:
    held, items = Attributes(kept=1.0), Items()

    def f(x: Any) -> Any:
        held.v = x[0]
        held.v = held["v"] * x[1]
        held.kept = held.v * held.v
        del held.v
        items["a"] = held.kept
        items["b"] = items["a"] * x[0]
        del items["a"]
        return items.b

    for derivative in (grad(f), lambda x: jvp(f, (x,), (x,)), lambda x: vjp(f, x)[1](1.0)):
        derivative(X)
        assert held == {"kept": 1.0}
        assert not vars(items)

    def of_fresh_state(x: Any) -> Any:
        held.clear()
        vars(items).clear()
        return f(x)

    check(of_fresh_state, X)


def test_order_of_the_attributes_of_a_class() -> None:
    class Ordered:
        a, b, c = 1.0, 2.0, 3.0

        def method(self) -> float:
            return self.a

    def deletes(x: Any) -> Any:
        del Ordered.b
        return x[0] * len([name for name in vars(Ordered) if len(name) == 1])

    def sets_anew(x: Any) -> Any:
        a = Ordered.a
        del Ordered.a
        Ordered.d = 4.0  # type: ignore[attr-defined]
        Ordered.a = a
        return x[0] * [name for name in vars(Ordered) if len(name) == 1].index("a")

    before = list(vars(Ordered).items())
    for f, factor in ((deletes, 2.0), (sets_anew, 3.0)):
        for derivative in (value_and_grad(f), value_and_grad(f, debug=True)):
            assert derivative(X)[0] == factor * X[0]
            assert list(vars(Ordered).items()) == before
        jvp(lambda x, f=f: checkpoint(f, x), (X,), (X,))
        assert list(vars(Ordered).items()) == before
    assert Ordered().method() == 1.0


@pytest.mark.parametrize(("o", "name"), [
    (np.float64(2.0), "flat"), (np.float64(2.0), "shape"), (np.dtype(float), "names"),
    (1.5, "real"), (slice(1), "start"),
])  # fmt: skip
def test_an_attribute_that_cannot_be_set_raises_what_the_program_catches(o, name) -> None:
    """Nor need it be put back, also where it is made again each time that it is read."""

    def f(x):
        try:
            setattr(o, name, 1.0)
        except (AttributeError, TypeError, ValueError):
            return x * 2.0
        return x

    assert value_and_grad(f)(1.5) == (3.0, 2.0)
    assert jvp(f, (1.5,), (1.0,)) == (3.0, 2.0)
