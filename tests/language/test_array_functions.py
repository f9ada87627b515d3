"""Which classes NumPy asks by ``__array_function__``: those of relevant arguments, and of `like`.

NumPy's code for a function passes operands on to other functions, which ask again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import MooncakeError, grad, jvp, value_and_grad
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.7, 1.3, 1.9])


class Twice(np.ndarray):
    """Doubles the arrays that a function returns, once for each function that asks."""

    def __array_function__(self, f: Any, types: Any, args: Any, kwargs: Any) -> Any:
        y = super().__array_function__(f, types, args, kwargs)
        return y * 2.0 if isinstance(y, np.ndarray) else y


class Answering:
    """Is no array, and answers itself."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(2.0, dtype=dtype)

    def __array_function__(self, f: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return np.full(2, 50.0)


class Declining(Answering):
    def __array_function__(self, f: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return NotImplemented


class Plain(np.ndarray):
    """Asks for nothing."""


ONES, TWO = np.ones(3).view(Twice), np.array(2.0).view(Twice)
ANSWERING = Answering()


def total(y: Any) -> Any:
    return np.asarray(y).sum()


@programs(X)
def joined(x):
    joins = np.stack, np.vstack, np.hstack, np.dstack, np.column_stack, np.concatenate
    return sum([k * total(join([x, ONES])) for k, join in enumerate(joins, 1)])


@programs(X)
def joined_into(x):
    return total(np.stack([x, x], out=np.zeros((2, 3)).view(Twice)))


@programs(X)
def appended(x):
    return total(np.append(x, ONES)) + 3.0 * total(np.diff(x, prepend=ONES))


@programs(X)
def sets(x):
    return total(np.union1d(x, ONES)) + total(np.setdiff1d(x, ONES))


@programs(X)
def products(x):
    square = np.outer(x, x)
    return (
        total(np.kron(x, ONES))
        + total(np.tensordot(x, ONES, 1))
        + total(np.linalg.multi_dot([square, square, ONES]))
        + total(np.linalg.outer(x, ONES))
        + total(np.linalg.matrix_power(square.view(Twice), 2))
    )


@programs(X)
def integrals(x):
    return total(np.trapezoid(x, np.cumsum(ONES))) + total(np.trapezoid(ONES, x**2))


@programs(X)
def statistics(x):
    y = x * ONES
    return (
        total(np.median(y))
        + total(np.nansum(y))
        + total(np.cov(x**2, y))
        + np.average(x, weights=ONES)
    )


@programs(X)
def moved(x):
    y = x * ONES
    return total(np.tile(y, 2)) + total(np.roll(y, 1)) + total(np.flip(y) * x) + total(np.pad(y, 1))


@programs(X)
def filled_by_a_class(x):
    return total(np.full_like(x, TWO)) * x[0] + total(np.nan_to_num(x, nan=TWO))


@programs(X)
def filled_by_an_object(x):
    return x[0] * np.nan_to_num(x, nan=ANSWERING).sum()


@programs(X)
def answered(x):
    y = np.append(x, ANSWERING), np.stack([x, ANSWERING]), np.diff(x, append=ANSWERING)
    return x[0] * sum([total(part) for part in y])


@programs(X)
def like_a_class(x):
    return (
        total(np.array(x, like=ONES))
        + total(np.asarray([x[0], 2.0], like=ONES))
        + total(np.full(3, x[0], like=ONES) * x)
        + total(np.fromiter([x[1]], float, like=ONES))
    )


@programs(X)
def like_an_object(x):
    return x[0] * (
        total(np.full(3, x[0], like=ANSWERING)) + total(np.array([x[1]], like=ANSWERING))
    )


def like_what_says_nothing(x):
    plain = np.ones(2).view(Plain)
    y = np.full(3, x[0], like=plain), np.array(x, like=plain), np.full(3, x[1], like=x)
    assert all(type(part) is np.ndarray for part in y)
    return (
        total(y[0] * y[1])
        + total(y[2] ** 2)
        + total(np.zeros(3, like=x))
        + total(np.array(x, like=x))
    )


@pytest.mark.parametrize("program", programs, ids=str)
def test_classes_that_numpy_asks(program: Program) -> None:
    program.check()
    dx = np.array([0.3, 0.4, -0.7])
    expected = np.vdot(grad(program.f)(X), dx)
    np.testing.assert_allclose(jvp(program.f, (X,), (dx,))[1], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.plain  # debug mode refuses arrays of classes of the program
def test_a_template_that_says_nothing() -> None:
    Program(like_what_says_nothing, (X,), {}).check()


@pytest.mark.plain  # debug mode says that the plain call raises
@pytest.mark.parametrize("like", [1, [1.0], Declining()], ids=["number", "list", "declining"])
@pytest.mark.parametrize("make", [np.array, np.asarray, lambda v, like: np.full(3, v, like=like)])
def test_what_cannot_be_a_template(make: Any, like: Any) -> None:
    def f(x):
        return make(x[0], like=like).sum()

    with pytest.raises(TypeError) as plain:
        f(X)
    with pytest.raises(TypeError) as found:
        grad(f)(X)
    assert str(found.value) == str(plain.value)


# Iterators over the elements of an array.


@pytest.mark.parametrize("join", [np.stack, np.vstack, np.hstack, np.dstack, np.column_stack])
def test_joining_an_iterator_raises_what_numpy_raises(join: Any) -> None:
    with pytest.raises(ValueError, match="need at least one array") as plain:
        join(X.flat)
    with pytest.raises(ValueError, match="need at least one array") as found:
        grad(lambda x: join(x.flat).sum())(X)
    assert str(found.value) == str(plain.value)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="no argument copy")
@pytest.mark.parametrize("make", [np.asarray, np.asanyarray, np.array])
def test_a_copy_of_an_iterator_is_a_view_where_it_is_one_in_numpy(make: Any) -> None:
    def f(x):
        y = make(x.flat, copy=True)
        y *= 2.0
        return x.sum() + y[0]

    value, dx = value_and_grad(f)(X)
    assert value == f(X.copy())
    shares = f(X.copy()) > X.sum() + 2.0 * X[0]
    np.testing.assert_array_equal(dx, [4.0, 2.0, 2.0] if shares else [3.0, 1.0, 1.0])


# Outputs.


def test_an_output_without_axes_is_returned_as_numpy_does() -> None:
    def f(x):
        y = np.dot(x, x, out=np.zeros(()).view(Plain))
        z = np.dot(x, x, out=np.ma.array(0.0, mask=True))
        assert type(y) is type(z) is np.float64
        return y * z

    np.testing.assert_allclose(grad(f)(X), 4.0 * np.dot(X, X) * X, rtol=1e-14)


def test_an_output_whose_class_is_asked_by_compiled_code_is_refused() -> None:
    class Plainly(np.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, out, **kw):
            return getattr(ufunc, method)(*inputs, out=np.asarray(out[0]), **kw)

    with pytest.raises(MooncakeError, match="Plainly"):
        grad(lambda x: np.round(x, 1, out=np.zeros(3).view(Plainly)).sum() * x[0])(X)
