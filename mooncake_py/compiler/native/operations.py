"""Operators and functions of one element or number at a time, on numbers and arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mooncake_py.compiler.declared import OPERATORS, partials_of
from mooncake_py.compiler.flat import is_flat_function
from mooncake_py.compiler.ir import Call, Compare, Const, Expr, Op, Select
from mooncake_py.compiler.native.builder import Builder
from mooncake_py.compiler.native.linear import ONE, ZERO, linear
from mooncake_py.compiler.native.region import BOOL, FLOAT, INT
from mooncake_py.compiler.native.values import (
    NUMPY_TYPES,
    RANKS,
    Array,
    Index,
    Number,
    Unfit,
    Value,
)
from mooncake_py.runtime.values import is_of_math

__all__ = ["applied", "broadcast_to", "chosen", "compared", "negative", "operated", "shape_of_all"]

Element = Callable[..., Expr]
OF_NUMPY = frozenset({"bool_", "int64", "float64"})
LARGE = Const(2.0**62)  # products of ints stay below


def broadcast_to(a: Value, shape: Sequence[Expr], b: Builder) -> Callable[[Index], Expr]:
    """Return what gives the elements of a number or an array that is broadcast to a shape."""
    if isinstance(a, Number):
        e = as_element(b, a)
        return lambda index: e
    if not isinstance(a, Array):
        raise Unfit("an operand that is neither a number nor an array", b.place)
    extra = len(shape) - len(a.shape)
    if extra < 0:
        raise Unfit("a value with more axes than what it is written to", b.place)
    single = [n == ONE for n in a.shape]
    for n, m in zip(a.shape, shape[extra:], strict=True):
        if n != ONE:
            b.check("eq", n, m)
    return lambda index: a.at(
        tuple([ZERO if one else i for one, i in zip(single, index[extra:], strict=True)])
    )


def as_element(b: Builder, a: Number) -> Expr:
    """Return a number that is read in each pass over an array: computed once, before."""
    if isinstance(a.e, Op | Call | Select) and a.kind == FLOAT:
        return b.number(a.e)
    return a.e


def shape_of_all(values: Sequence[Value]) -> tuple[Expr, ...]:
    """Return the shape to which values are broadcast."""
    shapes = [v.shape for v in values if isinstance(v, Array)]
    shape: list[Expr] = []
    for axis in range(max(map(len, shapes), default=0)):
        lengths = [s[-1 - axis] for s in shapes if axis < len(s)]
        shape.append(next((n for n in lengths if n != ONE), ONE))
    return tuple(shape[::-1])


def elementwise(b: Builder, f: Element, kind: str, values: Sequence[Value]) -> Array:
    """Return an array of which each element is computed from one of each operand."""
    shape = shape_of_all(values)
    parts = [broadcast_to(v, shape, b) for v in values]
    return Array(shape, kind, lambda index: f(*[part(index) for part in parts]))


# Operators.


def operated(b: Builder, op: str, x: Value, y: Value) -> Value:
    """Return ``x op y`` for an operator of arithmetic, by its name."""
    if not isinstance(x, Number | Array) or not isinstance(y, Number | Array):
        raise Unfit("an operator on what is neither a number nor an array", b.place)
    if isinstance(x, Number) and isinstance(y, Number):
        return on_numbers(b, op, x, y)
    if x.kind == y.kind == BOOL:
        raise Unfit("arithmetic on truths", b.place)
    kind = FLOAT if FLOAT in (x.kind, y.kind) or op == "truediv" else INT
    if kind == INT and op == "pow":
        raise Unfit("powers of ints in arrays", b.place)
    return elementwise(b, lambda p, q: Op(op, (p, q)), kind, (x, y))


def on_numbers(b: Builder, op: str, x: Number, y: Number) -> Number:
    """Return the result of an operator on two numbers."""
    kind = INT if x.kind != FLOAT and y.kind != FLOAT else FLOAT
    if op == "truediv":
        kind = FLOAT
    if op == "pow" and kind == INT:
        return int_power(b, x, y)
    if op in ("truediv", "floordiv", "mod"):
        if kind == INT or may_be_of_python(x, y):
            b.require(Compare(("ne",), (y.e, ZERO)))
        elif op != "truediv":
            raise Unfit(f"{op} of numbers of NumPy", b.place)
    found, rank = type_of(b, op, x, y)
    e: Expr = Op(op, (x.e, y.e), place=b.place)
    if kind == INT:
        if op == "mul" and not (b.is_steady(x.e) and b.is_steady(y.e)):
            product = Op("mul", (Op("float", (x.e,)), Op("float", (y.e,))))
            b.require(Compare(("lt",), (Op("abs", (product,)), LARGE)))
        if op in ("add", "sub", "mul"):
            e = linear(e).expression()
        return Number(e, found, rank)
    if op == "pow" and may_be_of_python(x, y):
        return power(b, x, y, Number(e, found, rank))
    return Number(e, found, rank)


def may_be_of_python(*numbers: Number) -> bool:
    """Return True if a result may be a float of Python, for which errors are raised."""
    return not any(n.type in OF_NUMPY and n.rank is None for n in numbers)


def power(b: Builder, x: Number, y: Number, found: Number) -> Number:
    """Return a power of Python's floats, which must be a real number."""
    whole = isinstance(y.e, Const) and y.e.value is not None and y.e.value % 1 == 0
    if not whole:
        b.require(Compare(("gt",), (x.e, ZERO)))
    elif y.e.value < 0:  # type: ignore[union-attr, operator]
        b.require(Compare(("ne",), (x.e, ZERO)))
    return bounded(b, found)


