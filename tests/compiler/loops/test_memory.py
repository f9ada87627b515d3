"""Arrays that loops read and write: memory that they share, and what is put back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided
from numpy.testing import assert_array_equal

from mooncake_py import SharedArgumentsError, grad, value_and_grad
from mooncake_py.modes.reverse.context import ReverseContext
from tests.compiler.comparing import agrees

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])


def recurrence(x, a):
    for i in range(1, len(x)):
        x[i] += a * x[i - 1]
    return x[-1] * x[2]


@pytest.mark.plain
def test_views_of_one_memory():
    def f(x):
        tail = x[1:]
        back = x[::-1]
        b = np.ones(6)
        c = b[1:]
        for i in range(1, 4):
            tail[i] += x[i] * back[i - 1]
            back[i] *= tail[i]
            c[i] = x[i] * b[i]
        return np.sum(x * x) + np.sum(b * x[0])

    agrees(f, X)
    agrees(lambda x: f(x[1:]) if len(x) > 5 else 0.0 * x[0], np.append(X, 0.3))


@pytest.mark.plain
def test_one_array_under_two_names():
    def pair(x, y):
        for i in range(1, 5):
            x[i] += y[i - 1] * 0.5
            y[i] *= x[i]
        return np.sum(x * y)

    agrees(lambda x: pair(x, x), X)
    agrees(lambda x: pair(x, x[::-1]), X)
    agrees(lambda x: pair(x[::-1], x), X)


@pytest.mark.plain
def test_an_array_that_overlaps_itself_takes_the_general_way(taken):
    def f(x):
        windows = as_strided(x, (3, 3), (8, 8), writeable=True)
        for i in range(1, 3):
            for j in range(1, 3):
                windows[i, j] += windows[i - 1, j] * windows[j, i]
        return np.sum(x * x)

    agrees(f, X)
    assert not any(taken)


@pytest.mark.plain
def test_a_constant_array_becomes_active_for_earlier_views_too(taken):
    def f(x):
        b = np.ones((5, 5))
        diagonal = b.reshape(-1)[::6]
        row = b[2]
        for i in range(5):
            b[i, i] = x[i] * x[i - 1]
        return np.sum(diagonal * x) * row[2]

    agrees(f, X)
    assert taken[0] is True


@pytest.mark.plain
def test_parts_of_complex_arrays(taken):
    def f(x):
        z = x * (1.0 + 2.0j)
        real, imaginary = z.real, z.imag
        for i in range(1, 5):
            real[i] += imaginary[i - 1] * x[i]
            imaginary[i] *= real[i]
        return np.sum(np.abs(z) ** 2)

    agrees(f, X)
    assert taken[0] is True


@pytest.mark.plain
def test_layouts(taken):
    def f(x):
        for m in (np.outer(x, x).T, np.asfortranarray(np.outer(x, x)), np.outer(x, x)[::2, ::-1]):
            for i in range(1, 3):
                for j in range(1, 3):
                    m[i, j] += m[i - 1, j] * m[i, j - 1]
            x[0] += np.sum(m)
        return x[0]

    agrees(f, X * 0.3)
    assert taken.count(True) == 6


@pytest.mark.plain
def test_any_number_of_indices():
    def f(x):
        three = x.reshape(1, 5, 1)
        four = x.reshape(1, 1, 5, 1)
        for i in range(1, 5):
            three[0, i, 0] *= x[i] * four[0, 0, i - 1, -1]
            four[0, 0, i, 0] += three[0, i - 1, 0]
        return np.sum(x)

    agrees(f, X)


def test_read_only_arrays():
    def f(x, b):
        for i in range(5):
            x[i] *= b[i]
        return np.sum(x)

    def store(x, b):
        for i in range(5):
            b[i] = x[i]
        return np.sum(x)

    frozen = X.copy()
    frozen.flags.writeable = False
    assert_array_equal(grad(f)(X.copy(), frozen), X)
    with pytest.raises(ValueError, match="read-only"):
        value_and_grad(store)(X.copy(), frozen)
    assert not frozen.flags.writeable


def test_a_read_only_array_that_no_pass_writes():
    # It was recorded as overwritten, and its memory cannot be made writeable to put it back.
    frozen = np.frombuffer(X.tobytes())

    def f(x):
        for i in range(5):
            x[i] *= frozen[i]
            if x[i] > 100.0:
                frozen[i] = x[i]
        return np.sum(x * frozen)

    agrees(f, X)


# The log of writes.


@pytest.mark.plain
def test_what_earlier_and_later_entries_keep_is_restored(taken):
    def f(x, w):
        kept = x * w
        for i in range(1, 5):
            x[i] += w[i] * x[i - 1]
        again = x * kept
        for i in range(1, 5):
            x[i] *= w[i] + x[i - 1]
            w[i] = x[i] * 0.5
        view = x[1:]
        products = view * view
        for i in range(4):
            view[i] = products[i] * w[i + 1]
        return np.sum(again * x * w)

    agrees(f, X * 0.6, X[::-1] * 0.5)
    assert taken[:3] == [True, True, True]


@pytest.mark.plain
def test_constants_that_loops_overwrite_are_restored(taken):
    def f(x):
        c = np.arange(5.0)
        y = x * c
        for i in range(1, 5):
            c[i] += c[i - 1]
            x[i] += c[i]
        z = y * c * x
        for i in range(5):
            c[i] = 0.0
            x[i] *= 2.0
        return np.sum(z * x) + np.sum(c)

    agrees(f, X)
    assert taken[:2] == [True, True]


@pytest.mark.plain
def test_an_array_is_rolled_back():
    ctx = ReverseContext()
    x = X.copy()
    ctx.registry.activate(x)
    ctx.call(recurrence, x, 0.5)
    ctx.call(recurrence, x, 0.5)
    ctx.roll_back()
    assert_array_equal(x, X)


def test_what_a_loop_wrote_is_undone_where_something_raises_later():
    def f(x):
        for i in range(1, 5):
            x[i] += x[i - 1]
        raise KeyError("stop")

    x = X.copy()
    with pytest.raises(KeyError):
        value_and_grad(f)(x)
    assert_array_equal(x, X)


HELD = np.array([1.0, 2.0, 3.0])
OTHER = np.array([4.0, 5.0, 6.0])


def test_a_refused_loop_leaves_all_memory_as_it_was() -> None:
    def writes_what_it_takes(x: Any) -> Any:
        for i in range(3):
            OTHER[i] += x[i]
            HELD[i] = HELD[i] + 2.0 * x[i] * x[i]
        return HELD.sum()

    with pytest.raises(SharedArgumentsError):
        grad(writes_what_it_takes)(HELD)
    assert HELD.tolist() == [1.0, 2.0, 3.0]
    assert OTHER.tolist() == [4.0, 5.0, 6.0]
