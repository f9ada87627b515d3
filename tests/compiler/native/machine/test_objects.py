"""Object code is kept for other processes, and only what is whole is taken."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native.machine import built as machine
from mooncake_py.compiler.native.machine import disk, entry, objects
from mooncake_py.compiler.native.machine.background import WORKER
from mooncake_py.compiler.native.machine.built import built
from mooncake_py.compiler.native.machine.levels import BEST, QUICK
from tests.compiler.native.machine.texts import scaled

X = np.arange(4.0)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The levels at which sources were compiled."""
    entry.entry()
    found: list[str] = []
    original = machine.object_code

    def noted(text: str, level: Any) -> Any:
        found.append(level.name)
        return original(text, level)

    monkeypatch.setattr(machine, "object_code", noted)
    return found


def runs(level: Any = BEST) -> None:
    np.testing.assert_array_equal(built(scaled(), level)["reverse"](X, 2.0)[0], 2 * X)


def file_of(text: Any) -> Path:
    path = objects.path_of(objects.key_of(text.text, BEST))
    assert path is not None
    return path


def test_code_is_compiled_once(compiled: list[str], folder: Path) -> None:
    path = file_of(scaled())
    runs()
    runs()
    assert compiled == ["best"]
    assert path.parent == folder
    disk.cleared()
    assert not path.exists()
    runs()
    assert compiled == ["best", "best"]


def test_what_means_something_else_elsewhere_is_not_kept(compiled: list[str]) -> None:
    for _ in range(2):
        text = scaled()
        text.is_lasting = False
        built(text, BEST)
        assert not file_of(text).exists()
    assert compiled == ["best", "best"]


@pytest.mark.parametrize("change", ["cut", "empty", "flipped", "other", "digest"])
def test_damaged_files_are_replaced(compiled: list[str], change: str) -> None:
    runs()
    path = file_of(scaled())
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(
        {
            "cut": data[:-1],
            "empty": b"",
            "flipped": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
            "other": b"something else",
            "digest": bytes(32) + data[32:],
        }[change]
    )
    runs()
    assert compiled == ["best", "best"]
    assert path.read_bytes() == data
    runs()
    assert compiled == ["best", "best"]


def test_keys_differ_where_code_may(monkeypatch: pytest.MonkeyPatch) -> None:
    text = scaled().text
    keys = {objects.key_of(text, BEST), objects.key_of(text, QUICK), objects.key_of("", BEST)}
    monkeypatch.setattr(objects, "host", lambda: ("triple", "cpu", "+features"))
    keys.add(objects.key_of(text, BEST))
    monkeypatch.setattr(objects, "version", lambda: "1.0")
    keys.add(objects.key_of(text, BEST))
    monkeypatch.setattr(objects.np, "__version__", "3.0")
    keys.add(objects.key_of(text, BEST))
    assert len(keys) == 6


def test_the_oldest_files_go(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "MOST", 1000)
    others = folder / "other.o"
    others.write_bytes(bytes(5000))
    for k in range(10):
        objects.keep(f"k{k}", (bytes(200), ("f",)))
        path = folder / f"region_k{k}.o"
        os.utime(path, (1e9 + k, 1e9 + k))
    objects.keep("last", (bytes(200), ()))
    left = {p.name for p in folder.iterdir()}
    assert "region_last.o" in left
    assert "other.o" in left
    assert {"region_k9.o", "region_k8.o"} <= left
    assert "region_k0.o" not in left
    assert sum(p.stat().st_size for p in folder.glob("region_*")) <= 1000


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="no rights to take")
def test_folders_that_may_not_be_written_to_are_left(folder: Path) -> None:
    folder.chmod(0o500)
    runs()
    folder.chmod(0o700)


def test_folders_that_cannot_be_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MOONCAKE_CACHE_DIR", str(tmp_path / "file" / "folder"))
    runs()


def test_the_best_level_follows(compiled: list[str]) -> None:
    f = built(scaled(), QUICK)["reverse"]
    np.testing.assert_array_equal(f(X, 2.0)[0], 2 * X)
    WORKER.wait()
    assert compiled == ["quick", "best"]
    np.testing.assert_array_equal(f(X, 2.0)[0], 2 * X)
    runs(QUICK)  # the best one was kept
    assert compiled == ["quick", "best"]


PROGRAM = """
import numpy as np
from mooncake_py.compiler.native.machine.built import built
from mooncake_py.compiler.native.machine.levels import QUICK
from tests.compiler.native.machine.texts import scaled
for k in range(3):
    text = scaled()
    text.text += f"; {k}\\n"
    y = built(text, QUICK)["reverse"](np.arange(5.0), 2.0)[0]
    assert y.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]
print("good")
"""


@pytest.mark.slow
def test_eight_processes_compile_at_once(folder: Path) -> None:
    runs = [
        subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    assert [run.communicate(timeout=300)[0] for run in runs] == ["good\n"] * 8
    assert not list(folder.glob("*.tmp"))
