"""Special methods as Python finds, binds, asks and checks them."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from mooncake_py import grad, value_and_grad, vjp
from tests.support.pairs import rotating

X = np.array([0.7, 1.3])


class Default:
    """The value of the instance, or the default of the class where there is none."""

    def __get__(self, instance, owner=None):
        v = instance.v if instance is not None else owner.v
        return lambda *args: v * (args[-1] if args else 1.0)


class Stored:
    def __get__(self, instance, owner=None):
        def store(i, v):
            instance.v = instance.v * v

        return store


class Items:
    def __get__(self, instance, owner=None):
        return lambda: iter([instance.v, instance.w])


class Once:
    def __get__(self, instance, owner=None):
        def step():
            if instance.w is None:
                raise StopIteration
            instance.w = None
            return instance.v

        return step


class Positive:
    def __get__(self, instance, owner=None):
        return lambda *args: bool(instance.v > 0)


class A:
    v = 100.0
    __getitem__ = __call__ = __abs__ = __round__ = __float__ = Default()
    __setitem__ = Stored()
    __iter__ = Items()
    __contains__ = __lt__ = __bool__ = Positive()
    __len__ = staticmethod(lambda: 4)
    __enter__ = property(lambda self: lambda: self.v)
    __exit__ = staticmethod(lambda *details: None)
    __hash__ = functools.partial(lambda n: n, 7)

    def __init__(self, v, w=1.0):
        self.v, self.w = v, w


class Steps:
    __next__ = Once()

    def __init__(self, v):
        self.v, self.w = v, 1.0

    def __iter__(self):
        return self


def stored(x):
    a = A(x[0])
    a["k"] = x[1]
    return a.v


def entered(x):
    with A(x[0]) as v:
        return v * x[1]


BOUND = {
    "item": lambda x: A(x[0])[x[1]],
    "call": lambda x: A(x[0])(x[1]),
    "abs": lambda x: abs(A(x[0])),
    "round": lambda x: round(A(x[0])) * x[1],
    "stored": stored,
    "iterated": lambda x: sum(v * v for v in A(x[0], x[1])),
    "unpacked": lambda x: (lambda v, w: v * w)(*A(x[0], x[1])),
    "next": lambda x: sum(Steps(x[0])) * next(Steps(x[1])),
    "contained": lambda x: x[0] * (3 in A(x[0])),
    "less": lambda x: x[0] * (A(x[0]) < 3) * (A(x[1]) < 3),
    "truth": lambda x: x[1] if A(x[0]) else x[0],
    "length": lambda x: len(A(x[0])) * x[1],
    "hash": lambda x: hash(A(x[0])) * x[1],
    "entered": entered,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:functools.partial will be:FutureWarning")
@pytest.mark.parametrize(
    ("options", "name"), rotating([{}, {"debug": True}, {"mode": "forward"}], BOUND)
)
def test_descriptors_are_bound_to_the_instance(name, options):
    f = BOUND[name]
    value, gradient = value_and_grad(f, **options)(X)
    assert value == pytest.approx(f(X))
    expected = [(f(X + e) - f(X - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(gradient, expected, atol=1e-8)


# Lengths that Python asks for.


class Lazy:
    """The length loads the data."""

    def __init__(self, x):
        self.x, self.data = x, None

    def __len__(self):
        if self.data is None:
            self.data = list(self.x * 2)
        return len(self.data)

    def __iter__(self):
        return iter(self.x if self.data is None else self.data)


class Unloaded(Lazy):
    error = ValueError

    def __len__(self):
        raise self.error("not loaded")


class Hinted(Unloaded):
    __len__ = None

    def __length_hint__(self):
        raise self.error("not loaded")


class Odd(Unloaded):
    __len__ = None

    def __length_hint__(self):
        return "a"


class Unknown(Unloaded):
    error = TypeError


def extended(o):
    found = [1.0]
    found.extend(o)
    return found[1]


def added(o):
    found = [1.0]
    found += o
    return found[1]


def sliced(o):
    found = [1.0]
    found[:] = o
    return found[0]


LISTING = {
    "list": lambda o: list(o)[-1],
    "tuple": lambda o: tuple(o)[-1],
    "display": lambda o: [*o][-1],
    "call": lambda o: max(*o),
    "sorted": lambda o: sorted(o)[0],
    "fromiter": lambda o: np.fromiter(o, float)[0],
    "extended": extended,
    "added": added,
    "sliced": sliced,
    "set": lambda o: len({*o}) * 1.0,
    "sum": sum,
}  # fmt: skip


def outcome(f, x):
    try:
        return f(x)
    except Exception as error:
        return type(error), str(error).partition("\n")[0]


@pytest.mark.parametrize(
    ("kind", "way"), rotating([Lazy, Unloaded, Hinted, Unknown, Odd], LISTING, times=2)
)
def test_lengths_are_asked_for_as_by_python(way, kind):
    def f(x):
        o = kind(x)
        return LISTING[way](o) * sum(o)

    def value(x):
        return value_and_grad(f)(x)[0]

    found, expected = outcome(value, X), outcome(f, X)
    assert found == pytest.approx(expected) if type(expected) is not tuple else found == expected


# Protocols that a class forbids, and results that Python refuses.


class Forbidden:
    __iter__ = __contains__ = __reversed__ = None

    def __init__(self, x):
        self.x = x

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i]


class Odds:
    def __float__(self):
        return "a"

    def __complex__(self):
        return 1.0

    def __hash__(self):
        return "a"

    def __format__(self, spec):
        return 1

    def __iter__(self):
        return 5


class NoExit:
    def __enter__(self):
        return 1.0


def without_exit(x):
    with NoExit():
        return x[0]


def unpacked(x):
    a, _ = Forbidden(x)
    return a


REFUSED = {
    "loop": lambda x: sum(v for v in Forbidden(x)),
    "contained": lambda x: x[0] * (x[1] in Forbidden(x)),
    "reversed": lambda x: next(reversed(Forbidden(x))),
    "list": lambda x: list(Forbidden(x))[-1],
    "unpacked": unpacked,
    "starred": lambda x: max(*Forbidden(x)),
    "zip": lambda x: next(zip(Forbidden(x), x, strict=True))[0],
    "float": lambda x: x[0] * float(Odds()),
    "complex": lambda x: x[0] * complex(Odds()),
    "complex of parts": lambda x: x[0] * complex(Odds(), 1.0),
    "hash": lambda x: x[0] * hash(Odds()),
    "format": lambda x: x[0] * len(f"{Odds()}"),
    "iter": lambda x: x[0] * len(list(Odds())),
    "sentinel": lambda x: x[0] * len(list(iter(5, 5))),
    "manager": without_exit,
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_errors_of_protocols_are_those_of_python(name):
    def caught(x):
        try:
            return REFUSED[name](x)
        except TypeError:
            return x[1] * 5

    expected = outcome(REFUSED[name], X)
    assert expected[0] is TypeError
    assert outcome(grad(REFUSED[name]), X) == expected
    value, gradient = value_and_grad(caught)(X)
    assert value == 6.5
    np.testing.assert_array_equal(gradient, [0.0, 5.0])
    assert vjp(caught, X)[0] == 6.5
