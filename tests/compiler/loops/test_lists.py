"""Loops that read and write items of lists, as one entry where these are numbers of one type."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import grad, hessian, hvp, jvp, value_and_grad, vjp
from mooncake_py.compiler.sites.items import Items, Pairs
from mooncake_py.modes.reverse.context import ReverseContext
from tests.compiler.comparing import agrees, equals_reference

Q = [0.7, -1.2, 0.8, 1.9, -0.4]


def steps(q, p):
    for _ in range(3):
        for i in range(1, len(q) - 1):
            p[i] += 0.1 * (q[i - 1] - 2.0 * q[i] + q[i + 1])
        for i in range(len(q)):
            q[i] += p[i] * 0.3
    return q[0] * q[2] + p[1] * q[3] * q[3]


@pytest.mark.plain
def test_a_number_of_a_list_has_the_type_of_the_items(taken):
    def f(x, q):
        w = x[0]
        for i in range(4):
            for w in q:
                if w > i:
                    break
        return w * (2.0 if type(w) is float else 3.0)

    agrees(f, np.array(Q), list(Q))
    assert any(taken)


# What is one entry.


@pytest.mark.plain
@pytest.mark.parametrize("kind", [float, np.float64])
def test_items_of_lists(kind, taken):
    agrees(steps, list(map(kind, Q)), list(map(kind, [0.1, 0.2, -0.3, 0.4, 0.5])))
    assert taken[:2] == [True, True]


@pytest.mark.plain
def test_in_forward_mode_and_to_second_order(taken):
    p = [0.1, 0.2, -0.3, 0.4, 0.5]

    def f(q):
        return steps(q, list(p)) * q[1]

    given = list(Q)
    gradient = grad(f)(given)
    direction = [1.0, -0.5, 0.25, 2.0, 0.0]
    _, slope = jvp(f, (given,), (direction,))
    assert_allclose(slope, np.dot(gradient, direction), rtol=1e-12)
    ends = [grad(f)([q + h * d for q, d in zip(Q, direction, strict=True)]) for h in (1e-6, -1e-6)]
    second = (np.array(ends[0]) - ends[1]) / 2e-6
    assert_allclose(hvp(f, (given,), direction), second, rtol=1e-6)
    assert given == Q
    assert all(taken)


@pytest.mark.plain
def test_items_that_are_active_beside_constants(taken):
    def f(x):
        q = [0.5, x, 0.25, x * x, 2.0]
        for i in range(1, 5):
            q[i] *= q[i - 1] + q[-1]
        return q[3] * q[4] + q[0]

    agrees(f, 1.3)
    assert_allclose(hessian(f)(1.3), hvp(f, (1.3,), 1.0))
    assert any(taken)


@pytest.mark.plain
def test_items_of_tuples_and_of_lists_that_are_iterated():
    def f(x, w):
        total = 0.0
        for a, b in zip(x, w, strict=True):
            total += a * b
        for i, a in enumerate(x):
            total += w[i] * a * a
        return total

    agrees(f, list(Q), tuple(Q))


@pytest.mark.plain
def test_one_list_by_two_names():
    def f(q):
        p = q
        for i in range(1, 5):
            q[i] *= p[i - 1]
            p[i] += q[i] * q[0]
        return q[4] * p[3]

    agrees(f, list(Q))


@pytest.mark.plain
def test_one_number_in_several_items(taken):
    def f(x):
        q = [x] * 5
        p = [x, x, 1.0, 2.0, x]
        for i in range(1, 4):
            q[i] *= p[i] + q[i + 1]
        return sum(q) + q[1] * q[2] * q[3]

    agrees(f, 1.3)
    assert taken[0]


@pytest.mark.plain
def test_items_beside_arrays(taken):
    def f(x, q):
        for i in range(5):
            x[i] = x[i] * q[i] + q[0]
        return np.sum(x * x)

    agrees(f, np.array(Q), list(Q))
    assert taken[0]


@pytest.mark.plain
def test_items_that_are_not_written_stay_as_they_are():
    def f(x):
        q = [x, x * 2.0, x, 1.0, x]
        before = list(q)
        for i in range(1, 4):
            q[i] = q[i - 1] * x
        kept = [a is b for a, b in zip(q, before)]  # noqa: B905
        assert kept == [True, False, False, False, True]
        return q[4] * q[3] * q[0]

    agrees(f, 1.3)


@pytest.mark.plain
def test_an_item_that_gets_an_equal_number_with_another_derivative():
    def f(x, y):
        q = [x, x, x, x]
        for i in range(4):
            q[i] = y if i % 2 else q[i]
        for i in range(3):
            q[i + 1] = y
        return q[0] * q[1] * q[2] * q[3]

    assert_allclose(grad(f, (0, 1))(2.0, 2.0), (8.0, 24.0))
    number = 2.0
    assert jvp(f, (number, number), (0.0, 1.0))[1] == 24.0


# What lists hold afterwards.


@pytest.mark.plain
def test_lists_that_are_given_or_captured_are_restored(taken):
    outside = [0.5, 0.25, -0.0, 1.5]
    given = list(Q)
    before = list(outside), list(given)

    def f(q):
        for i in range(1, 4):
            outside[i] += outside[i - 1] * q[i]
            q[i] *= outside[i]
        return q[3] * q[2]

    value, pullback = vjp(f, given)
    again = value_and_grad(f)(given)
    assert again[0] == value
    assert_allclose(pullback(1.0)[0], again[1])
    assert_allclose(pullback(2.0)[0], np.multiply(again[1], 2.0))
    for found, numbers in zip((outside, given), before, strict=True):
        assert all(a is b for a, b in zip(found, numbers, strict=True))
    assert all(taken)


@pytest.mark.plain
def test_an_exception_leaves_what_python_leaves():
    def f(q):
        try:
            for i in range(9):
                q[i] *= 2.0
        except IndexError:
            q.append(float(i))
        return sum(q) * q[0]

    equals_reference(f, list(Q))


# Refused.


@pytest.mark.plain
@pytest.mark.parametrize("item", [1, True, None, 2.0j, np.float32(2.0), np.float64(2.0)], ids=repr)
def test_lists_of_several_types_take_the_general_way(item, taken):
    def f(x):
        q = [x, x, item, x]
        for _ in range(1):
            for j in range(2):
                q[j] = q[j] * q[3]
        return q[0] * q[1]

    equals_reference(f, 1.3)
    assert not any(taken)


@pytest.mark.plain
@pytest.mark.parametrize("value", ["1", "np.float64(2.0)", "w[0]"])
def test_items_of_another_type_take_the_general_way(value, taken):
    def one(q, w):
        for i in range(4):
            q[i] = 1
        return q

    def other(q, w):
        for i in range(4):
            q[i] = w[i]
        return q

    def f(x, w):
        q = (one if value == "1" else other)([x, x, x, x, x], w)
        return q[4] * w[0] if type(q[0]) is not float else x * np.nan

    equals_reference(f, 1.3, np.array(Q))
    assert not any(taken)


class Shifted(list):
    def __getitem__(self, i):
        return super().__getitem__(i - 1)


@pytest.mark.plain
def test_subclasses_take_the_general_way(taken):
    def f(x):
        q = Shifted([x, 2.0, x * x, 1.0])
        for i in range(1, 4):
            q[i] = q[i - 1] * q[i]
        return q[0] + q[3]

    equals_reference(f, 1.3)
    assert not any(taken)


@pytest.mark.plain
def test_what_lists_do_not_have_is_an_error():
    def shape(q):
        s = 0.0
        for i in range(4):
            s += q[i] * q.shape[0]
        return s

    def index(q):
        s = 0.0
        for i in range(4):
            s += q[i,]
        return s

    def store(q):
        for i in range(4):
            q[i] = 2.0 * q[i]
        return q[0]

    for f, error in ((shape, AttributeError), (index, TypeError)):
        with pytest.raises(error):
            grad(f)(list(Q))
        assert np.all(np.isfinite(grad(f)(np.array(Q))))
    with pytest.raises(TypeError):
        grad(store)(tuple(Q))


@pytest.mark.plain
def test_a_long_list_of_which_little_is_read_is_not_copied(taken):
    def f(q):
        s = 0.0
        for i in range(4):
            s += q[i] * q[i]
        return s

    given = [0.5] * 1000
    assert_array_equal(grad(f)(given)[:5], [1.0, 1.0, 1.0, 1.0, 0.0])
    assert taken == [False]


def test_lists_within_lists_are_as_they_were():
    rows = [list(Q), list(Q)]

    def f(rows):
        for row in rows:
            for i in range(1, 5):
                row[i] *= row[i - 1]
        return rows[0][4] * rows[1][3]

    before = copy.deepcopy(rows)
    grad(f)(rows)
    assert rows == before


@pytest.mark.plain
@pytest.mark.without_modes("copies are counted")
@pytest.mark.parametrize("derivative", [grad, lambda f: lambda q: jvp(f, (q,), (list(q),))[1]])
def test_a_long_list_is_not_looked_through_for_a_few_items(derivative, monkeypatch):
    def f(q):
        s = 0.0
        for i in range(4):
            s += q[i] * q[i]
        return s

    seen = []
    for kind in (Items, Pairs):
        monkeypatch.setattr(kind, "__init__", lambda *args: seen.append(args))
    derivative(f)([0.5] * 1000)
    assert not seen


@pytest.mark.plain
def test_derivatives_within_others():
    def f(x):
        q = [x, 0.5, x * x, 1.0]

        def inner(y):
            p = [y, 2.0, q[2], 0.5]
            for i in range(1, 4):
                p[i] *= p[i - 1] * q[i]
                q[i] += p[i]
            return p[3] * q[1]

        return grad(inner)(x) * q[2] + jvp(inner, (x,), (1.0,))[1] * q[3]

    def plainly(x):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ReverseContext, "tries_loops", False)
            return value_and_grad(f)(x)

    assert_allclose(value_and_grad(f)(1.3), plainly(1.3), rtol=1e-12)


def slope(t, y):
    position, speed = y
    return [speed, -position - 0.1 * speed * t]


def stepped(x, y):
    for k in range(40):
        a, b = slope(0.02 * k, y)
        y[0] += 0.02 * a
        y[1] += 0.02 * b
    return y[0] * y[1] * x[1]


def turned(x, y):
    for _ in range(40):
        a, b = y
        y[0], y[1] = y[1], 0.9 * y[0]
        y[1], y[0] = y  # written while it is read
        y[1] += 0.1 * a * b
    return y[0] * x[0] + 2.0 * y[1] * x[1]


@pytest.mark.plain
@pytest.mark.parametrize("f", [stepped, turned])
def test_lists_are_unpacked(f, taken):
    agrees(f, np.array(Q), [1.3, 0.4])
    assert any(taken)


@pytest.mark.plain
def test_a_list_of_another_length_is_not_unpacked():
    def f(x, y):
        for _ in range(40):
            a, b = y
            y[0] = 0.5 * a * x[0] + b
        return y[0]

    assert np.isfinite(value_and_grad(f)(np.array(Q), [1.0, 2.0])[0])
    for y, words in (([1.0], "not enough values"), ([1.0, 2.0, 3.0], "too many values")):
        with pytest.raises(ValueError, match=words):
            value_and_grad(f)(np.array(Q), y)
