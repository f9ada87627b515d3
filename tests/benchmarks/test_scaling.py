"""The model of many ranks gives the numbers that can be counted."""

import pytest

from benchmarks.scaling_model import Network, Step, neighbours, step_seconds

NETWORK = Network(latency=2.0, bandwidth=4.0)
STEP = Step(compute=10.0, exchanges=1.0, nbytes=8.0, collectives=0.5)


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [(1, 0), (2, 1), (3, 2), (4, 2), (6, 3), (7, 2), (9, 4), (16, 4), (10_000, 4)],
)
def test_neighbours_of_the_rank_with_most(ranks: int, expected: int) -> None:
    assert neighbours(ranks) == expected


def test_one_rank_alone_computes() -> None:
    assert step_seconds(STEP, NETWORK, 1) == 10.0


def test_messages_and_collective_calls_are_added() -> None:
    # One message of 2 + 8/4, half a collective call of one latency.
    assert step_seconds(STEP, NETWORK, 2) == 10.0 + 4.0 + 0.5 * 2.0
    # Four messages, log2(10,000) rounded up is 14.
    assert step_seconds(STEP, NETWORK, 10_000) == 10.0 + 4 * 4.0 + 0.5 * 14 * 2.0


def test_ranks_take_turns_on_fewer_cores() -> None:
    assert step_seconds(STEP, NETWORK, 4, cores=2) == 2 * (10.0 + 2 * 4.0) + 0.5 * 2 * 2.0
    assert step_seconds(STEP, NETWORK, 2, cores=2) == step_seconds(STEP, NETWORK, 2)
