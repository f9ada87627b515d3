"""``python -m mooncake_py.doctor``: what it prints, and what does not end it."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext
from importlib import metadata
from typing import Any

import numpy as np
import pytest

import mooncake_py
from mooncake_py import doctor, grad

pytestmark = pytest.mark.plain

MODES = ["reverse", "forward", "hvp", "checkpointed", "debug", "compiled", "LLVM"]


def report(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...] = ("--no-compile",)
) -> tuple[int, dict[str, str], str]:
    """Return the exit code, the lines by their titles, and all of the text."""
    code = doctor.main(arguments)
    text = capsys.readouterr().out
    rows = [line.split(maxsplit=1) for line in text.splitlines() if line[:1].strip()]
    return code, {row[0]: row[1] for row in rows if len(row) == 2}, text


def test_all_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    code, found, text = report(capsys)
    assert code == 0, text
    assert found["mooncake_py"].startswith(mooncake_py.__version__)
    assert found["NumPy"] == np.__version__
    assert found["Python"].startswith(".".join(map(str, sys.version_info[:3])))
    assert f"pytest {metadata.version('pytest')}" in found["packages"]
    assert list(found)[-len(MODES) :] == MODES
    assert all(found[mode].startswith("ok, ") for mode in MODES[:-2])
    assert all(found[mode] == "left out: by --no-compile" for mode in MODES[-2:])
    assert "unknown" not in text


def test_a_wrong_gradient_and_an_exception_are_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(f: Any, *, debug: bool, compile: bool) -> Any:
        if debug:
            raise LookupError("no such mode")
        if f is doctor.energy_in_slots:
            return lambda u, steps: np.add(u, 1.0, out=u) * 0 + grad(f)(u, steps)
        return lambda u, steps: grad(f)(u, steps) * (1 + 1e-9)

    monkeypatch.setattr(doctor, "grad", wrong)
    code, found, text = report(capsys)
    assert code == 1
    assert found["reverse"].startswith("FAILED: AssertionError: Not equal to tolerance")
    assert found["forward"].startswith("ok, ")
    assert found["checkpointed"].startswith("FAILED: AssertionError")
    assert found["debug"] == "FAILED: LookupError: no such mode"
    assert text.count("Traceback (most recent call last)") == 3


def test_an_argument_that_is_not_restored_is_an_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def leaving(f: Any, args: Any, tangents: Any, **options: Any) -> Any:
        found = mooncake_py.jvp(f, args, tangents)
        args[0][0] = 7.0
        return found

    monkeypatch.setattr(doctor, "jvp", leaving)
    code, found, text = report(capsys)
    assert code == 1
    assert "the argument was not restored" in text
    assert found["hvp"].startswith("ok, ")
    assert doctor.U[0] == 0.0


def test_packages_that_are_broken_do_not_end_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(package: str) -> str:
        if package == "scipy":
            raise ValueError("no metadata")
        if package == "threadpoolctl":
            return "9.9"
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    code, found, _ = report(capsys)
    assert code == 0
    assert found["packages"] == "scipy (unreadable: ValueError), threadpoolctl 9.9"
    assert "numba" in found["missing"].split(", ")
    assert found["threads"].startswith("unknown: ModuleNotFoundError: ")


def test_threads_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "version_of", lambda package: None)
    for name in doctor.THREADS:
        monkeypatch.delenv(name, raising=False)
    assert doctor.threads().startswith("not limited by the environment")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert doctor.threads().startswith("OMP_NUM_THREADS=3 ")


def test_what_is_not_compiled_is_an_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken compiler leaves the gradient as it is without one."""
    monkeypatch.setattr(doctor, "problem", str)
    monkeypatch.setattr(doctor, "differences", list)
    monkeypatch.setattr(doctor, "compile_mode", nullcontext)
    monkeypatch.setattr(doctor, "gradient", lambda f, **options: (0.0, 0.0))
    lines = ["energy (<rod>:1): not compiled: LLVM does not run here"]
    monkeypatch.setattr(doctor, "compiled_outcomes", lambda functions: lines)
    code, found, _ = report(capsys, ())
    assert code == 1
    assert found["compiled"] == f"FAILED: RuntimeError: {lines[0]}"


def test_without_llvmlite_that_check_is_left_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "problem", lambda: "llvmlite is not installed")
    monkeypatch.setattr(doctor, "differences", list)
    code, found, _ = report(capsys, ())
    assert code == 0
    for check in ("compiled", "LLVM"):
        assert found[check].startswith("left out: llvmlite is not installed; pip install llvmlite")


def test_functions_that_llvm_gets_wrong_are_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "problem", str)
    monkeypatch.setattr(doctor, "differences", lambda: ["sums: not compiled"])
    code, found, _ = report(capsys, ())
    assert code == 1
    assert found["LLVM"] == "FAILED: RuntimeError: sums: not compiled"


@pytest.mark.slow  # compiles
def test_as_a_command() -> None:
    pytest.importorskip("llvmlite")
    command = [sys.executable, "-m", "mooncake_py.doctor"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert finished.returncode == 0, finished.stdout
    assert finished.stderr == ""
    assert finished.stdout.splitlines()[-2].startswith("compiled      ok, ")
