"""The rules for SciPy amid writes in place, and what their cases do not show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.signal

from mooncake_py import grad, jvp, value_and_grad
from mooncake_py.rules import registry
from mooncake_py.rules.kinds import ElementwiseRule, function_name
from mooncake_py.testing import test_rule
from tests.rules.cases import Case
from tests.rules.cases.scipy import cases
from tests.support.gradients import differences


def one_of_each() -> dict[str, Case]:
    """Return a case of each function; of elementwise ones a case for each number of arguments.

    These have one machinery, which saves what the partials read.
    """
    found: dict[Any, Case] = {}
    for case in cases():
        if not case.interface_only and "out" not in case.kwargs:
            is_elementwise = isinstance(registry.find(case.function), ElementwiseRule)
            found.setdefault(
                len(case.args) if is_elementwise else function_name(case.function), case
            )
    return {case.id: case for case in found.values()}


ONCE = one_of_each()


def amid_writes(name: str) -> Any:
    """Return a function that writes into the arguments of a case before and after the call."""

    def program(*args: Any) -> Any:
        inputs = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        for a in inputs:
            if isinstance(a, np.ndarray) and a.dtype.kind in "fc":
                a *= 2.0
                a /= 2.0
        y = ONCE[name].function(*inputs, **ONCE[name].kwargs)
        for a in inputs:
            if isinstance(a, np.ndarray) and a.dtype.kind in "fc":
                a[...] = 7.0
        return y

    return program


@pytest.mark.parametrize("name", ONCE)
@pytest.mark.slow
def test_scipy_amid_writes(name: str) -> None:
    test_rule(
        amid_writes(name), *ONCE[name].args,
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
