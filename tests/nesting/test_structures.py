"""Whatever a derivative hands out inside another one keeps its derivative, or is refused."""

from __future__ import annotations

import collections
import dataclasses
import functools
import types
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from mooncake_py import grad, hvp, jvp, value_and_grad, vjp
from mooncake_py.errors import MooncakeError
from tests.support.gradients import derivative
from tests.support.pairs import pairwise, rotating

X = np.array([0.7, -1.3])
V = np.array([0.4, 1.1])


class Plain:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def method(self, s):
        return s * self.a + np.sum(self.b)


class Slotted:
    __slots__ = ("__a", "b", "unset")

    def __init__(self, a, b):
        self.__a, self.b = a, b

    def read(self):
        return self.__a + np.sum(self.b)


@dataclasses.dataclass
class Data:
    a: Any
    b: Any


@dataclasses.dataclass(slots=True)
class SlottedData:
    a: Any
    b: Any


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: Any
    b: Any


class Pair(NamedTuple):
    a: Any
    b: Any


class Items(list):
    pass


class Table(dict):
    pass


class Row(tuple):
    pass


class Part(functools.partial):
    pass


class Failure(Exception):
    pass


def with_attribute(container, value):
    container.extra = value
    return container


def closure(a, b):
    def inner(s):
        return s * a + np.sum(b)

    return inner


def two_closures(a, b):
    def change(s):
        nonlocal a
        a = a * s
        return a

    return change, closure(a, b), lambda: a


def in_cycle(a, b):
    first, second = Plain(a, b), Plain(a, None)
    first.other, second.other = second, first
    return first


def with_weak_parent(a, b):
    child = Plain(2 * a, b)
    parent = Plain(a, child)
    child.parent = weakref.ref(parent)
    return parent


def list_in_itself(a, b):
    held: list[Any] = [a, b]
    held.append(held)
    return held


def objects(a, b):
    array = np.empty(2, dtype=object)
    array[0], array[1] = a, b
    return array


def with_default(a, b):
    return lambda s, c=a, *, d=b: s * c + np.sum(d)


def with_notes(a, b):
    def noted(s):
        return s

    noted.a, noted.b = a, b
    return noted


def ab(o):
    return o.a * 2.0 + np.sum(o.b)


def first_two(o):
    return o[0] * 2.0 + np.sum(o[1])


@dataclasses.dataclass
class Structure:
    """A value made of a number and an array, and a number read from it."""

    make: Callable[[Any, Any], Any]
    read: Callable[[Any], Any]


