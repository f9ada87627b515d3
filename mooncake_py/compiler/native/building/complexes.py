"""Complex numbers and arrays in terms of their real and imaginary parts.

    z * w           x * u - y * v,  x * v + y * u
    z / w           with r = v / u:  (x + y * r) / (u + v * r),  (y - x * r) / (u + v * r)
                    if w is nearer to the real axis; else the same with the parts exchanged

So a complex derivative becomes a real one, and only the reader handles complex numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.narrow import (
    as_float,
    as_kind,
    kind_of_all,
    largest,
    rank_of,
)
from mooncake_py.compiler.native.building.values import (
    NUMPY_TYPES,
    RANKS,
    Array,
    ComplexArray,
    ComplexNumber,
    Index,
    Number,
    Unfit,
    Value,
    complex_array,
    names_as_index,
)
from mooncake_py.compiler.native.regions.linear import ZERO
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT
from mooncake_py.compiler.regions.ir import Call, Compare, Const, Expr, Load, Name, Op, Select, walk

__all__ = [
    "NOTHING", "Part", "compared", "computed", "each", "is_complex", "joined", "negative",
    "number_of", "operated", "parts_of", "store",
]  # fmt: skip

Part = Number | Array
NOTHING = Number(Const(0.0), "float")
LARGEST = 8  # exponent of a power that becomes products
SIMPLE = 6  # operations of an operand that are done again for each part of a result


def is_complex(*values: Value) -> bool:
    """Return True if one of some values is complex."""
    return any(isinstance(v, ComplexNumber | ComplexArray) for v in values)


def parts_of(b: Builder, v: Value) -> tuple[Part, Part]:
    """Return the real and the imaginary part of a number or an array."""
    if isinstance(v, ComplexNumber | ComplexArray):
        return v.re, v.im
    if not isinstance(v, Number | Array) or v.kind == BOOL:
        raise Unfit("a complex number beside what is no number", b.place)
    return v, NOTHING


def joined(b: Builder, re: Value, im: Value) -> ComplexNumber | ComplexArray:
    """Return what has such parts, broadcast to one shape and made of one kind."""
    assert isinstance(re, Part)
    assert isinstance(im, Part)
    if isinstance(re, Number) and isinstance(im, Number):
        return ComplexNumber(*of_one_type(b, re, im))
    kind = kind_of_all(b, (re, im))
    kind = FLOAT if kind == INT else kind
    shape = operations.shape_of_all((re, im))
    return complex_array(as_array(b, re, shape, kind), as_array(b, im, shape, kind))


def of_one_type(b: Builder, *numbers: Number) -> list[Number]:
    """Return real numbers as floats of one type, as NumPy promotes them."""
    types = {n.type for n in numbers}
    if any(n.narrow for n in numbers) or BOOL in {n.kind for n in numbers}:
        raise Unfit("a complex number of parts whose type varies", b.place)
    rank: Expr | None = None
    if any(n.rank is not None for n in numbers):
        rank = largest([Const(RANKS["float"]), *(rank_of(b, n) for n in numbers)])
        found = "float64"
    elif not types.isdisjoint({"float64", "int64"}):
        found = "float64"
    else:
        found = "float32" if "float32" in types else "float"
    kind = FLOAT32 if found == "float32" else FLOAT
    if rank is not None and FLOAT32 in {n.kind for n in numbers}:
        raise Unfit("a complex number of parts whose type varies", b.place)
    return [Number(as_float(as_kind(n.e, n.kind, kind)), found, rank) for n in numbers]


def as_array(b: Builder, part: Part, shape: Sequence[Expr], kind: str) -> Array:
    """Return a part as an array of a shape and a kind: a new one, even if nothing is computed."""
    if isinstance(part, Array) and part.shape == tuple(shape) and part.kind == kind:
        return Array(part.shape, kind, part.at)
    at = operations.broadcast_to(part, shape, b)
    return Array(tuple(shape), kind, lambda index: as_float(as_kind(at(index), part.kind, kind)))


def each(b: Builder, f: Callable[..., Expr], *parts: Part) -> Part:
    """Return what a function makes of one element of each part."""
    numbers = [part for part in parts if isinstance(part, Number)]
    if len(numbers) == len(parts):
        return replace(numbers[0], e=f(*[n.e for n in numbers]))
    return operations.elementwise(b, f, kind_of_all(b, parts), parts)


def computed(b: Builder, part: Part) -> Part:
    """Return a part that several expressions read: computed once, if that is some work."""
    if isinstance(part, Number):
        simple = isinstance(part.e, Const | Name) or part.kind == INT
        return part if simple else replace(part, e=b.number(part.e, part.kind))
    e = part.at(names_as_index(tuple(f"probe{axis}" for axis in range(len(part.shape)))))
    work = sum(isinstance(inner, Op | Call | Select) for inner in walk(e))
    is_slow = any(isinstance(inner, Call) for inner in walk(e))
    return computed_once(b, part) if work > SIMPLE or is_slow else part


# Operators.


def operated(b: Builder, op: str, x: Value, y: Value) -> Value:
    """Return ``x op y``, where one of them is complex."""
    if op == "pow":
        return power(b, x, y)
    (a, c), (u, v) = parts_of(b, x), parts_of(b, y)
    if op in ("add", "sub"):
        return joined(b, total(b, op, a, u), total(b, op, c, v))
    if op == "mul":
        return product(b, (a, c), (u, v))
    if op == "truediv":
        if not is_complex(y):
            return joined(b, *[operations.operated(b, "truediv", part, u) for part in (a, c)])
        return quotient(b, (a, c), (u, v))
    raise Unfit("an operator on complex numbers", b.place)


def product(b: Builder, x: tuple[Part, Part], y: tuple[Part, Part]) -> Value:
    """Return a product, given the parts of its factors."""
    if NOTHING not in (*x, *y):
        x, y = ((computed(b, re), computed(b, im)) for re, im in (x, y))
    (a, c), (u, v) = x, y
    re = summed(b, "sub", multiplied(b, a, u), multiplied(b, c, v))
    return joined(b, re, summed(b, "add", multiplied(b, a, v), multiplied(b, c, u)))


def summed(b: Builder, op: str, x: Part, y: Part) -> Part:
    """Return a sum or a difference of real numbers; that with nothing is the other one."""
    if is_written(y, 0.0):
        return x
    if is_written(x, 0.0):
        return y if op == "add" else real(operations.negative(b, y))
    return real(operations.operated(b, op, x, y))


def total(b: Builder, op: str, x: Part, y: Part) -> Part:
    """Return a sum or a difference of parts, with the sign of zero that a zero in it gives.

    A zero that is written down, as in ``x + 0j``, turns -0.0 into 0.0: ``np.log`` and ``np.angle``
    tell these apart.
    """
    if x is NOTHING or y is NOTHING or (is_written(x, 0.0) and is_written(y, 0.0)):
        return summed(b, op, x, y)
    if is_written(x, 0.0) or (op == "add" and is_written(y, 0.0)):
        return real(operations.operated(b, op, x, y))
    return summed(b, op, x, y)


def multiplied(b: Builder, x: Part, y: Part) -> Part:
    """Return a product of real numbers; that with nothing is nothing."""
    if is_written(x, 0.0) or is_written(y, 0.0):
        return NOTHING
    if is_written(x, 1.0):
        return y
    if is_written(y, 1.0):
        return x
    return real(operations.operated(b, "mul", x, y))


def is_written(x: Part, value: float) -> bool:
    """Return True for a float of Python that is written down."""
    return isinstance(x, Number) and x.type == "float" and x.e == Const(value)


def real(x: Value) -> Part:
    """Return a value that is a real number, or an array of them."""
    assert isinstance(x, Part)
    return x


def quotient(b: Builder, x: tuple[Part, Part], y: tuple[Part, Part]) -> Value:
    """Return a quotient by Smith's method, which neither Python nor NumPy does otherwise."""
    (a, c), (u, v) = ((computed(b, re), computed(b, im)) for re, im in (x, y))
    if isinstance(u, Number) and isinstance(v, Number):
        if operations.may_be_of_python(u) and not is_of_numpy(a, c):
            b.require(Op("or", tuple([Compare(("ne",), (w.e, ZERO)) for w in (u, v)])))
        if isinstance(a, Number) and isinstance(c, Number):
            a, c, u, v = of_one_type(b, a, c, u, v)

    def larger(u: Expr, v: Expr) -> Expr:
        return Compare(("ge",), (Op("abs", (u,)), Op("abs", (v,))))

    def ratio(u: Expr, v: Expr) -> Expr:
        test = larger(u, v)
        return Op("truediv", (Select(test, v, u), Select(test, u, v)), place=b.place)

    def divisor(u: Expr, v: Expr, r: Expr) -> Expr:
        test = larger(u, v)
        return Op("add", (Select(test, u, v), Op("mul", (Select(test, v, u), r))))

    def re(a: Expr, c: Expr, u: Expr, v: Expr, r: Expr, d: Expr) -> Expr:
        test = larger(u, v)
        total = Op("add", (Select(test, a, c), Op("mul", (Select(test, c, a), r))))
        return Op("truediv", (total, d), place=b.place)

    def im(a: Expr, c: Expr, u: Expr, v: Expr, r: Expr, d: Expr) -> Expr:
        nearer = Op("sub", (c, Op("mul", (a, r))))
        farther = Op("sub", (Op("mul", (c, r)), a))
        return Op("truediv", (Select(larger(u, v), nearer, farther), d), place=b.place)

    r = computed_once(b, each(b, ratio, u, v))
    d = computed_once(b, each(b, divisor, u, v, r))
    return joined(b, each(b, re, a, c, u, v, r, d), each(b, im, a, c, u, v, r, d))


