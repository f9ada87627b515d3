"""Loops that take long to read are read once they have run for long."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import value_and_grad
from mooncake_py.compiler.native import loop_site, printed_loop

X = np.linspace(0.1, 0.9, 50)


def summed(x):
    total = 0.0
    for i in range(50):
        a = x[i] * x[i]
        b = a + np.sin(a)
        total += a * b
    return total


def test_a_reading_that_was_cut_goes_on_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_site, "AT_FIRST", 2)
    monkeypatch.setattr(printed_loop, "ENOUGH", 1000)
    sites: list[loop_site.PrintedLoopSite] = []
    read = loop_site.PrintedLoopSite.read_now

    def noted(self, *args):
        sites.append(self)
        return read(self, *args)

    monkeypatch.setattr(loop_site.PrintedLoopSite, "read_now", noted)
    g = value_and_grad(summed)
    expected = value_and_grad(summed, compile=False)(X)
    most = []
    for _ in range(400):
        value, found = g(X)
        assert value == expected[0]
        np.testing.assert_allclose(found, expected[1], rtol=1e-14)
        if sites and not most:
            assert not sites[0].readings
            assert not sites[0].refused
        most = [site.most for site in sites]
    (site,) = set(sites)
    assert len(sites) == 2
    assert site.most == 2 * loop_site.MORE
    assert [*site.readings]
