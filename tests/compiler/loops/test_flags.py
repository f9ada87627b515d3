"""Flags in loops: bools, None and text that tests ask, and calls that only some runs make."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import grad, hvp, jvp, value_and_grad
from tests.compiler.comparing import agrees, equals_reference

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])


class Options:
    def __init__(self, clip=None, verbose=False, method="euler"):
        self.clip = clip
        self.verbose = verbose
        self.method = method


def stepped(x, options, told):
    s, done = 0.5, False
    for i in range(5):
        if options.clip is not None and s > options.clip:
            s = options.clip
        if options.method == "euler":
            s += 0.1 * x[i] * s
        elif options.method != "none":
            s += 0.2 * x[i]
        if options.verbose:
            told.append(i)
        if not done and s > 0.55:
            done = True
            x[i] *= 2.0
        if done is None:
            s = 0.0
    return s * np.sum(x), done


@pytest.mark.plain
@pytest.mark.parametrize(
    ("options", "serves"),
    [((), True), ((0.52,), True), ((None, False, "midpoint"), True), ((0.5, False, "none"), True),
     ((None, 0), True), ((None, None), True), ((None, 1), True)],
    ids=repr,
)  # fmt: skip
def test_options(options, serves, taken):
    def f(x):
        return stepped(x, Options(*options), [])[0]

    agrees(f, X)
    assert taken == [serves, serves, False]


@pytest.mark.plain
def test_what_is_told_is_told_once(taken):
    def f(x):
        told = []
        return stepped(x, Options(verbose=True), told)[0], told

    (value, told), g = value_and_grad(f, has_aux=True)(X.copy())
    assert told == [0, 1, 2, 3, 4]
    assert value == stepped(X.copy(), Options(), [])[0]
    assert_array_equal(g, grad(lambda x: stepped(x, Options(), [])[0])(X.copy()))
    assert taken[0]


@pytest.mark.plain
def test_types_afterwards(taken):
    def f(x, flag):
        s = 0.0
        for i in range(5):
            s += x[i]
            done = True
            same = flag
        return s, (done, same, type(done).__name__)

    for flag in (False, "text"):
        (value, others), _ = value_and_grad(f, has_aux=True)(X.copy(), flag)
        assert (value, others) == f(X, flag)
    assert any(taken)


@pytest.mark.plain
@pytest.mark.parametrize("before", [None, False, 1.0])
def test_a_name_that_is_a_flag_before_and_a_number_after(before, taken):
    def f(x):
        best = before
        for i in range(5):
            if best is None or best is False or x[i] > best:
                best = x[i]
        return best

    def g(x):
        best = before
        for i in range(5):
            if best is None or x[i] > best:
                best = x[i]
        return best

    if before is not False:
        equals_reference(g, X)
        assert taken[0] is (before is not None)
    assert value_and_grad(f)(X.copy())[0] == f(X)


@pytest.mark.plain
def test_arithmetic_with_truths():
    def f(x, flag):
        s = 0.0
        for i in range(5):
            s += x[i] * flag + (x[i] if flag else 2.0)
        return s

    agrees(lambda x: f(x, True), X)


@pytest.mark.plain
def test_comparisons_have_names(taken):
    def f(x, a):
        s, t = 0.5, 2
        for i in range(5):
            large = x[i] > 0.5
            growing = a < 0.3 * i
            even = i % 2 == 0
            if (large and not growing) or even:
                s += x[i] * x[i] * a
            t = i > 3
        return s * np.sum(x), [str(type(q)) for q in (large, growing, even, t, s)]

    agrees(lambda x, a: f(x, a)[0], X, 0.7)
    assert taken[:2] == [True, True]
    for a in (0.7, np.float64(0.7)):
        (value, kinds), _ = value_and_grad(f, has_aux=True)(X.copy(), a)
        assert (value, kinds) == f(X.copy(), a)
    v = np.array([1.0, -0.5, 0.2, 0.3, 2.0])
    g = grad(lambda x: f(x, 0.7)[0])
    assert_allclose(jvp(lambda x: f(x, 0.7)[0], (X,), (v,))[1], g(X) @ v, rtol=1e-12)
    h = 1e-6
    expected = (g(X + h * v) - g(X - h * v)) / (2 * h)
    assert_allclose(hvp(lambda x: f(x, 0.7)[0], (X,), v), expected, rtol=1e-6)


@pytest.mark.plain
def test_a_callback(taken):
    def f(x, callback=None):
        s = 0.0
        for i in range(5):
            s += x[i] * x[i]
            if callback is not None:
                callback(s)
        return s

    def seen(x):
        found = []
        return f(x, found.append), len(found)

    agrees(f, X)
    assert taken == [True, True, False]
    assert value_and_grad(seen, has_aux=True)(X.copy())[0] == (f(X), 5)
    assert taken[-1] is False


@pytest.mark.plain
def test_calls_that_cannot_be_read():
    def f(x, y, every):
        s = 0.0
        for i in range(5):
            s += x[i] * x[i]
            if every:
                helper(s, y[0])
                helper(s, y.missing[i], [])
        return s

    agrees(lambda x: f(x, None, 0), X)


def helper(u, v):
    return u * v


def test_an_int_that_only_a_branch_binds_which_is_not_taken():
    def f(x, a, o):
        for i in range(len(x)):
            if o.step is None:
                u = -1
                while u < 2:
                    u += 1
                    x[u] += a
            x[i] = x[i] * a + 1.0
        return np.sum(x)

    o = SimpleNamespace(step=0.5)
    x = np.array([0.5, -1.5, 2.0])
    gx, ga = grad(f, (0, 1))(x, 0.25, o)
    assert_allclose(gx, np.full(3, 0.25))
    assert_allclose(ga, np.sum(x))
    assert_allclose(jvp(f, (x, 0.25, o), (np.ones(3), 1.0, None))[1], 0.75 + np.sum(x))


def test_a_name_that_is_a_truth_before_it_is_a_number():
    def f(x):
        s, t, i = x[0], 0.0, 0
        while i < 3:
            t = True
            s = s * 0.5 + x[i]
            t = -2
            i += 1
        return s * t

    equals_reference(f, X)
