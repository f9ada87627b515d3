"""The benchmark of compiled derivatives: handwritten adjoints, counts, and the table."""

import copy
from typing import Any

import numpy as np
import pytest

from benchmarks.compiled import (
    CompiledTimes,
    again_row,
    compiled_primal,
    compiled_times,
    counted,
    first_call,
    means,
    measure_compiled,
    row,
)
from benchmarks.compiled_adjoints import ADJOINTS
from benchmarks.kernel import Kernel
from benchmarks.kernels import KERNELS
from mooncake_py import grad, jvp, value_and_grad
from mooncake_py.compiler.native.site import Site
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.modes.forward import whole as forward
from mooncake_py.modes.reverse import whole
from mooncake_py.runtime import compilation

BY_NAME = {kernel.name: kernel for kernel in KERNELS}


def half(x):
    return 0.5 * x


def energy(x):
    return np.sum(half(x) ** 2)


@pytest.mark.parametrize("name", ADJOINTS)
def test_adjoints_by_hand_agree_with_the_gradient(name: str) -> None:
    kernel = BY_NAME[name]
    arguments = kernel.make_arguments(9)
    value, gradients = value_and_grad(kernel.function, kernel.argnums)(*copy.deepcopy(arguments))
    got, by_hand = ADJOINTS[name](*copy.deepcopy(arguments))
    assert got == pytest.approx(value, rel=1e-13)
    for g, expected in zip(by_hand, gradients, strict=True):
        np.testing.assert_allclose(g, expected, rtol=1e-11, atol=1e-13, strict=True)


def test_functions_that_run_compiled_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(self: Site, ctx: Any, reading: Any, inputs: Any, given: Any) -> Any:
        return 2.0 if self.name == "half" else Elsewhere

    def gradient(f: Any, *args: Any) -> Any:
        return (2.0, (1.0,)) if f is half else None

    monkeypatch.setattr(Site, "run", run)
    monkeypatch.setattr(whole, "gradient_of_whole", gradient)
    monkeypatch.setattr(forward, "push_whole", lambda f, *_: (2.0, 1.0) if f is half else None)
    monkeypatch.setattr(compilation, "can_compile", lambda: True)
    monkeypatch.setattr("mooncake_py.compiler.native.reread.is_small", lambda region: False)
    with counted() as found:
        grad(energy, compile=True)(1.0)
    assert found == {"half"}
    with counted() as found:
        grad(half, compile=True)(1.0)
    assert found == {"half"}
    with counted() as found:
        jvp(half, (1.0,), (1.0,), compile=True)
    assert found == {"half"}
    assert (Site.run, whole.gradient_of_whole) == (run, gradient)


@pytest.mark.slow
def test_kernels_that_numba_compiles() -> None:
    pytest.importorskip("numba")
    kernel = BY_NAME["recurrence"]
    arguments = kernel.make_arguments(9)
    assert compiled_primal(kernel, arguments) is not None
    strange = Kernel("strange", "floats", lambda x: float(str(x)), lambda n: (1.0,), (1,))
    assert compiled_primal(strange, (1.0,)) is None


@pytest.mark.slow
def test_one_kernel() -> None:
    pytest.importorskip("numba")
    (measured,) = measure_compiled([BY_NAME["lu"]], "lu", quick=True, budget=0.0)
    assert set(measured.ratios) == {"gradient", "jvp", "hvp", "adjoint"}
    assert measured.problem == ""


@pytest.mark.slow
def test_first_calls() -> None:
    pytest.importorskip("numba")
    assert first_call(BY_NAME["dense_layers"]) > 0  # which has lists, and is not compiled


def test_rows_of_first_calls() -> None:
    assert again_row("lu", 0.125) == "first call in a second process, lu: 0.12 s"
    assert again_row("lu", 0.5).endswith(" 0.50 s!")


@pytest.mark.slow
def test_what_fails_is_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")

    def gradient(f: Any, *args: Any) -> Any:
        raise KeyError("no such name")

    monkeypatch.setattr(whole, "gradient_of_whole", gradient)
    measured = compiled_times(BY_NAME["spring"], 3, 0.0)
    assert "gradient" not in measured.ratios
    assert row(measured).splitlines()[1] == "    KeyError: 'no such name'"


def test_rows_and_means() -> None:
    ratios = {"numba": 0.1, "gradient": 0.5, "jvp": 0.25, "hvp": 3.0, "adjoint": 0.25}
    measured = CompiledTimes("lu", 50, 1e-3, ratios, 0.5, ("whole",) * 3)
    assert row(measured).split() == [
        "lu", "50", "1.00", "ms", "0.10", "0.50", "0.25", "3.00", "5.00", "2.00!",
        "0.50", "s", "whole",
    ]  # fmt: skip
    other = CompiledTimes(
        "slow", 50, 1e-3, {"gradient": 2.0}, 4.0, ("parts", "no", "no"), "ValueError: no"
    )
    assert row(other).split()[3:] == [
        "ms", "-", "2.00", "-", "-", "-", "-", "4.00", "s!", "parts,", "no,", "no",
        "ValueError:", "no",
    ]  # fmt: skip
    every, whole, counts = means([measured, other])
    assert every.split()[-6:] == ["0.10", "1.00!", "0.25", "3.00!", "5.00", "2.00"]
    assert whole.split()[-6:] == ["0.10", "0.50", "0.25", "3.00!", "5.00", "2.00"]
    assert counts == "compiled of 2: 1 whole, 1 in parts"
