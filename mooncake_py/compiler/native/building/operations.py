"""Operators and functions of one element or number at a time, on numbers and arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mooncake_py.compiler.derivatives.declared import OPERATORS, partials_of
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.joined import made_of
from mooncake_py.compiler.native.building.narrow import (
    alike,
    as_float,
    compared_numbers,
    in_float32,
    is_narrow,
    is_written,
    kind_of_all,
    largest,
    rank_of,
)
from mooncake_py.compiler.native.building.values import (
    NUMPY_TYPES,
    RANKS,
    Array,
    Cells,
    Index,
    Number,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.building.worked_out import (
    is_of_numpy,
    require_known,
    require_worked_out,
)
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, linear
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT, REAL
from mooncake_py.compiler.regions.flat import ROUNDING, is_flat_function
from mooncake_py.compiler.regions.ir import Call, Compare, Const, Expr, Name, Op, Select
from mooncake_py.compiler.regions.special import is_special
from mooncake_py.runtime.values import is_of_math

__all__ = [
    "added_to_nothing", "applied", "broadcast_to", "chosen", "compared", "int_of_python",
    "length", "negative", "operated", "require_all_rounded", "require_exact", "require_rounded",
    "shape_of_all",
]  # fmt: skip

Element = Callable[..., Expr]
OF_NUMPY = frozenset({"bool_", "int64", "float32", "float64"})
SMALL = (0, 1, 2, 3, 4)
"""The exponents of powers of ints that become products."""
FLOATING = 2.0**53 - 1.0
"""Ints up to it are floats, and no others become them."""
LEAST = -(2**63)
EXACT = 1.25 * 2.0**62
"""The ints of Python that compiled code computes stay below: they do not wrap around."""
WHOLE = {FLOAT: 2.0**52, FLOAT32: 2.0**23}
"""From here on all floats are ints."""
NEVER_RAISE = frozenset({math.copysign, math.fabs})
STEP = 1 << 16  # added again and again it takes hours from there to the largest int of 64 bits


def broadcast_to(a: Value, shape: Sequence[Expr], b: Builder) -> Callable[[Index], Expr]:
    """Return a function of the elements of a number or an array that is broadcast to a shape."""
    if isinstance(a, Number):
        e = as_element(b, a)
        return lambda index: e
    if not isinstance(a, Array):
        raise Unfit("an operand that is neither a number nor an array", b.place)
    extra = len(shape) - len(a.shape)
    if extra < 0:
        raise Unfit("a value with more axes than its target", b.place)
    single = [n == ONE for n in a.shape]
    for n, m in zip(a.shape, shape[extra:], strict=True):
        if n != ONE:
            b.check("eq", n, m)
    return lambda index: a.at(
        tuple([ZERO if one else i for one, i in zip(single, index[extra:], strict=True)])
    )


def as_element(b: Builder, a: Number) -> Expr:
    """Return a number that is read in each pass over an array: computed once, before."""
    if isinstance(a.e, Op | Call | Select) and a.kind in REAL:
        return b.number(a.e, a.kind)
    return a.e


def shape_of_all(values: Sequence[Value]) -> tuple[Expr, ...]:
    """Return the shape to which values are broadcast."""
    shapes = [v.shape for v in values if isinstance(v, Array)]
    shape: list[Expr] = []
    for axis in range(max(map(len, shapes), default=0)):
        lengths = [s[-1 - axis] for s in shapes if axis < len(s)]
        others = sorted([n for n in lengths if n != ONE], key=lambda n: not isinstance(n, Const))
        shape.append(others[0] if others else ONE)
    return tuple(shape[::-1])


def elementwise(b: Builder, f: Element, kind: str, values: Sequence[Value]) -> Array:
    """Return an array of which each element is computed from one of each operand."""
    shape = shape_of_all(values)
    parts = [broadcast_to(v, shape, b) for v in alike(b, values)]
    return Array(shape, kind, lambda index: f(*[part(index) for part in parts]))


# Operators.


def operated(b: Builder, op: str, x: Value, y: Value) -> Value:
    """Return ``x op y`` for an operator of arithmetic, by its name."""
    if isinstance(x, Array) != isinstance(y, Array):
        x, y = (made_of(b, v) if isinstance(v, Tuple | Cells) else v for v in (x, y))
    if not isinstance(x, Number | Array) or not isinstance(y, Number | Array):
        raise Unfit(f"an arithmetic operator on {said(x, y)}: use numbers and arrays", b.place)
    if isinstance(x, Number) and isinstance(y, Number):
        return on_numbers(b, op, x, y)
    if x.kind == y.kind == BOOL:
        raise Unfit("arithmetic on bools: convert them to int or float first", b.place)
    if op == "pow" and x.kind == BOOL:
        raise Unfit("a power of bools, whose square is an int8: convert them first", b.place)
    kind = kind_of_all(b, (x, y))
    if kind == INT and op == "pow":
        return powers_of_ints(b, x, y)
    if kind == INT and op == "truediv":
        kind = FLOAT
    found = elementwise(b, lambda *parts: Op(op, parts), kind, (x, y))
    if op == "floordiv" and kind in REAL:
        require_all_rounded(b, found)
    return found


def added_to_nothing(b: Builder, x: Value) -> Value:
    """Return the result of adding a value to zeros, as BLAS does: no float is -0.0."""
    if isinstance(x, Number | Array) and x.kind in REAL:
        return operated(b, "add", x, Number(Const(0.0), "float"))
    return x


def on_numbers(b: Builder, op: str, x: Number, y: Number) -> Number:
    """Return the result of an operator on two numbers."""
    is_int = REAL.isdisjoint((x.kind, y.kind))
    kind = FLOAT if op == "truediv" or not is_int else INT
    if x.kind == y.kind == BOOL and {x.type, y.type} != {"bool"}:
        raise Unfit(
            "arithmetic on bools of NumPy: convert them to int or float first", b.place
        )  # not of ints: ``+`` is ``or``
    if op == "pow" and BOOL in (x.kind, y.kind):
        raise Unfit(
            "a power of bools: convert them to int or float first", b.place
        )  # slopes of powers are of numbers
    if op == "pow" and kind == INT:
        return int_power(b, x, y)
    if op == "floordiv" and is_int:
        known = isinstance(y.e, Const) and y.e.value != -1
        if not known and b.ranges.size(x.e) > EXACT:  # over -1 it needs one bit more, which NumPy
            b.require(Compare(("ne",), (x.e, Const(LEAST))))  # leaves out, and Python does not
    if op in ("floordiv", "mod") or (op == "truediv" and (kind == INT or may_be_of_python(x, y))):
        b.require(Compare(("ne",), (y.e, ZERO)))
    if not is_int and is_narrow(x, y):
        return rounded_by(b, op, in_float32(b, op, x, y))
    found, rank = type_of(b, op, x, y)
    e: Expr = Op(op, (x.e, y.e), place=b.place)
    if kind == INT:
        if op in ("add", "sub", "mul"):
            if may_wrap(b, op, x, y):  # of Python it would be longer, of NumPy it warns
                require_exact(b, Op(op, (Op("float", (x.e,)), Op("float", (y.e,)))))
            e = linear(e).expression()
        return Number(e, found, rank)
    if op == "pow" and may_be_of_python(x, y):
        return power(b, x, y, Number(e, found, rank))
    return rounded_by(b, op, Number(e, found, rank))


def may_wrap(b: Builder, op: str, x: Number, y: Number) -> bool:
    """Return True if a sum or a product of ints may be none of 64 bits, as far as is known."""
    sizes = [1 if v.kind == BOOL else b.ranges.size(v.e) for v in (x, y)]
    if op == "mul":
        return sizes[0] * sizes[1] > EXACT
    return sizes[0] + sizes[1] > EXACT and min(sizes) > STEP


def require_exact(b: Builder, size: Expr, limit: float = EXACT) -> None:
    """Leave the region unless a float, which is about an int of Python, is not too large."""
    b.require(Compare(("lt",), (Op("abs", (size,)), Const(limit))))


def rounded_by(b: Builder, op: str, x: Number) -> Number:
    """Return the result of an operator on floats; of ``//`` only one that was rounded."""
    if op == "floordiv":
        require_rounded(b, x)
    return x


