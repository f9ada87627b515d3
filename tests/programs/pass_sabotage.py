# ruff: noqa: E501  (a table of lines)
"""Passes of the compiler, and printers of NumPy text, broken on purpose, one line at a time.

The programs of the corpus must find each.  ``python -m tests.programs.pass_sabotage [COUNT [NAME
...]]`` tells which seeds find them.
"""

from __future__ import annotations

from mooncake_py.compiler.derivatives import partials
from mooncake_py.compiler.native.lowering import counting as counting_loops
from mooncake_py.compiler.native.lowering import extrema, lower, operands
from mooncake_py.compiler.native.lowering import sums as sums_as_loops
from mooncake_py.compiler.native.numpy_text import (
    blocks,
    defining,
    elements,
    first_additions,
    helpers,
    lengths,
    orders,
    printer,
    rebound,
    scalars,
    stored,
    sums,
    vectors,
    views,
    wholes,
)
from mooncake_py.compiler.native.sweeps import (
    adjoint,
    applied,
    called,
    counting,
    finite,
    fusing,
    hoisting,
    needs,
    normal,
    overlaps,
    pull,
    reduced,
    scopes,
    tangent,
)
from tests.programs.breaking import Change, seed_that_raises, tell
from tests.programs.corpus import GENERATORS
from tests.programs.driver import compare
from tests.programs.line_breaks import Line, change_of
from tests.programs.regions import REGIONS

__all__ = ["BREAKS", "HARMLESS", "LINES", "OPEN", "compare_in_search", "program_that_finds"]

