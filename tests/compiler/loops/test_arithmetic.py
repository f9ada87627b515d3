"""Powers, remainders, roundings, conversions and several targets in loops that are one entry."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mooncake_py import grad, value_and_grad
from tests.compiler.comparing import agrees
from tests.programs.comparing import function_of

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])


def looped(body: str, head: str = "for i in range(5):"):
    """Return a function of a vector and a number with a loop."""
    lines = "".join(f"        {line}\n" for line in body.split("; "))
    return function_of(
        "import math\nimport numpy as np\n"
        f"def f(x, a):\n    s = t = 0.5\n    k = 1\n    {head}\n{lines}"
        "    return s * t + x[2] * x[4] + a + k\n",
        f"<arithmetic {head} {body}>",
    )


@pytest.mark.sampled(3)
@pytest.mark.plain
@pytest.mark.parametrize(
    "body",
    [
        "s += abs(x[i]) ** 1.5", "s += (2.0 + x[i]) ** a", "s += a ** x[i]", "s += 2 ** x[i]",
        "s += x[i] ** i", "s += x[i] ** (i % 3) * x[i] ** -1", "s += x[i] ** 9 + x[i] ** 2.0",
        "s = s + x[i]; s **= 1.25", "x[i] = abs(x[i]); x[i] **= a", "s += x[i] ** 0 * a",
        "s += x[i] % 0.37", "s += 3 * x[i] % (a + 0.01)", "s += 0.3 % x[i] - a % x[i] * s",
        "s += x[i]; s %= a",
        "s += x[i] // 0.37 * x[i]", "s += i // 2 * x[i]; t = i % 3 * x[i]", "s += x[i]; s //= 0.23",
        "s += round(3 * x[i]) * x[i]", "s += math.floor(3 * x[i]) * a", "t = round(x[i])",
        "s += math.ceil(x[i]) + math.trunc(2.3 * x[i]) * x[i]", "t = math.floor(a * 9) * x[i]",
        "s += np.floor(3 * x[i]) * x[i]", "s += np.sign(x[i]) * x[i]; t = np.rint(x[i])",
        "t = float(x[i]) * 2", "s = float(s * x[i]) + float(i)", "s += (+x[i]) * +a",
        "s = t = s + x[i]", "x[i] = s = t = x[i] * a", "k = k = i; s += x[k]", "s = x[i] = 2",
    ],
)  # fmt: skip
def test_statements(body, taken):
    agrees(looped(body), X, 0.6)
    assert taken == [True, True, False]


@pytest.mark.plain
@pytest.mark.parametrize(
    "head",
    [
        "for i in reversed(range(5)):", "for i in reversed(range(1, 5, 2)):",
        "for i in range(4, -1, -1):",
        "for i, (u, v) in enumerate(zip(x, x)):",
    ],
)  # fmt: skip
def test_heads(head, taken):
    agrees(looped("s += s * a * x[i]; k = i", head), X, 0.6)
    agrees(looped("s += s * a * x[i]; if s > 0.9: break", head), X, 0.6)
    assert taken == [True, True, False] * 2


@pytest.mark.plain
@pytest.mark.parametrize(
    "body",
    [
        "if math.sqrt(abs(x[i])) < 0.9 * a ** 0.5: s += x[i] * a",
        "if max(x[i], a, 0.1) > min(s, 2) or abs(x[i]) ** 1.5 > 1: s *= 1.5",
        "if i > 3 and math.log(x[i - 1]) > 0 or round(x[i]) == 1: s += x[i]",
        "for j in range(max(0, i - 1), min(5, i + 2)): s += x[j] * a",
        "while math.hypot(s, x[i]) < 2.0: s = 1.3 * s + 0.1 * a",
        "s += x[max(i - 1, 0)] * x[min(i + 1, 4)]; x[max(i - 2, 0)] *= s",
        "assert math.exp(x[i]) < 100.0; s += x[i]",
        "s += x[i] if float(i) ** 0.5 > 1 else a",
    ],
)
def test_tests_and_ranges(body, taken):
    agrees(looped(body), X, 0.6)
    assert taken[:2] == [True, True] or body in OTHERWISE


# What NumPy computes in another way.
OTHERWISE = (
    "while math.hypot(s, x[i]) < 2.0: s = 1.3 * s + 0.1 * a",
    "s += x[i] if float(i) ** 0.5 > 1 else a",
)


@pytest.mark.plain
@pytest.mark.parametrize("test", ["math.log(x[i]) > 0", "x[i] ** 0.5 > 1", "1.0 / (i - 2) > 0"])
def test_tests_that_raise(test):
    f = looped(f"if {test}: s += x[i]; k = i")
    with np.errstate(invalid="ignore"):
        try:
            value = f(X.copy(), 0.6)
        except (ValueError, ZeroDivisionError, TypeError) as error:
            with pytest.raises(type(error)):
                grad(f)(X.copy(), 0.6)
        else:
            assert value_and_grad(f)(X.copy(), 0.6)[0] == value


def test_reversed_ranges_of_no_ints():
    f = looped("s += x[i]", "for i in reversed(range(len(x), a)):")
    with pytest.raises(TypeError, match="integer"):
        grad(f)(X.copy(), 0.6)


def test_ranges_that_go_backwards_within():
    agrees(looped("for j in reversed(range(i)): s += s * a * x[j]"), X, 0.6)


@pytest.mark.plain
@pytest.mark.parametrize(
    "body",
    ["s += abs((0.0 * s + x[i]) ** 0.5)", "s += abs(float(x[i]) ** a)", "s += abs((a - 1.0) ** a)"],
)
def test_powers_that_are_complex_numbers_of_python(body, taken):
    f = looped(body)
    value, g = value_and_grad(f)(abs(X), 0.6)
    assert value == f(abs(X), 0.6)
    del taken[:]
    with np.errstate(invalid="ignore"):
        value, g = value_and_grad(f)(X.copy(), 0.6)
        assert_array_equal(value, f(X.copy(), 0.6))
    assert len(g) == 5
    assert taken == [False]


@pytest.mark.plain
@pytest.mark.parametrize("body", ["s += 2 ** i * x[i]", "t = 2 ** -i * x[i]"])
def test_powers_of_ints(body):
    agrees(looped(body), X, 0.6)


@pytest.mark.parametrize("body", ["s += float(i) % (i - 1)", "s += s // (i - 1.0)",
                                  "s += (a * 1e200) ** 2.5",
                                  "s += (i - 2) ** -1 * x[i]"])  # fmt: skip
def test_what_raises(body):
    f = looped(body)
    with pytest.raises(ArithmeticError):
        f(X.copy(), 0.6)
    with pytest.raises(ArithmeticError):
        grad(f)(X.copy(), 0.6)


def test_types_afterwards():
    def f(x):
        a = b = c = d = e = g = 0
        for i in range(5):
            a = round(x[i])
            b = float(x[i])
            c = math.floor(2.0 * x[i])
            d = np.floor(2.0 * x[i])
            e = x[i] // 0.5
            g = b % 0.5
        kinds = [type(v).__name__ for v in (a, b, c, d, e, g)]
        return a * b + c * d + e * g, kinds

    (value, kinds), _ = value_and_grad(f, has_aux=True)(X.copy())
    assert (value, kinds) == f(X.copy())
