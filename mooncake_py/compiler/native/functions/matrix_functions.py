"""Functions of `scipy.linalg`."""

from __future__ import annotations

from collections.abc import Sequence

from mooncake_py.compiler.native.building.arguments import (
    Given,
    Reader,
    arranged,
    array_of,
    written,
)
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.formulas import Formula
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.joined import made_of, with_axis
from mooncake_py.compiler.native.building.values import Array, Known, Number, Tuple, Unfit, Value
from mooncake_py.compiler.native.functions import linalg
from mooncake_py.compiler.native.functions.truths import gathered
from mooncake_py.compiler.native.regions import systems
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, plus
from mooncake_py.compiler.native.regions.region import FLOAT
from mooncake_py.compiler.regions.ir import Compare, Const, Expr, Select

__all__ = ["MATRICES"]

HARMLESS = ("check_finite", "overwrite_a", "overwrite_b", "overwrite_ab")


def without_options(given: Given) -> dict[str, Value]:
    """Return the arguments by name that say more than how it is computed."""
    return {name: v for name, v in given.items() if name not in HARMLESS}


def flag(b: Builder, value: Value | None, default: bool = False) -> bool:
    """Return an option that is True or False."""
    return default if value is None else bool(written(b, value))


def turned(a: Array) -> Array:
    """Return a matrix with its axes the other way round."""
    return Array(a.shape[::-1], a.kind, lambda at: a.at(at[::-1]), a.base)


def lower_part(b: Builder, a: Array, other: Array | None = None) -> Array:
    """Return the lower triangle of a matrix, above it that of another one, or zeros."""

    def at(index: tuple[Expr, ...]) -> Expr:
        above = Const(0.0) if other is None else other.at(index)
        return Select(Compare(("ge",), (index[0], index[1])), a.at(index), above)

    return b.kept(Array(a.shape, FLOAT, at))


