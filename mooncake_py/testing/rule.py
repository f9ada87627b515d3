"""`test_rule`: check a rule, hand-written or derived, in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mooncake_py.rules import registry
from mooncake_py.rules.kinds import CoDualRule, function_name
from mooncake_py.testing.case import Case, Inputs, Rule
from mooncake_py.testing.constant_checks import check_constants
from mooncake_py.testing.cycle import Cycle
from mooncake_py.testing.derivative_checks import DerivativeTest
from mooncake_py.testing.forward_checks import Reference, check_forward
from mooncake_py.testing.reuse_checks import check_reuse
from mooncake_py.testing.reverse_checks import (
    check_cotangent_kept,
    check_no_nan,
    check_pullback_twice,
    check_rdata_type,
    check_restored,
    check_zero_cotangent,
)
from mooncake_py.testing.variants import (
    Variant,
    accept,
    aliasing_variants,
    dtype_variants,
    layout_variants,
)

__all__ = ["test_rule"]

_DERIVATIVE_HINT = (
    "check signs, factors, conjugates, the order of the arguments, and that a cotangent is summed "
    "over broadcast axes; for an argument changed in place, that its own cotangent on exit is used"
)
_INCREMENT_HINT = (
    "right from zero fdata but wrong from other values: the pullback must increment "
    "(`dx[...] += g`), never overwrite, and only clear the cotangent of what was overwritten"
)


@dataclass(frozen=True)
class _Options:
    interface_only: bool
    cotangent_kept: bool
    directions: int
    rtol: float | None
    atol: float

    def derivative(self, directions: int) -> dict[str, Any]:
        """Return the options of a derivative test."""
        return {"directions": directions, "rtol": self.rtol, "atol": self.atol}


def test_rule(
    f: Callable[..., Any],
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    rule: Rule | None = None,
    rng: int | np.random.Generator = 0,
    rtol: float | None = None,
    atol: float = 0.0,
    directions: int = 2,
    interface_only: bool = False,
    layouts: bool = True,
    dtypes: bool = True,
    aliasing: bool = True,
    constants: bool = True,
    cotangent_kept: bool | None = None,
) -> None:
    """Check the rule of a function at some arguments; raise on the first defect.

    Parameters
    ----------
    f : callable
        The function.
    *args : object
        Its positional arguments.  They are copied, never changed.
    kwargs : mapping, optional
        Its keyword arguments; constants, handed to the rule as they are.
    rule : callable, optional
        ``rule(CoDual(f, ...), CoDual(arg, ...), ..., **kwargs) -> (CoDual, pullback)``.  By
        default what is registered for `f`, or else the rule derived from its source.
    rng : int or Generator
        Seed of the random directions and cotangents.  The default always draws the same.
    rtol : float, optional
        Tolerance against finite differences, relative to the sum of the absolute values of the
        terms of the inner product.  Default: 1e-6; 1e-3 in single, 5e-2 in half precision.
    atol : float
        Absolute tolerance, added to it.
    directions : int
        Number of random directions for each argument.
    interface_only : bool
        Leave out finite differences: for kinks, ties and points at the edge of the domain.
    layouts, dtypes, aliasing : bool
        Check again with other memory layouts and shapes, in single precision and with complex
        numbers, and with arguments that share memory.  What the function itself refuses, by an
        exception, a warning or a result that is not finite, is passed over.
    constants : bool
        Check with each array argument constant in turn.
    cotangent_kept : bool, optional
        Require that the pullback leaves the output's cotangent as it is.  By default required
        of hand-written rules; a derived rule may use it up, as an output that was filled in
        place is memory whose writes are undone.

    Raises
    ------
    RuleTestError
        Names the check, the argument, what was expected and got, and the likely cause.

    Notes
    -----
    The checks are described in ``docs/testing_rules.md``.

    Examples
    --------
    >>> import numpy as np
    >>> from mooncake_py import CoDual, NoRData, zero_codual
    >>> from mooncake_py.testing import test_rule
    >>> def double(x):
    ...     return 2 * x
    >>> def double_rule(f, x):
    ...     y = zero_codual(double(x.primal))
    ...     def double_pullback(dy):
    ...         x.fdata[...] += 2 * y.fdata
    ...         return NoRData(), NoRData()
    ...     return y, double_pullback
    >>> test_rule(double, np.array([1.0, 2.0]), rule=double_rule, layouts=False)
    """
    chosen, by_hand = (rule, not _is_derived(rule)) if rule else _default_rule(f, args)
    seed = int(rng.integers(2**32)) if isinstance(rng, np.random.Generator) else rng
    inputs = Inputs((f, *args), dict(kwargs or {}))
    case = Case(inputs, chosen, function_name(f), seed, by_hand)
    kept = by_hand if cotangent_kept is None else cotangent_kept
    options = _Options(interface_only, kept, directions, rtol, atol)
    reference = _call_primal(case)
    _check_fully(case, reference, options, constants)
    for label, variant in _variants(case, layouts, dtypes, aliasing):
        accepted = accept(variant, reference)
        if accepted is not None:
            _check_variant(case.with_inputs(variant, label), accepted, options)


# pytest must not collect it where it is imported.
test_rule.__test__ = False  # pyright: ignore[reportFunctionMemberAccess]


def _default_rule(f: Any, args: tuple[Any, ...]) -> tuple[Rule, bool]:
    """Return the rule of `f`, and whether it is written by hand."""
    registered = registry.find(f)
    if registered is not None:
        from mooncake_py.rules import rrule

        return rrule, isinstance(registered, CoDualRule)
    from mooncake_py.interface import build_rrule

    return build_rrule(f, *args), False


def _is_derived(rule: Any) -> bool:
    module = getattr(rule, "__module__", None) or type(rule).__module__
    return module.startswith(("mooncake_py.derive", "mooncake_py.interface"))


def _call_primal(case: Case) -> Reference:
    try:
        return Reference.of(case.inputs)
    except Exception as error:
        error.add_note(f"test_rule: {case.name} itself raised this, called without its rule")
        raise


def _check_fully(case: Case, reference: Reference, options: _Options, constants: bool) -> None:
    """Run every check at the arguments as they were given."""
    _check_without_seeds(case, reference, options)
    derivatives = None
    if not options.interface_only:
        derivatives = DerivativeTest(case, reference, **options.derivative(options.directions))
        cycle = _finished(case, set(reference.mutated))
        derivatives.check(cycle, "derivative", _DERIVATIVE_HINT)
    seeded = _finished(case, set(range(len(case.inputs.values))))
    check_restored(case, seeded)
    if options.cotangent_kept:
        check_cotangent_kept(case, seeded)
    if derivatives is not None:
        derivatives.check(seeded, "increments", _INCREMENT_HINT)
    else:
        check_no_nan(case, seeded)
    if constants:
        check_constants(case, reference, derivatives)
    check_reuse(case, seeded, None if derivatives is None else options.derivative(1))
    check_pullback_twice(case, seeded)


def _check_without_seeds(case: Case, reference: Reference, options: _Options) -> None:
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


def _variants(case: Case, layouts: bool, dtypes: bool, aliasing: bool) -> Iterator[Variant]:
    if layouts:
        yield from layout_variants(case.inputs)
    if dtypes:
        yield from dtype_variants(case.inputs, case.rng(3))
    if aliasing:
        yield from aliasing_variants(case.inputs)


def _check_variant(case: Case, reference: Reference, options: _Options) -> None:
    """Run the checks that the change of arguments may affect."""
    cycle = Cycle(case)
    check_forward(case, reference, cycle)
    cycle.seed(set(range(len(case.inputs.values))))
    cycle.reverse()
    check_rdata_type(case, cycle)
    check_restored(case, cycle)
    if options.interface_only:
        check_no_nan(case, cycle)
    else:
        test = DerivativeTest(case, reference, **options.derivative(1))
        test.check(cycle, "derivative", _DERIVATIVE_HINT)
