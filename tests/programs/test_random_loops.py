"""Random loops over numbers and elements: as one entry, against operation by operation."""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import Any
from warnings import catch_warnings, simplefilter

import pytest

from mooncake_py import checkpointed, grad
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.compiler.sites.site import Site
from tests.programs.comparing import assert_as_unfused, assert_forward_as_unfused, function_of
from tests.programs.random_loops import change_functions, loop_arguments, random_loop


def compare(seed: int) -> None:
    compare_gradients(seed)
    compare_forward(seed)
    compare_after_a_change(seed)
    compare_checkpointed(seed)


def compare_in_turn(seed: int) -> None:
    """Compare gradients, and one of the other ways."""
    compare_gradients(seed)
    (compare_forward, compare_after_a_change, compare_checkpointed)[seed % 3](seed)


def compare_gradients(seed: int) -> None:
    f = function_of(random_loop(seed), f"<random loop {seed}>")
    assert_as_unfused(f, loop_arguments(seed), ((0, 1, 2, 3), (0,), (2,), (3,)))


def compare_forward(seed: int) -> None:
    f = function_of(random_loop(seed), f"<random loop {seed}>")
    assert_forward_as_unfused(f, loop_arguments(seed), seed)


def compare_after_a_change(seed: int) -> None:
    f: Any = function_of(random_loop(seed), f"<changed loop {seed}>")
    args = loop_arguments(seed)
    with suppress(ValueError, IndexError, TypeError), catch_warnings():
        simplefilter("ignore")
        grad(f, (0, 3))(*args)
    change_functions(f.__globals__, seed)
    assert_as_unfused(f, args, ((0, 1, 2, 3),))


def compare_checkpointed(seed: int) -> None:
    """A second step finds what the first one has written, and runs again more often."""
    f = function_of(random_loop(seed), f"<checkpointed loop {seed}>")

    def steps(*args: Any) -> Any:
        s = 0.0
        for _ in checkpointed(range(3), 1):
            s = f(*args)
        return s

    assert_as_unfused(steps, loop_arguments(seed), ((0, 1, 2, 3), (2,)))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(6))
def test_few(seed):
    compare_gradients(seed)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(30, 34))
def test_few_forward_and_to_second_order(seed):
    compare_forward(seed)


@pytest.mark.parametrize("seed", range(40, 44))
def test_few_after_a_change_of_the_functions_that_they_call(seed):
    compare_after_a_change(seed)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("seed", [66, 143, 275, *range(310, 314)])
def test_few_in_steps_that_run_again(seed):
    compare_checkpointed(seed)


@pytest.mark.thorough
def test_no_while_loop_raises_its_bound():
    for seed in (*range(100), *range(50000, 50100)):
        nodes = ast.walk(ast.parse(random_loop(seed)))
        loops = [ast.unparse(node) for node in nodes if type(node) is ast.While]
        assert not any("k += 1" in loop for loop in loops), seed


@pytest.mark.thorough
@pytest.mark.plain
def test_most_are_one_entry(monkeypatch):
    attempts: list[bool] = []
    attempt = Site.attempt

    def counted(*args):
        result = attempt(*args)
        attempts.append(result is Elsewhere)
        return result

    monkeypatch.setattr(Site, "attempt", counted)
    tried = missed = 0
    for seed in range(48):
        attempts.clear()
        compare_gradients(seed)
        tried += bool(attempts)
        missed += any(attempts)
    assert tried > 30
    assert missed < 0.1 * tried


@pytest.mark.slow
def test_many():
    for seed in (*range(58), *range(310, 320), *range(1000, 1600)):
        try:
            compare_in_turn(seed)
        except Exception as error:
            error.add_note(f"seed {seed}:\n{random_loop(seed)}")
            raise