def require_rounded(b: Builder, x: Number) -> None:
    """Leave the region unless a float is rounded to an int: of larger ones all digits stay."""
    require_exact(b, x.e, WHOLE[FLOAT32 if x.narrow else x.kind])


def require_all_rounded(b: Builder, x: Number | Array) -> None:
    """Do the same for a number or for all elements of an array, which are counted."""
    if isinstance(x, Number):
        require_rounded(b, x)
        return
    count, limit = b.unbound(FLOAT), Const(WHOLE[x.kind])

    def counted(at: Index) -> Expr:
        return Select(Compare(("lt",), (Op("abs", (x.at(at),)), limit)), ZERO, ONE)

    b.reduce("sum", x.shape, range(len(x.shape)), counted, lambda at: count)
    b.require(Compare(("eq",), (count, ZERO)))


def require_float(b: Builder, x: Number) -> None:
    """Leave the region unless an int is a float, as which it is compared; Python compares ints."""
    if x.kind == INT and b.ranges.size(x.e) > FLOATING:
        b.require(Compare(("le",), (Op("abs", (Op("float", (x.e,)),)), Const(FLOATING))))


def int_of_python(b: Builder, x: Number) -> Number:
    """Return an int as one of Python; that of NumPy may be too large for others to be added."""
    if x.type == "int64" and b.ranges.size(x.e) > EXACT:
        require_exact(b, Op("float", (x.e,)))
    return Number(x.e, "int")


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
    e = b.number(x.e, x.kind)
    b.require(Compare(("lt",), (Op("abs", (e,)), Const(math.inf))))
    return Number(e, x.type, x.rank, x.narrow)


