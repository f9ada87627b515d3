"""Operators by the functions of `operator`: ``operator.add(x, y)`` is ``x + y``."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.native.building.values import Unfit, Value

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.expressions import ExpressionReader

__all__ = ["called"]

BINARY: dict[Any, ast.operator] = {
    operator.add: ast.Add(), operator.sub: ast.Sub(), operator.mul: ast.Mult(),
    operator.truediv: ast.Div(), operator.floordiv: ast.FloorDiv(), operator.mod: ast.Mod(),
    operator.pow: ast.Pow(), operator.and_: ast.BitAnd(), operator.or_: ast.BitOr(),
}  # fmt: skip
UNARY: dict[Any, ast.unaryop] = {
    operator.neg: ast.USub(), operator.pos: ast.UAdd(), operator.not_: ast.Not(),
    operator.invert: ast.Invert(),
}  # fmt: skip
COMPARED: dict[Any, ast.cmpop] = {
    operator.eq: ast.Eq(), operator.ne: ast.NotEq(), operator.lt: ast.Lt(), operator.le: ast.LtE(),
    operator.gt: ast.Gt(), operator.ge: ast.GtE(), operator.is_: ast.Is(),
    operator.is_not: ast.IsNot(),
}  # fmt: skip


def called(
    r: ExpressionReader, f: Any, args: Sequence[Value], given: Mapping[str, Value]
) -> Value | None:
    """Read a call of one of these functions, None for others."""
    found = BINARY.get(f) or UNARY.get(f) or COMPARED.get(f)
    if found is None:
        return None
    if given or len(args) != (1 if isinstance(found, ast.unaryop) else 2):
        raise Unfit(f"operator.{f.__name__} with arguments that do not fit", r.b.place)
    if isinstance(found, ast.unaryop):
        return r.prefixed(found, args[0])
    if isinstance(found, ast.operator):
        return r.operated(found, *args)
    return r.compared_values([found], args)
