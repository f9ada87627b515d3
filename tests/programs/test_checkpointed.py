"""Random in-place programs, every call of which is checkpointed."""

from __future__ import annotations

from random import Random

import pytest

from mooncake_py.language.core import Core
from tests.programs.generator import random_program
from tests.programs.test_random import verify
from tests.support.checkpoint_everywhere import run_again


@pytest.mark.sampled(2)
@pytest.mark.parametrize("batch", range(2))
def test_random_programs(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Core, "call_function", run_again)
    sizes = (3, 6, 9, 14)
    verify([random_program(Random(seed), sizes[seed % 4])
            for seed in range(5000 + batch * 5, 5005 + batch * 5)])  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(2))
def test_many_random_programs(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Core, "call_function", run_again)
    sizes = (3, 6, 9, 14, 20)
    first = 20_000 + batch * 100
    verify([random_program(Random(seed), sizes[seed % 5]) for seed in range(first, first + 100)])