PASSES: dict[str, Line] = {
    # Calls of functions that are not read.
    "calls_have_one_operand": Line(called, "wanted = [k for k, on in enumerate(mask) if on]", "wanted = [k for k, on in enumerate(mask) if on][:1]"),
    # What is overwritten, and what is read again (`overlaps`, `needs`).
    "statements_overwrite_nothing_they_read": Line(overlaps, "return bool(written) and all(", "return True or all("),
    "arrays_that_are_read_somehow_are_told_apart": Line(overlaps, "if not written or array in self._read_somehow or len(reads) > MOST:", "if not written or len(reads) > MOST:"),
    "nothing_meets_in_one_pass": Line(overlaps, "cases = range(shared + together)", "cases = range(shared)"),
    "later_statements_of_a_pass_meet_nothing": Line(overlaps, "together=r.time < w.time)", "together=False)"),
    "passes_of_loops_meet_nothing": Line(overlaps, "cases = range(shared + together)", "cases = range(shared, shared + together)"),
    "what_a_statement_has_left_is_read_before_it": Line(overlaps, "at = time + 0.5 if pull.reuses else time - 0.5", "at = time - 0.5"),
    "places_are_apart_where_they_differ": Line(overlaps, "if ranges.is_below(a, b) or ranges.is_below(b, a):", "if a != b:"),
    "counters_that_are_bound_again_have_bounds": Line(overlaps, "if turn.steps and turn.name not in self.rebound:", "if turn.steps:"),
    "names_that_are_bound_again_are_counters": Line(overlaps, "case Name(name=name) if name in names and name not in self.rebound:", "case Name(name=name) if name in names:"),
    "other_statements_read_nothing": Line(overlaps, "self._read_somehow |= values_in(expressions_in(s))", "pass"),
    "wholes_read_nothing": Line(overlaps, "self._read_somehow |= pull.reads", "pass"),
    "earlier_passes_come_later": Line(overlaps, "plus(linear(more), 1 if up else -1)", "plus(linear(more), -1 if up else 1)"),
    "ints_that_are_bound_are_not_saved": Line(needs, "if s.name in needed:\n            self._overwritten.add(id(s))\n        return needed - {s.name}", "return needed - {s.name}"),
    "nothing_is_saved": Line(needs, "if part in needed and self.may_meet(inner):", "if False:"),
    "indices_of_what_is_saved_are_not": Line(needs, "needed |= values_in(inner.target.index)", "pass"),
    "results_that_are_read_again_are_not_saved": Line(needs, "return needed | {part} if pull.reuses else needed", "return needed"),
    "bounds_of_loops_are_not_saved": Line(needs, "needed |= values_in((loop.range,))", "pass"),
    "loops_are_seen_once": Line(needs, "if after <= needed:\n                return needed", "return needed | after"),
    "tests_are_not_saved": Line(needs, "needed |= values_in((s.test,))", "pass"),
    "what_wholes_read_is_not_saved": Line(needs, "return needed | self.pull_of(s).reads", "return needed"),
    "counts_of_places_are_not_saved": Line(needs, "if s.count in needed:", "if False:"),
    "what_lives_in_a_block_is_not_saved": Line(needs, "ending = (own & needed).difference(self.scopes.replayed)", "ending = set[str]()"),
    # The two sweeps.
    "what_was_overwritten_is_put_back_too_early": Line(adjoint, "return [push, s], [*back, pop] if pull.reuses else [pop, *back]", "return [push, s], [pop, *back]"),
    "what_was_overwritten_is_put_back_too_late": Line(adjoint, "return [push, s], [*back, pop] if pull.reuses else [pop, *back]", "return [push, s], [*back, pop]"),
    "what_reductions_overwrote_is_put_back_too_early": Line(adjoint, "return [push, s], [*pull.back, pop] if pull.reuses else [pop, *pull.back]", "return [push, s], [pop, *pull.back]"),
    "what_ends_is_saved_after_a_break_too": Line(adjoint, "if not (forward and isinstance(forward[-1], Break)):", "if True:"),
    "numbers_are_put_back_in_the_order_of_saving": Line(adjoint, "(arrays if is_array else numbers).insert(0, pop)", "(arrays if is_array else numbers).append(pop)"),
    "arrays_are_saved_last": Line(adjoint, "key=lambda name: name not in self.region.arrays):", "key=lambda name: name in self.region.arrays):"),
    "tests_are_asked_again": Line(adjoint, "(name in self.scopes.stable or not self.bindings.is_bound_in(name, s))", "True"),
    "loops_go_back_too_far": Line(adjoint, "return [through(less(last, step), less(first, step), negated(step))]", "return [through(less(last, step), first, negated(step))]"),
    "loops_go_back_from_beyond": Line(adjoint, "ahead = Op(\"mul\", (Op(\"sub\", (Name(name), ONE)), step))", "ahead = Op(\"mul\", (Name(name), step))"),
    "cotangents_of_what_is_overwritten_stay": Line(adjoint, "if not (id(s) in self.scopes.first and is_clear(b))", "if not is_clear(b)"),
    "cotangents_of_new_arrays_begin_with_anything": Line(adjoint, "found.append(Alloc(d, shape, s.kind, True, place=s.place))", "found.append(Alloc(d, shape, s.kind, False, place=s.place))"),
    "cotangents_of_numbers_begin_with_anything": Line(adjoint, "zeros = [Assign(Name(d), Const(0.0)) for d in sorted(cleared & ends)]", "zeros = [Assign(Name(d), Const(1.0)) for d in sorted(cleared & ends)]"),
    "replayed_ints_are_not_bound": Line(adjoint, "if self.scopes.replays(s):\n                found.append(s)", "if self.scopes.replays(s):\n                pass"),
    "signs_of_cotangents_are_lost": Line(pull, "return negated(self.times(d.args[0], p, steps, together, values, finite))", "return self.times(d.args[0], p, steps, together, values, finite)"),
    "signs_of_partials_are_lost": Line(pull, "return negated(self.times(d, p.args[0], steps, together, values, finite))", "return self.times(d, p.args[0], steps, together, values, finite)"),
    "cotangents_are_multiplied_by_divisors": Line(pull, "return quotient(product(d, a), b, together)", "return product(product(d, a), b)"),
    "the_target_keeps_its_cotangent": Line(pull, "[] if own == g else [Assign(slot, own, place=s.place)]", "[]"),
    "results_are_read_again_that_are_overwritten": Line(pull, "if root.name in reads and (part_of(target) not in reads or self.is_apart(s, back)):", "if root.name in reads:"),
    "results_are_read_again_after_they_are_overwritten": Line(pull, "return Pull(back, reads - {root.name}, True)", "return Pull(back, reads - {root.name}, False)"),
    "choices_receive_what_the_other_side_does": Line(pull, "return Select(p.test, chosen(d, p.a), chosen(d, p.b))", "return Select(p.test, chosen(d, p.b), chosen(d, p.a))"),
    "shares_of_quotients_are_whole": Line(pull, "share = atom(steps, quotient(d, b, together))", "share = atom(steps, d)"),
    "sums_give_the_negative": Line(reduced, "one = Assign(s.target, Op(\"add\", (s.target, s.value)), place=s.place)\n    body", "one = Assign(s.target, Op(\"sub\", (s.target, s.value)), place=s.place)\n    body"),
    "cotangents_of_reductions_stay": Line(reduced, "back.append(cleared(s))", "pass"),
    "all_elements_share_an_extremum": Line(reduced, "Bump(cotangent(s.value), Select(tied, share, ZERO))", "Bump(cotangent(s.value), share)"),
    "ties_are_not_shared": Line(reduced, "Compare((\"ne\",), (count, product", "Compare((\"lt\",), (count, product"),
    "cumulative_sums_are_not_turned": Line(reduced, "turned = {along: minus(minus(sizes[along], Const(1)), Name(along))} if along else {}", "turned = dict[str, Expr]()"),
    "slow_parts_of_choices_are_always_computed": Line(hoisting, "if isinstance(e, Select):\n            return e", "if False:\n            return e"),
    "slow_parts_for_all_indices_stay_where_they_are": Line(hoisting, "is_kept = inner.target.array not in values_in((inner.value,))", "is_kept = True"),
    "bounds_change_with_their_loop": Line(normal, "if values_in((bound,)) & changed:", "if False:"),
    "counters_are_read_after_their_loop": Line(normal, "if name in self.shared:", "if False:"),
    "what_follows_a_break_always_runs": Line(normal, "if isinstance(s, If) and stops((s,)) and k + 1 < len(block):", "if False:"),
    "indices_change_with_what_they_store": Line(normal, "if isinstance(target, Name) or target.array not in values_in(target.index):", "if True:"),
    "the_smallest_is_the_largest": Line(normal, "comparison = CHOICES[e.op]", "comparison = \"gt\""),
    "ties_are_won_by_the_last": Line(normal, "return Select(Compare((comparison,), (b, a), place=e.place), b, a, place=e.place)", "return Select(Compare((comparison,), (a, b), place=e.place), a, b, place=e.place)"),
    "ints_of_what_changes_are_computed_again": Line(scopes, "and values_in((s.value,)) <= self.stable\n", "\n"),
    "shapes_of_what_changes_are_the_same": Line(scopes, "and values_in(s.shape) <= self.stable", ""),
    "arrays_made_twice_have_one_shape": Line(scopes, "and len(self._made.get(s.name, ())) == 1", ""),
    "active_numbers_are_computed_again": Line(scopes, "and once.difference(active).issuperset(bound_by(s))", "and once.issuperset(bound_by(s))"),
    "inputs_that_are_written_are_stable": Line(scopes, "inputs = set(region.inputs) - written_arrays(body) - set(self.carried)", "inputs = set(region.inputs) - set(self.carried)"),
    "numbers_live_where_they_are_bound": Line(scopes, "{name for name in first if found[name] == self.total[name]}", "set(first)"),
    "arrays_are_cleared_once": Line(scopes, "        made -= all_mentioned(s)\n", ""),
    "signs_of_tangents_are_lost": Line(tangent, "return negated(times(t, p.args[0]))", "return times(t, p.args[0])"),
    # What else the way back saves, puts back and goes through.
    "what_is_needed_at_the_end_is_not_saved": Line(adjoint, "forward = [*forward, *saved]", "pass"),
    "what_is_made_first_is_made_of_what_is_not_there": Line(adjoint, "return [*numbers, *kept, *rest]", "return [*kept, *numbers, *rest]"),
    "lengths_of_ranges_are_rounded_down": Line(adjoint, "ahead = Op(\"add\", (Op(\"sub\", (last, first)), Op(\"sub\", (step, sign))))", "ahead = Op(\"sub\", (last, first))"),
    "loops_in_steps_end_early": Line(adjoint, "return [count, through(added(first, ahead), less(first, step), negated(step))]", "return [count, through(added(first, ahead), first, negated(step))]"),
    "operands_that_are_the_target_receive_twice": Line(pull, "for leaf, d in found.items() if leaf != target", "for leaf, d in found.items()"),
    "shares_of_extrema_are_whole": Line(reduced, "Op(\"truediv\", (share, ties))", "share"),
    "tangents_of_ties_are_added_up": Line(reduced, "Op(\"truediv\", (total, ties))", "total"),
    "all_tangents_share_an_extremum": Line(reduced, "Select(is_extreme(s), t, ZERO)", "t"),
    "what_follows_a_break_runs_on_one_side": Line(normal, "sides = followed(last.body, rest), followed(last.orelse, rest)", "sides = followed(last.body, rest), last.orelse"),
    "nothing_is_carried": Line(scopes, "self.carried = [name for name in numbers if name not in scoped]", "self.carried = list[str]()"),
    "names_that_are_bound_twice_are_stable": Line(scopes, "if count == 1 and name in scoped", "if name in scoped"),
    "what_the_other_side_needs_is_not_saved": Line(needs, "return self.block(s.body, needed) | self.block(s.orelse, needed)", "self.block(s.orelse, needed)\n                return self.block(s.body, needed)"),
    "counters_that_go_down_stay_at_their_begin": Line(overlaps, "ranges.counters[name.name] = plus(ends[1], ONE), ends[0]", "ranges.counters[name.name] = ends[0], ends[0]"),
    "zero_tangents_are_lost_beside_infinity": Line(tangent, "return product(t, p) if is_safe else Op(\"times\", (t, p))", "return product(t, p)"),
    "tangents_of_tangents_have_their_names": Line(tangent, "order += 1", "break"),
    "floats_are_finite": Line(finite, "return kinds.get(name, FLOAT) not in REAL", "return True"),
    "loops_are_one_that_are_not_apart": Line(fusing, "for a in before for b in after) or not pays(body):", "for a in () for b in after):"),
    "saved_arrays_are_one_number": Line(counting, "found.append(ForAll(s.counters, s.extents, (SOMETHING,)))", "found.append(SOMETHING)"),
    # Systems of equations, and other functions of matrices.
    "systems_give_the_negative": Line(applied, "return Bump(Load(shadow(a), (i, k)), Op(\"neg\", (e,)))", "return Bump(Load(shadow(a), (i, k)), e)"),
    "systems_are_not_transposed": Line(applied, "back.append(Apply(TRANSPOSED[s.function], w, (a, d), place=s.place))", "back.append(Apply(s.function, w, (a, d), place=s.place))"),
    "tangents_of_systems_are_added": Line(applied, "return Assign(target, Op(\"sub\", (target, e)))", "return Assign(target, Op(\"add\", (target, e)))"),
    "diagonals_of_factors_are_whole": Line(applied, "Op(\"mul\", (Const(0.5), e))", "e"),
    "inverses_are_not_transposed": Line(applied, "factor = Op(\"mul\", (Load(s.target, (NULL,)), Load(inverse, (j, i))))", "factor = Op(\"mul\", (Load(s.target, (NULL,)), Load(inverse, (i, j))))"),
}  # fmt: skip
"""Breaks of passes that compiled text uses too."""

