"""Writes through views whose elements share memory: the last one survives, as in NumPy."""

from __future__ import annotations

import re
import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from mooncake_py import DerivativeDropError, MissingRuleError, grad, jvp, value_and_grad
from mooncake_py.runtime.overlapping import crosses, meet_in_step
from tests.support.directions import check_jvp
from tests.support.gradients import check
from tests.support.pairs import rotating

X, V = np.array([0.5, -1.5, 2.5, 1.0, -0.75]), np.array([1.25, -0.5, 0.75])
TABLE = np.array([[True, False, True]] * 3)


def add_to_all(w: Any, v: Any) -> None:
    w += v


def scale_all(w: Any, v: Any) -> None:
    w *= v
    w /= v[2]


def assign_all(w: Any, v: Any) -> None:
    w[...] = v


def assign_number(w: Any, v: Any) -> None:
    w[:] = v[0]


def fill(w: Any, v: Any) -> None:
    w.fill(v[1])


def assign_constant_then_row(w: Any, v: Any) -> None:
    w[...] = 1.0
    w[1] = v


def assign_part(w: Any, v: Any) -> None:
    w[1:, :2] = v[:2]


def assign_itself(w: Any, v: Any) -> None:
    w[1:] = w[:-1]


def double(w: Any, v: Any) -> None:
    w += w


def assign_transposed(w: Any, v: Any) -> None:
    w.T[...] = v


def assign_reversed(w: Any, v: Any) -> None:
    w[::-1] = v


def assign_repeated_rows(w: Any, v: Any) -> None:
    w[[0, 1, 1]] = v


def assign_where(w: Any, v: Any) -> None:
    w[TABLE] = v[0]


def compute_into(w: Any, v: Any) -> None:
    np.multiply(w, v, out=w)
    np.exp(w, out=w)


def compute_where(w: Any, v: Any) -> None:
    np.add(w, v, out=w, where=TABLE)


def copy_to(w: Any, v: Any) -> None:
    np.copyto(w, v)


def change_rows(w: Any, v: Any) -> None:
    w[0] += v
    w[1] *= v
    w[2] = v * w[0]
    w[1, 1] = v[0]
    w[0, 2] += v[1]


WRITES = [
    add_to_all, scale_all, assign_all, assign_number, fill, assign_constant_then_row, assign_part,
    assign_itself, double, assign_transposed, assign_reversed, assign_repeated_rows, assign_where,
    compute_into, compute_where, copy_to, change_rows,
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("starts_active", "write"), rotating([True, False], WRITES))
def test_last_of_overlapping_writes_has_the_derivative(write: Any, starts_active: bool) -> None:
    def program(x: Any, v: Any) -> Any:
        y = x * 1.0 if starts_active else np.zeros(5)
        write(as_strided(y, (3, 3), (8, 8)), v)
        total = y.sum()
        y[1] *= 2.0
        return total * np.sum(y * x)

    check(program, X, V)


@pytest.mark.parametrize("order", ["C", "F"])
def test_writes_through_windows_of_a_table(order: Any) -> None:
    def program(x: Any, v: Any) -> Any:
        y = np.array(2 * x, order=order)
        windows = sliding_window_view(y, (2, 2), writeable=True)
        windows *= v
        windows[0, 1] += v
        return np.sum(y * x)

    check(program, np.outer(V, X), np.array([[0.5, 1.5], [2.5, -1.0]]))


@pytest.mark.parametrize(
    "write", [lambda w, v: np.put(w, [0, 4], v), lambda w, v: np.add.at(w, [0, 1], v)],
    ids=["put", "at"],
)  # fmt: skip
def test_writes_by_position_are_refused(write: Any) -> None:
    """NumPy goes through a copy of the view here, or reads what it wrote before."""

    def program(x: Any) -> Any:
        y = x * 1.0
        write(as_strided(y, (3, 3), (8, 8)), x[0])
        return y.sum()

    with pytest.raises(MissingRuleError, match="overlaps itself"):
        grad(program)(X)


