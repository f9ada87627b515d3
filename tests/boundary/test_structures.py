"""Tangents of every structure go into each derivative, and what has none is refused by name."""

from __future__ import annotations

import collections
import dataclasses
import functools
import types
from typing import Any, NamedTuple

import numpy as np
import pytest

from mooncake_py import (
    CoDual,
    Dual,
    NoFData,
    NoRData,
    build_rrule,
    checkpoint,
    grad,
    hessian,
    hook,
    hvp,
    jacobian,
    jvp,
    randn_tangent,
    rrule,
    value_and_grad,
    vjp,
    zero_tangent,
)
from mooncake_py.errors import (
    InvalidRuleError,
    InvalidTangentError,
    NonDifferentiableArgumentError,
)
from tests.support.pairs import rotating

X = np.array([0.7, -1.3])


class Pair(NamedTuple):
    a: Any
    b: Any


@dataclasses.dataclass
class Data:
    a: Any
    b: Any


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: Any
    b: Any


class Plain:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def method(self):
        return ab(self)


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


def closure(a, b):
    return lambda: a**2 * np.sum(b**3)


def in_itself(container):
    if isinstance(container, dict):
        container["me"] = container
    else:
        container.append(container)
    return container


def ab(o):
    return o.a**2 * np.sum(o.b**3)


def first_two(o):
    return o[0] ** 2 * np.sum(o[1] ** 3)


def items(o):
    return o["a"] ** 2 * np.sum(o["b"] ** 3)


def called(o):
    return o()


# A value, a function of it.
VALUES = {
    "tuple": lambda: ((2.0, X, 3, "text"), first_two),
    "list": lambda: ([2.0, X, None], first_two),
    "dict": lambda: ({"a": 2.0, "b": X, "n": 3}, items),
    "ordered dict": lambda: (collections.OrderedDict(a=2.0, b=X), items),
    "default dict": lambda: (collections.defaultdict(float, a=2.0, b=X), items),
    "deque": lambda: (collections.deque([2.0, X]), first_two),
    "namedtuple": lambda: (Pair(2.0, X), ab),
    "dataclass": lambda: (Data(2.0, X), ab),
    "frozen dataclass": lambda: (Frozen(2.0, X), ab),
    "object": lambda: (Plain(2.0, X), ab),
    "object with slots": lambda: (Slotted(2.0, X), ab),
    "namespace": lambda: (types.SimpleNamespace(a=2.0, b=X), ab),
    "closure": lambda: (closure(2.0, X), called),
    "bound method": lambda: (Plain(2.0, X).method, called),
    "partial": lambda: (functools.partial(lambda a, b: closure(a, b)(), 2.0, b=X), called),
    "integers": lambda: ((2.0, X, np.arange(3), (1, 2)), first_two),
    "nested": lambda: (
        [Pair(Frozen(2.0, X), {"k": Data(1.5, (X + 1.0, 3))})],
        lambda o: ab(o[0].a) * o[0].b["k"].a * np.sum(o[0].b["k"].b[0]),
    ),
    "list in itself": lambda: (in_itself([2.0, X]), first_two),
    "dict in itself": lambda: (in_itself({"a": 2.0, "b": X}), items),
}


def dot(a, b):
    """Return the inner product of a tangent and a gradient, which may be of another class."""
    return sum(float(np.sum(x * y)) for x, y in zip(flat(a, ()), flat(b, ()), strict=True))


def flat(value, above):
    if id(value) in above:
        return
    above = (*above, id(value))
    if isinstance(value, (float, np.ndarray)):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from flat(part, above)
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from flat(part, above)
    elif hasattr(value, "_fields"):
        parts = list(value._fields.values())
        yield from flat(parts, above)
    elif dataclasses.is_dataclass(value):
        yield from flat([value.a, value.b], above)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("name", "make"),
    rotating(VALUES, [zero_tangent, lambda v: randn_tangent(np.random.default_rng(3), v)]),
)
def test_each_derivative_takes_tangents_and_gradients_of_a_value(name, make):
    value, f = VALUES[name]()
    t = make(value)
    _, slope = jvp(f, (value,), (t,))
    gradient = grad(f)(value)
    np.testing.assert_allclose(slope, dot(t, gradient), rtol=1e-12, atol=1e-12)
    _, pullback = vjp(lambda o: o, value)
    (same,) = pullback(t)
    np.testing.assert_allclose(
        [np.sum(x) for x in flat(same, ())],
        [np.sum(x) for x in flat(t, ())],
        rtol=1e-12,
    )
    product = hvp(f, (value,), t)
    # The gradient of f is a tangent, too: <H g, g> both ways.
    along_gradient = hvp(f, (value,), gradient)
    np.testing.assert_allclose(dot(t, along_gradient), dot(gradient, product), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["tuple", "dataclass", "namedtuple", "object", "closure"])
