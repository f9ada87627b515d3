"""Arguments of NumPy functions: options, shapes, types of elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.joined import made_of
from mooncake_py.compiler.native.building.values import (
    COMPLEX,
    Array,
    Cells,
    Known,
    Number,
    Stack,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT
from mooncake_py.compiler.regions.ir import Const, Expr

__all__ = [
    "CODES", "Given", "Reader", "arranged", "array_of", "axes_in", "code_of", "keeps_axes",
    "kind_in", "shape_in", "target_of", "written",
]  # fmt: skip

KINDS = {
    "d": FLOAT, "f": FLOAT32, "l": INT, "?": BOOL, "D": COMPLEX[FLOAT], "F": COMPLEX[FLOAT32],
}  # fmt: skip
CODES = {kind: code for code, kind in KINDS.items()}
"""By the kinds of arrays the codes of their dtypes."""
Given = Mapping[str, Value]
Reader = Callable[[Builder, Sequence[Value], Given], Value]


def written(b: Builder, value: Value) -> Any:
    """Return an int, a float, None, a truth or a tuple of such that is written down."""
    if isinstance(value, Number) and isinstance(value.e, Const):
        return value.e.value
    if isinstance(value, Known) and value.never_changes:
        return value.value
    if isinstance(value, Tuple):
        return tuple([written(b, item) for item in value.items])
    raise Unfit("an option that is not constant", b.place)


def arranged(b: Builder, args: Sequence[Value], given: Given, names: str) -> list[Value | None]:
    """Return arguments in the order of parameters, None for those that are not given.

    Parameters after a ``*`` are given by keyword: NumPy has others before them.  A `dtype` of None
    is none that is given.
    """
    by_position, _, by_keyword = names.partition("*")
    parameters = [*by_position.split(), *by_keyword.split()]
    if len(args) > len(by_position.split()) or not set(given) <= set(parameters[len(args) :]):
        raise Unfit(
            "arguments of a function of NumPy that are not supported in compiled code", b.place
        )
    found = [*args, *(given.get(name) for name in parameters[len(args) :])]
    is_none = [
        name == "dtype" and v == Known(None) for name, v in zip(parameters, found, strict=True)
    ]
    return [None if none else v for none, v in zip(is_none, found, strict=True)]


def array_of(b: Builder, value: Value | None) -> Array:
    """Return an argument that must be an array, or a list of numbers, which NumPy makes one of."""
    if isinstance(value, Cells | Stack):
        return value.as_array
    if isinstance(value, Tuple) and value.items:
        return made_of(b, value)
    if not isinstance(value, Array):
        raise Unfit(f"a function of NumPy on {said(value)}: use an array", b.place)
    return value


def target_of(b: Builder, value: Value | None) -> Array:
    """Return an argument that is written, which must be an array."""
    if not isinstance(value, Array):
        raise Unfit(f"a function of NumPy that writes {said(value)}: use an array", b.place)
    return value


def shape_in(b: Builder, value: Value | None) -> list[Expr]:
    """Return the shape that an argument tells."""
    items = value.items if isinstance(value, Tuple) else (value,)
    shape: list[Expr] = []
    for item in items:
        if not isinstance(item, Number) or item.kind != INT:
            raise Unfit(f"a shape with {said(item)}: use an int or a tuple of ints", b.place)
        shape.append(b.natural(b.steady(item.e)))
    return shape


def kind_in(b: Builder, dtype: Value | None) -> str:
    """Return the kind of the elements that an argument tells."""
    if dtype is None:
        return FLOAT
    found = written(b, dtype)
    kind = KINDS.get(code_of(found))
    if kind is None:
        raise Unfit(f"an array of dtype {found}", b.place)
    return kind


def code_of(dtype: Any) -> str:
    """Return the character of a dtype that is written down; an empty text for fields and others."""
    if type(dtype) is tuple:
        return ""
    try:
        return np.dtype(dtype).char
    except TypeError:
        return ""


def keeps_axes(b: Builder, keepdims: Value | None) -> bool:
    """Return whether reduced axes are kept; NumPy takes only a bool or an int."""
    found = keepdims is not None and written(b, keepdims)
    if type(found) not in (bool, int):
        raise Unfit(f"keepdims of type {type(found).__name__}: use a bool", b.place)
    return bool(found)


def axes_in(
    b: Builder, axis: Value | None, ndim: int, *, may_repeat: bool = False, is_one: bool = False
) -> tuple[int, ...]:
    """Return the axes that an argument tells, all of them for None; a tuple unless there is one.

    NumPy raises for others, and for most lists.
    """
    if isinstance(axis, Tuple) and (is_one or axis.is_list):
        raise Unfit("an axis in a tuple or a list", b.place)
    found = None if axis is None else written(b, axis)
    if found is None:
        return tuple(range(ndim))
    axes = found if isinstance(found, tuple) else (found,)
    if not all(type(k) is int and -ndim <= k < ndim for k in axes):
        raise Unfit("an axis that is not there", b.place)
    if not may_repeat and len({k % ndim for k in axes}) < len(axes):
        raise Unfit("an axis that is given twice", b.place)
    return tuple([k % ndim for k in axes])
