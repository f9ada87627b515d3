"""Errors that rules of the package raise in the reverse pass name the user's line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    CoDual,
    NoFData,
    build_rrule,
    checkpoint,
    grad,
    gradient,
    hessian,
    hvp,
    jacobian,
    jvp,
    vjp,
)
from mooncake_py.errors import MissingRuleError

pytestmark = pytest.mark.without_modes("each mode is named here")

EYE = np.eye(2)
COLUMN = np.array([[1.0], [2.0], [3.0]])


def square_root(a):
    w, v = np.linalg.eigh(a)  # here
    y = v * np.sqrt(w)
    return np.sum(y @ v.T)


def calls(a):
    return square_root(a) + 1.0


def complement(a):
    return np.linalg.qr(a, mode="complete").Q[0, 1]  # here


def eigenvalues(a):
    return np.sum(np.linalg.eigvalsh(a) ** 2)  # here


def singular(a):
    return np.linalg.cond(a) + np.linalg.norm(a, "nuc")  # here


def line_of(f: Any) -> int:
    """Return the number of the line of a function that is marked."""
    code = f.__code__
    with open(code.co_filename) as file:
        lines = file.read().splitlines()
    return next(
        n for n, line in enumerate(lines, 1) if n > code.co_firstlineno and line.endswith("# here")
    )


@pytest.mark.parametrize(
    "run",
    [
        lambda f, x: grad(f)(x),
        lambda f, x: grad(f, debug=True)(x),
        lambda f, x: vjp(f, x)[1](1.0),
        lambda f, x: gradient(f, x),
        lambda f, x: jacobian(f, mode="reverse")(x),
        lambda f, x: grad(lambda x: checkpoint(f, x))(x),
        lambda f, x: grad(lambda x: np.sum(grad(f)(x)))(x),
        lambda f, x: build_rrule(f)(CoDual(f, NoFData()), CoDual(x, 0 * x))[1](1.0),
        lambda f, x: hessian(f)(x),
        lambda f, x: hvp(f, (x,), x),
        lambda f, x: jvp(f, (x,), (x,)),
    ],
)
@pytest.mark.parametrize(("f", "x"), [(square_root, EYE), (complement, COLUMN)])
def test_line_of_a_refusal(run, f, x):
    with pytest.raises(MissingRuleError, match="is not implemented") as caught:
        run(f, x)
    where = caught.value.where
    assert where is not None
    assert (where.file, where.line, where.function) == (__file__, line_of(f), f.__name__)
    assert not getattr(caught.value, "__notes__", [])


@pytest.mark.plain  # there the operation is one of the rule
@pytest.mark.parametrize(("f", "x"), [(eigenvalues, EYE), (singular, EYE)])
@pytest.mark.parametrize("run", [lambda f, x: hessian(f)(x), lambda f, x: hvp(f, (x,), x)])
def test_line_of_a_refused_second_derivative(run, f, x):
    with pytest.raises(MissingRuleError) as caught:
        run(f, x)
    where = caught.value.where
    assert where is not None
    assert (where.file, where.line) == (__file__, line_of(f))
    assert not getattr(caught.value, "__notes__", [])


def test_callers_are_not_named():
    with pytest.raises(MissingRuleError) as caught:
        grad(calls)(EYE)
    where = caught.value.where
    assert where is not None
    assert where.function == "square_root"


def test_refusal_by_a_forward_rule():
    def of_order(p):
        return np.linalg.norm(EYE[0], p)  # here

    for run in (lambda: jvp(of_order, (2.0,), (1.0,)), lambda: grad(of_order)(2.0)):
        with pytest.raises(MissingRuleError, match="the order of a norm") as caught:
            run()
        where = caught.value.where
        assert where is not None
        assert where.line == line_of(of_order)
