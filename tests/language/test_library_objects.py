"""Other objects of the library: records, text, numbers, operators, against finite differences."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import array
import collections
import decimal
import fractions
import operator
import re
import statistics
import textwrap
import weakref

import numpy as np
import pytest

from mooncake_py import grad
from mooncake_py.errors import DerivativeDropError, MissingRuleError
from tests.support.gradients import Program, Programs
from tests.support.subjects import Box

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


@programs(X)
def ntrep(x):
    NT = collections.namedtuple("NT", "a b")
    n = NT(x[0], x[1])._replace(a=x[2])
    return n.a * n.b + sum(n._asdict().values())


@programs(X)
def arr(x):
    a = array.array("d", [1.0, 2.0])
    return a[0] * x[0] + a[1] * x[1]


@programs(X)
def twr(x):
    return len(textwrap.dedent(f"  {x[0]}")) * 0 + x[0] * len(textwrap.wrap("aaa bb c", 3))


@programs(X)
def zst(x):
    return sum((a * b for a, b in zip(x, x * x, strict=True)))


@programs(X)
def zst_err(x):
    try:
        return sum((a * b for a, b in zip(x, [1, 2], strict=True)))
    except ValueError:
        return x.sum()


@programs(X)
def enum_(x):
    return sum((i * v * v for i, v in enumerate(x, start=2)))


@programs(X)
def generators(x):

    def g():
        t = 0.0
        while True:
            v = yield t
            if v is None:
                return
            t = t + v * v

    it = g()
    next(it)
    for v in x:
        r = it.send(v)
    return r


@programs(X)
def opmul(x):
    return (
        operator.mul(x[0], x[1])
        + operator.matmul(x, x)
        + operator.pow(x[2], 2)
        + operator.iadd(x[0], x[1])
        + operator.concat([x[0]], [x[1]])[1]
    )


@programs(X)
def iadd_arr(x):
    y = x.copy()
    operator.iadd(y, x)
    operator.setitem(y, 0, x[1] ** 2)
    return (y * y).sum()


@programs(X)
def functions_of_in_place_operators(x):
    d = {"a": x[0]}
    operator.ior(d, {"b": x[1] * x[2]})
    mask = np.array([True, False, True])
    operator.iand(mask, np.array([True, True, False]))
    return d["a"] * d["b"] * x[mask][0]


@programs(X)
def attrset(x):
    p = Box(x[0], 1.0)
    p.a = x[1] * x[0]
    return p.a * vars(p)["b"]


@programs(X)
def resub2(x):

    vals = []

    def rep(m):
        vals.append(x[int(m.group())] ** 2)
        return ""

    re.compile("\\d").sub(rep, "a0b2")
    return sum(vals)


@programs(X)
def pv(x):
    return (
        statistics.pvariance(x, x[0])
        + statistics.variance(list(x), xbar=0.5)
        + statistics.pstdev(x, mu=0.1)
        + statistics.stdev(x, x[1])
    )


@programs(X)
def ccat(x):
    return (
        operator.concat([x[0]], [x[1]])[1] * operator.iconcat([x[0]], (x[2],))[1]
        + operator.countOf([1, 1, 2], 1)
        + operator.indexOf([x[0], x[1]], x[1])
    )


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


REFUSED = {
    "fraction": (lambda x: float(fractions.Fraction(x[0])), "as_integer_ratio"),
    "decimal": (lambda x: float(decimal.Decimal(x[0])), "decimal.Decimal"),
    "array.array": (lambda x: array.array("d", [x[0]])[0], "array.array"),
    "array.array set": (lambda x: array.array("d", [1.0]).__setitem__(0, x[0]), "active value"),
    "array.array under an array": (lambda x: writes_under(x), "active data into its buffer"),
    "weakref.proxy": (lambda x: weakref.proxy(Box(x, x)).a[0], "weakref.proxy"),
    "weakref callback": (lambda x: weakref.ref(Box(x, x), lambda r: x.sort()) and x[0], "weakref"),
    "weakref.finalize": (lambda x: weakref.finalize(Box(x, x), x.sort)() or x[0], "weakref"),
}


def writes_under(x):
    numbers = array.array("d", [1.0, 2.0, 3.0])
    np.frombuffer(numbers)[:] = x
    return numbers[0]


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_lose_the_derivative_is_refused(name):
    f, text = REFUSED[name]
    with pytest.raises((DerivativeDropError, MissingRuleError), match=text) as caught:
        grad(f)(X.copy())
    assert caught.value.where is not None
    assert caught.value.where.file == __file__
