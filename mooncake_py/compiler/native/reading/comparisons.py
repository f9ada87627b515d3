"""Comparisons that are decided while a function is read: strings, None, classes, structure.

    kind == "upwind"        true or false, and no test stands in the region
    x.shape == (3, n)       3 == length of x and n == ...
    day in (1, 15)          day == 1 or day == 15

Where neither structure nor identity decides, the comparison is one of numbers or arrays.
"""

from __future__ import annotations

import ast
import enum
import operator
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, FunctionType, ModuleType, NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.deques import Deque
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import (
    Array,
    Cells,
    ComplexNumber,
    Dictionary,
    Function,
    Known,
    Number,
    Object,
    Picked,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading.constants import UNKNOWN, python_of, value_of
from mooncake_py.compiler.native.regions.region import BOOL, REAL
from mooncake_py.compiler.regions.ir import Compare, Const, Expr, Op

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.expressions import ExpressionReader

__all__ = ["comes_first", "decided", "joined", "of_truths", "opposite"]

COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.In: lambda x, y: x in y,
    ast.NotIn: lambda x, y: x not in y,
}  # fmt: skip
SINGLE = NoneType, bool, type(Ellipsis)
"""Types whose values are one object each."""
BY_IDENTITY = type, FunctionType, BuiltinFunctionType, ModuleType, np.ufunc
"""Types whose values are equal to themselves only."""


def decided(r: ExpressionReader, ops: Sequence[ast.cmpop], values: Sequence[Value]) -> Value | None:
    """Return the result of a chain of comparisons, None if it is one of numbers or arrays."""
    known = of_known(ops, values)
    if known is not None:
        return known
    if len(ops) > 1:
        return None
    (op,), (x, y) = ops, values
    match op:
        case ast.Is() | ast.IsNot():
            found = is_same(r, x, y)
        case ast.In() | ast.NotIn():
            if isinstance(y, Dictionary):
                return None
            found = is_in(r, x, y)
        case ast.Eq() | ast.NotEq():
            if both(x, y, Number | ComplexNumber | Array | Cells):
                return None
            found = are_equal(r, x, y)
        case _:
            return None
    if isinstance(op, ast.IsNot | ast.NotIn | ast.NotEq):
        found = opposite(found)
    return Number(found, "bool")


def of_known(ops: Sequence[ast.cmpop], values: Sequence[Value]) -> Value | None:
    """Return the result of comparisons of known values, computed by Python; None for others."""
    if not all(type(op) in COMPARED for op in ops):
        return None
    known = [python_of(value) for value in values]
    if any(value is UNKNOWN for value in known):
        return None
    found: Any = UNKNOWN
    try:
        for op, x, y in zip(ops, known, known[1:], strict=False):
            found = COMPARED[type(op)](x, y)
            if not found:
                break
    except Exception:  # where it runs, Python raises the same
        return None
    return value_of(found)


def both(x: Value, y: Value, kinds: Any) -> bool:
    """Return True if two values are of some kinds."""
    return isinstance(x, kinds) and isinstance(y, kinds)


def is_same(r: ExpressionReader, x: Value, y: Value) -> Expr:
    """Return whether two values are one object."""
    if x is y and isinstance(x, Function):
        return Const(True)
    if isinstance(x, Object) and isinstance(y, Object):
        if x.name != y.name and (x.is_row or y.is_row):
            return r.same_rows(x, y)
        return Const(x.name == y.name)
    if isinstance(y, Number) and not isinstance(x, Number):
        x, y = y, x
    if isinstance(x, Number):
        of_python = x.rank is None and x.type == "bool"
        if isinstance(y, Number) and of_python and y.type == "bool" and y.rank is None:
            return equal_numbers(r, x, y)
        if not isinstance(y, Number):
            return Const(False)
        if (x.type == "bool") != (y.type == "bool") and x.rank is None and y.rank is None:
            return Const(False)
        raise Unfit("`is` between numbers: use `==`", r.b.place)
    if both(x, y, Known):
        a, b = x.value, y.value  # type: ignore[union-attr]
        if a is b and not isinstance(a, str | bytes | tuple):
            return Const(True)
        if any(is_one_of_its_kind(v) for v in (a, b)):
            return Const(a is b)
        raise Unfit(f"`is` between {said(x, y)}: use `==`", r.b.place)
    if isinstance(y, Known):
        x, y = y, x
    if isinstance(x, Known):
        if is_one_of_its_kind(x.value):
            return Const(False)
        if isinstance(y, Object) and type(x.value) is not y.cls:
            return Const(False)
    raise Unfit(f"`is` between {said(x, y)}: compare their numbers", r.b.place)


def is_in(r: ExpressionReader, x: Value, y: Value) -> Expr:
    """Return whether a value is in a tuple, a list or a set of known structure."""
    if isinstance(y, Known) and type(y.value) in (set, frozenset):
        y = value_of(tuple(y.value)) or y
    if not isinstance(y, Tuple):
        raise Unfit(
            f"`in` for {said(x, y)}: use a tuple, a list or a dict of known items", r.b.place
        )
    return joined("or", [are_equal(r, x, item, is_item=True) for item in y.items])


