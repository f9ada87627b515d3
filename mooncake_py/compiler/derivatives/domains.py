"""Functions of NumPy on Python floats, and the domains without errors and warnings.

    np.log(v)        Check(0 < v < inf)
                     Op("float", (Call(np.log, (v,)),))
    v ** p           Check(v >= 0 or p % 1 == 0)

The functions of `math` raise outside of their domain, which also ends the trial.
"""

from __future__ import annotations

import ast
import math
from functools import lru_cache
from typing import Any

import numpy as np

from mooncake_py.compiler.derivatives.number_functions import DOMAINS, EVERYWHERE
from mooncake_py.compiler.regions.comparisons import COMPARISONS
from mooncake_py.compiler.regions.ir import (
    Call,
    Check,
    Compare,
    Const,
    Expr,
    Name,
    Op,
    substituted,
)

__all__ = ["domain_check", "on_floats"]


def on_floats(e: Call) -> Expr:
    """Return a call as a float of Python."""
    if type(e.function) is np.ufunc:
        return Op("float", (e,), place=e.place)
    return e


def domain_check(e: Expr) -> Check | None:
    """Return the check of the operands of an operation, names and constants, or None."""
    if isinstance(e, Op) and e.op == "pow":
        return power_check(e)
    if not isinstance(e, Call) or type(e.function) is not np.ufunc:
        return None
    test = domain(e.function)
    operands = {f"a{k}": a for k, a in enumerate(e.args)}
    return Check(substituted(test, operands), place=e.place)


def power_check(e: Op) -> Check | None:
    """Return the check that a power is real, as one of NumPy always is; None if it must be."""
    base, exponent = e.args
    is_real = Compare(("ge",), (base, Const(0)))
    if not isinstance(exponent, Const):
        is_whole = Compare(("eq",), (Op("mod", (exponent, Const(1))), Const(0)))
        return Check(Op("or", (is_real, is_whole)), place=e.place)
    if exponent.value is None or exponent.value % 1 == 0:
        return None
    return Check(is_real, place=e.place)


@lru_cache(maxsize=256)
def domain(f: Any) -> Expr:
    """Return where a function of NumPy is what it is on plain floats, as a test of its operands."""
    text = DOMAINS.get(f, EVERYWHERE).format("a0", "a1")
    return as_test(ast.parse(text, mode="eval").body)


def as_test(node: Any) -> Expr:
    """Read a test as it is declared in `number_functions`."""
    match node:
        case ast.BoolOp(values=values):
            return Op("and", tuple(map(as_test, values)))
        case ast.Compare(left=left, ops=ops, comparators=others):
            names = tuple(COMPARISONS[type(op)] for op in ops)
            return Compare(names, tuple(map(as_test, (left, *others))))
        case ast.Call(args=[argument]):
            return Op("abs", (as_test(argument),))
        case ast.UnaryOp(operand=operand):
            return Op("neg", (as_test(operand),))
        case ast.Name(id="inf"):
            return Const(math.inf)
        case ast.Name(id=name):
            return Name(name)
    return Const(node.value)
