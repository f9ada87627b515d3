"""How NumPy sees operands, compared with what NumPy does with them."""

from __future__ import annotations

import array
import collections
import ctypes
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad
from mooncake_py.runtime.numpy_operands import MISSING, Conversion, is_foreign, sight_of


class Number(float):
    pass


class Index(int):
    pass


class Refusing:
    __array_ufunc__ = None


class Taking:
    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> str:
        return "taken"

    def __array_function__(self, *args: Any, **kwargs: Any) -> str:
        return "taken"


class Converting:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([2.0, 3.0], dtype)


class Described:
    kept = np.array([2.0, 3.0])
    __array_interface__ = kept.__array_interface__


class Items:
    def __len__(self) -> int:
        return 2

    def __getitem__(self, i: int) -> float:
        return [2.0, 3.0][i]


class Plain:
    def __mul__(self, other: Any) -> Any:
        return other

    __rmul__ = __mul__


class Field(np.ndarray):
    pass


by_instance = Plain()
by_instance.__array__ = Converting().__array__  # type: ignore[attr-defined]

BUFFERS = [array.array("d", [2.0, 3.0]), (ctypes.c_double * 2)(2.0, 3.0), memoryview(b"ab")]
VALUES = {
    Conversion.ARRAY: [2.0, 2, np.float32(2), np.ones(2), np.ones(2).view(Field), "text", None],
    Conversion.NUMBER: [Number(2.0), Index(2)],
    Conversion.METHOD: [Converting(), by_instance],
    Conversion.INTERFACE: [Described()],
    Conversion.BUFFER: BUFFERS,
    Conversion.SEQUENCE: [[2.0], (2.0,), collections.deque([2.0]), Items()],
    Conversion.OBJECT: [Plain(), Fraction(1, 2), Decimal(2), {1: 2}, {1}, Refusing(), Taking()],
}
CASES = [(how, value) for how, values in VALUES.items() for value in values]


@pytest.mark.parametrize(("how", "value"), CASES, ids=lambda v: type(v).__name__)
def test_conversion_is_that_of_numpy(how: Conversion, value: Any) -> None:
    assert sight_of(value).conversion is how
    made = np.asarray(value)
    assert (made.dtype == object) is (how is Conversion.OBJECT or value is None)
    shared = how in (Conversion.BUFFER, Conversion.INTERFACE)
    assert made.flags.owndata is (not shared and not isinstance(value, Field))


@pytest.mark.parametrize("value", [Refusing(), Taking(), np.ones(1).view(Field)])
def test_who_takes_over(value: Any) -> None:
    sight = sight_of(value)
    assert (sight.functions is not MISSING) is isinstance(value, Taking)
    assert (sight.ufuncs is None) is isinstance(value, Refusing)


def test_foreign_operands_are_found_in_sequences() -> None:
    assert is_foreign([1.0, (2.0, Plain())])
    assert not is_foreign([1.0, (2.0, [np.float16(3)])])
    assert not is_foreign(np.ones(2))


@pytest.mark.parametrize("mode", [*np._CopyMode])  # type: ignore[attr-defined]
def test_how_to_copy_is_no_operand(mode: Any) -> None:
    assert not is_foreign(mode)
    assert not is_foreign([1.0, mode])


@pytest.mark.parametrize("mode", [np._CopyMode.IF_NEEDED, np._CopyMode.ALWAYS])  # type: ignore[attr-defined]
def test_derivatives_of_arrays_that_are_made_as_told(mode: Any) -> None:
    x = np.array([1.0, -2.0, 0.5])
    found = grad(lambda x: np.sum(np.array(x, copy=mode) ** 2))(x)
    np.testing.assert_array_equal(found, 2.0 * x)