def test_a_pullback_within_a_derivative_takes_tangents(name):
    value, _ = VALUES[name]()
    t = randn_tangent(np.random.default_rng(3), value)

    def pulled(s):
        _, pullback = vjp(lambda z: scaled_value(name, z), s)
        return pullback(t)[0] * s

    np.testing.assert_allclose(
        grad(pulled)(1.5), (pulled(1.5 + 1e-6) - pulled(1.5 - 1e-6)) / 2e-6, rtol=1e-6
    )


def scaled_value(name, z):
    parts = (z * z, X * z)
    if name == "tuple":
        return (*parts, 3, "text")
    kinds = {"dataclass": Data, "namedtuple": Pair, "object": Plain, "closure": closure}
    return kinds[name](*parts)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("f", [
    lambda x: Data(x[0], x), lambda x: collections.deque([x[0]]), lambda x: closure(x[0], x),
    lambda x: [Plain(x[0], x)], lambda x: {x[0]}, lambda x: in_itself([x]),
])  # fmt: skip
def test_a_jacobian_of_what_it_has_no_place_for_is_refused(f, mode):
    with pytest.raises(InvalidTangentError):
        jacobian(f, mode=mode)(X)
    with pytest.raises(InvalidTangentError):
        grad(lambda x: (jacobian(f, mode=mode)(x), x[0])[1])(X)


@pytest.mark.parametrize("value", [VALUES["dataclass"](), VALUES["list in itself"]()])
def test_a_jacobian_with_respect_to_what_it_has_no_place_for_is_refused(value):
    o, f = value
    with pytest.raises(InvalidTangentError, match="a Jacobian was asked for"):
        jacobian(f)(o)
    with pytest.raises(InvalidTangentError, match="a Jacobian was asked for"):
        hessian(f)(o)


def test_a_jacobian_has_namedtuples_for_namedtuples():
    got = jacobian(lambda x: Pair(x[0], (x, "text")))(X)
    assert type(got) is Pair
    np.testing.assert_array_equal(got.b[0], np.eye(2))
    assert got.b[1] is None


PAIRED = CoDual(X, np.zeros(2))


@pytest.mark.parametrize("derivative", [
    lambda f: grad(f)(PAIRED), lambda f: grad(lambda a, b: f(a))(X, PAIRED),
    lambda f: grad(lambda a, b: f(a))(X, b=PAIRED), lambda f: vjp(f, PAIRED),
    lambda f: jvp(f, (PAIRED,), (X,)), lambda f: jvp(f, (Dual(X, X),), (X,)),
    lambda f: hvp(f, (PAIRED,), X), lambda f: jacobian(f)(PAIRED),
])  # fmt: skip
def test_values_paired_with_fdata_are_no_arguments(derivative):
    with pytest.raises(NonDifferentiableArgumentError, match=r"is a (CoDual|Dual)"):
        derivative(lambda x: np.sum(x * x))


@pytest.mark.parametrize(
    "call", [lambda: rrule(np.sum, X), lambda: build_rrule(np.sum)(CoDual(np.sum, NoFData()), X)]
)
def test_plain_values_are_no_inputs_of_a_rule(call):
    with pytest.raises(InvalidTangentError, match="in place of a CoDual"):
        call()


