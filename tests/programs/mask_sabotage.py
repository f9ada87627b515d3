"""Statements by masks broken on purpose, one way at a time: random ones must find each.

``python -m tests.programs.mask_sabotage [COUNT [NAME ...]]`` tells which seeds find them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mooncake_py.compiler.statements import (
    array_forms,
    array_pull,
    kinds,
    plan,
    row_forms,
    scope,
)
from mooncake_py.modes.reverse.tape import Tape
from tests.programs.breaking import Change, Patch, register, seed_that_raises, tell
from tests.programs.corpus import comparing

__all__ = ["BREAKS", "masked_statement_that_finds"]

BREAKS: dict[str, Change] = {}
breaks = register(BREAKS)


def masked_statement_that_finds(change: Change, most: int = 400) -> int | None:
    """Return the seed of a random function that finds a break, or None."""
    return seed_that_raises(comparing(["entries"], "masks"), change, most, array_forms.printed)


@breaks
def masks_are_not_frozen(patch: Patch) -> None:
    patch.setitem(scope.SCOPE, "frozen", lambda ctx, index: index)


@breaks
def views_of_what_masks_pick_are_views_of_arrays(patch: Patch) -> None:
    patch.setattr(kinds, "sees_copies", lambda statement, gathers: False)


@breaks
def what_is_overwritten_keeps_its_cotangent(patch: Patch) -> None:
    original = array_pull.PullWriter.cleared

    def cleared(self: Any) -> str:
        return "pass" if self.plan.by_mask else original(self)

    patch.setattr(array_pull.PullWriter, "cleared", cleared)


@breaks
def any_operand_is_what_is_overwritten(patch: Patch) -> None:
    def old(self: Any) -> int | None:
        picked = [k for k, part in enumerate(self.layout) if self.is_gathered(part)]
        return picked[-1] if self.by_mask and picked else None

    patch.setattr(plan.Plan, "old", property(old))


@breaks
def other_masks_are_taken_for_the_same(patch: Patch) -> None:
    original = array_forms.ArrayForm.fits_as_index

    def fits_as_index(self: Any, p: int) -> str:
        return f"is_gather(a{p})" if p in self.plan.same else original(self, p)

    patch.setattr(array_forms.ArrayForm, "fits_as_index", fits_as_index)


@breaks
def cotangents_by_masks_are_replaced(patch: Patch) -> None:
    original = scope.SCOPE["scatter"]

    def scatter(ufunc: Any, node: Any, index: Any, c: Any) -> None:
        if index.dtype.kind == "b":
            node.shadow()[index] = ufunc(0.0, c)
        else:
            original(ufunc, node, index, c)

    patch.setitem(scope.SCOPE, "scatter", scatter)


@breaks
def writes_by_masks_are_not_logged(patch: Patch) -> None:
    patch.setattr(Tape, "log_masked", lambda self, *args: False)


@breaks
def results_are_logged_for_what_was_there(patch: Patch) -> None:
    original = Tape.log_masked

    def log_masked(self: Any, memory: Any, o: Any, i: Any, old: Any, kept: bool) -> bool:
        return original(self, memory, o, i, np.zeros_like(old), kept)

    patch.setattr(Tape, "log_masked", log_masked)


@breaks
def rows_are_written_into_a_copy(patch: Patch) -> None:
    def write(rows: Any, i: Any, found: Any, op: str) -> None:
        if type(i) is not np.ndarray:
            original(rows, i, found, op)

    original = row_forms.write
    patch.setattr(row_forms, "write", write)


if __name__ == "__main__":
    tell(BREAKS.values(), masked_statement_that_finds, 400)
