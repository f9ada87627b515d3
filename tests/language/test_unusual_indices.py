"""Indices that are neither ints nor arrays of ints: other integers, objects, bools in names."""

from __future__ import annotations

import array
import warnings

import numpy as np
import pytest

from mooncake_py import grad, jvp
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([1.0, 2.0, 3.0])
Y = np.array([0.7, -1.3, 1.9, 0.4, -0.6, 2.3])


class Position:
    def __index__(self):
        return 1


def writes_a_row(i):
    def row(x):
        y = np.zeros((2, 3))
        y[i] = x
        return np.sum(y * y)

    return row


def writes_with_a_slice(i):
    def row(x):
        y = np.zeros((2, 3))
        y[i, :] = np.exp(x)
        y[i] *= x
        return np.sum(y * y)

    return row


KINDS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)
INDICES = [kind(1) for kind in KINDS] + [Position(), np.array(1, np.int8)]
for index in INDICES:
    programs(X)(writes_a_row(index))
    programs(X)(writes_with_a_slice(index))


def scales(truth):
    def loop(x):
        y, k = x * 1.0, 0
        while k < 2:
            y[truth] *= 0.5
            k += 1
        return np.sum(y * y)

    return loop


def reads(truth):
    def loop(x):
        s = 0.0
        for j in range(3):
            s = s + np.sum(x[truth]) * x[j]
        return s

    return loop


def writes(truth):
    def loop(x):
        y, k = x * 1.0, 0
        while k < 2:
            y[truth] = x[0] * x[1]
            k += 1
        return np.sum(y * y)

    return loop


def in_a_callee(truth):
    def bump(y, b, c):
        y[b] *= c

    def loop(x):
        y, j = x * 1.0, 0
        while j < 3:
            bump(y, truth, x[j])
            j += 1
        return np.sum(y)

    return loop


for truth in (True, False, np.bool_(True), np.bool_(False)):
    for make in (scales, reads, writes, in_a_callee):
        programs(Y)(make(truth))


@programs(Y)
def flat_iterators(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        y = x * 1.0
        y.flat[True] = 0.0
        y.flat[1:4] = x[0]
        y.flat[[0, 5]] *= 2
        return np.sum(y**2) + np.sum(x.flat[True] ** 2) + np.sum(x.flat[::2] ** 3) + x.flat[-1]


@programs(X)
def a_quotient_without_dimensions(x):
    y = x * 1.5
    y[1, ...] /= x[0] + 1.0
    z = np.array(x[0] * 1.5)
    z /= x[1]
    return np.sum(np.tanh(y)) + np.tanh(z)


class Counting(Position):
    read = 0

    def __float__(self):
        self.read += 1
        return 1.0


class NoPosition:
    def __index__(self):
        raise ValueError

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return [2, 0][i]


COUNTING, NO_POSITION = Counting(), NoPosition()


@programs(X)
def of_objects_with_other_methods(x):
    y = x * 2.0
    y[COUNTING] = x[0] * x[COUNTING]
    return np.sum(y**2) + (y[:, None] * x)[COUNTING, COUNTING] + np.sum(x[NO_POSITION] ** 3)


def test_only_the_position_of_an_object_is_asked_for() -> None:
    grad(of_objects_with_other_methods)(X)
    assert COUNTING.read == 0


@pytest.mark.parametrize("program", programs, ids=str)
def test_index(program: Program) -> None:
    program.check()


@pytest.mark.without_modes("its tangents are nan: it is infinite in between")
def test_a_quotient_by_zero_without_dimensions() -> None:
    def f(x):
        with np.errstate(all="ignore"):
            y = x * 1.5
            y[1, ...] /= x[0] - x[0]
            return np.sum(np.tanh(y))

    assert grad(f)(X).shape == X.shape


# Objects of which NumPy makes an index: classes that run ufuncs are not asked by the adjoint.


class Lazy:
    """Holds an index as NumPy converts it, and runs ufuncs itself."""

    def __init__(self, index):
        self.index = index

    def __array__(self, dtype=None, copy=None):
        return np.array(self.index, dtype=dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return "a node of a graph"


class Refusing(Lazy):
    __array_ufunc__ = None


class Failing(Lazy):
    """Has a method that NumPy tries first, which says no."""

    def __index__(self):
        raise ValueError("several ints")


class Asked(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return "a node of a graph"


def reads_and_writes(i):
    def both(x):
        y = x * 1.0
        y[i] = y[i] * x[i] ** 2
        return np.sum(y[i] * x[i]) + np.sum(np.sin(y))

    return both


MADE = [kind(i) for kind in (Lazy, Refusing, Failing) for i in ([2, 0, 1], [True, False, True], 1)]
MADE += [Lazy([]), np.array([2, 0]).view(Asked), (Lazy([0, 2]),), array.array("i", [2, 0])]


@pytest.mark.parametrize("index", MADE, ids=lambda index: type(index).__name__)
def test_objects_of_which_numpy_makes_an_index(index):
    Program(reads_and_writes(index), (X,), {}).check()
    dx = np.array([0.3, -0.2, 0.5])
    expected = np.vdot(grad(reads_and_writes(index))(X), dx)
    np.testing.assert_allclose(jvp(reads_and_writes(index), (X,), (dx,))[1], expected, rtol=1e-12)


def test_a_repeated_element_is_counted_each_time():
    np.testing.assert_array_equal(grad(lambda x: np.sum(x[Lazy([0, 0, 2])]))(X), [2.0, 0.0, 1.0])


def test_an_index_that_changes_later_counts_as_it_was_read():
    def f(x):
        i = np.array([0, 2]).view(Asked)
        y = x[i]
        i[0] = 1
        return np.sum(y * y)

    np.testing.assert_array_equal(grad(f)(X), [2.0, 0.0, 6.0])


@pytest.mark.parametrize("index", [Lazy([0.5]), Lazy("a"), Lazy([7])])
def test_what_is_no_index_raises_what_numpy_raises(index):
    with pytest.raises(IndexError) as plain:
        X[index]
    with pytest.raises(IndexError) as found:
        grad(lambda x: np.sum(x[index]))(X)
    assert str(found.value) == str(plain.value)
