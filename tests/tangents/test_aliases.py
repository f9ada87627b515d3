"""Type aliases mean what they stand for."""

from __future__ import annotations

import sys
from typing import Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray
from typing_extensions import TypeAliasType

from mooncake_py.tangents import NoTangent, fdata_type, instance_of, rdata_type, tangent_type
from mooncake_py.tangents.aliases import expanded, is_alias
from mooncake_py.tangents.kinds import NoFData

A, B = TypeVar("A"), TypeVar("B")
Vector = TypeAliasType("Vector", NDArray[np.float64])
Time = TypeAliasType("Time", float)
Twice = TypeAliasType("Twice", Vector)
Swapped = TypeAliasType("Swapped", tuple[B, A], type_params=(A, B))


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (Time, float),
        (Vector, NDArray[np.float64]),
        (Twice, NDArray[np.float64]),
        (list[Vector], list[NDArray[np.float64]]),
        (Swapped[float, int], tuple[NoTangent, float]),
        (Swapped[Swapped[float, int], float], tuple[float, tuple[NoTangent, float]]),
    ],
)
def test_tangent_type_of_alias(key: Any, expected: Any) -> None:
    assert tangent_type(key) == expected


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the type statement is new in 3.12")
def test_alias_of_itself_is_open_within() -> None:
    names: dict[str, Any] = {}
    exec("type Nest = tuple[float, list[Nest]]", names)
    assert tangent_type(names["Nest"]) == tuple[float, list[object]]


def test_parts_of_tangents_given_by_alias() -> None:
    assert fdata_type(Vector) == Vector
    assert rdata_type(Time) is float
    assert fdata_type(Time) is NoFData
    assert fdata_type(Swapped[float, float]) is NoFData


def test_instances_of_alias() -> None:
    assert instance_of(np.ones(2), Vector)
    assert not instance_of(np.ones(2, np.float32), Vector)
    assert instance_of((2.0, 1.0), Swapped[float, float])


def test_keys_that_are_no_alias_stay() -> None:
    for key in (float, tuple[float, int], np.ndarray, None):
        assert not is_alias(key)
        assert expanded(key) is key
