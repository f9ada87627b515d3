"""Other functions of NumPy that call back Python code: `piecewise`, `fromfunction`, ufuncs."""
# The unusual style of the programs is the point of them.

from __future__ import annotations

import functools
import math
import re

import numpy as np
import pytest

from mooncake_py import MooncakeError, grad
from mooncake_py.errors import MissingRuleError
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])
M = np.array([[0.3, -1.2, 0.7], [1.1, 0.4, -0.6]])


@programs(X)
def piecew(x):
    return np.piecewise(x, [x < 0, x >= 0], [lambda v: v * v, lambda v: v**3]).sum()


@programs(X)
def piecew_default(x):
    return np.piecewise(x, [x < 0], [lambda v: v * v, lambda v: v**3]).sum()


@programs(X)
def piecew_const(x):
    return (np.piecewise(x, [x < 0, x > 0.5], [-1, lambda v: v * x[0], 2.0]) * x).sum()


@programs(X)
def piecew_args(x):
    return np.piecewise(x, [x < 0, x >= 0], [lambda v, k: v * k, lambda v, k: v**k], 3.0).sum()


@programs(0.5)
def piecew_scalar(x):
    return float(np.piecewise(x, [x < 0, x >= 0], [lambda v: v * v, lambda v: v**3]))


@programs(X)
def fromfn(x):
    return np.fromfunction(lambda i, j: i * x[0] + j * x[1] ** 2, (3, 4)).sum()


@programs(X)
def fromfn_idx(x):
    return np.fromfunction(lambda i: x[i] * i, (3,), dtype=int).sum()


@programs(M)
def pw2(m):
    return np.piecewise(
        m,
        [m < -1, (m > 0) & (m < 0.5)],
        [lambda v: v**2, lambda v: v[::-1].cumsum(), lambda v: np.sin(v)],
    ).sum()


@programs(X)
def pw_list(x):
    return np.piecewise([x[0], x[1]], [True, False], [lambda v: v * v, 3.0]).sum()


@programs(X)
def ff2(x):
    return (np.fromfunction(lambda i, j: np.where(i == j, x[0], x[1] * i), (3, 3)) ** 2).sum()


W = np.zeros(3)


G = np.frompyfunc(lambda i: W[i], 1, 1)


@programs(X)
def fpy_builtin(x):
    return np.frompyfunc(math.factorial, 1, 1)(np.array([1, 2, 3])).astype(float).sum() * x[0]


@programs(X)
def pw(x):
    W[:] = x
    return np.piecewise(
        np.arange(3.0), [[True, False, True]], [lambda v: W[0] * v, lambda v: W[1]]
    ).sum()


@programs(X)
def ff(x):
    W[:] = x
    return np.fromfunction(lambda i: W[i], (3,), dtype=int).sum()


@programs(X)
def sorted_const(x):
    W[:] = 0.0

    def key(i):
        W[i] = x[i]
        return -i

    sorted([0, 1, 2], key=key)
    return W.sum()


@programs(X)
def histogram(x):
    return np.histogram(x, bins=2, weights=x)[0].prod()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


# Ufuncs that call Python code return arrays of objects, in which no derivative is.

state = np.zeros(3)
element_of_state = np.frompyfunc(lambda i: state[i], 1, 1)
first_element = np.frompyfunc(lambda i, j: state[i], 2, 1)
REFUSED = {
    "call": lambda x: np.frompyfunc(lambda v: v * v, 1, 1)(x).astype(float).sum(),
    "constant": lambda x: element_of_state(np.arange(3)).astype(float).sum(),
    "outer": lambda x: first_element.outer([0, 1], [1, 2]).astype(float).sum(),
    "map": lambda x: float(sum(map(element_of_state, [0, 1, 2]))),
    "cached": lambda x: np.frompyfunc(functools.cache(element_of_state), 1, 1)(np.arange(3))[0],
    "bound": lambda x: np.frompyfunc(state.item, 1, 1)(np.arange(3))[0],
}


@pytest.mark.parametrize("name", REFUSED)
def test_ufuncs_made_of_python_are_refused(name):
    def f(x):
        state[:] = x
        return REFUSED[name](x)

    with pytest.raises(MissingRuleError, match=re.escape("np.vectorize(f, otypes=[float])")):
        grad(f)(X.copy())


def test_exception_of_a_callback_passes_and_restores():
    def f(x):
        x[0] = 9.0

        def root(v):
            x[1] = 8.0
            if v > 5:
                raise KeyError("large")
            return v

        return np.vectorize(root)(x).sum()

    x = X.copy()
    with pytest.raises(KeyError, match="large"):
        grad(f)(x)
    np.testing.assert_array_equal(x, X, strict=True)


def test_swallowed_refusal_in_a_callback_is_raised_at_the_end():
    def hides(v):
        try:
            return float(np.frombuffer(v.tobytes())[0])
        except Exception:
            return 0.0

    with pytest.raises(MooncakeError):
        grad(lambda x: np.apply_along_axis(hides, 0, x))(X.copy())
