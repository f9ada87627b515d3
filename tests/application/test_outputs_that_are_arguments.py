"""Rules of users whose output is memory of an argument, which has one derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    CoDual,
    Dual,
    NoRData,
    bilinear,
    elementwise,
    from_vjp,
    frule,
    grad,
    jvp,
    linear,
    rrule,
    zero_codual,
    zero_derivative,
)
from mooncake_py.errors import MissingRuleError
from mooncake_py.testing import test_rule as check_rule

X = np.ones(3)


def by_vjp(f: Any) -> None:
    from_vjp(f)(lambda x: (f(x), lambda dy: (dy[0] if isinstance(dy, tuple) else -dy,)))


def by_adjoint(f: Any) -> None:
    linear(f)(lambda dy, x: -dy)


def by_partials(f: Any) -> None:
    elementwise(f, lambda x, out: -1.0)


def without_any(f: Any) -> None:
    zero_derivative(f, because="a constant here")


def by_coduals(f: Any) -> None:
    @rrule.register(f, mutates=())
    def rule(_: Any, x: Any) -> Any:
        return zero_codual(f(x.primal)), lambda _: (NoRData(), NoRData())


def by_duals(f: Any) -> None:
    by_vjp(f)

    @frule.register(f)
    def rule(_: Any, x: Any) -> Any:
        y = f(x.primal)
        return Dual(y, tuple(map(np.ones_like, y)) if isinstance(y, tuple) else np.ones_like(y))


OUTPUTS: dict[str, Callable[[Any], Any]] = {
    "argument": lambda x: x,
    "view": lambda x: x[::-1],
    "owner": lambda x: x.base if x.base is not None else x,
    "tuple": lambda x: (2.0 * x, x[1:]),
}
BOTH = "reverse", "forward"
DECLARE: dict[Callable[[Any], None], tuple[str, ...]] = {
    by_vjp: BOTH, by_adjoint: BOTH, by_partials: BOTH, without_any: BOTH, by_coduals: BOTH[:1],
    by_duals: BOTH,
}  # fmt: skip


def derivative(mode: str, f: Any) -> Any:
    return grad(f) if mode == "reverse" else lambda x: jvp(f, (x,), (np.ones_like(x),))


def total(y: Any) -> Any:
    return sum(map(total, y)) if isinstance(y, tuple) else np.sum(y)


@pytest.mark.plain  # debug mode has checks and messages of its own
@pytest.mark.parametrize("declare", DECLARE)
@pytest.mark.parametrize("name", OUTPUTS)
def test_they_are_refused(name: str, declare: Callable[[Any], None]) -> None:
    if name == "tuple" and declare is by_adjoint:
        return  # it is refused as such

    def f(x: Any) -> Any:
        return OUTPUTS[name](x)

    declare(f)
    for mode in DECLARE[declare]:
        for g in (lambda x: total(f(x)) + x[0], lambda x: total(f(x[:])) * x[0]):
            with pytest.raises(MissingRuleError, match="returns an argument, or a view of one"):
                derivative(mode, g)(np.ones(3))


@pytest.mark.parametrize("mode", BOTH)
def test_those_of_bilinear_functions_are_refused(mode: str) -> None:
    def f(a: Any, b: Any) -> Any:
        return a

    bilinear(f, left=lambda dy, a, b: dy, right=lambda dy, a, b: dy)
    with pytest.raises(MissingRuleError, match="returns an argument, or a view of one"):
        derivative(mode, lambda x: np.sum(f(x, 2.0 * x)))(np.ones(3))


@pytest.mark.parametrize("declare", [by_vjp, by_adjoint, by_partials, without_any])
def test_checks_of_rules_say_so(declare: Callable[[Any], None]) -> None:
    def f(x: Any) -> Any:
        return x

    declare(f)
    with pytest.raises(MissingRuleError, match="returns an argument, or a view of one"):
        check_rule(f, X)


@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("declare", [by_vjp, by_adjoint, by_partials])
def test_copies_follow_their_rule(declare: Callable[[Any], None], mode: str) -> None:
    def f(x: Any) -> Any:
        return -x.copy()

    declare(f)
    found = derivative(mode, lambda x: np.sum(f(x)))(np.ones(3))
    np.testing.assert_array_equal(
        found if mode == "reverse" else found[1], -1.0 if mode == "reverse" else -3.0
    )


def test_a_rule_by_hand_may_return_an_argument_with_what_is_beside_it() -> None:
    def f(x: Any) -> Any:
        return x[1:]

    @rrule.register(f, mutates=())
    def rule(_: Any, x: Any) -> Any:
        return CoDual(x.primal[1:], x.fdata[1:]), lambda _: (NoRData(), NoRData())

    @frule.register(f)
    def forward(_: Any, x: Any) -> Any:
        return Dual(x.primal[1:], x.tangent[1:])

    np.testing.assert_array_equal(grad(lambda x: np.sum(f(x) * 2.0))(X.copy()), [0.0, 2.0, 2.0])
    assert jvp(lambda x: np.sum(f(x) * 2.0), (X.copy(),), (np.arange(3.0),)) == (4.0, 6.0)


@pytest.mark.plain  # debug mode has checks and messages of its own
@pytest.mark.parametrize("mode", BOTH)
def test_a_dict_by_hand_may_not_hold_an_argument_with_something_else_beside_it(mode: str) -> None:
    def f(x: Any) -> Any:
        return {"a": x[1:]}

    by_coduals(f)

    @frule.register(f)
    def forward(_: Any, x: Any) -> Any:
        return Dual(f(x.primal), {"a": np.ones(len(x.primal) - 1)})

    with pytest.raises(MissingRuleError, match="returns an argument, or a view of one"):
        derivative(mode, lambda x: np.sum(f(x)["a"]) + x[0])(np.ones(3))
