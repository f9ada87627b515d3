"""Checks of rules whose output is a tuple, of which a program may use only one part."""

from __future__ import annotations

from mooncake_py.errors import RuleTestError
from mooncake_py.testing.case import Case
from mooncake_py.testing.cycle import Cycle
from mooncake_py.testing.derivative_checks import DerivativeTest
from mooncake_py.testing.failure import failure
from mooncake_py.testing.pairing import holds_nothing

__all__ = ["check_each_output"]

_HINT = (
    "a pullback is given None for an output that nothing depends on, and must not use the "
    "cotangent of one output for another"
)


def check_each_output(case: Case, cycle: Cycle, derivatives: DerivativeTest | None) -> None:
    """Check the pullback with a cotangent for one output at a time.

    Parameters
    ----------
    case : Case
    cycle : Cycle
        A finished run, which gives the number of outputs.
    derivatives : DerivativeTest or None
        The comparison with finite differences; None to leave it out.
    """
    output = cycle.output.primal
    if type(output) is not tuple or len(output) < 2:
        return
    for position in range(len(output)):
        alone = Cycle(case)
        if holds_nothing(alone.seed_output(position)):
            continue
        try:
            alone.reverse()
        except RuleTestError as error:
            raise failure(
                "each output alone",
                of=case.title,
                path=f"output[{position}]",
                expected="no exception where the other outputs have no cotangent",
                got=str(error.__cause__ or error),
                hint=_HINT,
            ) from error
        if derivatives is not None:
            derivatives.check(alone, "each output alone", _HINT)
