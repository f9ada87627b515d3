"""What the marks leave out of the fast set."""

from __future__ import annotations

import pytest

from tests.support.marks import each_second


def marks(request: pytest.FixtureRequest) -> set[str]:
    return {mark.name for mark in request.node.iter_markers()} & {"slow", "thorough"}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("k", range(7))
def test_each_third_case(k: int, request: pytest.FixtureRequest) -> None:
    assert marks(request) == (set() if k % 3 == 0 else {"slow", "thorough"})


@pytest.mark.sampled(2)
@pytest.mark.parametrize("k", each_second(range(8)))
def test_each_second_of_those_that_are_not_slow(k: int, request: pytest.FixtureRequest) -> None:
    assert marks(request) == (set() if k % 4 == 0 else {"slow"} if k % 2 else {"slow", "thorough"})


@pytest.mark.thorough
@pytest.mark.parametrize("k", range(2))
def test_all(k: int, request: pytest.FixtureRequest) -> None:
    assert marks(request) == {"slow", "thorough"}
