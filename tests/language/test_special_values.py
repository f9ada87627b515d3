"""Special methods that are no functions: as in Python, only descriptors get the instance."""

from __future__ import annotations

import functools
import itertools
import math
import operator

import numpy as np
import pytest

from mooncake_py import MooncakeError, grad, jvp, value_and_grad
from tests.support.pairs import rotating


class Pair:
    def __init__(self, *parts):
        self.parts = parts

    def __float__(self):
        return float(self.parts[-1])


class Doubled:
    def __call__(self, *args):
        return 2.0 * sum(args)


@functools.lru_cache
def last_tripled(*args):
    return 3.0 * args[-1]


VALUES = {
    "log": math.log, "hypot": math.hypot, "sin": np.sin, "multiply": np.multiply,
    "neg": operator.neg, "max": max, "sum": sum, "float": float,
    "float64": np.float64, "list": list, "zip": zip,
    "class": Pair, "object": Doubled(), "cached": last_tripled, "append": np.append,
    "partial": functools.partial(math.pow, 2.0), "pop": list.pop, "concat": list.__add__,
    "count": list.count, "static": staticmethod(math.exp), "bound": [1.5, 2.5].index,
    "repeat": functools.partial(itertools.repeat, times=2),
}  # fmt: skip

BASES = {"object": (object, ()), "float": (float, (2.0,)), "list": (list, ([1.0, 2.0],)),
         "tuple": (tuple, ((1.0, 2.0),))}  # fmt: skip

USES = {
    "__call__": [lambda o, a: o(a), lambda o, a: o(a, 2.0), lambda o, a: o([a, a])],
    "__getitem__": [lambda o, a: o[a]],
    "__add__": [lambda o, a: o + a],
    "__iadd__": [lambda o, a: operator.iadd(o, a)],
    "__matmul__": [lambda o, a: o @ a],
    "__enter__": [lambda o, a: entered(o, a)],
    "__abs__": [lambda o, a: [abs(o), a]],
    "__iter__": [lambda o, a: [*o, a]],
}  # fmt: skip


def entered(o, a):
    with o as value:
        return [value, a]


def total(value):
    """The numbers in what a method has returned, added up."""
    if isinstance(value, Pair):
        return total(value.parts)
    if isinstance(value, (float, np.ndarray)) and not isinstance(value, int):
        return np.sum(value)
    if isinstance(value, (list, tuple, zip, itertools.repeat)):
        return sum([total(part) for part in value], 0.0)
    return 0.0


def outcome(run):
    try:
        return run()
    except Exception as error:
        return error


@pytest.mark.parametrize(("name", "base"), rotating(USES, BASES, times=2))
def test_special_methods_of_any_kind(name, base):
    kind, args = BASES[base]
    for value, use in itertools.product(VALUES.values(), USES[name]):
        cls = type("C", (kind,), {name: value, "__exit__": lambda *details: None})

        def f(a, use=use, cls=cls):
            return total(use(cls(*args), a)) + a

        expected = outcome(lambda f=f: f(1.3))
        for derive in value_and_grad, lambda f: lambda x: jvp(f, (x,), (1.0,)):
            got = outcome(lambda f=f, derive=derive: derive(f)(1.3))
            if isinstance(expected, Exception):
                assert isinstance(got, (type(expected), MooncakeError)), (value, got)
                continue
            if value is np.append and isinstance(got, MooncakeError):
                continue  # an array of objects
            assert not isinstance(got, Exception), (value, got)
            assert got[0] == pytest.approx(expected), value
            slope = (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
            assert got[1] == pytest.approx(slope, abs=1e-6), value


def test_calls_of_objects_that_are_called_by_what_is_no_function():
    class Log(float):
        __call__ = math.log

    class Sine:
        __call__ = np.sin

    class Join(tuple):
        __call__ = zip

    log, sine, join = Log(2.0), Sine(), Join((1.0, 2.0))
    assert value_and_grad(lambda a: log(a))(1.3) == pytest.approx((math.log(1.3), 1 / 1.3))
    assert grad(lambda a: sine(a), debug=True)(1.3) == pytest.approx(math.cos(1.3))
    assert value_and_grad(lambda a: sum(p[0] for p in join([a, a])))(1.3) == (2.6, 2.0)


def test_attributes_that_are_set_by_what_is_no_function():
    log = []

    class Setter:
        def __call__(self, name, value):
            log.append(value)

    Logged = type("Logged", (), {"__setattr__": Setter()})

    def f(a):
        Logged().a = a * a
        return log[-1] * 2.0

    assert value_and_grad(f)(1.5) == (4.5, 6.0)
    assert log == []


def test_methods_of_numbers_refuse_other_objects():
    add = vars(float)["__add__"]
    for derive in grad, lambda f: lambda x: jvp(f, (x,), (1.0,)):
        with pytest.raises(TypeError, match="requires a 'float' object"):
            derive(lambda a: add("text", a))(1.3)
