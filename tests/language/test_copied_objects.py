"""``copy.copy`` and ``copy.deepcopy`` inside: derivatives pass, methods are derived."""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


class Reduced:
    def __init__(self, a: Any) -> None:
        self.a = a

    def __reduce__(self) -> Any:
        return Reduced, (self.a * 2,)


class WithState:
    def __init__(self, a: Any) -> None:
        self.a = a

    def __getstate__(self) -> Any:
        return {"a": self.a * 2}

    def __setstate__(self, state: Any) -> None:
        self.a = state["a"] * 3


class Slotted:
    __slots__ = ("__hidden", "a")

    def __init__(self, a: Any) -> None:
        self.a = a
        self.__hidden = a * 2

    def hidden(self) -> Any:
        return self.__hidden


class Bag(list[Any]):
    pass


class Table(dict[str, Any]):
    pass


class Pair(NamedTuple):
    a: Any
    b: Any


@dataclasses.dataclass(frozen=True, slots=True)
class Fixed:
    a: Any
    b: Any


class Failure(Exception):
    def __init__(self, a: Any) -> None:
        super().__init__(a)
        self.b = a * 2


@programs(X)
def pickling_methods(x):
    r, s = Reduced(x), WithState(x)
    y = np.sum(copy.copy(r).a * copy.deepcopy(r).a)
    return y + np.sum(copy.copy(s).a * copy.deepcopy(s).a * x)


@programs(X)
def objects_with_slots(x):
    s, p, f = Slotted(x), Pair(x, [x]), Fixed(x, [x])
    t, q, g = copy.deepcopy((s, p, f))
    t.a *= 2
    q.b[0] *= 3
    g.b[0] *= 5
    y = np.sum(t.a * t.hidden() * copy.copy(s).a) + np.sum(q.a * q.b[0] * copy.copy(p).b[0])
    return y + np.sum(g.a * g.b[0] * copy.copy(f).b[0])


@programs(X)
def library_containers(x):
    d = collections.deque([x, x], maxlen=2)
    e = copy.deepcopy(d)
    e[0] *= 3
    lists = collections.defaultdict(list, {"a": [x]})
    more = copy.deepcopy(lists)
    more["a"][0] *= 2
    more["b"].append(x)
    ordered = collections.OrderedDict(a=x, b=x * 2)
    other = copy.copy(ordered)
    other["a"] = x * x
    chain = copy.copy(collections.ChainMap({"a": x}, {"b": x * 2}))
    chain["q"] = x
    y = np.sum(e[0] * copy.copy(d)[1]) + np.sum(more["a"][0] * lists["a"][0] * more["b"][0])
    return y + np.sum(ordered["a"] * other["a"]) + np.sum(chain["q"] * chain["b"])


@programs(X)
def subclasses_of_containers(x):
    bag, table = Bag([x]), Table(a=x)
    bag.z, table.z = x * 2, x * 3
    b, t = copy.deepcopy(bag), copy.copy(table)
    b[0] *= 2
    b.z *= 3
    t["a"] = t["a"] * 2
    return np.sum(b[0] * b.z * bag[0] * bag.z) + np.sum(t["a"] * table["a"] * t.z)


@programs(X)
def cycles_and_sharing(x):
    n = Reduced.__new__(Reduced)
    n.a = 1.0
    s = WithState(x)
    shared = [x, x, s, s]
    c = copy.deepcopy(shared)
    c[0] *= 2
    c[2].a *= 3
    loop = Bag([x])
    loop.append(loop)
    again = copy.deepcopy(loop)
    again[1][0] *= 5
    return np.sum(c[1] * c[3].a * shared[0]) + np.sum(again[0] * loop[0])


@programs(X)
def callables_and_exceptions(x):
    scale = copy.copy(functools.partial(np.multiply, x))
    method = copy.deepcopy(Bag([x]).__len__)
    error = copy.copy(Failure(x))
    return np.sum(scale(x) * method()) + np.sum(error.b * error.args[0])


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
