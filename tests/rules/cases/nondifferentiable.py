"""Cases for functions without a derivative, at points away from their steps."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.rules.cases import Case
from tests.rules.cases.versions import NUMPY

X = (0.7, -1.3, 2.4, 0.2)


def step_cases() -> list[Case]:
    """Piecewise constant functions."""
    x = np.array(X)
    unary: list[Callable[..., Any]] = [
        np.floor, np.ceil, np.rint, np.trunc, np.round, np.around, np.ndarray.round,
        np.spacing,
    ]  # fmt: skip
    numbers: list[Callable[..., Any]] = [math.floor, math.ceil, math.trunc, math.ulp]
    return [
        *(Case(f, (x,)) for f in unary),
        *(Case(f, (1.3,)) for f in numbers),
        Case(np.round, (x * 10, -1)),
        # Aliasing arguments would be divided by themselves, which is a step.
        Case(np.floor_divide, (x, np.array([0.37, 0.43, 0.51, 0.59])), options={"aliasing": False}),
        Case(np.rint, (x + 1j * x,)),
        Case(np.floor, (x,), {"out": np.ones(4)}),
    ]


def question_cases() -> list[Case]:
    """Functions that answer true or false."""
    x, z = np.array(X), np.array([1.0, 2.0])
    unary: list[Callable[..., Any]] = [
        np.logical_not, np.isfinite, np.isinf, np.isnan, np.isneginf, np.isposinf, np.signbit,
        np.iscomplex, np.isreal, np.all, np.any, np.ndarray.all, np.ndarray.any,
    ]  # fmt: skip
    binary: list[Callable[..., Any]] = [
        np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
        np.logical_and, np.logical_or, np.logical_xor, np.isclose, np.allclose, np.array_equal,
        np.array_equiv, np.isin,
    ]  # fmt: skip
    numbers: list[Callable[..., Any]] = [
        math.isfinite, math.isinf, math.isnan, cmath.isfinite, cmath.isinf, cmath.isnan,
        float.is_integer,
    ]  # fmt: skip
    return [
        *(Case(f, (x,)) for f in unary),
        *(Case(f, (z, np.array([1.5, 0.5]))) for f in binary),
        *(Case(f, (1.3,)) for f in numbers),
        Case(math.isclose, (1.3, 1.4)),
        Case(cmath.isclose, (1.3 + 0j, 1.4)),
        Case(np.isnat, (np.array(["2020-01-01"], dtype="M8[D]"),)),
    ]


def integer_cases() -> list[Case]:
    """Functions of integers."""
    i, j = np.array([12, 7, 5]), np.array([3, 2, 1])
    binary: list[Callable[..., Any]] = [
        np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift, np.gcd,
        np.lcm,
    ]  # fmt: skip
    two: list[Callable[..., Any]] = [math.gcd, math.lcm, math.comb, math.perm]
    one: list[Callable[..., Any]] = [math.factorial, math.isqrt]
    return [
        *(Case(f, (i, j)) for f in binary),
        *(Case(f, (i,)) for f in (np.invert, np.bitwise_count)),
        *(Case(f, (6, 4)) for f in two),
        *(Case(f, (6,)) for f in one),
        Case(np.packbits, (np.array([1, 0, 1], dtype=np.uint8),)),
        Case(np.unpackbits, (np.array([7], dtype=np.uint8),)),
    ]


def index_cases() -> list[Case]:
    """Functions that return indices and counts."""
    x = np.array(X)
    unary: list[Callable[..., Any]] = [
        np.argmax, np.argmin, np.argsort, np.nanargmax, np.nanargmin, np.ndarray.argmax,
        np.ndarray.argmin, np.ndarray.argsort, np.nonzero, np.ndarray.nonzero, np.flatnonzero,
        np.argwhere, np.count_nonzero,
    ]  # fmt: skip
    square: list[Callable[..., Any]] = [
        np.diag_indices_from,
        np.tril_indices_from,
        np.triu_indices_from,
    ]
    sizes: list[Callable[..., Any]] = [np.diag_indices, np.tril_indices, np.triu_indices]
    edges = np.array([0.0, 1.0, 2.0])
    return [
        *(Case(f, (x,)) for f in unary),
        *(Case(f, (x.reshape(2, 2),)) for f in square),
        *(Case(f, (3,)) for f in sizes),
        Case(np.argmax, (x.reshape(2, 2),), {"axis": 1}),
        Case(np.argpartition, (x, 1)),
        Case(np.ndarray.argpartition, (x, 1)),
        Case(np.searchsorted, (edges, x)),
        Case(np.ndarray.searchsorted, (edges, x)),
        Case(np.digitize, (x, edges)),
        Case(np.lexsort, ((x, x),)),
        Case(np.unravel_index, (np.array([1, 2]), (2, 2))),
        Case(np.ravel_multi_index, ((1, 1), (2, 2))),
        Case(np.indices, ((2, 2),)),
        Case(np.mask_indices, (3, np.triu)),
    ]


def type_cases() -> list[Case]:
    """Functions that do not depend on values, and those that return text or settings."""
    x = np.array(X)
    unary: list[Callable[..., Any]] = [
        np.shape, np.ndim, np.size, np.iterable, np.isscalar, np.iscomplexobj, np.isrealobj,
        np.isfortran, np.result_type, np.min_scalar_type, np.common_type, np.array2string,
        np.array_repr, np.array_str,
    ]  # fmt: skip
    of_dtypes: list[Callable[..., Any]] = [np.promote_types, np.can_cast, np.issubdtype]
    settings: list[Callable[..., Any]] = [np.get_printoptions, np.geterr, np.getbufsize]
    return [
        *(Case(f, (x,)) for f in unary),
        *(Case(f, (np.float32, np.float64)) for f in of_dtypes),
        *(Case(f, (x, x)) for f in (np.shares_memory, np.may_share_memory)),
        *(Case(f, ()) for f in settings),
        *(Case(f, (1.5,)) for f in (np.format_float_positional, np.format_float_scientific)),
        *(Case(f, (6,)) for f in (np.base_repr, np.binary_repr)),
        Case(np.finfo, (np.float32,)),
        Case(np.iinfo, (np.int32,)),
        Case(np.broadcast_shapes, ((2, 1), (3,))),
        Case(np.isdtype, (np.dtype(float), "real floating")),
        Case(np.mintypecode, ("fd",)),
        Case(float.hex, (1.5,)),
    ]


def deprecated_cases() -> list[Case]:
    """Functions that warn when they are called, from NumPy 2.5 on."""
    if NUMPY >= "2.5.0":
        return []
    return [Case(np.fix, (np.array(X),)), Case(np.typename, ("d",))]


def cases() -> list[Case]:
    """All cases of the family."""
    return [
        *step_cases(), *question_cases(), *integer_cases(), *index_cases(), *type_cases(),
        *deprecated_cases(),
    ]  # fmt: skip
