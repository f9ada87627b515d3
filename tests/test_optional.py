"""Packages that only some functions need: the errors without them."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from mooncake_py.optional import import_optional, installation

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
    module = f"mooncake_py.extras.{package}"
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
