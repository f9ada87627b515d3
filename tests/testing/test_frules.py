"""`test_rule` checks handwritten forward rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from mooncake_py import (
    CoDual,
    Dual,
    NoFData,
    NoRData,
    NoTangent,
    RuleTestError,
    frule,
    local_rules,
    rrule,
)
from mooncake_py.testing import test_rule

Expect = Callable[..., str]


@pytest.fixture(autouse=True)
def block() -> Iterator[None]:
    with local_rules():
        yield


def scale(x, a):
    x *= a


def scale_rrule(_, x, a):
    old = x.primal.copy()
    x.primal[...] *= a.primal

    def scale_pullback(_):
        x.primal[...] = old
        da = float(np.sum(old * x.fdata))
        x.fdata[...] *= a.primal
        return NoRData(), NoRData(), da

    return CoDual(None, NoFData()), scale_pullback


def right(_, x, a):
    x.tangent[...] = a.primal * x.tangent + a.tangent * x.primal
    x.primal[...] *= a.primal
    return Dual(None, NoTangent())


def product_rule_forgotten(_, x, a):
    x.tangent[...] *= a.primal
    x.primal[...] *= a.primal
    return Dual(None, NoTangent())


def new_values(_, x, a):
    x.primal[...] *= a.primal
    x.tangent[...] = a.primal * x.tangent + a.tangent * x.primal
    return Dual(None, NoTangent())


def primal_not_changed(_, x, a):
    x.tangent[...] = a.primal * x.tangent + a.tangent * x.primal
    return Dual(None, NoTangent())


def returns_nothing(_, x, a):
    right(_, x, a)


def check(rule) -> None:
    frule.register(scale, mutates=0)(rule)
    test_rule(scale, np.array([1.0, -2.0]), 3.0, layouts=False, dtypes=False)


@pytest.mark.without_modes("the rules are for arrays", "other_shapes")
def test_right_rule_beside_a_derived_one() -> None:
    check(right)


@pytest.mark.without_modes("the rules are for arrays", "other_shapes")
def test_right_rule_beside_one_of_coduals() -> None:
    rrule.register(scale, mutates=0, dtypes=np.float64)(scale_rrule)
    check(right)


@pytest.mark.parametrize("rule", [product_rule_forgotten, new_values])
def test_wrong_tangent_of_an_argument(rule) -> None:
    with pytest.raises(RuleTestError, match="check 'forward rule' failed"):
        check(rule)


def test_argument_that_is_not_changed() -> None:
    with pytest.raises(RuleTestError, match=r"'forward rule: primals' failed at args\[0\]"):
        check(primal_not_changed)


def test_change_that_mutates_does_not_name() -> None:
    frule.register(scale, mutates=())(right)
    with pytest.raises(RuleTestError, match=r"'forward mode: inputs restored' failed at args\[0\]"):
        test_rule(scale, np.array([1.0, -2.0]), 3.0, layouts=False, dtypes=False)


def test_no_dual() -> None:
    with pytest.raises(RuleTestError, match="'forward rule: output' failed"):
        check(returns_nothing)


def for_active_numbers_only(_, x, a):
    if type(a.tangent) is float and a.tangent == 0.0:
        raise TypeError("a constant")
    return right(_, x, a)


def wrong_beside_a_constant(_, x, a):
    if a.tangent == 0.0:
        return product_rule_forgotten(_, x, Dual(2.0 * a.primal, 0.0))
    return right(_, x, a)


def test_each_number_is_constant_once() -> None:
    with pytest.raises(TypeError, match="a constant"):
        check(for_active_numbers_only)


def test_wrong_tangent_beside_a_constant_number() -> None:
    with pytest.raises(RuleTestError, match=r"(?s)args\[1\] constant.*constants=False"):
        check(wrong_beside_a_constant)


def root(x):
    return np.sqrt(x)


def test_tangent_of_another_type() -> None:
    frule.register(root, mutates=())(
        lambda _, x: Dual(root(x.primal), list(0.5 * x.tangent / root(x.primal)))
    )
    with pytest.raises(RuleTestError, match="'forward rule: tangent type' failed at output"):
        test_rule(root, np.array([1.0, 4.0]), layouts=False, dtypes=False)


def test_wrong_factor_by_itself_or_in_a_program() -> None:
    frule.register(root, mutates=())(lambda _, x: Dual(root(x.primal), x.tangent / root(x.primal)))
    with pytest.raises(RuleTestError, match="check 'forward rule' failed"):
        test_rule(root, np.array([1.0, 4.0]), layouts=False, dtypes=False)
    with pytest.raises(RuleTestError, match="check 'forward mode' failed"):
        test_rule(lambda x: root(x) + 1.0, np.array([1.0, 4.0]), layouts=False, dtypes=False)
