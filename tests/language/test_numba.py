"""Functions that Numba compiled: derived from their Python, compiled where all is constant."""

from __future__ import annotations

import warnings
from types import FunctionType

import numpy as np
import pytest

from mooncake_py import (
    checkpoint,
    from_vjp,
    grad,
    hessian,
    hvp,
    jacobian,
    jvp,
    overlay,
    rewritten,
    rule_of,
    tape_of,
    test_rule,
    value_and_grad,
    vjp,
)
from mooncake_py.errors import MissingRuleError, SharedArgumentsError
from tests.support.gradients import check

numba = pytest.importorskip("numba")
from numba import njit  # noqa: E402

X = np.array([1.0, -2.0, 3.0])
TABLE = np.array([2.0, 3.0, 5.0])


@njit
def square(x):
    return x * x


@njit
def total(x):
    s = 0.0
    for i in range(len(x)):
        s += square(x[i])
    return s


def with_kernel(kernel, x):
    return kernel(x[0]) + kernel(x[1])


# Ways in.


def test_entry_points():
    value, gradient = value_and_grad(total)(X)
    assert value == 14.0
    assert type(value) is float  # as compiled code returns it
    np.testing.assert_array_equal(gradient, 2 * X)
    np.testing.assert_array_equal(vjp(total, X)[1](1.0)[0], 2 * X)
    assert jvp(total, (X,), (X,)) == (14.0, 28.0)
    np.testing.assert_array_equal(jacobian(total)(X), 2 * X)
    np.testing.assert_array_equal(hessian(total)(X), 2 * np.eye(3))
    np.testing.assert_array_equal(hvp(total, (X,), X), 2 * X)
    np.testing.assert_array_equal(grad(total, debug=True)(X), 2 * X)
    np.testing.assert_array_equal(grad(total, mode="forward")(X), 2 * X)
    assert grad(lambda t: grad(total)(t * X)[1])(2.0) == -4.0


@pytest.mark.slow
def test_rule_of_a_jitted_function():
    test_rule(total, X)


def test_calls_from_other_functions():
    np.testing.assert_array_equal(grad(lambda x: 2 * total(x))(X), 4 * X)
    np.testing.assert_array_equal(grad(lambda x: checkpoint(total, x))(X), 2 * X)


def test_the_python_function_itself():
    np.testing.assert_array_equal(grad(lambda x: total.py_func(x))(X), 2 * X)


# Kernels: jitted functions as values.


def test_kernels_as_arguments():
    np.testing.assert_array_equal(grad(with_kernel, 1)(square, X), [2, -4, 0])
    np.testing.assert_array_equal(grad(njit(with_kernel), 1)(square, X), [2, -4, 0])
    np.testing.assert_array_equal(grad(lambda x, k=square: k(x[2]))(X), [0, 0, 6])


def test_kernels_in_containers_and_objects():
    class Model:
        kernel = staticmethod(square)

    model = Model()
    model.own = square
    np.testing.assert_array_equal(grad(lambda x, ks: ks[0](x[1]))(X, [square]), [0, -4, 0])
    np.testing.assert_array_equal(grad(lambda x, o: o.own(x[1]))(X, model), [0, -4, 0])
    np.testing.assert_array_equal(grad(lambda x, o: o.kernel(x[1]))(X, model), [0, -4, 0])


def test_kernels_that_are_captured():
    def made(kernel):
        def f(x):
            return kernel(x[0]) * x[1]

        return f

    np.testing.assert_array_equal(grad(made(square))(X), [-4, 1, 0])
    np.testing.assert_array_equal(grad(njit(made(square)))(X), [-4, 1, 0])


def test_functions_that_are_jitted_within():
    def loss(x):
        @njit
        def scaled(y):
            return y * x

        twice = njit(lambda y: scaled(scaled(y)))
        return scaled(3.0) * njit(lambda y: y + x)(1.0) + twice(1.0)

    assert grad(loss)(2.0) == 19.0


# What a call may look like.


@njit
def power(x, base=2.0, *, times=3):
    for _ in range(times):
        x = x * base
    return x


