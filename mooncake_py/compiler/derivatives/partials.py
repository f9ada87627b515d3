"""The declared partial derivatives of operators and functions of numbers, as expressions.

    Op("truediv", (a, b)) with result y     1 / b,  -y / b

The derivative of an operator stands in `mooncake_py.rules` and nowhere else.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from mooncake_py.compiler.derivatives.declared import partials_of, reads_of
from mooncake_py.compiler.derivatives.number_functions import (
    NUMPY_FUNCTIONS,
    OF_REALS,
    PAIRS,
    VALUED,
    valued,
)
from mooncake_py.compiler.derivatives.trace import Untraceable, trace
from mooncake_py.compiler.regions.ir import (
    Call,
    Const,
    Expr,
    Name,
    Op,
    Select,
    parts_of,
    substituted,
)
from mooncake_py.compiler.regions.simplify import simplified
from mooncake_py.rules.kinds import AtOnce
from mooncake_py.runtime.values import is_of_math

__all__ = ["NoPartial", "declared", "partials", "serves"]

ONE, ZERO = Const(1.0), Const(0.0)

OPERATORS: dict[str, Any] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "pow": operator.pow, "neg": operator.neg, "pos": operator.pos, "abs": abs,
    "mod": operator.mod, "float": operator.pos, "float32": operator.pos,
    "times": operator.mul,  # zero where the first is, in tangents
}  # fmt: skip


class NoPartial(Exception):
    """An operation of which the partial derivatives are not known."""


def partials(e: Expr, y: Expr) -> list[tuple[Expr, Expr | None]]:
    """Return the operands of an operation, with the partial derivative for each; None for zero.

    Parameters
    ----------
    e : Expr
        An operation on names and constants.
    y : Expr
        Its value.

    Raises
    ------
    NoPartial
    """
    if isinstance(e, Select):
        return [(e.a, Select(e.test, ONE, ZERO)), (e.b, Select(e.test, ZERO, ONE))]
    f = OPERATORS.get(e.op) if isinstance(e, Op) else e.function if isinstance(e, Call) else None
    args = parts_of(e)
    known = tuple([a if isinstance(a, Const) else None for a in args])
    found = None if f is None else formulas(f, known)
    if found is None:
        raise NoPartial
    values = {f"a{k}": a for k, a in enumerate(args)} | {"y": y}
    return [
        (a, None if p is None else substituted(p, values)) for a, p in zip(args, found, strict=True)
    ]


@lru_cache(maxsize=1024)
def formulas(f: Any, known: tuple[Const | None, ...]) -> tuple[Expr | None, ...] | None:
    """Return the partial derivatives of a function in terms of ``a0``, ``a1`` and ``y``.

    They are those of this package: where others come first, regions do not run.
    """
    found = declared(f, len(known))
    return (
        None
        if found is None
        else tuple([None if p is None else as_expression(p, known) for p in found])
    )


def declared(f: Any, count: int) -> tuple[Any, ...] | None:
    """Return the partials that a function's rule declares, on floats; None if it has none there.

    That of a function of NumPy is, on floats, that of `math`, at a tenth of the price.
    """
    if f is valued:
        return VALUED
    table = NUMPY_FUNCTIONS if count == 1 else PAIRS
    own = table[f][0] if f in table else f
    return partials_of(f if isinstance(own, tuple) else own, count)


def serves(f: Any, count: int) -> bool:
    """Return True if a function of the user's takes floats, and its rule is one for floats."""
    table = NUMPY_FUNCTIONS if count == 1 else PAIRS
    is_known = f in table or is_of_math(f) or (count == 1 and f in OF_REALS)
    return is_known and declared(f, count) is not None


def as_expression(partial: Any, known: tuple[Const | None, ...]) -> Expr:
    """Return a partial derivative as an expression of ``a0``, ``a1`` and ``y``.

    One that does more than arithmetic is called; what it does not read is None.
    """
    if type(partial) is AtOnce:
        partial = partial.partial
    if not callable(partial):
        return Const(float(partial))
    args: list[Expr] = [c or Name(f"a{k}") for k, c in enumerate(known)]
    args.append(Name("y"))
    try:
        return simplified(trace(partial, args))
    except Untraceable:
        return called(partial, args)


def called(partial: Callable[..., Any], args: list[Expr]) -> Call:
    """Return the call of a partial derivative."""
    read = reads_of(partial)
    return Call(partial, tuple([a if k in read else Const(None) for k, a in enumerate(args)]))
