"""The engine broken on purpose, one way at a time: the random programs must find each.

``python -m tests.programs.sabotage [COUNT [NAME ...]]`` tells which seeds find them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from types import FunctionType
from typing import Any

import numpy as np

from mooncake_py.application import apply, out_argument
from mooncake_py.application import elementwise as elementwise_rules
from mooncake_py.boundary import inner_outputs
from mooncake_py.compiler.statements import array_forms, scope
from mooncake_py.compiler.statements.array_forms import ArrayForm
from mooncake_py.frontend import expressions
from mooncake_py.language import construct, dispatch
from mooncake_py.language.comparisons import Comparisons
from mooncake_py.modes.reverse import tape
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.modes.reverse.tape import Tape
from mooncake_py.nesting import inside
from mooncake_py.rules import elementwise
from mooncake_py.runtime import memory, pulls, scatter
from mooncake_py.runtime.memory import Memory
from mooncake_py.runtime.registry import Registry
from mooncake_py.runtime.views import View
from tests.programs.breaking import Change, Patch, seed_that_finds, tell
from tests.programs.checking import check
from tests.programs.generator import random_program
from tests.programs.second import check_second
from tests.programs.shrinking import Check
from tests.programs.truth import Untestable

__all__ = [
    "BREAKS", "SECOND_BREAKS", "a_quotient_of_zeros_is_a_constant", "program_that_finds",
    "program_that_finds_second",
]  # fmt: skip

BREAKS: dict[str, Change] = {}
SECOND_BREAKS: dict[str, Change] = {}  # that only second derivatives show
SECOND = "to second order"
SHOWN_BY: dict[str, tuple[str, ...]] = {}  # kinds of statements without which a break is unseen


def breaks(change: Change) -> Change:
    BREAKS[change.__name__] = change
    return change


def breaks_second(change: Change) -> Change:
    SECOND_BREAKS[change.__name__] = change
    return change


def shown_by(*kinds: str) -> Callable[[Change], Change]:
    """Name the kinds of statements of which programs have more that look for this break."""

    def note(change: Change) -> Change:
        SHOWN_BY[change.__name__] = kinds
        return change

    return note


def program_that_finds(
    change: Change, most: int = 1000, check: Check = check, way: str = ""
) -> int | None:
    """Return the seed of a random program that finds a break, or None."""
    prefer = SHOWN_BY.get(change.__name__, ())

    def finds(seed: int) -> bool:
        program = random_program(Random(seed), (3, 6, 9, 14)[seed % 4], prefer=prefer)
        try:
            finding = check(program)
        except Untestable:
            return False
        return finding is not None and finding.kind != "refused"

    return seed_that_finds(finds, change, most, array_forms.printed, way)


def program_that_finds_second(change: Change, most: int = 1000) -> int | None:
    """Return the seed of a random program whose second derivatives show a break, or None."""
    return program_that_finds(change, most, check_second, SECOND)


# Undo, and what the tape keeps by reference.


@breaks
def writes_to_constants_are_not_undone(patch: Patch) -> None:
    original = Tape.log_write

    def log_write(self: Any, memory: Any, o: Any, i: Any) -> None:
        if self.find(o) is not None:
            original(self, memory, o, i)

    patch.setattr(Tape, "log_write", log_write)


@breaks
def elements_are_not_undone(patch: Patch) -> None:
    patch.setattr(Tape, "log_element", lambda self, memory, o, i, old: None)


@breaks
def active_operands_are_not_protected(patch: Patch) -> None:
    patch.setattr(Memory, "keep", lambda self, a: a)
    patch.setattr(View, "keep", lambda self, a: a)


@breaks
def constant_operands_are_not_protected(patch: Patch) -> None:
    patch.setattr(Registry, "protect", lambda self, a: None)


@breaks
def fused_operands_are_not_protected(patch: Patch) -> None:
    original = array_forms.define

    def define(text: str, scope: Any) -> Any:
        kept = (line for line in text.split("\n") if ".keep(" not in line and "protect" not in line)
        return original("\n".join(kept), scope)

    patch.setattr(array_forms, "define", define)


@breaks
def outputs_are_not_protected(patch: Patch) -> None:
    patch.setattr(Memory, "protect", lambda self: None)


@breaks
def a_restore_point_saves_a_part(patch: Patch) -> None:
    original = Tape.overwritten

    def overwritten(self: Any, memory: Any, o: Any, i: Any) -> Any:
        old = np.array(o[i])
        entry = original(self, memory, o, i)
        return entry if entry[2] is not Ellipsis else (entry[0], o, self.frozen_index(i), old)

    patch.setattr(Tape, "overwritten", overwritten)


@breaks
def small_parts_are_kept_by_reference_unprotected(patch: Patch) -> None:
    original = View.keep

    def keep(self: Any, a: Any) -> Any:
        if self.memory.rewritten and a.nbytes * 8 <= self.memory.nbytes:
            return a
        return original(self, a)

    patch.setattr(View, "keep", keep)


@breaks
def index_arrays_are_not_protected(patch: Patch) -> None:
    patch.setattr(Tape, "frozen_index", lambda self, index: index)


@breaks
def buffers_given_by_keyword_are_not_protected(patch: Patch) -> None:
    patch.setattr(Tape, "protect_all", lambda self, value: None)


@breaks
def changes_of_containers_are_not_undone(patch: Patch) -> None:
    patch.setattr(pulls, "pull_state", lambda entry: None)


@breaks
def outputs_are_restored_after_their_adjoint(patch: Patch) -> None:
    original = elementwise_rules.elementwise_into

    def elementwise_into(rule: Any, ctx: Any, *args: Any) -> Any:
        start = len(ctx.tape)
        result = original(rule, ctx, *args)
        ctx.tape[start:] = reversed(ctx.tape[start:])
        return result

    patch.setattr(elementwise_rules, "elementwise_into", elementwise_into)


# Cotangents of what is written and read.


@breaks
def slots_are_not_zeroed(patch: Patch) -> None:
    def deliver_written(shadow: Any, index: Any, g: Any, value: Any, spec: Any) -> None:
        pulls.deliver(value, g.copy(), spec)

    patch.setattr(pulls, "deliver_written", deliver_written)


@breaks
def slots_are_zeroed_after_delivery(patch: Patch) -> None:
    def deliver_written(shadow: Any, index: Any, g: Any, value: Any, spec: Any) -> None:
        pulls.deliver(value, g.copy(), spec)
        shadow[index] = 0

    patch.setattr(pulls, "deliver_written", deliver_written)


@breaks
def constants_leave_the_cotangent(patch: Patch) -> None:
    original = pulls.pull_assign

    def pull_assign(entry: Any) -> None:
        if entry[3] is not None:
            original(entry)

    patch.setattr(pulls, "pull_assign", pull_assign)


@breaks
def every_repeated_write_counts(patch: Patch) -> None:
    patch.setattr(pulls, "last_writes", lambda shape, index: None)


@breaks
def repeated_reads_count_once(patch: Patch) -> None:
    def pull_gather(entry: Any) -> None:
        _, y, node, index, _ = entry
        g = y.take()
        if g is not None:
            shadow = node.shadow()
            shadow[index] += g

    patch.setattr(pulls, "pull_gather", pull_gather)


@breaks
def shared_cotangents_are_adopted(patch: Patch) -> None:
    patch.setattr(Memory, "add_shared", Memory.add)


@breaks
def cotangents_are_taken_and_stay(patch: Patch) -> None:
    patch.setattr(Memory, "take", lambda self: None if self.grad is None else self.grad.copy())


@breaks
def cotangents_are_not_summed_over_broadcast_axes(patch: Patch) -> None:
    original = pulls.fit

    def fit(c: Any, shape: Any, dtype: Any) -> Any:
        if np.shape(c) != tuple(shape) and np.ndim(c) > len(shape):
            c = c[(0,) * (np.ndim(c) - len(shape))]
        return original(c, shape, dtype)

    patch.setattr(pulls, "fit", fit)


@breaks
def numbers_receive_the_mean(patch: Patch) -> None:
    patch.setitem(scope.SCOPE, "summed", lambda d: float(np.mean(d)))
    patch.setitem(scope.SCOPE, "inner", lambda d, factor: float(np.mean(d * factor)))


@breaks
def masked_outputs_are_taken_whole(patch: Patch) -> None:
    original = pulls.pull_elementwise_out
    patch.setattr(pulls, "pull_elementwise_out", lambda e: original((e[0], e[1], None, *e[3:])))


@breaks
def scattered_values_are_not_gathered(patch: Patch) -> None:
    original = scatter.pull_accumulate
    patch.setattr(scatter, "pull_accumulate", lambda e: original((*e[:2], e[2] * 0, *e[3:])))


# Memory: views and their shadows.


@breaks
def ids_are_trusted(patch: Patch) -> None:
    original = Registry.find

    def find(self: Any, a: Any) -> Any:
        return self.known.get(id(a)) or original(self, a)

    patch.setattr(Registry, "find", find)


@breaks
def shadows_are_in_the_order_of_c(patch: Patch) -> None:
    patch.setattr(memory, "zeros", lambda shape, dtype, strides: np.zeros(shape, dtype))


@breaks
def views_of_views_start_at_the_block(patch: Patch) -> None:
    original = Registry.view

    def view(self: Any, a: Any, owner: Any, block: Any) -> Any:
        node = original(self, a, owner, block)
        shape, dtype, offset, strides = node.geometry
        if offset > 8:
            node.geometry = shape, dtype, offset - 8, strides
        return node

    patch.setattr(Registry, "view", view)


@breaks
def overlapping_views_add_once(patch: Patch) -> None:
    def add(self: Any, g: Any) -> None:
        shadow = self.shadow()
        shadow += g

    patch.setattr(View, "add", add)


@breaks
def bounds_of_slices_are_read_late(patch: Patch) -> None:
    patch.setattr(expressions, "steady_slice", slice)


@breaks
def out_by_position_is_not_seen(patch: Patch) -> None:
    for module in (out_argument, elementwise_rules, apply, dispatch):
        patch.setattr(module, "named_out", lambda f, args, kwargs: (args, kwargs))


@breaks
def undone_writes_are_left_at_the_end(patch: Patch) -> None:
    def undo_assign(entry: Any) -> None:
        pass

    patch.setattr(tape, "undo_assign", undo_assign)


# Bools.


@breaks
@shown_by("branch_on_truth", "index_by_truth", "write_by_truth", "new_truth")
def bools_of_numpy_become_those_of_python(patch: Patch) -> None:
    for name in ("gt", "lt", "ge", "le"):
        original = getattr(Comparisons, name)

        def compare(self: Any, a: Any, b: Any, original: Any = original) -> Any:
            result = original(self, a, b)
            return bool(result) if type(result) is np.bool_ else result

        patch.setattr(Comparisons, name, compare)


@breaks
def bools_become_ints(patch: Patch) -> None:
    for name in ("and_", "or_", "iand", "ior"):
        original = getattr(ReverseContext, name)

        def combine(self: Any, a: Any, b: Any, original: Any = original) -> Any:
            result = original(self, a, b)
            return int(result) if isinstance(result, bool | np.bool_) else result

        patch.setattr(ReverseContext, name, combine)


# Classes.


@breaks
def the_base_initializes_what_new_made(patch: Patch) -> None:
    original = construct.initialize

    def initialize(ctx: Any, made: Any, args: Any, kwargs: Any) -> None:
        base = type(made).__mro__[1]
        if type(base.__init__) is FunctionType:
            ctx.call(base.__init__, made, *args, **kwargs)
        else:
            original(ctx, made, args, kwargs)

    patch.setattr(construct, "initialize", initialize)


# Calls in a row.


@breaks
def shapes_of_operands_are_not_compared(patch: Patch) -> None:
    patch.setattr(ArrayForm, "misshapen", lambda self, full: [])


@breaks
@shown_by("define_for_any_shape", "call_in_a_row", "define_layer")
def dtypes_of_operands_are_not_compared(patch: Patch) -> None:
    original = array_forms.define

    def define(text: str, scope: Any) -> Any:
        return original(re.sub(r"([av][0-9]+\.dtype is )+FLOAT64", "True", text), scope)

    patch.setattr(array_forms, "define", define)


# Inner derivatives.


@breaks
@shown_by("aux_of_gradient", "output_of_pullback")
def containers_leave_an_inner_derivative_as_constants(patch: Patch) -> None:
    original = inner_outputs.ordered
    patch.setattr(inner_outputs, "ordered", lambda v: [] if type(v) is dict else original(v))


@breaks
def inner_gradients_are_constants(patch: Patch) -> None:
    patch.setattr(inside, "pull_inside", lambda entry: None)


# Second derivatives.


@breaks_second
@shown_by("smooth")
def partials_are_constant_where_they_are_told_apart(patch: Patch) -> None:
    def logistic(x: Any) -> Any:
        return np.where(x == 0, 0.5, 1 / (1 + np.exp(-x)))

    patch.setattr(elementwise, "logistic", logistic)


def a_quotient_of_zeros_is_a_constant(patch: Patch) -> None:
    """Break `np.sinc`, which one random program in forty has: another one is written for it."""

    def sinc_derivative(x: Any, y: Any) -> Any:
        divisor = np.where(x == 0, 1.0, x)
        return np.where(x == 0, 0.0, (np.cos(np.pi * x) - y) / divisor)

    patch.setattr(elementwise, "sinc_derivative", sinc_derivative)


if __name__ == "__main__":
    tell(BREAKS.values(), program_that_finds, 1000)
    tell(SECOND_BREAKS.values(), program_that_finds_second, 1000, SECOND)
