"""Large arguments that a function overwrites, and the memory of their copies."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mooncake_py import grad, jvp, value_and_grad
from mooncake_py.boundary import overwritten
from mooncake_py.boundary.overwritten import LARGE, is_overwritten
from mooncake_py.compiler.native.spares import Spares
from mooncake_py.tangents.memory import address

SIZE = LARGE // 8


@pytest.fixture
def spares(monkeypatch):
    found = Spares()
    monkeypatch.setattr(overwritten, "_spares", found)
    return found


def kept(spares):
    return [a for arrays in spares.arrays.values() for a, _ in arrays]


def doubled(x, y):
    x *= 2.0
    x += y
    return np.sum(x * x)


def read(x, y):
    return np.sum(x * y)


def argument():
    return np.linspace(0.5, 1.5, SIZE)


@pytest.mark.plain
def test_a_copy_is_made_of_what_was_overwritten_and_used_again(spares):
    x, y = argument(), argument()
    expected = 2.0 * (2.0 * (2.0 * x + y))
    for _ in range(3):
        assert_array_equal(grad(doubled)(x, y), expected)
        assert_array_equal(x, argument())
    assert is_overwritten(doubled, 0)
    assert not is_overwritten(doubled, 1)
    (place,) = map(address, kept(spares))
    grad(doubled)(2.0 * x, y)
    assert [*map(address, kept(spares))] == [place]


def test_what_is_only_read_needs_none(spares):
    for _ in range(3):
        grad(read, (0, 1))(argument(), argument())
        jvp(read, (argument(), argument()), (argument(), argument()))
    assert not is_overwritten(read, 0)
    assert not kept(spares)


def test_arrays_of_several_arguments_and_sizes(spares):
    def both(x, *, y):
        x *= y
        y -= x
        return np.sum(x * y)

    for size in (SIZE, SIZE + 3, SIZE):
        x, y = np.linspace(0.5, 1.5, size), np.linspace(1.0, 2.0, size)
        a, b = x.copy(), y.copy()
        dx, dy = grad(both, (0, "y"))(x, y=y)
        np.testing.assert_allclose(dx, y * y - 2.0 * x * y * y)
        np.testing.assert_allclose(dy, 2.0 * x * y - 2.0 * x * x * y)
        assert_array_equal(x, a)
        assert_array_equal(y, b)


@pytest.mark.plain
def test_along_a_direction(spares):
    x, y = argument(), argument()
    expected = jvp(doubled, (x.copy(), y), (y, None))
    for _ in range(3):
        assert jvp(doubled, (x, y), (y, None)) == expected
        assert_array_equal(x, argument())
    assert len(kept(spares)) == 1


def with_output(x, y):
    x *= y
    return np.sum(x), x


def test_what_comes_out_does_not_change_in_later_calls(spares):
    x, y = argument(), argument()
    found = [value_and_grad(with_output, has_aux=True)(x, y)[0][1] for _ in range(3)]
    value_and_grad(with_output, has_aux=True)(2.0 * x, y)
    for aux in found:
        assert_array_equal(aux, x * y)


def test_what_an_exception_holds_is_not_used_again(spares):
    x, y = argument(), argument()

    def written(x, y):
        x *= y
        if y[0] > 1.0:
            raise ValueError(x)
        return np.sum(x)

    for _ in range(2):
        grad(written)(x, y)
    with pytest.raises(ValueError) as caught:
        grad(written)(x, 3.0 * y)
    held = caught.value.args[0]
    before = held.copy()
    for _ in range(2):
        grad(written)(3.0 * x, y)
    assert_array_equal(held, before)


def test_a_generator_that_stays_keeps_its_array(spares):
    waiting = []

    def parts(x):
        yield x[0]
        yield x[1]

    def first(x, store):
        x *= 2.0
        found = parts(x)
        store.append(found)
        return next(found) * np.sum(x)

    x = argument()
    for _ in range(3):
        g = grad(first)(x, waiting)
        np.testing.assert_allclose(g[1], 4.0 * x[0])
    assert_array_equal(x, argument())
