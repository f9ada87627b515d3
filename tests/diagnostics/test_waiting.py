"""What users see who wait for compiled code, by a clock that tests set."""

from __future__ import annotations

import io
import sys
import threading
from typing import Any

import pytest

from mooncake_py.diagnostics import waiting as module
from mooncake_py.diagnostics.waiting import Wait, stage, waiting


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the time, which tests set."""
    found = [100.0]
    monkeypatch.setattr(module, "clock", lambda: found[0])
    monkeypatch.setattr(module, "_waits", module._Waits())
    return found


def test_a_log_gets_a_line_after_three_seconds_and_then_now_and_then(
    now: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    wait = Wait()
    wait.enter("energy (f.py:3)")
    said: list[float] = []
    for _ in range(160):
        now[0] += 0.125
        wait.tell()
        if capsys.readouterr().err:
            said.append(now[0] - 100.0)
    assert said == [3.0, 6.0, 12.0]
    now[0] = 124.5
    wait.at("2,000 lines of LLVM", 10.0)
    now[0] = 127.0
    wait.tell()
    line = capsys.readouterr().err
    assert line == (
        "mooncake_py: compiling energy (f.py:3): 2,000 lines of LLVM [######..................]  "
        "25%, 27 s so far\n"
    )
    wait.leave()
    wait.tell()
    assert capsys.readouterr().err == ""


def test_a_terminal_gets_one_line_that_goes(
    now: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    wait = Wait()
    wait.enter("f")
    now[0] += 2.9
    wait.tell()
    assert screen.getvalue() == ""
    for _ in range(4):
        now[0] += 0.5
        wait.tell()
    assert screen.getvalue().count("\r") == 4
    assert "\n" not in screen.getvalue()
    wait.leave()
    assert screen.getvalue().endswith("\r" + " " * len(wait.text().split("\r")[-1]) + "\r")


def test_short_steps_add_up(now: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    wait = Wait()
    for _ in range(8):
        wait.enter("f")
        now[0] += 0.5
        wait.tell()
        wait.leave()
        now[0] += 0.5  # the program runs, which is no wait
    assert len(capsys.readouterr().err.splitlines()) == 1
    now[0] += 5.0
    wait.enter("g")
    wait.tell()
    assert capsys.readouterr().err == ""


def test_the_block_tells_and_leaves_no_thread(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    monkeypatch.setattr(module, "_waits", module._Waits())
    told = threading.Event()
    tell = Wait.tell

    def noted(self: Any) -> None:
        tell(self)
        told.set()

    monkeypatch.setattr(Wait, "tell", noted)
    before = threading.active_count()

    def run() -> None:
        with waiting("f"), waiting("g"):
            stage("printing")
            assert told.wait(60.0)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run()
    assert threading.active_count() == before
    assert capsys.readouterr().err.startswith("mooncake_py: compiling ")


def test_other_threads_wait_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    monkeypatch.setattr(Wait, "enter", None)

    def run() -> None:
        with waiting("f"):
            found.append(1)

    found: list[int] = []
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [1]