def of_number(x: Any) -> Any:
    return np.broadcast_to(x[1], (5,))


def of_rows(x: Any) -> Any:
    return np.broadcast_to(2 * x, (3, 5))


def made_read_only(x: Any) -> Any:
    rows, _ = np.broadcast_arrays(x, np.zeros((2, 1)))
    rows.flags.writeable = False
    return rows


@pytest.mark.filterwarnings("ignore:future versions will not create:FutureWarning")
@pytest.mark.parametrize("view", [of_number, of_rows, sliding_window_view, made_read_only])
def test_writes_to_read_only_views_raise(view: Any) -> None:
    def program(x: Any) -> Any:
        a = view(x, 2) if view is sliding_window_view else view(x)
        total = 0.0
        try:
            a[0] = x[0] * 2.0
        except ValueError:
            total += x[2]
        try:
            a += x[0]
        except ValueError:
            total += x[3]
        return total * a.sum()

    check(program, X)


@pytest.mark.filterwarnings("ignore:future versions will not create:FutureWarning")
@pytest.mark.filterwarnings("ignore:Numpy has detected that you:DeprecationWarning")
def test_broadcast_arrays_are_the_views_that_numpy_makes() -> None:
    def program(x: Any) -> Any:
        y = x * 1.0
        rows, columns, number = np.broadcast_arrays(y, x[:, None], x[0])
        total = np.sum(rows * columns) * (2.0 if rows.flags.writeable else 1.0)
        rows[1] = x * 3.0
        lists, _ = np.broadcast_arrays([x[0], 2.0, x[1]], np.ones((2, 3)))
        return total + np.sum(y * x) * number[0, 1] + np.sum(lists) * x[2]

    check(program, X)


def strided_from_neighbours(m: Any) -> None:
    m[0, ::2] = m[0, :2]


def put_number(b: Any, x: Any) -> None:
    b[0, 0] = 3.0


def put_row(b: Any, x: Any) -> None:
    b[1] = x[1] * 2.0
    b[0] = x[2]


def add_in_place(b: Any, x: Any) -> None:
    b += x


@pytest.mark.without_modes("forward mode refuses changes in place of what overlaps")
@pytest.mark.parametrize("action", ["always", "error"])
@pytest.mark.parametrize(
    "write",
    [
        put_number,
        put_row,
        add_in_place,
        lambda b, x: b.fill(x[0, 1]),
        lambda b, x: np.copyto(b, x[1]),
        lambda b, x: np.add(b, x, out=b),
        lambda b, x: b.sort(axis=0),
        lambda b, x: b.T.__setitem__(0, x[0, 0]),
    ],
)
def test_writes_to_broadcast_arrays_warn_as_in_the_plain_call(write: Any, action: Any) -> None:
    def program(x: Any) -> Any:
        with warnings.catch_warnings(record=True) as log:
            warnings.simplefilter(action)
            _, b = np.broadcast_arrays(x * 1.0, x[0] * 1.0)
            refused = 0.0
            try:
                write(b, x)
            except DeprecationWarning:
                refused = 1.0
        return np.sum(b * x) + 100.0 * len(log) + 1000.0 * refused

    x = np.arange(1.0, 13.0).reshape(3, 4)
    for options in ({}, {"compile": True}, {"debug": True}):
        assert value_and_grad(program, **options)(x)[0] == program(x)


def column_from_row(m: Any) -> None:
    m[:, 2] = m[1, :]


def row_of_a_transposed_name(m: Any) -> None:
    t = m.T
    row = m[1]
    t[2] = row


@pytest.mark.parametrize(
    "write", [strided_from_neighbours, column_from_row, row_of_a_transposed_name]
)
def test_vectors_that_are_read_after_they_were_written(write: Any) -> None:
    """NumPy copies what overlaps, but not for vectors with strides of one sign."""

    def program(m: Any) -> Any:
        write(m)
        return np.sum(np.sin(m))

    def copied(m: Any) -> Any:
        t = m.T
        t[2] = m[1].copy()
        return np.sum(np.sin(m) * t)

    m = np.array([[0.5, 1.5, 0.25, -0.5], [2.5, -1.0, 0.75, 1.25], [1.0, 2.0, -0.5, 0.5]] + [X[:4]])
    check(program, m)
    check_jvp(program, m)
    check(copied, m)


