"""Parts of programs that are met before much has run are tried later, when they are met again."""

from __future__ import annotations

import time

import numpy as np
import pytest

from mooncake_py import checkpoint, show, value_and_grad
from mooncake_py.compiler.native.site import report, site_of
from mooncake_py.compiler.sites import spending
from mooncake_py.compiler.sites.spending import Limit

pytestmark = pytest.mark.plain

X = np.linspace(0.5, 1.5, 5)


def scaled(x):
    return 2.0 * np.sin(x) * x + x


def rolled(x):
    s = 0.0
    for k in range(x.size):
        s = s + x[k] * x[k]
    return s


def program(x):
    time.sleep(0.0)  # nobody compiles that
    y = x
    for _ in range(3):
        y = scaled(y)
    return rolled(x) + y.sum()


def test_what_is_met_too_early_is_tried_later(monkeypatch, tried):
    monkeypatch.setattr(spending, "OTHERS", Limit(-1.0, 0.0))
    g = value_and_grad(program, compile=True)
    expected, slope = value_and_grad(program)(X)
    for others, runs in ((Limit(-1.0, 0.0), 1), (Limit(np.inf, 0.0), 4)):
        monkeypatch.setattr(spending, "OTHERS", others)
        tried.clear()
        site_of(scaled).postponed.pause = 0
        value, found = g(X)
        assert tried == [True] * runs  # `rolled` has a loop, and is not left
        assert value == pytest.approx(expected, rel=1e-13)
        np.testing.assert_allclose(found, slope, rtol=1e-12)


def test_a_function_that_runs_once_is_not_compiled(monkeypatch, tried):
    def once(x):
        return np.cos(x) * x

    def main(x):
        time.sleep(0.0)
        return once(x).sum()

    monkeypatch.setattr(spending, "OTHERS", Limit(np.inf, 0.0, 2))
    g = value_and_grad(main, compile=True)
    for runs in (0, 0, 1):
        tried.clear()
        g(X)
        assert len(tried) == runs
    assert report(once)[0].found == "compiled"


def test_a_part_that_runs_again_does_what_it_did(monkeypatch, tried):
    def inner(x):
        return np.cos(x) * x

    def part(x):
        time.sleep(0.0)
        return inner(x)

    monkeypatch.setattr(spending, "OTHERS", Limit(-1.0, 0.0))
    value_and_grad(lambda x: checkpoint(part, x).sum(), compile=True)(X)
    assert tried  # in the first run as in the second one


def test_show_compiles_all_parts(monkeypatch, tried, capsys):
    def inner(x):
        return np.cos(x) * x

    def main(x):
        time.sleep(0.0)
        return inner(x).sum()

    monkeypatch.setattr(spending, "OTHERS", Limit(-1.0, 0.0))
    value_and_grad(main, compile=True)(X)
    assert not tried
    show(main, X, compile=True)
    assert tried
    assert [outcome.found for outcome in report(inner)] == ["compiled"]
