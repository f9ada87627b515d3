"""Functions of NumPy on complex numbers and arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.arguments import Given, Reader
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.complex_operators import compared, negative, operated
from mooncake_py.compiler.native.building.complexes import (
    NOTHING,
    Part,
    computed,
    each,
    joined,
    parts_of,
)
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.narrow import as_float64
from mooncake_py.compiler.native.building.values import (
    Array,
    ComplexArray,
    ComplexNumber,
    Number,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.functions import reductions
from mooncake_py.compiler.native.regions.linear import ZERO
from mooncake_py.compiler.regions.ir import Call, Check, Compare, Const, Expr, Op, Select

__all__ = ["COMPLEX_FUNCTIONS", "COMPLEX_METHODS", "chosen", "new_number", "product"]

HALF, TWO = Const(0.5), Const(2.0)


def of_values(f: Callable[..., Value], count: int, is_ufunc: bool = False) -> Reader:
    """Return the reader of a function of so many values."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        if given or len(args) != count:
            raise Unfit("options of a function of complex numbers", b.place)
        found = f(b, *args)
        return of_numpy(b, found) if is_ufunc and isinstance(found, ComplexNumber) else found

    return read


def operator(op: str) -> Callable[..., Value]:
    """Return the reader of a function of two numbers that is an operator."""
    return lambda b, x, y: operated(b, op, x, y)


def function(f: Any, b: Builder, *parts: Part) -> Part:
    """Return the result of an elementwise function of NumPy for real numbers."""
    found = operations.applied(b, f, parts)
    assert found is not None
    return real(found)


def times(b: Builder, x: Part, y: Part) -> Part:
    """Return a product of real numbers."""
    return real(operations.operated(b, "mul", x, y))


def real(x: Value) -> Part:
    """Return a value that is a real number, or an array of them."""
    assert isinstance(x, Part)
    return x


# Of one number.


def magnitude(b: Builder, z: Value) -> Value:
    """Read ``np.abs(z)``."""
    return function(np.hypot, b, *parts_of(b, z))


def absolute(b: Builder, z: Value) -> Value:
    """Read ``abs(z)``, which Python raises for where it is not finite."""
    re, im = parts_of(b, z)
    found = function(np.hypot, b, re, im)
    if not isinstance(found, Number) or not isinstance(re, Number):
        return found
    found = replace(re, e=found.e)
    return operations.bounded(b, found) if operations.may_be_of_python(re) else found


def angle(b: Builder, z: Value) -> Value:
    """Read ``np.angle(z)``."""
    re, im = parts_of(b, z)
    return function(np.arctan2, b, im, re)


def real_part(b: Builder, z: Value) -> Value:
    """Read ``np.real(z)``."""
    return parts_of(b, b.with_order(z) if isinstance(z, ComplexArray) else z)[0]


def imaginary_part(b: Builder, z: Value) -> Value:
    """Read ``np.imag(z)``."""
    return parts_of(b, b.with_order(z) if isinstance(z, ComplexArray) else z)[1]


def conjugate(b: Builder, z: Value) -> Value:
    """Read ``np.conj(z)``."""
    re, im = parts_of(b, z)
    return joined(b, re, operations.negative(b, im))


def square(b: Builder, z: Value) -> Value:
    """Read ``np.square(z)``."""
    return operated(b, "mul", z, z)


def exponential(b: Builder, z: Value) -> Value:
    """Read ``np.exp(z)``: ``e**x * (cos y + i sin y)``."""
    re, im = (computed(b, part) for part in parts_of(b, z))
    size = computed(b, function(np.exp, b, re))
    return joined(b, *[times(b, size, function(f, b, im)) for f in (np.cos, np.sin)])


def sine(b: Builder, z: Value) -> Value:
    """Read ``np.sin(z)``: ``sin x cosh y + i cos x sinh y``."""
    re, im = (computed(b, part) for part in parts_of(b, z))
    first = times(b, function(np.sin, b, re), function(np.cosh, b, im))
    return joined(b, first, times(b, function(np.cos, b, re), function(np.sinh, b, im)))