LOWERING: dict[str, Line] = {
    "counts_are_sums": Line(counting_loops, "(found, ONE if op == \"count\" else e)", "(found, e if op == \"count\" else ONE)"),
    "any_begins_as_all": Line(counting_loops, "Const(op == \"all\")", "Const(op == \"any\")"),
    "places_are_not_counted": Line(counting_loops, "Op(\"add\", (count, ONE))", "Op(\"add\", (count, ZERO))"),
    "the_last_of_ties_is_counted": Line(extrema, "Op(\"add\", (count, ONE)), count)", "count, count)"),
    "ties_are_counted_on": Line(extrema, "b.rebind(count, Select(better, ONE, same))", "b.rebind(count, same)"),
    "places_of_extrema_are_of_the_last_axis": Line(extrema, "place = Op(\"add\", (Op(\"mul\", (place, n)), k)) if place != ZERO else k", "place = k"),
    "ties_share_all": Line(extrema, "mean = Op(\"truediv\", (s, Op(\"float\", (found.ties,))))", "mean = s"),
    "products_begin_with_two": Line(sums_as_loops, "b.add(Assign(s, Const(1.0), place=b.place))", "b.add(Assign(s, Const(2.0), place=b.place))"),
    "cumulative_results_are_the_elements": Line(sums_as_loops, "b.add(Assign(o.target_at(at), s, place=b.place))", "b.add(Assign(o.target_at(at), o.at(at), place=b.place))"),
    "sums_begin_with_what_was_there": Line(sums_as_loops, "b.add(Assign(s.target, Const(0.0), place=s.place))\n        bump", "pass\n        bump"),
    "products_are_sums": Line(lower, "sums.multiplied(b, o)", "sums.added_up(b, o)"),
    "axes_are_exchanged": Line(operands, "return substituted(self.s.value, dict(zip(self.s.along, index, strict=True)))", "return substituted(self.s.value, dict(zip(self.s.along, index[::-1], strict=True)))"),
}  # fmt: skip
"""Of what lowers operations on whole arrays to loops, for compiled text."""