HANDED = {
    "number": Structure(lambda a, b: a, lambda o: o * 2.0),
    "array": Structure(lambda a, b: b, np.sum),
    "0-d array": Structure(lambda a, b: np.array(a), lambda o: o[()] * 2.0),
    "tuple": Structure(lambda a, b: (a, b), first_two),
    "list": Structure(lambda a, b: [a, b], first_two),
    "dict": Structure(lambda a, b: {"a": a, "b": b}, lambda o: o["a"] + np.sum(o["b"])),
    "object": Structure(Plain, ab),
    "object with slots": Structure(Slotted, Slotted.read),
    "dataclass": Structure(Data, ab),
    "dataclass with slots": Structure(SlottedData, ab),
    "frozen dataclass": Structure(Frozen, ab),
    "namedtuple": Structure(Pair, ab),
    "namespace": Structure(lambda a, b: types.SimpleNamespace(a=a, b=b), ab),
    "deque": Structure(lambda a, b: collections.deque([a, b], maxlen=3), first_two),
    "ordered dict": Structure(
        lambda a, b: collections.OrderedDict(a=a, b=b), lambda o: o["a"] + np.sum(o["b"])
    ),
    "default dict": Structure(
        lambda a, b: collections.defaultdict(lambda: a, b=b), lambda o: o["a"] + np.sum(o["b"])
    ),
    "counter": Structure(lambda a, b: collections.Counter(a=a), lambda o: o["a"] * 3.0),
    "key": Structure(lambda a, b: {a: 1.0}, lambda o: next(iter(o)) * 2.0),
    "set": Structure(lambda a, b: {a, 2.0}, lambda o: min(o) * 2.0),
    "frozenset": Structure(lambda a, b: frozenset([a]), lambda o: next(iter(o)) * 2.0),
    "closure": Structure(closure, lambda o: o(3.0)),
    "closures that share a variable": Structure(
        two_closures, lambda o: o[0](2.0) + o[1](3.0) + o[2]()
    ),
    "default": Structure(with_default, lambda o: o(3.0)),
    "attribute of a function": Structure(with_notes, ab),
    "bound method": Structure(lambda a, b: Plain(a, b).method, lambda o: o(3.0)),
    "method of an array": Structure(lambda a, b: b.sum, lambda o: o()),
    "partial": Structure(lambda a, b: functools.partial(closure, a, b=b), lambda o: o()(3.0)),
    "list with an attribute": Structure(
        lambda a, b: with_attribute(Items([a]), b), lambda o: o[0] * 2.0 + np.sum(o.extra)
    ),
    "dict with an attribute": Structure(
        lambda a, b: with_attribute(Table(a=a), b), lambda o: o["a"] * 2.0 + np.sum(o.extra)
    ),
    "tuple with an attribute": Structure(
        lambda a, b: with_attribute(Row([a]), b), lambda o: o[0] * 2.0 + np.sum(o.extra)
    ),
    "exception": Structure(
        lambda a, b: with_attribute(Failure(a), b), lambda o: o.args[0] + np.sum(o.extra)
    ),
    "proxy": Structure(lambda a, b: types.MappingProxyType({"a": a}), lambda o: o["a"] * 2.0),
    "one object twice": Structure(
        lambda a, b: [Plain(a, b)] * 2, lambda o: doubled(o[0]) + ab(o[1])
    ),
    "one array twice": Structure(lambda a, b: (b, b), lambda o: np.sum(o[0] * o[1])),
    "cycle": Structure(in_cycle, lambda o: o.other.other.a * o.other.a + np.sum(o.b)),
    "weak reference": Structure(
        with_weak_parent, lambda o: o.b.parent().a * o.a + np.sum(o.b.parent().b.b)
    ),
    "list in itself": Structure(list_in_itself, lambda o: first_two(o[2][2])),
    "nested": Structure(
        lambda a, b: {"k": [Data(a, Pair(b, Frozen(a, (b,))))]},
        lambda o: o["k"][0].a * np.sum(o["k"][0].b.a) + np.sum(o["k"][0].b.b.b[0]),
    ),
    "array of objects": Structure(objects, first_two),
    "own partial": Structure(
        lambda a, b: with_attribute(Part(closure, a, b=b), a), lambda o: o()(3.0) + o.extra
    ),
}
REFUSED = {
    "generator": Structure(lambda a, b: (v for v in [a, a]), sum),
    "iterator": Structure(lambda a, b: iter([a, a]), sum),
    "view of a dict": Structure(lambda a, b: {0: a}.values(), sum),
    "set of objects": Structure(
        lambda a, b: {Plain(a, b), Plain(2 * a, b)}, lambda o: sum(p.a for p in o)
    ),
}


def doubled(o):
    o.a = o.a * 2.0
    return o.a


def by_aux(s: Structure, x):
    g, aux = grad(lambda z: (z * z * x[0], s.make(x[0] * z, x * z)), has_aux=True)(x[1])
    return s.read(aux) + g


def by_aux_of_an_array(s: Structure, x):
    (value, aux), g = value_and_grad(
        lambda z: (np.sum(z**3), s.make(x[0] * z[1], x * z)), has_aux=True
    )(x)
    return s.read(aux) * value + g[0]


def by_vjp(s: Structure, x):
    y, _ = vjp(lambda z: s.make(x[0] * z, x * z), x[1])
    return s.read(y) * x[0]


def by_jvp(s: Structure, x):
    y, _ = jvp(lambda z: s.make(x[0] * z, x * z), (x[1],), (x[0],))
    return s.read(y) * x[0]


def second_by_gradient(f, x):
    return grad(lambda x: np.sum(grad(f)(x) * V))(x)


def second_forward_over_reverse(f, x):
    return jvp(grad(f), (x,), (V,))[1]


def second_reverse_over_forward(f, x):
    return grad(lambda x: jvp(f, (x,), (V,))[1])(x)


