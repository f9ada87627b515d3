"""Loops on slices as one entry broken on purpose, one way at a time: random ones must find each.

``python -m tests.programs.slice_sabotage [COUNT [NAME ...]]`` tells which seeds find them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from mooncake_py.compiler.derivatives import partials
from mooncake_py.compiler.derivatives.tangent import Pushforward, is_tangent
from mooncake_py.compiler.forms import infer
from mooncake_py.compiler.regions.ir import Const, Op, Sliced
from mooncake_py.compiler.slices import forms, pull, read, site, sweeps, tangent
from mooncake_py.compiler.slices.forms import SlicedForm
from mooncake_py.compiler.slices.pull import SlicedPull
from mooncake_py.compiler.slices.site import SlicedSite
from mooncake_py.compiler.slices.tangent import SlicedPushforward
from mooncake_py.compiler.statements.core import Core
from tests.programs.breaking import Change, Patch, register, seed_that_raises, tell
from tests.programs.test_random_slices import LOOPS

__all__ = ["BREAKS", "loop_that_finds"]

BREAKS: dict[str, Change] = {}
breaks = register(BREAKS)


def loop_that_finds(change: Change, most: int = 300) -> int | None:
    """Return the seed of a random loop that finds a break, or None."""
    return seed_that_raises(LOOPS.compare, change, most, partials.formulas)


def wrap(patch: Patch, owner: Any, name: str, change: Callable[[Any], Any]) -> None:
    """Change what a function returns."""
    original = getattr(owner, name)
    patch.setattr(owner, name, lambda *args, **kwargs: change(original(*args, **kwargs)))


# What is saved.


@breaks
def what_is_overwritten_is_not_saved(patch: Patch) -> None:
    patch.setattr(sweeps, "logged_groups", lambda *_: set())
    patch.setattr(sweeps.SlicedAdjoint, "is_kept", lambda self, array: True)


@breaks
def elements_that_are_overwritten_are_not_saved(patch: Patch) -> None:
    patch.setattr(sweeps.SlicedAdjoint, "assigned", sweeps.RegionAdjoint.assigned)


@breaks
def slices_are_saved_without_a_copy(patch: Patch) -> None:
    wrap(patch, SlicedForm, "kept_text", lambda text: text.removesuffix(".copy()"))


@breaks
def slices_are_logged_without_a_copy(patch: Patch) -> None:
    wrap(patch, SlicedForm, "written", lambda lines: [x.replace(".copy()", "") for x in lines])


@breaks
def numbers_are_not_saved(patch: Patch) -> None:
    original = SlicedForm.kept
    patch.setattr(
        SlicedForm,
        "kept",
        lambda self, is_kept, steady: original(self, is_kept, steady | set(self.s.numbers)),
    )


@breaks
def arrays_that_are_read_again_may_change(patch: Patch) -> None:
    patch.setattr("mooncake_py.runtime.registry.Registry.protect", lambda self, a: None)


# Cotangents.


@breaks
def constants_leave_the_cotangents_of_names(patch: Patch) -> None:
    original = SlicedForm.__init__
    patch.setattr(
        SlicedForm, "__init__", lambda self, *args: original(self, *args[:-3], set(), *args[-2:])
    )


@breaks
def slots_are_not_cleared(patch: Patch) -> None:
    patch.setattr(SlicedPull, "cleared", lambda self: "pass")


@breaks
def elements_keep_what_they_had(patch: Patch) -> None:
    patch.setattr(SlicedPull, "put_back", lambda self, total: [])


@breaks
def slots_change_before_they_are_delivered(patch: Patch) -> None:
    patch.setattr(SlicedPull, "copies", lambda self, received: False)


@breaks
def signs_are_lost(patch: Patch) -> None:
    patch.setattr(pull, "unsigned", lambda e: e.args[0] if hasattr(e, "op") else e)
    wrap(patch, SlicedPull, "delivery", lambda lines: [x.replace("-=", "+=") for x in lines])


@breaks
def shadows_come_in_another_order(patch: Patch) -> None:
    wrap(
        patch, site, "written",
        lambda form: form._replace(shadows=form.shadows[::-1]),
    )  # fmt: skip


# Tangents.


@breaks
def tangents_come_after_values(patch: Patch) -> None:
    original = Pushforward.block

    def block(self: Any, body: Any) -> Any:
        found = list(original(self, body))
        for k, (s, then) in enumerate(itertools.pairwise(found)):
            if isinstance(s, Sliced) and isinstance(then, Sliced) and is_tangent(s.bound):
                found[k : k + 2] = then, s
        return tuple(found)

    patch.setattr(Pushforward, "block", block)


@breaks
def tangents_are_never_subtracted(patch: Patch) -> None:
    wrap(
        patch, SlicedPushforward, "added",
        lambda s: replaced(s, s.statement._replace(value=as_sum(s.statement.value))),
    )  # fmt: skip


@breaks
def tangents_of_what_is_overwritten_by_constants_stay(patch: Patch) -> None:
    original = SlicedPushforward.on_slices
    patch.setattr(
        SlicedPushforward,
        "on_slices",
        lambda self, s: original(self, s) if self.adds(s) or moves(self, s) else (s,),
    )


def moves(push: SlicedPushforward, s: Sliced) -> bool:
    """Return whether the tangent of what a statement computes is not zero."""
    return push.value(s, Core(s.statement, push.functions)) is not None


@breaks
def products_of_sums_lose_a_term(patch: Patch) -> None:
    patch.setattr(tangent, "distributed", lost)


def lost(e: Any) -> Any:
    """Return the first term of a sum within an expression."""
    return e.args[0] if isinstance(e, Op) and e.op == "add" else e


def replaced(s: Sliced, statement: Any) -> Sliced:
    """Return a statement on slices with another statement."""
    return Sliced(statement, s.values, s.target, s.written, s.types, place=s.place)


def as_sum(value: Any) -> Any:
    """Return a sum in the place of a difference."""
    return Op("add", value.args)


# Types, shapes and ints.


@breaks
def numbers_are_floats_of_python(patch: Patch) -> None:
    patch.setattr(infer, "ONE_FLOAT64", infer.ONE_FLOAT)


@breaks
def shapes_are_not_looked_at(patch: Patch) -> None:
    patch.setattr(forms, "unless", lambda wrong: [])


@breaks
def ends_of_slices_are_left_out(patch: Patch) -> None:
    patch.setattr(read.SlicedLoopReader, "end", lambda self, node: Const(None))


@breaks
def arrays_are_not_put_back(patch: Patch) -> None:
    patch.setattr(SlicedSite, "log", lambda self, ctx, form, inputs, before: None)


if __name__ == "__main__":
    tell(BREAKS.values(), loop_that_finds, 300)
