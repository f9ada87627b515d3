"""What the cases of the family `ufunc_methods` do not show."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import MissingRuleError, grad, jvp, value_and_grad, vjp
from tests.support.gradients import Program
from tests.support.pairs import rotating

SINCE_2_5 = np.lib.NumpyVersion(np.__version__) >= "2.5.0"
RAISED = ValueError if SINCE_2_5 else MissingRuleError


@pytest.mark.parametrize("ufunc", [np.add, np.subtract, np.multiply])
def test_what_numpy_writes_by_mistake_is_refused(ufunc):
    def f(x):
        y = np.diagonal(np.outer(x, x))
        ufunc.at(y, [0, 0], 0.5)
        return y[0]

    for derivative in (lambda: grad(f)(np.ones(3)), lambda: jvp(f, (np.ones(3),), (np.ones(3),))):
        with pytest.raises(RAISED, match="read-only"):
            derivative()


def test_slices_of_read_only_arrays_raise_as_in_numpy():
    def f(x):
        y = np.diagonal(np.outer(x, x))
        np.add.at(y, slice(0, 2), 0.5)  # type: ignore[arg-type]
        return y[0]

    with pytest.raises(ValueError, match="read-only"):
        grad(f)(np.ones(3))


@pytest.mark.parametrize(
    "run",
    [
        lambda: np.divide.reduce(np.array([8])),
        lambda: np.hypot.accumulate([3]),
        lambda: np.divide.reduceat(np.array([8, 2, 2]), [0, 1, 2]),
        lambda: np.divide.reduceat(np.array([True, True]), [0]),
        lambda: np.divide.accumulate(np.array([1.0, 2.0]), axis=None),
        lambda: np.hypot.reduce(np.array([3.0, 4.0]), out=...),
        lambda: np.hypot.accumulate(np.array([3.0, 4.0]), out={}),
    ],
)
def test_constants_beside_active_data_are_those_of_numpy(run):
    def f(x):
        y = run()
        return [x * 1.0, y, type(y).__name__, y.dtype.str]

    def outcome(call):
        try:
            return repr(call())
        except TypeError as error:
            return str(error)

    expected = outcome(lambda: f(np.ones(2)))
    assert outcome(lambda: vjp(f, np.ones(2))[0]) == expected
    assert outcome(lambda: jvp(f, (np.ones(2),), (np.ones(2),))[0]) == expected


UFUNCS = [np.subtract, np.divide, np.logaddexp, np.hypot, np.multiply, np.maximum, np.add]
X = np.array([0.7, 1.2, 0.4])
INTO = {
    "reduce": lambda f, x: f.reduce(x, out=...),
    "reduce-no-axis": lambda f, x: f.reduce(np.array(x[0]), axis=(), out=...),
    "accumulate": lambda f, x: f.accumulate(x, out=...),
    "reduceat": lambda f, x: f.reduceat(x, [0, 2], out=...),
    "longer": lambda f, x: f.reduceat(x, [1], out=np.ones(2)),
    "more-axes": lambda f, x: f.reduceat(x, [1], out=np.ones((2, 1))),
    "repeated": lambda f, x: f.reduceat(x[None], [1], axis=1, out=np.ones((2, 1))),
    "rows": lambda f, x: f.accumulate(x[None], axis=1, out=np.ones((2, 3))),
}


@pytest.mark.parametrize(("into", "ufunc"), rotating(INTO.values(), UFUNCS, times=2))
def test_outputs_that_are_asked_for_or_larger(ufunc, into):
    def f(x):
        y = into(ufunc, x)
        assert isinstance(y, np.ndarray)
        return np.sum(y * np.exp(x[0]))

    try:
        value = f(X)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            grad(f)(X)
        return
    slopes = [(f(X + e) - f(X - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(grad(f)(X), slopes, rtol=1e-7, atol=1e-7)
    y, dy = jvp(f, (X,), (X,))
    np.testing.assert_allclose([y, dy], [value, np.dot(slopes, X)], rtol=1e-7)


def test_outputs_of_a_wrong_length_raise_as_in_numpy():
    with pytest.raises(ValueError, match="wrong size"):
        grad(lambda x: np.subtract.accumulate(x, out=np.zeros(5))[0])(X)


def test_at_of_a_number_raises_what_numpy_raises() -> None:
    def f(x):
        np.power.at(x[0], [0], 2.0)
        return x.sum()

    with pytest.raises(TypeError, match="first operand must be array"):
        grad(f)(np.array([0.7, 1.3]))


def test_at_no_places_raises_where_the_ufunc_takes_no_such_numbers() -> None:
    def f(x):
        z = x * 1j
        np.logaddexp.at(z, [], 1.0)
        return z.imag.sum()

    with pytest.raises(TypeError, match="'logaddexp' not supported for the input types"):
        grad(f)(np.array([0.7, 1.3]))


@pytest.mark.skipif(SINCE_2_5, reason="NumPy takes no output of more axes")
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.add.accumulate(x, out=np.zeros((2, 3, 2))).sum(),
        lambda x: np.add.accumulate(x, axis=1, out=np.zeros((2, 3, 2))).sum(),
        lambda x: np.cumsum(x, axis=0, out=np.zeros((2, 3, 2)))[1, 2].sum(),
        lambda x: np.multiply.accumulate(x, out=np.zeros((2, 3, 2))).sum(),
        lambda x: np.logaddexp.accumulate(x, out=np.zeros((2, 3, 2))).sum(),
        lambda x: np.maximum.reduceat(x, [0], out=np.zeros((1, 3, 2))).sum(),
    ],
)
def test_into_an_output_of_more_axes(f) -> None:
    x = np.array([[0.7, 1.3, 1.9], [0.4, 0.9, 2.1]])
    Program(f, (x,), {}).check()


@pytest.mark.without_modes("some values are of float32")
@pytest.mark.parametrize("number", [np.float32(0.7), np.float64(0.7)])
def test_an_output_of_objects_has_numpy_compute_with_objects(number) -> None:
    def f(x):
        out = np.full((), 0.25, object)
        np.power.reduce(x, initial=number, out=out)
        return out[()]

    x = np.array([0.7, 1.3, 1.9])
    value, dx = value_and_grad(f)(x)
    assert type(value) is type(f(x))
    assert value == f(x)
    slope = np.log(0.7) * value * np.prod(x) / x
    np.testing.assert_allclose(dx, slope, rtol=1e-6)
