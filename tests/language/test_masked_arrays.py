"""Masked arrays and matrices: differentiated by the Python source that NumPy has for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy import ma
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import MooncakeError, grad, hessian, jvp, value_and_grad
from tests.support.gradients import Program, Programs

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")

programs = Programs()
X = np.array([0.5, 1.2, 0.31, 2.7])
M = ma.masked_array([1.0, 2.0, 4.0, 3.0], [0, 1, 0, 0])


def of(x):
    return ma.masked_array(x, [0, 1, 0, 0])


@programs(X)
def masked_sum(x):
    return ma.masked_array(x, x > 1).sum()


@programs(X)
def masked_where(x):
    return ma.masked_where(x > 1, x).sum()


@programs(X)
def domain_of_a_function(x):
    return ma.sqrt(x).sum()


@programs(X)
def median(x):
    return ma.median(x)


@programs(X)
def constant_beside_active_data(x):
    return (x * M).sum()


@programs(X)
def operators_and_functions(x):
    m = of(x)
    return (m * m + np.sin(m)).mean()


@programs(X)
def filled(x):
    m = ma.masked_greater(x, 1.0)
    return np.sum(m.filled(0.0) ** 2) + m.count()


@programs(X)
def written(x):
    m = of(x)
    m[0] = m[2] * 3
    m[1] = 5.0
    return m.sum() + m.compressed()[1]


@programs(X)
def invalid_values(x):
    m = ma.masked_invalid(x * np.array([1, np.nan, 1, 1]))
    return m.sum()


@programs(X)
def in_place(x):
    m = of(x)
    m += 1
    m *= M
    return m.sum()


@programs(X)
def statistics(x):
    m = of(x)
    return m.var() + m.std() + m.max() + m.min()


@programs(X)
def along_axes(x):
    m = ma.masked_array(x.reshape(2, 2), [[0, 1], [0, 0]])
    return m.sum(axis=0)[1] + m.T[0, 1] + m.mean(axis=1)[0]


@programs(X)
def products_and_averages(x):
    m = ma.array(x, mask=[0, 1, 0, 0])
    return ma.dot(m, m) + ma.average(m, weights=[1, 2, 3, 4.0])


@programs(X)
def logarithm_outside_of_its_domain(x):
    m = ma.log(x - 0.4)
    return m.sum()


@programs(X)
def division(x):
    m = of(x)
    return (m / (x - 0.25)).sum()


@programs(X)
def joined(x):
    m = ma.concatenate([of(x), M])
    return (m**2).sum()


@programs(X)
def chosen(x):
    m = of(x)
    return ma.where(m > 0.4, m, 0.0).sum()


@programs(X)
def cumulated(x):
    return of(x).cumsum()[3] + ma.exp(ma.masked_less(x, 1.0)).sum()


@programs(X)
def functions_of_numpy(x):
    return np.mean(of(x)) + np.max(ma.masked_array(x, [0, 0, 0, 1]))


@programs(X)
def mask_that_is_changed(x):
    m = of(x)
    m.mask[0] = True
    return m.sum()


@programs(X)
def masked_afterwards(x):
    m = of(x)
    m[2] = ma.masked
    return m.sum() + (m.anom() ** 2).sum()


@programs(X)
def loop(x):
    t = 0.0
    for v in of(x):
        if v is not ma.masked:
            t = t + v * v
    return float(t)


@programs(X)
def data_and_copies(x):
    m = of(x)
    return m.data.sum() + m.copy().sum() + ma.max(m) - ma.ptp(m)


@programs(X)
def reflected_operators(x):
    m = of(x)
    return (2.0 - m).sum() + (1 / m).sum() + abs(-m).sum() + (m**0.5).sum()


@programs(X)
def products_of_matrices(x):
    m = np.matrix([[x[0], x[1]], [x[2], x[3]]])
    return (m * m.T).sum() + m.A1[2] * np.trace(m.I)


@programs(X)
def equations_of_matrices(x):
    m = np.asmatrix(x.reshape(2, 2))
    y = m.I * np.matrix([[1.0], [2.0]])
    z = float((y.T * y)[0, 0]) + m[0].sum() + m.mean(axis=0)[0, 1]
    return z + (m**2)[1, 1] + np.linalg.det(m) + np.bmat([[m, m]]).sum()


@programs(X)
def matrices_written_in_place(x):
    m = np.asmatrix(x.reshape(2, 2) * 1.0)
    m[0, 1] = m[1, 0] * 2
    m *= 2.0
    v = m[:, 0]
    assert v.shape == (2, 1)
    return (v.H * v).item()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("program", programs, ids=str)
def test_forward_mode(program: Program) -> None:
    d = np.linspace(0.3, 1.1, 4)
    slope = jvp(program.f, (X,), (d,))[1]
    assert_allclose(np.asarray(slope), d @ grad(program.f)(X), rtol=1e-12)


def test_arguments():
    m = ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0])
    assert_array_equal(grad(lambda m: (m * m).sum())(m), [2.0, 0.0, 6.0])
    assert_allclose(hessian(lambda m: (m**3).sum())(m), np.diag([6.0, 0.0, 18.0]))
    g = grad(lambda m: (m * m.T)[0, 0])(np.matrix([[1.0, 2.0], [3.0, 4.0]]))
    assert type(g) is np.ndarray
    assert_array_equal(g, [[2.0, 4.0], [0.0, 0.0]])


def test_masks_and_data_are_put_back():
    m = ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0])

    def f(x):
        m[0] = ma.masked
        m[2] = x[0]
        return (m * x).sum()

    assert_array_equal(grad(f)(X[:3]), [X[2], 0.0, X[0]])
    assert_array_equal(m.data, [1.0, 2.0, 3.0])
    assert_array_equal(m.mask, [False, True, False])


@pytest.mark.parametrize("make", [np.ones_like, np.zeros_like, np.empty_like])
def test_arrays_like_masked_ones_keep_the_mask(make):
    f = lambda x: np.sum(np.nan_to_num(make(np.ma.array(x, mask=[0, 1]))) * 0 + x)  # noqa: E731
    value, g = value_and_grad(f)(np.array([1.3, 0.7]))
    assert value == 1.3
    np.testing.assert_array_equal(g, [1.0, 0.0])


@pytest.mark.parametrize(
    "run",
    [
        lambda sl, m: sl.inv(np.eye(2) + m[:, None] * m),
        lambda sl, m: sl.solve(np.eye(2), m),
        lambda sl, m: sl.solve(np.eye(2) + m[:, None] * m, np.ones(2)),
    ],
)
def test_what_scipy_refuses_is_refused(run):
    sl = pytest.importorskip("scipy.linalg")

    def f(x):
        return np.sum(run(sl, ma.array(x, mask=[0, 1])))

    with pytest.raises(ValueError, match="masked"):
        f(np.array([1.3, 0.7]))
    with pytest.raises(MooncakeError):
        grad(f)(np.array([1.3, 0.7]))


@pytest.mark.parametrize("loc", [False, True])
@pytest.mark.parametrize("name", ["pdf", "logpdf", "cdf"])
def test_distributions_leave_masks_out(name, loc):
    run = getattr(pytest.importorskip("scipy.stats").norm, name)

    def f(x):
        if loc:
            return np.sum(run(x, ma.array(x[0], mask=True), 1.0))
        return np.sum(run(ma.array(x, mask=[0, 1])))

    x = np.array([1.3, 0.7])
    value, g = value_and_grad(f)(x)
    assert_allclose(value, f(x), rtol=1e-14)
    steps = 1e-6 * np.eye(2)
    assert_allclose(g, [(f(x + s) - f(x - s)) / 2e-6 for s in steps], rtol=1e-6, atol=1e-8)


OF_MASKED: dict[str, Callable[[Any], Any]] = {
    "number times masked": lambda x: x[0] * np.ma.masked,
    "sum with masked": lambda x: np.sin(x[0]) + np.ma.masked,
    "ufunc": lambda x: np.multiply(x[0], np.ma.masked),
    "memory": lambda x: x[0] * np.shares_memory(np.ma.masked, x),
}


@pytest.mark.without_modes("masked values are equal to nothing")
@pytest.mark.parametrize("name", OF_MASKED)
def test_the_masked_constant_beside_an_active_number(name: str) -> None:
    x = np.array([2.0, 3.0])
    value, g = value_and_grad(OF_MASKED[name])(x)
    assert str(value) == str(OF_MASKED[name](x))
    assert g.tolist() == [0.0, 0.0]
