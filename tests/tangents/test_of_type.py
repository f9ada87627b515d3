"""Type keys of values, tangents, fdata and rdata."""

from __future__ import annotations

import collections
import dataclasses
import enum
import types
from collections.abc import Callable, Sequence, Sized
from typing import Annotated, Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from mooncake_py.errors import InvalidTangentError
from mooncake_py.tangents import (
    FData,
    MutableTangent,
    NoFData,
    NoRData,
    NoTangent,
    RData,
    Tangent,
    fdata,
    fdata_type,
    instance_of,
    randn_tangent,
    rdata,
    rdata_type,
    tangent_type,
    typeof,
)
from mooncake_py.tangents.kinds import key_name

V = NDArray[np.float64]
T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Foo:
    x: float
    y: object
    z: int


@dataclasses.dataclass
class Node:
    value: float
    children: list[Node]
    parent: Node | None
    count: ClassVar[int] = 0


class Pair(NamedTuple):
    a: float
    b: V


class Plain:
    w: V
    n: int


class Undeclared:
    pass


@dataclasses.dataclass(frozen=True)
class Holder(Generic[T]):
    item: T
    x: float


class Colour(enum.Enum):
    RED = 1


@pytest.mark.parametrize(
    ("value", "key"),
    [
        (1.0, float),
        (1, int),
        (np.float32(1), np.float32),
        (None, type(None)),
        (np.ones(2), V),
        (np.ones((2, 2), np.complex64), NDArray[np.complex64]),
        (np.arange(2), NDArray[np.int64]),
        ((1.0, np.ones(2), 3), tuple[float, V, int]),
        ((), tuple[()]),
        ([1.0, 2.0], list[float]),
        ([1.0, "a"], list[object]),
        ([], list[object]),
        ([[1.0], [2.0]], list[list[float]]),
        ({"a": np.ones(2)}, dict[str, V]),
        (Foo(1.0, 2, 3), Foo),
        (Pair(1.0, np.ones(2)), Pair),
        (Foo, type),
        (collections.OrderedDict(), collections.OrderedDict),
    ],
)
def test_typeof(value, key):
    assert typeof(value) == key


def test_typeof_cyclic_list():
    x: list[Any] = []
    x.append(x)
    assert typeof(x) == list[list]


NODE = MutableTangent[{"value": float, "children": list[MutableTangent], "parent": object}]

TYPES = [
    # primal key, tangent, fdata, rdata
    (int, NoTangent, NoFData, NoRData),
    (None, NoTangent, NoFData, NoRData),
    (str, NoTangent, NoFData, NoRData),
    (Colour, NoTangent, NoFData, NoRData),
    (types.ModuleType, NoTangent, NoFData, NoRData),
    (Literal["a"], NoTangent, NoFData, NoRData),
    (type[int], NoTangent, NoFData, NoRData),
    (float, float, NoFData, float),
    (complex, complex, NoFData, complex),
    (np.float64, np.float64, NoFData, np.float64),
    (np.longdouble, np.longdouble, NoFData, np.longdouble),
    (V, V, V, NoRData),
    (np.ndarray[tuple[int, int], np.dtype[np.float64]], V, V, NoRData),
    (NDArray[np.int64], NoTangent, NoFData, NoRData),
    (NDArray[np.bool_], NoTangent, NoFData, NoRData),
    (tuple[float, V, int], tuple[float, V, NoTangent], tuple[NoFData, V, NoFData],
     tuple[float, NoRData, NoRData]),
    (tuple[int, int], NoTangent, NoFData, NoRData),
    (tuple[()], NoTangent, NoFData, NoRData),
    (tuple[float, float], tuple[float, float], NoFData, tuple[float, float]),
    (tuple[V, V], tuple[V, V], tuple[V, V], NoRData),
    (tuple[int, tuple[V, float]], tuple[NoTangent, tuple[V, float]],
     tuple[NoFData, tuple[V, NoFData]], tuple[NoRData, tuple[NoRData, float]]),
    (list[float], list[float], list[float], NoRData),
    (list[int], list[NoTangent], list[NoTangent], NoRData),
    (dict[str, V], dict[str, V], dict[str, V], NoRData),
    (list, list, list, NoRData),
    (collections.defaultdict, dict, dict, NoRData),
    (Foo, Tangent[{"x": float, "y": object, "z": NoTangent}],
     FData[{"x": NoFData, "y": object, "z": NoFData}],
     RData[{"x": float, "y": object, "z": NoRData}]),
    (Pair, Tangent[{"a": float, "b": V}], FData[{"a": NoFData, "b": V}],
     RData[{"a": float, "b": NoRData}]),
    (Node, NODE, NODE, NoRData),
    (Plain, MutableTangent[{"w": V, "n": NoTangent}], MutableTangent[{"w": V, "n": NoTangent}],
     NoRData),
    (Undeclared, MutableTangent, MutableTangent, NoRData),
    (Holder[float], Tangent[{"item": object, "x": float}], FData[{"item": object, "x": NoFData}],
     RData[{"item": object, "x": float}]),
    (Annotated[float, "metres"], float, NoFData, float),
]  # fmt: skip


