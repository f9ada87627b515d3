"""What operators and functions of numbers give, of any kind and at odd places."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native.llvm.printer import Printer
from mooncake_py.compiler.native.regions import helpers
from mooncake_py.compiler.native.regions.kinds import kind_of
from mooncake_py.compiler.regions.ir import Assign, Call, Compare, Const, Expr, Name, Op, Select
from tests.compiler.native.llvm.kernels import kernels
from tests.support.pairs import rotating

pytest.importorskip("llvmlite")

A, B = Name("a"), Name("b")
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.75, -2.5, 3.5, 7.25, 1e-300, 1e300, math.inf, -math.inf, math.nan)
INTS = (0, 1, -1, 2, -3, 7, 64, -(2**63), 2**63 - 1)
NOTHING = np.empty(0)


def computed(cases: dict[str, Expr], kinds: dict[str, str]) -> Callable[..., dict[str, Any]]:
    """Return a function that computes all expressions at once, of `a` and `b`."""
    kinds = kinds | {name: kind_of(e, kinds) for name, e in cases.items()}
    printer = Printer(kinds, {}, by_blas=False)
    body = tuple(Assign(Name(name), e) for name, e in cases.items())
    printer.forward(body, ["a", "b"], list(cases))
    forward = kernels(printer, level=1)["forward"]

    def of(a: Any, b: Any) -> dict[str, Any]:
        return dict(zip(cases, forward(NOTHING, a, b)[3:], strict=True))

    return of


def two(op: str) -> Expr:
    return Op(op, (A, B))


def wrapped(n: int) -> int:
    """Return an int as one of 64 bits."""
    return (n + 2**63) % 2**64 - 2**63


@pytest.mark.parametrize("a", INTS)
def test_ints(a: int) -> None:
    cases = {op: two(op) for op in ("add", "sub", "mul", "floordiv", "mod", "min", "max")}
    cases |= {op: Op(op, (A,)) for op in ("neg", "abs", "pos", "int", "bool", "float")}
    cases |= {f"power {n}": Op("pow", (A, Const(n))) for n in (0, 1, 2, 3, 7)}
    cases |= {"and": two("and"), "or": two("or"), "not": Op("not", (A,))}
    of = computed(cases, {"a": "int", "b": "int"})
    for b in INTS:
        got = of(a, b)
        expected: dict[str, Any] = {
            "add": wrapped(a + b), "sub": wrapped(a - b), "mul": wrapped(a * b),
            "min": min(a, b), "max": max(a, b), "neg": wrapped(-a), "abs": wrapped(abs(a)),
            "pos": a, "int": a, "bool": bool(a), "float": float(a),
            "floordiv": wrapped(a // b) if b else 0,
            "mod": a % b if b else 0, "and": a and b, "or": a or b, "not": not a,
        }  # fmt: skip
        expected |= {f"power {n}": wrapped(a**n) for n in (0, 1, 2, 3, 7)}
        assert got == expected, b


def test_powers_of_ints() -> None:
    of = computed({"power": two("pow")}, {"a": "int", "b": "int"})
    for a in (0, 1, -1, 2, -3, 10):
        for n in (0, 1, 2, 5, 17, 63):
            assert of(a, n)["power"] == wrapped(a**n)
    assert [of(a, -3)["power"] for a in (1, -1, 2)] == [1, -1, 0]


def of_python(op: str, a: float, b: float) -> float:
    """Return the result of Python, or of NumPy where Python raises an exception."""
    with np.errstate(all="ignore"):
        if op in ("floordiv", "mod"):
            plain: Any = {"floordiv": lambda: a // b, "mod": lambda: a % b}[op]
            return plain() if b else {"floordiv": np.float64(a) / b, "mod": math.nan}[op]
        return {
            "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide,
        }[op](a, b)  # fmt: skip


@pytest.mark.parametrize("a", FLOATS)
def test_floats(a: float) -> None:
    names = ("add", "sub", "mul", "truediv", "floordiv", "mod")
    cases = {op: two(op) for op in names}
    cases |= {"min": two("min"), "max": two("max"), "neg": Op("neg", (A,)), "abs": Op("abs", (A,))}
    cases |= {"and": two("and"), "or": two("or")}
    cases |= {f.__name__: Call(f, (A, B)) for f in (np.maximum, np.minimum, np.heaviside)}
    cases |= {f.__name__: Call(f, (A, B)) for f in (helpers.times, helpers.over, math.copysign)}
    of = computed(cases, {})
    for b in FLOATS:
        got = of(a, b)
        expected = {op: of_python(op, a, b) for op in names}
        with np.errstate(all="ignore"):
            expected |= {"min": min(a, b), "max": max(a, b), "neg": -a, "abs": abs(a)}
            expected |= {"and": a and b, "or": a or b}
            expected |= {
                f.__name__: f(a, b) for f in (np.maximum, np.minimum, np.heaviside, math.copysign)
            }
            expected["times"] = 0.0 if a == 0.0 else a * b
            expected["over"] = 0.0 if a == 0.0 else np.float64(a) / b
        for name, value in expected.items():
            np.testing.assert_array_equal(got[name], value, err_msg=f"{name} {b}")
            if value == value and name not in ("maximum", "minimum"):
                assert math.copysign(1.0, got[name]) == math.copysign(1.0, value), (name, b)


COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize(("kind", "to"), [("float32", "float"), ("float", "float32")])
def test_choices_beside_zero_keep_its_sign(kind: str, to: str, named: bool) -> None:
    cases: dict[str, Expr] = {}
    expected: dict[str, Callable[[float], float]] = {}
    wide: Expr = Op(to, (A,))
    for zero, (op, holds), of, flip in product((0.0, -0.0), COMPARED.items(), (A, wide), (0, 1)):
        constant: Expr = Name(f"zero{zero}") if named else Const(zero)
        test = Compare((op,), (constant, of)[:: 1 - 2 * flip])
        e = Select(test, wide, constant), Select(test, constant, wide)
        for k, chosen in enumerate(e):
            name = f"{op} {zero} {of is A} {flip} {k}"
            cases[name] = chosen

            def choice(x: float, zero: float = zero, holds: Any = holds, k: int = k) -> float:
                return x if holds(zero, x) != bool(k) else zero

            def flipped(x: float, zero: float = zero, holds: Any = holds, k: int = k) -> float:
                return x if holds(x, zero) != bool(k) else zero

            expected[name] = flipped if flip else choice
    before: dict[str, Expr] = {"zero0.0": Const(0.0), "zero-0.0": Const(-0.0)} if named else {}
    of_all = computed(before | cases, {"a": kind, **dict.fromkeys(before, to)})
    for x in (0.0, -0.0, 1.0, -2.0, math.nan):
        got = of_all(x, 0.0)
        for name, value in expected.items():
            np.testing.assert_array_equal(got[name], value(x), err_msg=name)
            if x == x:
                assert math.copysign(1.0, got[name]) == math.copysign(1.0, value(x)), (name, x)


ONE_NUMBER = (
    np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.sinh, np.cosh, np.tanh, np.arcsinh,
    np.arccosh, np.arctanh, np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.sqrt,
    np.cbrt, np.square, np.absolute, np.fabs, np.floor, np.ceil, np.trunc, np.rint, np.sign,
    np.reciprocal, np.negative, np.isnan, np.isinf, np.isfinite, np.signbit, np.positive,
    np.rad2deg, np.degrees, np.deg2rad, np.radians,
)  # fmt: skip
TWO_NUMBERS = (
    np.add, np.subtract, np.multiply, np.divide, np.power, np.arctan2, np.hypot, np.logaddexp,
    np.logaddexp2, np.maximum, np.minimum, np.fmod, np.copysign, np.remainder, np.floor_divide,
    np.nextafter,
)  # fmt: skip


@pytest.mark.parametrize(("f", "kind"), rotating([*ONE_NUMBER, *TWO_NUMBERS], ["float", "float32"]))
def test_functions_of_numpy(f: np.ufunc, kind: str) -> None:
    kinds = dict.fromkeys("ab", kind)
    args = (A, B)[: f.nin]
    of = computed({"f": Call(f, args)}, kinds)
    dtype = np.dtype(kind if kind == "float32" else "float64")
    near = {"rtol": 4 * np.finfo(dtype).eps, "atol": 1e-300}
    for a in (*FLOATS[:8], 0.3, math.inf, -math.inf, math.nan):
        if f is np.power and a == -math.inf:
            continue  # NumPy takes the root for powers with 0.5, that of C is infinite
        for b in (0.5, -1.75, 3.0) if f.nin == 2 else (0.0,):
            numbers = [dtype.type(a), dtype.type(b)]
            with np.errstate(all="ignore"):
                expected = f(*numbers[: f.nin])
            got = of(float(numbers[0]), float(numbers[1]))["f"]
            np.testing.assert_allclose(got, expected, **near, err_msg=f"{a} {b}")


OF_MATH = (
    math.sin, math.cos, math.tan, math.exp, math.log, math.sqrt, math.erf, math.erfc, math.gamma,
    math.lgamma, math.expm1, math.log1p, math.atan, math.tanh, math.fabs, math.floor, math.ceil,
    math.trunc, math.isnan, math.isinf, math.isfinite, math.degrees, math.radians,
)  # fmt: skip


@pytest.mark.parametrize("f", OF_MATH, ids=lambda f: f.__name__)
def test_functions_of_math(f: Callable[[float], Any]) -> None:
    for kind in ("float", "int", "float32"):
        of = computed({"f": Call(f, (A,))}, {"a": kind, "b": kind})
        for a in (1, 2, 5):
            got = of(a, a)["f"]
            assert type(got) is type(f(a))
            np.testing.assert_allclose(got, f(a), rtol=1e-15)


POWERS = (0, 1, 2, 3, 10, -1, -2, -7, 0.5, 1.5, 3.5, -0.5, -2.5, 0.3, 2.0, -3.0, 1e5)


@pytest.mark.parametrize("kind", ["float", "float32"])
def test_powers_of_floats(kind: str) -> None:
    cases: dict[str, Expr] = {f"to {n}": Op("pow", (A, Const(n))) for n in POWERS}
    cases |= {"to b": two("pow"), "of numpy": Call(np.power, (A, B))}
    of = computed(cases, dict.fromkeys("ab", kind))
    dtype = np.dtype(kind if kind == "float32" else "float64")
    far = (1e-90, 1e90) if kind == "float" else (1e-30, 1e30)
    for a in (0.0, 1.0, 0.7, 2.5, *far, math.inf, -2.0):
        for b in (2.0, -1.5, 0.0):
            x = dtype.type(a)
            with np.errstate(all="ignore"):
                expected = {f"to {n}": x ** dtype.type(n) for n in POWERS}
                expected |= dict.fromkeys(("to b", "of numpy"), x ** dtype.type(b))
                got = of(float(x), b)
            for name, value in expected.items():
                np.testing.assert_allclose(
                    got[name], value, rtol=float(8 * np.finfo(dtype).eps), err_msg=f"{name} {a} {b}"
                )


@pytest.mark.parametrize("op", ["lt", "le", "gt", "ge", "eq", "ne"])
def test_comparisons(op: str) -> None:
    chain = Compare((op, "lt"), (A, B, Const(1)))
    cases = {"one": Compare((op,), (A, B)), "two": chain, "choice": Select(chain, A, Const(5.5))}
    of = computed(cases, {})
    compare: Any = getattr(np, {
        "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
        "ne": "not_equal",
    }[op])  # fmt: skip
    for a in FLOATS:
        for b in FLOATS:
            both = bool(compare(a, b)) and b < 1
            got = of(a, b)
            assert (got["one"], got["two"]) == (bool(compare(a, b)), both)
            np.testing.assert_array_equal(got["choice"], a if both else 5.5)


def test_kinds_beside_one_another() -> None:
    cases: dict[str, Expr] = {
        "int and float": two("mul"), "truth": Op("add", (Compare(("gt",), (B, A)), A)),
        "float of truth": Op("float", (Compare(("gt",), (B, A)),)),
        "int of float": Op("int", (B,)),
        "quotient": Op("truediv", (A, Const(4))), "choice": Select(Compare(("gt",), (B, A)), A, B),
        "bits": Call(helpers.as_int, (Call(helpers.as_bits, (A,)),)),
    }  # fmt: skip
    of = computed(cases, {"a": "int", "b": "float"})
    for a, b in ((3, 2.5), (-2, 3.5), (2**62, -0.5)):
        got = of(a, b)
        expected = {
            "int and float": a * b, "truth": (b > a) + a, "float of truth": float(b > a),
            "int of float": int(b), "quotient": a / 4,
            "choice": float(a if b > a else b), "bits": a,
        }  # fmt: skip
        assert got == expected
