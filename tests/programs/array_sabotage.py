"""Loops that bind names to arrays broken on purpose, one way at a time: random ones find each.

``python -m tests.programs.array_sabotage [COUNT [NAME ...]]`` tells which seeds find them.
"""

from __future__ import annotations

from typing import Any

import pytest

from mooncake_py.compiler.derivatives import partials
from mooncake_py.compiler.slices import on_arrays, site
from mooncake_py.compiler.slices.forms import SlicedForm
from mooncake_py.compiler.slices.pull import SlicedPull
from mooncake_py.compiler.slices.sweeps import SlicedAdjoint
from mooncake_py.compiler.slices.tangent import SlicedPushforward
from mooncake_py.compiler.slices.variables import Variables
from mooncake_py.compiler.statements import array_adjoint
from mooncake_py.compiler.statements.core import Core
from tests.programs.breaking import Change, Patch, register, seed_that_raises, tell
from tests.programs.slice_sabotage import wrap
from tests.programs.test_random_arrays import LOOPS

__all__ = ["BREAKS", "loop_that_finds"]

BREAKS: dict[str, Change] = {}
breaks = register(BREAKS)


def loop_that_finds(change: Change, most: int = 600) -> int | None:
    """Return the seed of a random loop that finds a break, or None."""
    return seed_that_raises(LOOPS.compare, change, most, partials.formulas)


@breaks
def former_arrays_are_not_put_back(patch: Patch) -> None:
    patch.setattr(SlicedAdjoint, "read_of_variables", lambda self, body: set())


@breaks
def what_is_saved_may_change(patch: Patch) -> None:
    patch.setattr(SlicedForm, "saves_what_it_binds", lambda self, kept: False)


@breaks
def cotangents_of_names_stay_when_they_are_bound_anew(patch: Patch) -> None:
    def kept(found: Any) -> Any:
        lines, again = found
        return [line for line in lines if not line.endswith(" = None")], again

    wrap(patch, SlicedPull, "lines", kept)


@breaks
def what_is_added_to_a_name_replaces_the_rest(patch: Patch) -> None:
    wrap(
        patch, SlicedPull, "given_to_variable",
        lambda lines: [line.partition(" if ")[0] for line in lines],
    )  # fmt: skip


@breaks
def parts_of_cotangents_are_not_copied(patch: Patch) -> None:
    wrap(
        patch, SlicedPull, "given_to_variable",
        lambda lines: [line.replace(".copy()", "") for line in lines],
    )  # fmt: skip


@breaks
def parts_of_what_has_another_name_may_change(patch: Patch) -> None:
    patch.setattr(on_arrays, "are_alone", lambda body, names: True)


@breaks
def cotangents_of_parts_are_added_to_what_others_have(patch: Patch) -> None:
    wrap(
        patch, SlicedPull, "owned",
        lambda lines: [line.replace(".copy()", "") for line in lines],
    )  # fmt: skip


@breaks
def cotangents_of_changed_parts_stay(patch: Patch) -> None:
    patch.setattr(SlicedPull, "cleared", lambda self: "pass")


@breaks
def arguments_get_nothing(patch: Patch) -> None:
    patch.setattr(Variables, "give", lambda self, cotangents: None)


@breaks
def what_was_bound_in_the_end_keeps_its_cotangent(patch: Patch) -> None:
    def take(self: Any) -> Any:
        return [None if node.grad is None else node.shadow().copy() for node in self.made]

    patch.setattr(Variables, "take", take)


@breaks
def arrays_with_another_name_may_change(patch: Patch) -> None:
    patch.setattr("mooncake_py.runtime.registry.Registry.protect", lambda self, a: None)


@breaks
def names_may_be_bound_to_what_is_written(patch: Patch) -> None:
    patch.setattr(site, "may_be_bound", lambda found: True)
    patch.setattr(site, "is_steady", lambda s, plan, found: True)


@breaks
def parts_keep_their_names_when_the_index_changes(patch: Patch) -> None:
    patch.setattr(on_arrays, "names_of", lambda expressions: [])


@breaks
def what_is_changed_in_place_is_bound_anew(patch: Patch) -> None:
    original = on_arrays.Rereader.__init__

    def init(self: Any, region: Any, *args: Any) -> None:
        changed = frozenset[str]()
        original(self, on_arrays.replace(region, changed=changed), *args)

    patch.setattr(on_arrays.Rereader, "__init__", init)


@breaks
def the_last_arrays_come_in_another_order(patch: Patch) -> None:
    wrap(
        patch, site, "written",
        lambda form: form._replace(variables_on=form.variables_on[::-1]),
    )  # fmt: skip


@breaks
def tangents_of_zero_are_left_out(patch: Patch) -> None:
    original = SlicedPushforward.on_slices

    def on_slices(self: Any, s: Any) -> Any:
        core = Core(s.statement, self.functions)
        if s.bound in self.variables and s.bound in self.names and self.value(s, core) is None:
            return (s,)
        return original(self, s)

    patch.setattr(SlicedPushforward, "on_slices", on_slices)


@breaks
def a_slope_beside_a_sum_comes_first(patch: Patch) -> None:
    original = array_adjoint.is_of_one_array

    def is_of_one_array(plan: Any) -> bool:
        with pytest.MonkeyPatch.context() as within:
            within.setattr(plan.core, "sums", [] if plan.whole is not None else plan.core.sums)
            return original(plan)

    patch.setattr(array_adjoint, "is_of_one_array", is_of_one_array)


if __name__ == "__main__":
    tell(BREAKS.values(), loop_that_finds, 600)