def test_defaults_and_keywords():
    assert grad(power)(1.0) == 8.0
    assert grad(lambda x: power(x, times=1))(1.0) == 2.0
    assert grad(lambda x: power(1.0, x))(3.0) == 27.0


@njit
def pair(x, y):
    return x * y, (x + y, 2)


def test_tuples():
    _, pull = vjp(pair, 2.0, 3.0)
    assert pull((1.0, (10.0, None))) == (13.0, 12.0)


@njit
def raised_to(x, n):
    if n == 0:
        return 1.0
    return x * raised_to(x, n - 1)


@njit
def multiples(x):
    for i in range(4):
        yield i * x


def test_recursion_and_generators():
    assert grad(raised_to)(2.0, 4) == 32.0
    assert grad(lambda x: sum(multiples(x)))(2.0) == 6.0


@njit
def limited(x, n):
    s = 0.0
    for i in range(n):
        if i == 2:
            raise ValueError("too many")
        s += x[i]
    return s


@pytest.mark.parametrize("f", [limited, lambda x, n: x[0] * limited(TABLE, n)])
def test_exceptions_pass_with_the_line(f):
    with pytest.raises(ValueError, match="too many") as caught:
        grad(f)(X, 3)
    assert "in limited" in caught.value.__notes__[0]


def test_exceptions_that_are_caught():
    def guarded(x):
        try:
            return limited(x, 3)
        except ValueError:
            return 3 * x[0]

    np.testing.assert_array_equal(grad(guarded)(X), [3, 0, 0])


# Rules come first.


def loop_over_doubled(x):
    s = 0.0
    for i in range(3):
        s += doubled(x[i])  # noqa: F821 - a global of the copies
    return s


def test_rule_for_a_jitted_function():
    @njit
    def doubled(x):
        return 2 * x

    scope = {"doubled": doubled}
    loop = FunctionType(loop_over_doubled.__code__, scope)
    np.testing.assert_array_equal(grad(loop)(X), [2, 2, 2])

    @from_vjp(doubled)
    def rule(x):
        return doubled(x), lambda dy: (100 * dy,)

    assert grad(doubled)(1.0) == 100.0
    np.testing.assert_array_equal(grad(loop)(X), [100, 100, 100])
    np.testing.assert_array_equal(grad(njit(loop))(X), [100, 100, 100])


def test_rule_for_its_python():
    def plain(x):
        return 2 * x

    jitted = njit(plain)

    def loop(x):
        s = 0.0
        for i in range(3):
            s += jitted(x[i])
        return s

    np.testing.assert_array_equal(grad(loop)(X), [2, 2, 2])

    @from_vjp(plain)
    def rule(x):
        return plain(x), lambda dy: (7 * dy,)

    assert grad(jitted)(1.0) == 7.0
    np.testing.assert_array_equal(grad(loop)(X), [7, 7, 7])


def test_replacement_by_its_python():
    jitted = njit(lambda x: x * x)
    assert grad(jitted)(3.0) == 6.0
    overlay(jitted)(jitted.py_func)
    assert grad(jitted)(3.0) == 6.0


# Constant arguments: compiled.


@njit
def fill(b, value):
    for i in range(len(b)):
        b[i] = value


@njit
def tail(b):
    return b[1:]


@njit
def overlapping(n):
    a = np.zeros(n)
    return a, a[1:]


@njit
def entry(i):
    return TABLE[i]


@pytest.mark.without_modes("there the call is compiled into what calls it", "compiled")
def test_constant_calls_run_compiled():
    calls = len(entry.signatures)
    f = value_and_grad(lambda x: entry(2) * x[0])
    assert f(X)[0] == 5.0
    assert len(entry.signatures) > calls or calls == 1


@njit
def doubled_entry(i):
    return 2 * TABLE[i]


def test_debug_mode_lets_functions_be_compiled():
    np.testing.assert_array_equal(grad(lambda x: doubled_entry(2) * x, debug=True)(2.0), 10.0)


