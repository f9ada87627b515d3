"""What the operands of statements on arrays receive, as IR over the cotangent g of the value."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mooncake_py import grad
from mooncake_py.compiler.regions.ir import substituted
from mooncake_py.compiler.statements.array_adjoint import (
    Adjoint,
    Received,
    adjoint_of,
    checks,
    cost,
)
from mooncake_py.compiler.statements.plan import Plan
from tests.compiler.statements.cores import core_of, plan_of, text_of, texts


def plan(
    text: str, kinds: str = "array, array", active: str = "0,1", target: str = "", **rest
) -> Plan:
    return plan_of(core_of(text, target, rest.pop("out", False)), kinds, active, **rest)


def totals(received: Received) -> dict[int, str]:
    """Return the cotangent of each operand as one expression over g and operands."""
    values: dict = {}
    for let in received.steps:
        values[let.name] = substituted(let.value, values)
    return {k: text_of(substituted(e, values)) for k, e in received.totals.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b", {0: "g", 1: "g"}),
        ("a - b", {0: "g", 1: "-g"}),
        ("a * b", {0: "g * v1", 1: "g * v0"}),
        ("a / b", {0: "g / v1", 1: "-(t0 * (g / v1))"}),
        ("-(a - b)", {0: "-g", 1: "g"}),
        ("-a * -b", {0: "-(g * t1)", 1: "-(g * t0)"}),
        ("a * a + b", {0: "g * v0 + g * v0", 1: "g"}),
        ("np.sin(a) * 2.0 + b", {0: "g * 2.0 * f_rule(v0, None)", 1: "g"}),
        ("np.maximum(a, b)", {0: "g * w_t0_0", 1: "g * w_t0_1"}),
    ],
)
def test_products_with_partials(text, expected):
    assert totals(Adjoint(plan(text)).received()) == expected


def test_signs_are_taken_out():
    received = Adjoint(plan("-(a * b) - a")).received()
    assert not any("-" in line for line in texts(received.lets))
    assert {text_of(e)[0] for e in received.totals.values()} == {"-"}


def test_a_name_that_holds_the_other_sign_is_bound_once():
    received = Adjoint(plan("a * c - b * c", "array, array, array", "0,1,2")).received()
    assert totals(received)[0] == "g * v1"
    assert totals(received)[2] == "-(g * v1)"
    assert [text_of(e).lstrip("-") for k, e in received.totals.items() if k in (0, 2)] == ["d0"] * 2


def test_quotients_are_shared():
    received = Adjoint(plan("a / b")).received()
    assert sum("/" in line for line in texts(received.steps)) == 1


def test_only_active_operands_receive():
    assert totals(Adjoint(plan("a * b", active="1")).received()) == {1: "g * v0"}
    assert totals(Adjoint(plan("int(a) * b", "float, array", "1")).received()) == {1: "g * t0"}


def test_broadcast_operands_are_fitted():
    received = Adjoint(plan("a * b", "array, broadcast array")).received()
    assert totals(received)[1] == "reduced(g, v0, shape1)"
    received = Adjoint(plan("a - b", "array, broadcast array")).received()
    assert totals(received)[1] == "-fitted(g, shape1)"


def test_numbers_beside_arrays_receive_sums():
    received = Adjoint(plan("a * b + 1.0", "array, Active", "0")).received()
    assert totals(received) == {0: "g * v1", 1: "inner(g, v0)"}
    received = Adjoint(plan("b - a", "Active, array", "1")).received()
    assert totals(received) == {0: "summed(g)", 1: "-g"}


def test_products_of_matrices_receive_by_their_rule():
    received = Adjoint(plan("a @ b", "matrix, vector")).received()
    assert [text.split("(")[1] for text in totals(received).values()] == [
        "g, like_v0, v1)",
        "g, v0, like_v1)",
    ]


def test_sums_are_spread():
    received = Adjoint(plan("np.sum(a * b)", whole=None)).received()
    assert totals(received) == {0: "spread(g, shape) * v1", 1: "spread(g, shape) * v0"}


def test_the_slope_comes_first_where_that_takes_fewer_passes():
    one = plan("np.sum(a * a)", "array", "0", whole=None)
    assert "spread" in text_of(Adjoint(one).slope_first()[0].lets[-1].value)
    assert len(adjoint_of(one).steps) <= len(Adjoint(one).by_operations()[0].lets)
    cube = plan("a * a * a", "array", "0")
    assert len(adjoint_of(cube).steps) == min(
        cost(Adjoint(cube).by_operations()), cost(Adjoint(cube).slope_first())
    )


def test_what_an_augmented_target_keeps():
    assert totals(Adjoint(plan("*= b", target="a")).received()) == {0: "g * v1", 1: "g * v0"}
    assert totals(Adjoint(plan("-= b", target="a")).received()) == {0: "g", 1: "-g"}
    assert totals(Adjoint(plan("/= b", target="a")).received())[0] == "g / v1"


def test_masks_are_multiplied_in_place():
    received = Adjoint(plan("np.maximum(a, b)", target="a", out=True)).received()
    assert text_of(received.totals[0]) == "g * w_t0_0"
    assert texts(received.lets) == ["d1 = g * w_t0_1"]  # what is left of g is a difference
    assert checks(received)[-1] == "g"


def test_careful_products_are_zero_where_the_cotangent_is():
    received = Adjoint(plan("a * b + 2.0 * a"), careful=True).received()
    assert "product(g, v1)" in totals(received)[0]
    assert "g * 2.0" in totals(received)[0]


# What is looked at.


def test_sums_and_differences_need_no_check():
    assert checks(Adjoint(plan("2.0 * a - b")).received()) == []


def test_products_with_what_may_be_anything_are_checked():
    received = Adjoint(plan("a * b")).received()
    assert checks(received) == ["d0", "d1"]


def test_choices_are_checked_by_what_comes_in():
    assert checks(Adjoint(plan("np.maximum(a, b)")).received()) == ["g"]
    assert checks(Adjoint(plan("2.0 * np.fmin(a, b)", active="1")).received()) == ["g"]
    assert "g" not in checks(Adjoint(plan("a * b")).received())


def test_a_cotangent_that_is_nan_does_not_reach_what_was_not_chosen():
    def f(x, w):
        z = np.zeros(2)
        np.minimum(x * 2.0, w, out=z)
        return np.sum(np.sin(z))

    x, w = np.array([1.0, 2.0]), np.array([-np.inf, 8.0])
    with np.errstate(invalid="ignore"):
        assert_array_equal(grad(f)(x, w), [0.0, 2.0 * np.cos(4.0)])
