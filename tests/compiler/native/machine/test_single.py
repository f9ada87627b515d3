"""One thread of one process at a time makes what a key names."""

from __future__ import annotations

import json
import os
import platform
import threading
from pathlib import Path

import pytest

from mooncake_py.compiler.native.machine import single
from mooncake_py.compiler.native.machine.single import alone


def never() -> bool:
    return False


def owned_by(path: Path, process: int, machine: str = "") -> None:
    path.write_text(json.dumps({"process": process, "machine": machine or platform.node()}))


def test_threads_take_turns(folder: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def run() -> None:
        with alone("a", folder / "a.lock", never):
            inside.append(1)
            most.append(len(inside))
            threading.Event().wait(0.005)
            inside.pop()

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 6
    assert single._locks == {}
    assert list(folder.iterdir()) == []


def test_other_keys_do_not_wait(folder: Path) -> None:
    with alone("a", folder / "a.lock", never), alone("b", folder / "b.lock", never):
        assert len(list(folder.iterdir())) == 2


def test_an_error_gives_it_back(folder: Path) -> None:
    with pytest.raises(KeyboardInterrupt), alone("a", folder / "a.lock", never):
        raise KeyboardInterrupt
    assert list(folder.iterdir()) == []
    assert single._locks == {}


def test_another_process_is_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "a.lock"
    owned_by(path, os.getppid())
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            path.unlink()

    monkeypatch.setattr(single, "sleep", sleep)
    with alone("a", path, never):
        assert json.loads(path.read_text())["process"] == os.getpid()
    assert len(waits) == 3


def test_nobody_waits_for_what_is_made(folder: Path) -> None:
    path = folder / "a.lock"
    owned_by(path, os.getppid())
    with alone("a", path, lambda: True):
        pass
    assert path.exists()  # it is the other one's


def gone() -> int:
    """Return the number of a process that has ended."""
    process = os.spawnlp(os.P_NOWAIT, "true", "true")
    os.waitpid(process, 0)
    return process


@pytest.mark.skipif(os.name == "nt", reason="processes are not asked there")
def test_files_of_processes_that_are_gone_are_stale(folder: Path) -> None:
    path = folder / "a.lock"
    owned_by(path, gone())
    with alone("a", path, never):
        assert json.loads(path.read_text())["process"] == os.getpid()


def test_old_files_are_stale(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "a.lock"
    owned_by(path, 1, "another machine")
    assert not single.is_stale(path)
    now = single.clock()
    monkeypatch.setattr(single, "clock", lambda: now + 2 * single.OLD)
    assert single.is_stale(path)
    path.write_text("")
    assert single.is_stale(path)


def test_a_folder_that_cannot_be_written_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(single, "sleep", lambda _: pytest.fail("waited"))
    (tmp_path / "file").write_text("")
    with alone("a", tmp_path / "file" / "a.lock", never):
        pass
    with alone("a", None, never):
        pass