def bounded(b: Builder, x: Number) -> Number:
    """Return a float that must be finite, as Python raises where it is not."""
    e = b.number(x.e)
    b.require(Compare(("lt",), (Op("abs", (e,)), Const(math.inf))))
    return Number(e, x.type, x.rank)


def int_power(b: Builder, x: Number, y: Number) -> Number:
    """Return a power of ints with an exponent that is written down."""
    exponent = y.e.value if isinstance(y.e, Const) else None
    if exponent not in (0, 1, 2, 3, 4) or "bool" in (x.type, y.type):
        raise Unfit("a power of ints", b.place)
    result = Number(ONE, x.type)
    for _ in range(int(exponent)):
        result = on_numbers(b, "mul", result, x)
    return result


def type_of(b: Builder, op: str, x: Number, y: Number) -> tuple[str, Expr | None]:
    """Return the type of the result of an operator, and what tells it where it varies."""
    types = {x.type, y.type}
    of_numpy = not OF_NUMPY.isdisjoint(types)
    is_float = "float" in types or "float64" in types or op == "truediv"
    found = ("float64" if of_numpy else "float") if is_float else ("int64" if of_numpy else "int")
    if x.rank is None and y.rank is None:
        return found, None
    ranks = [rank_of(b, x), rank_of(b, y)]
    if op == "truediv":
        ranks.append(Const(RANKS["float"]))
    return found, largest(ranks)


def rank_of(b: Builder, x: Number) -> Expr:
    """Return what tells the type of a number."""
    if x.rank is not None:
        return x.rank
    if x.type not in RANKS:
        raise Unfit("an int of NumPy beside a number whose type varies", b.place)
    return Const(RANKS[x.type])


def largest(ranks: Sequence[Expr]) -> Expr:
    """Return the largest of some ints."""
    known = [r.value for r in ranks if isinstance(r, Const) and r.value is not None]
    others = [r for r in dict.fromkeys(ranks) if not isinstance(r, Const)]
    if known and (not others or max(known) == max(RANKS.values())):
        return Const(int(max(known)))
    parts = [*others, *([Const(int(max(known)))] if known and max(known) > 0 else [])]
    return parts[0] if len(parts) == 1 else Op("max", tuple(parts))


def negative(b: Builder, x: Value) -> Value:
    """Return ``-x``."""
    if isinstance(x, Number):
        if x.kind == INT:
            e = linear(Op("neg", (x.e,))).expression()
        else:
            e = Const(-x.e.value) if is_written(x.e) else Op("neg", (x.e,), place=b.place)  # type: ignore[union-attr, operator]
        return Number(e, "int" if x.type == "bool" else x.type, x.rank)
    if not isinstance(x, Array) or x.kind == BOOL:
        raise Unfit("the negative of what is neither a number nor an array", b.place)
    return elementwise(b, lambda p: Op("neg", (p,)), x.kind, (x,))


def is_written(e: Expr) -> bool:
    """Return True for a number that is written down."""
    return isinstance(e, Const) and e.value is not None


def compared(b: Builder, ops: Sequence[str], values: Sequence[Value]) -> Value:
    """Return a chain of comparisons; of arrays only two are compared."""
    if all(isinstance(v, Number) for v in values):
        e = Compare(tuple(ops), tuple([v.e for v in values]), place=b.place)  # type: ignore[union-attr]
        of_numpy = any(v.type in OF_NUMPY for v in values)  # type: ignore[union-attr]
        return Number(e, "bool_" if of_numpy else "bool")
    if len(ops) != 1:
        raise Unfit("a chain of comparisons of arrays", b.place)
    return elementwise(b, lambda p, q: Compare((ops[0],), (p, q)), BOOL, values)