@pytest.mark.plain  # debug mode finds it before, in words of its own
@pytest.mark.parametrize("rdata", [
    (NoRData(),), (NoRData(),) * 2, (NoRData(),) * 4, NoRData(), None, 1.0,
    (NoRData(), np.ones(2), 1.0),
])  # fmt: skip
def test_a_pullback_that_returns_other_rdata_than_there_are_inputs_is_named(rdata):
    def product(a, b):
        return np.sum(a) * b

    @rrule.register(product)
    def product_rule(_, a, b):
        return CoDual(product(a.primal, b.primal), NoFData()), lambda dy: rdata

    for derivative in (
        lambda: grad(lambda x: product(x, x[0]))(X),
        lambda: vjp(lambda x: product(x, x[0]), X)[1](1.0),
        lambda: grad(lambda x: grad(lambda z: product(z, x[0]))(X)[0])(X),
    ):
        with pytest.raises(InvalidRuleError, match=r"the pullback of the rule of .*product"):
            derivative()


RAGGED = (np.ones(2), 1.0)


@pytest.mark.parametrize(
    "give",
    [
        lambda: jvp(np.sum, (X,), (RAGGED,)),
        lambda: jvp(lambda a: 2 * a, (1.0,), (RAGGED,)),
        lambda: vjp(np.cumsum, X)[1](RAGGED),
        lambda: vjp(np.sum, X)[1](RAGGED),
        lambda: grad(lambda x: np.sum(hook(lambda g: RAGGED, x)))(X),
        lambda: grad(lambda a: hook(lambda g: RAGGED, a))(1.0),
    ],
)
def test_rows_that_differ_in_length_do_not_fit(give):
    with pytest.raises(InvalidTangentError, match=r"not fit.* expected .*, got tuple"):
        give()


# A tuple, or a named one, that stands in two places: the compiler makes one of equal literals.


class Weighted(NamedTuple):
    a: float
    w: Any


def product(o: Any) -> Any:
    (a, u), (b, w) = o[0], o[1]
    return a * b**2 + np.sum(u * w)


def told_apart(o: Any) -> Any:
    is_one = o[0] is o[1] and id(o[0]) == id(o[1])
    return product(o) if is_one else 1.0


@pytest.mark.parametrize("f", [product, told_apart])
@pytest.mark.parametrize("make", [list, tuple])
@pytest.mark.parametrize("kind", [tuple, Weighted._make])
def test_numbers_of_a_tuple_that_is_there_twice_are_values_in_each_place(
    kind: Any, make: Any, f: Any
) -> None:
    part = kind((3.0, X))
    o, t = make([part, part]), make([kind((1.0, X)), kind((0.5, X))])
    square = float(X @ X)
    value, slope = 27.0 + square, 9.0 + 9.0 + 2 * square

    def require(y: Any, g: Any, is_forward: bool = False) -> None:
        assert y == f(o) == value
        assert type(g) is make
        assert type(g[0]) is type(part)
        assert (g[0][0], g[1][0]) == (9.0, 18.0)
        np.testing.assert_array_equal(g[0][1], 2 * X)
        assert is_forward or g[0][1] is g[1][1]

    require(*value_and_grad(f)(o))
    require(*value_and_grad(f, compile=True)(o))
    require(*value_and_grad(f, mode="forward")(o), is_forward=True)
    for again in (f, lambda o: checkpoint(f, o)):
        y, pull = vjp(again, o)
        require(y, *pull(1.0))
    np.testing.assert_allclose(jvp(f, (o,), (t,)), (value, slope))
    h = hvp(f, (o,), t)
    assert (h[0][0], h[1][0]) == (3.0, 6.0 + 3.0)
    (y, _), (dy, _) = jvp(value_and_grad(f), (o,), (t,))
    np.testing.assert_allclose((y, dy), (value, slope))


DEFAULT = (1.0, 2.0)
FROZEN = Frozen(1.0, X)


@pytest.mark.parametrize("default", [DEFAULT, FROZEN], ids=["tuple", "frozen"])
def test_an_immutable_argument_is_the_object_that_another_name_leads_to(default: Any) -> None:
    def f(p: Any) -> Any:
        first = p[0] if type(p) is tuple else p.a
        return first * (5.0 if p is default and id(p) == id(default) else 1.0)

    for again in (f, lambda p: checkpoint(f, p)):
        assert vjp(again, default)[0] == 5.0
        for options in ({}, {"compile": True}, {"mode": "forward"}):
            assert value_and_grad(again, **options)(default)[0] == 5.0


def test_equal_literals_are_values_in_each_place() -> None:
    assert grad(lambda o: o[1][0] * 2)([(3.0,), (3.0,)]) == [(0.0,), (2.0,)]
