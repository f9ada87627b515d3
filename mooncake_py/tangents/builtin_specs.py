"""The specs of Python's and NumPy's own types."""

from __future__ import annotations

import collections
import enum
import functools
import itertools
import types
from typing import Any

import numpy as np

from mooncake_py.errors import InvalidTangentError
from mooncake_py.jitted import is_of_numba
from mooncake_py.modules import DISPATCHER, package_of
from mooncake_py.overriding import override
from mooncake_py.tangents.callables import (
    BuiltinMethodSpec,
    CellSpec,
    FunctionSpec,
    MethodSpec,
    PartialSpec,
    WrapperSpec,
)
from mooncake_py.tangents.contents import elements_of
from mooncake_py.tangents.kinds import (
    FData,
    MutableTangent,
    NoFData,
    NoRData,
    NoTangent,
    RData,
    Tangent,
)
from mooncake_py.tangents.sequences import DictSpec, FieldsSpec, ListSpec, NamedTupleSpec, TupleSpec
from mooncake_py.tangents.spec import ObjectSpec, TangentSpec
from mooncake_py.words import with_article

__all__ = ["ARRAY", "NOTHING", "NUMBER", "builtin_spec", "differentiable_array"]


class NothingSpec(TangentSpec):
    """Values that have no derivative."""

    differentiable = False


class LeafSpec(TangentSpec):
    """Numbers and arrays: what walks over values handles them itself."""


class NumberSpec(LeafSpec):
    """Numbers; of an instance of a subclass, whose operators may do anything, its attributes."""

    @override
    def fields(self, x: Any) -> Any:
        return super().fields(x) or None


class RefusedSpec(TangentSpec):
    """Values that may hide numbers where they cannot be reached."""

    mutable = False

    @override
    def fields(self, x: Any) -> None:
        raise InvalidTangentError(
            f"{with_article(type(x).__qualname__)} cannot have a tangent",
            why="it may hold numbers that cannot be reached or replaced",
            fix="pass a list, dict or array instead, or register a spec with register_tangent",
        )


class SetSpec(RefusedSpec):
    """Sets: harmless unless an element has a derivative."""

    @override
    def fields(self, x: Any) -> None:
        from mooncake_py.tangents.build import zero_tangent

        numbers = (float, complex, np.inexact)  # an active one passes for one of these
        if any(
            isinstance(e, numbers) or zero_tangent(e) is not NoTangent() for e in elements_of(x)
        ):
            super().fields(x)


NOTHING = NothingSpec()
NUMBER = NumberSpec()
ARRAY = LeafSpec()
_REFUSED = RefusedSpec()
_OBJECT = ObjectSpec()
_FROZEN = ObjectSpec(mutable=False)


def _by_class() -> dict[type, TangentSpec]:
    nothing = [
        int, str, bytes, bytearray, type(None), type(...), type(NotImplemented), type, slice, range,
        types.ModuleType, enum.Enum, np.generic, np.dtype, np.ufunc, DISPATCHER,
        staticmethod, classmethod, property, itertools.count, type(iter(range(0))),
        types.GenericAlias, types.UnionType, types.CodeType,
    ]  # fmt: skip
    views = [type({}.keys()), type({}.values()), type({}.items())]
    refused = [memoryview, np.void, types.MappingProxyType, *views]
    return {
        **dict.fromkeys(nothing, NOTHING),
        **dict.fromkeys([float, complex, np.inexact], NUMBER),
        **dict.fromkeys(refused, _REFUSED),
        **dict.fromkeys([set, frozenset], SetSpec()),
        **dict.fromkeys([NoTangent, NoFData, NoRData], NOTHING),
        **dict.fromkeys([Tangent, FData, RData], FieldsSpec(mutable=False)),
        MutableTangent: FieldsSpec(mutable=True),
        np.ndarray: ARRAY,
        tuple: TupleSpec(),
        list: ListSpec(),
        collections.deque: ListSpec(),
        dict: DictSpec(),
        types.FunctionType: FunctionSpec(),
        types.CellType: CellSpec(),
        types.MethodType: MethodSpec(),
        types.BuiltinMethodType: BuiltinMethodSpec(),
        types.MethodWrapperType: BuiltinMethodSpec(),
        functools.partial: PartialSpec(),
        type(functools.lru_cache(len)): WrapperSpec(),
    }


_BY_CLASS = _by_class()
_NAMED_TUPLE = NamedTupleSpec()


def is_of_table(cls: type) -> bool:
    """Return whether a class is one of pandas, whose objects hold constants."""
    return package_of(cls) == "pandas"


def builtin_spec(cls: type) -> TangentSpec:
    """Return the spec of a class for which no one registered one."""
    if issubclass(cls, enum.Enum):
        return NOTHING
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return _NAMED_TUPLE
    if is_of_numba(cls) or is_of_table(cls):  # compiled, with constants only
        return NOTHING
    listed = next((_BY_CLASS[base] for base in cls.__mro__ if base in _BY_CLASS), None)
    if listed is not None:
        return listed
    dataclass = getattr(cls, "__dataclass_params__", None)
    if dataclass is not None:
        return _FROZEN if dataclass.frozen else _OBJECT
    return _by_layout(cls)


def _by_layout(cls: type) -> TangentSpec:
    """Separate objects with attributes from opaque ones written in C."""
    slots = any(base.__dict__.get("__slots__") for base in cls.__mro__)
    if cls.__dictoffset__ or slots:
        return _OBJECT
    hides = hasattr(cls, "__next__") or cls.__module__ == "array" or cls is types.CoroutineType
    return _REFUSED if hides else NOTHING


def differentiable_array(a: np.ndarray) -> bool:
    """Return whether an array has a derivative: floats and complex numbers do.

    Raises
    ------
    InvalidTangentError
        For arrays of objects and structured arrays.
    """
    kind = a.dtype.kind
    if kind == "O":
        raise InvalidTangentError(
            "an array of objects (dtype=object) cannot have a tangent",
            why="its elements may be of any type, so it has no dtype to differentiate in",
            fix="pass a list of the objects, or an array of floats: x.astype(float)",
        )
    if kind == "V":
        raise InvalidTangentError(
            f"a structured array cannot have a tangent: dtype {a.dtype}",
            why="its elements mix fields of different types",
            fix="pass the fields as separate arrays: x['field']",
        )
    return kind in "fc"
