"""A derivative calls the special methods of the program's classes as often as the program does.

Methods that compare and hash keys are left out: a gradient of a dict has its keys, and looks them
up.  Where they change something, the engine refuses them.
"""

from __future__ import annotations

import sys
from collections import OrderedDict, defaultdict, deque
from types import FrameType, MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest

from mooncake_py import (
    checkpoint,
    grad,
    hvp,
    jacobian,
    jvp,
    tape_of,
    value_and_grad,
    vjp,
    zero_tangent,
)
from mooncake_py.coverage import refusals
from tests.support.counted import BASES, Box, Key, calls, subclass_of
from tests.support.pairs import rotating

pytestmark = [
    pytest.mark.without_modes("the modes are tried here"),
    pytest.mark.filterwarnings("ignore::mooncake_py.MooncakeWarning"),
]

X = np.array([0.7, 1.3, -0.4])
COUNTED = {base: subclass_of(base) for base in BASES}
OF_VALUES = [base for base in BASES if base not in (set, frozenset)]
DICTS = (dict, OrderedDict, defaultdict)


def filled(base: type, a: Any, b: Any) -> Any:
    cls: Any = COUNTED[base]
    if base is defaultdict:
        made = cls(float)
        made["a"], made["b"] = a, b
        return made
    return cls(a=a, b=b) if base in DICTS else cls([a, b])


def first(base: type) -> Any:
    return "a" if base in DICTS else 0


def made(base: type) -> Any:
    def f(x):
        return np.sum(filled(base, x, x * 2.0)[first(base)] * x)

    return f, X


def written(base: type) -> Any:
    def f(x):
        held = filled(base, X.copy(), X * 2.0)
        if base is not tuple:
            held[first(base)] = x * 3.0
        return np.sum(held[first(base)] * x)

    return f, X


def iterated(base: type) -> Any:
    def f(x):
        held, total = filled(base, x, x * 2.0), 0.0
        for part in held:
            total = total + (held[part] if base in DICTS else part)
        return np.sum(total * x)

    return f, X


def argument(base: type) -> Any:
    return lambda held: np.sum(held[first(base)] ** 2), filled(base, X.copy(), X * 2.0)


def in_an_object(base: type) -> Any:
    return lambda box: np.sum(box.held[first(base)] ** 2), Box(held=filled(base, X, X * 2.0))


def captured(base: type) -> Any:
    held = filled(base, X.copy(), X.copy())

    def f(x):
        def inner():
            return held[first(base)]

        return np.sum(inner() * x)

    return f, X


def changed(base: type) -> Any:
    held = filled(base, X.copy(), X.copy())

    def f(x):
        if base is not tuple:
            held[first(base)] = x * 2.0
        return np.sum(held[first(base)] * x)

    return f, X


def behind_a_proxy(base: type) -> Any:
    proxy: Any = MappingProxyType(filled(base if base in DICTS else dict, X.copy(), X.copy()))
    return lambda x: np.sum(proxy["a"] * x), X


def of_a_set(x):
    total = 0.0
    for part in COUNTED[set]([1.5, 2.5]):
        total += part
    return np.sum(x * x) * total


elements = COUNTED[set]([1.5])


def of_a_changed_set(x):
    elements.add(3.5)
    return np.sum(x * x) * sum(elements)


def of_an_object(x):
    box = Box(a=x, n=3)
    box.c = x * 2.0
    return np.sum(box.a * box.c)


kept = Box(a=X.copy(), key=Key(1))


def of_a_changed_object(x):
    kept.a = x * 2.0
    return np.sum(kept.a * x)


PROGRAMS = {
    f"{make.__name__} {base.__name__}": make(base)
    for make in (
        made, written, iterated, argument, in_an_object, captured, changed, behind_a_proxy,
    )
    for base in OF_VALUES
} | {
    "set": (of_a_set, X), "changed set": (of_a_changed_set, X), "object": (of_an_object, X),
    "changed object": (of_a_changed_object, X),
    "argument object": (lambda box: np.sum(box.a**2), Box(a=X.copy(), n=3, key=Key(1))),
}  # fmt: skip


def pulled(f: Any, x: Any) -> None:
    vjp(f, x)[1](1.0)


