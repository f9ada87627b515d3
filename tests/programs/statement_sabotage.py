"""Statements as one entry broken on purpose, one way at a time: random ones must find each.

``python -m tests.programs.statement_sabotage [COUNT [NAME ...]]`` tells which seeds find them.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from mooncake_py.compiler.derivatives import cotangents
from mooncake_py.compiler.regions.ir import Const, Name, Op
from mooncake_py.compiler.statements import (
    array_adjoint,
    array_forms,
    array_pull,
    array_text,
    below,
    choices,
    contractions,
    finiteness,
    fitting,
    forward_forms,
    kinds,
    masks,
    push,
    pushforward,
    read,
    reductions,
    row_forms,
    scalar_tangents,
    scalars,
    scope,
)
from mooncake_py.compiler.statements.statement import View
from mooncake_py.modes.reverse.tape import Tape
from mooncake_py.runtime.memory import Memory
from tests.programs.breaking import Change, Patch, register, seed_that_raises, tell
from tests.programs.corpus import comparing

__all__ = [
    "BREAKS", "IN_DEBUG_MODE", "statement_that_finds", "statement_that_finds_in_debug_mode",
]  # fmt: skip

DEBUG = "in debug mode"

BREAKS: dict[str, Change] = {}
breaks = register(BREAKS)


def statement_that_finds(change: Change, most: int = 500) -> int | None:
    """Return the seed of a random function that finds a break, or None."""
    return seed_that_raises(comparing(["entries"], "statements"), change, most, array_forms.printed)


def statement_that_finds_in_debug_mode(change: Change, most: int = 200) -> int | None:
    """Return the seed of a random function that finds a break in debug mode, or None."""
    return seed_that_raises(
        comparing(["debug"], "statements"), change, most, array_forms.printed, DEBUG
    )


# Reading.


@breaks
def operands_of_a_change_are_swapped(patch: Patch) -> None:
    original = read.StatementReader.changed

    def changed(self: Any, op: str, part: Any, value: Any) -> Any:
        e = original(self, op, part, value)
        return Op(e.op, e.args[::-1])  # type: ignore[attr-defined]

    patch.setattr(read.StatementReader, "changed", changed)


# What the operands receive.


@breaks
def signs_of_cotangents_are_lost(patch: Patch) -> None:
    patch.setattr(array_adjoint, "negated", lambda e: e)


@breaks
def one_of_two_cotangents_is_lost(patch: Patch) -> None:
    patch.setattr(cotangents, "added", lambda a, b: b)


@breaks
def quotients_are_not_divided(patch: Patch) -> None:
    original = array_adjoint.quotient_first

    def quotient_first(d: Any, p: Any) -> Any:
        if isinstance(p, Op) and p.op == "truediv" and not isinstance(p.args[0], Const):
            return array_adjoint.product(d, p.args[0])
        return original(d, p)

    patch.setattr(array_adjoint, "quotient_first", quotient_first)


@breaks
def numbers_beside_arrays_receive_the_first_element(patch: Patch) -> None:
    patch.setitem(scope.SCOPE, "summed", lambda d: float(np.ravel(d)[0]))


@breaks
def sums_of_products_lose_a_factor(patch: Patch) -> None:
    patch.setitem(scope.SCOPE, "inner", lambda d, factor: float(np.sum(d)))


@breaks
def broadcast_operands_lose_a_factor(patch: Patch) -> None:
    fitted = scope.SCOPE["fitted"]
    patch.setitem(scope.SCOPE, "reduced", lambda d, factor, shape: fitted(d, shape))


@breaks
def broadcast_operands_receive_of_one_row(patch: Patch) -> None:
    def fitted(d: Any, shape: Any) -> Any:
        return d[:1].reshape(shape) if d.ndim == 2 and shape == d.shape[1:] else original(d, shape)

    original = scope.SCOPE["fitted"]
    patch.setitem(scope.SCOPE, "fitted", fitted)


@breaks
def factors_of_matrices_swap_their_adjoints(patch: Patch) -> None:
    original = contractions.adjoints_of
    patch.setattr(array_adjoint, "adjoints_of", lambda e: original(e)[::-1])


@breaks
def nothing_is_checked(patch: Patch) -> None:
    patch.setattr(array_pull, "tests", lambda received, plan: [])


@breaks
def products_cannot_spoil(patch: Patch) -> None:
    patch.setattr(finiteness, "is_safe", lambda *args: True)


@breaks
def choices_do_not_look_at_what_comes_in(patch: Patch) -> None:
    original = array_adjoint.checks
    patch.setattr(
        array_adjoint, "checks", lambda received: [n for n in original(received) if n != "g"]
    )


@breaks
def careful_products_are_as_others(patch: Patch) -> None:
    patch.setattr(array_adjoint, "carefully_times", array_adjoint.quotient_first)


# What is printed for the way back.


@breaks
def what_is_overwritten_keeps_its_cotangent(patch: Patch) -> None:
    patch.setattr(array_pull.PullWriter, "cleared", lambda self: "pass")


@breaks
def the_cotangent_of_the_target_is_not_copied(patch: Patch) -> None:
    patch.setattr(array_pull.PullWriter, "copies", lambda self, received: False)


@breaks
def cotangents_that_are_shared_are_handed_over(patch: Patch) -> None:
    original = array_pull.PullWriter.delivery
    patch.setattr(
        array_pull.PullWriter, "delivery", lambda self, k, e, owned: original(self, k, e, True)
    )


@breaks
def a_target_takes_the_other_share(patch: Patch) -> None:
    original = array_pull.PullWriter.masked_in_place

    def masked_in_place(self: Any, own: Any, received: Any, together: Any) -> str:
        text = original(self, own, received, together)
        text = re.sub(r"(w_t\d+)_([01])", lambda m: f"{m[1]}_{1 - int(m[2])}", text)
        return re.sub(r", ([01])(?=[,)])", lambda m: f", {1 - int(m[1])}", text)

    patch.setattr(array_pull.PullWriter, "masked_in_place", masked_in_place)


@breaks
def the_rest_is_a_sum(patch: Patch) -> None:
    patch.setitem(scope.SCOPE, "take_rest", lambda g, d, w, i, slot: np.add(g, d, out=slot))


@breaks
def bits_are_those_of_the_other_operand(patch: Patch) -> None:
    original = masks.Chosen.mask
    patch.setattr(masks.Chosen, "mask", lambda self, i: original(self, 1 - i))


@breaks
def operators_have_no_parentheses(patch: Patch) -> None:
    patch.setattr(array_text, "INFIX", {})
    patch.setattr(array_text.Emitter, "operand", array_text.Emitter.text)


@breaks
def cotangents_are_not_added_through_views(patch: Patch) -> None:
    patch.setattr(array_pull, "through", lambda part, text: text)


@breaks
def elements_that_are_read_repeatedly_receive_once(patch: Patch) -> None:
    def scatter(ufunc: Any, node: Any, index: Any, c: Any) -> None:
        d = node.shadow()
        d[index] = ufunc(d[index], c)

    patch.setitem(scope.SCOPE, "scatter", scatter)


@breaks
def cotangents_beside_reductions_keep_their_shape(patch: Patch) -> None:
    patch.setattr(array_adjoint.Adjoint, "of_shape", lambda self, let, a, c: c)


@breaks
def axes_are_read_from_the_other_side(patch: Patch) -> None:
    original = reductions.first_of

    def first_of(adjoint: Any) -> Any:
        def of_first(d: Any, a: Any, axis: Any, **kwargs: Any) -> Any:
            others = -1 - axis if isinstance(axis, int) else axis
            return original(adjoint)(d, a, axis=others, **kwargs)

        return of_first

    patch.setattr(reductions, "first_of", first_of)


@breaks
def repeated_cotangents_are_handed_over(patch: Patch) -> None:
    patch.setattr(array_pull, "may_be_view", lambda e: False)


@breaks
def what_is_chosen_otherwise_receives_it(patch: Patch) -> None:
    original = choices.adjoints_of_choice
    patch.setattr(array_adjoint, "adjoints_of_choice", lambda e, d: original(e, d)[::-1])


# What is printed for the way forward.


@breaks
def index_arrays_are_not_frozen(patch: Patch) -> None:
    patch.setitem(scope.SCOPE, "frozen", lambda ctx, index: index)


@breaks
def what_is_gathered_is_taken_for_a_slice(patch: Patch) -> None:
    patch.setattr(kinds, "gathers_in", lambda *args: frozenset())
    patch.setitem(scope.SCOPE, "is_basic", lambda index: True)


@breaks
def what_the_adjoint_reads_is_not_kept(patch: Patch) -> None:
    def keep(self: Any) -> list[str]:
        return [f"k{k} = v{k}" for k in range(len(self.plan.layout)) if f"v{k}" in self.saved]

    patch.setattr(array_forms.ArrayForm, "keep", keep)


@breaks
def parts_are_not_kept(patch: Patch) -> None:
    patch.setattr(Memory, "keep_part", lambda self, part, *place: part)


@breaks
def writes_are_not_logged(patch: Patch) -> None:
    patch.setattr(Tape, "log_write", lambda self, *args: None)


@breaks
def activity_is_not_asked_for(patch: Patch) -> None:
    patch.setattr(array_forms, "no_nodes", lambda arrays: "True")


@breaks
def results_are_copied_before_they_are_written(patch: Patch) -> None:
    original = array_forms.ArrayForm.write
    patch.setattr(array_forms.ArrayForm, "write", lambda self, v: original(self, v)[::-1])


# Numbers and elements.


@breaks
def slopes_of_numbers_lose_a_term(patch: Patch) -> None:
    original = scalars.slopes

    def slopes(*args: Any) -> Any:
        found = original(*args)
        return {k: Const(1.0) if isinstance(e, Name) else e for k, e in found.items()}

    patch.setattr(scalars, "slopes", slopes)


@breaks
def numbers_are_floats_of_python(patch: Patch) -> None:
    result = property(lambda self: self.text.operand(self.root))
    patch.setattr(scalars.ScalarForm, "result", result)


@breaks
def elements_that_are_changed_keep_all(patch: Patch) -> None:
    original = scalars.ScalarForm.stored

    def stored(self: Any) -> Any:
        text, after = original(self)
        return re.sub(r"(?m)^( +d\[a\d+\]) = (?!d\.)\S.*$", r"\1 = g", text), after

    patch.setattr(scalars.ScalarForm, "stored", stored)


@breaks
def elements_are_not_logged(patch: Patch) -> None:
    patch.setattr(Tape, "log_element", lambda self, *args: None)


# Tangents.


@breaks
def one_of_two_tangents_is_lost(patch: Patch) -> None:
    patch.setattr(pushforward, "added", lambda a, b: b)


@breaks
def the_tangent_of_a_factor_stands_for_the_other(patch: Patch) -> None:
    original = pushforward.with_part
    patch.setattr(pushforward, "with_part", lambda e, k, t: original(e, len(e.args) - 1 - k, t))


@breaks
def sums_of_what_is_broadcast_are_too_small(patch: Patch) -> None:
    patch.setattr(pushforward, "shaped_by", lambda e, lets: set())


@breaks
def tangents_of_choices_are_those_of_the_other(patch: Patch) -> None:
    original = choices.tangent_of_choice
    patch.setattr(pushforward, "tangent_of_choice", lambda e, a, b: original(e, b, a))


@breaks
def products_are_added_as_they_are(patch: Patch) -> None:
    patch.setattr(push, "LINEAR", ("add", "sub", "mul"))
    patch.setitem(forward_forms.SYMBOLS, "mul", "+=")


@breaks
def tangents_are_not_read_through_views(patch: Patch) -> None:
    patch.setattr(forward_forms, "through", lambda part, text: text)


@breaks
def operands_below_are_no_views(patch: Patch) -> None:
    original = below.Below.part

    def part(self: Any, name: str) -> Any:
        found = original(self, name)
        return tuple(found[:2]) if isinstance(found, View) else found

    patch.setattr(below.Below, "part", part)


@breaks
def tangents_share_memory(patch: Patch) -> None:
    for module in (below, forward_forms):
        patch.setattr(module, "new_memory", lambda e: e)


@breaks
def tangents_are_not_looked_at(patch: Patch) -> None:
    for module in (below, forward_forms):
        patch.setattr(module, "is_finite", lambda t: True)


@breaks
def operands_below_are_all_tangents(patch: Patch) -> None:
    original = below.Below.position
    patch.setattr(below.Below, "position", lambda self, on, p: original(self, False, p))


@breaks
def constants_leave_tangents(patch: Patch) -> None:
    original = forward_forms.ForwardForm.stored

    def stored(self: Any, moves: bool) -> list[str]:
        return [line for line in original(self, moves) if not line.endswith(" = 0.0")]

    patch.setattr(forward_forms.ForwardForm, "stored", stored)


@breaks
def tangents_are_those_along_the_first_direction(patch: Patch) -> None:
    original = row_forms.RowForm.tangent_read
    patch.setattr(
        row_forms.RowForm, "tangent_read", lambda self, k: original(self, k).replace("[k", "[0")
    )


@breaks
def constants_leave_tangents_along_directions(patch: Patch) -> None:
    original = row_forms.RowForm.tangents_stored

    def tangents_stored(self: Any, moves: bool, i: str) -> Any:
        return original(self, moves, i) if moves else ([], [])

    patch.setattr(row_forms.RowForm, "tangents_stored", tangents_stored)


@breaks
def rows_of_fewer_axes_are_not_aligned(patch: Patch) -> None:
    patch.setattr(row_forms, "aligned", lambda rows, ndim: rows)


@breaks
def rows_are_not_looked_at(patch: Patch) -> None:
    original = row_forms.RowForm.attempted

    def attempted(self: Any, found: Any) -> Any:
        first, loop = original(self, found)
        return first, [line.replace("if is_finite(t)", "if True") for line in loop]

    patch.setattr(row_forms.RowForm, "attempted", attempted)


@breaks
def tangents_of_numbers_are_those_of_the_first_operand(patch: Patch) -> None:
    patch.setattr(scalar_tangents, "added", lambda a, b: b if a == Const(0.0) else a)


@breaks
def constants_leave_tangents_of_elements(patch: Patch) -> None:
    original = scalar_tangents.ScalarTangent.stored

    def stored(self: Any) -> Any:
        pull, lines = original(self)
        return pull, [line for line in lines if not line.endswith(" = 0.0")]

    patch.setattr(scalar_tangents.ScalarTangent, "stored", stored)


# Methods, and sums combined with arrays.


@breaks
def means_are_sums_to_the_way_back(patch: Patch) -> None:
    patch.setattr(array_adjoint, "is_mean", lambda e: False)


@breaks
def means_are_of_one_element_less(patch: Patch) -> None:
    original = fitting.mean
    patch.setattr(array_text, "mean", lambda a: original(a) * (a.size / max(a.size - 1, 1)))


@breaks
def sums_beside_arrays_may_have_any_shape(patch: Patch) -> None:
    patch.setattr(kinds, "are_beside_arrays", lambda *args: True)


UNSEEN = {
    "choices_do_not_look_at_what_comes_in",  # cotangents are finite in debug mode
    "repeated_cotangents_are_handed_over",
    "a_target_takes_the_other_share",
    "the_rest_is_a_sum",
    "sums_of_what_is_broadcast_are_too_small",
    "tangents_are_those_along_the_first_direction",  # it takes one direction at a time
    "constants_leave_tangents_along_directions",
    "rows_of_fewer_axes_are_not_aligned",
    "rows_are_not_looked_at",
    "tangents_of_numbers_are_those_of_the_first_operand",  # they are computed below there
    "constants_leave_tangents_of_elements",
}
IN_DEBUG_MODE = [BREAKS[name] for name in sorted(BREAKS.keys() - UNSEEN)[::4]]
"""What debug mode does not find, or only in one of many programs."""


if __name__ == "__main__":
    tell(BREAKS.values(), statement_that_finds, 500)
    tell(IN_DEBUG_MODE, statement_that_finds_in_debug_mode, 200, DEBUG)
