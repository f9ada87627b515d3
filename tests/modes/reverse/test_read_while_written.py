"""Copies that NumPy carries out while it reads what it has written, in every mode."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import DerivativeDropError, checkpoint, grad, hessian, jvp, value_and_grad
from tests.support.directions import check_jvp, check_second
from tests.support.gradients import Program, Programs, check
from tests.support.pairs import rotating

programs = Programs()
X = np.linspace(0.5, 1.7, 6)
W = np.arange(1.0, 7.0)
ROWS = W.reshape(3, 2)


@programs(X)
def rows_of_its_own(x):
    a = x.reshape(3, 2) * 1.0
    a[:] = [a[1] * 2.0, a[0], a[0] * a[2]]
    a[::2] = (a[2], a[0])
    a[:] = [[a[1, 1], a[1, 0]], a[0], [a[0, 0], 2.0]]
    return np.sum(a * ROWS)


@programs(X)
def elements_of_its_own(x):
    a = x.reshape(3, 2) * 1.0
    a[0] = [a[0, 1:].reshape(()), a[0, :1].reshape(())]
    a[1] = [a[1, 1], a[1, 0]]  # numbers, which are read before
    return np.sum(a * ROWS * a)


@programs(X)
def rows_that_are_copied_before(x):
    a = x.reshape(3, 2) * 1.0
    a[[0, 2]] = [a[2], a[0]]
    a[:] = [a[1]]
    a[:2] *= [a[1], a[0]]
    np.copyto(a, [a[2], a[0] * x[0], a[1]])
    return np.sum(a * ROWS)


@programs(X)
def rows_of_a_constant(x):
    k = np.arange(6.0).reshape(3, 2)
    k[:] = [k[2], k[0], k[1]]
    k[:] = [k[2], x[:2], k[0]]
    return np.sum(k * x.reshape(3, 2))


@programs(X)
def joined_into_what_is_read(x):
    a = x * 1.0
    np.concatenate([x[2::-1], a[:3]], out=a)
    np.concatenate([a[3:], a[:3]], None, a)
    m = a.reshape(3, 2)
    np.concatenate([m[:, 1:], m[:, :1]], axis=1, out=m)
    np.stack([m[2], m[0], m[1]], out=m)
    np.stack([m[:, 1], m[:, 0]], axis=-1, out=m)
    return np.sum(a * W * a)


@programs(X)
def columns_from_rows(x):
    m = np.outer(x[:3], x[3:])
    m[:, 2] = m[1]
    m.T[0] = m[2]
    return np.sum(m * m * np.arange(9.0).reshape(3, 3))


@programs(X)
def flat_from_itself(x):
    a = x.reshape(3, 2) * 1.0
    a.flat = a.T
    a.flat[1:4] = a[1]
    a.flat[:3] = a[::-1]
    return np.sum(a * a * ROWS)


@programs(X)
def placed_in_itself(x):
    a = x * 1.0
    np.place(a, a > 0.6, a)
    b = x[::-1] * 1.0
    np.place(b[::2], b[::2] > 0.6, b)
    np.putmask(b, b > 0.6, b[::-1])
    b.put([1, 2, 3], b)
    return np.sum(a * a * W) + np.sum(b * b * W)


@programs(X)
def leading_ones(x):
    a = np.zeros(6)
    a[:] = x.reshape(1, 1, 6)
    a[[0, 2, 4]] = x[:3].reshape(1, 3)
    m = np.zeros((3, 2))
    for i in range(1, 3):
        m[i] = m[i - 1 : i] * 2 + x.reshape(3, 2)[:1] * a[i]
    a[1:3] = (x[:2] * x[2:4]).reshape(1, 2)
    return np.sum(a * W * a) + np.sum(m * m)


@programs(X)
def flat_of_one_element(x):
    y = np.zeros(())
    y.flat[0] = x[0]
    y.flat[:] = y.flat[:] * x[1]
    y.flat = y * x[2]
    return y * 2 + next(y.flat)


def accumulators_that_are_larger(x):
    r = np.ones((4, 3)) * x[0]
    np.cumsum(x[:3].reshape(1, 3), axis=0, out=r)
    np.cumprod(x[3:].reshape(1, 3), 1, None, r[2:])
    np.maximum.accumulate(x[:3].reshape(1, 3), axis=0, out=r[1:])
    try:
        np.hypot.reduce(x[:3].reshape(1, 3), axis=1, out=r[0])
    except ValueError:
        r *= x[1]
    return np.sum(r * np.arange(12.0).reshape(4, 3))


if np.lib.NumpyVersion(np.__version__) < "2.5.0":  # which takes no output that is too large
    programs(X)(accumulators_that_are_larger)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", programs, ids=str)
def test_read_while_written(program: Program) -> None:
    program.check()
    check_jvp(program.f, *program.args)
    check(lambda x: checkpoint(program.f, x), *program.args)
    np.testing.assert_array_equal(value_and_grad(program.f, debug=True)(X)[1], grad(program.f)(X))


@pytest.mark.thorough
@pytest.mark.parametrize("program", [programs[0], programs[4], programs[6]], ids=str)
def test_second_derivatives(program: Program) -> None:
    check_second(program.f, X)


def two_outputs(x: Any) -> Any:
    a = x * 1.0
    np.modf(a * 1.5, out=(a, a[::-1]))
    return np.sum(a)


@pytest.mark.parametrize("derivative", [grad, hessian, lambda f: lambda x: jvp(f, (x,), (x,))])
def test_outputs_that_share_memory_are_refused(derivative: Any) -> None:
    with pytest.raises(DerivativeDropError, match="same array that it overwrites"):
        derivative(two_outputs)(X)


A = np.linspace(0.3, 1.4, 36).reshape(6, 6)
INTO: dict[str, Any] = {
    "sum": lambda a, o: np.sum(a, axis=0, out=o[0]),
    "sum by position": lambda a, o: a.sum(0, None, o[0]),
    "prod": lambda a, o: np.prod(a, axis=0, out=o[0]),
    "mean": lambda a, o: np.mean(a, axis=0, out=o[0]),
    "var": lambda a, o: np.var(a, axis=0, out=o[0]),
    "cumsum": lambda a, o: np.cumsum(a, axis=0, out=o),
    "cumprod": lambda a, o: a.cumprod(0, None, o),
    "add.reduce": lambda a, o: np.add.reduce(a, 0, None, o[0]),
    "add.accumulate": lambda a, o: np.add.accumulate(a, out=o),
    "add.reduceat": lambda a, o: np.add.reduceat(a, [0, 2], out=o[:2]),
    "multiply.reduce": lambda a, o: np.multiply.reduce(a, out=o[0]),
    "subtract.reduce": lambda a, o: np.subtract.reduce(a, out=o[0]),
    "divide.accumulate": lambda a, o: np.divide.accumulate(a, out=o),
    "trace": lambda a, o: np.trace(a, out=o[0, 0:1].reshape(())),
    "nancumsum": lambda a, o: np.nancumsum(a, axis=1, out=o),
    "einsum": lambda a, o: np.einsum("ij,jk->ik", a, a, out=o),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("name", "types"), rotating(INTO, [(np.float32, np.float64), (np.float64, np.float32)])
)
def test_values_in_an_accumulator_of_another_type(name: str, types: Any) -> None:
    if name == "einsum" and types[1] is np.float32:
        pytest.skip("NumPy refuses it")
    run = INTO[name]

    def f(a: Any) -> Any:
        out = np.ones((6, 6), types[1])
        run(a, out)
        return out

    a = A.astype(types[0])
    expected = f(a)
    value, tangent = jvp(f, (a,), (a,))
    (_, result), _ = value_and_grad(lambda a: (np.sum(f(a)), f(a)), has_aux=True)(a)
    assert value.tobytes() == result.tobytes() == expected.tobytes()
    _, wide_tangent = jvp(f, (A,), (A,))
    np.testing.assert_allclose(tangent, wide_tangent, rtol=2e-5, atol=2e-5)
    gradients = [grad(lambda a: np.sum(f(a)))(b) for b in (a, A)]
    np.testing.assert_allclose(gradients[0], gradients[1], rtol=1e-4, atol=1e-4)
