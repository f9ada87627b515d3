"""Which numbers are finite for certain: ints, and what is written down."""

from __future__ import annotations

from collections.abc import Mapping

from mooncake_py.compiler.native.regions.region import FLOAT, REAL
from mooncake_py.compiler.regions.ir import Compare, Const, Expr, Length, Load, Name, Op, Select

__all__ = ["is_finite"]

MODERATE = 1e100
"""Products of a few numbers below it are finite."""


def is_finite(
    e: Expr,
    values: Mapping[str, Expr],
    kinds: Mapping[str, str],
    known: dict[str, bool] | None = None,
) -> bool:
    """Return True if a number is finite for certain, and moderate.

    Parameters
    ----------
    values : mapping of str to Expr
        What some names stand for.
    kinds : mapping of str to str
        Of the other names and arrays.
    known : dict of str to bool, optional
        What was found out of these names, each of which may stand for others.
    """
    known = {} if known is None else known
    match e:
        case Const(value=value):
            return value is not None and abs(value) < MODERATE
        case Length() | Compare():
            return True
        case Name(name=name) if name in values:
            if name not in known:
                known[name] = is_finite(values[name], values, kinds, known)
            return known[name]
        case Name(name=name) | Load(array=name):
            return kinds.get(name, FLOAT) not in REAL
        case Op(op="neg" | "add" | "sub" | "mul" | "float" | "float32" | "item" | "abs", args=args):
            return all(is_finite(a, values, kinds, known) for a in args)
        case Select(a=a, b=b):
            return is_finite(a, values, kinds, known) and is_finite(b, values, kinds, known)
    return False
