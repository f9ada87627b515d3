"""``python -m mooncake_py.coverage script.py``: all that derivatives of a script refuse."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mooncake_py.boundary.apart import observers
from mooncake_py.coverage import main

pytestmark = pytest.mark.without_modes("about a command")

BEGIN = """
import sys
import numpy as np
from mooncake_py import grad
absolute = np.frompyfunc(abs, 1, 1)
def f(x):
    y = np.asarray(absolute(x), float)
    return np.sum(absolute(y * x))
"""


def script(folder: Path, text: str) -> str:
    path = folder / "script.py"
    path.write_text(BEGIN + text)
    return str(path)


def test_all_refusals_of_a_derivative(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = script(tmp_path, "grad(f)(np.ones(2))\nprint('not reached')\n")
    assert main([path]) == 1
    out = capsys.readouterr().out
    assert "not reached" not in out
    assert "y = np.asarray(absolute(x), float)" in out
    assert "return np.sum(absolute(y * x))" in out
    assert "1. no rule for abs" in out
    assert "2. no rule for abs" in out
    assert "3. " not in out
    assert observers == []


def test_a_script_that_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = script(
        tmp_path,
        "try:\n    grad(f)(np.ones(2))\nexcept Exception:\n    print(sys.argv[1:])\n",
    )
    assert main([path, "a", "-b"]) == 1
    out = capsys.readouterr().out
    assert "['a', '-b']" in out
    assert "2. no rule for abs" in out


def test_nothing_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = sys.argv
    assert main([script(tmp_path, "grad(np.sum)(np.ones(2))\n")]) == 0
    assert "Nothing would be refused." in capsys.readouterr().out
    assert sys.argv is argv


def test_no_derivative(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([script(tmp_path, "f(np.ones(2))\n")]) == 0
    assert "took no derivative" in capsys.readouterr().out


def test_errors_of_the_script(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        main([script(tmp_path, "1 / 0\n")])
    assert observers == []
