"""The kind of number that an expression is: a float of either width, an int or a bool.

A float that is written down has no width of its own: ``x[i] * 0.5`` is what ``x[i]`` is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from mooncake_py.compiler.native.regions.helpers import as_int
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT
from mooncake_py.compiler.regions.ir import (
    INTS,
    Call,
    Compare,
    Const,
    Expr,
    Length,
    Load,
    Name,
    Op,
    Pop,
    Select,
)

__all__ = ["WIDTH", "Known", "kind_of", "widest"]

WIDTH = {BOOL: 0, INT: 1, FLOAT32: 2, FLOAT: 3}
WIDE = WIDTH.__getitem__
FIXED = {"float": FLOAT, "float32": FLOAT32, "int": INT, "not": BOOL}
INTEGRAL = {
    math.floor, math.ceil, math.trunc, math.gcd, math.lcm, math.comb, math.factorial, as_int,
}  # fmt: skip
LOGICAL = {math.isnan, math.isinf, math.isfinite, np.isnan, np.isinf, np.isfinite, np.signbit}


Known = dict[int, tuple[Expr, str]]
"""By the ids of expressions these, and their kinds."""


def kind_of(e: Expr, kinds: Mapping[str, str], known: Known | None = None) -> str:
    """Return the kind of an expression, given those of names and arrays, else floats.

    Who asks for the parts of an expression as well gives what is `known` of them, and of all
    that was asked before: else each level walks through all below it.
    """
    if known is None:
        return kind_from_parts(e, kinds, None)
    found = known.get(id(e))
    if found is None:
        found = known[id(e)] = e, kind_from_parts(e, kinds, known)
    return found[1]


def kind_from_parts(e: Expr, kinds: Mapping[str, str], known: Known | None) -> str:
    """Return the kind of an expression by those of its parts."""
    match e:
        case Const(value=value):
            return BOOL if type(value) is bool else INT if type(value) is int else FLOAT
        case Name(name=name) | Load(array=name):
            return kinds.get(name, FLOAT)
        case Length():
            return INT
        case Compare():
            return BOOL
        case Pop(stack=stack):
            return INT if stack == INTS else FLOAT
        case Select(a=a, b=b):
            return widest((a, b), kinds, known)
        case Call(function=f, args=args):
            if f in INTEGRAL:
                return INT
            if f in LOGICAL:
                return BOOL
            return at_least(FLOAT32, args, kinds, known) if type(f) is np.ufunc else FLOAT
        case Op(op=op) if op in FIXED:
            return FIXED[op]
        case Op(op="and" | "or" | "max" | "min", args=args):
            return widest(args, kinds, known)
        case Op(op="truediv", args=args):
            return at_least(FLOAT32, args, kinds, known)
        case Op(op="pow", args=(a, Const(value=int() as n))) if n < 0:
            return at_least(FLOAT32, (a,), kinds, known)
        case Op(args=args):
            return at_least(INT, args, kinds, known)
    raise TypeError(e)


def widest(args: tuple[Expr, ...], kinds: Mapping[str, str], known: Known | None = None) -> str:
    """Return the kind that holds the numbers of several expressions; each is asked once."""
    found = [kind_of(a, kinds, known) for a in args]
    if FLOAT32 in found:
        own = {kind for a, kind in zip(args, found, strict=True) if not isinstance(a, Const)}
        return FLOAT if FLOAT in own else FLOAT32 if FLOAT32 in own else max(found, key=WIDE)
    return max(found, key=WIDE)


def at_least(
    kind: str, args: tuple[Expr, ...], kinds: Mapping[str, str], known: Known | None
) -> str:
    """Return the kind in which numbers are computed: float64, or float32 if all are."""
    found = widest(args, kinds, known)
    if WIDTH[found] < WIDTH[kind]:
        return kind if kind == INT else FLOAT
    return found