def int_power(b: Builder, x: Number, y: Number) -> Number:
    """Return a power of ints, which is an int unless the exponent is written as a negative one."""
    found, rank = type_of(b, "pow", x, y)
    exponent = y.e.value if isinstance(y.e, Const) else None
    if exponent is not None and exponent < 0 and found == "int":
        base = Number(Op("float", (x.e,)), "float")
        return on_numbers(b, "pow", base, Number(Const(float(exponent)), "float"))
    if exponent in SMALL:
        result = Number(ONE, found, rank)
        for _ in range(int(exponent)):
            result = on_numbers(b, "mul", result, x)
        return Number(result.e, found, rank)
    base, n = b.steady(x.e), b.natural(b.steady(y.e))
    size = Op("pow", (Op("float", (base,)), Op("float", (n,))))
    require_exact(b, size)
    power = b.counted(Op("pow", (base, n), place=b.place))
    if b.ranges.is_natural(base):
        b.ranges.natural.add(power.name)
    return Number(power, found, rank)


def powers_of_ints(b: Builder, x: Number | Array, y: Number | Array) -> Array:
    """Return powers of ints in an array, with an exponent that is written down."""
    exponent = y.e.value if isinstance(y, Number) and isinstance(y.e, Const) else None
    if exponent not in SMALL or not isinstance(x, Array):
        raise Unfit("powers of ints in arrays", b.place)
    count = int(exponent)
    return elementwise(b, lambda e: multiplied(e, count), INT, (x,))


def multiplied(e: Expr, count: int) -> Expr:
    """Return a power of an int as products."""
    found = e if count else ONE
    for _ in range(count - 1):
        found = Op("mul", (found, e))
    return found


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
    elif op == "pow" and not is_natural_constant(y.e):
        is_negative = Compare(("lt",), (y.e, ZERO))
        ranks.append(Select(is_negative, Const(RANKS["float"]), Const(RANKS["int"])))
    return found, largest(ranks)


def is_natural_constant(e: Expr) -> bool:
    """Return whether an expression is a number written down that is not negative."""
    return isinstance(e, Const) and e.value is not None and e.value >= 0


def negative(b: Builder, x: Value) -> Value:
    """Return ``-x``."""
    if isinstance(x, Number):
        if x.type == "bool_":
            raise Unfit("the negative of a bool of NumPy, which raises", b.place)
        if x.kind == INT:
            e = linear(Op("neg", (x.e,))).expression()
        else:
            e = Const(-x.e.value) if is_written(x.e) else Op("neg", (x.e,), place=b.place)  # type: ignore[union-attr, operator]
        return Number(e, "int" if x.type == "bool" else x.type, x.rank, x.narrow)
    if not isinstance(x, Array) or x.kind == BOOL:
        raise Unfit(f"the negative of {said(x)}: use a number or an array of numbers", b.place)
    return elementwise(b, lambda p: Op("neg", (p,)), x.kind, (x,))


def compared(
    b: Builder, ops: Sequence[str], values: Sequence[Value], tested: bool = False
) -> Value:
    """Return a chain of comparisons; of arrays only two are compared.

    It is the first one that is false, or the last: a bool of Python or of NumPy, which makes no
    difference where only its truth is `tested`.
    """
    numbers = [v for v in values if isinstance(v, Number)]
    if len(numbers) == len(values):
        if any(v.kind in REAL for v in numbers):
            for v in numbers:
                require_float(b, v)
        of_numpy = any(v.type in OF_NUMPY for v in numbers)
        if of_numpy and not tested and not all(map(is_of_numpy_pair, numbers, numbers[1:])):
            raise Unfit("a chain of comparisons whose type varies", b.place)
        return Number(compared_numbers(b, ops, numbers), "bool_" if of_numpy else "bool")
    if len(ops) != 1:
        raise Unfit("a chain of comparisons of arrays", b.place)
    return elementwise(b, lambda p, q: Compare((ops[0],), (p, q)), BOOL, values)


def is_of_numpy_pair(x: Number, y: Number) -> bool:
    """Return whether NumPy compares two numbers."""
    return x.type in OF_NUMPY or y.type in OF_NUMPY


def chosen(b: Builder, test: Value, x: Value, y: Value) -> Value:
    """Return ``np.where(test, x, y)``."""
    values = (test, x, y)
    if not all(isinstance(v, Number | Array) for v in values) or test.kind != BOOL:  # type: ignore[union-attr]
        raise Unfit(
            f"np.where of {said(*values)}: use a condition of bools, and numbers or arrays", b.place
        )
    kinds = {v.kind for v in values[1:]}  # type: ignore[union-attr]
    if BOOL in kinds and len(kinds) > 1:
        raise Unfit("np.where of bools and numbers: convert the bools first", b.place)
    kind = kinds.pop() if kinds == {BOOL} else kind_of_all(b, values[1:])
    x, y = alike(b, values[1:])
    pick: Element = Select
    if kind in REAL:
        pick = lambda t, p, q: Select(t, as_float(p), as_float(q))  # noqa: E731
    found = elementwise(b, pick, kind, (test, x, y))
    return found if found.shape else b.kept(found)  # of numbers: an array without axes


# Functions.


def applied(b: Builder, f: Any, values: Sequence[Value]) -> Value | None:
    """Return ``f(*values)`` for a function of `math` or an elementwise one of NumPy, or None."""
    if is_of_math(f):
        return of_math(b, f, values)
    if not (is_of_numpy(f) or is_special(f)) or f.nout != 1 or len(values) != f.nin:
        return None
    values = [made_of(b, v) if isinstance(v, Tuple | Cells) else v for v in values]
    require_known(b, f, values)
    op = OPERATORS.get(f)
    if f in ARITHMETIC and all(isinstance(v, Number) and v.kind == BOOL for v in values):
        raise Unfit(
            f"{f.__name__} of bools: convert them to int or float first", b.place
        )  # not of ints: the sum is ``or``
    if f is np.power:
        b.is_exact = False  # ``x ** p`` takes another way in NumPy
    if f in (np.multiply, np.add, np.subtract, np.divide, np.power):
        return of_numpy(b, operated(b, op or "pow", *values))
    if f is np.negative:
        return of_numpy(b, negative(b, values[0]))
    if f is np.square:
        return of_numpy(b, operated(b, "mul", values[0], values[0]))
    if f in COMPARISONS:
        return of_numpy(b, compared(b, (COMPARISONS[f],), values))
    if f in (np.absolute, np.fabs) and all(v.kind in REAL for v in values):  # type: ignore[union-attr]
        return on_floats(b, lambda p: Op("abs", (p,)), values)
    if is_special(f):
        require_worked_out(b, f, values)
    served = partials_of(f, len(values)) is not None or is_flat_function(f, len(values))
    if not served or f"{'d' * f.nin}->d" not in f.types:
        return None
    is_float = any(isinstance(v, Number | Array) and v.kind in REAL for v in values)
    if not is_float and f"{'l' * f.nin}->l" in f.types:  # maximum, say
        raise Unfit(f"{f.__name__} of ints", b.place)
    if f in ROUNDING and is_float:
        require_all_rounded(b, values[0])  # type: ignore[arg-type]
    return on_floats(b, lambda *parts: Call(f, parts, place=b.place), values)