@pytest.mark.parametrize(("key", "t", "f", "r"), TYPES, ids=lambda key: key_name(key)[:40])
def test_types_of_parts(key, t, f, r):
    assert tangent_type(key) == t
    assert fdata_type(t) == f
    assert rdata_type(t) == r
    assert tangent_type(f, r) == t


@pytest.mark.parametrize(
    "key",
    [object, Any, np.ndarray, NDArray[Any], NDArray[np.floating], np.floating,
     float | None, tuple[float, ...], T, tuple, types.FunctionType, Sequence, Callable, Sized],
    ids=str,
)  # fmt: skip
def test_open_keys_promise_nothing(key):
    assert tangent_type(key) is object
    assert fdata_type(object) is rdata_type(object) is object


@pytest.mark.parametrize("key", [int, Foo, str, 3])
def test_primal_keys_are_no_tangent_keys(key):
    for part in (fdata_type, rdata_type):
        with pytest.raises(InvalidTangentError, match="not the type of a tangent"):
            part(key)


def test_parts_that_do_not_belong_together():
    with pytest.raises(InvalidTangentError, match="do not belong together"):
        tangent_type(V, float)


def test_arrays_of_objects_have_no_tangent_type():
    with pytest.raises(InvalidTangentError, match="arrays of object_"):
        tangent_type(NDArray[np.object_])


def test_unresolved_annotation_is_open():
    class Local:
        a: Missing  # noqa: F821  # pyright: ignore[reportUndefinedVariable]
        b: float

    assert tangent_type(Local) == MutableTangent[{"a": object, "b": float}]


def test_values_are_of_their_type(value, rng):
    key = tangent_type(typeof(value))
    t = randn_tangent(rng, value)
    assert instance_of(t, key)
    assert instance_of(fdata(t), fdata_type(key))
    assert instance_of(rdata(t), rdata_type(key))
    assert tangent_type(fdata_type(key), rdata_type(key)) == key


@pytest.mark.parametrize(
    ("t", "key"),
    [
        (1.0, NoTangent),
        (1.0, np.float32),
        (np.ones(2, np.float32), V),
        ((1.0,), tuple[float, float]),
        ((1.0, 2), tuple[float, float]),
        ([1.0, 1j], list[float]),
        ({"a": 1j}, dict[str, float]),
        (Tangent(x=1j), Tangent[{"x": float}]),
        (MutableTangent(x=1.0), Tangent[{"x": float}]),
        (NoTangent(), Tangent[{"x": float}]),
    ],
)
def test_not_instances(t, key):
    assert not instance_of(t, key)


def test_key_names():
    assert key_name(tuple[float, V, NoTangent]) == "tuple[float, NDArray[float64], NoTangent]"
    assert key_name(tuple[()]) == "tuple[()]"
    assert repr(MutableTangent[{"w": V}]) == "MutableTangent[{'w': NDArray[float64]}]"
