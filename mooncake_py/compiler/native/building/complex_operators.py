"""Operators between complex numbers and arrays, and real ones.

    z * w           x * u - y * v,  x * v + y * u
    z / w           with r = v / u:  (x + y * r) / (u + v * r),  (y - x * r) / (u + v * r)
                    if w is nearer to the real axis; else the same with the parts exchanged

A real operand is complex, with 0.0 as its imaginary part: so NumPy takes it, and so does Python
until 3.14.  What comes of that 0.0 is computed: it decides the signs of zeros, by which `np.sqrt`
and `np.log` tell the sides of their cuts apart, and turns infinity into nan.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeGuard

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.complexes import (
    NOTHING,
    Part,
    computed,
    computed_once,
    each,
    is_complex,
    joined,
    of_one_type,
    parts_of,
)
from mooncake_py.compiler.native.building.narrow import as_float
from mooncake_py.compiler.native.building.values import (
    Array,
    ComplexNumber,
    Number,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.regions.linear import ZERO
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT
from mooncake_py.compiler.regions.ir import Compare, Const, Expr, Op, Select

__all__ = ["compared", "negative", "operated"]

Pair = tuple[Part, Part]
"""The real and the imaginary part of something."""

LARGEST = 8  # exponent of a power that becomes products
ONE = Number(Const(1.0), "float")
NO_PART = Const(0.0)
REAL_APART = math.copysign(1.0, (complex(0.0, -0.0) + 0.0).imag) < 0.0
"""Whether Python leaves out what a real operand has no part in: it does from 3.14 on."""
FROM_ONE = math.copysign(1.0, (complex(-0.0, -0.0) ** 1).real) > 0.0
"""Whether Python multiplies one by powers."""


def operated(b: Builder, op: str, x: Value, y: Value) -> Value:
    """Return ``x op y``, where one of them is complex."""
    if op == "pow":
        return power(b, x, y)
    p, q = pairs_of(b, x, y)
    if REAL_APART and not is_of_numpy(p) and not (is_complex(x) and is_complex(y)):
        raise Unfit("a complex number of Python and a real one", b.place)
    if op == "add":
        return joined(b, *[each(b, added, *both) for both in zip(p, q, strict=True)])
    if op == "sub":
        return joined(b, *[each(b, less, *both) for both in zip(p, q, strict=True)])
    if op == "mul":
        return joined(b, *product(b, p, q))
    if op == "truediv":
        return joined(b, *quotient(b, p, q))
    raise Unfit("an operator on complex numbers", b.place)


# Operands.


def pairs_of(b: Builder, x: Value, y: Value) -> tuple[Pair, Pair]:
    """Return the parts of two operands, as floats; of numbers they have the type of the result."""
    p, q = (parts_of(b, v) for v in (x, y))
    p, q = (in_floats(b, p[0]), in_floats(b, p[1])), (in_floats(b, q[0]), in_floats(b, q[1]))
    if isinstance(x, ComplexNumber) and x.re.kind == FLOAT and is_float64(y):
        q = Number(y.e, "float"), q[1]  # which is a float to Python's complex numbers
    numbers = [part for part in (*p, *q) if isinstance(part, Number)]
    if len(numbers) == 4:
        a, c, u, v = of_one_type(b, *numbers)
        return (a, c), (u, v)
    return p, q


def is_float64(x: Value) -> TypeGuard[Number]:
    """Return True for a real number that may be an `np.float64`."""
    return isinstance(x, Number) and x.type == "float64" and not x.narrow


def in_floats(b: Builder, part: Part) -> Part:
    """Return a part, ints as the floats that they become."""
    if part.kind != INT:
        return part
    if isinstance(part, Array):
        return Array(part.shape, FLOAT, lambda index: Op("float", (part.at(index),)))
    try:
        e = as_float(part.e)
    except OverflowError as error:
        raise Unfit(
            "an int too large for a float in an operation with complex numbers", b.place
        ) from error
    e = e if isinstance(e, Const) else Op("float", (e,))
    return Number(e, "float64" if part.type == "int64" else "float", part.rank)


def is_of_numpy(pair: Pair) -> bool:
    """Return True for parts of an array, or of what is certainly no number of Python."""
    return any(isinstance(p, Array) or not operations.may_be_of_python(p) for p in pair)


# Arithmetic of parts; what is left out changes nothing, neither the sign of a zero.


def written(e: Expr) -> float | None:
    """Return a number that is written down, None for others."""
    return e.value if isinstance(e, Const) else None


def is_zero(value: float | None, sign: float) -> bool:
    """Return True for a zero with a sign."""
    return value == 0.0 and value is not None and math.copysign(1.0, value) == sign


def times(x: Expr, y: Expr) -> Expr:
    """Return a product."""
    a, b = written(x), written(y)
    if a == 1.0:
        return y
    if b == 1.0:
        return x
    if a is not None and b is not None and (a == 0.0 or b == 0.0):
        return Const(float(a) * float(b))
    return Op("mul", (x, y))


def added(x: Expr, y: Expr) -> Expr:
    """Return a sum."""
    a, b = written(x), written(y)
    if a is not None and b is not None and (a == 0.0 or b == 0.0):
        return Const(float(a) + float(b))
    if is_zero(a, -1.0):
        return y
    return x if is_zero(b, -1.0) else Op("add", (x, y))


def less(x: Expr, y: Expr) -> Expr:
    """Return a difference."""
    a, b = written(x), written(y)
    if a is not None and b is not None and (a == 0.0 or b == 0.0):
        return Const(float(a) - float(b))
    return x if is_zero(b, 1.0) else Op("sub", (x, y))


def product(b: Builder, x: Pair, y: Pair) -> Pair:
    """Return the parts of a product."""
    (a, c), (u, v) = ((computed(b, re), computed(b, im)) for re, im in (x, y))

    def re(a: Expr, c: Expr, u: Expr, v: Expr) -> Expr:
        return less(times(a, u), times(c, v))

    def im(a: Expr, c: Expr, u: Expr, v: Expr) -> Expr:
        return added(times(a, v), times(c, u))

    return each(b, re, a, c, u, v), each(b, im, a, c, u, v)


def quotient(b: Builder, x: Pair, y: Pair, *, checked: bool = True) -> Pair:
    """Return the parts of a quotient by Smith's method.

    Python divides by the divisor, NumPy multiplies by its inverse.

    Parameters
    ----------
    checked : bool
        Whether NumPy looks if the divisor is zero, and divides by that then.
    """
    (a, c), (u, v) = ((computed(b, re), computed(b, im)) for re, im in (x, y))
    if FLOAT in {a.kind, c.kind} and FLOAT32 in {u.kind, v.kind}:
        raise Unfit("a complex number divided by one of less precision", b.place)
    by_inverse = is_of_numpy((a, u))
    if isinstance(u, Number) and isinstance(v, Number) and not by_inverse:
        b.require(Op("or", tuple([Compare(("ne",), (w.e, ZERO)) for w in (u, v)])))
    checked = checked and by_inverse

    def larger(u: Expr, v: Expr) -> Expr:
        return Compare(("ge",), (Op("abs", (u,)), Op("abs", (v,))))

    def is_nothing(u: Expr, v: Expr) -> Expr:
        return Op("and", tuple([Compare(("eq",), (w, ZERO)) for w in (u, v)]))

    def ratio(u: Expr, v: Expr) -> Expr:
        test = larger(u, v)
        found = Op("truediv", (Select(test, v, u), Select(test, u, v)), place=b.place)
        return Select(is_nothing(u, v), NO_PART, found) if checked else found

    def divisor(u: Expr, v: Expr, r: Expr) -> Expr:
        test = larger(u, v)
        found: Expr = added(Select(test, u, v), Op("mul", (Select(test, v, u), r)))
        if checked:
            found = Select(is_nothing(u, v), Op("abs", (u,)), found)
        return Op("truediv", (ONE.e, found), place=b.place) if by_inverse else found

    def divided(e: Expr, d: Expr) -> Expr:
        return Op("mul", (e, d)) if by_inverse else Op("truediv", (e, d), place=b.place)

    def unless_nothing(e: Expr, part: Expr, u: Expr, v: Expr) -> Expr:
        return Select(is_nothing(u, v), part, e) if checked else e

    def re(a: Expr, c: Expr, u: Expr, v: Expr, r: Expr, d: Expr) -> Expr:
        test = larger(u, v)
        total = Op("add", (Select(test, a, c), Op("mul", (Select(test, c, a), r))))
        return divided(unless_nothing(total, a, u, v), d)

    def im(a: Expr, c: Expr, u: Expr, v: Expr, r: Expr, d: Expr) -> Expr:
        nearer = Op("sub", (c, Op("mul", (a, r))))
        farther = Op("sub", (Op("mul", (c, r)), a))
        total = Select(larger(u, v), nearer, farther)
        return divided(unless_nothing(total, c, u, v), d)

    r = computed_once(b, each(b, ratio, u, v))
    d = computed_once(b, each(b, divisor, u, v, r))
    return each(b, re, a, c, u, v, r, d), each(b, im, a, c, u, v, r, d)


def power(b: Builder, x: Value, y: Value) -> Value:
    """Return a power with an exponent that is a small int."""
    n = y.e.value if isinstance(y, Number) and isinstance(y.e, Const) else None
    if type(n) is not int or not 0 < abs(n) <= LARGEST:
        raise Unfit("a power of complex numbers", b.place)
    re, im = parts_of(b, x)
    base = computed(b, re), computed(b, im)
    if is_of_numpy(base):
        return joined(b, *power_of_numpy(b, base, n))
    if any(isinstance(part, Number) and part.rank is not None for part in base):
        raise Unfit("a power of a complex number of Python or of NumPy", b.place)
    found = powers(b, base, abs(n), from_one=FROM_ONE)
    if n < 0:
        found = quotient(b, (ONE, NOTHING), found)
    parts = [operations.bounded(b, part) for part in found if isinstance(part, Number)]
    return joined(b, *parts)


def power_of_numpy(b: Builder, base: Pair, n: int) -> Pair:
    """Return the parts of a power as NumPy computes it."""
    is_array = isinstance(base[0], Array)
    if n == -1 and is_array:
        return inverse(b, base)
    if n < 0:
        return quotient(b, (ONE, NOTHING), powers(b, base, -n, from_one=True), checked=False)
    found = powers(b, base, n, from_one=n > 3)
    if n > 3 or (n == 2 and is_array):
        return found

    def positive(e: Expr, u: Expr, v: Expr) -> Expr:  # of zero it is zero without signs
        test = Op("and", tuple([Compare(("eq",), (w, ZERO)) for w in (u, v)]))
        return Select(test, Op("add", (e, NO_PART)), e)

    re, im = (each(b, positive, part, *base) for part in found)
    return re, im


def powers(b: Builder, base: Pair, n: int, *, from_one: bool) -> Pair:
    """Return the parts of a power as products of squares."""
    found: Pair | None = (ONE, NOTHING) if from_one else None
    while n:
        if n & 1:
            found = base if found is None else product(b, found, base)
        n >>= 1
        if n:
            base = product(b, base, base)
    assert found is not None
    return found


def inverse(b: Builder, x: Pair) -> Pair:
    """Return the parts of the inverse of an array."""

    def is_flat(u: Expr, v: Expr) -> Expr:
        return Compare(("le",), (Op("abs", (v,)), Op("abs", (u,))))

    def ratio(u: Expr, v: Expr) -> Expr:
        test = is_flat(u, v)
        return Op("truediv", (Select(test, v, u), Select(test, u, v)), place=b.place)

    def divisor(u: Expr, v: Expr, r: Expr) -> Expr:
        test = is_flat(u, v)
        return Op("add", (Select(test, u, v), Op("mul", (Select(test, v, u), r))))

    def re(u: Expr, v: Expr, r: Expr, d: Expr) -> Expr:
        return Op("truediv", (Select(is_flat(u, v), ONE.e, r), d), place=b.place)

    def im(u: Expr, v: Expr, r: Expr, d: Expr) -> Expr:
        return Op("truediv", (Op("neg", (Select(is_flat(u, v), r, ONE.e),)), d), place=b.place)

    r = computed_once(b, each(b, ratio, *x))
    d = computed_once(b, each(b, divisor, *x, r))
    return each(b, re, *x, r, d), each(b, im, *x, r, d)


def negative(b: Builder, x: Value) -> Value:
    """Return ``-x``."""
    return joined(b, *[operations.negative(b, part) for part in parts_of(b, x)])


def compared(b: Builder, ops: Sequence[str], values: Sequence[Value]) -> Value:
    """Return ``x == y`` or ``x != y``."""
    if ops not in (["eq"], ["ne"]):
        raise Unfit("a comparison of complex numbers", b.place)
    pairs = zip(*[parts_of(b, v) for v in values], strict=True)
    x, y = (operations.compared(b, ops, pair) for pair in pairs)
    op = "and" if ops == ["eq"] else "or"
    if isinstance(x, Number) and isinstance(y, Number):
        return Number(Op(op, (x.e, y.e)), "bool_" if "bool_" in (x.type, y.type) else "bool")
    return operations.elementwise(b, lambda p, q: Op(op, (p, q)), BOOL, (x, y))
