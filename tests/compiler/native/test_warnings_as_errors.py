"""Where filters make errors of warnings, compiled functions raise what the plain call raises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, hvp, jvp, value_and_grad
from mooncake_py.compiler.native.form import Form

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.plain  # in these tests, as in all, filters make errors of warnings


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each run of compiled code was kept."""
    found: list[bool] = []
    original = Form.run

    def noted(self: Form, stack: Any, inputs: Any) -> Any:
        results = original(self, stack, inputs)
        found.append(bool(results[0]))
        return results

    monkeypatch.setattr(Form, "run", noted)
    return found


def sigmoid(x: Any) -> Any:
    return np.sum(1 / (1 + np.exp(-x)))


def elements(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s += min(1.0, 1 / (x[i] * x[i])) * x[i]
    return s


def reciprocal(x: Any) -> Any:
    return np.sum(np.minimum(1 / x, 1.0) * x)


def cube(x: Any) -> Any:
    return np.sum(1 / (x * x * x + 1))


def angle(x: Any) -> Any:
    return np.sum(np.arctan(np.log1p(x)))


def dotted(x: Any) -> Any:
    return np.sum(1 / (1 + np.dot(x, x)) * x)


CASES = [
    (sigmoid, [-1000.0, 2.0], "overflow"),
    (elements, [0.0, 2.0], "divide by zero"),
    (reciprocal, [0.0, 2.0], "divide by zero"),
    (cube, [1e200, 2.0], "overflow"),
    (angle, [-1.0, 2.0], "divide by zero"),
    (dotted, [1e200, 2.0], "overflow"),
]


@pytest.mark.parametrize(("f", "x", "text"), CASES)
@pytest.mark.sampled(3)
def test_what_numpy_warns_of_is_raised(f: Any, x: Any, text: str, ran: list[bool]) -> None:
    for run in (f, value_and_grad(f, compile=True)):
        with pytest.raises(RuntimeWarning, match=text):
            run(np.array(x))
    assert ran
    assert not any(ran)
    with np.errstate(all="ignore"):
        value, g = value_and_grad(f)(np.array(x))
        found, h = value_and_grad(f, compile=True)(np.array(x))
    assert ran[-1]
    assert_allclose(found, value, rtol=1e-14)
    assert_allclose(h, g, rtol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize(("f", "x", "text"), CASES)
def test_in_other_modes_and_of_float32(f: Any, x: Any, text: str, ran: list[bool]) -> None:
    for dtype in (np.float64, np.float32):
        a = np.clip(x, -1e30, 1e30).astype(dtype) if dtype is np.float32 else np.array(x)
        t = np.ones_like(a)
        for run in (
            grad(f, compile=True),
            lambda a: jvp(f, (a,), (t,), compile=True),  # noqa: B023
            lambda a: hvp(f, (a,), t, compile=True),  # noqa: B023
        ):
            with pytest.raises(RuntimeWarning, match=text):
                run(a)
    assert not any(ran)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", [sigmoid, elements, reciprocal, cube, angle, dotted])
def test_usual_numbers_run_compiled(f: Any, ran: list[bool]) -> None:
    grad(f, compile=True)(np.linspace(0.1, 0.9, 7))
    assert ran == [True]


def sums(x: Any, c: Any) -> Any:
    return float(c[0] + c[1] - c[2]) * x[0]


@pytest.mark.parametrize("c", [[2**62, 2**62, 1], [-(2**62), -(2**62), 1]])
def test_sums_of_ints_of_numpy_that_are_too_large(c: Any, ran: list[bool]) -> None:
    for run in (sums, grad(sums, compile=True)):
        with pytest.raises(RuntimeWarning, match="overflow"):
            run(np.ones(2), np.array(c))
    assert ran
    assert not any(ran)
