"""Containers of the standard library that are written in Python, against finite differences."""

from __future__ import annotations

import collections
from collections.abc import Mapping, MutableMapping, MutableSequence, MutableSet, Sequence
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


class Lower(MutableMapping[str, Any]):
    """A mapping of which the mixin defines most."""

    def __init__(self) -> None:
        self.held: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        return self.held[key.lower()]

    def __setitem__(self, key: str, value: Any) -> None:
        self.held[key.lower()] = value

    def __delitem__(self, key: str) -> None:
        del self.held[key.lower()]

    def __iter__(self) -> Any:
        return iter(self.held)

    def __len__(self) -> int:
        return len(self.held)


class Doubled(Sequence[Any]):
    def __init__(self, values: Any) -> None:
        self.values = values

    def __getitem__(self, i: Any) -> Any:
        return self.values[i] * 2

    def __len__(self) -> int:
        return len(self.values)


class Rows(MutableSequence[Any]):
    """A sequence that lives in an array: every change is a write in place."""

    def __init__(self, array: Any) -> None:
        self.array, self.n = array, 0

    def __getitem__(self, i: Any) -> Any:
        return self.array[: self.n][i]

    def __setitem__(self, i: Any, value: Any) -> None:
        self.array[: self.n][i] = value

    def __delitem__(self, i: Any) -> None:
        i = range(self.n)[i]
        self.array[i : self.n - 1] = self.array[i + 1 : self.n].copy()
        self.n -= 1

    def __len__(self) -> int:
        return self.n

    def insert(self, i: int, value: Any) -> None:
        self.array[i + 1 : self.n + 1] = self.array[i : self.n].copy()
        self.array[i] = value
        self.n += 1


class Members(MutableSet[Any]):
    def __init__(self, values: Any = ()) -> None:
        self.held = list(values)

    def __contains__(self, value: Any) -> bool:
        return value in self.held

    def __iter__(self) -> Any:
        return iter(self.held)

    def __len__(self) -> int:
        return len(self.held)

    def add(self, value: Any) -> None:
        self.held.append(value)

    def discard(self, value: Any) -> None:
        self.held.remove(value)


@programs(X)
def mutable_mapping(x):
    d = Lower()
    d["A"] = x[0] * 2
    d.update(b=x[1])
    d.update({"C": x[2]})
    y = d.setdefault("d", x[0] * x[1]) + d.setdefault("a", 7.0)
    y = y + sum(d.values()) + d.get("A") + d.get("z", 1.0) * x[2]
    for key, value in d.items():
        y = y + value * len(key)
    y = y + d.pop("B") * x[0] + d.popitem()[1]
    return y * len(d) + ("c" in d) * x[1]


@programs(X)
def sequence(x):
    s = Doubled(x)
    total = sum(s) + sum(reversed(s)) * x[0] + list(s)[1]
    return total + s.index(s[1]) * x[2] + s.count(s[2]) * x[0]


@programs(X, np.zeros(6))
def mutable_sequence(x, workspace):
    rows = Rows(workspace)
    rows.append(x[0])
    rows.extend([x[1], x[2]])
    rows.insert(1, x[0] * x[1])
    rows += [x[2] * 3]
    y = rows.pop() * rows[0]
    rows.reverse()
    del rows[0]
    return y + rows[0] * 2 + sum(rows) * workspace[1]


@programs(X)
def mutable_set(x):
    m = Members([x[0], x[1]])
    m |= Members([x[2]])
    m.remove(x[1])
    return sum(m) + m.pop() * len(m)


@programs(X)
def user_dict(x):
    d = collections.UserDict(a=x[0])
    d["b"] = x[1] * 2
    d.update(c=x[2])
    e = d | {"d": x[0] * x[1]}
    return sum(v for v in e.values()) * d["a"] + d.pop("b") + len(d) * x[2]


@programs(X)
def user_list(x):
    v = collections.UserList([x[0]])
    v.append(x[1])
    v.extend([x[2]])
    v += [x[0] * 2]
    v.insert(0, x[1] * 3)
    return sum(v) * v[0] + v.pop() + sum((v + [x[2]])[1:])


@programs(X)
def chain_map(x):
    d = collections.ChainMap({"a": x[0]}, {"b": x[1]})
    d["c"] = x[2]
    return d["a"] * d["b"] + d["c"] + sum(d.new_child({"a": x[1]}).values())


@programs(collections.UserDict(a=1.5, b=X), collections.UserList([2.0, X * 2]))
def as_arguments(d, v):
    d["a"] = d["a"] * v[0]
    d["c"] = 5
    v.append(7)
    return d["a"] + np.sum(d["b"] * v[1])


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


def test_changes_without_a_derivative_are_undone_too():
    d, v, m = collections.UserDict(n=1), collections.UserList([1]), Lower()
    counts = collections.Counter("a")

    def f(x):
        d.update(n=2, k=3)
        v.append(2)
        m.update(a=1)
        counts.update("abc")
        counts.subtract("b")
        return x * d["n"] * v[-1] * m["a"] * counts["a"]

    assert grad(f)(3.0) == 8.0
    assert (d.data, v.data, m.held) == ({"n": 1}, [1], {})
    assert counts == collections.Counter("a")


def test_writes_of_mixins_are_seen():
    workspace = np.zeros(4)

    def f(x, workspace):
        rows = Rows(workspace)
        rows.extend([1.0, 2.0])
        y = np.sum(x * workspace[:2])
        rows.reverse()
        rows.clear()
        workspace[:] = 0.0
        return y

    np.testing.assert_array_equal(grad(f)(np.ones(2), workspace), [1.0, 2.0])
    np.testing.assert_array_equal(workspace, 0.0)
    assert issubclass(Lower, Mapping)
