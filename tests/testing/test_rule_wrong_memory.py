"""`test_rule` catches rules that treat memory wrongly: changes in place, views, shared arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.tangents import CoDual, NoFData, NoRData, increment, zero_codual
from mooncake_py.testing import test_rule

RNG = np.random.default_rng(20240503)
A = RNG.standard_normal((3, 4))
B = RNG.standard_normal((3, 4))
NONE = NoRData()
Expect = Callable[..., str]


# Changes in place.


def halve(x):
    x /= 2
    return x


def halve_rule(*, restore: bool = True, factor: float = 0.5, view: bool = True) -> Any:
    def rule(_, x):
        old = x.primal.copy()
        halve(x.primal)
        y = x if view else zero_codual(x.primal)

        def pullback(dy):
            if restore:
                x.primal[...] = old
            x.fdata[...] *= factor
            return NONE, NONE

        return y, pullback

    return rule


def test_in_place_frame_is_right() -> None:
    test_rule(halve, A.copy(), rule=halve_rule(), dtypes=False)


def test_argument_not_restored(expect: Expect) -> None:
    expect("inputs restored", "args[0]", halve, A.copy(), rule=halve_rule(restore=False))


def test_restored_up_to_rounding_only(expect: Expect) -> None:
    def third(x):
        x /= 3

    def rule(_, x):
        third(x.primal)

        def pullback(dy):
            x.primal[...] *= 3
            x.fdata[...] /= 3
            return NONE, NONE

        return CoDual(None, NoFData()), pullback

    expect("inputs restored", "args[0]", third, A.copy(), rule=rule)


def test_argument_replaced_in_its_list_is_not_restored(expect: Expect) -> None:
    def replace(items):
        items[1] = items[1] * 2.0

    def rule(_, items):
        old, old_shadow = items.primal[1], items.fdata[1]
        replace(items.primal)
        items.fdata[1] = np.zeros_like(old)

        def pullback(dy):
            items.primal[1] = old.copy()
            old_shadow[...] += 2.0 * items.fdata[1]
            items.fdata[1] = old_shadow
            return NONE, NONE

        return CoDual(None, NoFData()), pullback

    message = expect("inputs restored", "args[0][1]", replace, [1.0, A.copy()], rule=rule)
    assert "the same object" in message


def test_exit_cotangent_of_a_changed_argument_dropped(expect: Expect) -> None:
    def overwrite(x, v):
        x[...] = v

    def rule(_, x, v):
        old = x.primal.copy()
        overwrite(x.primal, v.primal)

        def pullback(dy):
            x.primal[...] = old
            x.fdata[...] = 0
            return NONE, NONE, NONE

        return CoDual(None, NoFData()), pullback

    expect("derivative", "args[1]", overwrite, A.copy(), B, rule=rule)


def test_cotangent_of_overwritten_memory_not_cleared(expect: Expect) -> None:
    def overwrite(x, v):
        x[...] = v

    def rule(_, x, v):
        old = x.primal.copy()
        overwrite(x.primal, v.primal)

        def pullback(dy):
            x.primal[...] = old
            increment(v, x.fdata)
            return NONE, NONE, NONE

        return CoDual(None, NoFData()), pullback

    expect("derivative", "args[0]", overwrite, A.copy(), B, rule=rule)


# Sharing.


def test_fresh_fdata_for_an_output_that_is_the_argument(expect: Expect) -> None:
    rule = halve_rule(view=False)
    message = expect("aliasing of the fdata", "output", halve, A.copy(), rule=rule)
    assert "args[0]" in message


def test_copy_returned_in_place_of_a_view(expect: Expect) -> None:
    def tail(x):
        return x[1:]

    def rule(_, x):
        y = zero_codual(x.primal[1:].copy())

        def pullback(dy):
            increment(CoDual(None, x.fdata[1:]), y.fdata)
            return NONE, NONE

        return y, pullback

    message = expect("aliasing of the output", "output", tail, A, rule=rule)
    assert "a view 32 bytes on" in message


def test_fdata_of_the_argument_for_a_fresh_output(expect: Expect) -> None:
    def same(x):
        return x.copy()

    def rule(_, x):
        return CoDual(x.primal.copy(), x.fdata), lambda dy: (NONE, NONE)

    expect("aliasing of the fdata", "output", same, A, rule=rule)


def copy_to(x, v):
    x[...] = v + 1.0


def test_aliasing_of_arguments_ignored(expect: Expect) -> None:
    def rule(_, x, v):
        old = x.primal.copy()
        copy_to(x.primal, v.primal)

        def pullback(dy):
            x.primal[...] = old
            increment(v, x.fdata)  # right only if v does not lie in x
            x.fdata[...] = 0
            return NONE, NONE, NONE

        return CoDual(None, NoFData()), pullback

    test_rule(copy_to, A.copy(), B, rule=rule, layouts=False, dtypes=False, aliasing=False)
    message = expect("derivative", "args[0]", copy_to, A.copy(), B, rule=rule, aliasing=True)
    assert "(args[0] is args[1])" in message


def test_overlap_of_arguments_ignored(expect: Expect) -> None:
    def shift(x, v):
        x[...] = v

    def rule(_, x, v):
        old = x.primal.copy()
        shift(x.primal, v.primal)

        def pullback(dy):
            x.primal[...] = old
            if v.primal.ctypes.data == x.primal.ctypes.data:
                return NONE, NONE, NONE
            increment(v, x.fdata)
            x.fdata[...] = 0
            return NONE, NONE, NONE

        return CoDual(None, NoFData()), pullback

    message = expect("derivative", "args[", shift, A.copy(), B, rule=rule, aliasing=True)
    assert "overlaps" in message
