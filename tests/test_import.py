"""Importing the package stays light: what few calls need is imported when it is needed."""

from __future__ import annotations

import ast
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mooncake_py
from mooncake_py.language import imported_later

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


def test_modules_with_handlers_are_left_to_the_program(imported: set[str]) -> None:
    assert imported.isdisjoint({"numpy.random", "random", "statistics", *imported_later.MAKERS})


HANDLED = """
import numpy, sys
from mooncake_py import grad
def f(x):
    if {name!r} in sys.modules:
        raise AssertionError
    import {name} as m
    m.{change}
    return x
grad(f)(1.0)
import {name} as m
print(m.{setting})
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "change", "setting", "before"),
    [
        ("socket", "setdefaulttimeout(3.0)", "getdefaulttimeout()", "None"),
        ("decimal", "setcontext(m.Context(prec=5))", "getcontext().prec", "28"),
        ("logging", "disable(30)", "root.manager.disable", "0"),
    ],
)
def test_settings_of_modules_that_the_function_itself_imports_are_undone(
    name: str, change: str, setting: str, before: str, tmp_path: Path
) -> None:
    program = HANDLED.format(name=name, change=change, setting=setting)
    assert run(program, tmp_path) == [before]


def test_what_few_programs_use_is_imported_when_it_is_asked_for(imported: set[str]) -> None:
    later = {"higher_order", "jacobians", "reflecting", "testing", "utilities", "via_ad"}
    assert later.isdisjoint(name.split(".")[1] for name in imported if "." in name)


def test_the_compiler_is_imported_by_the_first_derivative(imported: set[str]) -> None:
    assert imported.isdisjoint({"mooncake_py.frontend.rewrite", "mooncake_py.compiler.regions.ir"})


def test_names_that_are_imported_later_are_those_that_type_checkers_see() -> None:
    tree = ast.parse(Path(mooncake_py.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        alias.asname: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
        if alias.asname
    }
    assert {name: f"mooncake_py.{m}" for name, m in mooncake_py._MODULES.items()} == seen
    assert set(seen) <= set(dir(mooncake_py)) & set(mooncake_py.__all__)
    for name, module in seen.items():
        assert getattr(mooncake_py, name) is getattr(sys.modules[module], name)
    with pytest.raises(AttributeError, match="no attribute 'gradients'"):
        _ = mooncake_py.gradients  # type: ignore[attr-defined]


def run(text: str, folder: Path) -> list[str]:
    """Return the output of a program that is run from a file."""
    program = folder / "program.py"
    program.write_text(text)
    finished = subprocess.run(
        [sys.executable, program], env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return finished.stdout.split()


WITHIN = """
import mooncake_py as mc
def f(x):
    return mc.stop_gradient(x) * x
def g(x):
    return mc.ignore_derivatives(abs, x) * x
with mc.local_rules():
    print(mc.grad(f)(3.0))
print(mc.grad(f)(3.0), mc.jvp(f, (3.0,), (1.0,))[1])
print(mc.jvp(g, (3.0,), (1.0,))[1], mc.value_and_grad(g, debug=True)(3.0)[1])
print(mc.testing.rule_cases.__name__)
"""


@pytest.mark.slow
def test_rules_of_what_a_function_asks_for_first_hold_everywhere(tmp_path: Path) -> None:
    assert run(WITHIN, tmp_path) == ["3.0"] * 5 + ["rule_cases"]


LATE = """
import numpy
from mooncake_py import grad
def f(x):
    from scipy.special import erf
    return erf(x).sum()
print(*grad(f)(numpy.zeros(2)))
"""


@pytest.mark.slow
def test_rules_of_what_the_function_itself_imports(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    assert run(LATE, tmp_path) == [str(2 / math.sqrt(math.pi))] * 2
