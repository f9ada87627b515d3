"""Regions that fail are left alone for a while, and what a rehearsal did is done again."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import checkpoint, grad
from mooncake_py.compiler.sites.trials import Trials

pytestmark = pytest.mark.plain

PLAIN = SimpleNamespace(rehearsal=None, repeats=False, outers=())
REHEARSED = SimpleNamespace(rehearsal=object(), repeats=False, outers=())


def tried(trials: Trials, calls: int, *, fails: bool = True, ctx=PLAIN) -> list[int]:
    """Return which of so many calls try the region."""
    found = []
    for k in range(calls):
        if not trials.rest(ctx):
            found.append(k)
            trials.begin()
            if not fails:
                trials.succeed(ctx)
    return found


def test_trials_that_fail_become_rare():
    assert tried(Trials(), 40) == [0, 1, 2, 7, 16, 33]


def test_one_that_does_not_fail_ends_that():
    trials = Trials()
    tried(trials, 5)
    assert tried(trials, 6, fails=False) == [2, 3, 4, 5]
    assert tried(trials, 9) == [0, 1, 2, 7]


def test_asking_twice_counts_a_trial_once():
    trials = Trials()
    tried(trials, 7)
    assert [trials.rest(PLAIN), trials.rest(PLAIN)] == [False, False]


def test_what_a_rehearsal_left_alone_stays_so():
    trials = Trials()
    tried(trials, 3)
    assert trials.rest(REHEARSED)
    assert tried(trials, 40) == []


def test_what_has_run_in_a_rehearsal_is_always_tried():
    trials = Trials()
    assert tried(trials, 1, fails=False, ctx=REHEARSED) == [0]
    assert tried(trials, 9) == list(range(9))


@pytest.mark.parametrize(
    "ctx",
    [
        SimpleNamespace(rehearsal=None, repeats=True, outers=()),
        SimpleNamespace(rehearsal=None, repeats=False, outers=(PLAIN, REHEARSED)),
    ],
    ids=["after one", "round it"],
)
def test_parts_that_run_twice_are_known(ctx):
    trials = Trials()
    tried(trials, 3)
    assert tried(trials, 40, ctx=ctx) == []


def total(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[i] / (1.0 + x[i])
    return s


def test_numbers_that_are_not_finite_leave_later_calls_as_fast(taken):
    x, bad = np.linspace(0.0, 1.0, 9), np.full(9, np.nan)
    for _ in range(5):
        assert np.all(np.isnan(grad(total)(bad)))
    assert not any(taken)
    for _ in range(9):
        assert_allclose(grad(total)(x), x * (2.0 + x) / (1.0 + x) ** 2)
    assert sum(taken) == 7


def test_a_pullback_is_not_disturbed_by_calls_between(taken):
    def f(x):
        s = 0.0
        for i in range(len(x)):
            s += x[i] * x[i] / (1.0 + x[i])
        return s

    x, bad = np.linspace(0.0, 1.0, 9), np.full(9, np.nan)
    for _ in range(3):
        grad(f)(bad)
    g = grad(lambda x: checkpoint(f, x) + np.sum(grad(f)(x)))(x)
    taken.clear()
    for _ in range(20):
        grad(f)(x)
    assert not any(taken)  # a checkpointed part has left the loop alone
    eps = 1e-6
    for i in (0, 4):
        e = np.zeros(9)
        e[i] = eps
        difference = f(x + e) - f(x - e) + np.sum(grad(f)(x + e) - grad(f)(x - e))
        assert_allclose(g[i], difference / (2 * eps), rtol=1e-6)
