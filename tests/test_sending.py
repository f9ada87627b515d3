"""Derivatives give the same bits in fresh processes, where they are unpickled, or a clear error."""

from __future__ import annotations

import functools
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    from_vjp,
    grad,
    hessian,
    hessian_diagonal,
    hvp,
    jacobian,
    local_rules,
    value_and_grad,
    value_and_jacobian,
    value_grad_and_hessian,
)
from tests import pickled

pytestmark = pytest.mark.without_modes("processes of their own run as they are")

ROOT = Path(__file__).parents[1]
X = np.array([0.3, -1.2, 0.7, 2.0])

RECEIVER = """
import pickle, sys
with open(sys.argv[1], "rb") as file:
    calls = pickle.load(file)
results = {}
for name, (derivative, args) in calls.items():
    try:
        results[name] = derivative(*args)
    except Exception as error:
        results[name] = f"{type(error).__name__}: {error}"
with open(sys.argv[2], "wb") as file:
    pickle.dump(results, file)
"""


def run(*arguments: Any) -> None:
    """Run Python in a process of its own."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    finished = subprocess.run(
        [sys.executable, *map(str, arguments)], env={**os.environ, "PYTHONPATH": path},
        capture_output=True, text=True, check=False, timeout=120, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr


def received(calls: Path) -> dict[str, Any]:
    """Return the results of pickled calls in a fresh process."""
    results = calls.with_suffix(".results")
    run("-c", RECEIVER, calls, results)
    return pickle.loads(results.read_bytes())


def sent(calls: dict[str, Any], folder: Path, dump: Any = pickle.dumps) -> dict[str, Any]:
    """Return the results of calls in a fresh process."""
    file = folder / "calls"
    file.write_bytes(dump(calls))
    return received(file)


def require_same(got: dict[str, Any], expected: dict[str, Any]) -> None:
    """Compare results to the bit, with their types and shapes."""
    assert {name: bits(value) for name, value in got.items()} == {
        name: bits(value) for name, value in expected.items()
    }


def bits(value: Any) -> Any:
    """Return a value as types, shapes and bytes."""
    if isinstance(value, tuple):
        return [bits(part) for part in value]
    if isinstance(value, dict):
        return {key: bits(part) for key, part in value.items()}
    a = np.asarray(value)
    return type(value), a.dtype, a.shape, a.tobytes()


def test_functions_of_modules(tmp_path: Path) -> None:
    f, loop = functools.partial(pickled.energy, steps=3), pickled.squares
    derivatives = {
        "grad": grad(f),
        "value_and_grad": value_and_grad(f),
        "aux": value_and_grad(pickled.with_aux, has_aux=True),
        "forward": grad(loop, mode="forward"),
        "debug": grad(loop, debug=True),
        "made in the module": functools.partial(pickled.energy_gradient, steps=2),
        "jacobian": jacobian(pickled.spread),
        "jacobian with options": jacobian(pickled.spread, ("x",), mode="reverse"),
        "of a ufunc": jacobian(np.sin),
        "value_and_jacobian": value_and_jacobian(pickled.spread),
        "hessian": hessian(loop),
        "diagonal": hessian_diagonal(loop),
        "all three": value_grad_and_hessian(loop),
        "grad of grad": jacobian(grad(loop)),
        "method": grad(pickled.Weighted(2.0).cubed),
        "object": grad(pickled.Weighted(2.0)),
    }
    calls = {name: (derivative, (X,)) for name, derivative in derivatives.items()}
    calls["several"] = grad(pickled.spread_and_sum, (0, "k")), (X, 2.0)
    calls["hvp"] = (functools.partial(hvp, loop), ((X,), X))
    require_same(sent(calls, tmp_path), {name: g(*args) for name, (g, args) in calls.items()})


@pytest.mark.slow
def test_compiled_functions(tmp_path: Path) -> None:
    pytest.importorskip("llvmlite")
    calls = {
        "grad": (grad(pickled.squares, compile=True), (X,)),
        "jacobian": (jacobian(pickled.spread, compile=True), (X,)),
    }
    require_same(sent(calls, tmp_path), {name: g(*args) for name, (g, args) in calls.items()})


SENDER = """
import functools, pickle, sys
import cloudpickle
import numpy as np
from mooncake_py import from_vjp, grad, hessian, jacobian, jvp, value_and_grad

X = np.array([0.3, -1.2, 0.7, 2.0])
weight = 3.0

def twice(x):
    return x * 2.0

def energy(u, steps):
    for _ in range(steps):
        u[1:-1] += 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(twice(u) * u)

def scaled(a):
    return lambda x: np.sum(a * x * x)

