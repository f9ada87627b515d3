"""What loops on slices leave to the statements: they are put back, and run as they are written."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mooncake_py import grad, value_and_grad
from tests.compiler.comparing import agrees, equals_reference
from tests.programs.ways import WAYS

X = np.array([0.7, 1.2, 0.8, 1.9, 0.4, 1.1])


def scaled(x, y):
    for i in range(1, 6):
        x[i:] /= y[i]
        x[i - 1] += np.sum(x[i:])
    return np.sum(x * x)


@pytest.mark.plain
def test_a_warning_comes_from_the_statement_and_once(taken):
    y = X.copy()
    y[3] = 0.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = scaled(X.copy(), y.copy())
    expected = [str(w.message) for w in caught]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found, _ = value_and_grad(scaled)(X.copy(), y.copy())
    forward = [str(w.message) for w in caught if "reduce" not in str(w.message)]
    assert not np.isfinite(value)
    assert not np.isfinite(found)
    assert [m for m in expected if "divide" in m] == [m for m in forward if "divide" in m]
    assert taken == [False]


def test_an_error_under_errstate_is_raised_by_the_statement():
    x, y = X.copy(), X.copy()
    y[2] = 0.0
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
        grad(scaled, (0, 1))(x, y)
    assert_array_equal(x, X)


def test_an_index_out_of_range_that_the_program_catches():
    def f(x):
        try:
            for i in range(9):
                x[:i] *= 1.5
                x[i] += np.sum(x[:i])
        except IndexError:
            x[0] *= i
        return np.sum(x * x)

    agrees(f, X.copy())


def test_shapes_that_do_not_fit_raise_as_the_statement_does():
    def f(x):
        for i in range(5):
            x[i:] += x[: 5 - i] * x[:3]
        return np.sum(x)

    x = X.copy()
    with pytest.raises(ValueError, match="could not be broadcast"):
        grad(f)(x)
    assert_array_equal(x, X)


@pytest.mark.plain
def test_an_operand_of_one_element_is_broadcast_statement_by_statement(taken):
    def f(x):
        for i in range(5):
            x[i:] *= x[5:] + 0.1 * x[i:]
        return np.sum(x)

    agrees(f, X.copy())
    assert not any(taken)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_zero_cotangent_beside_what_is_not_finite_stays_zero(bad):
    def f(x, y):
        z = np.zeros(6)
        for i in range(1, 6):
            z[i:] += x[i:] * y[i:]
            x[i - 1] += 0.5 * np.sum(x[i:])
        return z[1] + x[2]

    y = X.copy()
    y[4] = bad
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = grad(f)(X.copy(), y)
        _, (expected,) = WAYS["unfused"](f, (0,), [X.copy(), y])
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.complex128])
def test_arrays_of_other_types(dtype):
    def f(x, y):
        for i in range(1, 5):
            x[i:] += np.abs(y[:-i]) * 0.5
            x[i] *= 0.5
        return np.sum(x)

    equals_reference(lambda x: f(x, np.arange(6).astype(dtype)), X.copy())


def test_arrays_of_more_axes_than_expected():
    def f(x):
        for i in range(1, 5):
            x[i:] *= 0.5
            x[i] += x[i - 1] * 0.1
        return np.sum(x)

    equals_reference(f, X.copy())
    equals_reference(f, np.outer(X, X))


def test_elements_that_share_memory():
    def f(x):
        y = np.lib.stride_tricks.as_strided(x, (5, 2), (8, 8))
        s = 0.0
        for i in range(1, 4):
            s += np.sum(y[i:, 0] * y[:-i, 1])
            x[i:] *= 0.5
        return s

    agrees(f, X.copy())


def test_empty_slices():
    def f(x):
        s = 0.0
        for i in range(5):
            s += np.sum(x[i:i]) + np.dot(x[6:], x[6:])
            x[3:3] *= x[i]
            x[i] += s * np.mean(x[1:])
        return np.sum(x * x)

    agrees(f, X.copy())


def test_what_is_written_is_read_only():
    def f(x):
        y = x * 1.0
        y.flags.writeable = False
        for i in range(1, 5):
            y[i:] *= 2.0
        return np.sum(y)

    with pytest.raises(ValueError, match="read-only"):
        grad(f)(X.copy())


def test_powers_of_negative_numbers():
    def f(x):
        for i in range(1, 5):
            x[i:] *= (x[0] ** 2 + 1.0) * np.abs(x[i]) ** 0.5
            x[1:] += np.sum(x[i:]) ** 2 * 0.01
        return np.sum(x)

    agrees(f, X.copy())


def test_a_number_that_is_an_int():
    def f(x):
        k = 0
        for i in range(1, 5):
            k = int(np.sum(x[i:]))
            x[i:] *= k + 1
        return np.sum(x) + k

    equals_reference(f, X.copy())


def test_a_name_that_is_an_array():
    def f(x, y):
        for i in range(1, 5):
            x[1:] += 0.1 * y
            x[i] *= 0.5
        return np.sum(x)

    agrees(f, X.copy(), X[1:].copy())


@pytest.mark.plain
def test_statements_with_complex_numbers_are_left_to_themselves(taken):
    def f(x):
        y = np.zeros(6)
        for k in range(3):
            y[1:] += np.abs(x[1:] * 1j + x[:-1]) * X[1:]
            y[k:] -= x[k:] * y[k:] * 0.1
        return np.sum(y * y)

    equals_reference(f, X)
    assert not any(taken)


def test_a_slice_with_a_name_that_cannot_be_taken():
    def f(x):
        s = 0.0
        try:
            for i in range(1, 5):
                part = x[i:, 0]
                if i > 7:
                    s += np.sum(part)
                x[i:] *= 0.5
        except IndexError:
            s = x[0]
        return s + np.sum(x)

    assert_array_equal(grad(f)(X.copy()), [2.0, 1.0, 1.0, 1.0, 1.0, 1.0])


def test_a_row_with_a_name_that_is_out_of_range():
    def f(m):
        s = 0.0
        try:
            for i in range(1, 9):
                row = m[i, 1:]
                if i > 7:
                    s += np.sum(row)
                m[:, 0] *= 0.5
        except IndexError:
            s = m[0, 0]
        return s + np.sum(m)

    equals_reference(f, np.outer(X, X))


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
def test_indices_of_several_types(dtype):
    order = np.array([0, 4, 4, 2, 1, 5]).astype(dtype)

    def f(x):
        s = 0.0
        for i in range(5):
            here = order[i:]
            s += np.sum(x[here] * x[here])
            x[i] *= 0.5
        return s

    agrees(f, X.copy())


def test_a_mask_as_an_index():
    mask = X > 0.9

    def f(x):
        s = 0.0
        for i in range(4):
            here = mask[:6]
            s += np.sum(x[here] * x[here])
            x[i] *= 0.5
        return s

    agrees(f, X.copy())


def test_an_index_of_two_axes():
    order = np.array([[0, 4], [4, 2], [1, 5]])

    def f(x):
        s = 0.0
        for i in range(4):
            here = order[:2]
            s += np.sum(x[here] * x[here])
            x[i] *= 0.5
        return s

    agrees(f, X.copy())


def test_an_index_of_ints_beside_others():
    order = np.array([0, 4, 4, 2, 1, 5])

    def f(m):
        s = 0.0
        for i in range(5):
            here = order[i:]
            s += np.sum(m[i, here] * m[i, order[i:]])
            m[i, :] *= 0.5
        return s

    agrees(f, np.outer(X, X))


def test_a_write_by_ints_of_an_array():
    order = np.array([0, 4, 4, 2, 1, 5])

    def f(x):
        for i in range(5):
            x[order[i:]] *= 1.0 + 0.1 * x[order[i:]]
            x[:i] = np.flip(x[order[6 - i :]])
        return np.sum(x * x)

    agrees(f, X.copy())


def test_a_view_that_vectors_do_not_have():
    def f(x):
        for i in range(1, 5):
            x[i:] += 0.5 * np.fliplr(x[i:])
        return np.sum(x)

    with pytest.raises(ValueError, match="2-d"):
        grad(f)(X.copy())


def test_an_index_that_a_method_of_a_result_makes():
    def f(m):
        for i in range(3):
            m[np.argsort(m[i]).astype(int)[: i + 1] % 3] *= 0.9
        return np.sum(m * m)

    agrees(f, np.outer(X, X))