PRINTERS: dict[str, Line] = {
    # Numbers, and the cotangents to which something is added first.
    "what_is_added_binds": Line(first_additions, "case Bump(target=Name(name=name) as target, value=value) if name in self.zeros:", "case Bump(target=Name(name=name) as target, value=value):"),
    "zeros_before_a_loop_stay": Line(first_additions, "again = self.zeros & zero_after(s.body, self.zeros)", "again = self.zeros"),
    "zeros_of_one_side_are_those_of_both": Line(first_additions, "self.zeros &= zeros", "self.zeros |= zeros"),
    "values_of_one_side_are_those_of_both": Line(first_additions, "{n: e for n, e in self.values.items() if values.get(n) == e}", "{**self.values, **values}"),
    "names_keep_values_that_change": Line(first_additions, "if name not in names and value.name not in names", "if name not in names"),
    "results_are_not_asked": Line(first_additions, "self.names |= self.results - self.others", "pass"),
    "loops_are_asked_once": Line(first_additions, "before = self.others = self.others - all_bound((s,))", "before = self.others"),
    "what_is_put_back_unread_is_not_taken": Line(first_additions, "return name in read or any(isinstance(part, Pop) for part in walk(value))", "return name in read"),
    "zeros_within_loops_stay": Line(first_additions, "self.zeros, self.values = before\n        return found", "return found"),
    "zeros_in_branches_stay": Line(first_additions, "zeros -= all_bound((s,))", "pass"),
    "places_are_asked_by_what_comes": Line(elements, "return is_asked_by(place, n, after[1:])", "return True"),
    "places_are_asked_after_they_change": Line(elements, "if not names.isdisjoint(bound_by(s)):\n            return False", "pass"),
    "sides_of_choices_are_computed": Line(elements, "return () if from_end(e) is e else (from_end(e),)", "return parts_of(e)"),
    "all_of_a_test_is_computed": Line(elements, "return args[:1]", "return args"),
    "sums_pass_other_sums": Line(elements, "if not are_apart(s.target, target):\n                return None", "pass"),
    "sums_pass_reads": Line(elements, "elif target.array in names_in(expressions_in(s)) | bound or bound & names:", "elif bound & names:"),
    "sums_pass_changes_of_indices": Line(elements, "elif target.array in names_in(expressions_in(s)) | bound or bound & names:", "elif target.array in names_in(expressions_in(s)) | bound:"),
    "elements_stay_whose_indices_change": Line(elements, "if array not in names_in(e.index) and (e.array != array or are_apart(e, target))", "if e.array != array or are_apart(e, target)"),
    "elements_stay_that_are_written": Line(elements, "if array not in names_in(e.index) and (e.array != array or are_apart(e, target))", "if array not in names_in(e.index)"),
    "elements_stay_whose_counters_change": Line(elements, "            if name not in names_in(e.index)\n        }\n\n\n# Indices", "        }\n\n\n# Indices"),
    "names_of_elements_stay": Line(elements, "None if known is not None and known.name == name else known", "known"),
    "indices_are_computed_before_they_change": Line(elements, "if is_sum(i) and bound.isdisjoint(names_in((i,)))", "if is_sum(i)"),
    "elements_are_apart_by_name": Line(elements, "not apart.parts and apart.constant", "apart.parts or apart.constant"),
    # Arrays that become new ones, and the order of statements.
    "any_index_is_the_whole": Line(rebound, "is_whole = index == tuple(map(Name, s.counters))", "is_whole = True"),
    "inputs_become_new_arrays": Line(rebound, "is_own = array not in printer.inputs or isinstance(value, Pop)", "is_own = True"),
    "parts_are_wholes": Line(rebound, "return is_whole and is_own and all(same)", "return is_whole and is_own"),
    "sums_read_what_they_add_to": Line(orders, "and s.target.array not in names_in((*s.target.index, s.value.args[1]))", ""),
    "all_loops_begin_at_zero": Line(orders, "if first == Const(0) and step == Const(1):", "if step == Const(1):"),
    "functions_of_numbers_are_those_of_arrays": Line(orders, "and all(is_arithmetic(part) for part in walk(s.value.args[1]))", ""),
    "sums_need_no_zeros": Line(blocks, "return found is not None and (found.zero or not zero)", "return found is not None"),
    "other_arrays_stay": Line(blocks, "return array in self.own and not any(", "return not any("),
    "arrays_stay_that_are_written": Line(blocks, "return array in self.own and not any(", "return array in self.own or any("),
    "arrays_are_written_once": Line(blocks, "return self.writes[array] == 1", "return True"),
    "wholes_are_in_any_order": Line(blocks, "if len(own) != len(target.index) or [k for k in counters if k in own] != own:", "if len(own) != len(target.index):"),
    "wholes_are_of_any_length": Line(blocks, "self.lengths.same(n, m) or n == Length(target.array, axis)", "True"),
    "results_are_shared": Line(blocks, "return f\"{text}.copy()\"", "return text"),
    "results_have_any_layout": Line(blocks, "return f\"np.ascontiguousarray({text})\" if name in {*self.arrays} - {*inputs} else text", "return text"),
    "new_arrays_hold_anything": Line(blocks, "how = \"zeros\" if s.zero else \"empty\"", "how = \"empty\""),
    "loops_run_at_once": Line(blocks, "if not self.are_apart(body):", "if False:"),
    "sums_are_apart_from_reads": Line(blocks, "return written.isdisjoint(read)", "return True"),
    "forward_loops_run_at_once": Line(blocks, "return adds_to_elements(body)", "return all(isinstance(s, Assign) and isinstance(s.target, Load) for s in body)"),
    "differences_are_sums": Line(blocks, "self.line(f\"{text(target)} -= {text(value)}\")", "self.line(f\"{text(target)} += {text(value)}\")"),
    "unbound_ints_are_floats": Line(blocks, "zero = {INT: \"0\", BOOL: \"False\"}.get(self.kinds.get(name, FLOAT), \"0.0\")", "zero = \"0.0\""),
    # Statements for all indices.
    "views_are_read_after_they_are_written": Line(wholes, "return any(not arrays.isdisjoint(bound_by(s)) for s in later[: max(last, 0)])", "return False"),
    "what_is_put_back_is_shared": Line(wholes, "is_alone = self.p.is_written_once(array) or array in self.p.rebound", "is_alone = True"),
    "views_are_saved": Line(wholes, "if axes and not (is_shared and text.isidentifier()):", "if False:"),
    "arrays_are_saved_without_copies": Line(wholes, "is_shared = isinstance(e, Load) and (self.p.stays(e.array) or e.array in self.p.rebound)", "is_shared = True"),
    "wholes_are_bound_to_views": Line(wholes, "and self.is_fresh(value)\n            and target", "and target"),
    "wholes_read_what_they_bind": Line(wholes, "and target.array not in values_in((value,))\n            and kind_of", "and kind_of"),
    "new_arrays_are_views": Line(wholes, "made = text if is_new else f\"{text}.copy()\"", "made = text"),
    "sums_bind_some_axes": Line(wholes, "            and own == axes\n", ""),
    "sums_bind_views": Line(wholes, "f\"-{text}\" if is_negative else f\"{text}.copy()\" if is_view else text", "f\"-{text}\" if is_negative else text"),
    "differences_of_arrays_are_sums": Line(wholes, "sign = \"-=\" if is_negative else \"+=\"", "sign = \"+=\""),
    "reductions_of_nothing_are_views": Line(wholes, "self.p.bind(target.array, f\"{text}.copy()\" if is_view else text)", "self.p.bind(target.array, text)"),
    "clears_come_last": Line(wholes, "if all(may_follow(s, other) for other in ordered[at + 1 :]):", "if True:"),
    "changes_pass_reads": Line(wholes, "return own.isdisjoint(read) and mine", "return mine"),
    "conversions_are_new_memory": Line(wholes, "return op not in (\"pos\", \"float\")", "return True"),
    "parts_are_new_memory": Line(wholes, "return any(part.is_free for part in parts_of_index(self.loops, index))", "return True"),
    "tests_of_indices_are_left_out": Line(wholes, "if self.is_asked(test):\n                    return", "if True:\n                    return"),
    # Expressions and parts of arrays.
    "vectors_are_transposed": Line(sums, "x = x if one == (*rows, along) else f\"{x}.T\"", "x = f\"{x}.T\""),
    "matrices_are_not_transposed": Line(sums, "y = y if other == (along, *columns) else f\"{y}.T\"", "y = y"),
    "products_are_turned": Line(sums, "if rows and columns and kept == columns + rows:", "if False:"),
    "numbers_outside_are_left_out": Line(sums, "parts += [v.scalars.text(f) for f in numbers]", "pass"),
    "factors_outside_are_left_out": Line(sums, "parts += [v.text(f, kept) for f in outside]", "pass"),
    "differences_of_sums_are_sums": Line(sums, "{'+' if e.op == 'add' else '-'}", "+"),
    "three_factors_are_two": Line(sums, "inside = [inside[0], product_of(inside[1:])]", "inside = inside[:2]"),
    "missing_axes_count_once": Line(sums, "missing = [k for k in v.loops.counters if k not in own and k not in kept]", "missing = list[str]()"),
    "guards_are_left_out_with_care": Line(scalars, "if not self.careful and is_guard(e):", "if is_guard(e):"),
    "ends_are_not_asked": Line(scalars, "case Select(test=Compare(ops=(\"lt\",), args=(i, Const(value=0))), b=j) if i == j:", "case Select(test=Compare(ops=(\"lt\",), args=(i, Const(value=0))), b=j):"),
    "guards_of_arrays_are_left_out_with_care": Line(vectors, "if not scalars.careful and is_guard(e):", "if is_guard(e):"),
    "sides_are_exchanged": Line(vectors, "return f\"({b} * ~{test})\"", "return f\"({b} * {test})\""),
    "both_sides_are_read": Line(vectors, "self.require_all(e)", "pass"),
    "shares_of_ties_are_whole": Line(vectors, "f\"({h} * ({shares[0]} + {shares[1]}))\"", "f\"({h} * (2 * {shares[1]}))\""),
    "indices_go_through": Line(vectors, "return part.step == 1 and part.e == Const(0) and self.is_length(n, load.array, axis)", "return part.step == 1 and self.is_length(n, load.array, axis)"),
    "diagonals_are_parts": Line(vectors, "if len(free) > 1 or is_mixed or len(set(axes)) < len(axes):", "if len(free) > 1 or is_mixed:"),
    "gathers_are_parts": Line(vectors, "if len(free) > 1 or is_mixed or len(set(axes)) < len(axes):", "if len(set(axes)) < len(axes):"),
    "parts_are_not_transposed": Line(vectors, "if list(order) != axes:", "if False:"),
    "parts_are_not_turned": Line(vectors, "        if turned:\n", "        if False:\n"),
    "places_are_parts": Line(vectors, "if any(part.is_free for part in parts) or len(set(steps)) < len(steps):", "if any(part.is_free for part in parts):"),
    "axes_stand_anywhere": Line(views, "if not axes or axes == want[len(want) - len(axes) :]:", "if True:"),
    "slices_back_begin_late": Line(views, "begin = linear(part.e).plus(linear(n), -1).plus(Linear(1, {})).expression()", "begin = linear(part.e).plus(linear(n), -1).expression()"),
    "steps_are_one": Line(views, "step = f\":{part.step}\" if part.step > 1 else \"\"", "step = \"\""),
    "slices_go_to_the_end": Line(views, "last = \"\" if lengths.same(end, Length(array, axis)) else scalars.text(end)", "last = \"\""),
    "checks_in_branches_hold": Line(lengths, "for inner in () if isinstance(s, If) else blocks_of(s):", "for inner in blocks_of(s):"),
    "lengths_of_what_varies_are_known": Line(lengths, "and made[s.name] == 1 and s.name not in varied:", "and s.name not in varied:"),
    "checks_hold_of_what_is_bound_again": Line(lengths, "if own & names and all(bound[n] <= 1 for n in names):", "if own & names:"),
    # What runs the text.
    "what_failed_is_not_undone": Line(printer, "given[k][...] = a", "pass"),
    "nothing_is_checked_to_be_finite": Line(printer, "is_right = all_finite(results) and all_finite(given[k] for k in restored)", "is_right = True"),
    "what_is_put_back_is_not_copied": Line(printer, "before = [0 if k in zeros else given[k].copy() for k in restored]", "before = [0 if k in zeros else given[k] for k in restored]"),
    "repeated_elements_receive_once": Line(helpers, "np.add.at(a, index, values)", "a[index] += values"),
    "what_is_saved_is_not_copied": Line(helpers, "self.append(a.copy())", "self.append(a)"),
    "elements_in_lists_are_not_put_back": Line(helpers, "a[:] = found", "pass"),
    "products_are_not_guarded": Line(helpers, "return np.where(d == 0.0, 0.0, d * p)", "return d * p"),
    "quotients_are_not_guarded": Line(helpers, "return np.where(d == 0.0, 0.0, d / p)", "return d / p"),
    "elements_in_lists_stay_there": Line(defining, "if array not in self.listed or not self.writes[array]:", "if True:"),
    "names_that_are_read_again_are_left_out": Line(stored, "and reads[s.value.name] == 1\n", "\n"),
}  # fmt: skip
"""Of printers of text of NumPy."""