def cosine(b: Builder, z: Value) -> Value:
    """Read ``np.cos(z)``: ``cos x cosh y - i sin x sinh y``."""
    re, im = (computed(b, part) for part in parts_of(b, z))
    first = times(b, function(np.cos, b, re), function(np.cosh, b, im))
    second = times(b, function(np.sin, b, re), function(np.sinh, b, im))
    return joined(b, first, operations.negative(b, second))


def logarithm(b: Builder, z: Value) -> Value:
    """Read ``np.log(z)``: ``log |z| + i arg z``, by `log1p` where a part is near one."""
    re, im = (computed(b, part) for part in parts_of(b, z))

    def size(x: Expr, y: Expr, r: Expr) -> Expr:
        test = Compare(("ge",), (Op("abs", (x,)), Op("abs", (y,))))
        m, n = Op("abs", (Select(test, x, y),)), Select(test, y, x)
        more = Op("mul", (Op("sub", (m, Const(1.0))), Op("add", (m, Const(1.0)))))
        near = Op("mul", (HALF, Call(np.log1p, (Op("add", (more, Op("mul", (n, n)))),))))
        return Select(Compare(("lt", "lt"), (HALF, r, TWO)), near, Call(np.log, (r,)))

    r = computed(b, function(np.hypot, b, re, im))
    found = each(b, size, *of_one_type(r, re, im))
    return joined(b, found, function(np.arctan2, b, im, re))


def of_one_type(r: Part, re: Part, im: Part) -> tuple[Part, Part, Part]:
    """Return parts with one type, which is that of what a function of NumPy made of them."""
    if isinstance(r, Number) and isinstance(re, Number) and isinstance(im, Number):
        return Number(re.e, r.type), Number(im.e, r.type), r
    return re, im, r


def root(b: Builder, z: Value) -> Value:
    """Read ``np.sqrt(z)``, of which neither part loses digits; its slope at zero is infinite."""
    re, im = (computed(b, part) for part in parts_of(b, z))
    re, im, size = of_one_type(computed(b, function(np.hypot, b, re, im)), re, im)
    require_nonzero(b, size)

    def is_right(x: Expr) -> Expr:
        return Compare(("ge",), (x, ZERO))

    def larger(x: Expr, r: Expr) -> Expr:
        distance = Select(is_right(x), x, Op("neg", (x,)))  # no `abs`: its slope at zero is zero
        half = Op("mul", (HALF, Op("add", (distance, r))))
        return Call(np.sqrt, (half,), place=b.place)

    t = computed(b, each(b, larger, re, size))

    def smaller(y: Expr, t: Expr) -> Expr:
        other = Op("truediv", (y, Op("mul", (TWO, t))), place=b.place)
        return Select(Compare(("eq",), (t, ZERO)), y, other)

    s = computed(b, each(b, smaller, im, t))

    def sign(y: Expr) -> Expr:
        return Call(np.copysign, (Const(1.0), y))

    first = each(
        b, lambda x, y, t, s: Select(is_right(x), t, Op("mul", (sign(y), s))), re, im, t, s
    )
    second = each(
        b, lambda x, y, t, s: Select(is_right(x), s, Op("mul", (sign(y), t))), re, im, t, s
    )
    return joined(b, first, second)


def require_nonzero(b: Builder, x: Part) -> None:
    """Leave the region where a number, or an element of an array, is zero."""
    if isinstance(x, Number):
        b.require(Compare(("ne",), (x.e, ZERO)))
    else:
        b.in_order(
            x.shape, lambda at: b.add(Check(Compare(("ne",), (x.at(at), ZERO)), place=b.place))
        )


# Of several.


def of_numpy(b: Builder, v: Value) -> Value:
    """Return a number as NumPy makes an array of it, others unchanged."""
    if isinstance(v, ComplexNumber):
        return joined(b, *[operations.of_numpy(b, part) for part in (v.re, v.im)])
    return operations.of_numpy(b, v)


def new_number(b: Builder, re: Value, im: Value = NOTHING) -> Value:
    """Read ``complex(x, y)``."""
    if isinstance(re, ComplexNumber) and im is NOTHING:
        return ComplexNumber(*[Number(part.e, "float") for part in (re.re, re.im)])
    if not isinstance(re, Number) or not isinstance(im, Number):
        raise Unfit(f"`complex` of {said(re, im)}: use two real numbers", b.place)
    return joined(b, *[Number(as_float64(part), "float") for part in (re, im)])


