"""Compiled regions are interpreted, which takes no time to compile."""

from __future__ import annotations

from pathlib import Path

import pytest

from mooncake_py.compiler.native import form
from mooncake_py.compiler.native.entering_again import Quick
from mooncake_py.compiler.native.form import NUMPY
from mooncake_py.compiler.native.region_site import RegionSite
from mooncake_py.compiler.sites import pace
from mooncake_py.compiler.sites.elsewhere import Elsewhere, Other
from mooncake_py.modes.forward.whole import WholeTangent
from mooncake_py.modes.reverse.whole import WholeGradient
from mooncake_py.runtime.compilation import is_installed
from tests.support.interpreted import INTERPRETED

HERE = str(Path(__file__).parent)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave these tests to themselves: they take derivatives in all modes, and count runs."""
    for item in items:
        if str(item.path).startswith(HERE):
            item.add_marker(pytest.mark.without_modes("in all modes by themselves"))


@pytest.fixture(autouse=True)
def untimed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave nothing because it is slow: interpreted it always is."""
    monkeypatch.setattr(pace, "FIRST", 10**9)


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each region that was tried ran as one, in order; interpreted."""
    if not is_installed():
        pytest.skip("compile=True needs llvmlite")
    found: list[bool] = []
    original = RegionSite.attempt
    run = WholeGradient.run

    def noted(self, ctx, made, inputs):
        y = original(self, ctx, made, inputs)
        if self.compiler is not NUMPY:  # loops as text, where nothing is compiled
            found.append(type(y) is dict)
        return y

    quickly = Quick.__call__

    def again(self, ctx, given, f):
        last = self.last
        y = quickly(self, ctx, given, f)
        if y is not Other and last is not None and last[0].site.compiler is not NUMPY:
            found.append(y is not Elsewhere)
        return y

    forward = WholeTangent.run

    def pushed(self, inputs, tangents):
        y = forward(self, inputs, tangents)
        if y is not None:
            found.append(True)
        return y

    def whole(self, inputs, storage):
        y = run(self, inputs, storage)
        if y is not None:  # else the region is tried in the general way
            found.append(True)
        return y

    monkeypatch.setattr(form, "COMPILER", INTERPRETED)
    monkeypatch.setattr(RegionSite, "attempt", noted)
    monkeypatch.setattr(Quick, "__call__", again)
    monkeypatch.setattr(WholeGradient, "run", whole)
    monkeypatch.setattr(WholeTangent, "run", pushed)
    return found
