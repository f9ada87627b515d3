"""Operators of the program's own classes, by Python's rules.

    p + q           P.__add__(p, q); if that does not know q, Q.__radd__(q, p)
    p += q          P.__iadd__(p, q) if there is one, else as p + q
    p < q           P.__lt__(p, q), else Q.__gt__(q, p)
    p[k], len(p), abs(p), bool(p), float(p), k in p, -p

A class that is derived from that of the left operand is asked first.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import (
    Array,
    Generator,
    Known,
    Number,
    Object,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading import comparisons, records
from mooncake_py.compiler.native.reading.inspecting import class_of
from mooncake_py.compiler.regions.ir import Compare, Const, Expr
from mooncake_py.runtime.attribute_lookup import MISSING

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.expressions import ExpressionReader

__all__ = [
    "BUILTINS", "added_up", "are_own", "binary", "decide", "decided", "in_place", "item",
    "iterated", "key", "read_builtin", "required", "store", "truth", "unary",
]  # fmt: skip

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.Pow: "pow",
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.MatMult: "matmul", ast.BitAnd: "and",
    ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "lshift", ast.RShift: "rshift",
}  # fmt: skip
COMPARED: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("lt", "gt"), ast.LtE: ("le", "ge"), ast.Gt: ("gt", "lt"), ast.GtE: ("ge", "le"),
    ast.Eq: ("eq", "eq"), ast.NotEq: ("ne", "ne"),
}  # fmt: skip
UNARY: dict[type[ast.unaryop], str] = {
    ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__",
}  # fmt: skip
BUILTINS: dict[Any, tuple[str, str]] = {
    len: ("__len__", "int"), abs: ("__abs__", ""), float: ("__float__", "float"),
    int: ("__int__", "int"),
}  # fmt: skip
"""Functions that ask one special method, and of which type that must return."""
AS_ARRAYS = ("__array__", "__array_ufunc__", "__array_priority__", "__len__", "__getitem__",
             "__array_interface__", "__array_struct__", "__buffer__")  # fmt: skip
"""The attributes that NumPy looks for in an operand of a foreign class."""
OPERATORS = frozenset(
    [f"__{side}{name}__" for name in BINARY.values() for side in ("", "r", "i")]
    + [f"__{name}__" for pair in COMPARED.values() for name in pair]
    + [*UNARY.values()]
)
OF_PYTHON = {"float64": "float", "int64": "int", "bool_": "bool"}
NOT_IMPLEMENTED = Known(NotImplemented)


def are_own(*values: Value) -> bool:
    """Return True if one of some values is an object."""
    return any(isinstance(value, Object) for value in values)


def decide(*values: Value) -> bool:
    """Return True if the class of one of some operands may decide what an operator does."""
    return are_own(*values) or any(
        isinstance(v, Tuple) and v.cls is not None and defines_operators(v.cls) for v in values
    )


def defines_operators(cls: type) -> bool:
    """Return True if the class of a named tuple has operators of its own."""
    return any(
        type(found) is FunctionType and name in OPERATORS
        for base in cls.__mro__
        for name, found in vars(base).items()
    )


def binary(r: ExpressionReader, op: ast.operator, x: Value, y: Value) -> Value:
    """Read ``x op y``."""
    name = BINARY[type(op)]
    found = asked(r, f"__{name}__", f"__r{name}__", x, y)
    if found is None:
        raise Unfit(f"an operator that {said(x, y)} do not have", r.b.place)
    return found


def in_place(r: ExpressionReader, op: ast.operator, x: Value, y: Value) -> Value:
    """Read ``x op= y``, which is what the target is bound to."""
    if decide(x):
        found = called(r, x, f"__i{BINARY[type(op)]}__", y)
        if found is not None:
            return found
    return binary(r, op, x, y)


def decided(r: ExpressionReader, ops: Sequence[ast.cmpop], values: Sequence[Value]) -> Value | None:
    """Read a comparison that a class of the program's decides, None for any other."""
    if not decide(*values):
        return None
    op, *others = ops
    x, y, *_ = values
    if others:
        raise Unfit("a chain of comparisons of objects: join two by `and`", r.b.place)
    if type(op) in COMPARED:
        return compared(r, op, x, y)
    if not isinstance(op, ast.In | ast.NotIn) or not are_own(y):
        return None
    test = is_within(r, x, y)
    return Number(comparisons.opposite(test) if isinstance(op, ast.NotIn) else test, "bool")


def compared(r: ExpressionReader, op: ast.cmpop, x: Value, y: Value) -> Value | None:
    """Read ``x < y`` and its kin; None where no method is asked."""
    own, other = COMPARED[type(op)]
    if isinstance(op, ast.Eq | ast.NotEq) and not any(
        isinstance(v, Object) and defines_equality(r, v.cls) for v in (x, y)
    ):
        return None
    for o in (x, y):
        if isinstance(o, Object) and records.is_generated(r.scope.of_class(o.cls, f"__{own}__")):
            return of_dataclasses(r, op, x, y)
    found = asked(r, f"__{own}__", f"__{other}__", x, y, is_comparison=True)
    if found is not None:
        return found
    if isinstance(op, ast.Eq):
        return Number(are_one(r, x, y), "bool")
    if isinstance(op, ast.NotEq):  # as `object.__ne__` does
        same = compared(r, ast.Eq(), x, y)
        test = are_one(r, x, y) if same is None else r.truth(same)
        return Number(comparisons.opposite(test), "bool")
    raise Unfit(f"a comparison of {said(x, y)}, which do not have it", r.b.place)


