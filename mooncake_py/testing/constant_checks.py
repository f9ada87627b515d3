"""Checks with one constant argument.

In reverse mode a constant array has `NoFData()` in place of its fdata; a constant number looks like
any other there, so it is checked in forward mode.
"""

from __future__ import annotations

import numpy as np

from mooncake_py.tangents import fdata, zero_tangent
from mooncake_py.testing.case import Case, path
from mooncake_py.testing.cycle import Cycle
from mooncake_py.testing.derivative_checks import DerivativeTest
from mooncake_py.testing.failure import failure
from mooncake_py.testing.forward_checks import Reference, check_inputs_after, check_output
from mooncake_py.testing.pairing import holds_nothing
from mooncake_py.testing.pushforward_checks import check_pushforward
from mooncake_py.testing.reverse_checks import check_restored
from mooncake_py.testing.sharing import overlap
from mooncake_py.testing.structure import is_inexact, is_number, walk

__all__ = ["check_constant_numbers", "check_constants"]


def check_constants(case: Case, reference: Reference, derivatives: DerivativeTest | None) -> None:
    """Check the cotangents of the others with each array argument constant in turn.

    Arguments that the function changes are left out, because written values may be active.
    """
    for i, value in enumerate(case.inputs.values):
        is_array = issubclass(type(value), np.ndarray) and is_inexact(value)
        if is_array and i not in reference.mutated:
            _check_constant(case, reference, derivatives, i)


def check_constant_numbers(case: Case, cycle: Cycle, atol: float, reference: Reference) -> None:
    """Check forward mode with each float or complex argument constant in turn.

    Parameters
    ----------
    case : Case
    cycle : Cycle
        After its reverse pass.
    atol : float
        Absolute tolerance.
    reference : Reference
    """
    for i, value in enumerate(case.inputs.values):
        if is_number(value) and is_inexact(value):
            constant_case = case.with_inputs(case.inputs, _variant(case, i))
            check_pushforward(constant_case, cycle, atol, reference.output, True, constant=i)


def _check_constant(
    case: Case, reference: Reference, derivatives: DerivativeTest | None, constant: int
) -> None:
    constant_case = case.with_inputs(case.inputs, _variant(case, constant))
    cycle = Cycle(constant_case, constant)
    check_output(constant_case, reference, cycle)
    check_inputs_after(constant_case, reference, cycle)
    cycle.seed(set(range(len(cycle.fdata))) - {constant})
    cycle.reverse()
    check_restored(constant_case, cycle)
    if derivatives is None:
        return
    skipped = {"all arguments together", *_sharing_memory(case, constant)}
    _check_output_active(constant_case, cycle, derivatives, skipped)
    derivatives.check(
        cycle,
        f"constant {path(constant)}",
        f"with NoFData() as the fdata of {path(constant)}, the other cotangents must stay as they "
        "are: do not compute with that fdata, and add to it by `d[...] += g` or increment only",
        skip=skipped,
    )


def _variant(case: Case, constant: int) -> str:
    constant_text = f"{path(constant)} constant"
    return f"{case.variant}, {constant_text}" if case.variant else constant_text


def _sharing_memory(case: Case, constant: int) -> set[str]:
    """Return the names of the inputs that share memory with the constant one, and its own."""
    array = case.inputs.values[constant]
    return {
        path(i)
        for i, value in enumerate(case.inputs.values)
        if any(
            issubclass(type(part), np.ndarray) and (part is array or overlap(part, array))
            for _, part in walk(value, "")
        )
    }


def _check_output_active(
    case: Case, cycle: Cycle, derivatives: DerivativeTest, skipped: set[str]
) -> None:
    """Check that an output that depends on another input has kept its fdata."""
    if not holds_nothing(cycle.output.fdata):
        return
    needed = fdata(zero_tangent(cycle.output.primal))
    if holds_nothing(needed):
        return
    for direction, name in derivatives.directions:
        if name not in skipped and direction.moves_output():
            raise failure(
                "fdata of the output",
                of=case.title,
                path="output",
                expected=f"fdata, as the output depends on {name}",
                got="NoFData()",
                hint="an output has NoFData() only if all it depends on is constant",
            )
