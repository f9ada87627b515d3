"""Parts of programs are read and compiled for no more than a share of the time that they run."""

from __future__ import annotations

import pytest

from mooncake_py.compiler.sites import spending
from mooncake_py.compiler.sites.spending import Limit, Spending

pytestmark = pytest.mark.plain


def test_parts_get_a_share_of_the_time_that_the_program_runs(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(spending, "clock", lambda: now[0])
    monkeypatch.setattr(spending, "OTHERS", Limit(0.1, 0.25, 2))
    monkeypatch.setattr(spending, "LOOPS", Limit(0.5, 0.25))
    spent = Spending()
    assert [spent.may_go_on(False, k) for k in range(3)] == [False, False, True]
    spent.making = 0.3  # of which a whole function took .1, so that parts are left with .2
    now[0] += 0.3
    spent.took(0.1)
    assert not spent.may_go_on(False, 2)
    assert spent.may_go_on(True, 0)
    now[0] += 0.39  # that it ran, a quarter of which is .0975
    assert not spent.may_go_on(False, 2)
    now[0] += 0.02
    assert spent.may_go_on(False, 2)