def second_by_product(f, x):
    return hvp(f, (x,), V)


def second_forward_twice(f, x):
    return np.array([jvp(lambda x: jvp(f, (x,), (V,))[1], (x,), (e,))[1] for e in np.eye(2)])


# No tangent: what `jvp` refuses outside of another derivative, too.
WITHOUT_TANGENT = {"set", "frozenset", "proxy", "array of objects"} | {
    n for n in HANDED if "with an attribute" in n
}
SECOND = [
    second_by_gradient,
    second_forward_over_reverse,
    second_reverse_over_forward,
    second_by_product,
    second_forward_twice,
]
WAYS = [by_aux, by_aux_of_an_array, by_vjp, by_jvp]


def differences(f, x):
    return np.array([derivative(f, (x,), 0, list(x), k) for k in range(x.size)])


def cases(names, ways):
    return [
        (name, way)
        for name in sorted(names)
        for way in ways
        if way is not by_jvp or name not in WITHOUT_TANGENT
    ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "way"), cases(HANDED, WAYS))
def test_what_a_derivative_hands_out_keeps_its_derivative(name, way):
    s = HANDED[name]

    def f(x):
        return way(s, x)

    x = X.copy()
    expected = differences(f, x)
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-7, atol=1e-8)
    y, dy = jvp(f, (x,), (V,))
    np.testing.assert_allclose(dy, expected @ V, rtol=1e-7, atol=1e-8)
    assert y == f(x)
    np.testing.assert_array_equal(x, X)


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("name", "way", "second"),
    [(*case, second) for case, second in rotating(cases(HANDED, WAYS), SECOND)],
)
def test_what_a_derivative_hands_out_keeps_its_second_derivative(name, way, second):
    s = HANDED[name]

    def f(x):
        return way(s, x)

    expected = differences(lambda x: grad(f)(x) @ V, X)
    np.testing.assert_allclose(second(f, X), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("name", "way", "outer"),
    pairwise(REFUSED, WAYS, [grad, lambda f: lambda x: jvp(f, (x,), (V,))]),
)
def test_what_cannot_be_handed_out_is_refused(name, way, outer):
    with pytest.raises(MooncakeError):
        outer(lambda x: way(REFUSED[name], x))(X)


class OtherOrder(collections.OrderedDict[str, Any]):
    def __iter__(self):
        return iter(sorted(collections.OrderedDict.__iter__(self)))


@pytest.mark.parametrize("kind", [collections.OrderedDict, OtherOrder])
def test_dicts_of_an_order_of_their_own(kind: Any) -> None:
    def moved(z: Any) -> Any:
        d = kind(b=z * 1.0, a=2.0 * z, c=z**2)
        d.move_to_end("b")
        d.move_to_end("c", last=False)
        return d

    def of_gradient(x: Any) -> Any:
        g, aux = grad(lambda z: (z * z, [moved(z), z]), has_aux=True)(x)
        return g * aux[0]["b"] + aux[0]["c"] * aux[0]["a"]

    def of_pullback(x: Any) -> Any:
        y, pull = vjp(moved, x)
        return y["b"] * y["c"] + pull({"a": 1.0, "b": 2.0, "c": 0.0})[0] * x

    def of_tangents(x: Any) -> Any:
        y, dy = jvp(moved, (x,), (1.0,))
        return y["b"] * y["c"] + dy["c"] + dy["a"]

    for f in of_gradient, of_pullback, of_tangents:
        slope = derivative(f, (1.3,), 0, [1.3], 0)
        assert value_and_grad(f)(1.3) == pytest.approx((f(1.3), slope), rel=1e-8)
        assert jvp(f, (1.3,), (1.0,)) == pytest.approx((f(1.3), slope), rel=1e-8)
        along = grad(lambda x, f=f: jvp(f, (x,), (0.5,))[0])
        assert along(1.3) == pytest.approx(slope, rel=1e-8)

    y, pull = vjp(moved, 1.3)
    assert [*collections.OrderedDict.keys(y)] == ["c", "a", "b"]
    for weights in (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0):
        gradient = pull(dict(zip("abc", weights, strict=True)))
        assert gradient == pytest.approx((np.dot(weights, (2.0, 1.0, 2.6)),))
