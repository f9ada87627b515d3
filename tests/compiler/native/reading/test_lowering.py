"""Returns within loops, and else of loops."""

from __future__ import annotations

import ast
import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, jvp, value_and_grad
from mooncake_py.compiler.native.building.types import type_of
from mooncake_py.compiler.native.building.values import Unfit
from mooncake_py.compiler.native.reading.lowering import lowered
from mooncake_py.compiler.native.reading.reader import read_function
from tests.support.pairs import rotating

pytestmark = pytest.mark.plain

X = np.array([0.5, -1.0, 2.0, 0.25])


def newton(x, a):
    z = a
    for k in range(50):
        step = (z * z - x[2] - 1.0) / (2.0 * z)
        z = z - step
        if abs(step) < 1e-12:
            return z * k
    raise ValueError("no convergence")


def first_above(x, a):
    for i in range(len(x)):
        for j in range(i):
            if x[i] * x[j] > a:
                return x[i] * a, i + j, i > 2
            x[j] += 0.5 * a
    return np.sum(x), -1, False


def endless(x, a):
    k = 0
    while True:
        k += 1
        a = a * 0.5 + x[k % 4]
        if k > 7:
            return a * k


def endless_with_break(x, a):
    while True:
        a = a * 0.5
        if a < 0.1:
            break
        if a < x[0] * 0.5:
            return a * x[0]
    return a * x[1]


def of_truths(x, a):
    def_value = 2.0
    return a * def_value if has_large(x, a) else x[0]


def has_large(x, a):
    for e in x:
        if e > a:
            return True
        if e < -5.0:
            return not a
    return False


def types_differ(x, a):
    for i in range(len(x)):
        if x[i] > a:
            return i
        if x[i] < -a:
            return x[i]
    return a


def called(x, a):
    found, at, _ = first_above(x, a)
    return found * x[at] + newton(x, a + 1.0)


def with_else(x, a):
    for i in range(len(x)):
        for j in range(4):
            if x[j] > a:
                x[i] *= 0.5
                break
            a += 0.01
        else:
            x[i] += a
            if i > 1:
                break
    else:
        a = a * 3.0
    while a < 2.0:
        a *= 1.5
    else:
        a += x[0]
    return np.sum(x) * a


def with_both(x, a):
    for i in range(len(x)):
        if x[i] > a:
            return x[i] * a
        if x[i] < -2 * a:
            break
    else:
        return a * 2.0
    return a * x[0]


def nothing(x, a):
    for i in range(len(x)):
        if x[i] > a:
            return
        x[i] *= a


def changes(x, a):
    nothing(x, a)
    return np.sum(x) * a


def first_row(x, a):
    for i in range(len(x)):
        y = x * a + i
        for j in range(i):
            if y[j] * x[i] > a:
                return y
        if x[i] < -2.0 * a:
            return np.sin(y)
    return x * x


def arrays_from_loops(x, a):
    y = first_row(x, a)
    y[1] *= 2.0
    rows = []
    for k in range(3):
        x[k] += a
        rows.append(np.sum(first_row(x, a + k)))
    return np.sum(y * x) * sum(rows)


def pair_of_passes(x, a):
    for k, y in enumerate((x * 2.0, x - a, x)):
        if y[0] > a:
            return (y * a, k), y[1]
        if y[2] < -a:
            return (x * 3.0, 2 * k), a
    return (x + a, 7), x[3]


def tuples_from_loops(x, a):
    (y, k), b = pair_of_passes(x, a)
    found = find(x, a)
    y[0] += b
    return np.sum(y) * (k + 1) + b + found[0] * found[1][1]


def find(x, a):
    k = 0
    while k < len(x):
        if x[k] > a:
            return x[k], np.array([a, x[0]]), "large"
        k += 1
    return a, np.zeros(2), "large"


def itself_or_other(x, a):
    y = chosen(x, x * a, a)
    z = np.sum(y * y)
    return z * a


def chosen(x, y, a):
    for i in range(len(x)):
        if x[i] > 2.0 * a:
            return y
    return x + a


def nothing_found(x, a):
    def place(x, a):
        for i in range(len(x)):
            for name in ("a", "b"):
                if name == "b" and x[i] > a:
                    return i
        return -1

    k = place(x, a)
    return a * x[0] if k < 0 else x[k] * (k + 1)


CASES = [
    arrays_from_loops, tuples_from_loops, itself_or_other, nothing_found,
    newton, first_above, endless, endless_with_break, of_truths, types_differ, called, with_else,
    with_both, changes,
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("f", "a"), rotating(CASES, [0.3, 0.9, 1.5, 3.0]))
def test_gradient(f, a, tried):
    def first(*args):
        y = f(*args)
        return y[0] if type(y) is tuple else y

    value, g = value_and_grad(first, (0, 1), compile=True)(X.copy(), a)
    assert tried == [True]
    expected, h = value_and_grad(first, (0, 1))(X.copy(), a)
    assert type(value) is type(expected)
    assert value == pytest.approx(expected, rel=1e-13)
    for p, q in zip(g, h, strict=True):
        assert_allclose(p, q, rtol=1e-11, atol=1e-13)
    point, along = (X.copy(), a), (np.cos(X), 0.7)
    found = jvp(lambda *p: f(*copy.deepcopy(p)), point, along, compile=True)
    plain = jvp(lambda *p: f(*copy.deepcopy(p)), point, along)
    assert str(found[0]) == str(plain[0])
    for p, q in zip(np.ravel(found[1]), np.ravel(plain[1]), strict=True):
        assert p == q or p == pytest.approx(q)


def test_an_exception_after_a_loop(tried):
    def f(x):
        for e in x:
            if e > 1.0:
                return e * e
        raise ValueError("none is large")

    assert_allclose(grad(f, compile=True)(X), [0.0, 0.0, 4.0, 0.0])
    assert tried == [True]
    with pytest.raises(ValueError, match="none is large"):
        grad(f, compile=True)(np.zeros(2))


def test_values_of_several_structures_are_left():
    returns = "for i in x:\n    if i:\n        return 1, 2\n    return 3\n"
    body = ast.parse(returns + "for i in y:\n    pass\nelse:\n    z = 1").body
    assert lowered(body) is body
    body = ast.parse("for i in x:\n    pass\nreturn 3").body
    assert lowered(body) is body


def test_arrays_whose_length_only_the_loop_knows_are_refused():
    def f(x, a):
        for i in range(1, len(x)):
            if x[i] > a:
                return x[:i] * a
        return x

    with pytest.raises(Unfit, match="known only there"):
        read_function(f, [type_of(X), type_of(0.5)])


@pytest.mark.slow
@pytest.mark.parametrize("f", [endless, endless_with_break, newton])
def test_endless_loops_are_compiled(f):
    value, g = value_and_grad(f, (0, 1), compile=True)(X.copy(), 0.9)
    expected, h = value_and_grad(f, (0, 1))(X.copy(), 0.9)
    assert value == pytest.approx(expected)
    for p, q in zip(g, h, strict=True):
        assert_allclose(p, q)
