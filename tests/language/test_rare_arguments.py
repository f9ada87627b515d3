"""Arguments of NumPy's functions that few programs pass, in every mode as in the plain call."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import MooncakeError, grad, jvp, value_and_grad
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([1.3, -0.7, 2.2])
W = np.array([1.0, 2.0, 3.0])


@programs(X)
def one_output_of_several(x):
    o = np.zeros(2)
    total = np.modf(x[0], o)[0].sum() * o[0] + (np.modf(x, np.zeros((2, 3)))[0] @ W).sum()
    return total + np.divmod(x, 2, np.zeros(3))[1] @ W


@programs(X)
def mantissas(x):
    o = np.zeros(3)
    return np.frexp(x, o)[0] @ W + o[1] * x[0]


@programs(X)
def outer_where(x):
    o = np.ones((3, 3))
    np.multiply.outer(x, x, out=o, where=x > 0)
    y = np.multiply.outer(x, x, out=np.ones((3, 3)), where=np.eye(3, dtype=bool))
    return o @ W @ W + (y @ W)[1] + np.multiply.outer(x, W)[0] @ x


@programs(X)
def first_elements(x):
    total = np.floor_divide.accumulate(x)[0] + np.floor_divide.reduce(x[1:2]) * x[0]
    return total + np.floor_divide.reduceat(x, [0, 1, 2]) @ W


@programs(X)
def chosen_objects(x):
    y = np.array([0.0, x[1], x[2]])
    total = np.logical_or.reduce(x, dtype=object) + np.logical_or.reduce([x[0], x[1]], dtype=object)
    total += np.logical_and.accumulate(x, dtype=object)[1] * np.logical_or.reduce(y, dtype=object)
    total += np.equal.accumulate(x, dtype=object)[0] * np.greater.reduce(x[:1], dtype=object)
    return total + np.maximum.accumulate(x, dtype=object)[1] * x[2]


@programs(X)
def copies_of_what_is_there(x):
    m = np.outer(x, x)
    d = np.diagonal(m)  # not writeable
    np.copyto(d, d)
    np.copyto(d, np.diagonal(m), where=[True, False, True])
    return d @ W


@programs(X)
def intervals_of_unlike_numbers(x):
    y = np.outer(x, x)
    total = (
        np.trapezoid(y[:, :2], np.array([0.0, 1.0, 3.0])) @ W + np.trapezoid(y[:2], x, axis=0)[1]
    )
    return total + np.trapezoid(y * y, np.array([0.0, 0.5])).sum()


@programs(X)
def grids_that_are_a_list(x):
    grids = np.meshgrid(x, x * x, sparse=True, copy=False)
    weight = 3.0 if isinstance(grids, list) else 5.0  # a tuple from NumPy 2.5 on
    grids = [*grids, np.meshgrid(x, x, copy=False)[1]]
    return sum(grid.sum() for grid in grids) * weight


@programs(X)
def leading_axes_of_fill_values(x):
    y = np.full((2, 3), 2 * x[None, None])
    return (y @ W).sum() + np.full_like(x, x[None, :1])[2]


@programs(X)
def complex_numbers_cast_to_floats(x):
    y = 2 * x
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.copyto(y, 2j + 1, casting="unsafe", where=[True, False, True])
        return y @ W + np.gradient(x, 2.0 + 1j * x[0]) @ W


@programs(X)
def choices(x):
    i = np.array([1, 0, 1])
    b, o = 10 * x, np.zeros(3)
    y = i.choose(x, b) * W + i.choose(1.0, x[0]) + i.choose((x, b), out=o) + i.choose([b, x])
    return (y + i.choose(x, b, 2.0, mode="clip")) @ W + o @ b


@programs(X)
def conjugates(x):
    o, z = np.zeros(3), np.zeros(3, complex)
    (2 * x).conj(o)
    (1j * x).conjugate(z)
    return o @ W + (z.imag * x) @ W


@programs(X)
def products_into_numbers(x):
    o = np.zeros(())
    r = np.dot(x, x, out=o)
    r += 1
    return o * 2 + r + np.matmul(x, x, out=...)[()] + np.divmod(x[0], 2.0, out=...)[1]


@programs(X)
def differences(x):
    joined = np.diff([x[0], x[1]], 0) + [x[2]]
    return sum(joined) * np.diff(x[0], 0) + np.diff(x, n=0) @ W


@programs(X)
def of_classes(x):
    m = np.ma.array(x * 1, mask=[0, 1, 0])
    row = np.asmatrix(x)
    total = np.float64(m).sum() + np.float64(row).A1 @ W + (np.double(row).T @ row)[0, 1]
    m %= 2
    same = m.__imod__(2) is m
    return total * (2.0 if same else 1.0) + m.sum()


@programs(X)
def axes_and_initial_values(x):
    a = np.outer(x, x)
    total = np.prod(x, initial=None) + np.multiply.reduce(x, 0, None, None, False, None)
    total += np.multiply.accumulate(x, (0,)) @ W + np.add.accumulate(a, (0,)) @ W @ W
    total += np.add.reduceat(x, []).sum() + np.hypot.accumulate(x, axis=(0,)) @ W
    return total + np.subtract.reduce(x * 3, dtype=int) * x[0]


@programs(X)
def convolutions_with_numbers(x):
    y = np.convolve(x, 2.0) + np.convolve(2, x) + np.correlate(x, [2.0], "full")
    return y @ W + np.convolve(x[0], 3)[0] + np.convolve([x[0], x[1]], 2)[1] * x[2]


@programs(X)
def medians_and_items(x):
    t = x[0].take
    total = np.nanmedian(x, -1, np.zeros(3)) @ W + t(0) * x[1] + np.astype(x, complex)[2].real
    return total + np.cumprod(x[0], axis=0)[0] + sum(map(x[2].take, [0, 0]))


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


MASK = np.array([True, False, True])
WRONG: dict[str, Callable[[Any], Any]] = {
    "matmul where": lambda x: np.matmul(x, x, where=MASK),
    "vecdot where": lambda x: np.vecdot(x, x, where=MASK, out=np.ones(3)).sum(),
    "two outputs": lambda x: np.sin(x, np.ones(3), out=np.ones(3)).sum(),
    "matmul at": lambda x: np.matmul.at(x, [0, 0, 1], 2.0) or x.sum(),
    "conj by keyword": lambda x: x.conj(out=np.zeros(3)).sum(),
    "astype of a list": lambda x: np.astype([x[0]], float).sum(),
    "no copy of a list": lambda x: np.asarray([x[0]], copy=False).sum(),
    "no copy of lists": lambda x: np.array((x, x), copy=False).sum(),
    "an axis of a number": lambda x: np.cumprod(x[0], axis=1).sum(),
    "axes of a number": lambda x: np.asarray(x[0]).cumprod(axis=(0, 1)).sum(),
    "a list of outputs": lambda x: np.add(x, x, [0.0, 0.0, 0.0]).sum(),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_those_of_numpy(name: str) -> None:
    f = WRONG[name]
    with pytest.raises((TypeError, ValueError)) as plain:
        f(X.copy())
    for run in (grad(f), grad(f, debug=True), lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(type(plain.value)) as caught:
            run(X.copy())
        assert not isinstance(caught.value, MooncakeError)
        assert str(plain.value) in str(caught.value)


def test_choices_are_not_overwritten() -> None:
    captured = 10 * X
    value, gradient = value_and_grad(lambda x: np.array([1, 0, 1]).choose(x, captured).sum())(X)
    assert captured.tolist() == (10 * X).tolist()
    assert value == pytest.approx(captured[0] + X[1] + captured[2])
    assert gradient.tolist() == [0, 1, 0]