def solve(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``solve(a, b, assume_a=...)``."""
    given = without_options(given)
    first, second, kind = arranged(b, args, given, "a b * assume_a")
    how = "gen" if kind is None else written(b, kind)
    if first is None or second is None or how not in ("gen", "pos", "general", "positive definite"):
        raise Unfit(f"scipy.linalg.solve with assume_a={how!r}: use 'gen' or 'pos'", b.place)
    if how in ("gen", "general"):
        return linalg.solve(b, [first, second], {})
    a = linalg.square(b, first)
    factor = linalg.applied(b, systems.cholesky, a.shape, linalg.in_memory(b, turned(a)))
    return solved_by_factor(b, factor, second)


def inverse(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``inv(a)``."""
    return linalg.inverse(b, args, without_options(given))


def determinant(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``det(a)``."""
    return linalg.determinant(b, args, without_options(given))


def cholesky(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``cholesky(a, lower)``, which reads one triangle of the matrix."""
    value, lower = arranged(b, args, without_options(given), "a lower")
    a = linalg.square(b, value)
    if flag(b, lower):
        return linalg.applied(b, systems.cholesky, a.shape, a)
    found = linalg.applied(b, systems.cholesky, a.shape, linalg.in_memory(b, turned(a)))
    upper = b.kept(turned(found))
    b.layouts.certain(upper)
    return upper


def factor(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``cho_factor(a, lower)``: in the other triangle the matrix stays."""
    value, lower = arranged(b, args, without_options(given), "a lower")
    a = linalg.square(b, value)
    is_lower = flag(b, lower)
    source = a if is_lower else linalg.in_memory(b, turned(a))
    found = linalg.applied(b, systems.cholesky, a.shape, source)
    whole = lower_part(b, found, source)
    return Tuple((whole if is_lower else b.kept(turned(whole)), Known(is_lower)))


def solve_by_cholesky(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``cho_solve((c, lower), b)``."""
    pair, right = arranged(b, args, without_options(given), "c_and_lower b")
    if not isinstance(pair, Tuple) or len(pair.items) != 2 or right is None:
        raise Unfit(f"cho_solve with {said(pair)}: use the result of cho_factor", b.place)
    c = linalg.square(b, pair.items[0])
    source = c if flag(b, pair.items[1]) else turned(c)
    return solved_by_factor(b, lower_part(b, source), right)


def solved_by_factor(b: Builder, low: Array, right: Value) -> Value:
    """Return the solution, given a Cholesky factor."""
    first = solved(b, systems.solve_lower, low, right)
    return solved(b, systems.solve, linalg.in_memory(b, turned(low)), first)


def solve_triangular(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``solve_triangular(a, b, trans, lower)``."""
    names = "a b trans lower"
    value, right, trans, lower = arranged(b, args, without_options(given), names)
    how = 0 if trans is None else written(b, trans)
    if how not in (0, 1, "N", "T") or right is None:
        raise Unfit(f"solve_triangular with trans={how!r}: use 0 or 1", b.place)
    a = linalg.square(b, value)
    is_lower = flag(b, lower)
    low = lower_part(b, a if is_lower else turned(a))
    if is_lower == (how in (0, "N")):
        return solved(b, systems.solve_lower, low, right)
    return solved(b, systems.solve, linalg.in_memory(b, turned(low)), right)


def solved(b: Builder, f: object, a: Array, value: Value) -> Value:
    """Return the solution for a vector or a matrix on the right."""
    right = array_of(b, value)
    if len(right.shape) not in (1, 2) or right.kind != FLOAT:
        raise Unfit(f"{said(right)} on the right: use a vector or a matrix of float64", b.place)
    b.check("eq", right.shape[0], a.shape[0])
    if len(right.shape) == 2:
        return linalg.applied(b, f, right.shape, a, linalg.in_memory(b, right))  # type: ignore[arg-type]
    column = b.kept(Array((*right.shape, ONE), FLOAT, lambda at: right.at(at[:1])))
    found = linalg.applied(b, f, column.shape, a, column)  # type: ignore[arg-type]
    return b.kept(Array(right.shape, FLOAT, lambda at: found.at((*at, ZERO))))


def blocks(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``block_diag(*matrices)``."""
    parts = [made_of(b, Tuple((v,))) if isinstance(v, Number) else array_of(b, v) for v in args]
    parts = [with_axis(a, 0) if len(a.shape) == 1 else a for a in parts]
    if given or not parts or any(len(a.shape) != 2 or a.kind != FLOAT for a in parts):
        raise Unfit(f"block_diag of {said(*args)}: use matrices of float64", b.place)
    parts = [a if a.base else b.kept(a) for a in parts]
    rows: Expr = ZERO
    columns: Expr = ZERO
    for a in parts:
        rows, columns = plus(rows, a.shape[0]), plus(columns, a.shape[1])
    found = b.new((rows, columns), FLOAT, zero=True)
    b.layouts.certain(found)
    i: Expr = ZERO
    j: Expr = ZERO
    for a in parts:
        b.for_all(
            a.shape,
            lambda at, a=a, i=i, j=j: b.stored(found, (plus(i, at[0]), plus(j, at[1])), a.at(at)),
        )
        i, j = plus(i, a.shape[0]), plus(j, a.shape[1])
    return found


def of_finite(read: Reader) -> Reader:
    """Return the reader of a function that raises where an array is not finite, unless told not to.

    The region is left there.
    """

    def checked(b: Builder, args: Sequence[Value], given: Given) -> Value:
        told = given.get("check_finite")
        if told is None or written(b, told):
            for value in (*args, *given.values()):
                for part in value.items if isinstance(value, Tuple) else (value,):
                    if isinstance(part, Array) and part.kind == FLOAT:
                        require_finite(b, part)
        return read(b, args, given)

    return checked


def require_finite(b: Builder, a: Array) -> None:
    """Leave the region where an element is infinite or nan."""
    x = Formula(b, a)
    test = (x - x).compared("eq", 0.0).value
    if isinstance(test, Array):
        b.require(gathered(b, "all", test, test.kind))


MATRICES: dict[str, Reader] = {
    name: of_finite(read)
    for name, read in {
        "solve": solve, "inv": inverse, "det": determinant, "cholesky": cholesky,
        "cho_factor": factor, "cho_solve": solve_by_cholesky, "solve_triangular": solve_triangular,
    }.items()
} | {"block_diag": blocks}  # fmt: skip
