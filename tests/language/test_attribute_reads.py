"""An object whose class has a ``__getattribute__`` is asked what Python asks it, no more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad
from mooncake_py.rules.elsewhere import Declaration, _expected
from tests.support.pairs import rotating

X = np.array([1.0, 2.0, 3.0])
READS: list[str] = []


class Watched:
    """An object that keeps the names of all attributes that are read."""

    kind = 2.0

    def __init__(self, v: Any) -> None:
        self.v = v

    def __getattribute__(self, name: str) -> Any:
        READS.append(name)
        return object.__getattribute__(self, name)

    def __hash__(self) -> int:
        return 1

    @property
    def doubled(self) -> Any:
        return self.v * 2

    def times(self, x: Any) -> Any:
        return self.v * x

    def __call__(self, x: Any) -> Any:
        return self.v * x

    def __add__(self, other: Any) -> Any:
        return self.v + other

    def __mul__(self, other: Any) -> Any:
        return self.v * other

    def __abs__(self) -> Any:
        return self.v

    def __lt__(self, other: Any) -> bool:
        return True

    def __len__(self) -> int:
        return 3

    def __contains__(self, item: Any) -> bool:
        return True

    def __getitem__(self, i: Any) -> Any:
        return self.v

    def __setitem__(self, i: Any, v: Any) -> None:
        self.v = v

    def __iadd__(self, other: Any) -> Any:
        self.v = self.v + other
        return self

    def __str__(self) -> str:
        return "watched"

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: Any) -> None:
        pass


def changes(o, x):
    o.v = x[0]
    o.v += x[1]
    o[0] = o.v * x[2]
    o += x[0]
    del o.v
    o.v = x[1]
    return o.v


def enters(o, x):
    with o as entered:
        return entered.v * x[0]


def past_its_own(o, x):
    object.__setattr__(o, "v", x[0])
    return object.__getattribute__(o, "v")


def matches(o, x):
    match o:
        case Watched(v=found):
            return found * x[0]


def in_a_loop(o, x):
    total = 0.0
    for k in range(3):
        total += o.v * x[k]
    return total


PROGRAMS: list[Callable[[Any, Any], Any]] = [
    lambda o, x: o.v * x[0],
    lambda o, x: o.kind * o.doubled * x[0],
    lambda o, x: o.times(x[0]) + Watched.times(o, x[1]),
    lambda o, x: o(x[0]) + (o + x[1]) + abs(o),
    lambda o, x: np.sum(o * x),
    lambda o, x: len(o) * x[0] if o < 1 and 2 in o else 0.0,
    lambda o, x: o[0] * x[0] + len(f"{o}") * x[1] + len(str(o)),
    lambda o, x: {o: x[0]}[o] + sorted([x[1], x[2]], key=lambda v: len([o]))[0],
    lambda o, x: isinstance(o, (int, Watched)) * x[0] + hasattr(o, "none") + getattr(o, "v"),  # noqa: B009
    changes, enters, past_its_own, matches, in_a_loop,
]  # fmt: skip


@pytest.mark.plain  # debug mode asks objects for their class, to copy them
@pytest.mark.parametrize(("mode", "k"), rotating(["reverse", "forward"], range(len(PROGRAMS))))
def test_attributes_are_read_as_often_as_in_a_plain_call(k: int, mode: Any) -> None:
    def program(x: Any) -> Any:
        o = Watched(2.0)
        READS.clear()
        y = PROGRAMS[k](o, x)
        return y, list(READS)

    expected, reads = program(X)
    (value, seen), _ = value_and_grad(program, has_aux=True, mode=mode)(X)
    assert value == expected
    assert seen == reads


@pytest.mark.plain
def test_nor_where_a_rule_of_another_process_is_expected(monkeypatch) -> None:
    key = "function_of_another_process", 1
    monkeypatch.setitem(_expected, key, Declaration(key, None, "there.py:1"))
    test_attributes_are_read_as_often_as_in_a_plain_call(3, "reverse")
