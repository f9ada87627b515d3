"""Variables that are bound again, and values of several types."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, jvp, value_and_grad

pytestmark = pytest.mark.plain


def test_arrays_that_only_some_passes_bind_anew(tried):
    def f(x, a):
        v = x * 1.0
        s = 0.0
        for _ in range(3):
            s += v[0]
            if a > 0.0:
                v = v * 2.0
        return s

    def g(x, a):
        v = x * 1.0
        s = 0.0
        k = 0
        while k < 3:
            k += 1
            s += v[0]
            if k < 3:
                if a > 0.0:
                    v = v * 2.0
                continue
            s += 1.0
        return s + v[1]

    def h(x, a):
        v = x * 1.0
        u = v[:1]
        s = 0.0
        for _ in range(3):
            s += u[0]
            v = v * 2.0
        return s + v[0]

    x = np.array([1.0, 2.0])
    for function in (f, g, h):
        value, gradient = value_and_grad(function, compile=True)(x, 0.5)
        expected, plain = value_and_grad(function)(x, 0.5)
        assert value == expected
        assert_allclose(gradient, plain)


def test_parameters_whose_type_changes(tried):
    def f(x, a, n, flag):
        if n > 2:
            a = x[0] * a
            flag = True
        for i in range(3):
            n = n * 0.5 if i > 1 else n
        return (a * n if flag else a), n

    x = np.array([2.0, 3.0])
    for n in (1, 5):
        y, t = jvp(lambda x, a: f(x, a, n, False), (x, 0.5), (x, 1.0), compile=True)  # noqa: B023
        y0, t0 = jvp(lambda x, a: f(x, a, n, False), (x, 0.5), (x, 1.0))  # noqa: B023
        assert repr((y, t)) == repr((y0, t0))
    assert tried == [True, True]


def test_several_targets_are_given_one_value(tried):
    def f(x, a):
        s = t = 0.5
        for i in range(len(x)):
            s = t = s + x[i] * t
            x[i] = a = s = x[i] * a
        b, c = d = (s * a, x * 2.0)
        s = b * 0.5
        c[0] = 5.0
        return s + t * a + np.sum(d[1] * x) + d[0]

    args = np.array([0.7, -1.2, 0.8]), 0.6
    value, g = value_and_grad(f, (0, 1), compile=True)(*copy.deepcopy(args))
    assert tried == [True]
    expected, h = value_and_grad(f, (0, 1))(*copy.deepcopy(args))
    assert_allclose(value, expected)
    for a, b in zip(g, h, strict=True):
        assert_allclose(a, b)


def test_and_and_or_give_their_operands_back(tried):
    def f(x, rate=None):
        rate = rate or 0.5
        y = x[0] > 0 and x[1] > 0
        return np.sum(x * rate) if y or not x[0] > 1 else x[0]

    def operand(x):
        return np.sum(x) * (x[0] or x[1])

    x = np.array([1.0, 2.0])
    for g in (f, operand):
        assert_allclose(grad(g, compile=True)(x), grad(g)(x))
    assert tried == [True, True]


def test_a_number_that_is_bound_again_is_checked_again(tried):
    def f(b):
        y = 1.0 / b
        b = b - 2.0
        z = 1.0 / b
        return y + 1.0 / (1.0 + z * z)

    assert_allclose(grad(f, compile=True)(3.0), grad(f)(3.0))
    with pytest.raises(ZeroDivisionError):
        grad(f, compile=True)(2.0)
    assert tried == [True]  # few operations are tried as a whole call only


def test_arrays_that_nested_loops_bind_anew(tried):
    def nested(u, steps):
        v = u * 1.0
        for _ in range(steps):
            v = v + 0.1 * u
            for k in range(2):
                v = v * (1.0 + 0.1 * k * v)
        return np.sum(v * u)

    def run_over(u):
        v = u * 1.0
        for a in v:
            v[-1] = 2.0 * a
            v = v * a
        return np.sum(v)

    u = np.array([0.5, 0.7, 0.9])
    assert_allclose(grad(nested, compile=True)(u, 3), grad(nested)(u, 3))
    assert tried == [True]
    assert_allclose(grad(run_over, compile=True)(u), grad(run_over)(u))


def test_enumerations_that_start_elsewhere(tried):
    def loop(x):
        s = 0.0
        for k, v in enumerate(x, start=2):
            s += k * v
        return s

    def positional(x):
        s = 0.0
        for k, v in enumerate(x, 2):
            s += k * v
        return s

    def generator(x):
        return sum(k * v for k, v in enumerate(x, start=2))

    for f in (loop, positional, generator):
        assert_allclose(grad(f, compile=True)(np.ones(3)), [2.0, 3.0, 4.0])
    assert False not in tried
    assert len(tried) >= 2


def test_loops_over_an_array_that_they_bind_anew(tried):
    def halved(x):
        s, v = 0.0, x * 1.0
        for _ in range(3):
            for k, r in enumerate(v):
                s += r * k
                v = 0.5 * (np.cos(x) - v)
        return s + v.sum()

    def rows(x):
        s, m = 0.0, np.outer(x, x)
        for _ in range(3):
            for row in m[1:]:
                s += row @ x
                m = np.sin(m)
        return s

    for f in (halved, rows):
        x = np.linspace(0.1, 1.0, 4)
        value, g = value_and_grad(f, compile=True)(x)
        expected, h = value_and_grad(f)(x)
        assert value == expected
        assert_allclose(g, h)
    assert tried == []


def test_arrays_that_get_another_shape_in_each_pass(tried):
    def halved(x, a):
        for k in range(2):
            y = np.empty((len(x) // 2, x.shape[1]))
            for i in range(len(x) // 2):
                y[i] = a * np.maximum(x[2 * i], x[2 * i + 1]) + k
            x = y
        return np.sum(x * x) + k

    def shorter(x, a):
        for k in reversed(range(1, 4)):
            for j in range(1):
                x = a * x[k // 2 :, j:]
        return np.sum(x[0]) * k

    def as_before(x, a):
        for _ in range(3):
            x = a * x[0:]
        return np.sum(x)

    x, a = np.cos(np.arange(24.0)).reshape(8, 3), 0.7
    for f in (halved, shorter, as_before):
        for g in (value_and_grad(f, (0, 1), compile=by) for by in (True, False)):
            value, (dx, da) = g(x.copy(), a)
            expected = value_and_grad(f, (0, 1), compile=False)(x.copy(), a)
            assert_allclose((value, da), (expected[0], expected[1][1]), rtol=1e-13)
            assert_allclose(dx, expected[1][0], rtol=1e-13)
    assert False not in tried
    assert len(tried) >= 2


SCALE = 1.7


class Body:
    def __init__(self):
        self.t = 0.4


def items_of_arguments(x, a, pair, named, body):
    pair_0, pair_1, named_t = x[0] * 2.0, x * 3.0, a * 5.0
    return pair[0] * pair_0 + pair[1] @ pair_1 + named["t"] * named_t


def items_of_a_variable(x, a, pair, named, body):
    both, both_0 = (a, x[0]), 3.0
    for _ in range(2):
        both = both[1], both[0] * both_0
        both_0 += 1.0
    return both[0] * both[1]


def types_of_a_variable(x, a, pair, named, body):
    s, s_rank = 0, 5
    for i in range(2):
        s = s + x[i] if i else s + 1
        s_rank += 1
    return s * s_rank * a


def what_was_before(x, a, pair, named, body):
    a_before = a * 3.0
    for _ in range(2):
        a = max(a, 1)
    return a * a_before + x[0]


def globals_and_attributes(x, a, pair, named, body):
    of_SCALE, body_of_t = a * 2.0, 3.0
    body.t = body.t * 2.0 + x[0]
    return SCALE * of_SCALE * body.t * body_of_t


def results(x, a, pair, named, body):
    return_0, return_1 = 2.0, 3.0

    def ordered(p):
        if p > 0.5:
            return p * 2.0, p
        return p, p * 3.0

    b, c = ordered(a)
    d, e = ordered(-a)
    return b * c * return_0 + d * e * return_1 + x[1]


@pytest.mark.parametrize(
    "f",
    [
        items_of_arguments, items_of_a_variable, types_of_a_variable, what_was_before,
        globals_and_attributes, results,
    ],
)  # fmt: skip
def test_variables_may_be_called_as_what_the_reader_makes(f, tried):
    given = np.array([0.6, -0.3, 1.1]), 0.7, (0.3, np.ones(3)), {"t": 0.2}
    value, g = value_and_grad(f, (0, 1), compile=True)(*copy.deepcopy(given), Body())
    expected, h = value_and_grad(f, (0, 1))(*copy.deepcopy(given), Body())
    assert_allclose(value, expected, rtol=1e-14)
    for a, b in zip(g, h, strict=True):
        assert_allclose(a, b, rtol=1e-14)
    assert tried == [True]


def test_short_loops_that_are_left_are_read_once(tried):
    def left(x, a):
        for _ in range(3):
            if len(x) < 3:
                break
            x = a * x[1:]
        return np.sum(x)

    def long(x, a):
        for _ in range(9):
            x = a * x[1:]
        return np.sum(x)

    def returned(x, a):
        for _ in range(3):
            if x[0] > 0.5:
                return x[0] * a
            x = a * x[1:]
        return np.sum(x)

    x = np.linspace(-0.1, 1.0, 12)
    for f in (left, long, returned):
        found = value_and_grad(f, compile=True)(x, 0.9)
        for p, q in zip(found, value_and_grad(f, compile=False)(x, 0.9), strict=True):
            assert_allclose(p, q, rtol=1e-13)
    assert True not in tried


def test_names_of_arrays_that_are_bound_to_numbers(tried):
    def read_before(x, a):
        y = x * 2.0
        x = y[1] * a
        return x * y[0]

    def in_a_loop(x, a):
        s = 0.0
        y = x
        for k in range(3):
            x = y[k] * a
            s += x * x
        return s

    def of_a_list(x, a):
        v = x[0] * a
        x = v * v
        return x * a

    x = np.array([0.3, 0.7, -0.4])
    for f, given in ((read_before, x), (in_a_loop, x), (of_a_list, [2.0, 3.0])):
        found = value_and_grad(f, (0, 1), compile=True)(given, 0.9)
        expected = value_and_grad(f, (0, 1), compile=False)(given, 0.9)
        assert_allclose(found[0], expected[0], rtol=1e-13)
        assert_allclose(found[1][0], expected[1][0], rtol=1e-13)
        assert_allclose(found[1][1], expected[1][1], rtol=1e-13)
    assert False not in tried
    assert len(tried) >= 2


def test_names_that_are_bound_within_expressions(tried):
    def in_sum(x, n):
        s = 2.0
        total = s * x[0] + (s := x[1] * s) + s * (s := s + x[2]) + s
        if (t := total * x[0]) > 0.1:
            total += t
        return total * s

    def in_while(x, n):
        s, k = 0.5 * x[0], 0
        while (r := 1.0 - s) > 0.1:
            s += 0.3 * r * (1.0 + x[1] ** 2)
            k += 1
        return s * r * k

    def in_a_loop(x, n):
        s = 0.0
        for v in x:
            s = s + (w := v * v) * (u := w + 1.0)
        return s * w + u

    def on_one_side(x, n):
        a = 1.0
        if x[0] > 5.0 and (a := x[1] * 2.0) > 0.0:
            return a
        return a * x[2]

    x = np.array([0.3, 0.7, 0.4])
    for f in (in_sum, in_while, in_a_loop, on_one_side):
        for given in (x, -x, 20.0 * x):
            found = value_and_grad(f, compile=True)(given, 3)
            expected = value_and_grad(f, compile=False)(given, 3)
            assert_allclose(found[0], expected[0], rtol=1e-13)
            assert_allclose(found[1], expected[1], rtol=1e-12)
    assert True in tried


def test_slices_of_lists_of_numbers(tried):
    def f(x, values, k):
        out = []
        for v in values:
            out.append(v * x[0])
        s = 0.0
        for a, b in zip(out[k:], values[k:], strict=False):
            s += a * b * x[1]
        part = values[1:3]
        part[0] = 5.0
        return s + sum(values) * part[0] + out[-1]

    x, values = np.array([0.3, 0.7]), [1.0, 2.0, 3.0, 4.0]
    for k in (1, 2, 9):
        found = value_and_grad(f, (0, 1), compile=True)(x, list(values), k)
        expected = value_and_grad(f, (0, 1), compile=False)(x, list(values), k)
        assert_allclose(found[0], expected[0], rtol=1e-13)
        assert_allclose(found[1][0], expected[1][0], rtol=1e-12)
        assert_allclose(found[1][1], expected[1][1], rtol=1e-12)
    assert True in tried
