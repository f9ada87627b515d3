"""Exceptions, assertions and pattern matching: each program against finite differences."""
# The unusual style of the programs is the point of them.
# ruff: noqa: PT017
# pyright: basic, reportAttributeAccessIssue=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from mooncake_py import DerivativeDropError, grad
from tests.support.gradients import Program, Programs

programs = Programs()


@programs(2.0)
def try_except_after_mutation(x):
    a = np.zeros(2)
    try:
        a[0] = x * 3
        a[5] = x
    except IndexError:
        a[1] = x * x
    return a[0] * a[1]


@programs(2.0)
def try_else_finally(x):
    log = []
    try:
        y = x * x
    except ValueError:
        y = 0.0
    else:
        y = y * 3
    finally:
        log.append(y)
    return log[0]


@programs(2.0)
def finally_overrides_return(x):
    def inner():
        try:
            return x
        finally:
            scaled.append(x * 2)

    scaled: list[Any] = []
    return inner() * scaled[0]


@programs(2.0)
def exception_carries_value(x):
    try:
        raise ValueError(x * x)
    except ValueError as error:
        return error.args[0] * 3


@programs(2.0)
def exception_chain(x):
    try:
        try:
            raise KeyError(x)
        except KeyError as error:
            raise RuntimeError(x * 2) from error
    except RuntimeError as error:
        assert error.__cause__ is not None
        return error.args[0] * error.__cause__.args[0]


@programs(2.0)
def exception_group(x):
    total = 0.0
    try:
        raise ExceptionGroup("both", [ValueError(x), TypeError(x * x)])
    except* ValueError as group:
        total += group.exceptions[0].args[0]
    except* TypeError as group:
        total += group.exceptions[0].args[0]
    return total


@programs(2.0)
def exception_from_called_function(x):
    def fail(v):
        if v > 1:
            raise ArithmeticError(v * v)
        return v

    try:
        return fail(x)
    except ArithmeticError as error:
        return error.args[0]


@programs(2.0)
def assert_statement(x):
    assert x > 1, f"too small: {x}"
    return x * x


@programs(2.0)
def match_sequence(x):
    match [x, x * x, 3]:
        case [a, b, int(n)] if n > 2:
            return a * b * n
        case _:
            return 0.0


@programs(2.0)
def match_mapping(x):
    match {"kind": "circle", "radius": x}:
        case {"kind": "square", "side": s}:
            return s * s
        case {"kind": "circle", "radius": r}:
            return 3.0 * r * r
        case _:
            return 0.0


@programs(2.0)
def match_type_and_capture(x):
    match x * 3:
        case float() as y:
            return y * y
        case _:
            return 0.0


@programs(2.0)
def match_literals_and_star(x):
    total = 0.0
    for command in (("set", x), ("add", x, x * x), ("stop",)):
        match command:
            case ("set", v):
                total = v
            case ("add", *values):
                total += sum(values)
            case ("stop" | "halt",):
                total *= 2
    return total


class Kept(ExceptionGroup):
    """Stays of its class where it is split."""

    def derive(self, excs):
        return Kept(self.message, excs)


@programs(2.0)
def groups_that_are_split_by_code_of_their_own(x):
    total = 0.0
    try:
        inner = Kept("in", [ValueError(x * x), TypeError("t")])
        raise ExceptionGroup("out", [inner, KeyError(3.0)])
    except* ValueError as group:
        total += group.exceptions[0].exceptions[0].args[0]
    except* TypeError as group:
        assert type(group.exceptions[0]) is Kept
        total *= x
    except* KeyError:
        total *= 2.0
    return total


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


@pytest.mark.parametrize("mode", [grad, partial(grad, mode="forward"), partial(grad, debug=True)])
def test_groups_whose_code_reads_active_data_are_refused(mode: Any) -> None:
    def f(x):
        class Rated(ExceptionGroup):
            def derive(self, excs):
                group = Rated(self.message, excs)
                group.rate = x[0] * x[0]
                return group

        try:
            raise Rated("m", [ValueError(1.0), TypeError("2")])
        except* ValueError as group:
            rate = group.rate
        except* TypeError:
            pass
        return rate

    with pytest.raises(DerivativeDropError, match=r"Rated.derive reads active data"):
        mode(f)(np.array([3.0, 2.0]))


def test_groups_whose_code_writes_are_refused() -> None:
    seen = []

    class Counting(ExceptionGroup):
        def derive(self, excs):
            seen.append(len(excs))
            return Counting(self.message, excs)

    def f(x):
        try:
            raise Counting("m", [ValueError(1.0), TypeError("2")])
        except* (ValueError, TypeError):
            pass
        return x * x

    with pytest.raises(DerivativeDropError, match="derive changes something"):
        grad(f)(2.0)
    assert seen == []
