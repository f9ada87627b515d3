"""Which loops run as one entry, and what is left where one cannot."""

from __future__ import annotations

import gc
import math
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import checkpoint, grad, value_and_grad, vjp
from mooncake_py.compiler.sites.site import Site
from mooncake_py.modes.reverse.context import ReverseContext
from tests.compiler.comparing import agrees, equals_reference

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])


def recurrence(x, a):
    for i in range(1, len(x)):
        x[i] += a * x[i - 1]
    return x[-1] * x[2]


def total(x):
    s = 0.0
    for i in range(5):
        s += x[i] * x[i]
    return s


# What is tried.


@pytest.mark.plain
@pytest.mark.parametrize("a", [0.5, np.float64(0.5), 2])
def test_numbers_of_python_and_numpy(a, taken):
    agrees(recurrence, X, a)
    assert taken == [True, True, False]


@pytest.mark.plain
@pytest.mark.parametrize("a", [np.float32(0.5), True, np.int16(2), np.array(2.0), 0.5j], ids=repr)
def test_other_numbers_take_the_general_way(a, taken):
    def f(x):
        s = 0.0
        for i in range(1, 5):
            s += x[i] * a
        return abs(s)

    assert_allclose(grad(f)(X), abs(a) * np.array([0, 1, 1, 1, 1]), rtol=1e-7)
    assert taken == [False]


@pytest.mark.plain
@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.longdouble, ">f8", object])
def test_arrays_of_other_dtypes_take_the_general_way(dtype, taken):
    x = np.array([0.5, 2.0, 3.0, 1.5], dtype)

    def f(x):
        for i in range(1, 4):
            x[i] = x[i - 1] * x[i]
        return abs(x[3])

    if dtype is object:
        with pytest.raises(TypeError):
            grad(f)(x)
    else:
        assert_allclose(grad(f)(x.copy()), np.prod(x) / x, rtol=1e-6)
        assert taken == [False]


@pytest.mark.plain
def test_rows_are_one_entry_too(printed):
    def f(x):
        for i in range(30):
            x[i] = x[i] * 2.0
        return np.sum(x * x)

    x = np.arange(60.0).reshape(30, 2)
    assert_allclose(grad(f)(x), 8 * x)
    assert printed == [True]


@pytest.mark.plain
def test_dicts_and_objects_take_the_general_way(taken):
    class Shifted:
        def __init__(self, x):
            self.x = x

        def __getitem__(self, i):
            return self.x[i - 1]

        def __setitem__(self, i, value):
            self.x[i - 1] = value

    def f(x):
        s = 0.0
        for held in ({0: x[3], 1: 2.0, 2: x[1]}, Shifted(x)):
            for i in range(1, 3):
                held[i] = held[i] * held[i - 1]
            for i in range(3):
                s += held[i]
        return s + np.sum(x)

    agrees(f, X)
    assert not any(taken)


@pytest.mark.plain
def test_subclasses_of_arrays_take_the_general_way(taken):
    def f(x):
        m = np.ma.masked_array([1.0, 2.0, 3.0, 4.0], [0, 1, 0, 0])
        s = 0.0
        for i in range(3):
            s += m[i + 1 if i else 0] * 2.0 if i else 1.0
        t = 0.0
        for i in range(3):
            t += m[3] * x[i]
        return t

    assert_array_equal(grad(f)(X), [4, 4, 4, 0, 0])
    assert taken == [False]


@pytest.mark.plain
def test_few_passes_take_the_general_way(taken):
    def f(x, n):
        s = 0.0
        for i in range(n):
            s += x[i] * x[i]
        return s

    for n in range(5):
        assert value_and_grad(f)(X, n)[0] == f(X, n)
    assert taken == [False, False, False, True, True]


@pytest.mark.plain
def test_large_arrays_are_not_copied_for_few_passes(taken):
    def f(x, n):
        for i in range(n):
            x[i] *= x[i + 1]
        return x[0] * x[n]

    x = np.linspace(1.0, 1.1, 1000)
    equals_reference(f, x, 30)
    equals_reference(f, x, 40)
    assert taken == [False, False, False, True, True, False]


@pytest.mark.plain
def test_passes_of_inner_loops_count(taken):
    def f(x, n):
        for k in range(3):
            for i in range(k, n + k):
                x[i] *= x[i + 1]
        return x[0] * x[n]

    x = np.linspace(1.0, 1.1, 4000)
    value_and_grad(f)(x, 10)
    value_and_grad(f)(x, 150)
    assert taken[0] is False
    assert taken[-1] is True


@pytest.mark.plain
def test_attributes_that_were_read_before(taken):
    class Model:
        def __init__(self, x, a):
            self.x = x
            self.a = a

        def run(self):
            s = 0.0
            for i in range(1, len(self.x)):
                self.x[i] += self.x[i - 1] * self.a
                s += self.x[i]
            for i in range(1, len(self.x)):
                self.x[i] += self.x[i - 1] * self.a
                s += self.x[i]
            return s

    agrees(lambda x, a: Model(x, a).run(), X, 0.3)
    assert taken[1] is True


@pytest.mark.plain
def test_an_attribute_has_another_name_than_any_variable(taken):
    class Given:
        c = 2.0

    def f(x, a, o):
        o_of_c = a
        s = o.c * o.c
        for i in range(4):
            s += x[i] * o.c
            o_of_c = s * a
        for i in range(4):
            s += x[i] * o.c + o_of_c
        return s + o_of_c

    agrees(lambda x, a: f(x, a, Given()), X, 0.3)
    assert taken[:2] == [True, True]


