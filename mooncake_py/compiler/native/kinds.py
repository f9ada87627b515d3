"""The kind of number that an expression is: a float, an int or a bool."""

from __future__ import annotations

from collections.abc import Mapping

from mooncake_py.compiler.flat import TO_INTS
from mooncake_py.compiler.ir import Call, Compare, Const, Expr, Length, Load, Name, Op, Select
from mooncake_py.compiler.native.region import BOOL, FLOAT, INT

__all__ = ["kind_of"]

WIDTH = {BOOL: 0, INT: 1, FLOAT: 2}
FIXED = {"truediv": FLOAT, "float": FLOAT, "int": INT, "round": INT, "not": BOOL}


def kind_of(e: Expr, kinds: Mapping[str, str]) -> str:
    """Return the kind of an expression, given those of names and arrays."""
    match e:
        case Const(value=value):
            return BOOL if isinstance(value, bool) else INT if isinstance(value, int) else FLOAT
        case Name(name=name) | Load(array=name):
            return kinds[name]
        case Length():
            return INT
        case Compare():
            return BOOL
        case Select(a=a, b=b):
            return widest((a, b), kinds)
        case Call(function=f):
            return INT if f in TO_INTS else FLOAT
        case Op(op=op) if op in FIXED:
            return FIXED[op]
        case Op(op="and" | "or" | "max" | "min", args=args):
            return widest(args, kinds)
        case Op(args=args):
            return max(INT, widest(args, kinds), key=WIDTH.__getitem__)
    return FLOAT


def widest(args: tuple[Expr, ...], kinds: Mapping[str, str]) -> str:
    """Return the kind that holds the numbers of several expressions."""
    return max((kind_of(a, kinds) for a in args), key=WIDTH.__getitem__)
