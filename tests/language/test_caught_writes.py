"""Writes that raise when they have written all, and programs that catch the error and go on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import checkpoint, grad, hvp, jacobian, jvp, value_and_grad
from tests.support.gradients import check
from tests.support.pairs import pairwise, rotating

ZERO = np.array([4.0, 0.0])
HUGE = np.array([1.0, 1e307])
POINT = np.array([1.3, 0.7])
LATE = FloatingPointError, RuntimeWarning


# Errors after which everything is written.


@contextmanager
def warnings_as_errors() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@contextmanager
def by_seterr() -> Iterator[None]:
    old = np.seterr(all="raise", under="ignore")
    try:
        yield
    finally:
        np.seterr(**old)


@contextmanager
def by_exit_stack() -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(np.errstate(all="raise", under="ignore"))
        yield


SETTINGS = {
    "errstate": lambda: np.errstate(all="raise", under="ignore"),
    "seterr": by_seterr,
    "stack": by_exit_stack,
    "warnings": warnings_as_errors,
}


def divides_name(y, x):
    y /= ZERO


def divides_slice(y, x):
    y[:] /= ZERO


def divides_view(y, x):
    w = y[::-1]
    w /= ZERO[::-1]


def divides_list_item(y, x):
    items = [y]
    items[0] /= ZERO


def divides_rows(y, x):
    for row in y.reshape(2, 1):
        row *= x[0]
        row /= ZERO[1] if row is y[1:] else 2.0
    y /= ZERO


def divides_in_turn(y, x):
    for _ in range(3):
        y *= x
        y /= ZERO
        y += x


def adds(y, x):
    y += np.array([0.0, 1e308])
    y += x * np.array([1.0, 1.7e308])


def subtracts(y, x):
    y -= np.array([0.0, 1e308])
    y -= x * np.array([1.0, 1.7e308])


def multiplies_by_number(y, x):
    y *= HUGE
    y *= x[0] * 50


def divides_by_number(y, x):
    y *= HUGE
    y /= x[0] * 0.02


def raises_to_power(y, x):
    y *= HUGE
    y **= 2


def takes_root(y, x):
    y *= np.array([1.0, -1.0])
    y **= 0.5


def takes_rest(y, x):
    y %= np.array([0.7, 0.0])


def divides_into(y, x):
    np.divide(x, ZERO, out=y)


def divides_into_some(y, x):
    np.divide(x, ZERO, out=y, where=ZERO < 1)


def takes_logarithm_into(y, x):
    np.log(x * np.array([1.0, 0.0]), out=y)


def makes_constants_active(y, x):
    w = np.ones(2)
    y[:] = 0.0
    try:
        w /= x * np.array([1.0, 0.0])
    finally:
        y[0] = w[0]


def by_operator(y, x):
    y.__itruediv__(ZERO)


def catches_and_raises(y, x):
    try:
        y /= ZERO
    except LATE:
        y *= 2
        raise


def shape_first(y, x):
    try:
        y /= np.ones(3)
    except ValueError:
        y *= x
    y /= ZERO


IN_FULL = [
    divides_name, divides_slice, divides_view, divides_list_item, divides_rows, divides_in_turn,
    adds, subtracts, multiplies_by_number, divides_by_number, raises_to_power, takes_root,
    takes_rest, divides_into, divides_into_some, takes_logarithm_into, makes_constants_active,
    by_operator, catches_and_raises, shape_first,
]  # fmt: skip


def caught(write: Any, setting: Any) -> Any:
    """Return a function that goes on with what was written."""

    def f(x):
        y = 2.0 * x
        with setting():
            try:
                write(y, x)
            except LATE:
                y[1] = x[1]
        y *= x
        return (y * y).sum()

    return f


WAYS = {
    "checkpoint": lambda f, x: grad(lambda x: checkpoint(f, x))(x),
    "debug": lambda f, x: grad(f, debug=True)(x),
    "jvp": lambda f, x: np.array([jvp(f, (x,), (d,))[1] for d in np.eye(2)]),
    "several": lambda f, x: jacobian(lambda x: f(x)[None], mode="forward")(x)[0],
    "inside": lambda f, x: np.array([
        jvp(lambda x: value_and_grad(f)(x)[0], (x,), (d,))[1] for d in np.eye(2)
    ]),
}  # fmt: skip


@pytest.mark.without_modes("the setting is that of the test")
@pytest.mark.parametrize(("write", "setting"), rotating(IN_FULL, SETTINGS, times=2))
def test_what_was_written_in_full_has_its_derivative(write, setting):
    check(caught(write, SETTINGS[setting]), POINT.copy())


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("write", "setting", "way"), pairwise(IN_FULL, ["errstate", "warnings"], WAYS)
)
@pytest.mark.plain
def test_what_was_written_in_full_has_its_derivative_in_every_way(write, setting, way):
    f = caught(write, SETTINGS[setting])
    assert_allclose(WAYS[way](f, POINT.copy()), grad(f)(POINT.copy()), rtol=1e-12)


def test_second_derivatives_of_what_was_written():
    f = caught(divides_name, SETTINGS["errstate"])
    # (2 x0 / 4 * x0)**2 + x1**4
    expected = [3 * POINT[0] ** 2, 12 * POINT[1] ** 2]
    assert_allclose(hvp(f, (POINT,), np.ones(2)), expected, rtol=1e-12)


def test_an_error_of_a_callback_of_numpy():
    class OverflowNoted(Exception):
        pass

    def note(kind, flag):
        raise OverflowNoted

    def f(x):
        y = 2.0 * x
        with np.errstate(all="call"):
            try:
                y /= ZERO
            except OverflowNoted:
                y[1] = x[1]
        return (y * x).sum()

    before = np.seterrcall(note)
    try:
        assert_allclose(grad(f)(POINT), [POINT[0], 2 * POINT[1]], rtol=1e-14)
        found = grad(lambda x: checkpoint(f, x))(POINT)
    finally:
        np.seterrcall(before)
    assert_allclose(found, [POINT[0], 2 * POINT[1]], rtol=1e-14)


def masks_of_slices(y, x):
    y[y > 0] /= ZERO
    y *= x


def adds_by_mask(y, x):
    y[y > 0] += np.array([1.0, 1.7e308])
    y[y > 0] += x * np.array([1.0, 1.7e308])


@pytest.mark.parametrize(
    ("way", "write", "setting"),
    pairwise(WAYS, [masks_of_slices, adds_by_mask], ["errstate", "warnings"]),
)
@pytest.mark.plain
def test_what_a_mask_picks_is_not_written(way, write, setting):
    f = caught(write, SETTINGS[setting])
    check(f, POINT.copy())
    assert_allclose(WAYS[way](f, POINT.copy()), grad(f)(POINT.copy()), rtol=1e-12)


@pytest.mark.parametrize("setting", ["errstate", "warnings"])
def test_numbers_too_large_for_small_floats(setting):
    def f(x):
        y = (x * x).astype(np.float32)
        for write in (y.__imul__, y.__iadd__, y.__ipow__):
            with SETTINGS[setting]():
                try:
                    write(1e300)
                except LATE:
                    y *= 2.0
        return float(y[0]) * x[0]

    assert_allclose(grad(f)(POINT), [24 * POINT[0] ** 2, 0.0], rtol=1e-6)
    assert_allclose(jvp(f, (POINT,), (np.ones(2),))[1], 24 * POINT[0] ** 2, rtol=1e-6)


def test_casts_to_smaller_floats():
    def f(x):
        y = np.ones(2, np.float32)
        with np.errstate(all="raise"):
            try:
                y[:] = x * HUGE
            except FloatingPointError:
                y[1] = 0.0
        return float(y[0]) * x[0]

    assert_allclose(grad(f)(POINT), [2 * POINT[0], 0.0], rtol=1e-6)
