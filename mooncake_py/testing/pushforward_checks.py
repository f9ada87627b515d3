"""Check of forward mode against the cotangents of the rule, without finite differences."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from typing import Any

from mooncake_py.errors import MissingRuleError
from mooncake_py.modes.forward.call import push_state_forward
from mooncake_py.tangents import NoTangent
from mooncake_py.testing.case import Case, Inputs
from mooncake_py.testing.compare import compare
from mooncake_py.testing.cycle import Cycle
from mooncake_py.testing.derivative_checks import component_bytes
from mooncake_py.testing.failure import failure
from mooncake_py.testing.finite_differences import random_direction
from mooncake_py.testing.pairing import Pairing
from mooncake_py.testing.structure import walk_all

__all__ = ["check_duality", "check_pushforward"]

_ROUNDING = {2: 2e-2, 4: 1e-4}
"""Relative tolerance by the bytes of a real component; 1e-9 for float64 and longer."""

HINTS = {
    "forward mode": "forward and reverse mode disagree: a partial of the declaration, or the "
    "pullback that forward mode transposes, is wrong or depends on the cotangent in a way that is "
    "not linear",
    "forward rule": "the rule of frule.register and that of reverse mode disagree; if the check "
    "'derivative' passes, the forward rule is wrong: check signs and factors, and that the tangent "
    "of an argument changed in place is changed from its old values",
}


def check_pushforward(
    case: Case,
    cycle: Cycle,
    atol: float,
    reference: Any,
    required: bool,
    constant: int | None = None,
) -> None:
    """Check <cotangents on exit, J t> = <J* cotangents on exit, t> for a random tangent t.

    Parameters
    ----------
    case : Case
    cycle : Cycle
        After its reverse pass.
    atol : float
        Absolute tolerance.
    reference : object
        The output of the function itself.
    required : bool
        Whether a rule without forward mode counts as a defect.
    constant : int, optional
        Position of a number that is constant.
    """
    inputs = case.inputs.copy()
    moved = set(range(len(inputs.values))) - {constant}
    direction = random_direction(case.differentiated(inputs), moved, case.rng(2))
    if direction is None:
        return
    tangents = tuple(NoTangent() if i == constant else t for i, t in enumerate(direction.tangents))
    with nullcontext() if required else suppress(MissingRuleError):
        _check_direction(case, cycle, inputs, tangents, atol, reference)


def _check_direction(
    case: Case, cycle: Cycle, inputs: Inputs, tangents: Any, atol: float, reference: Any
) -> None:
    y, dy, dxs = push_state_forward(inputs.values, inputs.kwargs, tangents)
    mismatch = compare(reference, y, "output")
    if mismatch is not None:
        raise failure(
            "forward mode",
            of=case.title,
            path=mismatch.path,
            expected=mismatch.expected,
            got=mismatch.got,
            hint="in forward mode the function must compute the same as by itself",
        )
    check_undone(case, inputs)
    forward = cycle.pair_exit(dy, dxs)
    check_duality("forward mode", case, y, forward, cycle.pair_entry(tangents), atol)


def check_undone(case: Case, inputs: Inputs) -> None:
    """Check that forward mode has restored the arguments."""
    for (where, before), (_, after) in zip(case.inputs.roots(), inputs.roots(), strict=True):
        mismatch = compare(before, after, where, ulps=0.0)
        if mismatch is not None:
            raise failure(
                "forward mode: inputs restored",
                of=case.title,
                path=mismatch.path,
                expected=mismatch.expected,
                got=mismatch.got,
                hint="a forward rule may change in place only arguments that `mutates` names: "
                "frule.register(f, mutates=...)",
            )


def check_duality(
    check: str, case: Case, y: Any, forward: Pairing, reverse: Pairing, atol: float
) -> None:
    """Check that <c, J t> of forward mode is <J* c, t> of the rule, for an output `y`."""
    error = abs(forward.value - reverse.value)
    size = max(forward.magnitude, reverse.magnitude)
    values = [("", case.inputs.values), ("", y)]
    unit = min((component_bytes(part) for _, part in walk_all(values)), default=8)
    if error <= _ROUNDING.get(unit, 1e-9) * size + atol:
        return
    raise failure(
        check,
        of=case.title,
        expected=f"{reverse.value:.15e}  (<J* c, t> by the rule)",
        got=f"{forward.value:.15e}  (<c, J t> in forward mode)",
        hint=HINTS[check],
    )
