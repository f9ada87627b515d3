"""Rules call the functions that libraries had, whatever a program puts in their place."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import hessian, jvp, value_and_grad
from mooncake_py.rules.optional import import_installed, load_imported
from mooncake_py.rules.steady import hold_functions, is_of_library
from tests.support.gradients import differences

X = np.array([0.7, 1.3])


def mixed(x):
    y = np.sin(x) * np.sqrt(x) + math.cos(x[0]) + x[0] * np.tanh(x) ** 2
    a = np.outer(x, x) + np.eye(2)
    return np.sum(y * np.linalg.solve(a, x)) + np.linalg.det(a) * np.std(x)


def patched_within(x):
    sine, root, cosine, inverse = np.sin, np.sqrt, math.cos, np.linalg.inv
    np.sin, np.sqrt, math.cos, np.linalg.inv = np.cos, np.exp, math.sin, np.linalg.pinv
    try:
        return mixed(x)
    finally:
        np.sin, np.sqrt, math.cos, np.linalg.inv = sine, root, cosine, inverse


def differences_along(f, x):
    """Return the derivative along `x` itself."""
    h = 1e-5
    return (f(x * (1 + h)) - f(x * (1 - h))) / (2 * h)


def check(f):
    value, found = value_and_grad(f)(X)
    assert value == f(X)
    expected = differences(f, (X,), 0)
    assert_allclose(found, expected, rtol=1e-7)
    tangents = [jvp(f, (X,), (e,))[1] for e in np.eye(2)]
    assert_allclose(tangents, expected, rtol=1e-7)
    second = [differences(lambda x, k=k: value_and_grad(f)(x)[1][k], (X,), 0) for k in range(2)]
    assert_allclose(hessian(f)(X), second, rtol=1e-6)
    _, third = jvp(hessian(f), (X,), (X,))  # products of matrices in what rules compute with
    assert_allclose(third, differences_along(hessian(f), X), rtol=1e-5)


@pytest.mark.thorough
@pytest.mark.without_modes("values are compared bit for bit", "compiled")
def test_functions_replaced_within_a_program():
    check(patched_within)


@pytest.mark.thorough
@pytest.mark.without_modes("values are compared bit for bit", "compiled")
def test_functions_replaced_before(monkeypatch):
    monkeypatch.setattr(np, "cos", np.sin)
    monkeypatch.setattr(np, "sin", np.exp)
    monkeypatch.setattr(np, "sqrt", lambda x: np.exp(x) * x)
    monkeypatch.setattr(math, "sin", math.cos)
    monkeypatch.setattr(np, "matmul", np.subtract)
    monkeypatch.setattr(np.linalg, "inv", np.negative)
    check(mixed)


def test_every_module_of_rules_looks_functions_up_in_copies():
    import_installed()
    load_imported()
    for name, module in list(sys.modules.items()):
        if name.startswith("mooncake_py.rules."):
            for key, value in vars(module).items():
                if type(value) is ModuleType and is_of_library(value):
                    assert value is not sys.modules[value.__name__], f"{key} of {name}"


def test_a_copy_has_what_the_module_has():
    from mooncake_py.rules import elementwise

    copy: Any = elementwise.np
    assert copy is not np
    assert copy.sin is np.sin
    assert copy.linalg is not np.linalg
    assert copy.linalg.inv is np.linalg.inv
    assert copy.fft.fft is np.fft.fft
    with pytest.raises(AttributeError):
        _ = copy.no_such_function


class Imports(str):
    """The name of a module; who looks at it finds another thread importing one."""

    def startswith(self, *args):
        sys.modules.setdefault("imported_meanwhile", ModuleType("imported_meanwhile"))
        return False


def test_modules_that_another_thread_imports_meanwhile(monkeypatch):
    monkeypatch.setitem(sys.modules, Imports("first"), ModuleType("first"))
    monkeypatch.delitem(sys.modules, "imported_meanwhile", raising=False)
    hold_functions()
    assert sys.modules.pop("imported_meanwhile")


def test_a_module_that_another_thread_imports_is_held_once_it_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module: Any = ModuleType("mooncake_py.rules.imported_by_another_thread")
    module.__spec__ = ModuleSpec(module.__name__, None)
    monkeypatch.setattr(module.__spec__, "_initializing", True, raising=False)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    hold_functions()
    module.math = math
    monkeypatch.setattr(module.__spec__, "_initializing", False)
    hold_functions()
    assert module.math is not math


REPLACED = """
import numpy as np
from mooncake_py import grad
from mooncake_py.errors import MooncakeError

def f(x):
    return np.sum(np.negative(x) * x)

np.linalg.inv = np.negative
print(grad(f, compile=True)(np.ones(2)))
from mooncake_py.compiler.native.site import report
print(*report(f))
"""


@pytest.mark.thorough
def test_what_is_compiled_goes_by_the_functions_that_libraries_had(tmp_path):
    pytest.importorskip("numba")
    file = tmp_path / "program.py"
    file.write_text(REPLACED, encoding="utf-8")
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, str(file)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.stdout.startswith("[-2. -2.]\nall functions: not compiled: "), done.stderr