class Model:
    def __init__(self, k):
        self.k = k
    def energy(self, x):
        return self.k * np.sum(twice(x) * x)
    def __call__(self, x):
        return self.energy(x)

def straight(x):
    return np.sum(np.floor(x) + x)

@from_vjp(straight)
def straight_rule(x):
    return straight(x), lambda dy: (np.full(np.shape(x), 5.0 * dy),)

def uses_rule(x):
    return 2.0 * straight(x)

calls = {
    "function": (value_and_grad(energy), (X, 3)),
    "lambda": (grad(lambda x: np.sum(x * twice(x) * weight)), (X,)),
    "closure": (grad(scaled(2.0)), (X,)),
    "partial": (grad(functools.partial(energy, steps=2)), (X,)),
    "partial of a gradient": (functools.partial(grad(energy), steps=2), (X,)),
    "method": (grad(Model(2.0).energy), (X,)),
    "object": (grad(Model(2.0)), (X,)),
    "jacobian": (jacobian(lambda x: np.cumsum(x * x)), (X,)),
    "hessian": (hessian(scaled(2.0)), (X,)),
    "inner gradient": (grad(lambda x: np.sum(grad(scaled(2.0))(x) ** 2)), (X,)),
}
rules = {
    "rule": (grad(uses_rule), (X,)),
    "rule itself": (grad(straight), (X,)),
    "rule in forward mode": (grad(uses_rule, mode="forward"), (X,)),
    "plain": (uses_rule, (X,)),
}
alone = {"jvp": (functools.partial(jvp, uses_rule), ((X,), (X,)))}
results = {name: g(*args) for name, (g, args) in calls.items()}
for name, value in (("calls", calls), ("rules", rules), ("alone", alone), ("expected", results)):
    with open(f"{sys.argv[1]}/{name}", "wb") as file:
        cloudpickle.dump(value, file)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what a script has sent; the script itself is gone."""
    pytest.importorskip("cloudpickle")
    folder = tmp_path_factory.mktemp("sent")
    script = folder / "script.py"
    script.write_text(SENDER)
    run(script, folder)
    script.unlink()  # the workers are on another machine, or it is a notebook
    return folder


@pytest.mark.slow
def test_functions_of_a_script_that_workers_do_not_have(folder: Path) -> None:
    expected = pickle.loads((folder / "expected").read_bytes())
    require_same(received(folder / "calls"), expected)


@pytest.mark.slow
def test_rules_of_a_script_are_missed_not_overlooked(folder: Path) -> None:
    got = received(folder / "rules")
    (folder / "script.py").write_text(SENDER)  # nothing goes along with a function alone
    got |= received(folder / "alone")
    assert got.pop("plain") == 2.0 * np.sum(np.floor(X) + X)
    for error in got.values():
        assert error.startswith("MissingRuleError: the rule of __main__.straight is not in this")
        assert f"declared at {folder / 'script.py'}" in error
        assert "put function and rule into a module" in error


RULES = """
import pickle, sys
import numpy as np
import tests.sent_rules
from tests import pickled
from mooncake_py import grad
X = np.array([0.3, -1.2, 0.7, 2.0])
for f in pickled.uses_straight, pickled.straight_in_a_loop:
    with open(f"{sys.argv[1]}/{f.__name__}", "wb") as file:
        pickle.dump({"got": (grad(f), (X,))}, file)
"""

PASS_ON = """
import pickle, sys
with open(sys.argv[1], "rb") as file:
    calls = pickle.load(file)
with open(sys.argv[1], "wb") as file:
    pickle.dump(calls, file)
"""


@pytest.mark.slow
def test_rules_of_modules_are_imported_when_they_are_needed(tmp_path: Path) -> None:
    run("-c", RULES, tmp_path)
    run("-c", PASS_ON, tmp_path / "uses_straight")
    for name, slope in ("uses_straight", 10.0), ("straight_in_a_loop", 5.0):
        np.testing.assert_array_equal(received(tmp_path / name)["got"], [slope] * 4)


def rounded(x: Any) -> Any:
    return np.floor(x) + x


@from_vjp(rounded)
def rounded_rule(x: Any) -> Any:
    return rounded(x), lambda dy: (5.0 * dy,)


def test_functions_that_have_a_rule_may_do_without_it() -> None:
    @functools.wraps(rounded)
    def wrapper(x: Any) -> Any:
        return rounded(x)

    twin = pickle.loads(pickle.dumps(grad(rounded)))
    assert twin(1.5) == grad(wrapper)(1.5) == 5.0
    with local_rules(without=rounded):
        assert twin(1.5) == grad(wrapper)(1.5) == 1.0