LINES = PASSES | LOWERING | PRINTERS

HARMLESS: dict[str, str] = {
    "counters_that_are_bound_again_have_bounds": "after the normal form nothing but loops binds counters",
    "names_that_are_bound_again_are_counters": "after the normal form nothing but loops binds counters",
    "what_a_statement_has_left_is_read_before_it": "more is saved than must be",
    "slow_parts_for_all_indices_stay_where_they_are": "what would be saved is computed again",
    "what_ends_is_saved_after_a_break_too": "what follows a break never runs",
    "slow_parts_of_choices_are_always_computed": "more is computed than must be; where Python would raise, the region is left",
    "shapes_of_what_changes_are_the_same": "the reader makes shapes of ints that are bound once",
    "arrays_made_twice_have_one_shape": "copies of what follows a break make arrays of one shape",
    "sums_need_no_zeros": "what is added to memory that holds anything is anything",
    "other_arrays_stay": "what is saved is overwritten next, or ends with its block",
    "unbound_ints_are_floats": "what is read has been bound",
    "ends_are_not_asked": "the reader has no other choices in indices: it names them",
    "conversions_are_new_memory": "arrays are converted from other kinds only, which is new memory",
    "clears_come_last": "the reader makes statements for all indices only of elements that are apart",
    "changes_pass_reads": "the reader makes statements for all indices only of elements that are apart",
    "counts_of_places_are_not_saved": "the reader counts under a new name",
    "what_reductions_overwrote_is_put_back_too_early": "the reader reduces to new names and new arrays",
    "both_sides_are_read": "the reader chooses among elements that are there",
    "indices_go_through": "what goes on for the length of an axis begins where that does",
}
"""Breaks that change no derivative, and why."""

