"""The order of the checks that `test_rule` runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mooncake_py.errors import MissingRuleError, MooncakeError, RuleTestError
from mooncake_py.modules import module_of
from mooncake_py.rules import registry
from mooncake_py.rules.domains import unrestricted
from mooncake_py.rules.kinds import CoDualRule, function_name
from mooncake_py.testing.case import Case, Inputs, Rule
from mooncake_py.testing.constant_checks import check_constant_numbers, check_constants
from mooncake_py.testing.cycle import Cycle
from mooncake_py.testing.derivative_checks import DerivativeTest
from mooncake_py.testing.domain_checks import check_domain, check_mutates, is_within
from mooncake_py.testing.forward_checks import Reference, check_forward
from mooncake_py.testing.frule_checks import check_frule
from mooncake_py.testing.leaving_out import naming, warn_of_ints, warn_of_restrictions
from mooncake_py.testing.left_out import NO_DERIVATIVE, PARTS, LeftOut
from mooncake_py.testing.output_checks import check_each_output
from mooncake_py.testing.pushforward_checks import check_pushforward
from mooncake_py.testing.quiet import quiet
from mooncake_py.testing.reuse_checks import check_reuse
from mooncake_py.testing.reverse_checks import (
    check_cotangent_kept,
    check_no_nan,
    check_pullback_twice,
    check_rdata_type,
    check_restored,
    check_zero_cotangent,
    nan_cotangents,
)
from mooncake_py.testing.second_derivatives import SecondDerivatives
from mooncake_py.testing.smoothness import is_smooth
from mooncake_py.testing.special_checks import check_special_derivatives
from mooncake_py.testing.special_points import is_singular, special_points
from mooncake_py.testing.variants import (
    Variant,
    accept,
    aliasing_variants,
    dtype_variants,
    layout_variants,
)

__all__ = ["Options", "check_rule"]

_DERIVATIVE_HINT = (
    "check signs, factors, conjugates, the order of the arguments, and that a cotangent is summed "
    "over broadcast axes; for an argument changed in place, that its own cotangent on exit is used"
)
_INCREMENT_HINT = (
    "right from zero fdata but wrong from other values: the pullback must increment "
    "(`dx[...] += g`), never overwrite, and only clear the cotangent of overwritten elements"
)


@dataclass(frozen=True)
class Options:
    """The options of `test_rule`, as documented there."""

    order: int | None
    rtol: float | None
    atol: float
    directions: int
    interface_only: bool
    layouts: bool
    dtypes: bool
    aliasing: bool
    constants: bool
    special_points: bool
    cotangent_kept: bool | None
    forward: bool | None

    def derivative(self, directions: int) -> dict[str, Any]:
        """Return the options of a derivative test."""
        return {"directions": directions, "rtol": self.rtol, "atol": self.atol}


def check_rule(
    f: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    rule: Rule | None,
    rng: int | np.random.Generator,
    options: Options,
) -> LeftOut:
    """Run all checks at the arguments given, then the checks of each variant of them.

    Return the points at which there is no derivative to compare.
    """
    declared = registry.find(f) if rule is None else None
    chosen, by_hand = (rule, not _is_derived(rule)) if rule else _default_rule(f, args, declared)
    seed = int(rng.integers(2**32)) if isinstance(rng, np.random.Generator) else rng
    inputs = Inputs((f, *args), kwargs)
    case = Case(inputs, chosen, function_name(f), seed, by_hand)
    if registry.find_forward(f) is not None:
        options = replace(options, forward=options.forward is not False)
    elif rule is not None or by_hand:  # forward mode does not know it
        options = replace(options, forward=False)
    reference = _call_primal(case)
    check_domain(case, declared)
    if not options.interface_only:
        warn_of_ints(case, declared)
    check_mutates(case, declared, reference)
    _check_fully(case, reference, options)
    given = rule is not None and by_hand
    left_out, checked = LeftOut(), declared is not None or rule is not None
    second = SecondDerivatives(case, given, not checked, options.order == 2, left_out)
    twice = options.order != 1 and not options.interface_only
    if twice:
        with naming("order", case):
            second.check(case, reference, special=False)
    for variant in _variants(case, options):
        accepted = _accepted(variant, declared, reference)
        if accepted is not None:
            there = case.with_inputs(variant.inputs, variant.label)
            with naming(variant.option, case, variant.label):
                may_miss = not checked and may_be_special(variant)
                _check_variant(there, accepted, options, left_out, may_miss=may_miss)
    if options.special_points and not options.interface_only:
        for variant in special_points(inputs):
            accepted = _accepted(variant, declared, reference)
            if accepted is not None and not is_singular(accepted, reference):
                there = case.with_inputs(variant.inputs, variant.label)
                with quiet(), naming("special_points", case):
                    _check_special(there, accepted, options, checked, left_out)
                if twice:
                    with naming("order", case):
                        second.check(there, accepted, special=True)
    warn_of_restrictions(case, declared, partial(_silenced, case, declared, reference, options))
    return left_out


def _accepted(variant: Variant, declared: Any, reference: Reference) -> Reference | None:
    """Return the reference results of a variant; None if the rule does not support it."""
    return accept(variant.inputs, reference) if is_within(declared, variant.inputs) else None


def _silenced(
    case: Case, declared: Any, reference: Reference, options: Options
) -> Iterator[Variant]:
    """Yield the variants that options leave out, but at which the rule is wrong."""
    every = replace(options, layouts=not options.layouts, dtypes=not options.dtypes, aliasing=False)
    for variant in _variants(case, every):
        accepted = None if variant.option == "shapes" else _accepted(variant, declared, reference)
        if accepted is not None:
            try:
                there = case.with_inputs(variant.inputs, variant.label)
                _check_variant(there, accepted, options, LeftOut())
            except RuleTestError:
                yield variant
            except MooncakeError:
                continue  # an error says so wherever the rule is used


def _default_rule(f: Any, args: tuple[Any, ...], declared: Any) -> tuple[Rule, bool]:
    """Return the rule of `f`, and whether it is handwritten."""
    if declared is not None:
        from mooncake_py.rules.rrule import rrule

        return rrule, isinstance(unrestricted(declared), CoDualRule)
    from mooncake_py.interface import build_rrule

    return build_rrule(f, *args), False


def _is_derived(rule: Any) -> bool:
    module = module_of(rule) or module_of(type(rule))
    return module.startswith(("mooncake_py.modes", "mooncake_py.interface"))


def _call_primal(case: Case) -> Reference:
    try:
        return Reference.of(case.inputs)
    except Exception as error:
        error.add_note(f"test_rule: {case.name} itself raised this, called without its rule")
        raise


def _check_fully(case: Case, reference: Reference, options: Options) -> None:
    """Run every check at the arguments as they were given."""
    _check_without_seeds(case, reference, options)
    derivatives = None
    if not options.interface_only:
        derivatives = DerivativeTest(case, reference, **options.derivative(options.directions))
        cycle = _finished(case, set(reference.mutated))
        derivatives.check(cycle, "derivative", _DERIVATIVE_HINT)
    seeded = _finished(case, set(range(len(case.inputs.values))))
    check_restored(case, seeded)
    if case.by_hand if options.cotangent_kept is None else options.cotangent_kept:
        with naming("cotangent_kept", case):
            check_cotangent_kept(case, seeded)
    if derivatives is not None:
        derivatives.check(seeded, "increments", _INCREMENT_HINT)
        if options.forward is not False:
            required = options.forward is True
            with naming("forward", case):
                check_frule(case, seeded, reference, options.atol)
                check_pushforward(case, seeded, options.atol, reference.output, required)
            if options.constants and required:
                with naming("constants", case):
                    check_constant_numbers(case, seeded, options.atol, reference)
    else:
        check_no_nan(case, seeded)
    check_each_output(case, seeded, derivatives)
    if options.constants:
        with naming("constants", case):
            check_constants(case, reference, derivatives)
    check_reuse(case, seeded, None if derivatives is None else options.derivative(1))
    check_pullback_twice(case, seeded)


def _check_without_seeds(case: Case, reference: Reference, options: Options) -> None:
    """Check the forward pass, and a reverse pass with zero cotangents."""
    cycle = Cycle(case)
    check_forward(case, reference, cycle)
    cycle.reverse()
    check_rdata_type(case, cycle)
    check_restored(case, cycle)
    check_zero_cotangent(case, cycle)


def _finished(case: Case, seeded: set[int]) -> Cycle:
    cycle = Cycle(case)
    cycle.seed(seeded)
    cycle.reverse()
    return cycle


def _variants(case: Case, options: Options) -> Iterator[Variant]:
    if options.layouts:
        yield from layout_variants(case.inputs)
    if options.dtypes:
        yield from dtype_variants(case.inputs, case.rng(3))
    if options.aliasing:
        yield from aliasing_variants(case.inputs)


def _check_variant(
    case: Case, reference: Reference, options: Options, left_out: LeftOut, *, may_miss: bool = False
) -> None:
    """Run the checks that the change of arguments may affect.

    An array of other shape or memory may be a special point: empty, of equal elements, equal to
    another one.  A rule that is derived there is only as good as its parts: it `may_miss`.
    """
    try:
        cycle = Cycle(case)
        check_forward(case, reference, cycle)
        cycle.seed(set(range(len(case.inputs.values))))
        cycle.reverse()
    except RuleTestError as error:
        singular = isinstance(error.__cause__, np.linalg.LinAlgError)  # as a broadcast matrix is
        if not singular and (error.__cause__ is None or not may_miss):
            raise
        left_out.add(case.variant, PARTS)
        return
    if may_miss and nan_cotangents(cycle):
        left_out.add(case.variant, PARTS)
        return
    check_rdata_type(case, cycle)
    check_restored(case, cycle)
    if options.interface_only:
        check_no_nan(case, cycle)
    else:
        test = DerivativeTest(case, reference, **options.derivative(1))
        test.check(cycle, "derivative", _DERIVATIVE_HINT)


def _check_special(
    case: Case, reference: Reference, options: Options, declared: bool, left_out: LeftOut
) -> None:
    """Run the checks that a branch of the rule for special values may affect."""
    try:
        cycle = Cycle(case)
        check_forward(case, reference, cycle)
        cycle.seed(set(range(len(case.inputs.values))))
        cycle.reverse()
    except MissingRuleError:
        left_out.add(case.variant, "the derivative is said not to exist there")
        return
    except RuleTestError as error:
        if isinstance(error.__cause__, np.linalg.LinAlgError):
            left_out.add(case.variant, "a matrix that is singular up to rounding")
            return
        if error.__cause__ is None or is_smooth(case, reference.mutated):
            raise
        left_out.add(case.variant, NO_DERIVATIVE)
        return
    check_rdata_type(case, cycle)
    check_restored(case, cycle)
    if declared:  # what is derived is only as good as its parts, at a kink of one of them
        check_no_nan(case, cycle)
    check_special_derivatives(case, cycle, reference, options.atol, left_out)


def may_be_special(variant: Variant) -> bool:
    """Return whether arrays of other shape or memory may be a special point of the function."""
    return variant.option in ("shapes", "aliasing") or variant.label.endswith("broadcast")
