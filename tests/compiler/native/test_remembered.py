"""What one process finds out about functions, and another one begins with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.plain, pytest.mark.slow]

PROGRAM = """
import numpy as np
from mooncake_py import value_and_grad
from mooncake_py.compiler.native import site

site.NOTED = 0.0
read = []
make = site.FunctionSite.read
def noted(self, f, *rest):
    read.append(f.__name__)
    return make(self, f, *rest)
site.FunctionSite.read = noted

COUNT = {count}

def unread(x):
    s = 0.0
    for v in sorted(x, key=id):  # it cannot be read
        s += v
    return s * COUNT

df = value_and_grad(unread, compile=True)
for _ in range(3):
    df(np.ones({size}))
print(*read)
"""
CHOICE = """
import numpy as np
from mooncake_py.compiler.native.choices import choice_of
from mooncake_py.compiler.sites.choice import TIMED, TIMED_PLAINLY

def energy(x):
    return np.sum(x * {factor})

own = choice_of("gradient", energy, (np.ones({size}),))
print(own.pays)
own.ran(1.0)
for _ in range(8):
    way = own.way()
    if way == TIMED:
        own.took(2e-3, has_loops=True)
    elif way == TIMED_PLAINLY:
        own.took_plainly(1e-3)
"""


def run(program: str, folder: Path) -> str:
    """Return the output of a program."""
    pytest.importorskip("llvmlite")
    own = {"MOONCAKE_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}
    path = folder / "program.py"
    path.write_text(program)
    found = subprocess.run(
        [sys.executable, str(path)], env=os.environ | own, capture_output=True, text=True,
        timeout=100, check=True,
    )  # fmt: skip
    return found.stdout.strip()


def test_what_cannot_be_read_is_not_asked_again(tmp_path: Path) -> None:
    first = PROGRAM.format(count=3, size=5)
    assert run(first, tmp_path) == "unread"
    assert run(first, tmp_path) == ""
    assert run(PROGRAM.format(count=4, size=5), tmp_path) == "unread"  # another global
    changed = first.replace("s += v", "s += 2 * v")
    assert run(changed, tmp_path) == "unread"
    assert run(changed.replace("np.ones(5)", "np.ones((5, 1))[:, 0]"), tmp_path) == ""
    other = changed.replace("np.ones(5)", "[1.0, 2.0]")
    assert "unread" in run(other, tmp_path)
    for path in (tmp_path / "cache").iterdir():
        path.write_bytes(b"damaged")
    assert run(changed, tmp_path) == "unread"


def test_what_is_faster_is_not_tried_again(tmp_path: Path) -> None:
    first = CHOICE.format(factor="x", size=10)
    assert [run(first, tmp_path) for _ in range(2)] == ["None", "False"]
    assert run(CHOICE.format(factor="x", size=9), tmp_path) == "False"
    assert run(CHOICE.format(factor="x", size=1000), tmp_path) == "None"
    assert run(CHOICE.format(factor="2", size=10), tmp_path) == "None"
