# ruff: noqa: E501  (a table of lines)
"""The way into loops, and out of them, broken on purpose: what they need, guards, undo, the tape.

``python -m tests.programs.loop_sabotage [COUNT [NAME ...]]`` tells which seeds find them.
"""

from __future__ import annotations

from mooncake_py.compiler.derivatives import partials
from mooncake_py.compiler.native import (
    entering,
    entering_again,
    giving_back,
    holding,
    loop_site,
    matching,
    passed,
    printed_loop,
    pulling,
    region_site,
    reread,
)
from mooncake_py.compiler.native.reading import loop_names, loop_reader, outputs
from tests.programs.breaking import Change, seed_that_raises, tell
from tests.programs.corpus import GENERATORS
from tests.programs.driver import compare
from tests.programs.line_breaks import Line, change_of

__all__ = ["BREAKS", "HARMLESS", "LINES", "OPEN", "compare_in_search", "program_that_finds"]

LINES: dict[str, Line] = {
    # What a loop needs, and what is read after it (`loop_names`).
    "nothing_is_read_after_loops": Line(loop_names, "after = bound & read", "after = frozenset[str]()"),
    "loops_that_do_not_run_leave_what_they_bind": Line(loop_names, "self.block(node.body, self.target(node.target, bound))\n                self.block(node.orelse, bound)", "bound = self.block(node.body, self.target(node.target, bound))\n                self.block(node.orelse, bound)"),
    "one_side_of_a_branch_binds_for_both": Line(loop_names, "return self.block(node.body, bound) & self.block(node.orelse, bound)", "return self.block(node.body, bound) | self.block(node.orelse, bound)"),
    "next_passes_read_nothing": Line(loop_names, "if isinstance(node, LOOPS | ast.Try | ast.TryStar):  # its next pass, or its handlers", "if isinstance(node, ast.Try | ast.TryStar):"),
    "handlers_read_nothing": Line(loop_names, "if isinstance(node, LOOPS | ast.Try | ast.TryStar):  # its next pass, or its handlers", "if isinstance(node, LOOPS):"),
    "what_follows_a_block_reads_nothing": Line(loop_names, "statement(node, rest | left, exposure)", "statement(node, rest, exposure)"),
    "only_the_next_statement_reads": Line(loop_names, "rest = (rest - bound) | exposure.found", "rest = frozenset(exposure.found)"),
    "added_to_is_not_read": Line(loop_names, "self.read(target, bound)\n                self.read(value, bound)\n            case ast.For():", "self.read(value, bound)\n            case ast.For():"),
    "passes_are_never_left": Line(loop_names, "if any(isinstance(part, ast.Break | ast.Continue) for part in walk(node)):", "if False:"),
    "what_may_not_be_bound_is_not_given": Line(loop_names, "given = self.local & (exposure.found | left)", "given = self.local & exposure.found"),
    "captured_variables_are_own_ones": Line(loop_names, "found = bound & (self.shared | self.captured.intersection(later)) | (bound - self.local)", "found = bound - self.local"),
    "other_scopes_read_nothing": Line(loop_names, "self.found |= set(names_outside(node)) - bound", "self.found |= set() if isinstance(node, LATER) else set(names_outside(node)) - bound"),
    # Trials, and what is given (`printed_loop`, `loop_site`, `loop_reader`).
    "captured_variables_have_values": Line(printed_loop, "except NameError:\n            return False", "except NameError:\n            return True"),
    "loops_may_bind_what_is_shared": Line(loop_site, "self.refused[()] = Refusal(why, place_of(loop.node))", "pass"),
    "empty_lists_are_passed_as_others": Line(loop_site, "if t is list and not value:\n            return EMPTY", "pass"),
    "results_may_be_one_array": Line(loop_reader, "if any(len(pair & seen) > 1 for base in own for pair in self.pairs_with(base)):", "if False:"),
    "some_passes_bind_arrays": Line(loop_reader, "if base in self.from_input and (self.b.loops > 1 or not self.is_straight):", "if False:"),
    "inputs_are_written_where_they_are_held": Line(loop_reader, "if base in self.holds_input:", "if False:"),
    # Arrays that a region may take (`region_site`, `passed`).
    "arrays_are_apart": Line(region_site, "return len(arrays) < 2 or not any(", "return True or not any("),
    "written_arrays_are_apart": Line(region_site, "if is_written and flags.c_contiguous:\n                alone.append(a)", "pass"),
    "written_views_are_apart": Line(region_site, "if is_written or not self.takes_views:\n                        alone.append(a)", "pass"),
    "elements_are_there_once": Line(region_site, "if name in self.contiguous or has_overlaps(a):", "if name in self.contiguous:"),
    "columns_are_rows": Line(region_site, "if not self.is_of_numbers and not is_in_rows(a):", "if False:"),
    "nothing_is_in_memory_of_others": Line(passed, "return np.shares_memory(a, b, max_work=EFFORT)  # type: ignore[arg-type]", "return False"),
    "an_array_may_be_there_twice": Line(passed, "if other is a and not seen:", "if other is a:"),
    "all_is_finite": Line(passed, "return math.isfinite(np.add.reduce(y, axis=None))", "return True"),
    "items_are_numbers_of_python": Line(passed, "return a.tolist() if make in (float, int) else list(a)", "return a.tolist()"),
    # What moves, the general way in, and forward mode (`region_site`).
    "no_array_moves": Line(region_site, "if a.leaves if type(a) is Items else ctx.find(a) is not None:", "if a.leaves if type(a) is Items else False:"),
    "no_list_moves": Line(region_site, "if a.leaves if type(a) is Items else ctx.find(a) is not None:", "if False if type(a) is Items else ctx.find(a) is not None:"),
    "no_number_moves": Line(region_site, "moving = [name for name in self.numbers if type(inputs[name]) is Active]", "moving = list[str]()"),
    "arrays_stay_where_a_run_failed": Line(region_site, "for name, old in before.items():\n                    inputs[name][...] = old", "pass"),
    "writes_are_not_logged": Line(region_site, "ctx.log_whole(inputs[name], old)", "pass"),
    "copies_are_not_put_back": Line(region_site, "if ordered[name] is not inputs[name]:\n                inputs[name][...] = ordered[name]", "pass"),
    "lists_are_not_put_back": Line(region_site, "inputs[name].store(ctx, name in form.shadows)", "pass"),
    "values_are_not_protected": Line(region_site, "ctx.registry.protect(a)", "pass"),
    "leaves_are_lost": Line(region_site, "leaves = [v if type(v) is Active else None for v in map(inputs.get, form.leaves)]", "leaves = [None for v in map(inputs.get, form.leaves)]"),
    "results_do_not_move": Line(region_site, "if type(y.primal) is not int:  # else nothing was added to a sum, say", "if False:"),
    "tangents_of_arrays_are_those_of_others": Line(region_site, "t = ctx.tangent_to_write(inputs[name])", "t = np.zeros(inputs[name].shape)"),
    "tangents_of_numbers_are_lost": Line(region_site, "t = 0.0 if given[name][1] is None else given[name][1]", "t = 0.0"),
    "tangents_in_lists_are_not_put_back": Line(region_site, "pairs[name].store(ctx, name in site.names)", "pass"),
    "results_have_no_tangent": Line(region_site, "return ctx.fresh(y, t)", "return y"),
    # The printed way in (`entering`).
    "results_need_not_be_finite": Line(entering, "for name in self.form.results\n            if name not in self.inputs", "for name in ()\n            if name not in self.inputs"),
    "written_arrays_need_not_be_finite": Line(entering, "return [f\"finite({self.passed[name]})\" for name in self.written] + [", "return ["),
    "writes_stay_where_a_run_failed": Line(entering, "*[f\"        {v}[...] = w{v}\" for v in written],", "\"        pass\","),
    "writes_are_not_undone": Line(entering, "f\"C.log_whole({v}, w{v})\", ", ""),
    "views_are_not_written": Line(entering, ", f\"    {v}[...] = {a}\"]", ", \"    pass\"]"),
    "what_was_read_may_change": Line(entering, "f\"    registry.protect({v})\"", "\"    pass\""),
    "what_was_made_may_change": Line(entering, "lines.append(f\"registry.protect({self.found[name]})\")", "pass"),
    "numbers_receive_nothing": Line(entering, "leaves = [self.inputs[n] if n in self.moving else \"None\" for n in form.leaves]", "leaves = [\"None\" for n in form.leaves]"),
    "types_of_results_do_not_vary": Line(entering, "lines.append(f\"{r} = BY_RANK[int({self.found[make]})]({r})\")", "pass"),
    "results_are_floats": Line(entering, "lines.append(f\"{r} = t{k}({r})\")", "pass"),
    "ints_are_active": Line(entering, "return f\"{r} if type({r}) is int else {self.active(name)}\"", "return self.active(name)"),
    # The same, again (`entering_again`).
    "guards_are_not_asked": Line(entering_again, "self.refuse(\"found is None or not holds(f)\")", "self.refuse(\"found is None\")"),
    "other_contexts_are_the_same": Line(entering_again, "self.refuse(\"type(C) is not CONTEXT or not C.fuses or not C.tries_loops\")", "self.refuse(\"False\")"),
    "arrays_may_move": Line(entering_again, "self.refuse(f\"C.find({v}) is {'' if moves else 'not '}None\")", "pass"),
    "numbers_may_not_move": Line(entering_again, "self.refuse(f\"type({v}) is not Active or {other}\")", "self.refuse(f\"type({v}) is Active and ({other})\")"),
    "numbers_may_be_of_others": Line(entering_again, "self.refuse(f\"type({v}) is not Active or {other}\")", "self.refuse(f\"type({v}) is not Active\")"),
    "numbers_may_move": Line(entering_again, "self.refuse(f\"type({v}) is Active\")", "pass"),
    "arrays_may_be_of_any_layout": Line(entering_again, "f\"not {v}.flags.carray\" + (f\" or not {v}.flags.owndata\" if v in written else \"\")", "\"False\""),
    "arrays_may_share_memory": Line(entering_again, "return found + list(pairs.values())", "return found"),
    "known_results_are_none": Line(entering_again, "return self.constant(output.value)", "return \"None\""),
    # The way back (`pulling`), lists (`items`), results (`giving_back`, `outputs`).
    "numbers_alone_have_cotangents": Line(pulling, "if not any(y.grad for y in outputs) and all(node.memory.grad is None for node in nodes):", "if not any(y.grad for y in outputs):"),
    "arrays_alone_have_cotangents": Line(pulling, "if not any(y.grad for y in outputs) and all(node.memory.grad is None for node in nodes):", "if all(node.memory.grad is None for node in nodes):"),
    "cotangents_do_not_overlap": Line(pulling, "added = overlapping([node.memory for node in nodes], shadows)", "added = set[int]()"),
    "overlapping_cotangents_are_replaced": Line(pulling, "            a += own\n", "            a[...] = own\n"),
    "copies_of_cotangents_are_lost": Line(pulling, "elif own is not a:\n            a[...] = own", "elif own is not a:\n            pass"),
    "cotangents_of_items_are_lost": Line(pulling, "node.deliver()", "pass"),
    "no_cotangent_is_there_yet": Line(pulling, "zeros = [k for k, node in enumerate(nodes, len(values)) if node.memory.grad is None]", "zeros = [k for k, node in enumerate(nodes, len(values))]"),
    "leaves_beside_arrays_receive_once": Line(pulling, "            leaf.grad += grad\n    for node in nodes:", "            leaf.grad = grad\n    for node in nodes:"),
    "leaves_receive_once": Line(pulling, "                leaf.grad += grad\n\n\ndef pull_native_loop", "                leaf.grad = grad\n\n\ndef pull_native_loop"),
    "tuples_are_lists": Line(giving_back, "return tuple([given_back(item, found, ctx) for item in output.items])", "return [given_back(item, found, ctx) for item in output.items]"),
    "complex_numbers_are_of_numpy": Line(giving_back, "dtype = None if type(made) is float else np.result_type(made, 1j).type", "dtype = np.result_type(made, 1j).type"),
    "types_are_not_told": Line(giving_back, "return [(output.name, output.rank or TYPES[output.type])]", "return [(output.name, TYPES[output.type])]"),
    "what_tells_types_is_not_given_back": Line(outputs, "names = [n for n in (output.name, output.rank) if n]", "names = [n for n in (output.name,) if n]"),
    # What functions and values are (`holding`, `matching`, `reread`).
    "rules_do_not_change": Line(holding, "self.refuse(f\"version() != seen[0] or current() is not None{other}\")", "pass"),
    "globals_do_not_change": Line(holding, "self.under(f\"{own}.__globals__\", there)", "pass"),
    "code_does_not_change": Line(holding, "self.refuse(f\"{own}.__code__ is not {self.constant(callee.code)}()\")", "pass"),
    "defaults_do_not_change": Line(holding, "self.items(f\"{own}.__defaults__\", callee.defaults)", "pass"),
    "keywords_do_not_change": Line(holding, "self.under(f\"{own}.__kwdefaults__\", callee.keywords)", "pass"),
    "cells_do_not_change": Line(holding, "self.require(cells)", "pass"),
    "classes_do_not_change": Line(holding, "self.under(held, there)", "pass"),
    "names_are_not_added_to_classes": Line(holding, "self.refuse(f\"not {held}.keys().isdisjoint({self.constant(tuple(left))})\")", "pass"),
    "builtins_do_not_change": Line(holding, "self.under(\"NOW\", builtin)", "pass"),
    "builtins_are_not_hidden": Line(holding, "self.refuse(f\"not {own}.__globals__.keys().isdisjoint({self.constant(tuple(builtin))})\")", "pass"),
    "types_are_not_asked": Line(matching, "self.refuse(f\"(*map(type, ({values})),) != {name}{also}\")", "pass"),
    "kinds_of_arrays_are_not_asked": Line(matching, "self.refuse(f\"{v}.dtype is not {dtype} and KINDS.get({v}.dtype) != {t.kind!r}\")", "pass"),
    "lengths_of_one_are_others": Line(matching, "self.refuse(f\"{name} != 1\" if is_one else f\"{name} == 1 or {name} >= LARGE\")", "pass"),
    "pinned_lengths_are_any": Line(matching, "self.refuse(f\"{names[axis]} != {length}\")", "pass"),
    "texts_are_not_asked": Line(matching, "isinstance(t, KnownType) and t.type is str]", "isinstance(t, KnownType) and t.type is bytes]"),
    "functions_are_not_asked": Line(matching, "self.refuse(f\"{v} is None or {v} is not {self.constant(t.known)}()\")", "pass"),
    "keys_are_not_asked": Line(matching, "self.refuse(f\"not TEXTS.issuperset(map(type, {v})) or tuple({v}) != {keys}\")", "pass"),
    "lists_are_of_any_numbers": Line(matching, "self.refuse(f\"not is_list_of({self.constant(BY_NAME[name])}, {v})\")", "pass"),
    "what_was_away_may_be_there": Line(matching, "self.refuse(f\"not {held}.keys().isdisjoint({self.constant(t.absent)})\")", "pass"),
    "two_may_be_one": Line(matching, "if len(text.held) > 1:", "if False:"),
    "one_may_be_two": Line(matching, "text.refuse(f\"{v} is not {text.names[first]}\")", "pass"),
    "known_ints_are_any": Line(matching, "self.refuse(f\"{v} != {t.known!r}\")", "pass"),
    "captured_values_are_not_given": Line(reread, "given = [*given, *[c.value(f, first) for c in self.captured]]", "given = [*given, *[0.0 for c in self.captured]]"),
    "inputs_of_changed_functions_are_taken": Line(reread, "if found is None or not self.holds(f):", "if found is None:"),
}  # fmt: skip

