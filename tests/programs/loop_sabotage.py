"""Loops as one entry broken on purpose, one way at a time: the random loops must find each.

``python -m tests.programs.loop_sabotage [COUNT [NAME ...]]`` tells which seeds find them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from mooncake_py.compiler.derivatives import activity, adjoint, partials, tangent
from mooncake_py.compiler.forms import form as forms
from mooncake_py.compiler.forms import infer, known_tests
from mooncake_py.compiler.reading import callees, frames
from mooncake_py.compiler.reading import loops as read_loops
from mooncake_py.compiler.regions import simplify
from mooncake_py.compiler.regions.ir import Assign, Check, Const, Name
from mooncake_py.compiler.regions.region import Region
from mooncake_py.compiler.sites import items, site
from mooncake_py.modes.forward.levels import Levels
from mooncake_py.modes.reverse.inplace import InPlace
from mooncake_py.modes.reverse.tape import Tape
from mooncake_py.runtime import attribute_lookup
from mooncake_py.runtime.active import active_number
from mooncake_py.runtime.activity import unwrapped
from tests.programs.breaking import Change, Patch, register, seed_that_raises, tell
from tests.programs.corpus import comparing

__all__ = ["BREAKS", "loop_that_finds"]

BREAKS: dict[str, Change] = {}
breaks = register(BREAKS)


def loop_that_finds(change: Change, most: int = 600) -> int | None:
    """Return the seed of a random loop that finds a break, or None."""
    return seed_that_raises(
        comparing(["entries"], "loops", "changed loops"), change, most, partials.formulas
    )


def set_first(patch: Patch, pattern: str, value: int) -> None:
    """Bind the names that a pattern finds to a number where the function begins."""

    def forgotten(text: str) -> str:
        names = set(re.findall(pattern, text))
        head, _, body = text.partition("\n")
        return "\n".join([head, *(f"    {name} = {value}" for name in sorted(names)), body])

    rewrite(patch, forgotten)


def rewrite(patch: Patch, change: Callable[[str], str]) -> None:
    """Change the text of the sweep backwards."""
    original = forms.define

    def define(text: str, scope: Any) -> Any:
        forward, reverse = text.split("def reverse")
        return original(f"{forward}def reverse{change(reverse)}", scope)

    patch.setattr(forms, "define", define)


# The sweep backwards.


@breaks
def cotangents_have_the_wrong_sign(patch: Patch) -> None:
    patch.setattr(adjoint, "negated", lambda e: e)


@breaks
def slots_are_not_zeroed(patch: Patch) -> None:
    rewrite(patch, lambda text: re.sub(r"(?m)^( +)(d_\S+\[.*\]) = 0\.0$", r"\1pass", text))


@breaks
def numbers_are_not_zeroed(patch: Patch) -> None:
    rewrite(patch, lambda text: re.sub(r"(?m)^( {8,})d_\w+ = 0\.0$", r"\1pass", text))


@breaks
def slopes_are_popped_in_the_order_in_which_they_were_pushed(patch: Patch) -> None:
    def swapped(text: str) -> str:
        return re.sub(
            r"( +)(s\d+) = pop\(\)\n +(s\d+) = pop\(\)", r"\1\3 = pop()\n\1\2 = pop()", text
        )

    rewrite(patch, swapped)


@breaks
def ints_are_not_put_back(patch: Patch) -> None:
    rewrite(patch, lambda text: re.sub(r"\w+ = pop_int\(\)", "pop_int()", text))


@breaks
def ints_are_not_what_they_are_in_the_end(patch: Patch) -> None:
    set_first(patch, r"(\w+) = pop_int\(\)", 1)


@breaks
def loops_run_forwards_on_the_way_back(patch: Patch) -> None:
    rewrite(patch, lambda text: text.replace("reversed(", "("))


@breaks
def the_other_branch_is_reversed(patch: Patch) -> None:
    rewrite(patch, lambda text: text.replace("if pop_int():", "if not pop_int():"))


@breaks
def the_target_keeps_its_cotangent(patch: Patch) -> None:
    rewrite(patch, lambda text: re.sub(r"(?m)(d_\S+) = g \* \S+$", r"\1 = g", text))


@breaks
def arrays_that_are_written_stay_as_they_are(patch: Patch) -> None:
    patch.setattr(forms, "fixed_parts", lambda region, groups: set(groups))


@breaks
def what_shares_memory_with_them_stays_as_it_is(patch: Patch) -> None:
    original = forms.fixed_parts

    def fixed_parts(region: Any, groups: Any) -> Any:
        return original(region, {name: name for name in groups})

    patch.setattr(forms, "fixed_parts", fixed_parts)


@breaks
def inputs_that_the_loop_binds_stay_as_they_are(patch: Patch) -> None:
    patch.setattr(forms, "fixed_parts", lambda region, groups: set(region.inputs) - set(groups))


@breaks
def the_result_is_taken_for_the_operand_in_a_partial(patch: Patch) -> None:
    original = partials.as_expression

    def as_expression(partial: Any, known: Any) -> Any:
        return simplify.substituted(original(partial, known), {"y": partials.Name("a0")})

    patch.setattr(partials, "as_expression", as_expression)


@breaks
def choices_take_the_other_side(patch: Patch) -> None:
    original = partials.trace

    def swapped(e: Any) -> Any:
        if isinstance(e, partials.Select):
            return partials.Select(e.test, swapped(e.b), swapped(e.a))
        return e

    patch.setattr(partials, "trace", lambda f, args: swapped(original(f, args)))


@breaks
def tangents_are_bound_after_their_values(patch: Patch) -> None:
    original = tangent.inlined

    def inlined(block: Any, own: Any) -> Any:
        *lets, first, second = original(block, own)
        return *lets, second, first

    patch.setattr(tangent, "inlined", inlined)


@breaks
def a_constant_has_the_tangent_of_what_it_overwrites(patch: Patch) -> None:
    original = tangent.inlined

    def inlined(block: Any, own: Any) -> Any:
        return tuple(
            s
            for s in original(block, own)
            if not (
                isinstance(s, Assign)
                and s.value == Const(0.0)
                and isinstance(s.target, Name)
                and s.target.name[0] == "t"
            )
        )

    patch.setattr(tangent, "inlined", inlined)


@breaks
def the_second_term_of_a_tangent_is_lost(patch: Patch) -> None:
    patch.setattr(tangent, "added", lambda a, b: b)


@breaks
def tangents_of_numbers_are_lost_in_the_end(patch: Patch) -> None:
    patch.setattr(Levels, "fresh", lambda self, y, t: y)


@breaks
def tangents_of_numbers_that_are_given_are_zero(patch: Patch) -> None:
    original = site.Site.record

    def record(self: Any, ctx: Any, functions: Any, steps: Any, inputs: Any) -> Any:
        changed = {
            name: 0.0 if name[0] == "t" and isinstance(v, float) else v
            for name, v in inputs.items()
        }
        return original(self, ctx, functions, steps, changed)

    patch.setattr(site.Site, "record", record)


# Attributes of objects.


@breaks
def two_names_of_one_object_are_two_objects(patch: Patch) -> None:
    patch.setattr(attribute_lookup, "have_one_state", lambda a, b: False)


@breaks
def attributes_that_run_code_are_plain(patch: Patch) -> None:
    patch.setattr(attribute_lookup, "is_own", lambda o, name: True)
    patch.setattr(attribute_lookup, "is_read_plainly", lambda t, name: True)


@breaks
def attributes_are_not_stored(patch: Patch) -> None:
    patch.setattr(Tape, "setattr", lambda ctx, o, name, v: None)


# Items of lists.


@breaks
def two_names_of_one_list_are_two_lists(patch: Patch) -> None:
    patch.setattr(site.Site, "owners", lambda self, inputs: tuple(range(len(self.arrays))))


@breaks
def items_are_not_stored(patch: Patch) -> None:
    patch.setattr(items, "put_into", lambda ctx, source, positions, new: None)


@breaks
def items_keep_no_cotangent(patch: Patch) -> None:
    patch.setattr(items.Items, "deliver", lambda self: None)


@breaks
def items_are_constants_after_a_loop(patch: Patch) -> None:
    original = items.Items.store
    patch.setattr(items.Items, "store", lambda self, ctx, on: original(self, ctx, False))


@breaks
def items_are_floats_of_python_afterwards(patch: Patch) -> None:
    patch.setitem(items.TYPES, infer.FLOAT64, float)


@breaks
def items_that_are_stored_may_be_of_another_type(patch: Patch) -> None:
    patch.setattr(infer, "stores", lambda region: ())


@breaks
def items_that_are_appended_are_constants(patch: Patch) -> None:
    original = items.active_number
    patch.setattr(items, "active_number", lambda v, ctx: original(v, ctx) if v > 0.0 else v)


@breaks
def the_way_back_reads_the_last_item_and_leaves_it(patch: Patch) -> None:
    rewrite(patch, lambda text: re.sub(r"(\bd_\w+)\.pop\(\)", r"\1[-1]", text))


@breaks
def slopes_that_are_items_of_a_list_that_grows_are_read_again(patch: Patch) -> None:
    patch.setattr(Region, "grown", property(lambda self: set()))


@breaks
def tangents_of_items_are_lost(patch: Patch) -> None:
    patch.setattr(items, "as_tangent", lambda t, p: 0.0)


# What is active, and of which type.


@breaks
def shared_memory_is_not_active_together(patch: Patch) -> None:
    original = activity.active_parts

    def active_parts(body: Any, active: Any, groups: Any) -> Any:
        return original(body, active, {name: name for name in groups})

    patch.setattr(forms, "active_parts", active_parts)


@breaks
def only_inputs_are_active(patch: Patch) -> None:
    patch.setattr(forms, "active_parts", lambda body, active, groups: active)


@breaks
def a_derivative_flows_through_one_operand(patch: Patch) -> None:
    original = activity.flowing
    patch.setattr(activity, "flowing", lambda e: list(original(e))[-1:])


@breaks
def types_are_those_of_the_last_branch(patch: Patch) -> None:
    patch.setattr(infer, "joined", lambda a, b: b)


@breaks
def numbers_are_floats_of_python_afterwards(patch: Patch) -> None:
    patch.setattr(site, "typed", lambda form, bound, flags: dict(bound))


@breaks
def values_of_several_types_are_of_the_first(patch: Patch) -> None:
    patch.setattr(infer._Inference, "flag", lambda self, s, e: Const(1))


# Indices that are data.


@breaks
def ints_of_arrays_are_those_of_python(patch: Patch) -> None:
    patch.setattr(site, "INTEGERS", dict.fromkeys(site.INTEGERS, "int"))


@breaks
def indices_on_the_way_back_are_those_of_another_pass(patch: Patch) -> None:
    rewrite(patch, lambda text: re.sub(r"u_order\[u_\w+\]", "u_order[0]", text))


# Flags.


@breaks
def branches_on_none_take_the_other_side(patch: Patch) -> None:
    patch.setattr(known_tests, "NONE", "float")


@breaks
def calls_that_cannot_be_read_are_left_out(patch: Patch) -> None:
    patch.setattr(read_loops, "Check", lambda test, place: Check(Const(True), place=place))


@breaks
def comparisons_are_truths_of_python(patch: Patch) -> None:
    patch.setattr(infer, "NUMPY_BOOL", "bool")


# Heads and statements.


@breaks
def ranges_that_are_reversed_go_forwards(patch: Patch) -> None:
    original = forms.define
    patch.setattr(forms, "define", lambda text, scope: original(text.replace("[::-1]", ""), scope))


@breaks
def one_of_several_targets_is_bound(patch: Patch) -> None:
    original = read_loops.LoopReader.shared
    patch.setattr(
        read_loops.LoopReader,
        "shared",
        lambda self, targets, value: original(self, targets, value)[:2],
    )


# The functions that are called.


@breaks
def calls_share_their_names(patch: Patch) -> None:
    patch.setattr(frames.Frame, "named", lambda self, name: f"i_{name}")


@breaks
def ints_of_functions_are_not_put_back(patch: Patch) -> None:
    rewrite(patch, lambda text: re.sub(r"i\d+_\w+ = pop_int\(\)", "pop_int()", text))


@breaks
def ints_of_functions_begin_anew_on_the_way_back(patch: Patch) -> None:
    set_first(patch, r"(i\d+_\w+) = pop_int\(\)", 0)


@breaks
def nested_functions_read_the_variables_of_their_caller(patch: Patch) -> None:
    patch.setattr(frames, "home_of", lambda scope: scope)


@breaks
def choices_are_the_other_way_round(patch: Patch) -> None:
    original = read_loops.If
    patch.setattr(read_loops, "If", lambda test, a, b, place: original(test, b, a, place=place))


@breaks
def globals_of_functions_are_not_watched(patch: Patch) -> None:
    unwatched(patch, "names", {})


@breaks
def defaults_are_not_watched(patch: Patch) -> None:
    unwatched(patch, "defaults", lambda callee: callee.function().__defaults__)


@breaks
def defaults_by_keyword_are_not_watched(patch: Patch) -> None:
    unwatched(patch, "keywords", lambda callee: callee.function().__kwdefaults__)


@breaks
def code_is_not_watched(patch: Patch) -> None:
    unwatched(patch, "code", lambda callee: callee.function().__code__)


@breaks
def functions_are_not_watched(patch: Patch) -> None:
    patch.setattr(
        callees.Callees, "hold", lambda self, given: all(callee.holds() for callee in self.every)
    )


def unwatched(patch: Patch, name: str, value: Any) -> None:
    """Let the guard of a function ask of one thing whether it is what it is now."""
    original = callees.Callee.holds

    def holds(self: Any) -> bool:
        setattr(self, name, value(self) if callable(value) else value)
        return original(self)

    patch.setattr(callees.Callee, "holds", holds)


# Functions that are passed.


@breaks
def what_functions_capture_is_constant(patch: Patch) -> None:
    original = attribute_lookup.in_cell
    patch.setattr(attribute_lookup, "in_cell", lambda f, k: unwrapped(original(f, k)))


# The trial and the log of writes.


@breaks
def arrays_are_not_put_back(patch: Patch) -> None:
    patch.setattr(site, "put_back", lambda arrays, before: None)


@breaks
def writes_are_not_logged(patch: Patch) -> None:
    patch.setattr(InPlace, "log_whole", lambda ctx, o, old: None)


@breaks
def numbers_receive_no_cotangent(patch: Patch) -> None:
    original = site.pull_region

    def pull_region(entry: Any) -> None:
        original((*entry[:-1], [active_number(0.0, None) for _ in entry[-1]]))

    patch.setattr(site, "pull_region", pull_region)


if __name__ == "__main__":
    tell(BREAKS.values(), loop_that_finds, 600)
