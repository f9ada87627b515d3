"""Checks that run on several ranks, in one go for each number of ranks."""

from __future__ import annotations

import pytest

from tests.integrations.mpi4py.launch import NEEDS_MPI, run_on_ranks

WORKER = "tests.integrations.mpi4py.on_ranks.worker"
QUICK = ("calls", "orders", "faults", "traffic")
CHECKS = (*QUICK, "page", "random_programs")


@pytest.mark.slow
@NEEDS_MPI
def test_quick_checks() -> None:
    run_on_ranks(2, "-m", WORKER, *QUICK, seconds=120)


@NEEDS_MPI
@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_checks(ranks: int) -> None:
    run_on_ranks(ranks, "-m", WORKER, *CHECKS, seconds=120)


@NEEDS_MPI
@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_many_random_programs(ranks: int) -> None:
    run_on_ranks(ranks, "-m", WORKER, "many_random_programs", seconds=300)


@NEEDS_MPI
def test_failures_are_told() -> None:
    """A check that fails on one rank makes the run fail, with the rank and the traceback."""
    with pytest.raises(pytest.fail.Exception) as caught:
        run_on_ranks(2, "-m", WORKER, "wrong", "-k=check_fails", seconds=60)
    text = str(caught.value)
    assert "wrong.check_fails_on_one_rank on rank 1 of 2" in text
    assert "not the same" in text
    assert "wrong.check_fails_on_one_rank failed on ranks [1]" in text


@pytest.mark.slow
@NEEDS_MPI
def test_ranks_that_hang_are_ended() -> None:
    with pytest.raises(pytest.fail.Exception, match="did not end within"):
        run_on_ranks(2, "-m", WORKER, "wrong", "-k=check_hangs", seconds=1)
