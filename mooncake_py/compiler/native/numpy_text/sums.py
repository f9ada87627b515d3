"""Sums of expressions along counters: of products of two factors by BLAS."""

from __future__ import annotations

from mooncake_py.compiler.native.numpy_text.vectors import Vectors, is_product
from mooncake_py.compiler.native.numpy_text.views import Axes, expanded
from mooncake_py.compiler.regions.ir import Const, Expr, Load, Op, Select, parts_of

__all__ = ["axis_in", "stripped", "summed"]

LETTERS = "ijklmnop"


def stripped(e: Expr) -> tuple[bool, Expr]:
    """Return whether an expression is the negative of one, and that."""
    is_negative = False
    while isinstance(e, Op) and e.op == "neg":
        (e,), is_negative = e.args, not is_negative
    return is_negative, e


def axis_in(axes: Axes, over: Axes) -> str:
    """Return the argument for the axes that are reduced: all of them, one or some."""
    if len(over) == len(axes):
        return "None" if len(axes) > 1 else "0"
    places = [axes.index(k) for k in over]
    return str(places[0]) if len(places) == 1 else f"({', '.join(map(str, places))})"


def summed(
    v: Vectors, e: Expr, kept: Axes, *, products: bool = True, is_inner: bool = False
) -> str:
    """Return the sum over all counters that are not kept.

    Parameters
    ----------
    products : bool
        Whether sums of products may be computed as such: the last digits differ.
    is_inner : bool
        Whether they are ``x @ y``, which takes longer, and differs where a vector is reversed.
    """
    own = v.loops.axes(e)
    over = tuple([k for k in own if k not in kept])
    missing = [k for k in v.loops.counters if k not in own and k not in kept]
    many = "".join(f" * {v.scalars.text(v.loops.extents[k])}" for k in missing)
    if not over:
        text = v.text(e, kept)
        return f"({text}{many})" if many else text
    left = tuple([k for k in own if k in kept])
    text = contracted(v, e, left, over, is_inner=is_inner) if products else None
    if isinstance(e, Select) and (e.a, e.b) == (Const(1.0), Const(0.0)) and v.loops.axes(e.test):
        axis = axis_in(own, over)
        text = f"np.add.reduce({v.text(e.test, own)}, axis={axis}, dtype=np.float64)"
    if text is None and products and isinstance(e, Op) and e.op in ("add", "sub"):
        a, b = (summed(v, part, kept) for part in e.args)
        return f"({a} {'+' if e.op == 'add' else '-'} {b})"
    if text is None:
        text = f"np.add.reduce({v.text(e, own)}, axis={axis_in(own, over)})"
    text = expanded(text, left, kept)
    return f"({text}{many})" if many else text


def contracted(
    v: Vectors, e: Expr, kept: Axes, over: Axes, *, is_inner: bool = False
) -> str | None:
    """Return a sum of products of two factors, None if it is none."""
    if v.scalars.careful:
        return None
    factors = factors_of(e)
    numbers = [f for f in factors if not v.loops.axes(f)]
    outside = [f for f in factors if v.loops.axes(f) and not set(v.loops.axes(f)) & set(over)]
    inside = [f for f in factors if set(v.loops.axes(f)) & set(over)]
    if len(inside) < 2 and not outside and not numbers:
        return None
    if len(inside) > 2:
        inside = [inside[0], product_of(inside[1:])]
    rest = tuple([k for k in kept if any(k in v.loops.axes(f) for f in inside)])
    if len(inside) == 1:
        own = v.loops.axes(inside[0])
        text = f"np.add.reduce({v.text(inside[0], own)}, axis={axis_in(own, over)})"
    else:
        one, other = inside
        text = pair(v, one, other, rest, over, is_inner=is_inner)
    parts = [expanded(text, rest, kept)]
    parts += [v.text(f, kept) for f in outside]
    parts += [v.scalars.text(f) for f in numbers]
    return parts[0] if len(parts) == 1 else f"({' * '.join(parts)})"


def pair(v: Vectors, a: Expr, b: Expr, kept: Axes, over: Axes, *, is_inner: bool = False) -> str:
    """Return the sum of the products of two arrays."""
    one, other = v.loops.axes(a), v.loops.axes(b)
    if len(over) == 1 and set(one) & set(other) == set(over):
        (along,) = over
        rows = tuple([k for k in one if k != along])
        columns = tuple([k for k in other if k != along])
        if rows and columns and kept == columns + rows:
            a, b, one, other, rows, columns = b, a, other, one, columns, rows
        is_turned = one != (*rows, along) if rows else other != (along, *columns)
        if v.scalars.in_reverse and is_turned and len(rows) + len(columns) == 1:
            # As it lies in memory: what is turned takes longer, as do parts, which ``dot`` copies.
            a, b, one, other, rows, columns = b, a, other, one, columns, rows
        if len(rows) <= 1 and len(columns) <= 1:
            x, y = v.text(a, one), v.text(b, other)
            x = x if one == (*rows, along) else f"{x}.T"
            y = y if other == (along, *columns) else f"{y}.T"
            is_product = is_inner or (rows and columns)
            if v.scalars.in_reverse and len(rows) + len(columns) == 1:
                is_product = isinstance(a if rows else b, Load) and "," in (x if rows else y)
            return f"({x} @ {y})" if is_product else f"{x}.dot({y})"
    letters = dict(zip(v.loops.counters, LETTERS, strict=False))
    left, right, result = ("".join(letters[k] for k in axes) for axes in (one, other, kept))
    return f"np.einsum('{left},{right}->{result}', {v.text(a, one)}, {v.text(b, other)})"


def factors_of(e: Expr) -> list[Expr]:
    """Return the factors of a product."""
    if not is_product(e):
        return [e]
    return [f for part in parts_of(e) for f in factors_of(part)]


def product_of(factors: list[Expr]) -> Expr:
    """Return the product of some factors."""
    e = factors[0]
    for f in factors[1:]:
        e = Op("mul", (e, f))
    return e
