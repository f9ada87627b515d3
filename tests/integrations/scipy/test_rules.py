"""The rules for SciPy, checked by `test_rule` at all their cases, also amid writes in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.signal

from mooncake_py import grad, jvp, value_and_grad
from mooncake_py.testing import test_rule
from tests.rules.cases import Case, parameters
from tests.rules.cases.scipy import cases
from tests.support.gradients import differences
from tests.support.marks import each_third


@pytest.mark.sampled(7)
@pytest.mark.parametrize("case", each_third(parameters(cases())), ids=lambda case: case.id)
def test_scipy_follows_its_rules(case: Case) -> None:
    with np.errstate(all="ignore"):  # some points are poles
        case.check()


PLAIN = {c.id: c for c in cases() if not c.interface_only and "out" not in c.kwargs}


def amid_writes(name: str) -> Any:
    """Return a function that writes into the arguments of a case before and after the call."""

    def program(*args: Any) -> Any:
        inputs = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        for a in inputs:
            if isinstance(a, np.ndarray) and a.dtype.kind in "fc":
                a *= 2.0
                a /= 2.0
        y = PLAIN[name].function(*inputs, **PLAIN[name].kwargs)
        for a in inputs:
            if isinstance(a, np.ndarray) and a.dtype.kind in "fc":
                a[...] = 7.0
        return y

    return program


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.slow
def test_scipy_amid_writes(name: str) -> None:
    test_rule(
        amid_writes(name), *PLAIN[name].args,
        layouts=False, dtypes=False, aliasing=False, constants=False, directions=1, order=1,
        special_points=False,
    )  # fmt: skip


def test_number_on_the_right_of_a_sylvester_equation() -> None:
    a, b = np.array([[3.0, 0.4], [-0.2, 2.5]]), np.array([[1.5, 0.3], [0.7, 4.0]])

    def f(q: float) -> Any:
        return np.sum(scipy.linalg.solve_sylvester(a, b, q) ** 2)

    slope = (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6
    np.testing.assert_allclose(grad(f)(0.7), slope, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (0.7,), (1.0,))[1], slope, rtol=1e-6)


@pytest.mark.parametrize("options", [{}, {"bp": [2]}, {"type": "constant"}], ids=str)
def test_a_trend_is_taken_out_in_place(options: dict[str, Any]) -> None:
    def f(x):
        y = scipy.signal.detrend(x, overwrite_data=True, **options)
        return x @ W + x[1] * x[2] + y[0] ** 2 + np.shares_memory(x, y)

    x = np.array([1.3, 0.7, 2.2, 0.4])
    value, gradient = value_and_grad(f)(x)
    assert value == f(x.copy())
    np.testing.assert_allclose(gradient, differences(f, (x,), 0), atol=1e-8)
    np.testing.assert_allclose(jvp(f, (x,), (W,))[1], gradient @ W, atol=1e-12)


W = np.array([1.0, 10.0, -3.0, 0.5])