def test_properties_are_read_in_each_pass():
    class Counted:
        def __init__(self, x):
            self.held = x
            self.reads = 0

        @property
        def x(self):
            self.reads += 1
            return self.held

    def f(x):
        c = Counted(x)
        s = c.x[0]
        for i in range(5):
            s += c.x[i] * c.x[i]
        return s * c.reads

    agrees(f, X)


@pytest.mark.plain
def test_globals_and_captured_variables(taken):
    scale = 0.5

    def f(x):
        nonlocal scale
        s = 0.0

        def read():
            return s * 2.0

        for i in range(5):
            s += x[i] * scale * STEP
        scale = s
        for i in range(5):
            s += x[i] * scale * STEP
        result = read() * scale
        scale = 0.5
        return result

    agrees(f, X)
    assert taken[:2] == [True, True]


STEP = 0.25
TABLE = np.zeros(5)


@pytest.mark.plain
def test_a_global_array_becomes_active_and_is_restored(taken):
    def f(x):
        TABLE[:] = 0.0
        for i in range(5):
            TABLE[i] = x[i] * x[i] + TABLE[i - 1]
        return np.sum(TABLE * TABLE)

    agrees(f, X)
    assert taken[0] is True
    TABLE[:] = 3.0
    grad(f)(X)
    assert_array_equal(TABLE, 3.0)


@pytest.mark.plain
def test_generators_recursion_and_threads(taken):
    def blocks(x):
        for k in range(3):
            s = 0.0
            for i in range(5):
                s += x[i] * x[i] * k
                x[i] *= 1.1
            yield s

    def recursive(x, n):
        s = 0.0
        for i in range(5):
            s += x[i] * n
            x[i] *= 0.9
        return s if n == 0 else s * recursive(x, n - 1)

    agrees(lambda x: sum(blocks(x)), X)
    agrees(recursive, X, 2)
    assert all(taken[:3])
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(grad(recursive)(X.copy(), 2)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for g in found:
        assert_array_equal(g, grad(recursive)(X, 2))


@pytest.mark.plain
def test_a_rehearsal_and_the_run_with_record_take_it(taken):
    agrees(lambda x: checkpoint(total, x) * 2.0, X)
    assert taken[:2] == [True, True]


@pytest.mark.plain
def test_three_misses_in_a_row_are_enough(taken, monkeypatch):
    attempts = []
    attempt = Site.attempt
    monkeypatch.setattr(
        Site, "attempt", lambda self, *args: attempts.append(1) or attempt(self, *args)
    )

    def f(x, n):
        s = 0.0
        try:
            for i in range(n):
                s += x[i] * x[i]
        except IndexError:
            s *= 2.0
        return s

    for n in (9, 9, 4, 9, 9, 9, 4):
        assert value_and_grad(f)(X, n)[0] == f(X, n)
    assert taken == [False, False, True, False, False, False, False]
    assert len(attempts) == 6


# The way back.


@pytest.mark.plain
def test_a_cotangent_of_zero_returns_at_once(monkeypatch):
    def f(x):
        y = x.copy()
        s = 0.0
        for i in range(5):
            y[i] *= x[i]
            s += y[i]
        return x[0] * 2.0

    ctx = ReverseContext()
    x = X.copy()
    ctx.registry.activate(x)
    ctx.call(f, x)
    entry = next(entry for entry in ctx.tape if entry[0].__name__ == "pull_region")
    kept = len(entry[2])
    entry[0](entry)
    assert len(entry[2]) == kept > 0
    assert_array_equal(grad(f)(X.copy()), [2.0, 0.0, 0.0, 0.0, 0.0])


def test_a_pullback_that_is_called_twice():
    y, pullback = vjp(recurrence, X.copy(), 0.5)
    first = pullback(1.0)
    second = pullback(2.0)
    assert y == recurrence(X.copy(), 0.5)
    for a, b in zip(first, second, strict=True):
        assert_allclose(2 * np.asarray(a), b, rtol=1e-14)


@pytest.mark.parametrize("of", ["number", "array"])
def test_a_checkpoint_in_which_more_is_active_when_it_runs_again(of):
    # A number that no pass made active is active in the run with record: that was an error.
    def part(x):
        s, b = 0.0, np.zeros(5)
        for i in range(5):
            if x[i] > 100.0:
                s += x[i]
                b[i] = x[i]
        return s if of == "number" else b

    agrees(lambda x: np.sum(x) * (np.sum(checkpoint(part, x)) + 1.0), X)


def test_functions_of_math_and_of_numpy():
    def f(x):
        s = 0.0
        for i in range(5):
            s += math.sin(x[i]) * np.exp(-x[i]) + math.hypot(3.0, 4.0) * 0.0
            x[i] = np.tanh(x[i]) * math.sqrt(x[i] * x[i] + 1.0)
        return s * np.sum(x)

    agrees(f, X)


@pytest.mark.plain
def test_nothing_is_left_to_the_cyclic_collector(taken, only_new_objects):
    def f(x):
        y = x * 2.0
        for i in range(1, 40):
            for j in range(40):
                y[i, j] *= y[i - 1, j]
        return y[39, 0]

    grad(f)(np.ones((40, 40)))  # derives what is called
    gc.collect()
    gc.disable()
    try:
        grad(f)(np.ones((40, 40)))
        assert gc.collect() == 0
    finally:
        gc.enable()
    assert taken == [True, True]
