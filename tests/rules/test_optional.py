"""Rules that are read when the program has imported what they are for."""

from __future__ import annotations

import random  # noqa: F401
import statistics  # noqa: F401
import sys

import pytest

from mooncake_py.rules import optional, steady


def test_another_thread_may_be_first(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = {name: optional.MODULES[name] for name in ("random", "statistics")}
    monkeypatch.setattr(optional, "_waiting", waiting)
    monkeypatch.setattr(optional, "_seen", 0)
    monkeypatch.setattr(optional, "hold_functions", waiting.clear)  # which has read them all
    optional.load_imported()
    assert not waiting


def test_a_module_that_must_not_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mooncake_py.rules.nowhere", None)  # type: ignore[arg-type]
    steady.hold_functions()
