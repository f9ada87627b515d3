"""Structures of C are looked into before they are relied upon."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mooncake_py.compiler.native.machine import layouts


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    layouts.are_known.cache_clear()
    yield
    layouts.are_known.cache_clear()


@pytest.mark.skipif(not layouts.are_known(), reason="objects look otherwise here")
@pytest.mark.parametrize("name", ["TYPE", "DATA", "DIMENSIONS", "NUMBER_OF_AXES"])
def test_other_places_are_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert layouts.are_known()
    layouts.are_known.cache_clear()
    # Strides, which are never the lengths of all of them, stand behind the lengths.
    monkeypatch.setattr(layouts, name, getattr(layouts, name) + 8)
    assert not layouts.are_known()


def test_other_pythons_have_the_slow_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layouts.sysconfig, "get_config_var", lambda name: 1)
    assert not layouts.are_known()
