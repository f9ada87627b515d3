"""What is shown of compiled functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import compile_mode, profile_gradient, show
from mooncake_py.compiler.elsewhere import Elsewhere
from mooncake_py.compiler.native import site
from mooncake_py.runtime import compilation

pytestmark = pytest.mark.plain

X = np.array([1.0, 2.0])
LINES = ["energy: compiled", "helper: line 3 holds it up"]


def energy(x):
    return np.sum(x * x)


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the functions that were to be compiled."""
    names: list[str] = []

    def call(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
        names.append(f.__name__)
        return Elsewhere

    monkeypatch.setattr(site, "call", call)
    monkeypatch.setattr(site, "report", lambda f: LINES if f is energy else [])
    monkeypatch.setattr(compilation, "is_installed", lambda: True)
    monkeypatch.setattr(compilation, "by_default", lambda: False)
    return names


def test_show_says_it_below_the_tape(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    show(energy, X)
    plain = capsys.readouterr().out
    assert asked == []
    show(energy, X, compile=True)
    assert capsys.readouterr().out.splitlines() == [*plain.splitlines(), *LINES]
    assert asked == ["energy"]
    with compile_mode():
        show(energy, X, compile=False)
    assert capsys.readouterr().out == plain


def test_show_says_it_below_the_code(capsys: pytest.CaptureFixture[str]) -> None:
    show(energy)
    plain = capsys.readouterr().out
    show(energy, compile=True)
    assert capsys.readouterr().out.splitlines() == [*plain.splitlines(), *LINES]


def test_a_profile_says_it(asked: list[str]) -> None:
    assert profile_gradient(energy, X).compiled == []
    assert asked == []
    profile = profile_gradient(energy, X, compile=True)
    assert profile.compiled == LINES
    assert str(profile).splitlines()[-2:] == LINES
    assert asked == ["energy", "energy"]
