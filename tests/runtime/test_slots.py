"""Which function in C a class has for an operator."""

from __future__ import annotations

import decimal
from typing import Any

import numpy as np
import pytest

from mooncake_py.runtime.operators import BINARY
from mooncake_py.runtime.slots import GENERIC, is_class_in_c, owner_of_sequence, slot_of, type_name


class Reflects(float):
    def __radd__(self, other: Any) -> Any:
        return other


class Bare(int):
    pass


class Items(list[Any]):
    def __rmul__(self, other: Any) -> Any:
        return other


@pytest.mark.parametrize(
    ("cls", "name", "slot"),
    [
        (float, "add", float), (bool, "add", int), (bool, "and_", bool), (float, "and_", None),
        (Bare, "mul", int), (Reflects, "add", GENERIC), (Reflects, "mul", float),
        (np.float64, "add", np.float64), (np.float64, "and_", np.generic), (list, "add", None),
        (np.float64, "matmul", None), (np.ndarray, "matmul", np.ndarray), (str, "mod", str),
        (Items, "add", None), (Items, "mul", GENERIC), (decimal.Decimal, "sub", decimal.Decimal),
        (np.complex128, "mod", None), (np.complex128, "mul", np.complex128),
        (object, "add", None), (np.matrix, "mul", GENERIC), (type, "or_", type),
    ],
)  # fmt: skip
def test_slots(cls: type, name: str, slot: Any) -> None:
    assert slot_of(cls, BINARY[name]) is slot


def test_sequences_are_told_from_numbers() -> None:
    add, mul = BINARY["add"], BINARY["mul"]
    assert owner_of_sequence(Items, add, "__add__") is list
    assert owner_of_sequence(Items, mul, "__mul__", "__rmul__") is None
    assert owner_of_sequence(float, add, "__add__") is None
    assert owner_of_sequence(object, add, "__add__") is None


def test_names_are_those_of_errors() -> None:
    assert type_name(np.float64) == "numpy.float64"
    assert type_name(float) == "float"
    assert type_name(Reflects) == "Reflects"
    assert is_class_in_c(np.ndarray)
    assert not is_class_in_c(np.matrix)
