"""`functools.lru_cache` and `cache`, against finite differences."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import functools
import gc
import weakref

import numpy as np
import pytest

from mooncake_py import checkpoint, grad, jvp, value_and_grad
from mooncake_py.errors import DerivativeDropError
from tests.support.gradients import Program, Programs
from tests.support.subjects import Memoized

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


@programs(X)
def lruc(x):

    @functools.cache
    def f(k):
        return x[k] ** 2

    return f(0) * f(1) * f(0)


@programs(X)
def lru_active(x):

    @functools.cache
    def f(v):
        return v * v

    return f(x[0]) * f(x[0]) + f(x[1])


@programs(X)
def lru_method(x):
    p = Memoized(x[0])
    return p.cached(2) * p.cached(2) + p.cached(3)


@functools.lru_cache
def coef(k):
    return k * 0.5


@programs(X)
def lru_const(x):
    return sum((coef(i) * v for i, v in enumerate(x)))


@programs(X)
def lru_fib(x):

    @functools.cache
    def fib(n):
        return x[n] if n < 2 else fib(n - 1) * 0.5 + fib(n - 2)

    return fib(8)


@programs(X)
def lru_ident(x):

    @functools.cache
    def f(k):
        return [x[k]]

    f(0).append(x[1])
    return sum(f(0))


@programs(X)
def lru_info(x):

    @functools.cache
    def f(k):
        return x[k]

    f(0)
    f(0)
    return f(1) * f.cache_info().hits


@programs(X)
def lru_count(x):
    n = [0]

    @functools.cache
    def f(k):
        n[0] += 1
        return x[k]

    f(0)
    f(0)
    f(1)
    return n[0] * x[0]


@programs(X)
def lru_evict(x):
    n = []

    @functools.lru_cache(maxsize=1)
    def f(k):
        n.append(k)
        return x[k]

    f(0)
    f(1)
    f(0)
    f(0)
    return len(n) * f(1) + f.cache_info().misses


@programs(X)
def lru_typed(x):

    @functools.lru_cache(typed=True)
    def f(k):
        return x[0] * (2 if isinstance(k, int) else 3)

    return f(1) * f(1.0)


@programs(X)
def lru_clear(x):
    n = []

    @functools.cache
    def f(k):
        n.append(k)
        return x[k]

    f(0)
    f.cache_clear()
    f(0)
    return len(n) * f(0)


@programs(X)
def lru_unhash(x):

    @functools.cache
    def f(k):
        return x[0]

    try:
        f([1])
    except TypeError:
        return x[1]


@programs(X)
def lru_kw(x):

    @functools.cache
    def f(a, b=1):
        return x[a] * b

    return f(0, b=2) * f(a=1) * f(0, b=2)


@programs(np.zeros(3))
def lru_equal_actives(x):

    @functools.cache
    def f(v):
        return v * v + v

    return f(x[0]) + 2 * f(x[1]) + 3 * f(x[2])


@programs(np.zeros(3))
def lru_tuple_key(x):

    @functools.cache
    def f(t):
        return t[0] * 2 + t[1]

    return f((x[0], x[1])) + f((x[1], x[2]))


@programs(X)
def lru_arr_result(x):

    @functools.cache
    def grid(n):
        return x * n

    g = grid(2)
    g[0] = 0.0
    return (grid(2) ** 2).sum()


@programs(X)
def lru_map(x):

    @functools.cache
    def f(k):
        return x[k] ** 2

    return sum(map(f, [0, 1, 1, 2]))


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


@pytest.mark.without_modes("an inner derivative reads what the outer call has captured", "inside")
def test_what_a_cache_remembers_stays_outside():
    @functools.cache
    def scaled(k):
        return weights[k] * 2.0

    weights = np.ones(2)
    assert scaled(0) == 2.0

    def f(x):
        weights[:] = x
        return scaled(0) * scaled(1)

    np.testing.assert_array_equal(grad(f)(np.array([2.0, 3.0])), [12.0, 8.0])
    assert scaled.cache_info().currsize == 1
    assert scaled(1) == 2.0


def test_equal_active_numbers_are_different_keys():
    @functools.cache
    def square(v):
        return (v + 1.0) ** 2

    def f(x):
        return square(x[0]) + 10.0 * square(x[1])

    np.testing.assert_array_equal(grad(f)(np.zeros(2)), [2.0, 20.0])


def counted():
    runs = [0]

    @functools.lru_cache
    def square(v):
        runs[0] += 1
        return v * v + runs[0]

    return square, runs


@pytest.mark.without_modes("the modes are those of the test")
@pytest.mark.parametrize("debug", [False, True])
def test_an_element_that_is_read_twice_is_one_argument(debug):
    square, runs = counted()
    x = np.array([3.0, 3.0])
    value, g = value_and_grad(lambda x: square(x[0]) + square(x[0]), debug=debug)(x)
    assert value == 20.0
    assert list(g) == [12.0, 0.0]
    assert runs == [0]


@pytest.mark.without_modes("the modes are those of the test")
@pytest.mark.parametrize(
    "way",
    [
        lambda f, x: value_and_grad(f)(x),
        lambda f, x: jvp(f, (x,), (np.array([1.0, 2.0]),)),
        lambda f, x: value_and_grad(lambda x: checkpoint(f, x))(x),
    ],
)
def test_equal_arguments_of_a_function_with_state_are_refused(way):
    square, _ = counted()
    with pytest.raises(DerivativeDropError, match="returns another result for an equal argument"):
        way(lambda x: square(x[0]) + square(x[1]), np.array([3.0, 3.0]))


def test_an_element_that_is_written_between_is_another_argument():
    square = functools.lru_cache(lambda v: v * v)

    def f(x):
        y = square(x[0])
        x[0] = x[1] * 1.0
        return y + 2 * square(x[0])

    np.testing.assert_array_equal(grad(f)(np.array([3.0, 3.0])), [6.0, 12.0])
    g = grad(lambda x: checkpoint(f, x))(np.array([3.0, 3.0]))
    np.testing.assert_array_equal(g, [6.0, 12.0])

    def by_a_constant(x):
        y = square(x[0])
        x[:1] = 3.0
        return y + 2 * square(x[0])

    np.testing.assert_array_equal(grad(by_a_constant)(np.array([3.0, 3.0])), [6.0, 0.0])


def test_memoised_recursion_runs_once_for_an_element():
    runs = [0]

    @functools.cache
    def fibonacci(n, v):
        runs.append(n)
        return v if n < 2 else fibonacci(n - 1, v) + fibonacci(n - 2, v)

    def f(x):
        y = fibonacci(12, x[0]) + fibonacci(12, x[0])
        assert len(runs) == 14
        return y

    assert list(grad(f)(np.array([2.0]))) == [466.0]


@pytest.mark.without_modes("the modes are those of the test")
def test_equal_arguments_that_move_alike_are_one_in_forward_mode():
    square, _ = counted()
    x = np.array([3.0, 3.0])
    y, dy = jvp(lambda x: square(x[0]) + square(x[1]), (x,), (np.ones(2),))
    assert y == 20.0
    assert dy == 12.0


def test_cached_functions_take_turns_at_a_place():
    told = []

    @functools.lru_cache(maxsize=2)
    def scaled(k, by=2.0):
        return k * by

    def f(x):
        @functools.cache
        def own(k):
            return x * k

        total, freed = 0.0, 0
        for k in range(12):
            made = functools.lru_cache(lambda j, k=k: x * j + k)
            for g in (scaled, own, made, scaled):
                total = total + g(k % 3) * x
            total = total + scaled(k % 2, by=x) * made(2)
            try:
                total = total + scaled([k])
            except TypeError as error:
                told.append(str(error))
            reference = weakref.ref(made)
            del made, g
            freed += reference() is None
        return total + scaled.cache_info().hits

    value = f(0.7)
    plain = told.copy()
    scaled.cache_clear()
    found, g = value_and_grad(f)(0.7)
    scaled.cache_clear()
    assert found == value
    steps = []
    for h in (1e-6, -1e-6):
        scaled.cache_clear()
        steps.append(f(0.7 + h))
    np.testing.assert_allclose(g, (steps[0] - steps[1]) / 2e-6, rtol=1e-6)
    assert set(plain) == {"unhashable type: 'list'"}


def test_what_a_derivative_has_cached_is_freed_with_it():
    def f(x):
        @functools.cache
        def own_and_freed(k):
            return x * k

        total = 0.0
        for k in range(5):
            total = total + own_and_freed(k % 2)
        return total

    assert grad(f)(0.5) == 2.0
    gc.collect()
    kept = functools.cache(len)
    cached = [o for o in gc.get_objects() if type(o) is type(coef)]
    assert any(o is kept for o in cached)
    assert not [o for o in cached if o.__wrapped__.__name__ == "own_and_freed"]
