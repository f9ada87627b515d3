"""Objects that stand for an argument of a function: of libraries, and of classes with protocols."""

from __future__ import annotations

import array
import collections
import ctypes
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy import ndarray

from tests.rules.foreign.optional import pd, sparse, xr

__all__ = ["ACTIVE", "MAKERS", "Held", "total"]


class Held:
    """An object that holds an array or a number."""

    def __init__(self, held: Any) -> None:
        self.held = held


def bare(value: Any) -> Any:
    """Return options of a ufunc without the objects that hold arrays, which would run it again."""
    if isinstance(value, dict):
        return {name: bare(part) for name, part in value.items()}
    if isinstance(value, tuple):
        return tuple([bare(part) for part in value])
    if isinstance(value, OwnUfuncs):
        return np.asarray(value)
    return value.held if isinstance(value, Held) else value


class Converted(Held):
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.held, dtype=dtype)


class Shared(Held):
    """It gives its own memory away."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.held, dtype=dtype, copy=copy)


class Doubling(Converted):
    def __array_wrap__(self, a: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return Doubling(a * 2)


class Prior(Converted):
    __array_priority__ = 100.0

    def __mul__(self, other: Any) -> Any:
        return 100 * self.held

    __rmul__ = __radd__ = __add__ = __mul__


class Quantity(Converted):
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        inputs = tuple([i.held * 0.9 if isinstance(i, Quantity) else i for i in inputs])
        return Quantity(getattr(ufunc, method)(*inputs, **bare(kw)))


class Larger(Quantity):
    pass


class Unconverted(Held):
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        inputs = tuple([i.held * 0.9 if isinstance(i, Unconverted) else i for i in inputs])
        return getattr(ufunc, method)(*inputs, **bare(kw))


class TakingFunctions(Converted):
    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        args = [a.held * 0.9 if isinstance(a, TakingFunctions) else a for a in args]
        return func(*args, **kwargs)


class Declining(Converted):
    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
        return NotImplemented

    def __array_function__(self, *args: Any, **kwargs: Any) -> Any:
        return NotImplemented


class Refusing(Converted):
    __array_ufunc__ = None


class Duck(Converted):
    """It has methods of arrays with results of their own."""

    def sum(self, *args: Any, **kwargs: Any) -> Any:
        return 3.0 * np.sum(self.held)

    def clip(self, *args: Any, **kwargs: Any) -> Any:
        return 2.0 * self.held

    mean = prod = max = min = dot = ravel = round = clip


class Multiplied(Held):
    """No array of it is made but one of objects."""

    def __mul__(self, other: Any) -> Any:
        return Multiplied(self.held * other)

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Any:
        return Multiplied(self.held + other)

    __radd__ = __add__


class Described(Held):
    @property
    def __array_interface__(self) -> Any:
        return self.held.__array_interface__


class Items(Held):
    def __len__(self) -> int:
        return len(self.held)

    def __getitem__(self, i: Any) -> Any:
        return self.held[i]


class Delegating(Held):
    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["held"], name)


class Number(float):
    pass


class OwnNumber(float):
    def __mul__(self, other: Any) -> Any:
        return 100.0

    def __float__(self) -> float:
        return 50.0

    __rmul__ = __add__ = __radd__ = __mul__


class Index(int):
    def __index__(self) -> int:
        return 7

    def __mul__(self, other: Any) -> Any:
        return 100

    __rmul__ = __mul__


class Row(list):
    pass


class Record(tuple):
    __slots__ = ()


class Plain(ndarray):
    pass


class Finalized(ndarray):
    tag = 0

    def __array_finalize__(self, template: Any) -> None:
        self.tag = getattr(template, "tag", 0) + 1


class OwnUfuncs(ndarray):
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        inputs = tuple([np.asarray(i) * 0.9 if isinstance(i, OwnUfuncs) else i for i in inputs])
        return getattr(ufunc, method)(*inputs, **bare(kw))


Maker = Callable[[Any], Any]


def real(a: Any, *dims: int) -> ndarray:
    """Return an array of floats with one of these numbers of axes; raise if it is another."""
    a = np.asarray(a)
    if a.dtype.kind != "f" or (dims and a.ndim not in dims) or not a.size:
        raise TypeError
    return np.array(a)


def number(a: Any) -> Any:
    if np.ndim(a) or isinstance(a, (str, bytes, bool, type(None))):
        raise TypeError
    return np.asarray(a).item()


def of(cls: Any) -> Maker:
    return lambda a: cls(real(a))


def ctypes_array(a: Any) -> Any:
    a = real(a, 1)
    return (ctypes.c_double * a.size)(*a)


def integer(a: Any) -> int:
    if type(number(a)) is not int:
        raise TypeError
    return number(a)


def sequence(a: Any) -> list[Any]:
    return real(a, 1, 2).tolist()


# Makers of objects, which raise TypeError for a value for which there is none.
MAKERS: dict[str, Maker] = {
    **{cls.__name__: of(cls) for cls in (
        Converted, Shared, Doubling, Prior, Quantity, Larger, Unconverted, TakingFunctions,
        Declining, Refusing, Duck, Multiplied, Described, Delegating,
    )},
    "Items": lambda a: Items(real(a, 1)),
    "Number": lambda a: Number(number(a)),
    "OwnNumber": lambda a: OwnNumber(number(a)),
    "Index": lambda a: Index(integer(a)),
    "Fraction": lambda a: Fraction(number(a)).limit_denominator(97),
    "Decimal": lambda a: Decimal(number(a)),
    "Row": lambda a: Row(sequence(a)),
    "Record": lambda a: Record(sequence(a)),
    "deque": lambda a: collections.deque(sequence(a)),
    "list": sequence,
    "range": lambda a: range(1, 1 + real(a, 1).size),
    "generator": lambda a: iter(sequence(a)),
    "Plain": lambda a: real(a).view(Plain),
    "Finalized": lambda a: real(a).view(Finalized),
    "OwnUfuncs": lambda a: real(a).view(OwnUfuncs),
    "matrix": lambda a: np.matrix(real(a, 2)),
    "masked": lambda a: np.ma.masked_greater(real(a), np.median(real(a))),
    "array.array": lambda a: array.array("d", real(a, 1)),
    "ctypes": ctypes_array,
    "memoryview": lambda a: memoryview(real(a)),
    "float32": lambda a: np.float32(number(a)),
}  # fmt: skip
if pd is not None:
    MAKERS |= {
        "Series": lambda a: pd.Series(real(a, 1)),
        "Index of pandas": lambda a: pd.Index(real(a, 1)),
        "DataFrame": lambda a: pd.DataFrame(real(a, 2)),
    }
if xr is not None:
    MAKERS["DataArray"] = lambda a: xr.DataArray(real(a))
if sparse is not None:
    MAKERS |= {
        "csr_matrix": lambda a: sparse.csr_matrix(real(a, 2)),
        "csr_array": lambda a: sparse.csr_array(real(a, 2)),
    }

ACTIVE: dict[str, Maker] = {
    cls.__name__: cls
    for cls in (
        Converted, Shared, Doubling, Prior, Quantity, Unconverted, TakingFunctions, Duck,
        Multiplied, Delegating,
    )
}  # fmt: skip
"""Classes whose objects hold the active array itself."""


def of_numbers(a: Any) -> ndarray:
    """Return the elements in an array of objects."""
    return a.astype(object)


def of_rows(a: Any) -> ndarray:
    """Return an array of objects of which each is an array of two elements."""
    y = np.empty(a.shape, object)
    for index in np.ndindex(a.shape):
        y[index] = a[index] * np.array([1.0, 0.7])
    return y


ARRAYS_OF_OBJECTS: dict[str, Maker] = {"numbers": of_numbers, "rows": of_rows}
"""Arrays of objects that hold the elements of the active array, or arrays of these."""


def total(y: Any) -> Any:
    """Return an inner product of all numbers in a result with fixed numbers."""
    if isinstance(y, (list, tuple)):
        result = 0.0
        for k, part in enumerate(y):
            result = result + (1 + 0.1 * k) * total(part)
        return result
    if isinstance(y, Held):
        return total(y.held)
    if sparse is not None and sparse.issparse(y):
        return total(y.toarray())
    if isinstance(y, (str, bytes, type(None), bool)):
        return 0.0
    if isinstance(y, ndarray) and y.dtype.kind == "O":
        return total(y.ravel().tolist())
    if isinstance(y, np.ma.MaskedArray):
        return total(y.filled(0.25))
    if not isinstance(y, (ndarray, float, int, complex, np.generic)):
        y = np.asarray(y)
    a = np.asarray(y)
    if a.dtype.kind not in "fciub":
        return 0.0
    weights = 1.0 + 0.25 * np.cos(np.arange(float(a.size))).reshape(a.shape)
    return np.sum(np.real(a) * weights) + 0.5 * np.sum(np.imag(a) * weights)


def kinds(y: Any, arguments: Any) -> Iterator[str]:
    """Yield properties of a result: classes, shapes, dtypes, and the memory of which arguments."""
    if isinstance(y, (list, tuple)):
        yield type(y).__name__
        for part in y:
            yield from kinds(part, arguments)
    elif isinstance(y, ndarray):
        shared = [k for k, a in enumerate(arguments) if np.shares_memory(y, a)]
        yield f"{type(y).__name__} {y.dtype} {y.shape} of {shared}"
    elif isinstance(y, Held):
        yield type(y).__name__
        yield from kinds(y.held, arguments)
    else:
        yield y.__class__.__name__