def are_equal(r: ExpressionReader, x: Value, y: Value, *, is_item: bool = False) -> Expr:
    """Return whether two values are equal; an item may be the very object too, if that is nan."""
    if isinstance(x, Number) and isinstance(y, Number):
        if is_item and not (isinstance(x.e, Const) or isinstance(y.e, Const)) and x.kind in REAL:
            r.b.require(Compare(("eq",), (x.e, x.e)))
        return equal_numbers(r, x, y)
    if isinstance(x, Deque) is not isinstance(y, Deque):
        raise Unfit(f"a comparison of {said(x, y)}: compare lists", r.b.place)
    if both(x, y, Tuple):
        pairs = x.items, y.items  # type: ignore[union-attr]
        if x.is_list != y.is_list or len(pairs[0]) != len(pairs[1]):  # type: ignore[union-attr]
            return Const(False)
        items = zip(*pairs, strict=True)
        return joined("and", [are_equal(r, a, b, is_item=True) for a, b in items])
    for value in (x, y):
        if isinstance(value, Array | Cells | Picked | ComplexNumber):
            raise Unfit(f"a comparison of {said(x, y)}: use numbers or arrays", r.b.place)
    known = [v for v in (x, y) if isinstance(v, Known)]
    if len(known) == 2:
        a, b = (v.value for v in known)
        if a is b and is_plainly_compared(a):
            return Const(True)
        found = of_known([ast.Eq()], [x, y])
        if isinstance(found, Number):
            return found.e
        if all(is_plainly_compared(v) for v in (a, b)):
            return Const(False)
    elif known and is_plainly_compared(known[0].value):
        (other,) = (v for v in (x, y) if v is not known[0])
        if isinstance(other, Number | Tuple | Dictionary | Function):
            return Const(False)
        if isinstance(other, Object) and r.scope.of_class(other.cls, "__eq__") is object.__eq__:
            return Const(False)
    raise Unfit(f"a comparison of {said(x, y)}: use numbers or arrays", r.b.place)


def comes_first(r: ExpressionReader, op: str, x: Value, y: Value) -> Expr:
    """Return whether a number, or a tuple of such, is smaller than another one, or larger."""
    if not (isinstance(x, Tuple) and isinstance(y, Tuple)):
        return r.truth(operations.compared(r.b, [op], [x, y], tested=True))
    found: Expr = Const(False)
    for a, b in reversed([*zip(x.items, y.items, strict=True)]):
        same = joined("and", [are_equal(r, a, b, is_item=True), found])
        found = joined("or", [comes_first(r, op, a, b), same])
    return found


def is_one_of_its_kind(value: Any) -> bool:
    """Return True for None, a truth, a function, a class, a module or a member of an enumeration.

    Two of them are the same, or they are not: no other object is made that is equal.
    """
    return type(value) in SINGLE or issubclass(type(value), (*BY_IDENTITY, enum.Enum))


def is_plainly_compared(value: Any) -> bool:
    """Return True for text, None, classes and such, which are equal to nothing of another type."""
    t = type(value)
    if t in (*SINGLE, str, bytes):
        return True
    return is_one_of_its_kind(value) and t.__eq__ is object.__eq__


def equal_numbers(r: ExpressionReader, x: Number, y: Number) -> Expr:
    """Return whether two numbers are equal."""
    found = of_known([ast.Eq()], [x, y])
    if isinstance(found, Number):
        return found.e
    if x.kind == y.kind == BOOL:
        same = Op("and", (x.e, y.e)), Op("and", (opposite(x.e), opposite(y.e)))
        return Op("or", same)
    if BOOL in (x.kind, y.kind):
        raise Unfit(f"a comparison of {said(x, y)}: use two bools or two numbers", r.b.place)
    found = operations.compared(r.b, ("eq",), (x, y), True)
    assert isinstance(found, Number)
    return found.e


def joined(op: str, tests: Sequence[Expr]) -> Expr:
    """Return tests that ``and`` or ``or`` joins; without those that are known."""
    decides = op == "or"
    left: list[Expr] = []
    for test in tests:
        if not isinstance(test, Const):
            left.append(test)
        elif bool(test.value) == decides:
            return Const(decides)
    if not left:
        return Const(not decides)
    return left[0] if len(left) == 1 else Op(op, tuple(left))


def opposite(test: Expr) -> Expr:
    """Return the opposite of a test."""
    return Const(not test.value) if isinstance(test, Const) else Op("not", (test,))


def of_truths(r: ExpressionReader, op: str, x: Value, y: Value) -> Value:
    """Read ``&`` or ``|`` of bools."""
    values = (x, y)
    if not all(isinstance(v, Number | Array) and v.kind == BOOL for v in values):
        raise Unfit("an operator on bits other than those of bools", r.b.place)
    if isinstance(x, Number) and isinstance(y, Number):
        return Number(Op(op, (x.e, y.e)), "bool_" if "bool_" in (x.type, y.type) else "bool")
    return operations.elementwise(r.b, lambda p, q: Op(op, (p, q)), BOOL, values)
