"""The examples run as their readers would run them, and find what they should."""

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


def run(name: str, *options: str, cwd: Path | None = None) -> str:
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), "--quick", *options]
    # The package may be installed or not: the repository is on the path in any case.
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    finished = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def number(pattern: str, text: str) -> float:
    found = re.search(pattern + r"\s*([-+.e\d]+)", text)
    assert found is not None, f"{pattern!r} is not in:\n{text}"
    return float(found.group(1))


@pytest.fixture
def example_module(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Return a function that imports a file of the examples, and forget it afterwards."""
    monkeypatch.syspath_prepend(str(EXAMPLES))

    def load(name: str) -> ModuleType:
        monkeypatch.delitem(sys.modules, name, raising=False)
        return importlib.import_module(name)

    return load


@pytest.mark.slow
def test_lynx_hare_fits_the_records(tmp_path: Path) -> None:
    text = run("lynx_hare", cwd=tmp_path)
    assert number("largest relative difference", text) < 1e-7
    # The least misfit, found independently by SciPy's Nelder-Mead method, is 2.0187.
    assert number("misfit before the fit", text) > 10.0
    assert 2.0 < number("after it", text) < 2.2
    assert not list(tmp_path.iterdir())
    if find_spec("matplotlib"):
        picture = EXAMPLES / "output" / "lynx_hare.png"
        assert f"picture saved as {picture}" in text
        assert picture.exists()


@pytest.mark.slow
def test_heat_inversion_sharpens_the_plate(tmp_path: Path) -> None:
    picture = tmp_path / "plates.png"
    text = run("heat_inversion", "--plot", str(picture))
    assert number("largest relative difference", text) < 1e-7
    guessed = number("measured state as a guess:", text)
    assert number("recovered initial state:", text) < 0.8 * guessed
    assert picture.exists() == ("picture saved" in text)


@pytest.mark.parametrize("example", ["lynx_hare", "heat_inversion", "catchment", "heat_mpi"])
def test_pictures_go_where_git_does_not_look(example: str) -> None:
    assert f'OUTPUT / "{example}.png"' in (EXAMPLES / f"{example}.py").read_text(encoding="utf-8")
    assert "examples/output/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


@pytest.mark.slow  # compiles
def test_catchment_finds_the_parameters(tmp_path: Path) -> None:
    pytest.importorskip("llvmlite")
    picture = tmp_path / "flow.png"
    text = run("catchment", "--plot", str(picture))
    assert number("largest relative difference", text) < 1e-4
    assert number("speed-up", text) > 0.0
    assert number("misfit before the fit", text) > 0.05
    assert number("after it", text) < 0.002
    assert picture.exists() == ("picture saved" in text)


def test_catchment_loses_no_water(example_module: Callable[[str], ModuleType]) -> None:
    pytest.importorskip("llvmlite")
    catchment = example_module("catchment")
    rain, temperature, _ = catchment.weather(3650)
    rain[2920:] = 0.0  # two years, after which no water is stored
    flow = np.empty(3650)
    catchment.simulate(catchment.TRUE, rain, temperature, np.zeros(3650), flow)
    soil = catchment.TRUE[1]
    np.testing.assert_allclose(flow.sum(), rain.sum() + 45.0 - 0.5 * soil, rtol=1e-3)


def test_lynx_hare_simulator_conserves_the_invariant(
    example_module: Callable[[str], ModuleType],
) -> None:
    lynx_hare = example_module("lynx_hare")
    growth, predation, death, feeding = rates = np.array([0.55, 0.028, 0.8, 0.024])
    hares, lynx = lynx_hare.simulate(rates, np.array([33.0, 6.0]), 20).T
    invariant = feeding * hares - death * np.log(hares) + predation * lynx - growth * np.log(lynx)
    np.testing.assert_allclose(invariant, invariant[0], rtol=1e-4)


def test_heat_inversion_steps_damp_a_mode_by_its_factor(
    example_module: Callable[[str], ModuleType],
) -> None:
    heat_inversion = example_module("heat_inversion")
    size, steps = 31, 50
    wave = np.sin(np.pi * np.arange(size) / (size - 1))
    plate = np.outer(wave, wave)
    factor = 1.0 - 0.2 * 4.0 * (1.0 - np.cos(np.pi / (size - 1)))
    expected = factor**steps * plate
    heat_inversion.cool(plate, steps)
    np.testing.assert_allclose(plate, expected, rtol=1e-12, atol=1e-14, strict=True)


def test_plain_optimizer_finds_the_minimum_of_rosenbrock(
    example_module: Callable[[str], ModuleType],
) -> None:
    optimization = example_module("optimization")

    def rosenbrock(x: np.ndarray) -> tuple[float, np.ndarray]:
        a, b = x[0], x[1] - x[0] ** 2
        gradient = np.array([2.0 * (a - 1.0) - 400.0 * a * b, 200.0 * b])
        return (a - 1.0) ** 2 + 100.0 * b**2, gradient

    values: list[float] = []
    found = optimization.lbfgs(
        rosenbrock, np.array([-1.2, 1.0]), 100, lambda _, value: values.append(value)
    )
    np.testing.assert_allclose(found, [1.0, 1.0], atol=1e-4)
    assert np.all(np.diff(values) <= 0.0)


def test_optimizer_leaves_the_region_where_the_value_is_not_finite(
    example_module: Callable[[str], ModuleType],
) -> None:
    optimization = example_module("optimization")

    def wall(x: np.ndarray) -> tuple[float, np.ndarray]:
        # -log x + x has its minimum at 1 and is nan for negative x.
        return float(np.sum(x - np.log(x))), 1.0 - 1.0 / x

    found = optimization.lbfgs(optimization.guarded(wall), np.array([0.01]), 50, lambda *_: None)
    np.testing.assert_allclose(found, [1.0], atol=1e-4)
