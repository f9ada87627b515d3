"""Type keys: the types of a value, of its tangent, of its fdata and of its rdata.

A NumPy dtype is not part of the class, so functions here work on type keys: a class, or an
annotation, such as ``NDArray[np.float64]`` or ``tuple[float, int]``.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mooncake_py.errors import InvalidTangentError
from mooncake_py.tangents.aliases import expanded, is_alias
from mooncake_py.tangents.builtin_specs import ARRAY, NUMBER
from mooncake_py.tangents.containers import IMMUTABLE
from mooncake_py.tangents.kinds import (
    FData,
    FieldsKey,
    MutableTangent,
    NoFData,
    NoRData,
    NoTangent,
    RData,
    Tangent,
    key_name,
)
from mooncake_py.tangents.lookup import spec_of_class

__all__ = ["fdata_type", "rdata_type", "tangent_type", "typeof"]

# Scalar types of which no value is an instance itself.
_ABSTRACT = (np.generic, np.number, np.inexact, np.floating, np.complexfloating)


def typeof(x: Any) -> Any:
    """Return the type key of a value.

    Parameters
    ----------
    x : object

    Returns
    -------
    key
        ``NDArray[dtype]`` for an array; ``tuple[...]`` of the keys of all items; ``list[K]`` and
        ``dict[K, V]`` with the one key that all items have, or `object`; otherwise the class.

    Examples
    --------
    >>> typeof((1.0, 2)), typeof([1.0, 2.0]), typeof({"a": 1.0, "b": None})
    (tuple[float, int], list[float], dict[str, object])
    """
    return _typeof(x, ())


def tangent_type(key: Any, rdata_key: Any = None) -> Any:
    """Return the type key of the tangents of primals with type key `key`.

    Parameters
    ----------
    key : type key or class
        Of the primal; or of fdata, if `rdata_key` is given.
    rdata_key : type key, optional
        Of rdata: ``tangent_type(fdata_type(T), rdata_type(T)) == T``.

    Returns
    -------
    key
        `object` where the key leaves it open: a bare ``np.ndarray``, a union, a type variable.
        For a class, what its annotations promise; a tangent is made from what the fields hold.

    Examples
    --------
    >>> tangent_type(int) is NoTangent
    True
    >>> key = tuple[float, NDArray[np.float64], int]
    >>> tangent_type(key) == tuple[float, NDArray[np.float64], NoTangent]
    True
    """
    return _tangent_type(key, ()) if rdata_key is None else _joined(key, rdata_key)


def fdata_type(tangent_key: Any) -> Any:
    """Return the type key of the fdata of tangents with type key `tangent_key`.

    Examples
    --------
    >>> fdata_type(float) is NoFData
    True
    """
    return _part_type(tangent_key, FData, NoFData, fdata_type)


def rdata_type(tangent_key: Any) -> Any:
    """Return the type key of the rdata of tangents with type key `tangent_key`.

    Examples
    --------
    >>> rdata_type(float)
    <class 'float'>
    """
    return _part_type(tangent_key, RData, NoRData, rdata_type)


def _typeof(x: Any, outer: tuple[int, ...]) -> Any:
    kind = type(x)
    if issubclass(type(x), np.ndarray):
        return NDArray[x.dtype.type]
    if kind is tuple:
        return _tuple_key(_typeof(item, outer) for item in x)
    if kind in (list, dict):
        if id(x) in outer:
            return kind
        outer = (*outer, id(x))
        if kind is list:
            return list[_common(_typeof(item, outer) for item in x)]
        keys = _common(_typeof(key, outer) for key in x)
        return types.GenericAlias(dict, (keys, _common(_typeof(v, outer) for v in x.values())))
    return kind


def _common(keys: Iterable[Any]) -> Any:
    found = set(keys)
    return found.pop() if len(found) == 1 else object


def _tuple_key(keys: Iterable[Any]) -> Any:
    return types.GenericAlias(tuple, tuple(keys))


def _tangent_type(key: Any, outer: tuple[Any, ...]) -> Any:
    if key is None:
        return NoTangent
    if is_alias(key):  # one that refers to itself is open within
        return object if key in outer else _tangent_type(expanded(key), (*outer, key))
    if isinstance(key, FieldsKey):
        return key  # the tangent of a tangent has the same fields
    if isinstance(key, type) and not isinstance(key, types.GenericAlias):
        return _of_class(key, outer)
    origin, args = typing.get_origin(key), typing.get_args(key)
    if origin is np.ndarray:
        return _of_dtype(args[1])
    if origin is tuple:
        if Ellipsis in args:
            return object  # an empty one has NoTangent
        return _collapsed(_tuple_key(_tangent_type(a, outer) for a in args), NoTangent)
    if origin is list:
        return list[_tangent_type(args[0], outer)]
    if origin is dict:
        return types.GenericAlias(dict, (args[0], _tangent_type(args[1], outer)))
    if origin is typing.Annotated:
        return _tangent_type(args[0], outer)
    if origin is typing.Literal or origin is type:
        return NoTangent
    if issubclass(type(origin), type) and spec_of_class(origin).field_types(origin) is not None:
        return _of_class(origin, outer)  # a generic class with its parameters given
    return object


def _of_class(cls: type, outer: tuple[Any, ...]) -> Any:
    if cls is NoTangent:
        return cls
    if cls in (object, Any) or _is_abstract(cls):
        return object
    spec = spec_of_class(cls)
    if not spec.differentiable:
        return NoTangent
    if spec is ARRAY:
        return object
    if spec is NUMBER:
        return object if cls in _ABSTRACT else _number_class(cls)
    container = spec.container
    if container in (list, dict):
        return container
    field_types = None if cls in outer else spec.field_types(cls)
    if field_types is None:
        # The contents of an instance decide, and there may be none.
        return MutableTangent if spec.mutable else object
    fields = {name: _tangent_type(key, (*outer, cls)) for name, key in field_types.items()}
    if container is Tangent:
        return _collapsed(Tangent[fields], NoTangent)
    return MutableTangent[fields]


def _is_abstract(cls: type) -> bool:
    """Return whether values are never of this very class: abstract base classes, protocols."""
    return bool(getattr(cls, "__abstractmethods__", ())) or getattr(cls, "_is_protocol", False)


def _number_class(cls: type) -> type:
    if issubclass(cls, np.inexact):
        return cls
    return float if issubclass(cls, float) else complex


def _of_dtype(dtype_key: Any) -> Any:
    scalar = next(iter(typing.get_args(dtype_key)), None)
    if scalar is Any or not isinstance(scalar, type) or scalar in _ABSTRACT:
        return object
    if issubclass(scalar, (np.object_, np.void)):
        raise InvalidTangentError(
            f"arrays of {scalar.__name__} have no tangent type",
            why="their elements have no dtype to differentiate in",
            fix="use arrays of floats, or lists of objects",
        )
    return NDArray[scalar] if issubclass(scalar, np.inexact) else NoTangent


def _collapsed(key: Any, empty: type) -> Any:
    """Return `empty` for a tuple or fields key of which all parts are `empty`."""
    parts = key.fields.values() if isinstance(key, FieldsKey) else typing.get_args(key)
    return empty if all(part is empty for part in parts) else key


def _part_type(
    key: Any, fields_class: type[FData | RData], empty: type, part: Callable[[Any], Any]
) -> Any:
    by_address = fields_class is FData
    meant = expanded(key)
    if key is object:
        return object
    if key is NoTangent:
        return empty
    if isinstance(key, FieldsKey) and key.origin is Tangent:
        return _collapsed(fields_class[{k: part(v) for k, v in key.fields.items()}], empty)
    if typing.get_origin(meant) is tuple:
        return _collapsed(_tuple_key(part(a) for a in typing.get_args(meant)), empty)
    if _is_addressed(key):
        return key if by_address else empty
    if _is_number_key(meant):
        return empty if by_address else meant
    raise InvalidTangentError(
        f"{key_name(key)} is not the type of a tangent",
        why="fdata_type and rdata_type take the type of a tangent, not of a primal",
        fix=f"use tangent_type({key_name(key)}) first",
    )


def _is_addressed(key: Any) -> bool:
    if isinstance(key, FieldsKey):
        return key.origin is MutableTangent
    origin = typing.get_origin(expanded(key))
    return key in (list, dict, MutableTangent) or origin in (list, dict, np.ndarray)


def _is_number_key(key: Any) -> bool:
    return isinstance(key, type) and issubclass(key, (float, complex, np.inexact))


def _joined(f: Any, r: Any) -> Any:
    """Return the tangent type of which `f` and `r` are the types of fdata and rdata."""
    if object in (f, r):
        return object
    if r is NoRData and (f is NoFData or _is_addressed(f)):
        return NoTangent if f is NoFData else f
    if f is NoFData and _is_number_key(r):
        return r
    pairs: list[tuple[Any, type]] = [(f, NoFData), (r, NoRData)]
    keys = [key for key, empty in pairs if key is not empty]
    if all(isinstance(key, FieldsKey) and key.origin in IMMUTABLE for key in keys):
        left, right = (
            dict.fromkeys(keys[0].fields, empty) if key is empty else key.fields
            for key, empty in pairs
        )
        return Tangent[{k: _joined(left[k], right[k]) for k in left}]
    if all(typing.get_origin(key) is tuple for key in keys):
        n = len(typing.get_args(keys[0]))
        left, right = (
            (empty,) * n if key is empty else typing.get_args(key) for key, empty in pairs
        )
        return _tuple_key(_joined(a, b) for a, b in zip(left, right, strict=True))
    raise InvalidTangentError(
        "fdata and rdata types do not belong together",
        why=f"fdata: {key_name(f)}\nrdata: {key_name(r)}",
        fix="pass fdata_type(T) and rdata_type(T) of one tangent type T",
    )
