"""Special methods of numbers and arrays called by name: ``x.__mul__(y)``, ``a.__getitem__(i)``."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mooncake_py.containers import effects
from mooncake_py.language import numpy_operators, operators
from mooncake_py.runtime.active import innermost, plain_class
from mooncake_py.runtime.attribute_lookup import in_class
from mooncake_py.runtime.operators import BINARY, DIVMOD, UNARY

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["OPERATIONS", "run"]

Operation = Callable[..., Any]
CONVERSIONS: tuple[Any, ...] = (
    abs, float, complex, int, bool, math.trunc, math.floor, math.ceil,
)  # fmt: skip


def run(ctx: Mode, receiver: Any, name: str, args: Any) -> Any:
    """Run a special method as the operator that it stands for."""
    if len(args) not in COUNTS.get(name, ONE):
        return getattr(plain_class(receiver), name)(innermost(receiver), *args)  # raises
    return OPERATIONS[name](ctx, receiver, *args)


def binary(name: str) -> Operation:
    return lambda ctx, a, b: getattr(ctx, name)(a, b)


def method(name: str) -> Operation:
    """Return a function that runs the method of a binary operator; it may return NotImplemented."""

    def run_method(ctx: Mode, a: Any, b: Any, modulus: Any = None) -> Any:
        if modulus is not None:
            return getattr(plain_class(a), name)(innermost(a), innermost(b), modulus)  # raises
        owner = in_class(plain_class(a), name).__objclass__
        return operators.by_name(ctx, name, owner, a, b)

    return run_method


def comparison(name: str) -> Operation:
    """Return a function that runs the method of a comparison; it may return NotImplemented."""

    def run_comparison(ctx: Mode, a: Any, b: Any) -> Any:
        effects.refuse_writers(ctx, (b,), effects.COMPARING)
        return getattr(plain_class(a), name)(innermost(a), innermost(b))

    return run_comparison


def function(f: Any) -> Operation:
    return lambda ctx, *args: ctx.call(f, *args)


def table() -> dict[str, Operation]:
    """Return the meaning of each special method."""
    found: dict[str, Operation] = {}
    for op in (*BINARY.values(), DIVMOD):
        found[op.method] = method(op.method)
        found[op.reflected] = method(op.reflected)
        found[op.inplace_method] = lambda ctx, a, b, op=op: numpy_operators.inplace(ctx, op, a, b)
    for name, (_, _, special) in UNARY.items():
        found[special] = lambda ctx, a, name=name: ctx.unary(name, a)
    for name in ("getitem", "setitem", "delitem", "iter"):
        found[f"__{name}__"] = binary(name) if name != "iter" else function(iter)
    for name in ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"):
        found[name] = comparison(name)
    found["__contains__"] = function(operator.contains)
    for f in (*CONVERSIONS, len, round, repr, str, format, hash):
        found[f"__{f.__name__}__"] = function(f)
    found["__setitem__"] = lambda ctx, a, i, v: ctx.setitem(a, i, v)
    return found


OPERATIONS = table()
NONE, ONE = range(1), range(1, 2)
COUNTS = {
    **{special: NONE for _, _, special in UNARY.values()},
    **{f"__{f.__name__}__": NONE for f in (*CONVERSIONS, iter, len, repr, str, hash)},
    "__round__": range(2),
    "__pow__": range(1, 3), "__rpow__": range(1, 3), "__setitem__": range(2, 3),
}  # fmt: skip
"""How many arguments special methods take; the others take one."""
