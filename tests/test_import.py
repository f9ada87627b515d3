"""Importing the package stays light: what few calls need is imported when it is needed."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAM = """
import sys
import numpy
before = set(sys.modules)
import mooncake_py
print(*sorted(set(sys.modules) - before))
"""


@pytest.fixture(scope="module")
def imported() -> set[str]:
    """Return the modules that importing the package adds to those of NumPy."""
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return set(finished.stdout.split())


def test_import_needs_nothing_but_numpy(imported: set[str]) -> None:
    roots = {name.partition(".")[0] for name in imported}
    foreign = roots - sys.stdlib_module_names - {"numpy", "mooncake_py"}
    assert {name for name in foreign if not name.startswith(("_cython_", "cython_"))} == set()


def test_heavy_modules_are_left_out(imported: set[str]) -> None:
    heavy = {"argparse", "asyncio", "doctest", "multiprocessing", "pdb", "tempfile", "unittest"}
    assert imported.isdisjoint(heavy | {"numpy.testing", "numpy.f2py", "numpy.polynomial"})


def test_the_tester_is_imported_when_it_is_called(imported: set[str]) -> None:
    assert "mooncake_py.testing.rule" in imported
    assert imported.isdisjoint(
        f"mooncake_py.testing.{name}" for name in ("checking", "compare", "finite_differences")
    )


LATE = """
import numpy
from mooncake_py import grad
def f(x):
    from scipy.special import erf
    return erf(x).sum()
print(*grad(f)(numpy.zeros(2)))
"""


def test_rules_of_what_the_function_itself_imports(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    program = tmp_path / "late.py"
    program.write_text(LATE)
    finished = subprocess.run(
        [sys.executable, program], env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert finished.stdout.split() == [str(2 / math.sqrt(math.pi))] * 2
