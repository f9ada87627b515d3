"""Marks and options that select tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.marks import each_second

ROOT = Path(__file__).parents[1]


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


def collected(*options: str) -> list[str]:
    """Return the tests of this file that pytest selects."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *options, __file__]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if "::" in line]


@pytest.mark.slow
def test_shares_are_disjoint_and_have_all_tests() -> None:
    shares = [collected("--share", f"{k}/3") for k in (1, 2, 3)]
    assert all(shares)
    assert sorted(name for share in shares for name in share) == sorted(collected())
