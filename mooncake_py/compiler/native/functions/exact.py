"""Elementwise functions of NumPy whose results are ints or bools."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.arguments import Given, Reader, arranged, array_of
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.values import (
    NUMPY_TYPES,
    Array,
    ComplexArray,
    Number,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.functions import reductions
from mooncake_py.compiler.native.regions.region import BOOL, INT, REAL
from mooncake_py.compiler.regions.ir import Compare, Const, Expr, Op, Select

__all__ = ["EXACT", "of_ints"]


def applied(f: Callable[..., Expr], kinds: frozenset[str], kind: str) -> Reader:
    """Return the reader of an elementwise function of numbers and arrays of some kinds."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        if given or not all(
            isinstance(a, Number | Array) and not isinstance(a, ComplexArray) and a.kind in kinds
            for a in args
        ):
            raise Unfit("a function of NumPy on numbers of other kinds", b.place)
        numbers = [a for a in args if isinstance(a, Number)]
        if len(numbers) == len(args):
            e = f(*[b.number(a.e, a.kind) if a.kind in REAL else a.e for a in numbers])
            return Number(e, NUMPY_TYPES[kind])
        return operations.elementwise(b, f, kind, args)

    return read


def larger(p: Expr, q: Expr) -> Expr:
    """Return the larger of two ints."""
    return Select(Compare(("ge",), (p, q)), p, q)


def smaller(p: Expr, q: Expr) -> Expr:
    """Return the smaller of two ints."""
    return Select(Compare(("le",), (p, q)), p, q)


def joined(op: str) -> Reader:
    """Return the reader of a function of bools."""
    return applied(lambda *parts: Op(op, parts), frozenset({BOOL}), BOOL)


def compared(op: str, of: Callable[[Expr], Expr], than: Callable[[Expr], Expr]) -> Reader:
    """Return the reader of a test of floats, each compared with something."""
    return applied(lambda e: Compare((op,), (of(e), than(e))), REAL, BOOL)


def size(b: Expr) -> Expr:
    """Return a number without its sign."""
    return Op("abs", (b,))


def infinity(_: Expr) -> Expr:
    """Return infinity."""
    return Const(math.inf)


def shape(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.shape(a)``."""
    (a,) = arranged(b, args, given, "a")
    return Tuple(tuple([Number(n, "int") for n in array_of(b, a).shape]))


def length(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.size(a)``."""
    (a,) = arranged(b, args, given, "a")
    return Number(reductions.size_of(array_of(b, a)), "int")


INTS = frozenset({INT})
OF_INTS: dict[Any, Reader] = {
    np.maximum: applied(larger, INTS, INT), np.minimum: applied(smaller, INTS, INT),
    np.absolute: applied(size, INTS, INT),
}  # fmt: skip
EXACT: dict[Any, Reader] = {
    np.logical_and: joined("and"), np.logical_or: joined("or"), np.logical_not: joined("not"),
    np.isnan: compared("ne", lambda e: e, lambda e: e), np.isfinite: compared("lt", size, infinity),
    np.isinf: compared("eq", size, infinity), np.shape: shape, np.size: length,
}  # fmt: skip


def of_ints(f: Any, args: Sequence[Value]) -> Reader | None:
    """Return the reader of a function that ints have an own result of, None for others."""
    found = OF_INTS.get(f)
    if found is None or not all(isinstance(a, Number | Array) and a.kind == INT for a in args):
        return None
    return found
