"""Objects that functions and methods in C convert, hash, or fill: as in the plain call."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict

import numpy as np
import pytest

from mooncake_py import grad, hvp
from mooncake_py.errors import DerivativeDropError
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.7, 1.3])


class Key:
    def __init__(self, v):
        self.v = v

    def number(self):
        return float(self.v)

    def __eq__(self, other):
        return float(self.v) == other.number()

    def __hash__(self):
        return hash(round(self.number(), 3))


class Number:
    def __init__(self, v):
        self.v = v

    def __float__(self):
        return float(self.v)


class Doubling(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value * 2)


class Filled(OrderedDict):
    def __init__(self, *args):
        super().__init__(*args)
        self["z"] = 1.0


@programs(X)
def keys_by_float(x):
    return {Key(x[0]): x[1]}[Key(x[0])] * x[0]


@programs(X)
def set_of_keys_by_float(x):
    return len({Key(x[0]), Key(x[1]), Key(x[0] * 1.0)}) * x[0]


@programs(X)
def fsum_of_objects(x):
    return math.fsum([Number(x[0] * x[1]), 2, Number(x[1]), x[0], Number(1)])


@programs(X)
def fsum_of_generated_objects(x):
    return math.fsum(Number(v * v) for v in x)


@programs(X)
def fsum_of_what_is_no_number(x):
    try:
        math.fsum([x[0], "a"])
    except TypeError as error:
        return x[0] * len(str(error))


@programs(X)
def fromkeys_of_a_class(x):
    return sum(Doubling.fromkeys("ab", x[0]).values()) * x[1]


@programs(X)
def fromkeys_with_init(x):
    made = Filled.fromkeys(["a", "b"], x[0])
    return sum(made.values()) * x[1] * (type(made) is Filled)


@programs(X)
def fromkeys_of_c(x):
    both = OrderedDict.fromkeys("ab", value=x[0]), defaultdict.fromkeys("ab", x[1])
    return sum(both[0].values()) * both[1]["a"]


@programs(X)
def fromkeys_that_is_not_implemented(x):
    try:
        Counter.fromkeys("ab", x[0])
    except NotImplementedError as error:
        return x[0] * len(str(error))


@programs(X)
def static_method_called(x):
    product = staticmethod(lambda a, b: a * b)
    return product(x[0], b=x[1])


@pytest.mark.parametrize("program", programs)
def test_gradient(program: Program) -> None:
    program.check()


def test_second_derivative_of_a_value_found_by_float():
    v = np.array([1.0, 2.0])
    np.testing.assert_allclose(hvp(keys_by_float, (X,), v), v[::-1])


def test_float_elsewhere_is_refused():
    class Sized:
        def __init__(self, v):
            self.v = v

        def __len__(self):
            return int(self.v)

        def __index__(self):
            return int(float(self.v))

    with pytest.raises(DerivativeDropError, match="float"):
        grad(lambda x: [1.0, 2.0][Sized(x[0])] * x[0] + np.arange(3.0)[Sized(x[1])])(X)
