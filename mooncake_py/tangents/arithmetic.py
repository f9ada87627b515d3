"""The arithmetic of tangents: sum, scaling, inner product, reset to zero.

Memory that a tangent holds twice, as one object or as overlapping views, counts once.  Two tangents
that are combined share memory in the same way, as tangents of one primal do.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.errors import InvalidTangentError
from mooncake_py.tangents.build import zero_number
from mooncake_py.tangents.containers import (
    EMPTY,
    IMMUTABLE,
    MUTABLE,
    fill_container,
    is_number,
    join_container,
    parts_of,
)
from mooncake_py.tangents.kinds import NoFData, key_name
from mooncake_py.tangents.memory import Shadows, cells
from mooncake_py.words import text_of_key

__all__ = ["accumulate", "dot", "scale", "set_to_zero"]


def accumulate(x: Any, y: Any) -> Any:
    """Return ``x + y``; what is mutable in `x` is changed in place and returned itself.

    Parameters
    ----------
    x, y : tangent, fdata or rdata
        Of the same structure.  ``NoFData()`` as `x` ignores `y`.

    Raises
    ------
    InvalidTangentError
        If kinds, shapes or fields differ, or a sum does not fit the dtype of `x`.
    """
    if type(x) is ndarray and type(y) is ndarray and x.shape == y.shape:
        return np.add(x, y, out=x, casting="same_kind")
    walk = _Sum()
    total = walk.add(x, y, "t")
    for d, value in walk.pending:
        d[...] = value
    return total


def set_to_zero(t: Any) -> Any:
    """Return the zero like `t`; what is mutable in `t` is zeroed in place and returned itself."""
    return _zeroed(t, {})


def scale(a: float, t: Any) -> Any:
    """Return `a` times a tangent, as a new tangent with the same sharing.

    Parameters
    ----------
    a : float
        A real number; dtypes stay those of `t`.
    t : tangent
    """
    return _Scaled(float(a)).of(t)


def dot(t: Any, s: Any) -> float:
    """Return the real inner product Re<t, s> of two tangents of one primal.

    Each cell of memory counts once, however many views of it the tangents hold.
    """
    walk = _Dot()
    walk.visit(t, s, "t")
    return walk.total + sum(_array_dot(pairs) for pairs in walk.arrays.values())


class _Sum:
    """Adds two tangents.  Array sums are all formed before one is stored: views may overlap."""

    def __init__(self) -> None:
        self.pending: list[tuple[ndarray, ndarray]] = []
        self.seen: dict[int, Any] = {}

    def add(self, x: Any, y: Any, path: str) -> Any:
        if x is NoFData():
            return x
        if is_number(x) and is_number(y):
            return x + y
        kind = type(x)
        if kind in EMPTY and x is y:
            return x
        if issubclass(type(x), ndarray) and issubclass(type(y), ndarray):
            self.pending.append((x, _array_sum(x, y, path)))
            return x
        left, right = _matched_parts(x, y, path)
        if kind in IMMUTABLE:
            return join_container(
                kind, {k: self.add(left[k], right[k], f"{path}[{text_of_key(k)}]") for k in left}
            )
        if id(x) not in self.seen:
            self.seen[id(x)] = x
            fill_container(
                x, {k: self.add(left[k], right[k], f"{path}[{text_of_key(k)}]") for k in left}
            )
        return x


def _array_sum(x: ndarray, y: ndarray, path: str) -> ndarray:
    if x.shape != y.shape or not np.can_cast(y.dtype, x.dtype, "same_kind"):
        raise _mismatch(x, y, path)
    return np.add(x, y, dtype=x.dtype, casting="same_kind")


def _zeroed(t: Any, seen: dict[int, Any]) -> Any:
    kind = type(t)
    if isinstance(t, ndarray):
        t[...] = 0
        return t
    if is_number(t):
        return zero_number(t)
    if kind in EMPTY:
        return t
    if kind in IMMUTABLE:
        return join_container(kind, {k: _zeroed(v, seen) for k, v in parts_of(t).items()})
    _require_container(t, "t")
    if id(t) not in seen:
        seen[id(t)] = t
        fill_container(t, {k: _zeroed(v, seen) for k, v in parts_of(t).items()})
    return t


class _Scaled:
    """Makes a multiple of one tangent."""

    def __init__(self, factor: float) -> None:
        self.factor = factor
        self.shadows = Shadows()
        self.memo: dict[int, tuple[Any, Any]] = {}

    def of(self, t: Any) -> Any:
        kind = type(t)
        if isinstance(t, ndarray):
            d = self.shadows.view(t)
            np.multiply(t, self.factor, out=d, casting="same_kind")
            return d
        if is_number(t):
            return type(t)(t * self.factor)
        if kind in EMPTY:
            return t
        _require_container(t, "t")
        if kind in IMMUTABLE:
            return join_container(kind, {k: self.of(v) for k, v in parts_of(t).items()})
        if id(t) not in self.memo:
            new = kind()
            self.memo[id(t)] = t, new
            fill_container(new, {k: self.of(v) for k, v in parts_of(t).items()})
        return self.memo[id(t)][1]


class _Dot:
    """Sums the products of numbers and collects the arrays by the memory they lie in."""

    def __init__(self) -> None:
        self.total = 0.0
        self.arrays: defaultdict[int, list[tuple[ndarray, ndarray]]] = defaultdict(list)
        self.shadows = Shadows()
        self.seen: dict[int, Any] = {}

    def visit(self, t: Any, s: Any, path: str) -> None:
        if is_number(t) and is_number(s):
            self.total += float(t.real * s.real + t.imag * s.imag)
        elif isinstance(t, ndarray) and issubclass(type(s), ndarray):
            if t.shape != s.shape:
                raise _mismatch(t, s, path)
            self.arrays[id(self.shadows.block(t))].append((t, s))
        elif not (type(t) in EMPTY and t is s):
            left, right = _matched_parts(t, s, path)
            if type(t) in MUTABLE:
                if id(t) in self.seen:
                    return
                self.seen[id(t)] = t
            for k in left:
                self.visit(left[k], right[k], f"{path}[{text_of_key(k)}]")


def _array_dot(pairs: list[tuple[ndarray, ndarray]]) -> float:
    """Return the inner product over one block of memory, each cell once."""
    parts = [part for t, s in pairs for part in _real_parts(t, s)]
    if len(pairs) == 1 and not _may_repeat(pairs[0][0]):
        return float(sum(product.sum() for _, product in map(_product, parts)))
    where, products = zip(*(_product(part, with_cells=True) for part in parts), strict=True)
    _, first = np.unique(np.concatenate(where), return_index=True)
    return float(np.concatenate(products)[first].sum())


def _real_parts(t: Any, s: Any) -> list[tuple[ndarray, ndarray]]:
    if t.dtype.kind == "c":
        return [(t.real, s.real), (t.imag, s.imag)]
    return [(t, s.real)]


def _product(
    pair: tuple[ndarray, ndarray], with_cells: bool = False
) -> tuple[ndarray | None, ndarray]:
    t, s = pair
    wide = np.result_type(t.dtype, s.dtype, np.float64)  # float32 products summed in float64
    product = np.multiply(t, s, dtype=wide).ravel()
    return (cells(t).ravel() if with_cells else None), product


def _may_repeat(a: ndarray) -> bool:
    """Return whether two elements of an array may be one cell (never wrongly False)."""
    reach = 0
    for stride, n in sorted(zip(map(abs, a.strides), a.shape, strict=True)):
        if n > 1:
            if stride < reach + a.itemsize:
                return True
            reach += stride * (n - 1)
    return False


def _matched_parts(x: Any, y: Any, path: str) -> tuple[Any, Any]:
    if type(x) is not type(y):
        raise _mismatch(x, y, path)
    _require_container(x, path)
    left, right = parts_of(x), parts_of(y)
    if left.keys() != right.keys():
        raise _mismatch(x, y, path)
    return left, right


def _require_container(t: Any, path: str) -> None:
    if type(t) not in IMMUTABLE and type(t) not in MUTABLE:
        raise InvalidTangentError(
            f"{path} is not a tangent: {_brief(t)}",
            why="an int, an object or an array subclass is never a tangent",
            fix="build tangents with zero_tangent or randn_tangent",
        )


def _mismatch(x: Any, y: Any, path: str) -> InvalidTangentError:
    return InvalidTangentError(
        f"tangents do not match at {path}",
        why=f"left:  {_brief(x)}\nright: {_brief(y)}",
        fix="combine tangents of the same primal, built with zero_tangent or randn_tangent",
    )


def _brief(t: Any) -> str:
    if isinstance(t, ndarray):
        return f"array of {t.dtype}, shape {t.shape}"
    return f"{key_name(type(t))} {t!r:.60}"
