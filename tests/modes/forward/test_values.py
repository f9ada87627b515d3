"""Forward mode: values of every kind in and out, programs that work in place, errors."""

from __future__ import annotations

import dataclasses
import gc
import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import NoTangent, grad, jvp
from mooncake_py.errors import DerivativeDropError, InvalidTangentError, MissingRuleError
from mooncake_py.modes.reverse.context import ReverseContext
from tests.support.directions import check_jvp

X = np.array([0.3, -1.2, 0.7, 0.5])
V = np.array([1.0, 0.5, -2.0, 0.25])


def copied_then_written(x):
    y = x.copy()
    y[1:] += y[:-1] * x[0]
    return y


def overlapping_slices(x):
    x[1:] = x[:-1]
    x[:2] *= x[2:]
    return x


def masks(x):
    x[x < 0] = x[0] ** 2
    y = np.where(x > 0.4, x * x, np.sin(x))
    y[np.array([True, False, True, False])] -= 1.0
    return y


def repeated_indices(x):
    y = np.zeros(4)
    np.add.at(y, [0, 0, 1, 3], x)
    y[[0, 0]] = x[:2] ** 2
    return y * x[[0, 0, 1, 1]]


def out_and_where(x):
    y = np.full(4, 0.25)
    np.multiply(x, x, out=y, where=x > 0)
    np.hypot(x[0], x[1], out=y[1:2])
    np.sum(np.outer(x, x), axis=0, out=y)
    return np.exp(y, out=y)


def views(x):
    a = x.reshape(2, 2).T
    a[0] *= 3.0
    b = a.ravel(order="F")
    b[::-2] += a[1]
    return np.concatenate([b, x[::-1]])


def sliding(x):
    w = np.lib.stride_tricks.sliding_window_view(x, 2)
    return np.sum(w**2, axis=1)


def zero_dimensional(x):
    z = np.array(x[1] * x[2])
    z += 1.0
    z[...] = z * z
    return z


def methods_in_place(x):
    x.sort()
    x.partition(2)
    np.cumsum(x, out=x)
    x.flat[1] = x[0] ** 2
    np.copyto(x[2:], x[:2] * 2, where=[True, False])
    return x.clip(-0.5, 0.9)


def decompositions(x):
    a = np.outer(x, x) + np.diag([3.0, 4.0, 5.0, 6.0])
    _, r = np.linalg.qr(a)
    return np.concatenate([
        np.abs(np.diag(r)), np.linalg.eigh(a)[0], np.linalg.cholesky(a).ravel(),
        np.linalg.solve(a, x), [np.linalg.det(a)], np.abs(np.linalg.svd(a)[1]),
    ])  # fmt: skip


def fourier(x):
    return np.abs(np.fft.fft(x) ** 2 + 1j)


def generator(x):
    def rows(v):
        for k in range(len(v)):
            v[k] *= v[k - 1]
            yield v[k] ** 2

    return np.array(list(rows(x)))


def classes(x):
    class Account:
        def __init__(self, balance):
            self.balance = balance

        def __iadd__(self, other):
            self.balance += other * self.balance
            return self

    account = Account(x[0])
    for v in x:
        account += v
    return np.array([account.balance, account.balance**2])


def exceptions(x):
    total = x[0]
    for k in range(6):
        try:
            total = total * x[k]
        except IndexError:
            total = total + x[0] ** 2
        finally:
            x[0] += 0.1
    return total * x


