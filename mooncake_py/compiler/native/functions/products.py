"""Products of arrays of any number of axes, as one loop over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from string import ascii_letters
from typing import Any

import numpy as np

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.arguments import (
    Given,
    Reader,
    arranged,
    array_of,
    axes_in,
    written,
)
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.joined import with_axis
from mooncake_py.compiler.native.building.values import (
    Array,
    ComplexArray,
    Number,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.functions.einsum import Subscripts, contracted
from mooncake_py.compiler.native.functions.reductions import product
from mooncake_py.compiler.native.functions.repeating import flattened
from mooncake_py.compiler.native.regions.linear import ONE, plus, times
from mooncake_py.compiler.native.regions.region import FLOAT
from mooncake_py.compiler.regions.ir import Const, Expr, Op

__all__ = ["PRODUCTS", "of_stacks", "over_last_axes"]


def letters(count: int, start: int = 0) -> str:
    """Return so many letters, from one of them on."""
    return "".join(islice(ascii_letters, start, start + count))


def multiplied(b: Builder, x: Array, y: Array, names: Subscripts) -> Value:
    """Return a product by the letters of the axes."""
    if isinstance(x, ComplexArray) or isinstance(y, ComplexArray):
        raise Unfit(f"a product of {said(x, y)}: use arrays of floats", b.place)
    found = contracted(b, names, [x, y])
    if isinstance(found, Array):
        b.layouts.certain(found)
    return found


def of_stacks(b: Builder, x: Array, y: Array) -> Value:
    """Return ``x @ y`` where one of them has more than two axes."""
    ndims = len(x.shape), len(y.shape)
    rows = letters(1) if ndims[0] > 1 else ""
    columns = letters(1, 2) if ndims[1] > 1 else ""
    deep = max(ndims) - 2
    outer = letters(deep, 3)
    left = outer[deep - max(ndims[0] - 2, 0) :] + rows + "b"
    right = outer[deep - max(ndims[1] - 2, 0) :] + ("b" + columns)
    b.check("eq", x.shape[-1], y.shape[-2] if columns else y.shape[0])
    return multiplied(b, x, y, Subscripts([left, right], outer + rows + columns))


def over_last_axes(b: Builder, x: Array, y: Array) -> Value:
    """Return ``np.dot(x, y)`` where one of them has more than two axes."""
    n, m = len(x.shape), len(y.shape)
    left, right = letters(n), letters(m, n)
    summed = right[-2] if m > 1 else right[0]
    return multiplied(
        b, x, y, Subscripts([left[:-1] + summed, right], left[:-1] + right.replace(summed, ""))
    )


def tensor_product(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.tensordot(a, b, axes)``."""
    first, second, axes = arranged(b, args, given, "a b axes")
    x, y = array_of(b, first), array_of(b, second)
    n, m = len(x.shape), len(y.shape)
    chosen = 2 if axes is None else written(b, axes)
    if type(chosen) is int:
        if not 0 <= chosen <= min(n, m):
            raise Unfit("np.tensordot along more axes than there are", b.place)
        own, other = [*range(n - chosen, n)], [*range(chosen)]
    else:
        assert isinstance(axes, Tuple)
        pair = [
            Tuple((v,)) if isinstance(v, Number) else Tuple(v.items) if isinstance(v, Tuple) else v
            for v in axes.items
        ]
        if len(pair) != 2:
            raise Unfit("np.tensordot along axes that are not a pair", b.place)
        own, other = (
            [*axes_in(b, v, k)] if v.items else []  # type: ignore[union-attr]
            for v, k in zip(pair, (n, m), strict=True)
        )
    if len(own) != len(other):
        raise Unfit("np.tensordot along axes that are not pairs", b.place)
    left, right = letters(n), [*letters(m, n)]
    for i, j in zip(own, other, strict=True):
        b.check("eq", x.shape[i], y.shape[j])
        right[j] = left[i]
    kept = [c for c in left if c not in right] + [c for c in right if c not in left]
    if not kept:
        raise Unfit("np.tensordot that returns an array without axes: use np.sum(a * b)", b.place)
    return multiplied(b, x, y, Subscripts([left, "".join(right)], "".join(kept)))


