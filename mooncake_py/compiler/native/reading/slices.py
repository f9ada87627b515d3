"""Slices as values: what stands between brackets of an object, and what `slice` makes.

grid[i : i + n, 5] = source         grid.__setitem__((slice(i, i + n, None), 5), source)
u[key] += source                    the same part of an array later
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import Known, Number, Slice, Unfit, Value
from mooncake_py.compiler.native.reading.constants import value_of
from mooncake_py.compiler.native.regions.region import INT
from mooncake_py.compiler.regions.ir import Const, Expr

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.expressions import ExpressionReader

__all__ = ["attribute", "called", "kept", "known", "read"]


def read(r: ExpressionReader, node: ast.Slice) -> Slice:
    """Read ``start:stop:step``."""
    nodes = node.lower, node.upper, node.step
    return of_parts(r, [Known(None) if n is None else r.value(n) for n in nodes])


def called(r: ExpressionReader, args: Sequence[Value], given: Mapping[str, Value]) -> Slice:
    """Read ``slice(start, stop, step)``."""
    if given or not 1 <= len(args) <= 3:
        raise Unfit("`slice` of other than one to three arguments", r.b.place)
    nothing = Known(None)
    parts = [nothing, *args, nothing] if len(args) == 1 else [*args, nothing][:3]
    return kept(r, of_parts(r, parts))


def of_parts(r: ExpressionReader, parts: Sequence[Value]) -> Slice:
    """Return the slice of a start, a stop and a step."""
    start, stop = (bound(r, part) for part in parts[:2])
    step = bound(r, parts[2])
    if step is not None and (not isinstance(step, Const) or type(step.value) is not int):
        raise Unfit("a slice with a step that is not constant", r.b.place)
    return Slice(start, stop, 1 if step is None else step.value)  # type: ignore[arg-type]


def bound(r: ExpressionReader, part: Value) -> Expr | None:
    """Return a bound of a slice, None for None."""
    if isinstance(part, Known) and part.value is None:
        return None
    if not isinstance(part, Number) or part.kind != INT:
        raise Unfit(f"a slice with {said(part)} as a bound: use an int", r.b.place)
    return part.e


def kept(r: ExpressionReader, made: Slice) -> Slice:
    """Return a slice with its bounds as they are now."""
    start, stop = (None if e is None else r.b.steady(e) for e in (made.start, made.stop))
    return replace(made, start=start, stop=stop)


def known(r: ExpressionReader, value: Value) -> Value:
    """Return a slice that is the same in each call as one of others, and other values as are."""
    if not isinstance(value, Known) or type(value.value) is not slice:
        return value
    parts = [value_of(n) for n in (value.value.start, value.value.stop, value.value.step)]
    return of_parts(r, [Known(None) if part is None else part for part in parts])


def attribute(r: ExpressionReader, made: Slice, name: str) -> Value:
    """Read ``key.start`` and ``key.stop``."""
    if name not in ("start", "stop"):  # a step of one may be None
        raise Unfit(f"the attribute {name} of a slice", r.b.place)
    e = getattr(made, name)
    return Known(None) if e is None else Number(e, "int")
