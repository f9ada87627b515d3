"""Operations on choices: each option is asked, or one array stands for several.

best is None            a test of the tag
s.pos @ v               the elements of one of several arrays
s.area()                a branch for each option, see `choosing`
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.native.building.types import HEAP
from mooncake_py.compiler.native.building.values import (
    Array,
    Choice,
    Function,
    Number,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.functions import of_numpy
from mooncake_py.compiler.native.reading import tags
from mooncake_py.compiler.regions.ir import Expr
from mooncake_py.jitted import python_function
from mooncake_py.syntax.nodes import place_of

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.calls import CallReader
    from mooncake_py.compiler.native.reading.expressions import ExpressionReader

__all__ = ["called", "compared", "item", "method", "test_of"]

ORDERED = ast.Lt | ast.LtE | ast.Gt | ast.GtE
VIEWING = frozenset({
    "array_split", "asanyarray", "asarray", "ascontiguousarray", "atleast_1d", "atleast_2d",
    "atleast_3d", "broadcast_arrays", "broadcast_to", "diag", "diagonal", "expand_dims", "flip",
    "fliplr", "flipud", "hsplit", "imag", "moveaxis", "permute_dims", "matrix_transpose", "ravel",
    "real", "reshape", "rollaxis", "rot90", "split", "squeeze", "swapaxes", "transpose", "unstack",
    "view", "vsplit",
})  # fmt: skip
"""Functions of NumPy, and methods of arrays, that give back views."""


def test_of(r: ExpressionReader, choice: Choice, test: Callable[[Value], Expr]) -> Expr:
    """Return a test of what a choice is when it runs."""
    with r.b.within() as block:
        found = tags.over_options(choice, test)
    if not block:
        return found
    return r.truth(r.for_each(choice, lambda v: Number(test(v), "bool")))


def compared(
    r: ExpressionReader, ops: Sequence[ast.cmpop], values: Sequence[Value], tested: bool
) -> Value:
    """Read comparisons of choices; whether they are something is a test of the tag."""
    is_test = len(ops) == 1 and not isinstance(ops[0], ORDERED)
    if not is_test:
        values = [*map(r.as_operand, values)]
    at = next((k for k, v in enumerate(values) if isinstance(v, Choice)), None)
    if at is None:
        return r.compared_values(ops, values, tested)
    choice = values[at]
    assert isinstance(choice, Choice)

    def one(v: Value) -> Value:
        return r.compared_values(ops, [*values[:at], v, *values[at + 1 :]], tested)

    if is_test:
        return Number(test_of(r, choice, lambda v: r.truth(one(v))), "bool")
    return r.but_none(choice, one)


def item(r: ExpressionReader, base: Choice, index: ast.expr) -> Value:
    """Read an item."""
    found = r.as_operand(base)
    if found is base:
        return r.but_none(base, lambda v: r.item(v, index))
    return tags.as_view(r.item(found, index))


def method(r: CallReader, base: Choice, name: str, node: ast.Call) -> Value:
    """Read a call of a method."""
    args, given = r.arguments(node), r.keywords(node)
    one = r.as_operand(base)
    if isinstance(one, Array):
        f = of_numpy.method_of(one, name)
        if f is None:
            raise Unfit(f"the method {name} of an array", place_of(node))
        found = f(r.b, (one, *args), given)
        return tags.as_view(found) if name in VIEWING else found

    def run(o: Value) -> Value:
        return r.applied(r.attribute(o, name), args, dict(given), node)

    return r.contained(lambda: r.but_none(base, run))


def called(
    r: CallReader, f: Any, args: Sequence[Value], given: dict[str, Value], node: ast.Call
) -> Value | None:
    """Return the result of a function whose body is not read; None for any other."""
    if not any(isinstance(v, Choice) for v in (*args, *given.values())):
        return None
    if isinstance(f, Function) or python_function(f) is not None or f is isinstance:
        return None
    if issubclass(type(f), type) and f.__flags__ & HEAP:
        return None
    args = [*map(r.as_operand, args)]
    given = {name: r.as_operand(v) for name, v in given.items()}
    parts = [*args, *given.values()]
    at = next((k for k, v in enumerate(parts) if isinstance(v, Choice)), None)
    if at is None:
        found = r.called(f, args, given, node)
        return tags.as_view(found) if getattr(f, "__name__", "") in VIEWING else found

    def run(v: Value) -> Value:
        now = [*parts[:at], v, *parts[at + 1 :]]
        by_name = dict(zip(given, now[len(args) :], strict=True))
        return r.called(f, now[: len(args)], by_name, node)

    choice = parts[at]
    assert isinstance(choice, Choice)
    return r.for_each(choice, run)
