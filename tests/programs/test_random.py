"""Random in-place programs: the derivative of each is compared with differences."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.programs.checking import Finding, check
from tests.programs.generator import random_program
from tests.programs.program import Program
from tests.programs.second import check_second
from tests.programs.shrinking import Check, shrink
from tests.programs.truth import Untestable

BATCH = 10  # programs of a fast test
SLOW_BATCH = 200
REFUSED = 0.01  # the part of the programs that may need a rule which is missing


def first_finding(programs: list[Program], check: Check) -> Finding | None:
    """Return a defect that one of the programs shows; most of them must be testable."""
    tested, refused = 0, []
    for program in programs:
        try:
            finding = check(program)
        except Untestable:
            continue
        tested += 1
        if finding is None:
            continue
        if finding.kind != "refused":
            return finding
        refused.append(finding)
    assert tested > len(programs) // 2
    return refused[0] if len(refused) > REFUSED * len(programs) else None


def verify(programs: list[Program], check: Check = check) -> None:
    """Fail with the smallest program found that shows the defect of one of the programs."""
    finding = first_finding(programs, check)
    if finding is not None:
        pytest.fail(str(shrink(finding, check=check)), pytrace=False)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("batch", range(4))
def test_random_programs(batch: int) -> None:
    sizes = (3, 6, 9, 14)
    verify([random_program(Random(seed), sizes[seed % 4])
            for seed in range(batch * BATCH, (batch + 1) * BATCH)])  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("batch", range(2))
def test_random_programs_forward_and_to_second_order(batch: int) -> None:
    first = 60_000 + batch * BATCH
    verify(
        [random_program(Random(seed), (3, 6, 9)[seed % 3]) for seed in range(first, first + 8)],
        check_second,
    )


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(2))
def test_many_random_programs_forward_and_to_second_order(batch: int) -> None:
    first = 70_000 + batch * SLOW_BATCH
    verify([random_program(Random(seed), (3, 6, 9, 14)[seed % 4])
            for seed in range(first, first + SLOW_BATCH)], check_second)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(3))
def test_many_random_programs(batch: int) -> None:
    sizes = (3, 6, 9, 14, 20)
    first = 10_000 + batch * SLOW_BATCH
    verify(
        [random_program(Random(seed), sizes[seed % 5]) for seed in range(first, first + SLOW_BATCH)]
    )


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True, database=None,
          phases=[Phase.generate],  # our own shrinking knows what a program is
          suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])  # fmt: skip
@given(st.randoms(use_true_random=False), st.integers(1, 10))
def test_programs_drawn_by_hypothesis(rng: Random, size: int) -> None:
    try:
        finding = check(random_program(rng, size))
    except Untestable:
        return
    if finding is not None and finding.kind != "refused":
        pytest.fail(str(shrink(finding)), pytrace=False)
