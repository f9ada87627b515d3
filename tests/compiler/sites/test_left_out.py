"""Variables that a loop does not give back: nobody takes an older value for the last one."""

from __future__ import annotations

import math
import operator
import sys

import numpy as np
import pytest

from mooncake_py import MissingRuleError, jvp, value_and_grad
from mooncake_py.compiler.sites.left_out import LeftOut
from mooncake_py.errors import Location

WITHOUT = r"a variable was read from the frame of its function, where it has no value"
PASSES = 4000


def caller(name):
    return sys._getframe(1).f_locals[name]


def last_step(x):
    total, k = 0.0, -1
    for k in range(3, PASSES, 7):
        total = total + x * k
    for j in range(PASSES, 0, -1):
        total = total + x / j
    return total * 0.0 + x * caller("k") + x * caller("j")


def no_step(x):
    total = x
    k = 1.5
    for k in range(int(caller("k"))):  # one step, so that it is not run as one
        total = total + x * k
    for k in range(PASSES, 0):
        total = total + x * k
    return total + caller("k")


def unread(x):
    term = total = 0.0
    for k in range(PASSES):
        term = x * k
        total = total + term
    return total * 0.0 + x * caller("term")


def left_early(x):
    total = 0.0
    for k in range(PASSES):
        total = total + x * k
        if total > 1e5:
            break
    return total * 0.0 + x * caller("k")


def bound_again(x):
    total = 0.0
    for k in range(PASSES):
        total = total + x * k
        k = 2 * k
    return total * 0.0 + x * caller("k")


def an_array(x):
    total = np.zeros(3)
    for k in range(PASSES):
        part = np.full(3, x) * k
        total = total + part
    return total[0] * 0.0 + np.sum(caller("part"))


def bound_later(x):
    total = 0.0
    for k in range(PASSES):
        term = x * k
        total = total + term
    term = x * 3
    return total * 0.0 + x * caller("term")


def as_written(x):
    total = 0.0
    for k in range(PASSES):
        term = x * k
        total = total + term
    return total * 0.0 + x * locals()["term"]


@pytest.mark.parametrize("f", [last_step, no_step, bound_again, bound_later, as_written])
def test_what_is_known_is_in_the_frame(f):
    slope = (f(2.0 + 1e-6) - f(2.0 - 1e-6)) / 2e-6
    for _ in range(4):
        value, found = value_and_grad(f)(2.0)
        assert value == f(2.0)
        assert found == pytest.approx(slope, rel=1e-6)
    assert jvp(f, (2.0,), (1.0,))[1] == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("f", [unread, left_early, an_array])
def test_what_is_not_given_back_is_an_error(f):
    for _ in range(4):
        with pytest.raises(MissingRuleError, match=WITHOUT):
            value_and_grad(f)(2.0)


def test_what_is_not_given_back_by_compiled_loops():
    for f in (unread, left_early):
        for _ in range(12):  # as written, and compiled at some time
            try:
                found = value_and_grad(f, compile=True)(2.0)
            except MissingRuleError:
                break
            assert found[0] == f(2.0)


@pytest.mark.parametrize(
    "use",
    [
        lambda v: v + 1, lambda v: 2.0 * v, lambda v: -v, lambda v: v < 3, lambda v: v == 3,
        lambda v: np.ones(2) * v, lambda v: v[0], len, bool, float, int, list, operator.index,
        math.sin, np.sin, np.asarray, lambda v: v(), lambda v: v.shape,
    ],
)  # fmt: skip
def test_any_use_is_an_error(use):
    with pytest.raises(MissingRuleError, match=r"(?s)where: <here>:7.*pass the variable"):
        use(LeftOut(Location("<here>", 7)))


def test_it_can_be_shown():
    left = LeftOut(Location("<here>", 7))
    assert f"{left}" == str(left) == "<not given back by the loop at line 7>"
    assert str([left]) == f"[{left}]"
    assert not hasattr(left, "__array_interface__")
    assert left in {left}