def is_of_numpy(*parts: Part) -> bool:
    """Return True if one of some parts is a number of NumPy, or an array."""
    return any(isinstance(p, Array) or not operations.may_be_of_python(p) for p in parts)


def computed_once(b: Builder, part: Part) -> Part:
    """Return a part under a name, or in memory."""
    if isinstance(part, Array):
        found = b.kept(part)
        b.layouts.is_ours(found, part)
        return found
    return replace(part, e=b.number(part.e, part.kind))


def power(b: Builder, x: Value, y: Value) -> Value:
    """Return a power with an exponent that is a small int."""
    n = y.e.value if isinstance(y, Number) and isinstance(y.e, Const) else None
    if type(n) is not int or not 0 < abs(n) <= LARGEST:
        raise Unfit("a power of complex numbers", b.place)
    if n < 0:
        inverse = power(b, x, Number(Const(-n), "int"))
        return operated(b, "truediv", Number(Const(1.0), "float"), inverse)
    base = parts_of(b, x)
    base = computed(b, base[0]), computed(b, base[1])
    found: Value = joined(b, *base)
    for _ in range(n - 1):
        found = product(b, parts_of(b, found), base)
    return found


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


# Memory.


def number_of(a: ComplexArray) -> ComplexNumber:
    """Return the number that a complex array without axes is."""
    re, im = (Number(part.at(()), NUMPY_TYPES[part.kind]) for part in a.parts)
    return ComplexNumber(re, im)


def store(
    b: Builder, a: ComplexArray, re: Callable[[Index], Expr], im: Callable[[Index], Expr]
) -> None:
    """Store both parts of all elements, one after the other."""
    probe = names_as_index(tuple(f"probe{axis}" for axis in range(len(a.shape))))
    if not reads_part(im(probe), a.base, 0):
        b.store(a.re, re)
        b.store(a.im, im)
        return
    if reads_part(re(probe), a.base, 1):
        re = b.kept(Array(a.shape, a.re.kind, re)).at
    b.store(a.im, im)
    b.store(a.re, re)


def reads_part(e: Expr, array: str, part: int) -> bool:
    """Return True if an expression may read real (0) or imaginary (1) parts of an array."""
    other = Const(1 - part)
    return any(
        isinstance(inner, Load) and inner.array == array and inner.index[-1] != other
        for inner in walk(e)
    )
