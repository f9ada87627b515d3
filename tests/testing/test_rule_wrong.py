"""`test_rule` catches rules that are wrong on purpose, and says what is wrong with them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mooncake_py import from_vjp, local_rules
from mooncake_py.errors import RuleTestError
from mooncake_py.tangents import CoDual, NoFData, increment, zero_codual, zero_tangent
from mooncake_py.testing import test_rule
from tests.testing.products import (
    NONE,
    ONLY_BASE,
    A,
    B,
    Expect,
    multiply,
    product_rule,
    right,
)


def test_the_frame_of_these_rules_is_right() -> None:
    test_rule(multiply, A, B, rule=product_rule(right), **ONLY_BASE)


def test_wrong_sign(expect: Expect) -> None:
    def pull(a, b, y, dy):
        increment(a, y.fdata * b.primal)
        increment(b, -y.fdata * a.primal)
        return NONE, NONE, NONE

    message = expect("derivative", "args[1]", multiply, A, B, rule=product_rule(pull))
    assert "multiply" in message
    for step in ("1e-02", "1e-03", "1e-04", "1e-05", "1e-06", "1e-07", "1e-08"):
        assert f"step {step}" in message
    expected, got = (float(x) for x in re.findall(r"(?:expected|got): +(\S+)  \(", message))
    assert expected == pytest.approx(-got, rel=1e-6)


def test_error_in_one_element_of_many(expect: Expect) -> None:
    def pull(a, b, y, dy):
        wrong = y.fdata * b.primal
        wrong[1, 2] *= 1.001
        increment(a, wrong)
        increment(b, y.fdata * a.primal)
        return NONE, NONE, NONE

    expect("derivative", "args[0]", multiply, A, B, rule=product_rule(pull))


@pytest.mark.parametrize("error", [1e-4, 1e-5])
def test_small_relative_error(error: float, expect: Expect) -> None:
    def pull(a, b, y, dy):
        increment(a, y.fdata * b.primal)
        increment(b, y.fdata * a.primal * (1 + error))
        return NONE, NONE, NONE

    expect("derivative", "args[1]", multiply, A, B, rule=product_rule(pull))


def test_swapped_arguments(expect: Expect) -> None:
    def pull(a, b, y, dy):
        increment(a, y.fdata * a.primal)
        increment(b, y.fdata * b.primal)
        return NONE, NONE, NONE

    expect("derivative", "args[0]", multiply, A, B, rule=product_rule(pull))


def test_missing_unbroadcast(expect: Expect) -> None:
    def pull(a, b, y, dy):
        increment(a, y.fdata * b.primal)
        increment(b, (y.fdata * a.primal)[0])
        return NONE, NONE, NONE

    expect("derivative", "args[1]", multiply, A, B[0], rule=product_rule(pull))


def test_missing_unbroadcast_that_raises(expect: Expect) -> None:
    message = expect("reverse pass", "", multiply, A, B[0], rule=product_rule(right))
    assert "ValueError" in message


def test_missing_unbroadcast_found_by_a_variant(expect: Expect) -> None:
    def pull(a, b, y, dy):
        g = dy if isinstance(y.fdata, NoFData) else y.fdata
        increment(a, g * b.primal)
        increment(b, g * a.primal)
        return NONE, NONE, NONE

    rule = product_rule(pull)
    test_rule(multiply, A, B, rule=rule, **ONLY_BASE)
    message = expect("reverse pass", "(args[0] 0-d)", multiply, A, B, rule=rule, layouts=True)
    assert "ValueError" in message


def test_overwrites_instead_of_incrementing(expect: Expect) -> None:
    def pull(a, b, y, dy):
        increment(a, y.fdata * b.primal)
        b.fdata[...] = y.fdata * a.primal
        return NONE, NONE, NONE

    message = expect("increments", "args[1]", multiply, A, B, rule=product_rule(pull))
    assert "never overwrite" in message


def test_wrong_count_of_rdata(expect: Expect) -> None:
    def pull(a, b, y, dy):
        return right(a, b, y, dy)[1:]

    message = expect("count of rdata", "", multiply, A, B, rule=product_rule(pull))
    assert "a tuple of 3: the function first" in message


def test_rdata_returned_for_an_array(expect: Expect) -> None:
    def pull(a, b, y, dy):
        increment(a, y.fdata * b.primal)
        return NONE, NONE, y.fdata * a.primal

    expect("rdata type", "args[1]", multiply, A, B, rule=product_rule(pull))


def test_incoming_cotangent_mutated(expect: Expect) -> None:
    def pull(a, b, y, dy):
        increment(a, y.fdata * b.primal)
        dy = y.fdata
        dy *= a.primal
        increment(b, dy)
        return NONE, NONE, NONE

    expect("incoming cotangent unchanged", "output", multiply, A, B, rule=product_rule(pull))
    test_rule(multiply, A, B, rule=product_rule(pull), cotangent_kept=False, constants=False,
              **ONLY_BASE)  # fmt: skip


def test_constant_argument_ignored(expect: Expect) -> None:
    def pull(a, b, y, dy):
        np.add(a.fdata, y.fdata * b.primal, out=a.fdata)
        increment(b, y.fdata * a.primal)
        return NONE, NONE, NONE

    message = expect("reverse pass", "args[0] constant", multiply, A, B, rule=product_rule(pull))
    assert "TypeError" in message
    test_rule(multiply, A, B, rule=product_rule(pull), constants=False, **ONLY_BASE)


def test_constant_argument_silences_the_other(expect: Expect) -> None:
    def pull(a, b, y, dy):
        if not isinstance(a.fdata, NoFData):
            right(a, b, y, dy)
        return NONE, NONE, NONE

    expect("constant args.0.", "args[1]", multiply, A, B, rule=product_rule(pull))


def test_output_constant_although_an_input_is_active(expect: Expect) -> None:
    def rule(_, a, b):
        y = a.primal * b.primal
        if isinstance(a.fdata, NoFData):
            return CoDual(y, NoFData()), lambda dy: (NONE, NONE, NONE)
        y = zero_codual(y)
        return y, lambda dy: right(a, b, y, dy)

    expect("fdata of the output", "args[0] constant", multiply, A, B, rule=rule)


def test_pullback_uses_up_what_it_saved(expect: Expect) -> None:
    def rule(_, a, b):
        y = zero_codual(a.primal * b.primal)
        saved = [b.primal.copy()]

        def pullback(dy):
            increment(a, y.fdata * saved[0])
            saved[0] = saved[0] * 0
            increment(b, y.fdata * a.primal)
            return NONE, NONE, NONE

        return y, pullback

    expect("pullback called twice", "args[0]", multiply, A, B, rule=rule)


# State between calls.


def test_state_of_the_first_call_kept(expect: Expect) -> None:
    saved = {}

    def rule(_, a, b):
        y = zero_codual(a.primal * b.primal)
        saved.setdefault("b", b.primal.copy())

        def pullback(dy):
            increment(a, y.fdata * saved["b"])
            increment(b, y.fdata * a.primal)
            return NONE, NONE, NONE

        return y, pullback

    message = expect("reuse", "args[0]", multiply, A, B, rule=rule)
    assert "state kept between calls" in message


def test_state_of_the_last_call_kept(expect: Expect) -> None:
    saved = {}

    def rule(_, a, b):
        y = zero_codual(a.primal * b.primal)
        saved["b"] = b.primal.copy()

        def pullback(dy):
            increment(a, y.fdata * saved["b"])
            increment(b, y.fdata * a.primal)
            return NONE, NONE, NONE

        return y, pullback

    expect("reuse", "args[0]", multiply, A, B, rule=rule)


def test_shadow_of_the_output_kept_between_calls(expect: Expect) -> None:
    shadow = np.zeros_like(A)

    def rule(_, a, b):
        y = CoDual(a.primal * b.primal, shadow)
        return y, lambda dy: right(a, b, y, dy)

    expect("reuse", "fdata of args[0]", multiply, A, B, rule=rule)


# Zero cotangents and kinks.


def test_nan_at_zero_cotangent(expect: Expect) -> None:
    def rule(_, x):
        y = zero_codual(np.sqrt(x.primal))

        def pullback(dy):
            with np.errstate(all="ignore"):
                increment(x, y.fdata * (0.5 / y.primal))
            return NONE, NONE

        return y, pullback

    x = np.array([0.0, 1.0, 4.0])
    expect("zero cotangent", "args[0]", np.sqrt, x, rule=rule, interface_only=True)


def test_constant_added_at_zero_cotangent(expect: Expect) -> None:
    def pull(a, b, y, dy):
        right(a, b, y, dy)
        increment(b, np.ones_like(B))
        return NONE, NONE, NONE

    expect("zero cotangent", "args[1]", multiply, A, B, rule=product_rule(pull))


def test_nan_at_a_kink(expect: Expect) -> None:
    def rule(_, x):
        y = zero_codual(np.abs(x.primal))

        def pullback(dy):
            with np.errstate(all="ignore"):
                slope = x.primal / y.primal
            increment(x, np.where(y.fdata == 0, 0.0, y.fdata * slope))
            return NONE, NONE

        return y, pullback

    x = np.array([0.0, 1.0, -4.0])
    expect("no nan at kinks", "args[0]", np.abs, x, rule=rule, interface_only=True)


# Places in the message.


def test_path_into_nested_arguments(expect: Expect) -> None:
    def weigh(x, parameters):
        return parameters["w"][1] * x

    def rule(_, x, parameters):
        y = weigh(x.primal, parameters.primal)

        def pullback(dy):
            parameters.primal["w"][1] += 0.0
            parameters.primal["w"] = list(parameters.primal["w"])
            return NONE, dy * parameters.primal["w"][1], NONE

        return CoDual(y, NoFData()), pullback

    expect("inputs restored", "args[1]['w']", weigh, 2.0, {"w": [1.0, 3.0]}, rule=rule)


def test_complex_conjugate_forgotten(expect: Expect) -> None:
    def pull(a, b, y, dy):
        g = y.fdata
        increment(a, g * b.primal if a.primal.dtype.kind == "c" else (g * b.primal).real)
        increment(b, g * a.primal if b.primal.dtype.kind == "c" else (g * a.primal).real)
        return NONE, NONE, NONE

    rule = product_rule(pull)
    test_rule(multiply, A, B, rule=rule, **ONLY_BASE)
    message = expect("derivative", "args[0]", multiply, A, B, rule=rule, dtypes=True)
    assert "complex" in message


def test_wrong_for_a_layout(expect: Expect) -> None:
    def rule(_, a, b):
        y = zero_codual(a.primal * b.primal)

        def pullback(dy):
            increment(a, y.fdata * b.primal)
            flat = np.ravel(b.fdata, order="K")  # the memory itself only if it is dense
            flat += np.ravel(y.fdata * a.primal, order="K")
            return NONE, NONE, NONE

        return y, pullback

    test_rule(multiply, A, B, rule=rule, constants=False, **ONLY_BASE)
    message = expect("derivative", "args[1]", multiply, A, B, rule=rule, constants=False,
                     layouts=True)  # fmt: skip
    assert "strided views" in message


def test_no_differences_at_the_point_says_so(expect: Expect) -> None:
    def spike(x):
        if x != 2.0:
            raise ValueError("only at 2")
        return x

    def rule(_, x):
        return CoDual(x.primal, NoFData()), lambda dy: (NONE, dy)

    message = expect("finite differences", "args[0]", spike, 2.0, rule=rule)
    assert "interface_only=True" in message


def test_fdata_of_an_object_not_updated(expect: Expect) -> None:
    class Box:
        def __init__(self, w):
            self.w = w

    def content(box):
        return box.w * 2.0

    def rule(_, box):
        assert zero_tangent(box.primal).w == 0.0
        return CoDual(content(box.primal), NoFData()), lambda dy: (NONE, NONE)

    expect("derivative", "args[0]", content, Box(3.0), rule=rule)


def pair(x):
    return np.sin(x), np.cos(x)


def test_rule_that_needs_the_cotangent_of_every_output() -> None:
    def needs_both(x):
        s, c = pair(x)
        return (s, c), lambda dy: dy[0] * c - dy[1] * s

    with local_rules():
        from_vjp(pair)(needs_both)
        with pytest.raises(RuleTestError) as info:
            test_rule(pair, A, **ONLY_BASE)
    assert "check 'each output alone' failed at output[0]" in str(info.value)


def test_rule_that_is_right_for_all_outputs_together_only() -> None:
    def waits(x):
        s, c = pair(x)

        def pullback(dy):
            if dy[0] is None or dy[1] is None:
                return None
            return dy[0] * c - dy[1] * s

        return (s, c), pullback

    with local_rules():
        from_vjp(pair)(waits)
        with pytest.raises(RuleTestError) as info:
            test_rule(pair, A, **ONLY_BASE)
    assert "check 'each output alone' failed at args[0]" in str(info.value)