def test_rows_and_columns_that_cross_without_harm_are_assigned() -> None:
    def program(m: Any) -> Any:
        for k in range(3):
            m[:, k] = m[k, :]
            m[k] = m[::-1, k]
        m[0, 1:] = m[0, :-1]
        return np.sum(np.sin(m) * m.T)

    check(program, np.outer(V, V) + np.diag(V) + np.arange(9.0).reshape(3, 3) * 0.1)


def test_memory_shared_by_dlpack_becomes_active() -> None:
    def program(x: Any) -> Any:
        buffer = np.zeros(5)
        shared = np.from_dlpack(buffer)
        buffer[:] = x * x
        return np.sum(shared * x)

    check(program, X)


def test_bytes_read_as_floats_of_another_size_are_refused() -> None:
    def program(x: Any) -> Any:
        buffer = np.zeros(5)
        other = buffer.view(np.float32)
        buffer[:] = x
        return other.sum()

    with pytest.raises(DerivativeDropError, match="seen through an array of dtype float32"):
        grad(program)(X)


PACKED = {
    "apart": np.dtype([("at", float), ("count", np.int32)]),
    "shifted": np.dtype([("count", np.int32), ("at", float), ("more", np.int32)]),
    "complex": np.dtype([("count", float), ("at", complex)]),
}


@pytest.mark.parametrize("kind", PACKED.values(), ids=PACKED)
def test_fields_of_records_are_apart_by_no_multiple_of_their_size(kind: Any) -> None:
    def program(x: Any) -> Any:
        p = np.zeros(6, kind)
        at = p["at"]
        at[...] = x
        at[::-1] = at * x
        at[:3] = at[::2]
        at[:] = at[::-1]
        at[1:4] = at[2:5] * x[0]
        return np.sum(np.abs(at) ** 2 * x) + p["count"].sum()

    def crossing(x: Any) -> Any:
        p = np.zeros(6, kind)
        p["at"] = x
        p["at"][::2] = p["at"][:3]
        return np.sum(np.abs(p["at"]) ** 2 * x)

    def windows(x: Any) -> Any:
        p = np.zeros(6, kind)
        rows = sliding_window_view(p["at"], 2, writeable=True)
        rows[2] = x[:2]
        return np.sum(p["at"].real * x) + p["count"].sum()

    x = np.array([0.5, -1.5, 2.0, 0.25, 1.0, -0.75])
    check(program, x)
    check_jvp(program, x)
    check_jvp(crossing, x)
    if kind is PACKED["shifted"]:  # whose records are two elements long
        check(crossing, x)
        check(windows, x)
        return
    with pytest.raises(DerivativeDropError, match="reads elements of the same array"):
        grad(crossing)(x)
    with pytest.raises(DerivativeDropError, match="a field of records of"):
        grad(windows)(x)


@pytest.mark.parametrize("start", [0, 8, 3])
def test_floats_in_a_block_of_bytes_overlap_as_others_do(start: int) -> None:
    def floats(x: Any) -> Any:
        y = np.zeros(93, np.uint8)[start : start + 48].view(float)
        y[...] = x
        return y

    def through_windows(x: Any) -> Any:
        y = floats(x)
        windows = as_strided(y, (5, 2), (8, 8))
        windows *= x[3]
        windows[2] = x[:2]
        windows[::2, 1] += x[:3]
        return np.sum(y * x)

    def crossing(x: Any) -> Any:
        y = floats(x)
        y[::2] = y[:3]
        table = y.reshape(2, 3)
        np.fill_diagonal(table, table[1])
        return np.sum(y * x * x)

    x = np.array([0.5, -1.5, 2.0, 0.25, 1.0, -0.75])
    check(through_windows, x)
    check(crossing, x)
    check_jvp(crossing, x)


