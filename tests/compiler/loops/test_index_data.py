"""Arrays and lists of ints that loops take their indices and ranges from."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import grad, hvp, jvp, value_and_grad
from tests.compiler.comparing import agrees
from tests.programs.comparing import function_of
from tests.support.pairs import rotating

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])
ORDER = [3, 0, 4, -1, 2]
KINDS = {
    "list": list, "tuple": tuple, "int64": np.array, "int32": lambda v: np.array(v, np.int32),
    "strided": lambda v: np.repeat(v, 2)[::2],
}  # fmt: skip


def gathered(x, a, order):
    s = 0.0
    for i in range(5):
        s += a * x[order[i]] * x[order[i - 1] - 1]
    return s * x[order[0]]


def scattered(x, a, order):
    for i in range(5):
        x[order[i]] += a * x[i]
        x[order[order[i]]] *= x[order[i] - 1]
    return np.sum(x * x)


def named(x, a, order):
    s = 0.0
    for i in range(5):
        j = order[i]
        k, m = order[j], order[i - 1]
        s += x[j] * x[k] * a + x[m]
        x[k] = s * j
    return s * j * k


def items(x, a, order):
    s = 0.0
    for j in order:
        s += x[j] * x[j] * a
    for j, v in zip(order, x, strict=True):
        s += x[j] * v
    for i, j in enumerate(order):
        x[j] *= s * x[i]
    return np.sum(x) * j


def rows(x, a, order):
    s = 0.0
    for i in range(5):
        for k in range(order[0] - order[i] % 3, order[2]):
            s += x[k] * x[order[k]] * a
            x[k] += s
        first, last = 0, order[2]
        for k in range(first, last):
            s *= 1.0 + 0.1 * x[k]
    return s


def as_numbers(x, a, order):
    s = 1.0
    for i in range(5):
        s += order[i] * x[i] + x[order[i]] ** order[0] / order[1 - 1]
        t = order[i]
        if order[i] > 1 and t != 2:
            s *= 1.0 + a / (order[i] + 0.5)
    return s * t


PROGRAMS = [gathered, scattered, named, items, rows, as_numbers]


@pytest.mark.sampled(3)
@pytest.mark.plain
@pytest.mark.parametrize(("f", "kind"), rotating(PROGRAMS, KINDS, times=2))
def test_programs(f, kind, taken):
    order = KINDS[kind](ORDER)
    agrees(lambda x, a: f(x, a, order), X, 0.3)
    loops = 3 if f is items else 1
    if kind == "list":
        assert sum(taken[: 2 * loops]) >= loops
    assert list(order) == ORDER
    v = np.array([1.0, -0.5, 0.2, 0.3, 2.0])
    g = grad(lambda x: f(x, 0.3, order))
    assert_allclose(jvp(lambda x: f(x, 0.3, order), (X,), (v,))[1], g(X) @ v, rtol=1e-12)
    h = 1e-6
    expected = (g(X + h * v) - g(X - h * v)) / (2 * h)
    assert_allclose(hvp(lambda x: f(x, 0.3, order), (X,), v), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_types_afterwards(kind):
    def f(x, order):
        s = 0.0
        for j in order:
            k = order[j]
            t = order[k]
            s += x[k]
            u = order[0] * 0.5
            w = order[0] / 2
            v = x[j] if s > 100.0 else order[1]
        return s, [type(q).__name__ for q in (j, k, t, u, w, v)]

    order = KINDS[kind](ORDER)
    (value, kinds), _ = value_and_grad(f, has_aux=True)(X.copy(), order)
    assert (value, kinds) == f(X, order)


@pytest.mark.plain
@pytest.mark.parametrize("before", ["1", "np.int64(1)", "0.5"])
def test_a_name_that_may_keep_what_it_was(before, taken):
    f = function_of(
        "import numpy as np\ndef f(x, order):\n"
        f"    s, j = 0.0, {before}\n"
        "    for i in range(5):\n        if x[i] > 10.0:\n            j = order[i]\n"
        "            s += x[j]\n        s += x[i]\n"
        "    return s * j, type(j).__name__\n",
        f"<kept {before}>",
    )
    order = np.array(ORDER)
    (value, kind), g = value_and_grad(f, has_aux=True)(X.copy(), order)
    assert (value, kind) == f(X.copy(), order)
    assert_array_equal(g, [float(eval(before))] * 5)


@pytest.mark.plain
@pytest.mark.parametrize(
    "order",
    [[1.0, 2.0, 0.0], [True, False, True], [1, 2.0, 0], np.array([1, 2, 0], np.int16),
     np.array([1, 2, 0], np.uint64), np.array([True, False, True]), [np.int64(1), 2, 0]],
    ids=repr,
)  # fmt: skip
def test_other_data_take_the_general_way(order, taken):
    def f(x):
        s = 0.0
        for i in range(3):
            s += np.sum(x[order[i]]) * x[i]
        return s

    try:
        value = f(X)
    except (IndexError, TypeError) as error:
        with pytest.raises(type(error)):
            grad(f)(X)
    else:
        assert value_and_grad(f)(X)[0] == value
    assert not any(taken)


@pytest.mark.plain
def test_other_data_with_elements_alone(taken):
    def f(x, order):
        s = 0.0
        for i in range(3):
            s += x[order[i]] * x[i]
        return s

    for order in ([1.0, 2.0, 0.0], np.array([0.5, 1.0, 2.0])):
        with pytest.raises((TypeError, IndexError)):
            grad(f)(X, order)
    for order in (np.array([1, 2, 0], np.int16), [np.int64(1), 2, 0], np.array([1, 2, 0], ">i8")):
        assert value_and_grad(f)(X, order)[0] == f(X, order)
    assert not any(taken)


@pytest.mark.plain
def test_indices_that_share_memory_with_what_is_written(taken):
    def f(x):
        order = np.arange(5)
        y = order.view(np.float64)
        s = 0.0
        for i in range(5):
            y[i] = 0.0
            s += x[order[i]] * x[order[4]]
        return s

    agrees(f, X)
    assert not any(taken)


@pytest.mark.plain
@pytest.mark.parametrize("kind", ["list", "int64"])
def test_indices_that_change_after_the_loop(kind, taken):
    def f(x):
        order = KINDS[kind](ORDER)
        s = 0.0
        for i in range(5):
            x[order[i]] *= 2.0 + x[i]
        order[0] = 1
        order[2] = 0
        for i in range(5):
            s += x[order[i]] * x[order[i]]
        order[3] = 0
        return s

    agrees(f, X)
    assert taken[:2] == [True, True]


def test_indices_out_of_range():
    def f(x, order):
        s = 0.0
        try:
            for i in range(5):
                s += x[order[i]]
                x[i] *= 2.0
        except IndexError:
            s *= x[0]
        return s

    agrees(lambda x: f(x, np.array([0, 1, -5, 5, 0])), X)


@pytest.mark.plain
def test_numbers_that_are_ints_of_numpy():
    def f(x, n, m):
        s = 0.0
        for i in range(n):
            for k in range(m):
                s += x[(i + k) % m] * n / m + n * 0.5
        return s

    agrees(lambda x: f(x, np.int64(5), np.int32(3)), X)


@pytest.mark.plain
def test_arithmetic_of_ints_of_numpy_alone_takes_the_general_way(taken):
    def f(x, n):
        s = 0
        for i in range(5):
            s = s + n
            x[i] *= s
        return np.sum(x) * s, type(s).__name__

    (value, kind), _ = value_and_grad(f, has_aux=True)(X.copy(), np.int64(3))
    assert (value, kind) == f(X.copy(), np.int64(3))
    assert taken == [False]