PROGRAMS = [
    copied_then_written, overlapping_slices, masks, repeated_indices, out_and_where, views, sliding,
    zero_dimensional, methods_in_place, decompositions, fourier, generator, classes, exceptions,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_tangent_matches_differences(program):
    check_jvp(program, X.copy())


@pytest.mark.without_modes("values are compared bit for bit", "compiled")
def test_tangents_of_complex_arrays():
    check_jvp(lambda z: np.real(z * np.conj(z)) * np.abs(z), X + 0.5j)
    check_jvp(lambda z: z**2 / (1 + z), X + 0.5j)
    y, dy = jvp(lambda z: z * z, (1 + 2j,), (1j,))
    assert (y, dy) == ((1 + 2j) ** 2, 2j * (1 + 2j))


@pytest.mark.without_modes("values are compared bit for bit", "compiled")
def test_what_linear_functions_add_does_not_move():
    check_jvp(lambda x: np.sum(x, initial=3.0), X.copy())
    check_jvp(lambda x: np.pad(x, 1, constant_values=2.0) * x[0], X.copy())
    check_jvp(lambda x: np.concatenate([x, [1.0]], axis=0), X.copy())
    check_jvp(lambda x: np.mean(np.outer(x, x), axis=0, keepdims=True), X.copy())


def test_dtype_and_order_are_those_of_the_values():
    x = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    check_jvp(lambda a: a.T @ a, x)
    y, dy = jvp(lambda a: a * 2, (X.astype(np.float32),), (V,))
    assert y.dtype == dy.dtype == np.float32
    y, dy = jvp(lambda a: a[0], (X.astype(np.float32),), (V,))
    assert type(dy) is np.float32
    y, dy = jvp(lambda a: a * 1, (np.array(2.0),), (np.array(3.0),))
    assert np.shape(dy) == () == np.shape(y)
    assert dy == 3.0


@dataclasses.dataclass
class Point:
    x: float
    name: Any
    at: Any


def test_structures_go_in_and_out():
    def f(d, p):
        d["a"][0] *= p.x
        p.at.append(d["a"].sum())
        return {"d": d, "p": p, "n": 3, "t": (d["b"] * 2, "text")}

    d, p = {"a": X[:2].copy(), "b": 1.5}, Point(2.0, "name", [X[2:].copy()])
    dd, dp = {"a": V[:2], "b": 1.0}, Point(1.0, None, [V[2:]])
    y, dy = jvp(f, (d, p), (dd, dp))
    first = V[0] * 2.0 + X[0] * 1.0
    np.testing.assert_allclose(dy["d"]["a"], [first, V[1]])
    assert dy["d"]["b"] == 1.0
    assert dy["p"].x == 1.0
    np.testing.assert_allclose(dy["p"].at[1], first + V[1])
    assert dy["t"][0] == 2.0
    assert type(dy["t"][1]) is type(dy["n"]) is NoTangent
    np.testing.assert_array_equal(d["a"], X[:2])
    assert len(p.at) == 1
    assert y["p"] is not p


def test_closures_and_globals_are_constants_that_are_restored():
    held = [X.copy()]

    def f(x):
        held[0] *= x
        held.append(x)
        return held[0] * held[1]

    _, dy = jvp(f, (X.copy(),), (V,))
    np.testing.assert_allclose(dy, 2 * X**2 * V)
    assert len(held) == 1
    np.testing.assert_array_equal(held[0], X)


def test_what_one_argument_holds_twice_has_one_tangent():
    x, v = X.copy(), V.copy()
    _, dy = jvp(lambda p: p[0][1:] * p[1][:-1] ** 2, ([x, x],), ([v, v],))
    np.testing.assert_allclose(dy, v[1:] * x[:-1] ** 2 + 2 * x[1:] * x[:-1] * v[:-1])
    _, dy = jvp(lambda p: p[0][1:] * p[1], ([x, x[1:]],), ([v, v[1:]],))
    np.testing.assert_allclose(dy, 2 * x[1:] * v[1:])


def test_what_one_argument_holds_twice_takes_no_two_tangents():
    x = X.copy()
    with pytest.raises(InvalidTangentError, match="shares memory"):
        jvp(lambda p: p[0] * p[1], ([x, x],), ([V, 2 * V],))
    with pytest.raises(InvalidTangentError, match="shares memory"):
        jvp(lambda p: p[0][1:] * p[1], ([x, x[1:]],), ([V, V[:-1]],))
    np.testing.assert_array_equal(x, X)


def test_tangents_that_are_nan_or_of_another_type_may_be_given_twice():
    x, narrow = np.ones(3), np.ones(3, np.float32)
    single, undefined = np.array([0.1, 0.5, 1.0], np.float32), np.array([1.0, np.nan, 2.0])
    for t in (single, undefined, [1, 2, 3]):
        _, slope = jvp(lambda p: p[0] + 2.0 * p[1], ([x, x],), ([t, t],))
        assert_allclose(slope, 3.0 * np.asarray(t, float))
    wide = np.array([0.1, 0.2, 0.3])
    _, slope = jvp(lambda p: p[0] + p[1], ([narrow, narrow],), ([wide, wide],))
    assert_allclose(slope, 2.0 * wide, rtol=1e-6)


def test_exception_leaves_the_arguments_as_they_were():
    def f(x):
        x[0] = 5.0
        raise LookupError("mine")

    x = X.copy()
    with pytest.raises(LookupError, match="mine"):
        jvp(f, (x,), (V,))
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize(
    ("primal", "tangent", "message"),
    [
        (X, V[:2], r"tangents\[0\].*shape \(4,\), got shape \(2,\)"),
        (X, 1.0, r"an array of shape \(4,\)"),
        (X, V * 1j, "a real array"),
        (1.0, V, "a number"),
        (1.0, 1j, "a real number"),
        (1.0, "a", "a number"),
        ([X, 1.0], [V], r"tangents\[0\].*a part 1"),
        ({"a": 1.0}, {"b": 1.0}, "the part 'a'"),
        (3, 1.0, "a part without a derivative"),
    ],
)
def test_tangents_that_do_not_fit(primal, tangent, message):
    with pytest.raises(InvalidTangentError, match=message):
        jvp(lambda x: x, (primal,), (tangent,))


def test_arguments_of_jvp_are_tuples_of_one_length():
    with pytest.raises(InvalidTangentError, match="tuple"):
        jvp(np.sin, X, V)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidTangentError, match="1 primals but 2 tangents"):
        jvp(np.sin, (X,), (V, V))