def of_dataclasses(r: ExpressionReader, op: ast.cmpop, x: Value, y: Value) -> Value:
    """Read ``x == y`` of instances of one dataclass that does not define it by itself."""
    if not isinstance(x, Object) or not isinstance(y, Object) or x.cls is not y.cls:
        raise Unfit(f"a comparison of {said(x, y)}: compare their attributes", r.b.place)
    if not isinstance(op, ast.Eq):
        raise Unfit("an order of dataclasses: compare their attributes", r.b.place)
    return Number(Const(True) if x.name == y.name else records.are_equal(r, x, y), "bool")


def are_one(r: ExpressionReader, x: Value, y: Value) -> Expr:
    """Return whether two names are of one object."""
    if isinstance(x, Object) and isinstance(y, Object):
        return comparisons.is_same(r, x, y)
    return Const(False)


def defines_equality(r: ExpressionReader, cls: type) -> bool:
    """Return True for a class that compares its instances otherwise than by identity."""
    return any(
        r.scope.of_class(cls, name) is not getattr(object, name) for name in ("__eq__", "__ne__")
    )


def asked(
    r: ExpressionReader, own: str, other: str, x: Value, y: Value, *, is_comparison: bool = False
) -> Value | None:
    """Ask the methods of two operands in Python's order; None if neither knows the other."""
    a, b = class_of(r, x), class_of(r, y)
    x = as_operand(r, x, y)
    left, right = (x, own, y), (y, other, x)
    order = [left, right]
    if a is b and not is_comparison:
        order = [left]
    elif a is not b and issubclass(b, a) and (is_comparison or is_own_method(r, a, b, other)):
        order = [right, left]
    for ask in order:
        found = called(r, *ask)
        if found is not None:
            return found
    return None


def is_own_method(r: ExpressionReader, base: type, cls: type, name: str) -> bool:
    """Return True if a class has another method under a name than one of its bases."""
    found = r.scope.of_class(cls, name)
    return found is not MISSING and found is not r.scope.of_class(base, name)


def as_operand(r: ExpressionReader, x: Value, y: Value) -> Value:
    """Return a left operand as the right one gets it: NumPy makes a number of Python of its own."""
    if isinstance(x, Array):
        raise Unfit(f"an operator between {said(x, y)}: NumPy takes that for an element", r.b.place)
    if not isinstance(x, Number) or x.type in ("float", "int", "bool"):
        return x
    cls = class_of(r, y)
    if x.rank is not None or x.type not in OF_PYTHON:
        raise Unfit(f"an operator between {said(x, y)}: use a float of Python", r.b.place)
    for name in AS_ARRAYS:
        if r.scope.of_class(cls, name) is not MISSING:
            raise Unfit(f"an operator between {said(x, y)}, which NumPy may take for an array",
                        r.b.place)  # fmt: skip
    return Number(x.e, OF_PYTHON[x.type])


def called(r: ExpressionReader, o: Value, name: str, *args: Value) -> Value | None:
    """Call a special method; None if there is none, or it returns NotImplemented."""
    found = r.special_call(o, name, args) if decide(o) else None
    return None if found == NOT_IMPLEMENTED else found


def unary(r: ExpressionReader, op: ast.unaryop, x: Value) -> Value:
    """Read ``-x`` and its kin."""
    return required(r, x, UNARY[type(op)])


def required(r: ExpressionReader, o: Value, name: str, *args: Value) -> Value:
    """Call a special method, which must be there."""
    found = called(r, o, name, *args)
    if found is None:
        raise Unfit(f"{said(o)}, whose class has no {name}", r.b.place)
    return found


def item(r: ExpressionReader, o: Value, index: ast.expr) -> Value:
    """Read ``o[k]``."""
    return required(r, o, "__getitem__", key(r, index))


def store(r: ExpressionReader, o: Value, index: ast.expr, value: Value) -> None:
    """Read ``o[k] = value``."""
    required(r, o, "__setitem__", key(r, index), value)


def key(r: ExpressionReader, index: ast.expr) -> Value:
    """Read what stands between brackets."""
    return r.value(index)


def truth(r: ExpressionReader, o: Value) -> Expr:
    """Read whether an object is true."""
    for name, type_ in (("__bool__", "bool"), ("__len__", "int")):
        found = called(r, o, name)
        if found is not None:
            return r.truth(of_type(r, found, type_, name))
    return Const(True)


def of_type(r: ExpressionReader, value: Value, type_: str, name: str) -> Number:
    """Return the result of a special method, which Python requires to be of a type."""
    if not isinstance(value, Number) or value.type != type_ or value.rank is not None:
        raise Unfit(f"{name} that returns {said(value)}: return {type_}", r.b.place)
    if name == "__len__":
        r.b.require(Compare(("le",), (Const(0), value.e)))
    return value


def is_within(r: ExpressionReader, x: Value, o: Value) -> Expr:
    """Read ``x in o``."""
    return r.truth(required(r, o, "__contains__", x))


def iterated(r: ExpressionReader, o: Value) -> Value:
    """Return the iterable of a loop over an object whose `__iter__` returns ``iter(x)``."""
    found = required(r, o, "__iter__")
    if isinstance(found, Generator):
        return r.source_of(found)
    raise Unfit(
        f"a loop over {said(o)}, whose __iter__ returns other than `iter(x)` or a generator",
        r.b.place,
    )


def added_up(r: ExpressionReader, items: Sequence[Value], start: Sequence[Value]) -> Value:
    """Read ``sum`` of objects."""
    total = start[0] if start else Number(Const(0), "int")
    for one in items:
        total = r.operated(ast.Add(), total, one)
    return total


def read_builtin(r: ExpressionReader, f: Any, args: Sequence[Value]) -> Value:
    """Read ``len(o)`` and its kin."""
    name, type_ = BUILTINS[f]
    found = required(r, args[0], name)
    return of_type(r, found, type_, name) if type_ else found
