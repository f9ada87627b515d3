"""The rewritten code as it is shown."""

from __future__ import annotations

import ast
import math
from typing import Any

import numpy as np
import pytest

from mooncake_py import rewritten, show, value_and_grad
from mooncake_py.errors import SourceUnavailableError
from tests.frontend.all_programs import CASES

pytestmark = pytest.mark.without_modes("shows what runs where nothing is compiled", "compiled")


def wave(u, steps):
    """Have a docstring."""
    total = 0.0
    for k in range(steps):
        u[1:-1] += 0.1 * (u[2:] - u[:-2])
        if u[k] > 1.0:
            total = total + math.sin(u[k]) * k
    return total


def body(text: str) -> list[str]:
    """Return the code shown, without the line about the rule."""
    return text.splitlines()[1:]


def first_line(f: Any) -> int:
    return f.__code__.co_firstlineno


def test_function() -> None:
    n = first_line(wave)
    head, *lines = rewritten(wave).splitlines()
    assert head.startswith(f"# {__name__}.wave: derived from its source, defined at ")
    assert head.endswith(f"test_code.py:{n}")
    assert lines == [
        f"# {n}: def wave(u, steps):",
        "def wave(u, steps, *, C):",
        "    total = 0.0",
        f"    # {n + 3}: for k in range(steps):",
        "    for k in C.fused_loop(C.range_of(steps)):",
        f"        # {n + 4}: u[1:-1] += 0.1 * (u[2:] - u[:-2])",
        "        C.fused_store(u[1:-1], u[1:-1] + 0.1 * (u[2:] - u[:-2]))",
        f"        # {n + 5}: if u[k] > 1.0:",
        "        if C.truth(C.gt(C.getitem(u, k), 1.0)):",
        f"            # {n + 6}: total = total + math.sin(u[k]) * k",
        "            total = C.fused(total + math.sin(u[k]) * k)",
        "    return total",
    ]


def test_lambda_method_class_and_callable_object() -> None:
    class Scaled:
        def __init__(self, by):
            self.by = by * 2

        def __call__(self, x):
            return x * self.by

        def norm(self, x):
            return -x

    shown = body(rewritten(lambda x: x * x + 1))
    assert shown[-1] == "lambda x, *, C: C.fused(x * x + 1)"
    assert body(rewritten(Scaled))[-1].strip() == "C.setattr(self, 'by', C.mul(by, 2))"
    assert body(rewritten(Scaled(1.0)))[-1].strip() == "return C.mul(x, C.getattr(self, 'by'))"
    assert body(rewritten(Scaled(1.0).norm))[-1].strip() == "return C.neg(x)"


def test_function_of_numpy_is_derived_and_one_with_a_rule_is_named() -> None:
    assert "C.method(wgt, 'sum'" in rewritten(np.average)
    assert rewritten(np.exp).count("\n") == 0
    assert "a rule by partial derivatives, declared at" in rewritten(np.exp)


def test_quick_forms_that_were_generated() -> None:
    def f(x, s):
        y = np.sin(x) * x
        z = math.cos(s) * s
        return np.sum(y) + z

    assert "def run(C, F, V)" not in rewritten(f)
    value_and_grad(f, (0, 1))(np.ones(3), 0.5)
    text = rewritten(f)
    assert "# sin(v0) * v0   for v0: active array" in text
    assert "# cos(v0) * v0   for v0: active float" in text
    assert text.count("def pull(entry):") == 3
    ast.parse(text)


def test_powers_and_whole_numbers_show_as_they_are_written() -> None:
    def f(x, s):
        k = int(x[0] * 2)
        return (s - x[k]) ** 3 * s

    assert "k = C.fused(int(x[0] * 2))" in rewritten(f)
    assert "C.fused((s - x[k]) ** 3 * s)" in rewritten(f)


def test_statements_on_elements_show_what_is_stored_where() -> None:
    def f(x, s):
        x[1] = x[0] * s
        x[0] -= x[1]
        return x[0] * 2.0 - s

    value_and_grad(f)(np.ones(2), 0.5)
    text = rewritten(f)
    assert "C.fused_store(x[1], x[0] * s)" in text
    assert "C.fused_store(x[0], x[0] - x[1])" in text
    assert "return C.fused(x[0] * 2.0 - s)" in text
    assert "# v0 - v1   for v0: active element, v1: active element" in text


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", [f for f, _ in CASES], ids=lambda f: f.__name__)
def test_what_is_shown_is_python_and_deterministic(f: Any) -> None:
    text = rewritten(f)
    ast.parse(text)
    assert text == rewritten(f)
    assert "_mk_" not in text


def test_show_prints(capsys: pytest.CaptureFixture[str]) -> None:
    show(wave, rewritten=True)
    assert capsys.readouterr().out == rewritten(wave) + "\n"
    show(wave, np.ones(4), steps=1)
    out = capsys.readouterr().out
    assert out.splitlines()[0].split()[:3] == ["place", "operation", "shape"]


def test_without_source() -> None:
    scope: dict[str, Any] = {}
    exec("def f(x): return x", scope)
    with pytest.raises(SourceUnavailableError):
        rewritten(scope["f"])


def test_every_operator_that_is_part_of_one_entry_can_be_shown() -> None:
    def layer(w, x):
        y = w @ x - x / 2.0
        y += -w @ x
        return np.sum(y**2 * x + y)

    value_and_grad(layer)(np.eye(2), np.ones(2))
    text = rewritten(layer)
    assert "y = C.fused(w @ x - x / 2.0)" in text
    assert "# v0 @ v1 - v1 / 2.0   for v0: active matrix, v1: vector and array\n" in text
    show(layer)


def test_views_of_operands() -> None:
    def f(r, a, k):
        a[:k] += np.flip(a[:k])
        return np.dot(np.flip(r[1:k]), a[1:k]) + np.sum(r[:, None].T * a)

    text = rewritten(f)
    assert "C.fused_store(a[:k], a[:k] + np.flip(a[:k]))" in text
    assert "C.fused(np.dot(np.flip(r[1:k]), a[1:k]) + np.sum(r[:, None].T * a))" in text


def test_reductions_choices_and_gathers() -> None:
    def f(x, m, j):
        m[1:] += np.mean(m * x, axis=0, keepdims=True) - np.sum(m[j] * x, axis=(0, -1))
        return np.sum(np.where(x >= 0.5, x * x, 0.0))

    text = rewritten(f)
    change = "np.mean(m * x, axis=0, keepdims=True) - np.sum(m[j] * x, axis=(0, -1))"
    assert f"C.fused_store(m[1:], m[1:] + ({change}))" in text
    assert "C.fused(np.sum(np.where(x >= 0.5, x * x, 0.0)))" in text