def inner(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.inner(a, b)``."""
    first, second = arranged(b, args, given, "a b")
    if first is None or second is None:
        raise Unfit("a product of one operand: give two", b.place)
    if isinstance(first, Number) or isinstance(second, Number):  # NumPy makes arrays of numbers
        pair = [operations.of_numpy(b, v) for v in (first, second)]
        found = operations.operated(b, "mul", *pair)
        return found if isinstance(found, Number) else operations.added_to_nothing(b, found)
    x, y = array_of(b, first), array_of(b, second)
    if len(x.shape) == len(y.shape) == 1:
        return product(b, x, y)
    left, right = letters(len(x.shape)), letters(len(y.shape), len(x.shape))
    b.check("eq", x.shape[-1], y.shape[-1])
    right = right[:-1] + left[-1]
    return multiplied(b, x, y, Subscripts([left, right], left[:-1] + right[:-1]))


def outer(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.outer(a, b)``, of all elements."""
    x, y = (flattened(b, a) for a in arranged(b, args, given, "a b"))
    if isinstance(x, ComplexArray) or isinstance(y, ComplexArray):
        raise Unfit(f"np.outer of {said(x, y)}: use floats", b.place)
    column = Array((*x.shape, ONE), x.kind, lambda at: x.at(at[:1]))
    return operations.operated(b, "mul", column, y)


def kronecker(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.kron(a, b)``."""
    first, second = arranged(b, args, given, "a b")
    x, y = array_of(b, first), array_of(b, second)
    if isinstance(x, ComplexArray) or isinstance(y, ComplexArray):
        raise Unfit(f"np.kron of {said(x, y)}: use floats", b.place)
    while len(x.shape) < len(y.shape):
        x = with_axis(x, 0)
    while len(y.shape) < len(x.shape):
        y = with_axis(y, 0)
    x, y = (a if a.base else b.kept(a) for a in (x, y))
    n = len(x.shape)
    products = operations.operated(
        b,
        "mul",
        Array((*x.shape, *[ONE] * n), x.kind, lambda at: x.at(at[:n])),
        Array((*[ONE] * n, *y.shape), y.kind, lambda at: y.at(at[n:])),
    )
    assert isinstance(products, Array)
    found = b.new([times(p, q) for p, q in zip(x.shape, y.shape, strict=True)], products.kind)
    b.layouts.certain(found)

    def place(at: Sequence[Expr]) -> tuple[Expr, ...]:
        return tuple([plus(times(at[k], y.shape[k]), at[n + k]) for k in range(n)])

    b.for_all((*x.shape, *y.shape), lambda at: b.stored(found, place(at), products.at(at)))
    return found


def crossed(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.cross(x, y)`` of vectors of three along the last axis."""
    x, y = (array_of(b, a) for a in arranged(b, args, given, "a b"))
    if (x.kind, y.kind) != (FLOAT, FLOAT) or isinstance(x, ComplexArray):
        raise Unfit(f"np.cross of {said(x, y)}: use vectors of three float64", b.place)
    x, y = (a if a.base else b.kept(a) for a in (x, y))
    for a in (x, y):
        b.check("eq", a.shape[-1], Const(3))
    shape = operations.shape_of_all([x, y])
    p, q = (operations.broadcast_to(a, shape, b) for a in (x, y))
    found = b.new((*shape[:-1], Const(3)), FLOAT)
    b.layouts.follow(found, [x, y])
    for k in range(3):
        pairs = ((Const((k + 1) % 3), Const((k + 2) % 3)), (Const((k + 2) % 3), Const((k + 1) % 3)))

        def element(at: Sequence[Expr], pairs: Any = pairs) -> Expr:
            terms = [Op("mul", (p((*at, i)), q((*at, j)))) for i, j in pairs]
            return Op("sub", tuple(terms))

        b.for_all(shape[:-1], lambda at, k=k, e=element: b.stored(found, (*at, Const(k)), e(at)))
    return found


def of_all(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.linalg.multi_dot(arrays)``, from left to right."""
    (value,) = arranged(b, args, given, "arrays")
    if not isinstance(value, Tuple) or len(value.items) < 2:
        raise Unfit(f"np.linalg.multi_dot of {said(value)}: use a list of arrays", b.place)
    found = value.items[-1]
    is_vector = isinstance(found, Array) and len(found.shape) == 1
    b.is_exact = False
    if is_vector:
        for a in value.items[-2::-1]:
            found = product(b, a, found)
        return found
    found = value.items[0]
    for a in value.items[1:]:
        found = product(b, found, a)
    return found


def squared(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.linalg.matrix_power(a, n)`` for a small constant power."""
    value, power = arranged(b, args, given, "a n")
    a = array_of(b, value)
    n = None if power is None else written(b, power)
    if type(n) is not int or not 1 <= n <= 8 or len(a.shape) != 2:
        raise Unfit("np.linalg.matrix_power to a power that is not a constant from 1 to 8", b.place)
    b.check("eq", a.shape[0], a.shape[1])
    if n == 1:  # NumPy returns the array itself
        return value if isinstance(value, Array) else b.kept(a)
    found: Value = a
    for _ in range(n - 1):
        found = product(b, found, a)
    return found


PRODUCTS: dict[Any, Reader] = {
    np.tensordot: tensor_product, np.inner: inner, np.outer: outer, np.kron: kronecker,
    np.cross: crossed, np.linalg.multi_dot: of_all, np.linalg.matrix_power: squared,
}  # fmt: skip
