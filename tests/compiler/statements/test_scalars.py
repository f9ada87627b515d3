"""Statements on numbers and elements: slopes, types of results, and when another way is taken."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import value_and_grad
from mooncake_py.compiler.statements.general import elsewhere
from mooncake_py.compiler.statements.scalars import ScalarForm, scalar_form
from mooncake_py.runtime.active import Active
from tests.compiler.statements.cores import core_of, text_of
from tests.support.gradients import differences


def form(text: str, *types: type, target: str = "") -> ScalarForm:
    """Return the form for types of the names, in order; arrays are active."""
    core = core_of(text, target)
    names = core.statement.names
    on = dict.fromkeys((base for base, _ in core.statement.pairs), True)
    return ScalarForm(core, dict(zip(names, types, strict=True)), on, elsewhere, elsewhere)


def slopes(text: str, *types: type) -> dict[int, str]:
    return {k: text_of(e) for k, e in form(text, *types).slopes.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b", {0: "1.0", 1: "1.0"}),
        ("a - b", {0: "1.0", 1: "-1.0"}),
        ("a * b", {0: "v1", 1: "v0"}),
        ("a * 2.0 + b", {0: "2.0", 1: "1.0"}),
        ("-a * b", {0: "-v1", 1: "t0"}),
        ("int(a) * b", {1: "t0"}),
    ],
)
def test_slopes(text, expected):
    assert slopes(text, Active, Active) == expected


def test_only_active_operands_have_slopes():
    assert slopes("a * b", Active, float) == {0: "v1"}
    assert slopes("x[i] * a", float) == {0: "v1"}


@pytest.mark.parametrize(
    ("text", "types", "is_numpy", "may_be"),
    [
        ("a * b", (Active, float), False, True),
        ("a * b", (Active, np.float64), True, False),
        ("a * x[i]", (Active,), True, False),
        ("np.sin(a)", (Active,), True, False),
        ("int(a) * 2.0", (Active,), False, False),
    ],
)
def test_types_of_results(text, types, is_numpy, may_be):
    found = form(text, *types)
    assert (found.is_numpy, found.may_be_numpy) == (is_numpy, may_be)


def test_ints_are_told_from_floats():
    assert form("a / b", int, int).surely_float(form("a / b", int, int).root)
    found = form("a * b", int, Active)
    assert found.surely_float(found.root)
    found = form("a * b", int, int)
    assert not found.surely_float(found.root)


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("a * b", (float, np.float64)),
        ("np.sin(a) * b", (float, float)),
        ("int(a) * b", (float, float)),
        ("a * b", (Active, np.float32)),
        ("a * b", (Active, complex)),
        ("a @ b", (Active, Active)),
        ("np.sum(a)", (Active,)),
        ("np.maximum(a, b) * c", (int, int, Active)),
    ],
)
def test_what_has_no_form(text, types):
    core = core_of(text)
    kinds = dict(zip(core.statement.names, types, strict=True))
    assert scalar_form(core, kinds, {}, elsewhere, elsewhere) is None


@pytest.mark.parametrize(
    "text",
    [
        "a * b - a / b",
        "np.hypot(a, b) * np.tanh(a)",
        "a ** 2 / (1.0 + b * b)",
        "np.arctan2(a, b) + np.exp(-a * b)",
        "np.maximum(a, b) * np.minimum(a, 0.25)",
    ],
)
def test_gradients_are_those_of_differences(text, define):
    f = define(f"import numpy as np\ndef f(a, b):\n    s = {text}\n    return s * s\n")
    value, found = value_and_grad(f, (0, 1))(0.7, 1.3)
    assert value == f(0.7, 1.3)
    for i in range(2):
        assert_allclose(found[i], differences(f, (0.7, 1.3), i), rtol=1e-6, atol=1e-9)


@pytest.mark.without_modes("there are no differences, and no ints that are infinite")
@pytest.mark.parametrize("b", [0.0, math.inf, -math.inf, math.nan, 1e308, 1e-320])
@pytest.mark.parametrize("text", ["a / b", "a * b", "np.exp(a * b)", "b / a + np.log(b)"])
def test_what_is_not_finite_is_what_the_general_way_gives(text, b, define, monkeypatch):
    from mooncake_py.modes.reverse.context import ReverseContext

    f = define(f"import numpy as np\ndef f(a, b):\n    s = {text}\n    return s\n")

    def outcome() -> Any:
        with np.errstate(all="ignore"):
            try:
                value, found = value_and_grad(f)(0.7, b)
            except ArithmeticError as error:
                return type(error)
            return repr(value), repr(found)

    found = outcome()
    monkeypatch.setattr(ReverseContext, "fuses", False)
    assert found == outcome()
