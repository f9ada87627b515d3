"""``python -m mooncake_py.coverage script.py``: all that derivatives of a script refuse."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mooncake_py.boundary.apart import observers, stand_ins
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
    path = script(tmp_path, "g = grad(f)(np.ones(2))\nprint('reached with', g)\n")
    assert main([path]) == 1
    out = capsys.readouterr().out
    assert "reached with [0. 0.]" in out
    assert "y = np.asarray(absolute(x), float)" in out
    assert "return np.sum(absolute(y * x))" in out
    assert "1. no rule for abs" in out
    assert "2. no rule for abs" in out
    assert "3. " not in out
    assert observers == []


def test_a_script_that_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = script(tmp_path, "grad(f)(np.ones(2))\nprint(sys.argv[1:])\n")
    assert main([path, "a", "-b"]) == 1
    out = capsys.readouterr().out
    assert "['a', '-b']" in out
    assert "2. no rule for abs" in out


def test_what_comes_behind_a_refusal_is_looked_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """
from mooncake_py import value_and_grad
def inner(x, k):
    x[0] = 2.0
    return np.sum(absolute(x)) * float(k)
x = np.ones(2)
for _ in range(3):
    value, gradient = value_and_grad(inner)(x, k=2)
    x -= gradient
print("value", value, "at", x)
rounded = np.frompyfunc(round, 1, 1)
print("other", grad(lambda x: float(np.sum(rounded(x))))(x))
"""
    assert main([script(tmp_path, text)]) == 1
    out = capsys.readouterr().out
    assert "value 6.0 at [1. 1.]" in out
    assert "1. no rule for abs" in out
    assert "2. " in out
    assert stand_ins == observers == []


def test_the_folder_of_the_script_is_on_the_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "neighbour_of_the_script.py").write_text("def g(x):\n    return x * x\n")
    path = script(tmp_path, "from neighbour_of_the_script import g\nprint(grad(g)(2.0))\n")
    before = sys.path
    assert main([path]) == 0
    assert "4.0" in capsys.readouterr().out
    assert sys.path is before


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