HARMLESS: dict[str, str] = {
    "passes_are_never_left": "the reader refuses what may not be bound",
    "what_may_not_be_bound_is_not_given": "the reader refuses what may not be bound",
    "other_scopes_read_nothing": "what other scopes read is shared, and the frontend tries no loop that binds it",
    "loops_may_bind_what_is_shared": "the frontend tries no such loop",
    "results_need_not_be_finite": "the flags of the processor tell before",
    "written_arrays_need_not_be_finite": "the flags of the processor tell before",
    "all_is_finite": "the flags of the processor tell before",
}
"""Breaks that change no derivative, and why."""

OPEN: dict[str, str] = {
    "captured_variables_have_values": "no program shows it yet",
    "columns_are_rows": "no program shows the last bit",
    "copies_are_not_put_back": "text of NumPy takes views as they are",
    "views_are_not_written": "text of NumPy takes views as they are",
    "what_was_made_may_change": "no program shows it yet",
    "results_are_floats": "no program shows it yet",
    "ints_are_active": "no program shows it yet",
    "other_contexts_are_the_same": "no program shows it yet",
    "numbers_may_be_of_others": "no program shows it yet",
    "arrays_may_share_memory": "no program shows it yet",
    "known_results_are_none": "no program shows it yet",
    "no_cotangent_is_there_yet": "no program shows it yet",
    "complex_numbers_are_of_numpy": "no program shows it yet",
    "rules_do_not_change": "no program shows it yet",
    "cells_do_not_change": "no program shows it yet",
    "builtins_do_not_change": "no program shows it yet",
    "kinds_of_arrays_are_not_asked": "no program shows it yet",
    "lengths_of_one_are_others": "no program shows it yet",
    "pinned_lengths_are_any": "no program shows it yet",
    "functions_are_not_asked": "no program shows it yet",
    "keys_are_not_asked": "no program shows it yet",
    "lists_are_of_any_numbers": "no program shows it yet",
    "what_was_away_may_be_there": "no program shows it yet",
    "two_may_be_one": "no program shows it yet",
    "known_ints_are_any": "no program shows it yet",
}
"""Breaks that no program of the corpus shows yet."""