def test_captured_arrays_are_constants():
    def capturing(a):
        def f(x):
            s = 0.0
            for i in range(3):
                s += x[i] * a[i]
            x[0] = 7.0
            return s * a[0]

        return f

    a = X.copy()
    plain, jitted = capturing(a), njit(capturing(a))
    for f in (plain, jitted):
        np.testing.assert_array_equal(grad(f)(X), X)
        with pytest.raises(SharedArgumentsError):
            grad(f)(a)


def test_writes_of_compiled_code_are_undone():
    def loss(x):
        b = np.ones(3)
        y = x * b
        fill(b, 5.0)
        return np.sum(y * b)

    check(loss, X)
    np.testing.assert_array_equal(jvp(loss, (X,), (X,))[1], 10.0)
    np.testing.assert_array_equal(grad(loss, debug=True)(X), [5, 5, 5])


def test_writes_into_active_memory():
    def loss(x):
        b = np.zeros(3)
        b[1] = x[0]
        kept = b * b
        fill(b, 2.0)
        return np.sum(kept) + np.sum(b)

    check(loss, X)


def test_arguments_that_are_written():
    b = np.ones(3)
    assert grad(lambda x, b: (fill(b, x), np.sum(b))[1])(2.0, b) == 3.0
    assert grad(lambda x, b: (fill(b, 4.0), b[0] * x)[1])(2.0, b) == 4.0
    np.testing.assert_array_equal(b, 1.0)


def test_views_from_compiled_code():
    def of_argument(x):
        b = np.zeros(4)
        v = tail(b)
        v[0] = x[0]
        return 2 * b[1] + v[1]

    def of_one_another(x):
        a, b = overlapping(4)
        b[0] = x[0]
        return 3 * a[1]

    np.testing.assert_array_equal(grad(of_argument)(X), [2, 0, 0])
    np.testing.assert_array_equal(grad(of_one_another)(X), [3, 0, 0])


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


@njit(parallel=True)
def in_parallel(x):
    s = 0.0
    for i in numba.prange(len(x)):
        s += square(x[i])
    return s


@njit("f8(f8)")
def square_of_float(x):
    return x * x


def of_floats(x):
    s = 0.0
    for i in range(len(x)):
        s += square_of_float(x[i])
    return s


def of_numbers(x):
    s = 0.0
    for i in range(len(x)):
        s += square(x[i])
    return s


@pytest.mark.plain
@pytest.mark.parametrize("f", [total, in_parallel, of_numbers, of_floats])
def test_loops_are_one_entry(f):
    (entry,) = tape_of(f, X).entries
    assert entry.operation == "loop"
    np.testing.assert_array_equal(grad(f)(X), 2 * X)


@pytest.mark.plain
def test_numbers_from_jitted_functions_are_those_of_python():
    def general(x, functions):
        s = 0.0
        for i in range(len(x)):
            s += functions[0](x[i])
        return s

    value, _ = value_and_grad(of_numbers)(X)
    assert type(value) is type(value_and_grad(general)(X, [square])[0]) is float


def test_what_answers_for_a_jitted_function():
    assert "runs compiled on constants, else derived" in str(rule_of(total))
    assert "for i in C.fused_loop(range(C.len(x))):" in rewritten(total)


def test_no_warning_where_nothing_is_wrong():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grad(lambda x: total(x) * entry(1))(X)


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


@njit
def looked_up(table, i):
    return table[i]


@njit
def set_to(table, i, value):
    table[i] = value
    return value


def test_large_arrays_are_not_copied():
    table = np.arange(20_000.0)

    def loss(x):
        s = 0.0
        for i in range(3):
            s += looked_up(table, i + 1) * x[i]
        return s

    np.testing.assert_array_equal(grad(loss)(X), [1, 2, 3])
    assert not any(type_.mutable for (type_, _) in looked_up.signatures)


def test_large_arrays_that_are_written():
    def loss(x):
        table = np.ones(20_000)
        y = x[0] * table[:3]
        set_to(table, 1, 5.0)
        return np.sum(y * table[:3])

    np.testing.assert_array_equal(grad(loss)(X), [7, 0, 0])
