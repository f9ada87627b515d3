"""Special methods of numbers and arrays called by name: ``x.__mul__(y)``, ``a.__getitem__(i)``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mooncake_py.runtime.operators import BINARY, UNARY

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["OPERATIONS", "run"]

Operation = Callable[..., Any]


def run(ctx: Mode, receiver: Any, name: str, args: Any) -> Any:
    """Run a special method as the operator that it stands for."""
    return OPERATIONS[name](ctx, receiver, *args)


def binary(name: str) -> Operation:
    return lambda ctx, a, b: getattr(ctx, name)(a, b)


def reflected(name: str) -> Operation:
    return lambda ctx, a, b: getattr(ctx, name)(b, a)


def function(f: Any) -> Operation:
    return lambda ctx, *args: ctx.call(f, *args)


def table() -> dict[str, Operation]:
    """Return the meaning of each special method."""
    found: dict[str, Operation] = {}
    for name, op in BINARY.items():
        found[op.method] = binary(name)
        found[op.reflected] = reflected(name)
        found[op.inplace_method] = function(op.inplace)
    for name, (_, _, method) in UNARY.items():
        found[method] = lambda ctx, a, name=name: ctx.unary(name, a)
    for name in ("getitem", "setitem", "delitem", "iter"):
        found[f"__{name}__"] = binary(name) if name != "iter" else function(iter)
    for name in ("lt", "le", "eq", "ne", "gt", "ge", "contains"):
        found[f"__{name}__"] = function(getattr(operator, name))
    for f in (abs, float, complex, int, bool, len, divmod, pow, round, repr, str, format, hash):
        found[f"__{f.__name__}__"] = function(f)
    found["__setitem__"] = lambda ctx, a, i, v: ctx.setitem(a, i, v)
    return found


OPERATIONS = table()