SEARCH = (
    ("chosen loops", "entries", "gradients"),
    ("chosen loops", "entries", "in between"),
    ("chosen loops", "entries", "along"),
    ("chosen loops", "entries", "pullbacks"),
    ("chosen loops", "entries", "prepared"),
    ("chosen loops", "entries", "second"),
    ("chosen loops", "compiled", "gradients"),
    ("chosen loops", "compiled", "in between"),
    ("chosen loops", "compiled", "second"),
    ("objects", "compiled", "in between"),
    ("loops", "entries", "gradients"),
    ("changed loops", "entries", "in between"),
    ("functions on lists", "text", "gradients"),
    ("arrays", "entries", "gradients"),
    ("calls", "entries", "gradients"),
)
"""Of which programs which way and mode may find a break; seeds go through them in turn."""

BREAKS: dict[str, Change] = {
    name: change_of(name, line, __file__)
    for name, line in LINES.items()
    if name not in HARMLESS and name not in OPEN
}


def compare_in_search(seed: int) -> None:
    """Compare a program of the search."""
    kind, way, mode = SEARCH[seed % len(SEARCH)]
    compare(GENERATORS[kind](seed // len(SEARCH)), [way], [mode])


def program_that_finds(change: Change, most: int = 300) -> int | None:
    """Return the seed of a program of the search that finds a break, or None."""
    return seed_that_raises(compare_in_search, change, most, partials.formulas)


if __name__ == "__main__":
    tell(BREAKS.values(), program_that_finds, 300)