def chosen(b: Builder, test: Value, x: Value, y: Value) -> Value:
    """Read ``np.where(test, x, y)``."""
    pairs = zip(parts_of(b, x), parts_of(b, y), strict=True)
    return joined(b, *[operations.chosen(b, test, p, q) for p, q in pairs])


def product(b: Builder, x: Value, y: Value) -> Value:
    """Read ``np.dot(x, y)``; with a number it is the product of all elements by it."""
    x, y = (of_numpy(b, v) for v in (x, y))
    (a, c), (u, v) = parts_of(b, x), parts_of(b, y)
    if not (isinstance(a, Array) and isinstance(u, Array)):
        found = operated(b, "mul", x, y)
        if isinstance(found, ComplexNumber):
            return found
        return joined(b, *[operations.added_to_nothing(b, p) for p in parts_of(b, found)])

    def part(p: Part, q: Part) -> Part | None:
        is_none = isinstance(p, Number) or isinstance(q, Number)
        return None if is_none else real(reductions.product(b, p, q))

    aa, cc, av, cu = part(a, u), part(c, v), part(a, v), part(c, u)
    assert aa is not None
    re = aa if cc is None else operations.operated(b, "sub", aa, cc)
    both = [p for p in (av, cu) if p is not None]
    im = both[0] if len(both) == 1 else operations.operated(b, "add", *both)
    return joined(b, re, im)


def matmul(b: Builder, x: Value, y: Value) -> Value:
    """Read ``x @ y``, which takes no numbers."""
    if any(isinstance(v, (Number, ComplexNumber)) for v in (x, y)):
        raise Unfit("a matrix product with a number", b.place)
    return product(b, x, y)


def inner(b: Builder, x: Value, y: Value) -> Value:
    """Read ``np.inner(x, y)`` of vectors."""
    if any(not isinstance(v, Array) or len(v.shape) != 1 for v in (x, y)):
        raise Unfit(f"np.inner of {said(x, y)}: use vectors", b.place)
    return product(b, x, y)


def conjugate_inner(b: Builder, x: Value, y: Value) -> Value:
    """Read ``np.vdot(x, y)`` of vectors."""
    return inner(b, conjugate(b, x) if isinstance(x, ComplexArray) else x, y)


def norm(b: Builder, z: Value) -> Value:
    """Read ``np.linalg.norm(z)``."""
    re, im = parts_of(b, z)
    squares = operations.operated(b, "add", times(b, re, re), times(b, im, im))
    return operations.length(b, reductions.added_up(b, squares, None))


UNARY: dict[Any, Callable[..., Value]] = {
    np.absolute: magnitude, abs: absolute, np.angle: angle, np.real: real_part,
    np.imag: imaginary_part, np.conjugate: conjugate, np.negative: negative, np.square: square,
    np.exp: exponential, np.sin: sine, np.cos: cosine, np.log: logarithm, np.sqrt: root,
    np.linalg.norm: norm,
}  # fmt: skip
BINARY: dict[Any, Callable[..., Value]] = {
    np.add: operator("add"), np.subtract: operator("sub"), np.multiply: operator("mul"),
    np.divide: operator("truediv"), np.dot: product, np.matmul: matmul,
    np.vdot: conjugate_inner, np.inner: inner,
    np.equal: lambda b, x, y: compared(b, ["eq"], (x, y)),
    np.not_equal: lambda b, x, y: compared(b, ["ne"], (x, y)),
}  # fmt: skip
COMPLEX_FUNCTIONS: dict[Any, Reader] = {
    f: of_values(read, count, isinstance(f, np.ufunc))
    for table, count in ((UNARY, 1), (BINARY, 2))
    for f, read in table.items()
} | {np.where: of_values(chosen, 3)}
COMPLEX_METHODS: dict[str, Reader] = {
    "conj": of_values(conjugate, 1), "conjugate": of_values(conjugate, 1),
    "dot": of_values(product, 2),
}  # fmt: skip