MODES = {
    "grad": (lambda f, x: grad(f)(x), 1),
    "value_and_grad": (lambda f, x: value_and_grad(f)(x), 1),
    "vjp": (pulled, 1),
    "jvp": (lambda f, x: jvp(f, (x,), (zero_tangent(x),)), 1),
    "hvp": (lambda f, x: hvp(f, (x,), zero_tangent(x)), 1),
    "reverse jacobian": (lambda f, x: jacobian(f, mode="reverse")(x), 1),
    "forward jacobian": (lambda f, x: jacobian(f, mode="forward")(x), 1),
    "checkpoint": (lambda f, x: grad(lambda y: checkpoint(f, y))(x), 2),
    "debug": (lambda f, x: grad(f, debug=True)(x), 1),
    "compiled": (lambda f, x: grad(f, compile=True)(x), 1),
    "survey": (refusals, 1),
    "tape": (tape_of, 1),
    "prepared": (lambda f, x: grad(f).prepare(x), 1),
}
PLAIN = {"forward jacobian"}  # debug mode takes a pass for each direction
EACH_MODE = [
    pytest.param(mode, marks=pytest.mark.plain) if mode in PLAIN else mode for mode in MODES
]
KEYS = ("__hash__", "__eq__", "__ne__")


def without_keys(counts: Any) -> dict[str, int]:
    return {name: n for name, n in counts.items() if not name.endswith(KEYS)}


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("name", "mode"), rotating(PROGRAMS, EACH_MODE, times=2))
def test_special_methods_are_called_as_often_as_in_the_plain_call(name: str, mode: str) -> None:
    f, x = PROGRAMS[name]
    derivative, runs = MODES[mode]
    if (type(x) is Box or issubclass(type(x), deque)) and "jacobian" in mode:
        pytest.skip("a Jacobian has no place for these")
    with calls() as plain:
        f(x)
    frames: list[FrameType] = []
    with calls(frames.append) as found:
        derivative(f, x)
    assert without_keys(found) == {k: n * runs for k, n in without_keys(plain).items()}


class Point(NamedTuple):
    a: Any
    b: Any


class CountedPoint(Point):
    def __iter__(self):
        return tuple.__iter__(self)

    def __len__(self):
        return tuple.__len__(self)

    def __getitem__(self, index):
        return tuple.__getitem__(self, index)

    def __getattribute__(self, name):
        return tuple.__getattribute__(self, name)


class Doubling:
    def __call__(self, x):
        return x * 2.0

    def __getattribute__(self, name):
        return object.__getattribute__(self, name)

    def __len__(self):
        return 0


doubling = Doubling()


def calls_in_this_file(run: Any) -> int:
    """Return how often special methods written here run."""
    counted = 0

    def seen(frame: FrameType, event: str, _: Any) -> None:
        nonlocal counted
        own = frame.f_code.co_filename == __file__
        counted += event == "call" and own and frame.f_code.co_name.startswith("__")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        run()
    finally:
        sys.setprofile(before)
    return counted


@pytest.mark.parametrize("mode", EACH_MODE)
def test_of_a_named_tuple_and_of_an_object_that_is_called(mode: str) -> None:
    derivative, runs = MODES[mode]

    def of_point(point):
        return np.sum(point.a * point[1])

    def of_object(x):
        return np.sum(doubling(x) * x)

    for f, x in (of_point, CountedPoint(X, X * 2.0)), (of_object, X):
        plain = calls_in_this_file(lambda f=f, x=x: f(x))
        assert calls_in_this_file(lambda f=f, x=x: derivative(f, x)) == plain * runs


def test_a_checkpoint_takes_an_object_that_numpy_would_convert() -> None:
    class Model:
        def __init__(self, a):
            self.a = a

        def __array__(self, dtype=None, copy=None):
            return np.ones(1)

    gradient = grad(lambda model: checkpoint(lambda model: np.sum(model.a**2), model))(Model(X))
    np.testing.assert_array_equal(gradient.a, 2.0 * X)


def test_of_a_mapping_that_counts_its_iterations() -> None:
    weights = np.ones(3)

    class Counting(dict):
        def __iter__(self):
            nonlocal weights
            weights = weights * 2.0
            return dict.__iter__(self)

    def f(x):
        held = Counting()
        held["a"] = x * weights
        return np.sum(held["a"] * x)

    np.testing.assert_array_equal(vjp(f, X)[1](1.0)[0], 2 * X)
    np.testing.assert_array_equal(weights, 1.0)


def test_containers_of_deques_keep_their_length() -> None:
    def f(held):
        return np.sum(held[0] * held[1])

    gradient = grad(f)(deque([X, X * 2.0], maxlen=2))
    np.testing.assert_array_equal(gradient[0], 2.0 * X)