ARITHMETIC = frozenset({np.multiply, np.add, np.subtract, np.power, np.negative, np.square})


COMPARISONS: dict[Any, str] = {
    np.less: "lt", np.less_equal: "le", np.greater: "gt", np.greater_equal: "ge",
    np.equal: "eq", np.not_equal: "ne",
}  # fmt: skip


def on_floats(b: Builder, f: Element, values: Sequence[Value]) -> Value:
    """Return the result of a function of NumPy for numbers and arrays, all of them as floats."""
    if not all(isinstance(v, Number | Array) and v.kind != BOOL for v in values):
        raise Unfit(
            f"a function of NumPy on {said(*values)}: use numbers and arrays of numbers", b.place
        )

    if all(isinstance(v, Number) for v in values) and any(v.narrow for v in values):  # type: ignore[union-attr]
        raise Unfit(
            "a function of NumPy on a number that may be a float32: convert it to float first",
            b.place,
        )
    given = alike(b, values)
    kind = FLOAT32 if kind_of_all(b, values) == FLOAT32 else FLOAT

    def converted(*parts: Expr) -> Expr:
        return f(
            *[
                as_float(part) if v.kind in REAL or is_written(part) else Op("float", (part,))  # type: ignore[union-attr]
                for part, v in zip(parts, given, strict=True)
            ]
        )

    if all(isinstance(v, Number) for v in values):
        return Number(converted(*[v.e for v in given]), NUMPY_TYPES[kind])  # type: ignore[union-attr]
    return elementwise(b, converted, kind, given)


def length(b: Builder, squares: Value) -> Value:
    """Return a square root whose derivative at zero is zero, as the rules of lengths have it."""
    if isinstance(squares, Array) and not squares.base:
        squares = b.kept(squares)
    elif isinstance(squares, Number) and not isinstance(squares.e, Name):
        squares = Number(b.number(squares.e), squares.type, squares.rank)

    def root(e: Expr) -> Expr:
        return Select(Compare(("eq",), (e, ZERO)), ZERO, Call(np.sqrt, (e,), place=b.place))

    return on_floats(b, root, [squares])


def of_numpy(b: Builder, value: Value) -> Value:
    """Return a number as one of NumPy, as its functions give back, and some take all numbers."""
    if isinstance(value, Number) and value.narrow:
        raise Unfit(
            "a function of NumPy on a number that may be a float32: convert it to float first",
            b.place,
        )
    return Number(value.e, NUMPY_TYPES[value.kind]) if isinstance(value, Number) else value


def of_math(b: Builder, f: Any, values: Sequence[Value]) -> Value | None:
    """Return the value of a function of `math`, which raises where it is not a finite number."""
    if not all(isinstance(v, Number) for v in values):
        return None
    require_known(b, f, values)
    flat = is_flat_function(f, len(values))
    if not flat and partials_of(f, len(values)) is None:
        return None
    args = [v.e if v.kind == FLOAT else Op("float", (v.e,)) for v in values]  # type: ignore[union-attr]
    call = Call(f, tuple(args), place=b.place)
    if flat:
        if f is math.trunc and is_narrow(*values):
            raise Unfit("math.trunc of a float32, which has no __trunc__", b.place)
        (x,) = values
        require_rounded(b, x if x.kind in REAL else Number(args[0], "float"))  # type: ignore[union-attr, arg-type]
    found = Number(call, "int" if flat else "float")
    return found if flat or f in NEVER_RAISE else bounded(b, found)
