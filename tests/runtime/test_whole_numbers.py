"""The int of a number is a step function, unless it is the number itself, to all its digits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mooncake_py import DerivativeDropError, MissingRuleError, grad, hvp, jvp


def mantissa(x):
    return math.frexp(x)[0] * 2.0**53


def assigned(x):
    a = np.zeros(1, np.int64)
    a[0] = mantissa(x)
    return a[0]


def assigned_at_once(x):
    a = np.zeros(1, np.int64)
    a[:] = np.array([mantissa(x)])
    return a[0]


def into_ints(f, *others, **options):
    def run(x):
        out = np.zeros(1, np.int64)
        f(np.array([mantissa(x)]), *others, out=out, **options)
        return out[0]

    return run


def in_a_loop(convert):
    def run(x):
        total, values = 0.0, np.array([x, x])
        for i in range(20):
            total += convert(values[i % 2] * 2.0**54) * 0.1
        return total

    return run


def in_a_loop_of_steps(x):
    total, values = 0.0, np.array([math.inf, 1e6])
    for i in range(20):
        total += 1.0 / np.floor(values[i % 2] * x) + round(x, 1)
    return total + x


def quotient_in_place(x):
    a = np.array([mantissa(x), 1.0])
    a //= 1.0
    return a[0]


def into_floats(f, *others):
    def run(x):
        out = np.zeros(1)
        f(np.array([mantissa(x)]), *others, out=out)
        return out[0]

    return run


def single(x):
    return np.float32(x) * np.float32(2.0**24)


def in_a_loop_of_single_precision(convert):
    def run(x):
        total, values = 0, np.array([single(x), 3.0], np.float32)
        for i in range(20):
            total += convert(values[i % 2]) % 7
        return total

    return run


def while_it_is_large(x):
    t, n = mantissa(x), 0.0
    while t > 1.0:
        n += t // 1.0
        t = t / 4.0
    return n


OF_BITS = {
    "quotient in place": quotient_in_place,
    "quotient into floats": into_floats(np.floor_divide, 1.0),
    "floor into floats": into_floats(np.floor),
    "loop of quotients": in_a_loop(lambda v: v // 1.0),
    "loop of ints of single precision": in_a_loop_of_single_precision(int),
    "loop of ceil of single precision": in_a_loop_of_single_precision(math.ceil),
    "loop of quotients of single precision": in_a_loop_of_single_precision(lambda v: v // 1),
    "quotient of single precision": lambda x: float(single(x) // 1),
    "divmod of single precision": lambda x: float(divmod(single(x), 1)[0]),
    "quotients of single precision": lambda x: float(
        (np.array([single(x), 1], np.float32) // 1)[0]
    ),
    "while": while_it_is_large,
    "quotient": lambda x: mantissa(x) // 1.0,
    "half of it": lambda x: (mantissa(x) * 4.0) // 2.0,
    "divmod": lambda x: int(divmod(mantissa(x), 1.0)[0]),
    "divmod of NumPy": lambda x: np.divmod(np.array([mantissa(x)]), 1.0)[0].astype(int)[0],
    "floor of NumPy": lambda x: np.floor(np.array([mantissa(x)]))[0],
    "rint": lambda x: np.rint(mantissa(x)),
    "quotient of arrays": lambda x: (np.array([mantissa(x)]) // 1.0)[0],
    "sum into ints": into_ints(np.add, 0.0, casting="unsafe"),
    "product into ints": into_ints(np.multiply, 2.0, casting="unsafe"),
    "rint into ints": into_ints(np.rint, casting="unsafe"),
    "cumulative sum into ints": into_ints(np.cumsum),
    "iterator": lambda x: np.fromiter([mantissa(x)], np.int64)[0],
    "list": lambda x: np.array([mantissa(x), 1.0], np.int64)[0],
    "joined": lambda x: np.concatenate(
        [np.array([mantissa(x)]), np.zeros(2)], dtype=np.int64, casting="unsafe"
    )[0],
    "loop of int": in_a_loop(int),
    "loop of round": in_a_loop(round),
    "loop of round to digits": in_a_loop(lambda v: round(v, 0)),
    "loop of floor of NumPy": in_a_loop(np.floor),
    "loop of ceil of NumPy": in_a_loop(np.ceil),
    "loop of rint": in_a_loop(np.rint),
    "loop of trunc of NumPy": in_a_loop(np.trunc),
    "loop of round of NumPy": in_a_loop(np.round),
    "loop of a larger round": in_a_loop(lambda v: max(round(v), 1)),
    "loop of floors of arrays": in_a_loop(lambda v: np.floor(np.array([v, 1.0]))[0]),
    "loop of rint of single precision": in_a_loop_of_single_precision(np.rint),
    "loop of round of single precision": in_a_loop_of_single_precision(round),
    "last pass": lambda x: sum([round(mantissa(x) * (0.0 if i < 19 else 1.0)) for i in range(20)]),
    "round to digits": lambda x: round(mantissa(x), 0),
    "round to fewer digits": lambda x: round(mantissa(x), -1) % 3 + round(x * 1e300, 2),
    "operator of round": lambda x: mantissa(x).__round__(0),
    "loop of floor": in_a_loop(math.floor),
    "int": lambda x: int(mantissa(x)),
    "floor": lambda x: math.floor(mantissa(x)),
    "trunc": lambda x: math.trunc(mantissa(x)),
    "ceil": lambda x: math.ceil(mantissa(x)),
    "round": lambda x: round(mantissa(x)),
    "method": lambda x: mantissa(x).__int__(),
    "descriptor": lambda x: float.__int__(mantissa(x)),
    "map": lambda x: sum(map(int, [mantissa(x)])),
    "int64": lambda x: np.int64(mantissa(x)),
    "uint64": lambda x: np.uint64(mantissa(x)),
    "astype": lambda x: np.asarray([mantissa(x)]).astype(np.int64)[0],
    "array": lambda x: np.array(mantissa(x), dtype=np.int64)[()],
    "assigned": assigned,
    "assigned at once": assigned_at_once,
    "of single precision": lambda x: int(np.float32(x) * np.float32(2.0**24)),
    "ratio": lambda x: float.as_integer_ratio(x)[0],
    "ratio by the method": lambda x: x.as_integer_ratio()[0],
}
STEPS = {
    "int": lambda x: int(1000.0 * x) + x,
    "floor": lambda x: math.floor(1e9 * x) + x,
    "index": lambda x: [1.0, 2.0][int(2.0 * x)] * x,
    "int64": lambda x: np.int64(1e9 * x) + x,
    "astype": lambda x: np.asarray([1e9 * x]).astype(int)[0] + x,
    "quotient": lambda x: 1e9 * x // 1.0 + x,
    "infinite": lambda x: 0.0 * np.floor(min(x * math.inf, 1e9)) + x,
    "infinite quotient": lambda x: min(x * 1e308 // 1e-5, 1.0) + x,
    "round to digits": lambda x: round(1e9 * x, 1) + x,
    "large, rounded to fewer digits": lambda x: 0.0 * round(mantissa(x) + 1.0, -3) + x,
    "loop of rounds": lambda x: sum([round(1e9 * x) + np.floor(1e9 * x) for i in range(20)]) + x,
    "loop of what is infinite": in_a_loop_of_steps,
    "of a constant": lambda x: int(math.ldexp(0.7, 60)) * 0.0 + x,
}


@pytest.mark.parametrize("name", OF_BITS)
def test_an_int_that_is_the_number_is_refused(name: str) -> None:
    f = OF_BITS[name]
    for derivative in (
        lambda: grad(lambda x: f(x) * 2.0**-53)(0.7),
        lambda: jvp(lambda x: f(x) * 2.0**-53, (0.7,), (1.0,)),
        lambda: hvp(lambda x: f(x) * 2.0**-53, (0.7,), 1.0),
        lambda: grad(lambda x: f(x) * 2.0**-53, debug=True)(0.7),
        lambda: grad(lambda x: f(x) * 2.0**-53, compile=True)(0.7),
        lambda: grad(lambda x: f(x[0]) * 2.0**-53, mode="forward")(np.array([0.7, 1.0])),
    ):
        with pytest.raises((DerivativeDropError, MissingRuleError)):
            derivative()


@pytest.mark.parametrize("name", STEPS)
def test_a_step_has_derivative_zero(name: str) -> None:
    slope = 2.0 if name == "index" else 1.0
    assert grad(STEPS[name])(0.7) == slope
    assert jvp(STEPS[name], (0.7,), (1.0,))[1] == slope


def test_infinite_numbers_raise_as_they_do() -> None:
    with pytest.raises(OverflowError):
        grad(lambda x: int(x) * 1.0)(math.inf)
    with pytest.raises(ValueError, match="NaN"):
        grad(lambda x: int(x) * 1.0)(math.nan)


@pytest.mark.parametrize("f", [
    lambda m, x: m.sin(m.mpf(x)), lambda m, x: m.mpf(2) ** x, lambda m, x: x * m.mpf("0.5"),
    lambda m, x: m.mpc(x, 0).real, lambda m, x: m.matrix([[x]])[0, 0], lambda m, x: m.iv.mpf(x).a,
])  # fmt: skip
def test_numbers_of_mpmath_are_refused(f: Any) -> None:
    m = pytest.importorskip("mpmath")
    with pytest.raises(DerivativeDropError, match="to all its digits"):
        grad(lambda x: float(f(m, x)))(0.7)


def trunc_of(x):
    return math.trunc(x[0]) * x[1]


def test_trunc_of_single_precision_raises_as_without_compiling() -> None:
    x = np.array([2.5, 3.0], np.float32)
    for f in (trunc_of, grad(trunc_of), grad(trunc_of, compile=True)):
        with pytest.raises(TypeError, match="__trunc__"):
            f(x)
    assert grad(trunc_of, compile=True)(x.astype(float))[1] == 2.0
