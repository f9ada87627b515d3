"""``logsumexp``, ``softmax`` and ``log_softmax``."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mooncake_py.compiler.native.building.arguments import (
    Given,
    Reader,
    arranged,
    array_of,
    axes_in,
    keeps_axes,
    written,
)
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.formulas import Formula
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import Array, Index, Number, Unfit, Value
from mooncake_py.compiler.native.functions import extrema, reductions
from mooncake_py.compiler.native.regions.region import FLOAT
from mooncake_py.compiler.regions.ir import Compare, Const, Expr, Op, Select

__all__ = ["EXPONENTIALS"]


def floats_of(b: Builder, value: Value | None) -> Array:
    """Return an argument that must be an array of float64, with its elements computed."""
    a = array_of(b, value)
    if a.kind != FLOAT:
        raise Unfit(f"a sum of exponentials of {said(a)}: use float64", b.place)
    return a if a.base else b.kept(a)


def largest(b: Builder, a: Array, axes: Sequence[int]) -> Formula:
    """Return the largest elements along some axes, which are kept; zero if they are infinite."""
    b.is_exact = False
    extrema.require_some(b, a, axes)
    found = reductions.reduced(b, "max", a, axes, keeps=True)
    assert isinstance(found, Array)
    top = found

    def finite(at: Index) -> Expr:
        e = top.at(at)
        is_finite = Compare(("lt",), (Op("abs", (e,)), Const(math.inf)))
        return Select(is_finite, e, Const(0.0))

    return Formula(b, Array(top.shape, FLOAT, finite)).kept()


def log_of_sums(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``logsumexp(a, axis, b, keepdims)``."""
    value, axis, weights, keeps = arranged(b, args, given, "a axis b keepdims")
    a = floats_of(b, value)
    axes = axes_in(b, axis, len(a.shape))
    keeps_ = keeps_axes(b, keeps)
    x = Formula(b, a)
    top = largest(b, a, axes)
    terms = (x - top)(np.exp)
    if weights is not None and written(b, weights) is not None:
        raise Unfit("logsumexp with weights", b.place)
    found = Formula(b, reductions.added_up(b, terms.value, axes, keeps_))(np.log)
    if keeps_:
        return (found + top).value
    apart = top.value
    assert isinstance(apart, Array)
    if isinstance(found.value, Number):
        alone = Number(apart.at((Const(0),) * len(apart.shape)), "float64")
        return (found + Formula(b, alone)).value
    kept = [k for k in range(len(a.shape)) if k not in axes]

    def at(index: Index) -> Expr:
        places = dict(zip(kept, index, strict=True))
        return apart.at(tuple([places.get(k, Const(0)) for k in range(len(a.shape))]))

    narrow = Array(tuple([a.shape[k] for k in kept]), FLOAT, at)
    return (found + Formula(b, narrow)).value


def softmax(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``softmax(x, axis)``."""
    value, axis = arranged(b, args, given, "x axis")
    a = floats_of(b, value)
    axes = axes_in(b, axis, len(a.shape))
    terms = (Formula(b, a) - largest(b, a, axes))(np.exp).kept()
    sums = Formula(b, reductions.added_up(b, terms.value, axes, keeps=True))
    return (terms / sums).value


def log_softmax(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``log_softmax(x, axis)``."""
    value, axis = arranged(b, args, given, "x axis")
    a = floats_of(b, value)
    axes = axes_in(b, axis, len(a.shape))
    apart = (Formula(b, a) - largest(b, a, axes)).kept()
    sums = Formula(b, reductions.added_up(b, apart(np.exp).value, axes, keeps=True))
    return (apart - sums(np.log)).value


EXPONENTIALS: dict[str, Reader] = {
    "logsumexp": log_of_sums, "softmax": softmax, "log_softmax": log_softmax,
}  # fmt: skip
