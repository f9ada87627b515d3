"""Subclasses of ndarray: an instance is an array with a class and attributes.

The engine uses the memory of an instance through a plain view.
"""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
from numpy import ndarray

from mooncake_py.remembered import remembered
from mooncake_py.tangents.fields import own_attributes, set_own_attributes

__all__ = [
    "Met", "are_given", "is_instance", "named", "plain", "plain_operands", "plain_parts",
    "set_shape", "undressed", "with_attributes",
]  # fmt: skip


class Met(BaseException):
    """Active data meets an instance of a subclass, in an operation on plain arrays.

    It is for the engine alone, which catches it where the operation was called.
    """


def is_instance(value: Any) -> TypeGuard[ndarray]:
    """Return whether a value is an instance of a subclass; memory maps count as plain arrays."""
    t = type(value)  # isinstance would ask `__getattribute__` of an object for its class
    return issubclass(t, ndarray) and t is not ndarray and t is not np.memmap


def named(value: Any) -> str | None:
    """Return the name of the subclass that a value, or an element of a sequence, belongs to."""
    if type(value) is list or type(value) is tuple:
        kinds = set(map(type, value))  # most long lists are of numbers
        if any(issubclass(kind, (ndarray, list, tuple)) for kind in kinds):
            return next(filter(None, map(named, value)), None)
        return None
    return type(value).__name__ if is_instance(value) else None


FEW = 32


def are_given(values: Any) -> bool:
    """Return whether an instance is among some values, or in a short sequence of those."""
    return any(
        any(map(is_instance, v)) if type(v) in (list, tuple) and len(v) <= FEW else is_instance(v)
        for v in values
    )


def plain(a: ndarray) -> ndarray:
    """Return a plain array over the memory of any array, past methods of its class."""
    return a if type(a) is ndarray else ndarray.view(a, ndarray)


def plain_parts(value: Any, above: frozenset[int] = frozenset()) -> Any:
    """Return a value with plain arrays for instances of subclasses, in sequences and dicts too.

    What contains itself is entered once: `above` are the ids of the containers around the value.
    """
    t = type(value)
    if t is not list and t is not tuple and t is not dict:
        return plain(value) if is_instance(value) and value is not np.ma.masked else value
    if id(value) in above:
        return value
    above = above | {id(value)}
    old = list(value.values()) if t is dict else value
    parts = [plain_parts(part, above) for part in old]
    if all(new is part for new, part in zip(parts, old, strict=True)):
        return value
    return dict(zip(value, parts, strict=True)) if t is dict else t(parts)


def plain_operands(values: Any) -> tuple[Any, ...]:
    """Return plain arrays for the operands of a function that computes with their elements.

    The constant `numpy.ma.masked`, which stands for itself elsewhere, is one of them.
    """
    return tuple([plain(v) if v is np.ma.masked else v for v in plain_parts(tuple(values))])


@remembered
def bare(cls: type) -> type | None:
    """Return a class with the layout of another one that does nothing when it is made a view of.

    None if there is no such class.
    """
    found = type(cls.__name__, (ndarray,), {})
    try:
        np.empty(0).view(found).__class__ = cls
    except TypeError:
        return None
    return found


def undressed(cls: type, a: ndarray) -> Any:
    """Return a view of an array as an instance of a class, without its ``__array_finalize__``.

    None if the class has slots, or is not written in Python.
    """
    layout = bare(cls)
    if layout is None:
        return None
    view: Any = ndarray.view(a, layout)
    view.__class__ = cls
    return view


def with_attributes(a: ndarray, like: ndarray, fields: dict[Any, Any] | None = None) -> ndarray:
    """Return an array as an instance of the class of another one, with its attributes.

    The attributes are those of the other, or `fields`.
    """
    made = undressed(type(like), a)
    if made is None:
        made = ndarray.view(a, type(like))
    set_own_attributes(made, own_attributes(like) if fields is None else fields)
    return made


SETTER = getattr(ndarray, "_set_shape", None)
"""The setter that np.matrix uses from NumPy 2.5 on, where assignments of shapes warn."""


def set_shape(a: ndarray, shape: Any) -> None:
    """Set the shape of an array in place, for which NumPy would run ``__array_finalize__``."""
    kind: Any = type(a)
    layout = bare(kind) if is_instance(a) else None
    if layout is None:
        a.shape = shape
        return
    unbound: Any = a
    unbound.__class__ = layout
    try:
        if SETTER is None:
            a.shape = shape
        else:
            SETTER(a, shape)
    finally:
        unbound.__class__ = kind
