"""Dicts and sets that a call fills leave it, whatever their keys and elements are."""

from __future__ import annotations

import collections
import ctypes
import enum
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp, value_and_grad, vjp
from tests.support.pairs import rotating


class Phase(enum.Enum):
    GAS = 1
    LIQUID = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Name(str):
    __slots__ = ()


class Number(int):
    pass


KEYS: dict[str, Any] = {
    "Enum": (Phase.GAS, Phase.LIQUID),
    "IntEnum": (Level.LOW, Level.HIGH),
    "str": (Name("a"), Name("b")),
    "int": (Number(3), Number(4)),
    "np.str_": (np.str_("a"), np.str_("b")),
    "in a tuple": ((Phase.GAS, 1), (Phase.LIQUID, 1)),
}


def set_items(x: Any, a: Any, b: Any) -> Any:
    d = {b: 0.0}
    d[a] = x
    d[b] = 2.0 * x
    return d


def with_defaults(x: Any, a: Any, b: Any) -> Any:
    d: Any = collections.defaultdict(float)
    d[a] += x
    d.setdefault(b, 2.0 * x)
    return d


def taken_out(x: Any, a: Any, b: Any) -> Any:
    d = {a: 1.0, b: 2.0}
    del d[a]
    d[a] = x
    return d


def in_a_set(x: Any, a: Any, b: Any) -> Any:
    s = {a}
    s.add(b)
    return [x, s]


def in_a_list(x: Any, a: Any, b: Any) -> Any:
    values = [x]
    values.extend([a, b])
    return values


@pytest.mark.parametrize(
    ("make", "keys"),
    rotating([set_items, with_defaults, taken_out, in_a_set, in_a_list], KEYS.values(), times=2),
)
def test_what_a_call_fills_arrives(make: Any, keys: Any) -> None:
    def second(x: Any) -> Any:
        return x * x, make(x, *keys)

    def raises(x: Any) -> Any:
        raise ValueError([x, 2.0 * x], make(x, *keys))

    expected = make(1.3, *keys)
    for debug in False, True:
        (_, got), slope = value_and_grad(second, has_aux=True, debug=debug)(1.3)
        assert (got, slope) == (expected, 2.6)
        assert type(got) is type(expected)
    assert vjp(lambda x: make(x, *keys), 1.3)[0] == expected
    for run in grad(raises), lambda x: jvp(raises, (x,), (1.0,)):
        with pytest.raises(ValueError, match=r"1\.3") as caught:
            run(1.3)
        assert caught.value.args == ([1.3, 2.6], expected)


def test_values_under_such_keys_leave_inner_derivatives() -> None:
    def f(x: Any) -> Any:
        g, aux = grad(lambda z: (z * z, set_items(z, Phase.GAS, Phase.LIQUID)), has_aux=True)(x)
        return g * aux[Phase.LIQUID]

    assert value_and_grad(f)(1.5) == (9.0, 12.0)
    assert jvp(f, (1.5,), (1.0,)) == (9.0, 12.0)


def test_memory_of_ctypes_that_was_written_through_an_alias() -> None:
    class Point(ctypes.Structure):
        _fields_ = [("x", ctypes.c_double)]

    def f(x: Any) -> Any:
        p = Point(1.0)
        q = ctypes.cast(ctypes.pointer(p), ctypes.POINTER(Point)).contents
        q.x = 2.0
        return x * q.x, q.x

    assert value_and_grad(f, has_aux=True)(3.0) == ((6.0, 2.0), 2.0)
