"""Operations on numbers of two widths, as NumPy promotes them.

Next to a float32, a Python int or float becomes a float32; a float32 becomes a float64 next to a
float64 or an int64, and next to arrays of these.
"""

from __future__ import annotations

from collections.abc import Sequence

from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.values import RANKS, Array, Number, Unfit, Value
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT, REAL
from mooncake_py.compiler.regions.ir import Compare, Const, Expr, Op, Select

__all__ = [
    "alike", "as_float", "as_float64", "as_kind", "compared_numbers", "in_float32", "is_narrow",
    "is_wide", "is_written", "kind_of_all", "largest", "may_be_narrow", "one_of", "rank_of",
]  # fmt: skip

WEAK = frozenset({"bool", "int", "float"})
"""The Python types, which take the width of the other operand."""


def kind_of_all(b: Builder, values: Sequence[Value]) -> str:
    """Return the kind in which NumPy reckons with arrays and numbers."""
    kinds = {v.kind for v in values if isinstance(v, Number | Array)}
    if FLOAT32 not in kinds and not any(is_narrow(v) for v in values):
        return FLOAT if FLOAT in kinds else INT
    strong = [v for v in values if is_strong(b, v)]
    return FLOAT if any(v.kind != FLOAT32 for v in strong) else FLOAT32  # type: ignore[union-attr]


def is_narrow(*values: Value) -> bool:
    """Return True if one of some values is, or may be, a float32."""
    return any(isinstance(v, Number) and (v.kind == FLOAT32 or v.narrow) for v in values)


def is_strong(b: Builder, v: Value) -> bool:
    """Return True for a value whose own width counts; bools have none."""
    if not isinstance(v, Number):
        return isinstance(v, Array) and v.kind != BOOL
    if v.rank is not None and not v.narrow:
        raise Unfit("a float32 and a number whose type varies", b.place)
    return v.type not in WEAK and v.kind != BOOL and not v.narrow


def alike(b: Builder, values: Sequence[Value]) -> list[Value]:
    """Return values as NumPy takes them in an operation where one of them is of float32."""
    if not any(isinstance(v, Number | Array) and v.kind == FLOAT32 for v in values) and not (
        is_narrow(*values)
    ):
        return [*values]
    kind = kind_of_all(b, [v for v in values if not is_mask(v)])
    return [v if is_mask(v) else of_kind(v, kind) for v in values]


def is_mask(v: Value) -> bool:
    """Return True for a truth, or an array of them."""
    return isinstance(v, Number | Array) and v.kind == BOOL


def of_kind(v: Value, kind: str) -> Value:
    """Return a number or an array as one of float32 or of float64."""
    if isinstance(v, Number):
        return Number(as_kind(v.e, v.kind, kind), {FLOAT: "float64", FLOAT32: "float32"}[kind])
    if isinstance(v, Array) and v.kind != kind:
        return Array(v.shape, kind, lambda index: as_kind(v.at(index), v.kind, kind))
    return v


def as_kind(e: Expr, kind: str, to: str) -> Expr:
    """Return a number of a kind as one of another, which is float32 or float64."""
    if kind == to or is_written(e):  # a literal takes the kind of the other operand
        return e
    return Op("float" if to == FLOAT else "float32", (e,))


# Numbers.


def in_float32(b: Builder, op: str, x: Number, y: Number) -> Number:
    """Return the result of an operator on two numbers, of which one is, or may be, a float32."""
    kind = kind_of_all(b, (x, y))
    p, q = (as_kind(v.e, v.kind, kind) for v in (x, y))
    e = Op(op, (p, q), place=b.place)
    if kind == FLOAT:
        return Number(e, "float64")
    if FLOAT32 in (x.kind, y.kind):
        return Number(e, "float32")
    if op == "pow":
        raise Unfit("a power of a number that may be a float32: convert it to float first", b.place)
    rank = largest([rank_of(b, x), rank_of(b, y)])
    wide = Op(op, (x.e, y.e), place=b.place)
    return Number(Select(is_float32(rank), Op("float", (e,)), wide), "float64", rank, narrow=True)


def compared_numbers(b: Builder, ops: Sequence[str], numbers: Sequence[Number]) -> Expr:
    """Return a chain of comparisons of numbers."""
    wide = Compare(tuple(ops), tuple([v.e for v in numbers]), place=b.place)
    if not is_narrow(*numbers):
        return wide
    if len(ops) > 1:
        raise Unfit("a chain of comparisons of float32", b.place)
    kind = kind_of_all(b, numbers)
    e = Compare(tuple(ops), tuple([as_kind(v.e, v.kind, kind) for v in numbers]), place=b.place)
    if kind == FLOAT or any(v.kind == FLOAT32 for v in numbers):
        return e
    test = is_float32(largest([rank_of(b, v) for v in numbers]))
    return Op("or", (Op("and", (test, e)), Op("and", (Op("not", (test,)), wide))))


def one_of(b: Builder, test: Expr, x: Number, y: Number) -> Number:
    """Return one of two numbers, whose type may be known only when it runs."""
    kinds = {x.kind, y.kind}
    if x.type == y.type and x.rank is None and y.rank is None:
        return Number(Select(test, x.e, y.e, place=b.place), x.type)
    if not REAL & kinds:
        raise Unfit("a number that is an int of Python on one way and of NumPy on another", b.place)
    p, q = (as_float64(v) for v in (x, y))
    rank = Select(test, rank_of(b, x), rank_of(b, y))
    e = Select(test, p, q, place=b.place)
    return Number(e, "float64", rank, narrow=may_be_narrow(b, (x, y)))


def as_float64(x: Number) -> Expr:
    """Return a number as one of float64."""
    e = as_float(x.e)
    return e if x.kind == FLOAT or is_written(e) else Op("float", (e,))


def may_be_narrow(b: Builder, numbers: Sequence[Number]) -> bool:
    """Return True if one of some numbers may be a float32; none of them is a float64 then."""
    if not is_narrow(*numbers):
        return False
    if any(is_wide(v) for v in numbers):
        raise Unfit("a float32 or a float64", b.place)
    return True


def is_wide(x: Number) -> bool:
    """Return True for a number that may be a float64."""
    return x.type == "float64" and not x.narrow


def is_float32(rank: Expr) -> Expr:
    """Return whether the type of a number is float32."""
    return Compare(("eq",), (rank, Const(RANKS["float32"])))


def rank_of(b: Builder, x: Number) -> Expr:
    """Return an expression for the rank of a number's type."""
    if x.rank is not None:
        return x.rank
    if x.type not in RANKS:
        raise Unfit("an int of NumPy and a number whose type varies", b.place)
    return Const(RANKS[x.type])


def largest(ranks: Sequence[Expr]) -> Expr:
    """Return the largest of some ints."""
    known = [r.value for r in ranks if isinstance(r, Const) and r.value is not None]
    others = [r for r in dict.fromkeys(ranks) if not isinstance(r, Const)]
    if known and (not others or max(known) == max(RANKS.values())):
        return Const(int(max(known)))
    parts = [*others, *([Const(int(max(known)))] if known and max(known) > 0 else [])]
    return parts[0] if len(parts) == 1 else Op("max", tuple(parts))


def is_written(e: Expr) -> bool:
    """Return True for a number that is written down."""
    return isinstance(e, Const) and e.value is not None


def as_float(e: Expr) -> Expr:
    """Return a number that is written down as a float."""
    if isinstance(e, Const) and type(e.value) is int:
        return Const(float(e.value))
    return e
