"""Builtin functions of numbers, arrays and tuples."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mooncake_py.compiler.native.building import narrow, operations
from mooncake_py.compiler.native.building.arguments import Given, Reader, array_of
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import (
    NUMPY_TYPES,
    Array,
    Cells,
    Dictionary,
    Known,
    Number,
    Stack,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.functions import complex_functions, extrema, reductions, truths
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT, REAL
from mooncake_py.compiler.regions.ir import Const, Op

__all__ = ["BUILTINS"]

COMPENSATES = sys.version_info >= (3, 12)
"""Whether ``sum`` of Python's floats makes up for rounding."""


def absolute(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``abs(x)``."""
    (x,) = args
    if isinstance(x, Array) and x.kind == INT:
        return operations.elementwise(b, lambda e: Op("abs", (e,), place=b.place), INT, args)
    if isinstance(x, Array):
        found = operations.applied(b, np.absolute, args)
        assert found is not None
        return found
    if not isinstance(x, Number) or x.kind == BOOL:
        raise Unfit(f"`abs` of {said(x)}: use a number or an array", b.place)
    return Number(Op("abs", (x.e,), place=b.place), x.type, x.rank, x.narrow)


def extremum(op: str) -> Reader:
    """Return the reader of ``min`` or ``max`` of numbers: the first of equal ones."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        (only,) = args if len(args) == 1 else (None,)
        only = only.as_cells if isinstance(only, Stack) else only
        if isinstance(only, Array) and len(only.shape) == 1:
            return element_of(b, op, only)
        if isinstance(only, Cells):
            return Number(element_of(b, op, only.as_array).e, type_in(b, only))
        if isinstance(only, Tuple):
            args = only.items
        if len(args) < 2 or not all(isinstance(a, Number) for a in args):
            raise Unfit(f"`min` or `max` of {said(*args)}: use two or more numbers", b.place)
        found, *others = [a for a in args if isinstance(a, Number)]
        for other in others:
            found = first_of(b, op, found, other)
        return found

    return read


def element_of(b: Builder, op: str, a: Array) -> Number:
    """Return the first of the smallest or the largest elements of a vector."""
    a = extrema.in_memory(b, a)
    e = extrema.first_extreme(b, f"arg{op}", a)
    return Number(b.counted(e) if a.kind == INT else b.number(e), NUMPY_TYPES[a.kind])


def total(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``sum(x)``."""
    (x,) = args if len(args) == 1 else (None,)
    x = x.as_cells if isinstance(x, Stack) else x
    if COMPENSATES and isinstance(x, Tuple | Cells):
        items = x.items if isinstance(x, Tuple) else [x]
        b.is_exact = b.is_exact and all(getattr(v, "type", "") != "float" for v in items)
    if isinstance(x, Tuple):
        found: Value = Number(Const(0), "int")
        for item in x.items:
            found = operations.operated(b, "add", found, item)
        return found
    if isinstance(x, Cells) and x.array.kind == INT:
        floats = operations.elementwise(b, lambda e: Op("float", (e,)), FLOAT, [x.as_array])
        about = reductions.added_up(b, floats, None)
        assert isinstance(about, Number)
        operations.require_exact(b, about.e)
        return Number(truths.gathered(b, "sum", x.as_array, INT), type_in(b, x))
    if isinstance(x, Stack) and x.form[0] == "row":
        raise Unfit("`sum` of lists: use np.sum, or a sum of each", b.place)
    a = array_of(b, x)
    if isinstance(x, Stack):
        b.check("lt", Const(0), a.shape[0])  # else it is the int 0
        return reductions.added_up(b, a, [0])
    if len(a.shape) != 1 or a.kind != FLOAT:
        raise Unfit(f"`sum` of {said(a)}: use a vector of float64, or np.sum", b.place)
    b.check("lt", Const(0), a.shape[0])  # else it is the int 0
    found = reductions.added_up(b, a, None, op="total")
    if not isinstance(x, Cells):
        return found
    assert isinstance(found, Number)
    if x.ranks is not None:  # one of NumPy makes the sum one
        b.is_exact = b.is_exact and not COMPENSATES
        rank = element_of(b, "max", Array(x.ranks.shape, INT, x.ranks.at)).e
        return Number(found.e, "float64", rank)
    return Number(found.e, x.type)


def product(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``math.prod(x)``."""
    (x,) = args if len(args) == 1 else (None,)
    if not isinstance(x, Tuple):
        raise Unfit(f"`math.prod` of {said(x)}: use a tuple or a list, or np.prod", b.place)
    found: Value = Number(Const(1), "int")
    for item in x.items:
        found = operations.operated(b, "mul", found, item)
    return found


def type_in(b: Builder, x: Cells) -> str:
    """Return the type of the items of a list."""
    if x.ranks is not None:
        raise Unfit("min or max of floats of Python and of NumPy", b.place)
    return x.type


def sequence(is_list: bool) -> Reader:
    """Return the reader of ``tuple(items)`` or ``list(items)``."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        (x,) = args if len(args) == 1 else (None,)
        if is_list and isinstance(x, Stack):
            return replace(x, count="")
        if is_list and isinstance(x, Cells):
            ranks = None if x.ranks is None else b.kept(x.ranks)
            return Cells(b.kept(x.as_array), x.type, ranks)
        if not isinstance(x, Tuple):
            raise Unfit(f"`tuple` or `list` of {said(*args)}: use a tuple or a list", b.place)
        return Tuple(x.items, is_list)

    return read


def first_of(b: Builder, op: str, x: Number, y: Number) -> Number:
    """Return the smaller or the larger of two numbers, the first if they are equal."""
    if x.kind == INT and y.kind == INT and x.type == y.type:
        return Number(Op(op, (x.e, y.e), place=b.place), x.type)
    if REAL.isdisjoint((x.kind, y.kind)) or BOOL in (x.kind, y.kind):
        raise Unfit("`min` or `max` of ints of Python and of NumPy together, or of bools", b.place)
    x, y = (Number(operations.as_element(b, v), v.type, v.rank, v.narrow) for v in (x, y))
    test = narrow.compared_numbers(b, ("lt" if op == "min" else "gt",), (y, x))
    return narrow.one_of(b, test, y, x)


def power(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``pow(x, y)``."""
    x, y = args if len(args) == 2 else (None, None)
    if not isinstance(x, Number) or not isinstance(y, Number):
        raise Unfit(f"`pow` of {said(*args)}: use two numbers", b.place)
    return operations.operated(b, "pow", x, y)


def quotient_and_rest(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``divmod(x, y)``."""
    x, y = args if len(args) == 2 else (None, None)
    if not isinstance(x, Number) or not isinstance(y, Number):
        raise Unfit(f"`divmod` of {said(*args)}: use two numbers", b.place)
    return Tuple(tuple([operations.operated(b, op, x, y) for op in ("floordiv", "mod")]))


def as_float(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``float(x)``, of a text too, as in ``float("inf")``."""
    (x,) = args
    if isinstance(x, Known) and type(x.value) is str:
        return Number(Const(float(x.value)), "float")
    if not isinstance(x, Number):
        raise Unfit(f"`float` of {said(x)}: use a number", b.place)
    if x.kind == FLOAT:
        return Number(x.e, "float")
    return Number(
        operations.as_float(x.e) if operations.is_written(x.e) else Op("float", (x.e,)), "float"
    )


def as_numpy_float(kind: str) -> Reader:
    """Return the reader of ``np.float64(x)`` or ``np.float32(x)`` of a number."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        x = args[0] if len(args) == 1 else None
        if not isinstance(x, Number) or x.kind == BOOL:
            raise Unfit(f"a float type of NumPy called with {said(*args)}: use one number", b.place)
        return Number(x.e if x.kind == kind else Op(kind, (x.e,)), NUMPY_TYPES[kind])

    return read


def as_complex(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``complex(x, y)`` and ``complex(x)``."""
    if not 1 <= len(args) <= 2:
        raise Unfit(f"`complex` of {len(args)} arguments: use one or two", b.place)
    return complex_functions.new_number(b, *args)


def as_int(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``int(x)``, of a float that is not too large for one."""
    (x,) = args
    if not isinstance(x, Number):
        raise Unfit(f"`int` of {said(x)}: use a number", b.place)
    if x.kind == INT:
        return operations.int_of_python(b, x)
    if x.kind in REAL:
        operations.require_rounded(b, x)
    return Number(Op("int", (x.e,), place=b.place), "int")


def length(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``len(x)``."""
    (x,) = args
    if isinstance(x, Tuple | Dictionary):
        return Number(Const(len(x.items)), "int")
    if isinstance(x, Known) and x.never_changes and type(x.value) in (tuple, str):
        return Number(Const(len(x.value)), "int")
    a = x if isinstance(x, Cells | Stack) else array_of(b, x)
    if not a.shape:
        raise Unfit("`len` of an array without axes, which raises", b.place)
    return Number(a.shape[0], "int")


def by_position(read: Reader) -> Reader:
    """Return a reader of the same function that leaves calls with arguments by name."""

    def read_call(b: Builder, args: Sequence[Value], given: Given) -> Value:
        if given:
            raise Unfit("a builtin function with keyword arguments: pass them by position", b.place)
        return read(b, args, given)

    return read_call


READERS: dict[Any, Reader] = {
    abs: absolute, min: extremum("min"), max: extremum("max"), float: as_float, int: as_int,
    complex: as_complex, pow: power, divmod: quotient_and_rest,
    np.float64: as_numpy_float(FLOAT), np.float32: as_numpy_float(FLOAT32),
    len: length, sum: total, math.prod: product, tuple: sequence(False), list: sequence(True),
}  # fmt: skip

BUILTINS = {f: by_position(read) for f, read in READERS.items()}
