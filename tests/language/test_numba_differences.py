"""Where the Python of a jitted function means something else than what was compiled."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import (
    checkpoint,
    from_vjp,
    grad,
    jvp,
    vjp,
)
from mooncake_py.errors import MissingRuleError

numba = pytest.importorskip("numba")
from numba import njit  # noqa: E402

X = np.array([1.0, -2.0, 3.0])
TABLE = np.array([2.0, 3.0, 5.0])


# Where Python means something else.


def refused(f, *args):
    with pytest.raises(MissingRuleError) as caught:
        grad(f)(*args)
    return str(caught.value)


@njit
def noisy(x):
    return x * np.random.normal()  # noqa: NPY002 - as in many a program


@njit
def with_generator(x, rng):
    return x * rng.random() + np.sum(np.ones(2))


def test_random_numbers():
    assert "default_rng" in refused(noisy, 2.0)
    expected = np.random.default_rng(0).random()
    assert grad(with_generator)(2.0, np.random.default_rng(0)) == expected
    np.random.seed(3)  # noqa: NPY002
    drawn = grad(noisy.py_func)(2.0)
    np.random.seed(3)  # noqa: NPY002
    assert drawn == noisy.py_func(1.0)


@njit
def seeded(n):
    np.random.seed(n)  # noqa: NPY002


@njit
def drawn():
    return np.random.normal()  # noqa: NPY002


@njit
def drawn_or_failed(fails):
    np.random.normal()  # noqa: NPY002
    if fails:
        raise ValueError("no number")
    return 1.0


@pytest.mark.thorough
def test_numbers_that_compiled_code_draws():
    def loss(x):
        return x * (drawn() + drawn() * x)

    seeded(3)
    a, b = drawn(), drawn()
    seeded(3)
    assert grad(loss)(2.0) == a + 4 * b
    after = drawn()
    seeded(3)
    drawn()
    drawn()
    assert drawn() == after
    seeded(3)
    drawn()  # the other number of this pair is kept
    _, pull = vjp(loss, 2.0)
    assert pull(1.0) == pull(1.0)
    seeded(3)
    drawn()
    expected = grad(loss)(2.0)
    seeded(3)
    drawn()
    assert grad(lambda x: checkpoint(loss, x))(2.0) == expected == pull(1.0)[0]
    with pytest.raises(ValueError, match="no number"):
        grad(lambda x: x * drawn_or_failed(True))(2.0)


@njit(locals={"s": numba.int64})
def cut_within(x):
    s = 2.0 * x
    return s  # noqa: RET504


@njit(locals={"s": numba.float64})
def exact_within(x):
    s = 2.0 * x
    return s  # noqa: RET504


def test_types_of_local_variables():
    assert "locals={'s': int64}" in refused(cut_within, 2.7)
    assert grad(exact_within)(2.7) == 2.0


@njit("i8(f8)")
def cut_result(x):
    return 2 * x


@njit("UniTuple(i8, 2)(f8)")
def cut_pair(x):
    return x, 2 * x


@njit("Tuple((f8, i8))(f8)")
def with_count(x):
    return 2 * x, 2


@njit("f8(i8)")
def cut_argument(n):
    return 2.0 * n


@njit(["f8(i8)", "f8(f8)"])
def chosen(n):
    return 2.0 * n


def test_signatures_of_ints():
    def loop(x):
        s = 0.0
        for i in range(3):
            s += cut_argument(x[i])
        return s

    assert "makes the result, or a part of it, an int" in refused(cut_result, 2.7)
    assert "a part of it, an int" in refused(lambda x: cut_pair(x)[1], 2.7)
    assert "makes argument 0 an int" in refused(cut_argument, 2.7)
    assert "makes argument 0 an int" in refused(loop, X)
    assert "makes argument 0 an int" in refused(lambda x: cut_argument(n=x), 2.7)
    assert grad(lambda x: x * cut_argument(3))(2.0) == 6.0
    assert grad(chosen)(2.7) == 2.0
    assert grad(lambda x: with_count(x)[0])(2.7) == 2.0


# Ints of 64 bits.


@njit
def series(x, n):
    factorial = 1
    s = 0.0
    for k in range(1, n):
        factorial *= k
        s += x**k / factorial
    return s


@njit
def scrambled(state):
    return state * 6364136223846793005 + 1442695040888963407


@njit
def uses_scrambled(x, state, n):
    s = 0.0
    for _ in range(n):
        state = scrambled(state)
        s += x * (state % 1000)
    return s


@njit
def power_of_ten(x, n):
    return x * 10**n


def test_ints_that_would_wrap_around():
    assert grad(series)(0.5, 8) == grad(series.py_func)(0.5, 8)
    with pytest.raises(OverflowError, match="factorial \\* k is an int of 64 bits") as caught:
        grad(series)(0.5, 30)
    assert "in series" in caught.value.__notes__[0]
    assert grad(lambda x: power_of_ten(x, 3))(0.5) == 1000.0
    with pytest.raises(OverflowError, match="10 \\*\\* n"):
        grad(lambda x: power_of_ten(x, 30))(0.5)
    with pytest.raises(OverflowError, match="10 \\*\\* n"):
        jvp(power_of_ten, (0.5, 30), (1.0, None))


@njit
def power_of_length(x, n):
    return x[0] * pow(len(x), n)


def test_powers_by_pow_are_those_of_the_operator():
    x = np.array([1.5, 2.0, 0.5])
    assert grad(power_of_length)(x, 2).tolist() == [9.0, 0.0, 0.0]
    for n in (-1, 50):
        with pytest.raises(OverflowError, match="len\\(x\\) \\*\\* n"):
            grad(power_of_length)(x, n)
        with pytest.raises(OverflowError, match="len\\(x\\) \\*\\* n"):
            jvp(power_of_length, (x, n), (x, None))


def test_rules_come_before_tests_of_ints():
    def plain(x, n):
        return x * 10**n

    jitted = njit(plain)
    assert grad(lambda x: jitted(x, 2))(1.0) == 100.0
    zero = from_vjp(plain)(lambda x, n: (x, lambda dy: (7 * dy, None)))
    assert zero is not None
    assert grad(lambda x: jitted(x, 30))(1.0) == 7.0


def test_ints_that_wrap_around_in_compiled_code():
    assert grad(uses_scrambled)(0.5, 12345, 4) == uses_scrambled(1.0, 12345, 4)


def test_inlined_functions_test_their_ints():
    def loop(x):
        s = 0.0
        for i in range(30):
            s += power_of_ten(x, i)
        return s

    with pytest.raises(OverflowError, match="10 \\*\\* n"):
        grad(loop)(0.5)
