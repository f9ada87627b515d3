"""Every program of the corpus, by every way, in every mode; see `driver` and `corpus`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native.entering_again import Quick
from mooncake_py.compiler.native.region_site import RegionSite
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.modes.reverse.context import ReverseContext
from tests.programs.corpus import GENERATORS
from tests.programs.driver import MODES, WAYS, compare, in_turn
from tests.programs.random_loops import random_loop

pytestmark = [
    pytest.mark.plain,
    pytest.mark.without_modes("values are compared bit for bit", "compiled"),
]
EACH = [(kind, seed) for kind in GENERATORS for seed in range(2)]
MANY = {
    "kernels": 43, "whole functions": 40, "loops": 100, "slices": 80, "statements": 80,
    "chosen loops": 27, "user programs": 30, "changed loops": 15, "objects": 16,
}  # fmt: skip
SEEDS = 35


@pytest.mark.sampled(2)  # one seed of each kind
@pytest.mark.parametrize(("kind", "seed"), EACH)
def test_few(kind: str, seed: int) -> None:
    compare(GENERATORS[kind](seed), *in_turn(seed))


@pytest.mark.thorough
@pytest.mark.parametrize("kind", GENERATORS)
def test_one_by_every_way_in_every_mode(kind: str) -> None:
    compare(GENERATORS[kind](7))


@pytest.mark.slow
@pytest.mark.parametrize("kind", GENERATORS)
def test_many(kind: str) -> None:
    for seed in range(1000, 1000 + MANY.get(kind, SEEDS)):
        try:
            compare(GENERATORS[kind](seed), *in_turn(seed))
        except Exception as error:
            error.add_note(f"{kind} {seed}")
            raise


def test_ways_and_modes_come_in_turn() -> None:
    found = [in_turn(seed) for seed in range(len(WAYS) * len(MODES))]
    assert {way for ways, _ in found for way in ways} == {*WAYS}
    assert {mode for _, modes in found for mode in modes} == {*MODES}


# Most programs do run as one entry.


def share_that_ran(patch: pytest.MonkeyPatch, site: Any, kind: str, seeds: range) -> float:
    """Return the part of the trials at sites of a class that did not fail."""
    results: list[Any] = []
    attempt: Callable[..., Any] = site.attempt

    def counted(*args: Any) -> Any:
        results.append(attempt(*args))
        return results[-1]

    patch.setattr(site, "attempt", counted)
    patch.setattr(Quick, "ran", lambda *_: None)  # the printed way in counts nothing
    for seed in seeds:
        compare(GENERATORS[kind](seed), ["entries"], ["gradients"])
    assert len(results) > len(seeds) // 2
    return sum(result is not Elsewhere for result in results) / len(results)


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "least"), [("loops", 0.7), ("slices", 0.6)])
def test_most_are_one_entry(kind: str, least: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # Others meet numbers that are not finite, and are left.
    assert share_that_ran(monkeypatch, RegionSite, kind, range(24)) > least


def test_cotangents_of_statements_are_of_float32() -> None:
    def statement(u: np.ndarray, w: np.ndarray) -> np.ndarray:
        return np.logaddexp(u, w) * w + 0.5 * u

    ctx = ReverseContext()
    u, w = np.ones((4, 3), np.float32), np.ones(3, np.float32)
    nodes = [ctx.registry.activate(a) for a in (u, w)]
    y = ctx.call(statement, u, w)
    assert len(ctx.tape) == 1
    ctx.registry.activate(y).shadow()[...] = 1.0
    ctx.run_backwards()
    assert [np.asarray(node.grad).dtype for node in nodes] == [np.float32, np.float32]


@pytest.mark.thorough
def test_no_while_loop_raises_its_bound() -> None:
    for seed in (*range(100), *range(50000, 50100)):
        nodes = ast.walk(ast.parse(random_loop(seed)))
        loops = [ast.unparse(node) for node in nodes if type(node) is ast.While]
        assert not any("k += 1" in loop for loop in loops), seed
