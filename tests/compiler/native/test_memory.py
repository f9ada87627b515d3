"""Names for the same memory, and names that are rebound, in functions that are compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import SharedArgumentsError, grad, jvp, value_and_grad
from mooncake_py.compiler.native.site import report

pytestmark = pytest.mark.plain

X = np.array([0.3, -0.4, 0.8, 0.5])
A = np.arange(16.0).reshape(4, 4) / 10 - 0.6


def views_that_overlap(x, A):
    v = x[1:]
    w = x[:-1]
    v += w
    w *= 2
    return np.sum(x * x)


def another_name(x, A):
    y = x
    y[0] = 5 * x[1]
    return x[0] * x[2]


def row_that_is_overwritten(x, A):
    r = A[0]
    A[0] = A[1]
    r *= 2
    return np.sum(A * A)


def rows_that_change_places(x, A):
    A[0], A[1] = A[1], A[0]
    return A[0] @ x + A[1] @ (x * x)


def doubled(u):
    u *= 2
    return u


def argument_that_is_given_back(x, A):
    z = doubled(x)
    y = doubled(z)
    y[0] = 1
    return x @ A[1]


def rows_and_columns_of_loops(x, A):
    for row in A:
        row += x
    for i, row in enumerate(A.T):
        row *= i
    return np.sum(A**2)


def transposed_column(x, A):
    A.T[0] += x
    A[:, 1][1:] *= 2
    np.fill_diagonal(A, x[0])
    return np.sum(A * A)


def backwards_view(x, A):
    x = x[::-1]
    x[0] = x[1] * 3
    return x @ A[0]


def old_array(x, A):
    u = x
    x = x + 1
    u[0] = 3 * x[1]
    return x @ u


def given_as_out(x, A):
    y = np.empty(4)
    np.sin(x, out=y)
    z = y
    np.multiply(y, x, out=y)
    return np.sum(z * x)


def crossed(u, v):
    u[0] = v[1]
    v[0] = u[1]
    return u * v, u


def results_that_are_arguments(x, A):
    p, q = crossed(x, A[0])
    q[2] = p[1]
    return x @ A[0] + p.sum()


def previous_array(x, A):
    y = x * 1.0
    previous = x * 0.5
    for k in range(3):
        previous, y = y, y * A[k] + previous
    return y @ previous


def transposition_in_place(x, A):
    b = A
    for i in range(4):
        for j in range(i, 4):
            if i != j:
                b[i, j], b[j, i] = b[j, i], b[i, j] + x[i]
    return np.sum(b * b * A)


def elements_in_a_tuple(x, A):
    t = (x[0], x[1] * 2)
    x[0] = 9.0
    return t[0] * t[1] + x[0]


def index_that_is_bound_again(x, A):
    i = 2
    v = x[i]
    r = A[i]
    i = 1
    r[0] = v
    return r @ x + A[i] @ x


def leaving_loops(x, A):
    c = 0.0
    for i in range(len(x)):
        if x[i] > 0.4:
            continue
        c += x[i]
        for j in range(i):
            if A[i, j] > 0.5:
                break
            c *= 1 + A[i, j] * 0.1
    return c


def changing(x):
    x[0] = x[1] * 2
    return x[2]


def element_that_the_call_changes(x, A):
    x[0] += changing(x)
    return np.sum(x * x)


def starting(x):
    x[1] = 5 * x[2]
    return 0


def index_that_the_call_changes(x, A):
    y = np.zeros(4)
    y[starting(x) :] = x * 2
    return np.sum(y * y)


def written_while_bound_anew(x, A):
    y = x * 1.0
    for k in range(3):
        z = y
        y = y * A[k]
        z[0] = 7.0
    return y @ x


def argument_that_a_loop_binds_anew(x, A):
    for _ in range(2):
        A = A * 0.5 + np.outer(x, x)
        A[0] += x
    return np.sum(A)


def diagonal_of_what_changes(x, A):
    d = np.diagonal(A)
    e = np.diag(A)[1:]
    A[0, 0] = 5.0 * A[0, 1]
    A[1] *= x
    return d @ x + e.sum()


def columns_that_are_copies_of_rows(x, A):
    for i in range(3):
        A[i, i:] *= x[i:]
        A[i:, i] = A[i, i:]
        A[i + 1 :, i] = A[i, i + 1 :]
    A[1:, 0] = A[0, 1:]
    return np.sum(A * A * x)


def column_that_crosses_a_row(x, A):
    A[:, 1] = A[1, :]
    return np.sum(A * A * x)


def column_whose_elements_the_row_reads_afterwards(x, A):
    for i in range(-2, 0):
        A[:, i] = A[i - 1, :]  # NumPy copies neither, and reads what it has written
    return np.sum(A * A * x)


def column_that_crosses_a_reversed_row(x, A):
    A[:, 0] = A[0, ::-1]
    return np.sum(A * A * x)


def copy_onto_itself(x, A):
    A[0, 1:] = A[0, :-1]
    return np.sum(A * A * x)


def tuples_in_tuples(x, A):
    a = x[0]
    t = ((a, x * 2.0), [a])
    a = 3.0 * x[1]
    x[2] = 5.0
    y = t[0][0] * a + t[0][1] @ x + t[1][0]
    z = second_of(((x * 1.0, a),), x)
    return y + z


def second_of(t, x):
    x *= 2.0
    return t[0][0] @ x * t[0][1]


def previous_array_in_one_statement(x, A):
    y = 0.5 * x
    for k in range(3):
        x, y = y * 0.5 + x * A[k], x
    return np.sum((x - y) ** 2)


def part_of_the_previous_array(x, A):
    y = x[1:]
    for k in range(3):
        x, y = x * A[k], x[1:]
    return np.sum(x[1:] * y)


def generator_that_runs_later(x, A):
    z = A[0] * 1.0
    squares = (e * e for e in z)
    z += x
    return sum(squares) * x[0]


REFUSED = (
    column_that_crosses_a_row, column_that_crosses_a_reversed_row,
    column_whose_elements_the_row_reads_afterwards,
    element_that_the_call_changes, index_that_the_call_changes, generator_that_runs_later,
)  # fmt: skip
COMPILED = (
    views_that_overlap, another_name, row_that_is_overwritten, rows_that_change_places,
    argument_that_is_given_back, rows_and_columns_of_loops, transposed_column, backwards_view,
    old_array, given_as_out, results_that_are_arguments, previous_array, transposition_in_place,
    elements_in_a_tuple, index_that_is_bound_again, leaving_loops, diagonal_of_what_changes,
    columns_that_are_copies_of_rows, tuples_in_tuples, previous_array_in_one_statement,
    part_of_the_previous_array, written_while_bound_anew, argument_that_a_loop_binds_anew,
    copy_onto_itself,
)  # fmt: skip


@pytest.mark.sampled(5)
@pytest.mark.parametrize("f", COMPILED + REFUSED, ids=lambda f: f.__name__)
def test_derivatives_and_arguments(f: Any, tried: list[bool]) -> None:
    def gradient(*given: Any) -> Any:
        return grad(f, (0, 1))(*given)

    found: list[Any] = []
    for compile in (False, True):
        x, a = X.copy(), A.copy()
        value, g = value_and_grad(f, (0, 1), compile=compile)(x, a)
        second = jvp(gradient, (x, a), (np.cos(X), np.sin(A)), compile=compile)[1]
        found.append((value, *g, *second))
        np.testing.assert_array_equal(x, X)
        np.testing.assert_array_equal(a, A)
    for a, b in zip(*found, strict=True):
        assert_allclose(b, a, rtol=1e-9, atol=1e-12)
    assert (report(f)[0].found == "compiled") == (f in COMPILED)  # functions that it calls may be
    assert (tried and all(tried)) or f in REFUSED  # these may leave their regions


@pytest.mark.parametrize("compile", [False, True])
def test_captured_arrays_that_nothing_reads_may_stand_for_arguments_that_are_written(
    compile: bool, tried: list[bool]
) -> None:
    given = [X.copy(), A.copy()]

    def partly(x):
        every = list(given)
        every[0] = x
        u, m = every
        u[0] = u[1] * m[1, 2] + len(given[0])
        return u[0] * u[2]

    def both(x):
        x[0] = x[1] * given[0][1]
        return x[0]

    t = np.cos(X)
    y, dy = jvp(partly, (given[0],), (t,), compile=compile)
    g = grad(partly, compile=compile)(given[0])
    a = A[1, 2]
    assert_allclose(y, (X[1] * a + 4) * X[2])
    assert_allclose(g, [0, a * X[2], X[1] * a + 4, 0])
    assert_allclose(dy, g @ t)
    np.testing.assert_array_equal(given[0], X)
    for derivative in (
        lambda: jvp(both, (given[0],), (t,), compile=compile),
        lambda: grad(both, compile=compile)(given[0]),
    ):
        with pytest.raises(SharedArgumentsError):
            derivative()
    assert (report(partly) != [] and report(partly)[0].found == "compiled") == compile
    assert all(tried)
