"""Debug mode on iterations that have converged: their slopes are sums that cancel to rounding."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, grad
from mooncake_py.compiler.native import region_site as site
from mooncake_py.errors import DifferentResultError

pytestmark = pytest.mark.plain

A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 5.0]])


def by_newton(a: Any) -> Any:
    x = 2.0 * a + 1
    while abs(x * x - a) > 1e-13:
        x = 0.5 * (x + a / x)
    return x


def by_many_steps(a: Any) -> Any:
    x = 1.7 * a
    for _ in range(25):
        x = x - (x * x - a) / (2 * x)
    return x


def by_elements(a: np.ndarray) -> Any:
    x = a.copy()
    for _ in range(12):
        for i in range(3):
            x[i] = 0.5 * (x[i] + a[i] / x[i])
    return np.sum(x)


def by_list(a: np.ndarray) -> Any:
    x = [a[0], a[1], a[2]]
    for _ in range(12):
        for i in range(3):
            x[i] = 0.5 * (x[i] + a[i] / x[i])
    return x[0] + x[1] + x[2]


def reciprocal(a: Any) -> Any:
    x = 0.1
    for _ in range(15):
        x = x * (2 - a * x)
    return 1 / x


def fixed_point(a: Any) -> Any:
    x = a
    for _ in range(80):
        x = math.cos(0.3 * x) * a
    return x


def bisection(a: Any) -> Any:
    low, high = 0.0 * a, a + 1
    for _ in range(50):
        middle = 0.5 * (low + high)
        if middle * middle > a:
            high = middle
        else:
            low = middle
    return low + high


def gauss_newton(a: Any) -> Any:
    x = 1.0
    for _ in range(20):
        top = bottom = 0.0
        for i in range(4):
            e = math.exp(-x * i)
            top = top - i * e * (math.exp(-a * i) - e)
            bottom = bottom + (i * e) ** 2
        x = x + top / bottom
    return x


def relaxed(b: np.ndarray) -> Any:
    x = np.zeros(3)
    for _ in range(60):
        for i in range(3):
            s = b[i]
            for j in range(3):
                if j != i:
                    s = s - A[i, j] * x[j]
            x[i] = 1.1 * s / A[i, i] - 0.1 * x[i]
    return np.sum(x * x)


def power_iteration(b: np.ndarray) -> Any:
    x = [1.0, 1.0, 1.0]
    size = 0.0
    for _ in range(60):
        y = [0.0, 0.0, 0.0]
        for i in range(3):
            for j in range(3):
                y[i] = y[i] + (A[i, j] + (b[i] if i == j else 0.0)) * x[j]
        size = math.sqrt(y[0] ** 2 + y[1] ** 2 + y[2] ** 2)
        for i in range(3):
            x[i] = y[i] / size
    return size


def conjugate_gradients(b: np.ndarray) -> Any:
    x, r = np.zeros(3), b.copy()
    p, rs = r.copy(), r @ r
    for _ in range(3):
        q = A @ p
        step = rs / (p @ q)
        x, r = x + step * p, r - step * q
        new = r @ r
        p, rs = r + new / rs * p, new
    return np.sum(x * x)


NUMBERS = [by_newton, by_many_steps, reciprocal, fixed_point, bisection, gauss_newton]
ARRAYS = [by_elements, relaxed, by_list, conjugate_gradients, power_iteration]


@pytest.mark.parametrize("f", [*NUMBERS, *ARRAYS])
def test_no_false_alarm(f: Any) -> None:
    rng = np.random.default_rng(7)
    for _ in range(3):
        a = rng.uniform(0.4, 3.0, () if f in NUMBERS else 3)
        a = float(a) if f in NUMBERS else a
        expected = grad(f)(a)
        np.testing.assert_allclose(grad(f, debug=True)(a), expected, rtol=1e-9, atol=1e-12)
    grad(lambda x: checkpoint(f, x), debug=True)(a)


def test_the_program_that_was_called_wrong() -> None:
    np.testing.assert_allclose(grad(by_newton, debug=True)(3.7), 0.5 / math.sqrt(3.7))


@pytest.mark.parametrize("f", [fixed_point, reciprocal])
def test_a_wrong_cotangent_is_found(
    f: Any, define: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    form_of = site.form_of

    def wrong_form(*args: Any) -> Any:
        form = form_of(*args)
        reverse = form.reverse
        assert reverse is not None

        def wrong(*args: Any, **given: Any) -> Any:
            return tuple(g * (1 + 1e-9) for g in reverse(*args, **given))

        return replace(form, reverse=wrong)

    monkeypatch.setattr(site, "form_of", wrong_form)
    text = inspect.getsource(f).replace("np.ndarray", "Any").replace(f.__name__, "f")
    wrong = define(f"import math\nfrom typing import Any\nimport numpy as np\n{text}")
    with pytest.raises(DifferentResultError, match="another cotangent"):
        grad(wrong, debug=True)(0.9)
