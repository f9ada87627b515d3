"""The engine broken on purpose, one way for each family of what users bring: seeds find each.

``python -m tests.programs.brought.sabotage [COUNT [NAME ...]]`` tells which seeds find them.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.application import apply, elementwise
from mooncake_py.compiler.statements import array_forms
from mooncake_py.containers import sequences, state
from mooncake_py.containers.reachable import State
from mooncake_py.integrations.scipy.interpolate import piecewise
from mooncake_py.language import caches, draws, operators, outside_iterators
from mooncake_py.rules import local
from mooncake_py.rules.declare import overlay
from mooncake_py.runtime import elsewhere
from mooncake_py.runtime.active import plain_class
from mooncake_py.runtime.slots import GENERIC, slot_of
from tests.programs.breaking import Change, Patch, register, seed_that_finds, tell
from tests.programs.brought.checking import check_in
from tests.programs.brought.generator import brought_program
from tests.programs.truth import Untestable

__all__ = ["BREAKS", "program_that_finds"]

BREAKS: dict[str, Change] = {}
breaks = register(BREAKS)

# The kinds of statements of which programs have more that look for a break, and the mode.
SHOWN_BY: dict[str, tuple[tuple[str, ...], str]] = {}


def shown_by(*kinds: str, mode: str = "gradient") -> Any:
    def note(change: Change) -> Change:
        SHOWN_BY[change.__name__] = kinds, mode
        return breaks(change)

    return note


def program_that_finds(change: Change, most: int = 300) -> int | None:
    """Return the seed of a random program that finds a break, or None."""
    kinds, mode = SHOWN_BY.get(change.__name__, ((), "gradient"))

    def finds(seed: int) -> bool:
        try:
            finding = check_in([mode], brought_program(Random(seed), 2, prefer=kinds))
        except Untestable:
            return False
        return finding is not None and not finding.kind.startswith("refused")

    return seed_that_finds(finds, change, most, array_forms.printed)


@shown_by("solver_with_memory")
def evaluations_at_solutions_find_what_the_solver_left(patch: Patch) -> None:
    patch.setattr(State, "put_back", lambda self: [])


@shown_by("captured_iterator")
def captured_iterators_yield_constants(patch: Patch) -> None:
    patch.setattr(outside_iterators, "in_place_of", lambda ctx, iterator: iterator)


@shown_by("numbers_of_python", "constant_matrix", "constant_array_of_python", "number_of_a_class")
def rules_run_for_any_operand(patch: Patch) -> None:
    patch.setattr(apply, "meet", lambda f, args, kwargs: None)
    patch.setattr(elementwise, "plain_operand", lambda ctx, f, value: value)
    patch.setattr(elementwise, "require_plain", lambda f, value: None)


@shown_by("sequence_of_a_class")
def sequences_are_read_by_number(patch: Patch) -> None:
    patch.setattr(sequences, "items_of", lambda ctx, value: [value[i] for i in range(len(value))])


@shown_by("data_made_lazily")
def cached_functions_run_at_each_call(patch: Patch) -> None:
    patch.setattr(
        caches, "call_cached", lambda ctx, f, args, kwargs: ctx.call(f.__wrapped__, *args, **kwargs)
    )


@shown_by("number_of_a_class")
def right_operands_of_subclasses_wait(patch: Patch) -> None:
    original = operators.by_slots

    def by_slots(ctx: Any, op: Any, a: Any, b: Any) -> Any:
        ta, tb = plain_class(a), plain_class(b)
        left, right = (slot_of(t, op) is GENERIC for t in (ta, tb))
        y = operators.by_methods(ctx, op, a, b, left, right and tb is not ta)
        return original(ctx, op, a, b) if y is NotImplemented else y

    patch.setattr(operators, "by_slots", by_slots)


@shown_by("draw_from_global_state", "draw_from_a_generator", mode="checkpointed")
def second_runs_draw_other_numbers(patch: Patch) -> None:
    patch.setattr(draws.Draws, "note", lambda self, source: None)


@shown_by("data_made_lazily")
def attributes_stay_changed(patch: Patch) -> None:
    patch.setattr(state.restore_attribute, "__code__", (lambda o, name, old: None).__code__)


@shown_by("write_into_result", "write_into_part_of_matrix")
def flattened_arrays_are_copies(patch: Patch) -> None:
    block = local.LocalRules(None, ())  # registering it for all would leave its mark
    patch.setattr(local, "current", lambda: block)

    def ravel(a: Any, order: Any = "C") -> Any:
        return np.ravel(a, order).copy()

    overlay(ndarray.ravel, replace=True)(ravel)


@shown_by("captured_shared_memory")
def memory_is_found_by_bases_alone(patch: Patch) -> None:
    patch.setattr(elsewhere, "owner_among", lambda a, others: None)


@shown_by("constant_spline", "spline_of_data")
def splines_have_one_piece(patch: Patch) -> None:
    original = piecewise.interval
    patch.setattr(piecewise, "interval", lambda x, points: np.zeros_like(original(x, points)))


if __name__ == "__main__":
    tell(BREAKS.values(), program_that_finds, 300)
