"""Functions of `numpy.linalg` on whole matrices; where they raise, the region is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mooncake_py.compiler.native.building.arguments import Given, Reader, arranged, array_of
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import Array, Number, Tuple, Unfit, Value
from mooncake_py.compiler.native.regions import systems
from mooncake_py.compiler.native.regions.linear import ONE, ZERO
from mooncake_py.compiler.native.regions.region import FLOAT
from mooncake_py.compiler.regions.ir import Apply, Compare, Const, Expr, Load, Select

__all__ = ["LINEAR_ALGEBRA", "applied", "determinant", "in_memory", "inverse", "solve", "square"]


def square(b: Builder, value: Value | None) -> Array:
    """Return an argument that must be a square matrix of floats, in its own memory."""
    a = array_of(b, value)
    if len(a.shape) != 2 or a.kind != FLOAT:
        raise Unfit(
            f"a function of numpy.linalg on {said(a)}: use a square matrix of float64", b.place
        )
    b.check("eq", a.shape[0], a.shape[1])
    return in_memory(b, a)


def in_memory(b: Builder, a: Array) -> Array:
    """Return an array that is all of its memory."""
    return a if a.whole else b.kept(a)


def applied(b: Builder, f: Callable[..., bool], shape: Sequence[Expr], *operands: Array) -> Array:
    """Return a new array that a function computes from whole arrays."""
    found = b.new(shape, FLOAT)
    b.layouts.certain(found)
    b.add(Apply(f, found.base, tuple([a.base for a in operands]), place=b.place))
    return found


def solve(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.linalg.solve(a, b)``."""
    first, second = arranged(b, args, given, "a b")
    a, right = square(b, first), array_of(b, second)
    if len(right.shape) not in (1, 2) or right.kind != FLOAT:
        raise Unfit(
            f"np.linalg.solve with {said(right)} on the right: use a vector or a matrix of float64",
            b.place,
        )
    b.check("eq", right.shape[0], a.shape[0])
    if len(right.shape) == 2:
        return applied(b, systems.solve, right.shape, a, in_memory(b, right))
    column = b.kept(Array((*right.shape, ONE), FLOAT, lambda at: right.at(at[:1])))
    found = applied(b, systems.solve, column.shape, a, column)
    return b.kept(Array(right.shape, FLOAT, lambda at: found.at((*at, ZERO))))


def inverse(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.linalg.inv(a)``."""
    a = square(b, *arranged(b, args, given, "a"))
    one = Array(
        a.shape,
        FLOAT,
        lambda at: Select(Compare(("eq",), at), Const(1.0), Const(0.0)),
    )
    return applied(b, systems.solve, a.shape, a, b.kept(one))


def cholesky(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.linalg.cholesky(a)``."""
    a = square(b, *arranged(b, args, given, "a"))
    return applied(b, systems.cholesky, a.shape, a)


def determinant(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.linalg.det(a)``."""
    a = square(b, *arranged(b, args, given, "a"))
    found = applied(b, systems.determinant, (ONE,), a)
    return Number(b.number(Load(found.base, (ZERO,))), "float64")


def logarithm_of_determinant(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.linalg.slogdet(a)``, as a tuple."""
    a = square(b, *arranged(b, args, given, "a"))
    found = applied(b, systems.log_determinant, (Const(2),), a)
    parts = [Number(b.number(Load(found.base, (Const(k),))), "float64") for k in range(2)]
    return Tuple(tuple(parts))


LINEAR_ALGEBRA: dict[Any, Reader] = {
    np.linalg.solve: solve, np.linalg.inv: inverse, np.linalg.cholesky: cholesky,
    np.linalg.det: determinant, np.linalg.slogdet: logarithm_of_determinant,
}  # fmt: skip
