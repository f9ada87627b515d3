"""Python code that methods in C of the standard library's classes call: it runs derived."""

from __future__ import annotations

import argparse
import copy
import functools
import json
import operator
import types
import warnings
from collections import OrderedDict, defaultdict, deque
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad
from tests.support.hooks import HOOKS, Scenario, X, check_all_modes, check_gradient
from tests.support.pairs import rotating

scenarios: list[Any] = []


def scenario(f: Scenario) -> Scenario:
    """Collect a function of an array and a hook, which it has native code call."""
    scenarios.append(f)
    return f


# Items of dicts.


@scenario
def missing_by_super(x, hook):
    class Table(dict):
        def __getitem__(self, key):
            return super().__getitem__(key)

        def __missing__(self, key):
            return hook() * len(key)

    return Table()["ab"]


@scenario
def missing_by_name(x, hook):
    class Table(dict):
        __call__ = dict.__getitem__

        def __missing__(self, key):
            return hook()

    t = Table()
    return t("a") + dict.__getitem__(t, "a") * t.__getitem__("b") + sum(map(t.__getitem__, "ab"))


@scenario
def missing_attribute(x, hook):
    class Attributes(dict):
        __getattr__ = dict.__getitem__
        __setattr__ = dict.__setitem__

        def __missing__(self, key):
            return hook()

    a = Attributes()
    a.rate = x[1]
    return a.rate * a.other


@scenario
def factory_by_name(x, hook):
    d = defaultdict(hook)
    first = functools.partial(d.__getitem__, "c")()
    return first * sum(map(d.__getitem__, "ab")) * operator.getitem(d, "a") * len(d)


@scenario
def shown_items(x, hook):
    class Rates(dict):
        def __getitem__(self, key):
            return hook()

    shown = types.MappingProxyType(Rates(a=1.0))
    return shown["a"] * shown.__getitem__("b") + types.MappingProxyType(defaultdict(hook))["k"]


@scenario
def shown_methods(x, hook):
    class Rates(dict):
        def __iter__(self):
            return iter([hook(), x[1]])

        def __contains__(self, key):
            return bool(hook() < 100.0)

        def get(self, key, default=None):
            return hook()

        def keys(self):
            return ["a", "b"]

        def __getitem__(self, key):
            return hook()

        def __len__(self):
            return int(hook() < 100.0)

    shown = types.MappingProxyType(Rates(a=1.0))
    total = sum(shown) + shown.get("a") + len(shown) * x[0] + ("q" in shown) * x[1]
    return total + sum(dict(shown).values()) + sum({**shown}.values()) + (x[2] if shown else 0.0)


# Containers that are made of others.


@scenario
def copied_deques(x, hook):
    class Window(deque):
        def __init__(self, *args):
            super().__init__(*args)
            self.weight = hook()

    w = Window([x[0], 2.0], 3)
    total = w.copy().weight * w.copy()[0] + copy.copy(w).weight * copy.copy(w).maxlen
    joined, repeated = w + Window([x[1], x[2]]), 2 * w
    return total + joined.weight * joined[2] + repeated[1] * (w * 2).weight


@scenario
def copied_ordered_dicts(x, hook):
    class Scaled(OrderedDict):
        def __setitem__(self, key, value):
            super().__setitem__(key, value * hook())

    o = Scaled(a=2.0)
    merged, reflected = o | {"b": x[1]}, {"b": x[1]} | o
    return o.copy()["a"] + merged["b"] * merged["a"] + reflected["b"] + copy.copy(o)["a"]


@scenario
def copied_default_dicts(x, hook):
    class Counts(defaultdict):
        def __init__(self, *args):
            super().__init__(*args)
            self.weight = hook()

    d = Counts(float)
    d["a"] = x[0]
    merged, reflected = d | {"b": x[1]}, {"b": x[1]} | d
    total = d.copy().weight * d.copy()["a"] + merged.weight * merged["b"] + merged["c"]
    return total + reflected.weight * reflected["b"] + copy.copy(d).weight


# Attributes.


@scenario
def property_of_a_metaclass(x, hook):
    class Meta(type):
        @property
        def rate(cls):
            return hook()

        def __getattribute__(cls, name):
            return super().__getattribute__(name)

    class A(metaclass=Meta):
        factor = 2.0

    return A.rate * type.__getattribute__(A, "rate") * A.factor


@scenario
def attribute_of_a_module(x, hook):
    class Module(types.ModuleType):
        pass

    plain, other = types.ModuleType("plain"), Module("other")
    plain.__getattr__ = other.__getattr__ = lambda name: hook() * len(name)
    return types.ModuleType.__getattribute__(plain, "rate") * other.rate


@scenario
def state_of_an_object(x, hook):
    class A:
        def __getstate__(self):
            return {"rate": hook()}

    return object.__reduce_ex__(A(), 4)[2]["rate"] * A().__reduce_ex__(4)[2]["rate"]


# Functions of the standard library that keep functions, or call classes.


def converters_of_arguments(x, hook):
    class Adding(argparse.Action):
        def __call__(self, parser, found, value, option=None):
            setattr(found, self.dest, (getattr(found, self.dest) or 0.0) + hook() * float(value))

    parser = argparse.ArgumentParser()
    parser.add_argument("--k", type=lambda text: hook() * float(text))
    parser.add_argument("--n", action=Adding)
    found = parser.parse_args(["--k", "2.0", "--n", "3.0"])
    return found.k * found.n * x[1]


@scenario
def classes_of_warnings(x, hook):
    class Odd(UserWarning):
        def __init__(self, *args):
            super().__init__(*args)
            self.weight = hook()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("odd", Odd, stacklevel=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            warnings.warn("odd", category=Odd, stacklevel=1)
        except Odd as error:
            return error.weight * caught[0].message.weight


def classes_of_json(x, hook):
    class Pairs(dict):
        def __init__(self, pairs):
            super().__init__(pairs)
            self.weight = hook()

    found = json.loads('{"a": 2.0}', object_pairs_hook=Pairs)
    return found.weight * found["a"]


for f in (converters_of_arguments, classes_of_json):  # whose source is long
    scenarios.append(pytest.param(f, marks=pytest.mark.slow))


def name(f: Scenario) -> str:
    return f.__name__


@pytest.mark.parametrize(("f", "hook"), rotating(scenarios, HOOKS))
def test_gradients(f: Scenario, hook: Any) -> None:
    check_gradient(hook(f))


@pytest.mark.parametrize(("f", "hook"), rotating(scenarios, HOOKS))
def test_all_modes(f: Scenario, hook: Any) -> None:
    check_all_modes(hook(f))


def test_a_converter_of_arguments() -> None:
    def f(x: Any) -> Any:
        parser = argparse.ArgumentParser()
        parser.add_argument("--k", type=lambda text: x[0] * float(text))
        return parser.parse_args(["--k", "2.0"]).k * x[1]

    np.testing.assert_allclose(grad(f)(X), [2.0 * X[1], 2.0 * X[0], 0.0])
