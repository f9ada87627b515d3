"""Errors that programs catch: before a write, in the middle of one, and refusals to go on."""
# The unusual style of the programs is the point of them.
# ruff: noqa: SIM105

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import DerivativeDropError, checkpoint, grad, hvp, jacobian, jvp
from tests.support.gradients import Programs
from tests.support.pairs import rotating

ZERO = np.array([4.0, 0.0])
HUGE = np.array([1.0, 1e307])
POINT = np.array([1.3, 0.7])


# Errors before which nothing was written.

programs = Programs()


@programs(POINT)
def failed_factorization(x):
    a = np.outer(x, x) - np.eye(2)
    for jitter in (0.0, 0.5, 4.0):
        try:
            factor = np.linalg.cholesky(a + jitter * np.eye(2))
            break
        except np.linalg.LinAlgError:
            x = x * 1.5
    return np.trace(factor) * x[0]


@programs(POINT)
def singular_system(x):
    y = x * 2
    try:
        y[:] = np.linalg.solve(np.zeros((2, 2)), x)
    except np.linalg.LinAlgError:
        y *= x
    return (y * x).sum()


@programs(POINT)
def index_out_of_bounds(x):
    y = x * 2
    for write in ((5, x[0]), ([0, 9], x), ((0, 0), x[1])):
        try:
            y[write[0]] = write[1]
        except IndexError:
            y *= x
    return y.sum()


@programs(POINT)
def first_index_out_of_bounds(x):
    y = x * 2
    for write in (np.put, np.ndarray.put):
        try:
            write(y, [9, 0], x)
        except IndexError:
            y *= x
    try:
        y.flat[[9, 0]] = x
    except IndexError:
        y *= x
    try:
        np.multiply.at(y, [0, 9], x)
    except IndexError:
        y *= x
    return y.sum()


@programs(POINT)
def other_shape(x):
    y = x * 2
    try:
        y += np.ones(3) * x[0]
    except ValueError:
        y *= x
    try:
        np.matmul(np.outer(x, x), np.ones(3), out=y)
    except ValueError:
        y *= x
    try:
        y[:] = [x[0], x[1], 3.0]
    except ValueError:
        y *= x
    return y.sum()


@programs(POINT)
def division_of_floats(x):
    y = x * 2
    try:
        y[0] = y[1] / 0 if y[0] < 0 else 1.0 / (1 - 1)
    except ZeroDivisionError:
        y[0] = x[1]
    return (y * x).sum()


@programs(POINT)
def value_that_raises(x):
    y = x * 2
    with np.errstate(all="raise"):
        try:
            y[:] = x / ZERO
        except FloatingPointError:
            y *= x
        try:
            y[1] /= ZERO[1]
        except FloatingPointError:
            y *= x
        try:
            y[[0, 1]] /= ZERO
        except FloatingPointError:
            y *= x
    return y.sum()


@programs(POINT)
def numbers_are_converted_first(x):
    y = (x * x).astype(np.float32)
    with np.errstate(all="raise"):
        for write in (
            lambda: y.fill(1e300),
            lambda: np.put(y, [0, 1], x * HUGE),
            lambda: np.place(y, y > 0, [1e300, 3.0]),
            lambda: y.__setitem__(0, 1e300),
            lambda: y.flat.__setitem__(slice(None), x * HUGE),
        ):
            with suppress(FloatingPointError):
                write()
    return (x * y.astype(float)).sum() if y.max() > 9 else (x * x * x).sum()


@programs(POINT)
def unsafe_values(x):
    y = np.ones(2, np.float32)
    for write in (np.place, np.putmask):
        try:
            write(y, y > 0, x)
        except TypeError:
            x = x * 2
    return (x * y).sum()


# Lists that are partly changed.


@programs(POINT)
def sorted_in_part(x):
    items = [x[0], -x[1], x[1], -5.0, "a", 2.0]
    try:
        items.sort()
    except TypeError:
        pass
    return items[0] * items[1] + items[2]


@programs(POINT)
def sorted_in_part_by_key(x):
    items = [x[0], -x[1], x[1], -5.0, 2.0, 7.0]
    try:
        items.sort(key=lambda v: "a" if v == 2 else v, reverse=True)
    except TypeError:
        pass
    return items[0] * items[1] + items[2]


@programs(POINT)
def sorted_by_methods(x):
    class Item:
        def __init__(self, value):
            self.value = value

        def __lt__(self, other):
            if self.value == 7:
                raise ValueError
            return self.value < other.value

    items = [Item(v) for v in (x[0], x[1], -x[1], 7, 3.0)]
    try:
        items.sort()
    except ValueError:
        pass
    return items[0].value * x[0] + items[1].value


@programs(POINT)
def key_that_raises(x):
    def key(v):
        if v == -5:
            raise ValueError
        return v

    items = [x[0], -x[1], x[1], -5.0]
    try:
        items.sort(key=key)
    except ValueError:
        pass
    return items[0] * items[1]