def chosen(b: Builder, test: Value, x: Value, y: Value) -> Value:
    """Return ``np.where(test, x, y)``."""
    values = (test, x, y)
    if not all(isinstance(v, Number | Array) for v in values) or test.kind != BOOL:  # type: ignore[union-attr]
        raise Unfit("np.where of what is neither a number nor an array", b.place)
    kinds = {v.kind for v in values[1:]}  # type: ignore[union-attr]
    if BOOL in kinds and len(kinds) > 1:
        raise Unfit("np.where of truths and numbers", b.place)
    kind = FLOAT if FLOAT in kinds else kinds.pop()
    if not any(isinstance(v, Array) for v in values):
        raise Unfit("np.where of numbers, which is an array without axes", b.place)
    if kind == FLOAT:
        return elementwise(b, lambda t, p, q: Select(t, as_float(p), as_float(q)), FLOAT, values)
    return elementwise(b, lambda t, p, q: Select(t, p, q), kind, values)


def as_float(e: Expr) -> Expr:
    """Return a number that is written down as a float."""
    if isinstance(e, Const) and type(e.value) is int:
        return Const(float(e.value))
    return e


# Functions.


def applied(b: Builder, f: Any, values: Sequence[Value]) -> Value | None:
    """Return ``f(*values)`` for a function of `math` or an elementwise one of NumPy, or None."""
    if is_of_math(f):
        return of_math(b, f, values)
    if type(f) is not np.ufunc or f.nout != 1 or len(values) != f.nin:
        return None
    op = OPERATORS.get(f)
    if f in (np.multiply, np.add, np.subtract, np.divide, np.power):
        return of_numpy(operated(b, op or "pow", *values))
    if f is np.negative:
        return of_numpy(negative(b, values[0]))
    if f is np.square:
        return of_numpy(operated(b, "mul", values[0], values[0]))
    if f in COMPARISONS:
        return of_numpy(compared(b, (COMPARISONS[f],), values))
    if f in (np.absolute, np.fabs) and all(v.kind == FLOAT for v in values):  # type: ignore[union-attr]
        return on_floats(b, lambda p: Op("abs", (p,)), values)
    served = partials_of(f, len(values)) is not None or is_flat_function(f, len(values))
    if not served or f"{'d' * f.nin}->d" not in f.types:
        return None
    return on_floats(b, lambda *parts: Call(f, parts, place=b.place), values)


COMPARISONS: dict[Any, str] = {
    np.less: "lt", np.less_equal: "le", np.greater: "gt", np.greater_equal: "ge",
    np.equal: "eq", np.not_equal: "ne",
}  # fmt: skip


def on_floats(b: Builder, f: Element, values: Sequence[Value]) -> Value:
    """Return what a function of NumPy makes of numbers and arrays, all of them as floats."""
    if not all(isinstance(v, Number | Array) and v.kind != BOOL for v in values):
        raise Unfit("a function of NumPy on what is neither a number nor an array", b.place)

    def converted(*parts: Expr) -> Expr:
        return f(
            *[
                as_float(part) if v.kind == FLOAT or is_written(part) else Op("float", (part,))  # type: ignore[union-attr]
                for part, v in zip(parts, values, strict=True)
            ]
        )

    if all(isinstance(v, Number) for v in values):
        return Number(converted(*[v.e for v in values]), "float64")  # type: ignore[union-attr]
    return elementwise(b, converted, FLOAT, values)


def of_numpy(value: Value) -> Value:
    """Return the result of a function of NumPy, which is a number of NumPy."""
    return Number(value.e, NUMPY_TYPES[value.kind]) if isinstance(value, Number) else value


def of_math(b: Builder, f: Any, values: Sequence[Value]) -> Value | None:
    """Return the value of a function of `math`, which raises where it is not a finite number."""
    if not all(isinstance(v, Number) for v in values):
        return None
    flat = is_flat_function(f, len(values))
    if not flat and partials_of(f, len(values)) is None:
        return None
    args = [
        v.e if v.kind == FLOAT else Op("float", (v.e,))  # type: ignore[union-attr]
        for v in values
    ]
    call = Call(f, tuple(args), place=b.place)
    return Number(call, "int") if flat else bounded(b, Number(call, "float"))
