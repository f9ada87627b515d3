"""Functions of `math` that are written in terms of others, or of NumPy's.

Results are floats of Python, and the region is left where one is not finite: `math` may raise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.arguments import Given, Reader, arranged
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import (
    Array,
    Cells,
    Number,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.functions import reductions
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT
from mooncake_py.compiler.regions.ir import Call, Compare, Const, Expr, Op
from mooncake_py.rules.math_functions import diagonal, hypotenuse

__all__ = ["OF_MATH"]


def float_in(b: Builder, value: Value | None) -> Expr:
    """Return a number as a float, which is read several times."""
    if not isinstance(value, Number) or value.kind == BOOL:
        raise Unfit(f"a function of math on {said(value)}: use a number", b.place)
    if value.kind == FLOAT or operations.is_written(value.e):
        return operations.as_element(b, Number(operations.as_float(value.e), "float"))
    return b.number(Op("float", (value.e,)))


def given_back(b: Builder, e: Expr) -> Number:
    """Return a float of Python, which must be finite."""
    return operations.bounded(b, Number(e, "float"))


def of_floats(f: Any) -> Reader:
    """Return the reader of a function of floats by what makes its value of them."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        if given:
            raise Unfit("a function of math with arguments by name", b.place)
        return given_back(b, f(b, *[float_in(b, a) for a in args]))

    return read


def distance(b: Builder, *parts: Expr) -> Expr:
    """Return the length of a vector."""
    if not parts:
        return Const(0.0)
    if len(parts) == 1:
        return Op("abs", (parts[0],))
    if len(parts) <= 3:
        return Call(hypotenuse if len(parts) == 2 else diagonal, parts, place=b.place)
    b.is_exact = False  # `math` rounds once
    found = parts[0]
    for e in parts[1:]:
        found = Call(hypotenuse, (found, e), place=b.place)
    return found


def cube_root(b: Builder, x: Expr) -> Expr:
    """Return a cube root."""
    return Call(math.cbrt, (x,), place=b.place)


def logarithm(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``math.log(x, base)``."""
    x, base = arranged(b, args, given, "x base")
    assert x is not None
    found = operations.of_math(b, math.log, [x])
    if base is None or found is None:
        if found is None:
            raise Unfit(f"math.log of {said(x)}: use a number", b.place)
        return found
    below = operations.of_math(b, math.log, [base])
    assert below is not None
    return operations.operated(b, "truediv", found, below)


def between(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``math.dist(p, q)``."""
    p, q = arranged(b, args, given, "p q")
    if isinstance(p, Tuple) and isinstance(q, Tuple) and len(p.items) == len(q.items):
        pairs = zip(p.items, q.items, strict=True)
        apart = [Op("sub", (float_in(b, x), float_in(b, y))) for x, y in pairs]
        return given_back(b, distance(b, *[b.number(e) for e in apart]))
    raise Unfit(
        f"math.dist between {said(p, q)}: use tuples of numbers, or np.linalg.norm", b.place
    )


def added_up(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``math.fsum(x)``; compiled it rounds."""
    (x,) = args if len(args) == 1 and not given else (None,)
    b.is_exact = False
    if isinstance(x, Tuple):
        e: Expr = Const(0.0)
        for item in x.items:
            e = Op("add", (e, float_in(b, item)))
        return given_back(b, e)
    a = x.as_array if isinstance(x, Cells) else x
    if not isinstance(a, Array) or len(a.shape) != 1 or a.kind != FLOAT:
        raise Unfit(f"math.fsum of {said(x)}: use a list or a vector of floats", b.place)
    found = reductions.added_up(b, a, None, op="total")
    assert isinstance(found, Number)
    return given_back(b, found.e)


def is_close(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``math.isclose(a, b, rel_tol=..., abs_tol=...)``."""
    x, y, relative, absolute = arranged(b, args, given, "a b * rel_tol abs_tol")
    p, q = float_in(b, x), float_in(b, y)
    near = Const(1e-9) if relative is None else float_in(b, relative)
    least = Const(0.0) if absolute is None else float_in(b, absolute)
    for e in (p, q):  # infinities are close to themselves only
        b.require(Compare(("lt",), (Op("abs", (e,)), Const(math.inf))))
    size = Op("max", (Op("abs", (p,)), Op("abs", (q,))))
    bound = Op("max", (Op("mul", (near, size)), least))
    return Number(Compare(("le",), (Op("abs", (Op("sub", (p, q)),)), bound)), "bool")


OF_MATH: dict[Any, Reader] = {
    math.hypot: of_floats(distance), math.dist: between, math.fsum: added_up,
    math.isclose: is_close,
    math.log: logarithm, math.cbrt: of_floats(cube_root),
}  # fmt: skip
