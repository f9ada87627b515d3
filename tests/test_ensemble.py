"""The example with 200 runs gives the same bits in every way, in processes of joblib and Dask."""

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.test_examples import EXAMPLES, ROOT, example_module

__all__ = ["example_module"]


def test_mean_is_that_of_values_and_gradients(example_module) -> None:
    module = example_module("ensemble")
    params, seeds = np.array([1.0, 0.3, 0.2]), range(2)
    runs = module.here(params, seeds)
    value, gradient = module.mean(runs)
    for i in range(3):
        step = 1e-6 * np.eye(3)[i]
        up, _ = module.mean(module.here(params + step, seeds))
        down, _ = module.mean(module.here(params - step, seeds))
        assert abs((up - down) / 2e-6 - gradient[i]) < 1e-6 * abs(gradient[i])
    assert module.same(module.run_chunk(params, seeds), runs)
    assert not module.same(runs, runs[::-1])
    assert value == (runs[0][0] + runs[1][0]) / 2


@pytest.mark.slow
def test_processes_give_the_same_bits() -> None:
    pytest.importorskip("joblib")
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    finished = subprocess.run(
        [sys.executable, EXAMPLES / "ensemble.py", "--quick"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    assert "NO" not in finished.stdout
    ways = 2 + bool(importlib.util.find_spec("distributed"))
    assert finished.stdout.count("equal to the bit: yes") == ways
