"""Random programs warn, and raise, as often and where the plain call does, in each mode."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from mooncake_py import MissingRuleError, jvp, value_and_grad
from mooncake_py.errors import DerivativeDropError
from tests.programs.random_warnings import argument, random_program_that_warns


def compare(seed: int, tmp_path: Any) -> int:
    """Compare the modes with the plain call; return how many were not refused."""
    source = random_program_that_warns(seed)
    path = tmp_path / f"program_{seed}.py"
    path.write_text(source)
    names = {"np": np, "warnings": warnings, "__name__": "program"}
    exec(compile(source, str(path), "exec"), names)
    f = names["f"]
    expected = f(argument(seed))
    ran = 0
    for run in (
        lambda x: value_and_grad(f, has_aux=True)(x)[0],
        lambda x: value_and_grad(f, has_aux=True, compile=True)(x)[0],
        lambda x: jvp(f, (x,), (np.ones(4),))[0],
    ):
        try:
            found = run(argument(seed))
        except (DerivativeDropError, MissingRuleError):
            continue
        assert found == expected, source
        ran += 1
    return ran


@pytest.mark.plain
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.sampled(3)
def test_few(seed: int, tmp_path: Any) -> None:
    compare(seed, tmp_path)


@pytest.mark.plain
@pytest.mark.slow
def test_many(tmp_path: Any) -> None:
    assert sum(compare(seed, tmp_path) for seed in range(100, 300)) > 300