@pytest.mark.thorough
def test_crossings_are_told_as_numpy_copies() -> None:
    steps = [k for k in range(-7, 8) if k]
    for n, s, t in product((2, 5), steps, steps):
        for i, j in product(range(0, 49, 5), range(0, 49, 4)):
            if not all(0 <= a + b * (n - 1) < 49 for a, b in ((i, s), (j, t))):
                continue
            elements = np.arange(49.0)
            slot, v = (
                as_strided(elements[start:], (n,), (8 * step,)) for start, step in ((i, s), (j, t))
            )
            told, before = crosses(slot, v), v.copy()
            slot[...] = v
            assert told == (not np.array_equal(slot, before)), (n, s, t, i, j)


def test_a_row_and_a_column_are_seen_to_have_one_element_in_common() -> None:
    m = np.zeros((40, 40))
    assert meet_in_step(m[3:, 3], m[3, 3:])
    assert meet_in_step(m[3, 4:], m[4:, 3])
    assert not meet_in_step(m[::-1, 7], m[7])


MASK = np.array([False, True, True, True])
ALL = np.ones((2, 2), bool)


def reversed_into_mask(y: Any) -> None:
    y[MASK] = y[::-1][:3]


def into_mask_reversed(y: Any) -> None:
    y[::-1][(MASK,)] = y[:3]


def into_list_of_truths(y: Any) -> None:
    y[[False, True, True, True]] = y[::-1][:3]


def into_mask_of_matrix(y: Any) -> None:
    flat = y[::-1]
    y.reshape(2, 2)[ALL] = flat


def into_column_by_mask(y: Any) -> None:
    y[::2][y[::2] > -9.0] = y[:2][::-1]
    y.reshape(2, 2)[:, 1][ALL[0]] = y[1:3]


def into_mask_from_flat(y: Any) -> None:
    y.reshape(2, 2).T[ALL] = y.reshape(2, 2).flat


def into_mask_again_and_again(y: Any) -> None:
    everywhere, v = np.ones(4, bool), y[::-1]
    for _ in range(3):
        y[everywhere] = v


def into_diagonal(y: Any) -> None:
    np.fill_diagonal(y.reshape(2, 2), y[2:])


def into_diagonal_reversed(y: Any) -> None:
    np.fill_diagonal(y.reshape(2, 2).T, y[::-1][1:3])


UNBUFFERED = [
    reversed_into_mask, into_mask_reversed, into_list_of_truths, into_mask_of_matrix,
    into_column_by_mask, into_mask_from_flat, into_mask_again_and_again, into_diagonal,
    into_diagonal_reversed,
]  # fmt: skip


@pytest.mark.parametrize("write", UNBUFFERED)
def test_masks_and_diagonals_are_written_without_copies(write: Any) -> None:
    def program(x: Any) -> Any:
        y = x * 2.0
        write(y)
        return np.sum(y * weights)

    weights, x = np.array([1.0, 10.0, 100.0, 1000.0]), np.array([1.0, 2.0, -3.0, 4.0])
    moves = np.eye(4)
    by_column = []
    for e in moves:
        y = 2.0 * e  # what moves numbers about does the same to a direction
        write(y)
        by_column.append(np.sum(y * weights))
    value, gradient = value_and_grad(program)(x)
    assert value == program(x)
    np.testing.assert_array_equal(gradient, by_column)
    np.testing.assert_array_equal([jvp(program, (x,), (e,))[1] for e in moves], by_column)


@pytest.mark.parametrize("index", [[0, 5], [[0, 1], [0, 9]]])
def test_an_index_outside_and_values_that_do_not_fit_raise_as_in_the_plain_call(index):
    def f(x):
        y = np.array(x.reshape(2, 3))
        y[index] = y
        return y.sum()

    x = np.arange(6.0)
    with pytest.raises((ValueError, IndexError)) as plain:
        f(x)
    with pytest.raises(plain.type, match=re.escape(str(plain.value).split("\n")[0])):
        grad(f)(x)
