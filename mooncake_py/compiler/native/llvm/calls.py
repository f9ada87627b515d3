"""Calls of functions of numbers: what LLVM has, what the C library has, and what is arithmetic.

All others are called by their addresses: see `signature.Foreign`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.compiler.derivatives.number_functions import valued
from mooncake_py.compiler.native.llvm.called import instead
from mooncake_py.compiler.native.llvm.module import as_passed
from mooncake_py.compiler.native.llvm.numbers import IN_MEMORY, REGISTER, SUFFIX, constant
from mooncake_py.compiler.native.regions import helpers
from mooncake_py.compiler.native.regions.refused import CannotCompile
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT, REAL
from mooncake_py.compiler.regions.ir import Call, Const, Expr, Op
from mooncake_py.compiler.regions.special import special_symbol
from mooncake_py.rules.math_functions import diagonal
from mooncake_py.rules.special_functions import difference

if TYPE_CHECKING:
    from mooncake_py.compiler.native.llvm.expressions import Expressions

__all__ = ["call"]

OPERATORS: dict[Any, str] = {
    operator.add: "add", operator.sub: "sub", operator.mul: "mul", operator.truediv: "truediv",
    operator.pow: "pow", operator.neg: "neg", operator.floordiv: "floordiv", operator.mod: "mod",
}  # fmt: skip
OF_LLVM: dict[Any, str] = {
    math.sin: "sin", math.cos: "cos", math.exp: "exp", math.log: "log", math.log2: "log2",
    math.log10: "log10", math.sqrt: "sqrt", math.fabs: "fabs", np.floor: "floor", np.ceil: "ceil",
    np.trunc: "trunc", np.rint: "rint", np.exp2: "exp2", np.copysign: "copysign",
    math.copysign: "copysign", math.pow: "pow",
}  # fmt: skip
OF_C: dict[Any, str] = {
    math.tan: "tan", math.asin: "asin", math.acos: "acos", math.atan: "atan", math.sinh: "sinh",
    math.cosh: "cosh", math.asinh: "asinh", math.acosh: "acosh", math.atanh: "atanh",
    math.expm1: "expm1", math.log1p: "log1p", math.erf: "erf", math.erfc: "erfc",
    math.gamma: "tgamma", math.lgamma: "lgamma", math.atan2: "atan2", math.fmod: "fmod",
    np.fmod: "fmod", np.cbrt: "cbrt", np.nextafter: "nextafter", math.nextafter: "nextafter",
}  # fmt: skip
for _names, _functions in ((OF_LLVM, ("exp2",)), (OF_C, ("cbrt",))):  # new in Python 3.11
    _names.update({getattr(math, name): name for name in _functions if hasattr(math, name)})
OF_TWO = {"atan2", "copysign", "fmod", "nextafter", "pow"}
"""Those that take two numbers."""
ROUNDING = {math.floor: "floor", math.ceil: "ceil", math.trunc: "trunc"}
"""Functions that make ints of floats."""


def call(to: Expressions, e: Call) -> str:
    """Return the result of a call, as a number of its kind."""
    kind, f, args = to.kind(e), e.function, e.args
    own = instead(f)
    if own in OPERATORS:
        operation = Op(OPERATORS[own], args)
        return to.converted(to.value(operation), to.kind(operation), kind)
    if own in ROUNDING:
        return to.rounded(ROUNDING[own], args[0])
    name = OF_LLVM.get(own) or OF_C.get(own)
    if name is not None and len(args) == (2 if name in OF_TWO else 1):
        write = to.writer.intrinsic if own in OF_LLVM else to.writer.of_c
        return write(name, kind, *[to.as_kind(a, kind) for a in args])
    if own in TESTS:
        wide = FLOAT32 if to.kind(args[0]) == FLOAT32 else FLOAT
        return TESTS[own](to, wide, to.as_kind(args[0], wide))
    if own in ARITHMETIC and (own is not np.reciprocal or to.common(*args) in REAL):
        return ARITHMETIC[own](to, kind, *[to.as_kind(a, kind) for a in args])
    if own in OF_FLOATS:
        values = [to.as_kind(a, FLOAT) for a in args]
        return to.converted(OF_FLOATS[own](to, *values), FLOAT, kind)
    symbol = special_symbol(own, len(args))
    if symbol is not None:
        found = to.writer.of_scipy(symbol, *[to.as_kind(a, FLOAT) for a in args])
        return to.converted(found, FLOAT, kind)
    if own is helpers.as_int:
        return to.writer.do(f"bitcast double {to.as_kind(args[0], FLOAT)} to i64")
    if own is helpers.as_bits:
        return to.writer.do(f"bitcast i64 {to.as_kind(args[0], INT)} to double")
    return by_address(to, f, args, kind)


# Functions of float64 numbers only.


def times(to: Expressions, d: str, p: str) -> str:
    """Return a product that is zero where the first factor is."""
    return guarded(to, d, to.writer.do(f"fmul double {d}, {p}"))


def over(to: Expressions, d: str, p: str) -> str:
    """Return a quotient that is zero where the numerator is."""
    return guarded(to, d, to.writer.do(f"fdiv double {d}, {p}"))


def guarded(to: Expressions, d: str, e: str) -> str:
    """Return zero where `d` is, else `e`."""
    is_zero = to.writer.do(f"fcmp oeq double {d}, 0.0")
    return to.writer.do(f"select i1 {is_zero}, double 0.0, double {e}")


def plus(to: Expressions, total: str, e: str) -> str:
    """Return a sum."""
    return to.writer.do(f"fadd double {total}, {e}")


def plus_product(to: Expressions, total: str, a: str, b: str) -> str:
    """Return a sum with a product, rounded once where the machine can."""
    return to.writer.intrinsic("fmuladd", FLOAT, a, b, total)


def tanh(to: Expressions, x: str) -> str:
    """Return the hyperbolic tangent."""
    return to.writer.helper("mc_tanh", "double", f"double {x}")


def hypot(to: Expressions, x: str, y: str) -> str:
    """Return the distance from the origin."""
    return to.writer.helper("mc_hypot", "double", f"double {x}", f"double {y}")


def diagonal_of(to: Expressions, x: str, y: str, z: str) -> str:
    """Return the distance from the origin in space."""
    return hypot(to, hypot(to, x, y), z)


def heaviside(to: Expressions, x: str, h: str) -> str:
    """Return the result of `numpy.heaviside`."""
    do = to.writer.do
    is_nan, below, above = [do(f"fcmp {test} double {x}, 0.0") for test in ("uno", "olt", "ogt")]
    found = do(f"select i1 {above}, double {constant(1.0, FLOAT)}, double {h}")
    found = do(f"select i1 {below}, double 0.0, double {found}")
    return do(f"select i1 {is_nan}, double {x}, double {found}")


def first(to: Expressions, value: str, s: str) -> str:
    """Return the first of two numbers."""
    return value


OF_FLOATS: dict[Any, Callable[..., str]] = {
    helpers.times: times, helpers.over: over, helpers.plus: plus,
    helpers.plus_product: plus_product, helpers.tanh: tanh, helpers.hypot: hypot,
    helpers.heaviside: heaviside, valued: first, diagonal: diagonal_of,
}  # fmt: skip


# Functions of numbers of any kind, which is that of the result.


def larger(to: Expressions, kind: str, a: str, b: str) -> str:
    """Return the result of `numpy.maximum`."""
    return one_of("gt", to, kind, a, b)


def smaller(to: Expressions, kind: str, a: str, b: str) -> str:
    """Return the result of `numpy.minimum`."""
    return one_of("lt", to, kind, a, b)


def one_of(op: str, to: Expressions, kind: str, a: str, b: str) -> str:
    """Return the first of two numbers if it compares so, or is nan; else the second one."""
    t = REGISTER[kind]
    test = to.compared(op, kind, a, b)
    if kind in REAL:
        test = to.writer.do(f"or i1 {test}, {is_nan(to, kind, a)}")
    return to.writer.do(f"select i1 {test}, {t} {a}, {t} {b}")


def square(to: Expressions, kind: str, x: str) -> str:
    """Return a square."""
    return to.binary("mul", kind, x, x)


def reciprocal(to: Expressions, kind: str, x: str) -> str:
    """Return the inverse of a float."""
    return to.binary("truediv", kind, constant(1.0, kind), x)


def sign(to: Expressions, kind: str, x: str) -> str:
    """Return the result of `numpy.sign`: 0.0 for both zeros."""
    t, do = REGISTER[kind], to.writer.do
    found = constant(0.0, kind)
    for test, value in (("uno", x), ("ogt", constant(1.0, kind)), ("olt", constant(-1.0, kind))):
        holds = do(f"fcmp {test} {t} {x}, 0.0")
        found = do(f"select i1 {holds}, {t} {value}, {t} {found}")
    return found


def log_of_sum(to: Expressions, kind: str, x: str, y: str) -> str:
    """Return the result of `numpy.logaddexp`."""
    return of_width("logaddexp", to, kind, x, y)


def binary_log_of_sum(to: Expressions, kind: str, x: str, y: str) -> str:
    """Return the result of `numpy.logaddexp2`."""
    return of_width("logaddexp2", to, kind, x, y)


def of_width(name: str, to: Expressions, kind: str, *args: str) -> str:
    """Return the result of a function of ours for floats of a width."""
    t = REGISTER[kind]
    return to.writer.helper(f"mc_{name}_{SUFFIX[kind]}", t, *[f"{t} {a}" for a in args])


def unchanged(to: Expressions, kind: str, x: str) -> str:
    """Return a number."""
    return x


def apart(to: Expressions, kind: str, a: str, b: str) -> str:
    """Return a difference, zero where both are the same infinity."""
    same, t = to.compared("eq", kind, a, b), REGISTER[kind]
    found = to.binary("sub", kind, a, b)
    return to.writer.do(f"select i1 {same}, {t} {constant(0, kind)}, {t} {found}")


def in_degrees(to: Expressions, kind: str, x: str) -> str:
    """Return an angle in degrees."""
    return to.binary("mul", kind, x, constant(180.0 / math.pi, kind))


def in_radians(to: Expressions, kind: str, x: str) -> str:
    """Return an angle that is given in degrees."""
    return to.binary("mul", kind, x, constant(math.pi / 180.0, kind))


ARITHMETIC: dict[Any, Callable[..., str]] = {
    helpers.maximum: larger, helpers.minimum: smaller, np.square: square, np.sign: sign,
    np.reciprocal: reciprocal, np.logaddexp: log_of_sum, np.logaddexp2: binary_log_of_sum,
    np.positive: unchanged, difference: apart, np.rad2deg: in_degrees, np.degrees: in_degrees,
    math.degrees: in_degrees, np.deg2rad: in_radians, np.radians: in_radians,
    math.radians: in_radians,
}  # fmt: skip


# Tests of floats.


def is_nan(to: Expressions, kind: str, x: str) -> str:
    """Return whether a float is nan."""
    return to.writer.do(f"fcmp uno {REGISTER[kind]} {x}, 0.0")


def is_infinite(to: Expressions, kind: str, x: str) -> str:
    """Return whether a float is infinite."""
    return of_size("oeq", to, kind, x)


def is_finite(to: Expressions, kind: str, x: str) -> str:
    """Return whether a float is neither infinite nor nan."""
    return of_size("olt", to, kind, x)


def of_size(test: str, to: Expressions, kind: str, x: str) -> str:
    """Return whether the size of a float compares so with infinity."""
    size = to.writer.intrinsic("fabs", kind, x)
    return to.writer.do(f"fcmp {test} {REGISTER[kind]} {size}, {constant(math.inf, kind)}")


def has_sign(to: Expressions, kind: str, x: str) -> str:
    """Return whether the sign of a float is set."""
    bits = "i32" if kind == FLOAT32 else "i64"
    found = to.writer.do(f"bitcast {REGISTER[kind]} {x} to {bits}")
    return to.writer.do(f"icmp slt {bits} {found}, 0")


TESTS: dict[Any, Callable[..., str]] = {
    math.isnan: is_nan, np.isnan: is_nan, math.isinf: is_infinite, np.isinf: is_infinite,
    math.isfinite: is_finite, np.isfinite: is_finite, np.signbit: has_sign,
}  # fmt: skip


# All others.


def by_address(to: Expressions, f: Any, args: tuple[Expr, ...], kind: str) -> str:
    """Return the result of a function of Python; if it raises, the kernel is left."""
    if not callable(f):
        raise CannotCompile(f"{f!r} cannot be called")
    is_ufunc = type(f) is np.ufunc
    kinds: list[str] = []
    passed: list[str] = []
    for a in args:
        own = FLOAT if isinstance(a, Const) and a.value is None else to.kind(a)
        if is_ufunc and own in REAL:
            own = kind if kind in REAL else to.common(*args)
        elif own == FLOAT32:
            own = FLOAT  # numbers of Python are wide
        kinds.append(own)
        passed.append(f"{as_passed(own)} {argument(to, a, own)}")
    symbol = to.writer.module.symbol_of(f, tuple([(own, None) for own in kinds]), kind)
    room = to.writer.room(("result", kind), IN_MEMORY[kind])
    done = to.writer.do(f"call i8 @{symbol}({', '.join([*passed, f'ptr {room}'])})")
    to.writer.leave_unless(to.writer.do(f"icmp sgt i8 {done}, 0"))
    found = to.writer.do(f"load {IN_MEMORY[kind]}, ptr {room}")
    return to.writer.do(f"icmp ne i8 {found}, 0") if kind == BOOL else found


def argument(to: Expressions, e: Expr, kind: str) -> str:
    """Return an argument as it is passed; one that is not read is zero."""
    if isinstance(e, Const) and e.value is None:
        return "0.0"
    value = to.as_kind(e, kind)
    return to.writer.do(f"zext i1 {value} to i8") if kind == BOOL else value
