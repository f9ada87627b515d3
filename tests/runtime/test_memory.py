"""The registry of memory: what is known of a block, by the array that owns it."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import value_and_grad
from mooncake_py.runtime.memory import Memory
from mooncake_py.runtime.registry import Registry


def test_protect_finds_a_constant_behind_an_entry_of_an_array_that_is_gone():
    registry = Registry(lambda error: error)
    constant = np.ones(3)
    memory = registry.memory_of(constant)
    memory.protected = False
    gone = np.zeros(2)
    registry.known[id(constant)] = Memory.of(gone)  # as if `constant` had got its id
    del gone
    registry.protect(constant)
    assert memory.protected
    assert registry.find(constant) is None
    assert registry.memory_of(constant) is memory


def test_activate_makes_a_constant_block_active_for_all_its_views():
    registry = Registry(lambda error: error)
    a = np.zeros((3, 4))
    view = a[1:, ::2]
    registry.memory_of(a).protected = False
    assert registry.find(view) is None
    node = registry.activate(view)
    assert node.memory is registry.find(a)
    assert not registry.constants
    node.add(np.ones(view.shape))
    expected = np.zeros((3, 4))
    expected[1:, ::2] = 1.0
    np.testing.assert_array_equal(registry.find(a).grad, expected)


def test_views_share_the_shadow_of_their_owner():
    registry = Registry(lambda error: error)
    a = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    registry.activate(a)
    for view in (a.T, a[::-1], a[:, 1], a.T[1:3, ::2], a.reshape(-1, order="F"), a[1:2, 1:2]):
        node = registry.find(view)
        before = np.array(registry.find(a).shadow())
        node.add(np.ones(view.shape))
        difference = registry.find(a).shadow() - before
        mark = np.zeros_like(a)
        marked = np.ndarray(
            view.shape,
            view.dtype,
            mark.T if mark.flags.f_contiguous else mark,
            view.__array_interface__["data"][0] - a.__array_interface__["data"][0],
            view.strides,
        )
        marked += 1
        np.testing.assert_array_equal(difference, mark)


def test_overlapping_views_accumulate_repeated_elements():
    registry = Registry(lambda error: error)
    a = np.zeros(5)
    registry.activate(a)
    windows = np.lib.stride_tricks.sliding_window_view(a, 3)
    registry.find(windows).add(np.ones(windows.shape))
    np.testing.assert_array_equal(registry.find(a).grad, [1, 2, 3, 2, 1])
    broadcast = np.broadcast_to(a, (4, 5))
    registry.find(broadcast).add(np.ones((4, 5)))
    np.testing.assert_array_equal(registry.find(a).grad, [5, 6, 7, 6, 5])


def test_real_and_imaginary_views_of_a_complex_block():
    registry = Registry(lambda error: error)
    z = np.zeros(3, complex)
    registry.activate(z)
    registry.find(z.real).add(np.array([1.0, 2.0, 3.0]))
    registry.find(z.imag).add(np.array([4.0, 5.0, 6.0]))
    np.testing.assert_array_equal(registry.find(z).grad, [1 + 4j, 2 + 5j, 3 + 6j])


def reshaped_exp(x):
    return np.exp(x.ravel()).reshape(x.shape)


def test_output_of_an_elementwise_function_may_be_a_view_of_new_memory():
    from mooncake_py import elementwise, value_and_grad

    elementwise(reshaped_exp, lambda x, y: y, replace=True)

    def f(x):
        total = 0.0
        for row in reshaped_exp(x):
            total += row[0] * row[1]
        return total

    x = np.array([[0.1, 0.2], [0.3, -0.4]])
    products = np.exp(x.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(value_and_grad(f)(x)[1], products + 0 * x)


def test_rows_apart_from_those_that_the_tape_refers_to_need_no_log():
    a = np.zeros((8, 3))
    memory = described(a)
    for index in (2, (slice(3, 5), 1)):
        memory.keep_part(a[index], a, index)
    assert memory.protected
    apart = [k for k in range(-8, 8) if memory.is_apart(a, k)]
    assert apart == [-8, -7, -3, -2, -1, 0, 1, 5, 6, 7]
    for index in (slice(5, None), slice(2), slice(1, None, -1), slice(3, 3), (6, slice(None))):
        assert memory.is_apart(a, index)
    for index in (
        slice(3), slice(None, None, 7), slice(None, 1, -2), ..., (slice(None), 0), True, (), None,
        [0], np.array([0]), np.int64(0), (..., 0),
    ):  # fmt: skip
        assert not memory.is_apart(a, index)
    assert not memory.is_apart(a[:2], 0)
    memory.keep_part(a[6], a, -2)
    assert not memory.is_apart(a, 5)  # between them


def described(a):
    memory = Memory.of(a)
    memory.describe(a)
    return memory


def test_other_references_to_a_block_protect_all_of_it():
    a = np.zeros((6, 3))
    for protect in (
        Memory.protect,
        lambda memory: memory.keep(a),
        lambda memory: memory.keep_part(a[:, 0]),
        lambda memory: memory.keep_part(a[[4]], a, [4]),
        lambda memory: memory.keep_part(a[1:][2], a[1:], 2),
        lambda memory: memory.note_logged(a[1]),
    ):
        memory = described(a)
        memory.keep_part(a[1], a, 1)
        protect(memory)
        memory.keep_part(a[2], a, 2)
        assert not memory.is_apart(a, 5)


def test_nothing_is_kept_of_no_rows():
    a = np.zeros((6, 3))
    memory = described(a)
    memory.keep_part(a[4:4], a, slice(4, 4))
    assert memory.is_apart(a, 4)
    memory.keep_part(a[1], a, 1)
    assert not memory.is_apart(a, 1)
    assert memory.is_apart(a, 4)


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # NumPy 2.5
def test_rows_are_others_in_another_shape():
    a = np.zeros((2, 6))
    memory = described(a)
    memory.keep_part(a[1], a, 1)
    memory.note_shape()
    a.shape = (4, 3)
    assert not memory.is_apart(a, 2)


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # NumPy 2.5
@pytest.mark.parametrize("debug", [False, True])
def test_what_the_tape_refers_to_is_logged_after_a_change_of_shape(debug):
    def f(x):
        y = np.zeros((2, 6))
        y[0] = x[:6]
        y[1] = x[6:]
        squares = y[1] * y[1]
        y.shape = 4, 3
        y[2] = 5.0
        y.shape = (12,)
        y[9:] = 7.0
        return np.sum(squares) + np.sum(y[:6] * x[6:])

    x = np.arange(1.0, 13.0)
    value, gradient = value_and_grad(f, debug=debug)(x)
    assert value == np.sum(x[6:] ** 2) + np.sum(x[:6] * x[6:])
    np.testing.assert_array_equal(gradient, np.concatenate([x[6:], 2 * x[6:] + x[:6]]))
