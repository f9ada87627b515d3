"""``python -m mooncake_py.cache``: where compiled regions are kept, and how they are removed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mooncake_py import MooncakeWarning
from mooncake_py.cache import main
from mooncake_py.compiler.native.machine import disk, objects

NAMES = ("MOONCAKE_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA")


def test_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    places = {
        "linux": tmp_path / ".cache" / "mooncake_py",
        "darwin": tmp_path / "Library" / "Caches" / "mooncake_py",
        "win32": tmp_path / "AppData" / "Local" / "mooncake_py" / "Cache",
    }
    for platform, place in places.items():
        monkeypatch.setattr(sys, "platform", platform)
        assert disk.folder() == place
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert disk.folder() == tmp_path / "xdg" / "mooncake_py"
    monkeypatch.setenv("MOONCAKE_CACHE_DIR", str(tmp_path / "own"))
    assert disk.folder() == tmp_path / "own"


def test_clear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "own"
    monkeypatch.setenv("MOONCAKE_CACHE_DIR", str(folder))
    main([])
    assert capsys.readouterr().out == f"{folder}: 0 regions, 0.0 MB\n"
    assert not folder.exists()
    objects.keep("a1", (b"0" * 300_000, ("exp",)))
    objects.keep("a2", (b"code", ()))
    (folder / "notes.txt").write_text("not ours")
    main([])
    assert capsys.readouterr().out == f"{folder}: 2 regions, 0.3 MB\n"
    main(["--clear"])
    assert capsys.readouterr().out == f"{folder}: removed 0.3 MB\n"
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    (folder / "notes.txt").unlink()
    objects.keep("a3", (b"code", ()))
    main(["--clear"])
    assert not folder.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="directories have no modes there")
def test_a_directory_that_everyone_may_write_to_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MOONCAKE_CACHE_DIR", str(tmp_path))
    tmp_path.chmod(0o777)
    with pytest.warns(MooncakeWarning, match="everyone may write to"):
        assert disk.place_for("key") is None
    assert list(disk.files()) == []
    main([])
    assert "not used" in capsys.readouterr().out
    tmp_path.chmod(0o770)
    assert disk.place_for("key") is not None