def test_lists_of_active_numbers_are_arrays_for_rules_with_tangents_by_hand():
    def f(x):
        solved = np.linalg.solve([[x[0] + 3.0, 1.0], (0.0, x[1] + 2.0)], [1.0, x[2]])
        return solved[0] * np.einsum("ij,j", [[x[0], 1.0]], [x[1], 2.0])[0]

    x = np.array([0.7, -1.2, 0.8])
    for v in np.eye(3):
        assert_allclose(jvp(f, (x,), (v,))[1], grad(f)(x) @ v, rtol=1e-12)


def test_conversion_in_compiled_code_is_an_error():
    with pytest.raises((DerivativeDropError, MissingRuleError)):
        jvp(lambda x: np.array(memoryview(x)) * 2, (X.copy(),), (V,))


@pytest.mark.usefixtures("only_new_objects")
def test_tangents_of_dead_arrays_are_gone():
    def f(x):
        for _ in range(100):
            x = np.sin(x) + 0.5 * x  # the tangents halve: after 400 steps they are denormal
        return x

    x = np.linspace(0.0, 1.0, 5_000)
    jvp(f, (x,), (x,))
    gc.collect()
    tracemalloc.start()
    jvp(f, (x,), (x,))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30 * x.nbytes


def test_a_set_of_active_numbers_is_refused_as_an_output():
    def f(x):
        members = set()
        members.add(x[0])
        return np.sum(x), members

    with pytest.raises(InvalidTangentError, match="a set cannot have a tangent"):
        jvp(f, (np.ones(2),), (np.ones(2),))


@pytest.mark.parametrize("size", [10, 20_001])
def test_zero_times_infinity_is_zero_in_large_arrays_too(size):
    x, v = np.ones(size), np.ones(size)
    x[-1] = v[-1] = 0.0
    with np.errstate(all="ignore"):
        _, dy = jvp(lambda x: x * (1.0 / x) + 3.0 * x, (x,), (v,))
        _, (_, again) = jvp(lambda x: x * (1.0 / x) + 3.0 * x, (x,), [(x,), (v,)])
    assert_allclose(dy, 3.0 * v)
    np.testing.assert_array_equal(again, dy)


@pytest.mark.without_modes("plain Python raises where compiled functions do not", "compiled")
@pytest.mark.parametrize("quick", [True, False])
def test_arrays_divided_by_zero_are_infinite(quick, monkeypatch):
    monkeypatch.setattr(ReverseContext, "fuses", quick)

    def f(x):
        x *= x / 0.0
        return x

    with np.errstate(divide="ignore"):
        value, t = jvp(f, (X,), (V,))
    assert np.all(np.isinf(value))
    assert np.all(np.isinf(t))


@pytest.mark.parametrize("tangent", [[[1.0], [0.0]], [[0.0], [1.0]], [[1.0], [np.nan]]])
def test_tangents_of_a_number_held_twice_must_agree(tangent):
    shared = [3.0]
    f = lambda p: p[0][0] * p[1][0]  # noqa: E731
    same = [[1.0], [1]]
    assert jvp(f, ([shared, shared],), (same,)) == (9.0, 6.0)
    assert jvp(f, ([shared, shared],), [(same,), ([[2.0], [2.0]],)]) == (9.0, [6.0, 12.0])
    for tangents in ((tangent,), [(same,), (tangent,)]):
        with pytest.raises(InvalidTangentError, match="one variable with one tangent"):
            jvp(f, ([shared, shared],), tangents)
    assert shared == [3.0]


def test_tangents_of_a_number_held_twice_inside_a_derivative():
    def f(v, factor):
        shared = [v]
        return jvp(lambda p: p[0][0] * p[1][0], ([shared, shared],), ([[v], [factor * v]],))[1]

    assert grad(f)(3.0, 1.0) == 12.0
    with pytest.raises(InvalidTangentError, match="one variable with one tangent"):
        grad(f)(3.0, 2.0)


@pytest.mark.without_modes("numbers of Python give complex ones")
@pytest.mark.plain
@pytest.mark.parametrize(
    ("operation", "text"),
    [
        (lambda p: (-p[0]) ** p[1], "invalid value encountered in scalar power"),
        (lambda p: p[0] // 0.0, "divide by zero encountered in scalar floor_divide"),
        (lambda p: p[0] % 0.0, "invalid value encountered in scalar remainder"),
    ],
    ids=["power", "floordiv", "mod"],
)
def test_operators_of_numbers_warn_as_in_the_plain_call(operation, text):
    x, v = np.array([1.3, 0.2]), np.array([0.5, -1.0])
    with pytest.warns(RuntimeWarning, match=text):
        operation(x)
    with pytest.warns(RuntimeWarning, match=text) as caught:
        jvp(operation, (x,), (v,))
    assert len(caught) == 1
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match=text):
        jvp(operation, (x,), (v,))
