"""Packages that only some functions need: the errors without them."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mooncake_py.optional import import_extension, import_optional, installation

ROOT = Path(__file__).parents[1]


def test_without_the_package_the_error_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ModuleNotFoundError) as caught:
        import_optional("jax", "jax", "from_jax")
    assert str(caught.value) == (
        "from_jax needs jax, which is not installed: "
        'pip install jax, or pip install ".[jax]" in a clone of mooncake_py'
    )
    assert caught.value.name == "jax"


def test_a_package_that_lacks_another_one_says_so_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "half_there.py").write_text("import nowhere_to_be_found", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'nowhere_to_be_found'$"):
        import_optional("half_there", "half", "a test")


@pytest.mark.parametrize("package", ["jax", "torch"])
def test_modules_of_other_packages_say_what_they_need(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = f"mooncake_py.integrations.{package}"
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(ModuleNotFoundError, match=f"{module} needs {package}, which is not"):
        __import__(module)


def test_extras_that_are_named_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extra, packages in {
        "compile": ("llvmlite", "scipy"), "progress": ("tqdm",), "jax": ("jax",),
        "torch": ("torch",),
    }.items():  # fmt: skip
        listed = project["optional-dependencies"][extra]
        assert [requirement.partition(">=")[0] for requirement in listed] == list(packages)
        assert f'".[{extra}]"' in installation(extra, *packages)


# Extension modules without their packages.

LATER = """
import sys
from mooncake_py.optional import import_extension
own = import_extension("scipy.linalg", "cython_blas")
assert "dgemm" in own.__pyx_capi__ and "scipy.linalg" not in sys.modules
assert import_extension("scipy.linalg", "cython_blas") is own
import numpy as np
import scipy.linalg.cython_blas, scipy.linalg.cython_lapack
assert scipy.linalg.cython_blas is own is sys.modules["scipy.linalg.cython_blas"]
assert import_extension("scipy.linalg", "cython_lapack") is scipy.linalg.cython_lapack
assert np.array_equal(scipy.linalg.solve(2.0 * np.eye(2), np.ones(2)), [0.5, 0.5])
"""
BOTH = """
import sys, threading
from mooncake_py.optional import import_extension
found = []
def run():
    found.append("dgesv" in import_extension("scipy.linalg", "cython_lapack").__pyx_capi__)
threads = [threading.Thread(target=run) for _ in range(8)]
[t.start() for t in threads], [t.join() for t in threads]
assert found == [True] * 8
"""


@pytest.mark.parametrize("text", [LATER, BOTH])
def test_package_is_imported_later(text: str) -> None:
    pytest.importorskip("scipy")
    subprocess.run([sys.executable, "-c", text], check=True)


def test_what_is_not_there() -> None:
    with pytest.raises(ImportError):
        import_extension("nothing.like_it", "fast")
    pytest.importorskip("scipy")
    with pytest.raises(ImportError):
        import_extension("scipy.linalg", "nothing_like_it")
