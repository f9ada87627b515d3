"""Checks that a rule keeps no state from one call to the next."""

from __future__ import annotations

from typing import Any

from mooncake_py.tangents import scale
from mooncake_py.testing.case import Case
from mooncake_py.testing.cycle import Cycle
from mooncake_py.testing.derivative_checks import DerivativeTest
from mooncake_py.testing.finite_differences import random_direction
from mooncake_py.testing.forward_checks import Reference, check_output
from mooncake_py.testing.reverse_checks import check_same

__all__ = ["check_reuse", "nearby"]

_HINT = (
    "state kept between calls: save the data that the pullback needs in the call itself, "
    "not on the rule, in a global or in a reused buffer"
)


def nearby(case: Case) -> Case | None:
    """Return the case at nearby inputs; None if the function rejects them."""
    copied = case.inputs.copy()
    direction = random_direction(copied, set(range(len(copied.values))), case.rng(2))
    if direction is None:
        return None
    try:
        step = scale(1e-2 * direction.size, direction.tangents)
        moved = copied.moved(step)
        moved.copy().call()
    except Exception:
        return None  # outside the domain: the other checks of reuse still run
    return case.with_inputs(moved, f"{case.variant or 'second call'}, at other inputs")


def check_reuse(case: Case, first: Cycle, options: dict[str, Any] | None) -> None:
    """Check that a second run agrees with the first, with a run at other inputs in between.

    Parameters
    ----------
    case : Case
    first : Cycle
        A finished run, with seeds everywhere.
    options : dict or None
        Options of the derivative test at the other inputs; None to leave it out.
    """
    everything = set(range(len(first.fdata)))
    again = Cycle(case)
    other_case = nearby(case)
    if other_case is not None:
        # Two calls under way at once: the pullbacks run in the order of a nested program.
        reference = Reference.of(other_case.inputs)
        other = Cycle(other_case)
        check_output(other_case, reference, other)
        other.seed(everything)
        other.reverse()
        if options is not None:
            test = DerivativeTest(other_case, reference, **options)
            test.check(other, "reuse", _HINT)
    again.seed(everything)
    again.reverse()
    check_same(case, "reuse", first, again, _HINT)
