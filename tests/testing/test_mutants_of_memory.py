"""Mutants of user rules that are wrong about memory: what is written, kept, restored or shared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    CoDual,
    NoFData,
    elementwise,
    from_vjp,
    grad,
    increment,
    linear,
    local_rules,
    rrule,
    zero_codual,
)
from mooncake_py.testing import test_rule
from tests.testing.mutants import NONE, A, B, V, caught, caught_rule, one_argument, passes

REAL: dict[str, Any] = {"dtypes": np.float64}


def square(x):
    return x * x


def scale(x, a):
    x *= a


def assign(x, v):
    x[0] = v[0]


def scale_rule(
    *,
    restore: bool = True,
    rounding: bool = False,
    stale: bool = False,
    exit_cotangent: bool = True,
) -> Any:
    def rule(_: Any, x: CoDual, a: CoDual) -> Any:
        old = x.primal.copy()
        x.primal[...] *= a.primal

        def pullback(_: Any) -> Any:
            before = x.primal.copy() if stale else old
            if restore:
                x.primal[...] = x.primal / a.primal if rounding else old
            da = float(np.sum(before * x.fdata))
            if exit_cotangent:
                x.fdata[...] *= a.primal
            return NONE, NONE, da

        return CoDual(None, NoFData()), pullback

    return rule


def assign_rule(*, zero: bool = True, add: bool = True, undo: int = 0) -> Any:
    def rule(_: Any, x: CoDual, v: CoDual) -> Any:
        old = x.primal[:1].copy()
        x.primal[:1] = v.primal[:1]

        def pullback(_: Any) -> Any:
            x.primal[undo : undo + 1] = old
            g = x.fdata[:1].copy()
            if zero:
                x.fdata[:1] = 0
            if add:
                v.fdata[:1] += g
            else:
                v.fdata[:1] = g
            return NONE, NONE, NONE

        return CoDual(None, NoFData()), pullback

    return rule


def square_rule(pull: Any) -> Any:
    def rule(_: Any, x: CoDual) -> Any:
        y = zero_codual(square(x.primal))

        def pullback(dy: Any) -> Any:
            pull(x, y)
            return NONE, NONE

        return y, pullback

    return rule


# Functions that write.


def test_right_ones_pass() -> None:
    passes(scale_rule(), scale, V, 1.5, mutates=0, **REAL)
    passes(assign_rule(), assign, V, V + 1, mutates=0, **REAL)


def test_argument_not_restored() -> None:
    rule = scale_rule(restore=False)
    caught_rule("inputs restored", "args[0]", "", rule, scale, V, 1.5, mutates=0, **REAL)


def test_restored_up_to_rounding() -> None:
    rule = scale_rule(rounding=True)
    x = np.linspace(0.1, 2.0, 50)
    caught_rule("inputs restored", "args[0]", "", rule, scale, x, 5.7, mutates=0, **REAL)


def test_overwritten_value_read_on_the_way_back() -> None:
    rule = scale_rule(stale=True)
    caught_rule("derivative", "args[1]", "", rule, scale, V, 1.5, mutates=0, **REAL)


def test_cotangent_of_the_changed_argument_left_as_it_is() -> None:
    rule = scale_rule(exit_cotangent=False)
    caught_rule("derivative", "args[0]", "", rule, scale, V, 1.5, mutates=0, **REAL)


def test_slot_that_was_overwritten_not_cleared() -> None:
    rule = assign_rule(zero=False)
    caught_rule("derivative", "args[0]", "", rule, assign, V, V + 1, mutates=0, **REAL)


def test_cotangent_of_the_source_overwritten() -> None:
    rule = assign_rule(add=False)
    caught_rule("increments", "args[1]", "", rule, assign, V, V + 1, mutates=0, **REAL)


def test_the_wrong_slot_undone() -> None:
    rule = assign_rule(undo=1)
    caught_rule("inputs restored", "args[0]", "", rule, assign, V, V + 1, mutates=0, **REAL)


def test_slot_cleared_after_the_cotangent_was_added() -> None:
    """Right unless both arguments are one array: the slot is cleared with what was added to it."""

    def rule(_: Any, x: CoDual, v: CoDual) -> Any:
        old = x.primal[:1].copy()
        x.primal[:1] = v.primal[:1]

        def pullback(_: Any) -> Any:
            x.primal[:1] = old
            v.fdata[:1] += x.fdata[:1]
            x.fdata[:1] = 0
            return NONE, NONE, NONE

        return CoDual(None, NoFData()), pullback

    option = "aliasing=False leaves this check out: for rules for arguments that share no memory"
    caught_rule("derivative", "is args", option, rule, assign, V, V + 1, mutates=0, **REAL)


# What a declaration says of them.


def test_mutates_names_nothing_though_the_function_writes() -> None:
    rule = scale_rule()
    message = caught_rule("mutates", "args[0]", "", rule, scale, V, 1.5, mutates=(), **REAL)
    assert "mutates=0" in message


def test_mutates_names_another_argument() -> None:
    rule = assign_rule()
    message = caught_rule("mutates", "args[0]", "", rule, assign, V, V + 1, mutates=1, **REAL)
    assert "mutates=(0, 1)" in message


def test_more_may_be_declared_than_is_written() -> None:
    passes(assign_rule(), assign, V, V + 1, mutates=(0, 1), **REAL)
    passes(assign_rule(), assign, V, V + 1, mutates=None, **REAL)


def test_a_declared_function_that_writes() -> None:
    def clipped(x):
        np.maximum(x, 1.0, out=x)
        return x * 1.0

    with local_rules():
        from_vjp(clipped)(lambda x: (np.maximum(x, 1.0), lambda dy: dy * (x >= 1.0)))
        message = caught("mutates", "args[0]", "", clipped, V)
        assert "from_vjp: a function that changes nothing" in message
    with local_rules():
        elementwise(clipped, lambda x, y: (x >= 1.0) * 1.0)
        caught("mutates", "args[0]", "", clipped, V)
    with local_rules():
        linear(clipped)(lambda dy, x: dy)
        caught("mutates", "args[0]", "", clipped, V)


def test_an_object_that_changes_itself() -> None:
    class Counter:
        n = 0.0

    def count(counter, x):
        counter.n = counter.n + x
        return counter.n * x

    with local_rules():
        from_vjp(count)(lambda counter, x: (count(counter, x), lambda dy: ({}, dy * x)))
        caught("mutates", "args[0]", "", count, Counter(), 2.0)


# Cotangents.


def test_cotangent_overwritten() -> None:
    def pull(x, y):
        x.fdata[...] = 2 * y.fdata * np.conj(x.primal)

    caught_rule("increments", "args[0]", "", square_rule(pull), square, A)


def test_cotangent_of_the_output_used_up() -> None:
    def pull(x, y):
        y.fdata[...] *= 2 * np.conj(x.primal)
        increment(x, y.fdata)

    caught_rule(
        "incoming cotangent unchanged",
        "output",
        "cotangent_kept=False",
        square_rule(pull),
        square,
        A,
    )


def test_rule_that_computes_with_the_cotangent_of_a_constant() -> None:
    def product(a, b):
        return a * b

    def rule(_: Any, a: CoDual, b: CoDual) -> Any:
        y = zero_codual(a.primal * b.primal)

        def pullback(dy: Any) -> Any:
            if not isinstance(a.fdata, NoFData):
                increment(a, y.fdata * np.conj(b.primal))
                increment(b, y.fdata * np.conj(a.primal))
            return NONE, NONE, NONE

        return y, pullback

    option = "constants=False leaves this check out: for rules for arguments that are all"
    message = caught_rule(
        r"constant args[0]", "args[1]", option, rule, product, A, B, layouts="C", dtypes=np.float64
    )
    assert "NoFData()" in message


def test_fdata_of_the_argument_returned_with_a_new_output() -> None:
    def rule(_: Any, x: CoDual) -> Any:
        def pullback(dy: Any) -> Any:
            x.fdata[...] *= 2 * np.conj(x.primal)
            return NONE, NONE

        return CoDual(square(x.primal), x.fdata), pullback

    caught_rule("aliasing of the fdata", "output", "", rule, square, A)


def test_one_array_returned_as_two_cotangents_is_right() -> None:
    """The engine copies what a pullback returns."""

    def total(a, b):
        return a + b

    def rule(a, b):
        def pullback(dy):
            return dy, dy

        return a + b, pullback

    with local_rules():
        from_vjp(total)(rule)
        test_rule(total, A, B, layouts=False)
        da, db = grad(lambda a, b: np.sum(total(a, b) * a), argnums=(0, 1))(A, B)
    np.testing.assert_allclose(da, 2 * A + B)
    np.testing.assert_allclose(db, A)


# State.


def test_state_of_the_last_call_kept_on_the_rule() -> None:
    kept: dict[str, Any] = {}

    def rule(_: Any, x: CoDual) -> Any:
        kept["x"] = x.primal
        y = zero_codual(square(x.primal))

        def pullback(dy: Any) -> Any:
            increment(x, 2 * y.fdata * np.conj(kept["x"]))
            return NONE, NONE

        return y, pullback

    caught_rule("reuse", "args[0]", "", rule, square, A)


def test_state_of_the_last_call_kept_by_a_declared_rule() -> None:
    kept: dict[str, Any] = {}

    def rule(x):
        kept["x"] = x

        def pullback(dy):
            return 2 * dy * np.conj(kept["x"])

        return x * x, pullback

    with local_rules():
        from_vjp(square)(rule)
        caught("reuse", "args[0]", "", square, A)


def test_buffer_used_by_every_call() -> None:
    buffer = np.empty_like(A)

    def rule(_: Any, x: CoDual) -> Any:
        np.conj(x.primal, out=buffer)
        y = zero_codual(square(x.primal))

        def pullback(dy: Any) -> Any:
            increment(x, 2 * y.fdata * buffer)
            return NONE, NONE

        return y, pullback

    caught_rule("reuse", "args[0]", "", rule, square, A, layouts="C", dtypes=np.float64)


def test_pullback_that_uses_up_what_it_saved() -> None:
    def rule(_: Any, x: CoDual) -> Any:
        saved = np.conj(x.primal).copy()
        y = zero_codual(square(x.primal))

        def pullback(dy: Any) -> Any:
            np.multiply(saved, 2 * y.fdata, out=saved)
            increment(x, saved)
            return NONE, NONE

        return y, pullback

    caught_rule("pullback called twice", "args[0]", "", rule, square, A)


def test_argument_kept_although_it_may_be_overwritten_is_right() -> None:
    """The engine undoes every write before the pullback reads the argument again."""
    with local_rules():
        rrule.register(square, mutates=())(one_argument(square, lambda g, x: 2 * g * np.conj(x)))
        test_rule(square, A)

        def program(x):
            x = x * 1.0
            y = square(x)
            x[...] = 0.0
            return np.sum(y)

        np.testing.assert_allclose(grad(program)(A), 2 * A)


@pytest.mark.parametrize("declared", [{"dtypes": np.int64}, {"dtypes": ()}, {"layouts": "K"}])
def test_declarations_that_mean_nothing(declared: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^(dtypes=|layouts=)"):
        from_vjp(square, **declared)(lambda x: (x * x, lambda dy: 2 * dy * x))
