"""Ints and floats together: powers, extrema, roundings, enumerations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import NoTangent, grad, hvp, jvp, value_and_grad
from mooncake_py.compiler.native.site import known_site, report
from mooncake_py.compiler.regions.ir import Check, statements
from mooncake_py.errors import DerivativeDropError

pytestmark = pytest.mark.plain

X = np.array([0.3, -1.4, 2.5, 0.0, -0.5, 3.5])
N = np.array([3, -2, 0, 1])


def powers(x, n, k):
    s = 0.0
    for level in range(4):
        h = 2**level
        s += h * x[level] ** 2 + (-1) ** level * x[level] + 10 ** (k + level) * 0.001 * x[0]
    return s + (k**5 + k**0) * x[1] + 2**-3 * x[0] + k**-1 * x[2] + pow(k, 2) * pow(x[2], 2)


def powers_of_arrays(x, n, k):
    return np.sum(n**2 * x[:4]) + np.sum(n**0) * x[0] + np.sum(np.arange(6) ** 3 * x)


def powers_as_lengths(x, n, k):
    y = np.zeros(2**k)
    y[:3] = x[:3] ** 2
    for i in range(2**k - 2):
        y[i + 1] += y[i] * 0.5
    return y @ y


def extrema(x, n, k):
    s = 0.0
    for v in x:
        s += max(v, 0) ** 2 * min(1, v) + max(0, v, k) * 0.1
    return s * max(x[0], k, 1.5) + min(k, 0.5) * x[1] + max(k, 2) * x[2]


def extremum_given_back(x, n, k):
    return max(x[1], 0)


def extremum_bound(x, n, k):
    s = 0
    for i in range(len(x)):
        s = max(s, x[i])
    s = s / 2
    return s * x[0]


def roundings(x, n, k):
    i = round(x[2])
    j = round(x[5] * 1.5 + k)
    y = np.round(x) * x + np.round(x, 1) * x[::-1] + x.round(decimals=2) + np.around(x * 30, -1)
    return y @ x + x[i] * j + round(k) * np.round(x[1] * x[1]) * x[1] + round(abs(x[4])) * x[0]


def enumerations(x, n, k):
    s, i = 0.0, 0
    for i, v in enumerate(x, start=k):
        s += i * v**2
    for i, v in enumerate(x[::2], -1):
        s += i * v * x[i]
    for i, (v, w) in enumerate(((x[0], x[1]), (x[2], x[3])), k - 1):
        s += x[i] * v * w
    for i, v in enumerate([x[4], x[5]], start=1):
        s += i * v
    t = [j * w for j, w in enumerate(x, 2)]
    return s + i * x[0] + t[2] * t[0]


def quotients(x, n, k):
    q, r = divmod(7 + k, 3)
    a, c = divmod(float(x[2]) * 3, 0.7)
    return q * x[0] + r * x[1] + a * x[0] + c * c


def quotients_of_elements(x, n, k):
    s = 0.0
    for i in range(5):
        s += x[i] % x[5] * x[1] + x[i] // x[4] * x[0] + np.float64(2.5) % x[i % 3]
    return s + n[0] % n[1] * x[0] + divmod(x[2], x[1])[1] * x[2]


def best_so_far(x, n, k):
    best, worst = float("inf"), float("-inf")
    for v in x:
        if v * v < best:
            best = v * v
        worst = max(worst, v * 0.5)
    return best * x[0] + worst


def arrays_of_ints(x, n, k):
    i = np.array([0, 2, k], dtype=int)
    j = np.asarray(n, dtype=np.int64)
    return x[i] @ x[i] + x[j[:2]] @ x[:2] + np.outer(x, x).trace()


CASES = [
    powers, powers_of_arrays, powers_as_lengths, extrema, extremum_given_back, extremum_bound,
    roundings, enumerations, quotients, quotients_of_elements, best_so_far, arrays_of_ints,
]  # fmt: skip


def derivatives(f: Any, x: Any, k: int, **how: Any) -> list[Any]:
    def g(x):
        return f(x, N.copy(), k)

    at = x.copy()
    value, partials = value_and_grad(f, **how)(at, N.copy(), k)
    tangent = jvp(g, (at,), (np.cos(at),), **how)[1]
    return [value, partials, tangent, hvp(g, (at,), np.cos(at), **how)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("k", [3, 2])
@pytest.mark.parametrize("f", CASES)
def test_derivatives_are_those_without(f: Any, k: int, tried: list[bool]) -> None:
    for x in (X, -X, X.astype(np.float32)):
        narrow = x.dtype == np.float32
        found, expected = derivatives(f, x, k, compile=True), derivatives(f, x, k)
        assert type(found[0]) is type(expected[0])
        for a, b in zip(found, expected, strict=True):
            rtol = 1e-3 if narrow else 1e-10
            if isinstance(b, NoTangent):  # of an int
                assert isinstance(a, NoTangent)
            else:
                assert_allclose(a, b, rtol=rtol, atol=rtol)
        if not narrow:
            assert report(f)[0].found == "compiled"
    assert all(tried)


def power_below_zero(x, k):
    return x[0] * k ** (k - 5)


def too_large(x, k):
    return x[0] * k**60


def rounded_infinity(x, k):
    return round(x[0] / (x[1] - x[1])) * x[0]


def zero_to_the_minus_one(x, k):
    return (k - 3) ** -1 * x[0]


def doubled(x, k):
    s = k
    for _ in range(70):
        s = s + s
    return x[0] * s


def fibonacci(x, k):
    s, t = 1, 1
    for _ in range(k + 100):
        s, t = t, s + t
    return x[0] * s


def lowered(x, k):
    s = k
    for _ in range(12):
        s -= 2**60
    return x[0] * s


def power_of_a_size(x, k):
    n = 40000 * len(x)
    return x[0] / n**4


def product_of_products(x, k):
    n = 2**28 * k
    m = n * n
    return x[0] * (m * n % 7)


def sign_of_a_product(x, k):
    n = 2**30 * k
    return x[0] if n * n * n > 0 else x[1]


def sum_of_truncated(x, k):
    n = int(x[2] * 1.6e18)
    return x[0] * (n + n + n)


def large_floor(x, k):
    return x[0] * math.floor(x[2] * 1e19)


def rest_of_zero(x, k):
    return x[0] * (x[1] % x[3] > 0.0) + x[2] // x[5]


def sum_of_a_list(x, k):
    return x[0] * sum([4**30 + i for i in range(k + 9)])


TOO_LARGE = (
    doubled, fibonacci, lowered, power_of_a_size, product_of_products, sign_of_a_product,
    sum_of_truncated, large_floor, sum_of_a_list,
)  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "f",
    [
        power_below_zero, too_large, rounded_infinity, zero_to_the_minus_one, rest_of_zero,
        *TOO_LARGE,
    ],
)  # fmt: skip
def test_what_ints_cannot_hold_runs_as_without(f: Any, tried: list[bool]) -> None:
    results: list[Any] = []
    for compile in (True, False):
        try:
            with np.errstate(all="ignore"):
                results.append(value_and_grad(f, compile=compile)(X, 3))
        except Exception as error:
            results.append(f"{type(error).__name__}: {error}")
    compiled, plain = results
    if isinstance(plain, str):
        assert compiled == plain
    else:
        assert compiled[0] == plain[0]
        assert_allclose(compiled[1], plain[1])
    assert tried == [False]


def flattened(x, k):
    n = len(x)
    s = 0.0
    for i in range(n):
        for j in range(k):
            s += x[(i * n + j) % n] * (k * n + i)
    return s


def counted(x, k):
    m = 0
    last = k
    while m < 40:
        m += 1
        last = 5 - m
    return x[0] * m + x[1] * last


def test_ints_that_cannot_be_too_large_are_not_checked(tried: list[bool]) -> None:
    for f in (flattened, counted):
        value, _ = value_and_grad(f, compile=True)(X, 3)
        assert_allclose(value, f(X, 3))
        (reread,) = next(iter(known_site(f.__code__).readings.values()))
        checks = [s for s in statements(reread.site.region.body) if isinstance(s, Check)]
        assert not any("float" in repr(s.test) for s in checks)
    assert all(tried)


@pytest.mark.parametrize("digits", [0, 1, -2])
@pytest.mark.parametrize("passed", [np.float64, lambda v: np.array([v, 1.0])])
def test_rounding_of_what_is_an_int_is_refused_as_without(digits, passed):
    def f(x):
        return np.sum(np.round(x, digits) * x)

    for way in (False, True):
        grad(f, compile=way)(passed(2.0**51))
        with pytest.raises(DerivativeDropError):
            grad(f, compile=way)(passed(1e16))


def of_elements(x, p):
    s = 0.0
    for i in range(len(x)):
        s += abs(x[i]) ** p
    return s


def in_place(x, p):
    y = x * 1.0
    y **= p
    return np.sum(y)


def of_arrays(x, p):
    return np.sum(np.power(x, p))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", [of_elements, in_place, of_arrays])
def test_powers_of_zero_whose_slopes_are_infinite(f, tried):
    x = np.array([0.0, 1.0])
    for p in (0.3, 0.5, -0.5):
        value, g = value_and_grad(f, compile=True)(x, p)
        assert value == f(x, p)
        np.testing.assert_array_equal(g, value_and_grad(f)(x, p)[1])
        assert not np.isfinite(g[0])
    second = hvp(f, (x, 1.5), np.ones(2), compile=True)
    np.testing.assert_array_equal(second, hvp(f, (x, 1.5), np.ones(2)))
    assert second[1] == 0.75