OPEN: dict[str, str] = {
    "inputs_become_new_arrays": "the way back of the corpus's loops adds to the arrays that it is given, or puts all back",
    "zero_tangents_are_lost_beside_infinity": "text of NumPy is left there, and compiled tangents are not in the search",
    "results_are_shared": "programs of the corpus return numbers, not two arrays that are one",
    "results_have_any_layout": "programs of the corpus return numbers, not arrays in another order",
    "gathers_are_parts": "the reader gathers along one axis at a time, as far as programs are known",
}
"""Breaks that no program of the corpus shows yet, and why not."""

SEARCH = (
    ("whole functions", "text", "gradients"),
    ("kernels", "text", "gradients"),
    ("functions", "text", "gradients"),
    ("functions", "compiled", "gradients"),
    ("slices", "entries", "gradients"),
    ("arrays", "entries", "gradients"),
    ("calls", "entries", "gradients"),
    ("chosen", "text", "gradients"),
    ("chosen", "text", "second"),
    ("chosen", "compiled", "gradients"),
    ("chosen", "text", "along"),
    ("chosen", "text", "pullbacks"),
    ("chosen", "entries", "gradients"),
    ("regions", "sweeps", ""),
    ("regions", "second sweeps", ""),
    ("regions", "elements", ""),
    ("regions", "tests", ""),
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
    if kind == "regions":
        REGIONS[way](seed // len(SEARCH))
        return
    compare(GENERATORS[kind](seed // len(SEARCH)), [way], [mode])


def program_that_finds(change: Change, most: int = 600) -> int | None:
    """Return the seed of a program of the search that finds a break, or None."""
    return seed_that_raises(compare_in_search, change, most, partials.formulas)


if __name__ == "__main__":
    tell(BREAKS.values(), program_that_finds, 600)
