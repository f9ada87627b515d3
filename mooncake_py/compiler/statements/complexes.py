"""Statements on complex arrays, which may have real operands too: ``z[m] = z[m] ** 2 + c[m]``.

The inner product is Re<., .>: a cotangent is multiplied by the conjugate of a partial derivative,
and a real operand receives the real part.  Partial derivatives that are not arithmetic are
evaluated and multiplied as in the general way: functions that are not holomorphic have two.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.regions.flat import is_flat
from mooncake_py.compiler.regions.ir import Call, Const, Expr, Name, Op, parts_of, walk
from mooncake_py.compiler.statements.array_partials import declared
from mooncake_py.compiler.statements.core import Core
from mooncake_py.compiler.statements.statement import View
from mooncake_py.rules.broadcasting import fit
from mooncake_py.rules.exact_zeros import surely_finite
from mooncake_py.rules.kinds import AtOnce

__all__ = [
    "COMPLEX128", "NUMBERS", "SCOPE", "complex_at", "complex_names", "conjugated",
    "has_complex_partials", "is_arithmetic", "is_complex", "is_complex_within", "keeps",
    "returns_real",
]  # fmt: skip

COMPLEX128 = np.dtype(np.complex128)
NUMBERS = frozenset({complex, np.complex128})
ARITHMETIC = frozenset({"add", "sub", "mul", "truediv", "neg", "pos"})
REAL = frozenset({"lt", "le", "gt", "ge", "eq", "ne", "int", "real"})


def complex_at(values: Sequence[Any]) -> frozenset[int]:
    """Return the positions of the values that are complex."""
    return frozenset(
        [
            p
            for p, v in enumerate(values)
            if (v.dtype is COMPLEX128 if type(v) is ndarray else type(v) in NUMBERS)
        ]
    )


def complex_names(core: Core, positions: Collection[int]) -> set[str]:
    """Return the names of operands and results that are complex, given what values are."""
    found = set[str]()
    for k, part in enumerate(core.statement.layout):
        is_real = isinstance(part, View) and part.is_real
        if not is_real and (part[0] if isinstance(part, tuple) else part) in positions:
            found.add(f"v{k}")
    for let in core.lets:
        if is_complex(let.value, found):
            found.add(let.name)
    return found


def is_complex(e: Expr, names: Collection[str]) -> bool:
    """Return True if a value is complex, as the values of some names are."""
    match e:
        case Name(name=name):
            return name in names
        case Const(value=value):
            return type(value) is complex
        case Op(op=op) if op in REAL:
            return False
        case Call(function=f) if returns_real(f):
            return False
    return any(is_complex(part, names) for part in parts_of(e))


def is_complex_within(e: Expr) -> bool:
    """Return True if a number that is written down within an expression is complex."""
    return any(isinstance(part, Const) and type(part.value) is complex for part in walk(e))


def returns_real(f: Any) -> bool:
    """Return True for a function whose result is real where its operands are complex."""
    return type(f) is np.ufunc and f"{'D' * f.nin}->d" in f.types


def keeps(f: Any, dtype: np.dtype[Any]) -> bool:
    """Return True if a function is a ufunc that makes arrays of such a dtype of such."""
    return type(f) is np.ufunc and f"{dtype.char * f.nin}->{dtype.char}" in f.types


def has_complex_partials(e: Call) -> bool:
    """Return True for a call that is known on complex numbers, as to its result and its partials.

    A choice, as maxima are, is not; nor is what is constant for real numbers alone, as signs are.
    """
    if is_flat(e) or AtOnce in map(type, declared(e) or ()):
        return False
    return keeps(e.function, COMPLEX128) or returns_real(e.function)


def is_arithmetic(e: Expr) -> bool:
    """Return True for a partial derivative without functions: that of something holomorphic."""
    return not any(isinstance(part, Call) for part in walk(e))


def conjugated(e: Expr, names: Collection[str]) -> Expr:
    """Return the conjugate of an expression; what is real is its own."""
    if not is_complex(e, names):
        return e
    if isinstance(e, Const):
        return Const(e.value.conjugate())  # type: ignore[arg-type]
    if isinstance(e, Op) and e.op in ARITHMETIC:
        return Op(e.op, tuple([conjugated(part, names) for part in e.args]))
    return Op("conj", (e,))


# The functions that the generated functions call.


def finite(d: Any) -> bool:
    """Return True if a cotangent is finite."""
    return surely_finite(d)


def both_finite(a: Any, b: Any) -> bool:
    """Return True if two cotangents are finite."""
    return surely_finite(a) and surely_finite(b)


def fitted(d: Any, shape: tuple[int, ...]) -> Any:
    """Return a cotangent summed over the axes along which an operand was broadcast."""
    return fit(d, shape, d.dtype)


def reduced(d: Any, factor: Any, shape: tuple[int, ...]) -> Any:
    """Return ``fitted(d * factor, shape)``."""
    return fitted(d * factor, shape)


def summed(d: Any) -> Any:
    """Return the sum of a cotangent, for a number that was combined with an array."""
    return np.add.reduce(d, axis=None).item()


def inner(d: Any, factor: Any) -> Any:
    """Return ``summed(d * factor)``, as one call of BLAS where it is one."""
    if type(factor) is ndarray and d.shape == factor.shape and d.dtype is factor.dtype:
        return d.ravel().dot(factor.ravel()).item()
    return summed(d * factor)


SCOPE: dict[str, Any] = {
    "COMPLEX128": COMPLEX128, "both_finite": both_finite, "complex128": np.complex128,
    "finite": finite, "fitted": fitted,
    "inner": inner, "reduced": reduced, "summed": summed,
}  # fmt: skip
