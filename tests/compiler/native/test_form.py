"""LLVM compiles where it is there, Numba where it is not or is asked for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mooncake_py.compiler.native import form
from mooncake_py.compiler.native.printing.called import CannotCompile


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("MOONCAKE_COMPILER", raising=False)
    form.compiler.cache_clear()
    yield
    form.compiler.cache_clear()


def test_llvm_is_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(form, "llvm", lambda: None)
    assert form.compiler() is form.LLVM


def test_numba_is_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise CannotCompile("too old")

    monkeypatch.setattr(form, "llvm", fail)
    assert form.compiler() is form.NUMBA


def test_numba_may_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOONCAKE_COMPILER", "numba")
    assert form.compiler() is form.NUMBA