@programs(POINT)
def extended_in_part(x):
    def numbers():
        yield x[1]
        raise ValueError

    items = [x[0]]
    try:
        items.extend(numbers())
    except ValueError:
        pass
    try:
        items += numbers()
    except ValueError:
        pass
    found = {}
    try:
        found.update(("last", v) for v in numbers())
    except ValueError:
        pass
    return items[1] * items[2] * found["last"]


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient_after_an_error_that_was_caught(program):
    program.check()


# Refused: what was written has a derivative that is not recorded.


class Bad:
    def __float__(self):
        raise ValueError("bad")


def sums_into(y, x):
    np.sum(np.full((2, 2), 1e308) * x, axis=0, out=y)


def averages_into(y, x):
    np.mean(np.full((2, 2), 1e308) * x, axis=0, out=y)


def multiplies_matrices_into(y, x):
    np.matmul(np.full((2, 2), 1e308), x * 10, out=y)


def reduces_into(y, x):
    np.divide.reduce(np.array([x, [2.0, 0.0]]), axis=0, out=y)


def divides_two_into(y, x):
    np.divmod(x, ZERO, out=(y, np.empty(2)))


def steps_into(y, x):
    np.floor_divide(x, ZERO, out=y)


def divides_at(y, x):
    np.divide.at(y, [0, 1], ZERO)


def overlaps_itself(y, x):
    w = np.array([x[0], 0.0 * x[1], 2.0])
    y[:] = w[:2]
    w[1:] /= w[:-1]


def puts_some(y, x):
    np.put(y, [0, 9], x[1])


def writes_flat(y, x):
    y.flat[[0, 9]] = x[1]


def writes_a_sequence(y, x):
    y[:] = [7.0, "a"]


def writes_objects(y, x):
    y[:] = np.array([7.0, Bad()], dtype=object)


def divides_name(y, x):
    y /= ZERO


IN_PART = [
    sums_into, averages_into, multiplies_matrices_into, reduces_into, divides_two_into,
    steps_into, divides_at, overlaps_itself, puts_some, writes_flat, writes_a_sequence,
    writes_objects,
]  # fmt: skip
REFUSING = {
    "grad": lambda f, x: grad(f)(x),
    "jvp": lambda f, x: jvp(f, (x,), (np.ones(2),)),
    "several": lambda f, x: jacobian(lambda x: f(x)[None], mode="forward")(x),
    "hvp": lambda f, x: hvp(f, (x,), np.ones(2)),
    "checkpoint": lambda f, x: grad(lambda x: checkpoint(f, x))(x),
}


@pytest.mark.parametrize(("write", "way"), rotating(IN_PART, REFUSING, times=2))
@pytest.mark.plain
def test_going_on_is_refused(write, way):
    def f(x):
        y = 2.0 * x
        with np.errstate(all="raise"):
            try:
                write(y, x)
            except (FloatingPointError, IndexError, ValueError):
                pass
        return (y * x).sum()

    if write is steps_into and way not in ("grad", "checkpoint"):
        pytest.skip("the derivative is zero in forward mode, which knows it")
    with pytest.raises(DerivativeDropError, match="was caught, which was raised when memory had"):
        REFUSING[way](f, POINT.copy())


def test_a_sequence_with_an_active_number_that_is_written_in_part():
    def f(x):
        y = 2.0 * x
        try:
            y[:] = [x[1], "a"]
        except ValueError:
            pass
        return (y * x).sum()

    with pytest.raises(DerivativeDropError, match="ValueError was caught"):
        grad(f)(POINT)


@pytest.mark.parametrize("write", [divides_name, *IN_PART[:9]], ids=lambda f: f.__name__)
def test_what_nobody_catches_passes_as_it_is(write):
    def f(x):
        y = 2.0 * x
        with np.errstate(all="raise"):
            write(y, x)
        return y.sum()

    x = POINT.copy()
    with pytest.raises((FloatingPointError, IndexError, ValueError)) as raised:
        grad(f)(x)
    assert type(raised.value) in (FloatingPointError, IndexError, ValueError)
    assert any("mooncake_py: " in note for note in raised.value.__notes__)
    assert_allclose(x, POINT)


def test_what_is_raised_for_it_passes_as_it_is():
    class Diverged(Exception):
        pass

    def f(x):
        try:
            with np.errstate(all="raise"):
                sums_into(x, x)
        except FloatingPointError as error:
            raise Diverged from error
        return x.sum()

    with pytest.raises(Diverged):
        grad(f)(POINT)


def test_an_interrupt_within_a_write():
    def f(x):
        y = 2.0 * x
        try:
            y[:] = [1.0, interrupt]
        except KeyboardInterrupt:
            pass
        return (y * x).sum()

    class Interrupt:
        def __float__(self):
            raise KeyboardInterrupt

    interrupt = Interrupt()
    with pytest.raises(DerivativeDropError, match="KeyboardInterrupt was caught"):
        grad(f)(POINT)
