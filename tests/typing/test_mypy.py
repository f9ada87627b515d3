"""Mypy sees the same types as pyright."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_mypy_agrees(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    command = [
        *(sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path), "--warn-unused-ignores"),
        *("--follow-imports", "silent", "tests/typing/test_signatures.py"),
        "tests/typing/test_star_import.py",
    ]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout
