"""What processes tell later ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from mooncake_py.compiler.native.machine import disk, notes


def test_notes_are_found_by_their_keys(folder: Path) -> None:
    key = notes.digest("choice", "f")
    assert notes.noted(key) is None
    notes.note(key, [True, None, 1.5])
    assert notes.noted(key) == [True, None, 1.5]
    assert notes.noted(notes.digest("choice", "g")) is None
    assert disk.cleared() > 0
    assert notes.noted(key) is None


def test_another_machine_or_version_asks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    before = notes.digest("a")
    monkeypatch.setattr(notes, "circumstances", lambda: ("another one",))
    assert notes.digest("a") != before


@pytest.mark.parametrize("text", ["", "{", "[]", '{"key": "another", "what": true}'])
def test_what_is_damaged_is_not_there(folder: Path, text: str) -> None:
    notes.note("k", True)
    (path,) = folder.iterdir()
    path.write_text(text)
    assert notes.noted("k") is None


def test_old_notes_do_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    notes.note("k", True)
    now = notes.clock()
    monkeypatch.setattr(notes, "clock", lambda: now + notes.AGE + 60.0)
    assert notes.noted("k") is None


def test_there_are_not_too_many(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes, "MOST", 10)
    for k in range(40):
        notes.note(f"k{k}", k)
        assert len(list(folder.iterdir())) <= 11
    assert notes.noted("k39") == 39


def test_a_folder_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MOONCAKE_CACHE_DIR", str(tmp_path / "file" / "within"))
    notes.note("k", True)
    assert notes.noted("k") is None
