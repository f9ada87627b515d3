"""`test_rule` catches rules whose forward pass is wrong: values, types, what they leave behind."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py.errors import MissingRuleError
from mooncake_py.tangents import CoDual, NoFData, zero_codual
from mooncake_py.testing import test_rule
from tests.testing.products import (
    NONE,
    A,
    B,
    Expect,
    multiply,
    right,
)


def test_fdata_of_the_output_not_zero(expect: Expect) -> None:
    def rule(_, a, b):
        y = CoDual(a.primal * b.primal, np.ones_like(A))
        return y, lambda dy: right(a, b, y, dy)

    expect("zero fdata after the forward pass", "output", multiply, A, B, rule=rule)


def test_wrong_value(expect: Expect) -> None:
    def rule(_, a, b):
        y = zero_codual(a.primal * b.primal + 1e-9)
        return y, lambda dy: right(a, b, y, dy)

    expect("primal value", "output", multiply, A, B, rule=rule)


def test_wrong_dtype_of_the_output(expect: Expect) -> None:
    def rule(_, a, b):
        y = zero_codual((a.primal * b.primal).astype(np.float64))
        return y, lambda dy: right(a, b, y, dy)

    message = expect("primal value", "output", multiply, A, B, rule=rule, dtypes=True)
    assert "expected: dtype float32" in message
    assert "got:      dtype float64" in message
    assert "(float32)" in message


def test_wrong_type_of_the_output(expect: Expect) -> None:
    def total(a):
        return np.sum(a)

    def rule(_, a):
        def pullback(dy):
            a.fdata[...] += dy
            return NONE, NONE

        return CoDual(float(total(a.primal)), NoFData()), pullback

    message = expect("primal value", "output", total, A, rule=rule)
    assert "expected: float64" in message


def test_wrong_dtype_of_the_fdata(expect: Expect) -> None:
    def rule(_, a, b):
        y = CoDual(a.primal * b.primal, np.zeros(A.shape, np.float32))
        return y, lambda dy: right(a, b, y, dy)

    expect("fdata of the output", "output", multiply, A, B, rule=rule)


def test_wrong_dtype_of_rdata(expect: Expect) -> None:
    def half(a):
        return a / 2

    def rule(_, a):
        return CoDual(half(a.primal), NoFData()), lambda dy: (NONE, np.float64(dy / 2))

    expect("rdata type", "args[0]", half, np.float32(3.0), rule=rule)


def test_no_pair(expect: Expect) -> None:
    message = expect("forward pass", "", multiply, A, B, rule=lambda f, a, b: a.primal * b.primal)
    assert "(CoDual, pullback)" in message


def test_forward_pass_raises(expect: Expect) -> None:
    def rule(_, a, b):
        raise IndexError("off the end")

    message = expect("forward pass", "", multiply, A, B, rule=rule)
    assert "IndexError: off the end" in message


def test_missing_rule_passes_with_a_note() -> None:
    def rule(_, a, b):
        raise MissingRuleError("no rule for something inside")

    with pytest.raises(MissingRuleError) as info:
        test_rule(multiply, A, B, rule=rule)
    assert any("raised by the rule of" in note for note in info.value.__notes__)


def test_forward_pass_changes_an_argument(expect: Expect) -> None:
    def rule(_, a, b):
        y = zero_codual(a.primal * b.primal)
        b.primal[0, 0] = 0.0
        return y, lambda dy: right(a, b, y, dy)

    expect("inputs after the call", "args[1]", multiply, A, B, rule=rule)
