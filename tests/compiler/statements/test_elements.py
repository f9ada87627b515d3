"""Statements on elements recorded as one entry, against the general way and differences."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import checkpoint, grad, jvp, value_and_grad
from mooncake_py.compiler.statements.site import StatementSite
from mooncake_py.modes.reverse.context import ReverseContext
from tests.compiler.statements.test_expressions import differences, gradient
from tests.support.pairs import rotating


def recurrence(x, w):
    for i in range(1, len(x)):
        x[i] += w[i] * x[i - 1]
    return np.sum(x * x)


def every_operator(x, w):
    for i in range(1, len(x)):
        x[i] -= x[i] * w[i - 1]
        w[i] *= x[i - 1] + 0.5
        x[i - 1] /= w[i] * w[i] + 2.0
        x[i] *= 1.5
        x[i] += x[i]
        x[i] -= 0.25
        x[i] = x[i] - w[-i] * x[i] / 3
    return np.sum(x * w)


def copies(x, w):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[-1 - i]
        x[-1 - i] = 2.0
    y[0] = y[1]
    y[1] = 0.0
    return np.sum(y * y * w)


def made_active(x, w):
    y = np.ones(4)
    z = np.zeros((2, 2))
    for i in range(4):
        y[i] *= x[i] * w[i]
        z[i // 2, i % 2] += y[i] - 0.5 * w[i]
    return np.sum(y) * np.sum(z * z)


def constants_overwritten(x, w):
    c = np.array([1.0, 2.0, 3.0])
    s = 0.0
    for i in range(3):
        s += c[i] * x[i] + c[i - 1]
        c[i] = c[i - 1] * 2.0
        c[i] += 0.5
        s *= s - w[i]
    return s


def numbers(x, w):
    a = x[0] * w[1] - x[2]
    b = math.sin(x[1]) / (w[0] + 3.0) + a
    for i in range(3):
        a -= math.exp(-x[i]) * b
        x[i + 1] = a * b - math.tanh(a) * 0.5
        b = a + x[i + 1] * w[i]
    return a * b + x[3]


def views_of_one_block(x, w):
    tail = x[1:]
    back = x[::-1]
    for i in range(2):
        tail[i] = x[i] * w[i] + back[0]
        back[i] -= tail[i] * x[i]
        x[i] *= back[i] + tail[i + 1]
    return np.sum(x * x)


def strided_shadow(x, w):
    m = np.outer(x, w).T
    n = m[1:]
    for i in range(2):
        for j in range(1, 3):
            m[i + 1, j] += n[i, j - 1] * m[i, j]
            n[i, j] = m[i, j] * n[i + 1, j] - m[i, 0]
    return np.sum(m * m) * 0.01


def index_kinds(x, w):
    order = np.array([2, 0, 3])
    for k in order:
        x[k] += w[k] * x[k - 1]
    for k in (0, 2):
        cell = int(k)
        w[cell + 1] -= x[cell] * w[cell]
    return np.sum(x * w)


def rows_and_elements(x, w):
    m = np.outer(x, w)
    for a in (x, m):
        for i in range(1, 4):
            a[i] += 0.5 * a[i - 1]
            a[i] = a[i] * 2 - a[0]
    return np.sum(m * x)


def lists_and_elements(x, w):
    kept = [x[0], x[1], 2.0]
    for a in (kept, x):
        for i in range(1, 3):
            a[i] = a[i] * w[i] + a[i - 1]
            a[i] -= a[0] * w[0]
    return kept[2] * kept[1] + np.sum(x * w)


def overlapping_elements(x, w):
    windows = as_strided(x, (3, 2), (8, 8), writeable=True)
    for i in range(2):
        windows[i, 1] = windows[i, 0] * w[i] + windows[i + 1, 1]
        windows[i + 1, 0] *= w[i]
    return np.sum(windows * windows)


def square_roots(x, w):
    x[0] = math.sqrt(x[0] * x[0] + 1.0)
    s = math.sqrt(x[0]) * x[1] - math.log(x[0] + 1.0)
    s -= x[1] * w[2]
    return s * x[0]


def ufuncs_of_elements(x, w):  # those of NumPy 2.0 have no `__module__`
    x[0] = np.exp(x[1]) * w[0] - np.cos(x[2])
    return x[0] * np.sin(w[1]) + np.float64(0.5) * np.cos(x[3])


PROGRAMS = [
    recurrence, every_operator, copies, made_active, constants_overwritten, numbers,
    views_of_one_block, strided_shadow, index_kinds, rows_and_elements, lists_and_elements,
    overlapping_elements, square_roots, ufuncs_of_elements,
]  # fmt: skip
ARGS = np.array([0.3, -1.2, 0.8, 2.0]), np.array([1.1, 0.2, -0.7, 0.4])


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("f", "argnums"), rotating(PROGRAMS, [(0,), (1,), (0, 1)]))
def test_elements_equal_the_general_way_and_differences(f, argnums, monkeypatch):
    args = tuple(a.copy() for a in ARGS)
    value, fused = gradient(f, args, argnums)
    again = gradient(f, args, argnums)[1]
    monkeypatch.setattr(ReverseContext, "fuses", False)
    reference, general = gradient(f, args, argnums)
    assert value == reference == f(*(a.copy() for a in ARGS))
    for k, a, b, c in zip(argnums, fused, general, again, strict=True):
        assert_allclose(a, b, rtol=1e-12, atol=1e-13)
        assert_array_equal(c, a)
        assert_allclose(a, differences(f, args, k), rtol=1e-6, atol=1e-7)
    for a, b in zip(args, ARGS, strict=True):
        assert_array_equal(a, b)


def entries(f, *args):
    """Return how many entries a call of `f` leaves, undoing ones left out."""
    ctx = ReverseContext()
    for a in args:
        ctx.registry.activate(a).memory.protected = False
    ctx.call(f, *args)
    return len(ctx.tape)


def test_one_entry_records_a_statement_on_elements():
    def store(x, w):
        x[1] = x[0] * w[1] - x[2] / w[0]

    def augmented(x, w):
        x[1] -= x[0] * w[1]

    def name(x, w):
        s = 0.0
        s += x[0] * w[1]

    def constant(x, w):
        x[1] += 3.0  # the cotangent stays where it is

    assert [entries(f, *map(np.copy, ARGS)) for f in (store, augmented, name, constant)] == [
        1,
        1,
        1,
        0,
    ]


def test_one_copy_stands_for_many_elements_that_are_overwritten():
    ctx = ReverseContext()
    x, w = np.ones(400), np.ones(400)
    for a in (x, w):
        ctx.registry.activate(a)
    ctx.call(recurrence, x, w)
    assert len(ctx.tape) < 440
    ctx.roll_back()
    assert_array_equal(x, np.ones(400))


def test_what_comes_out_has_the_type_that_numpy_gives():
    def f(x, a):
        kinds = type(x[0] * a + 1), type(math.exp(x[0]) * 2.0 + 1), type(x[0] * 2 - x[1])
        return x[0] * a + x[1], kinds

    kinds = np.float64, float, np.float64
    x = np.array([1.0, 2.0])
    assert value_and_grad(f, (0, 1), has_aux=True)(x, 2.0)[0][1] == f(x, 2.0)[1] == kinds
    assert type(value_and_grad(lambda x: x[0] * 2.0 - x[1])(x)[0]) is np.float64


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.longdouble, ">f8"])
def test_elements_of_other_dtypes_take_the_general_way(dtype):
    x = np.array([0.5, 2.0, 3.0], dtype)

    def f(x):
        for i in range(1, 3):
            x[i] = x[i - 1] * x[i] + x[i]
        return np.abs(x[2]) ** 2

    g = grad(f)(x)
    assert g.dtype == dtype
    y = x[0] * x[1] + x[1]
    z = y * x[2] + x[2]
    assert_allclose(g, 2 * z * np.array([x[1] * x[2], (x[0] + 1) * x[2], y + 1]), rtol=1e-5)


def test_an_integer_array_that_is_written_rounds():
    def f(x, n):
        n[0] = x[0] * 2.0 + x[1]
        return n[0] * x[0]

    assert_allclose(grad(f)(np.array([1.5, 2.25]), np.zeros(2, int)), [5.0, 0.0])


def test_an_element_that_is_not_finite_takes_the_general_way():
    def f(x):
        y = x.copy()
        y[1] = y[1] / y[0] * y[0]
        y[2] += y[0] * y[1]
        return y[0] + x[2]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value, g = value_and_grad(f)(np.array([0.0, 1.0, 2.0]))
    assert value == 2.0
    assert_array_equal(g, [1.0, 0.0, 1.0])


def test_a_warning_of_numpy_is_given_as_in_the_plain_call():
    def f(x):
        x[1] = x[1] / x[0] + x[1]
        return np.sum(x)

    with pytest.warns(RuntimeWarning, match="divide by zero") as caught:
        value_and_grad(f)(np.array([0.0, 1.0]))
    assert len(caught) == 1


def test_errors_are_those_of_the_plain_call():
    def outside(x):
        x[3] = x[0] * 2 + x[1]

    def read_outside(x):
        x[0] = x[0] * x[7] + 1

    def wrong_index(x):
        x[0.5] = x[0] * 2 + x[1]

    frozen = np.ones(3)
    frozen.flags.writeable = False

    def store(x):
        frozen[0] = x[0] * 2 + x[1]

    for f in (outside, read_outside, wrong_index, store):
        x = np.ones(3)
        with pytest.raises(Exception) as plain:
            f(np.ones(3))
        with pytest.raises(plain.type) as ours:
            value_and_grad(f)(x)
        assert str(ours.value) == str(plain.value)
        assert_array_equal(x, np.ones(3))


def test_what_was_written_before_an_error_is_undone():
    def f(x):
        x[0] = x[1] * 2 + x[2]
        x[1] += x[0] * x[2]
        raise KeyError("stop")

    x = np.arange(3.0)
    with pytest.raises(KeyError):
        value_and_grad(f)(x)
    assert_array_equal(x, np.arange(3.0))


def test_elements_in_a_checkpoint_and_within_another_derivative():
    def f(x, w):
        return checkpoint(recurrence, x, w)

    x, w = ARGS
    assert_allclose(grad(f)(x, w), grad(recurrence)(x, w), rtol=1e-13)
    v = np.array([0.5, -1.0, 2.0, 0.25])

    def along(x):
        return np.sum(grad(recurrence)(x, w) * v)

    h = 1e-6
    slope = (grad(recurrence)(x + h * v, w) - grad(recurrence)(x - h * v, w)) / (2 * h)
    assert_allclose(grad(along)(x), slope, rtol=1e-6)
    _, dot = jvp(lambda x: recurrence(x.copy(), w), (x,), (v,))
    assert_allclose(dot, np.sum(grad(recurrence)(x, w) * v), rtol=1e-12)


def test_containers_of_user_types_keep_their_order():
    class Loud(list):
        def __init__(self, items, calls):
            super().__init__(items)
            self.calls = calls

        def __getitem__(self, i):
            self.calls.append(("get", i))
            return super().__getitem__(i)

        def __setitem__(self, i, value):
            self.calls.append(("set", i))
            super().__setitem__(i, value)

    def f(x):
        calls = []
        a = Loud([x, 2.0, 3.0], calls)
        a[1] = a[0] * 2 + a[2]
        a[2] += a[1] * a[0]
        return a[2] * 1.0, tuple(calls)

    (value, calls), g = value_and_grad(f, has_aux=True)(2.0)
    assert (value, calls) == f(2.0)
    assert g == 11.0


@pytest.mark.plain
@pytest.mark.parametrize("dtype", [np.float32, np.uint8, bool])
def test_it_is_not_asked_twice_whether_there_is_a_form(dtype, monkeypatch):
    asked = []
    serves = StatementSite.serves
    monkeypatch.setattr(
        StatementSite, "serves", lambda self, values: asked.append(1) or serves(self, values)
    )
    data = np.array([1, 0, 1, 1], dtype)

    def f(w):
        s = 0.0
        for i in range(4):
            s += w[i % 2] * data[i]
        return s

    g = grad(f)(np.array([0.5, 2.0]))
    assert_allclose(g, [2.0, 1.0])
    assert len(asked) <= 4
