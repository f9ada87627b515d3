"""Checks of first derivatives at special points, where a function may have a kink."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from mooncake_py.tangents import difference, scale
from mooncake_py.testing.case import Case, path
from mooncake_py.testing.compare import largest_number
from mooncake_py.testing.cycle import Cycle, split_tangent
from mooncake_py.testing.derivative_checks import Tolerance, component_bytes
from mooncake_py.testing.failure import failure
from mooncake_py.testing.finite_differences import Direction, random_direction
from mooncake_py.testing.forward_checks import Reference
from mooncake_py.testing.left_out import NO_DERIVATIVE, LeftOut
from mooncake_py.testing.pairing import Pairing
from mooncake_py.testing.smoothness import is_smooth
from mooncake_py.testing.stencil import Disagreement, Stencil
from mooncake_py.testing.structure import walk_all

__all__ = ["check_special_derivatives"]

_HINT = (
    "right elsewhere and wrong here: look for a branch of the rule that is for this point, such "
    "as `np.where(x == 0, ...)`, and for a mask of ties"
)


def check_special_derivatives(
    case: Case, cycle: Cycle, reference: Reference, atol: float, left_out: LeftOut
) -> None:
    """Compare cotangents with differences along each argument, unless these show a kink.

    Parameters
    ----------
    case : Case
        The check at the special point.
    cycle : Cycle
        After its reverse pass.
    reference : Reference
        The results of the function there.
    atol : float
        Absolute tolerance.
    left_out : LeftOut
        Gets the point if there is a kink.
    """
    values = (case.inputs.values, reference.output)
    if min((component_bytes(part) for _, part in walk_all([("", values)])), default=8) < 8:
        return  # differences in single precision say nothing about a kink
    rtol = Tolerance.choose(values, None, 0.0, differences_rounded=True).rtol
    sizes = [("", reference.output), ("", reference.inputs.values)]
    noise = 1e-9 * largest_number(sizes)
    rng = case.rng(1)
    inputs = case.differentiated(case.inputs)
    for i in range(len(inputs.values)):
        direction = random_direction(inputs, {i}, rng)
        if direction is None:
            continue
        product = Pairing()  # of this argument alone: others may have infinite cotangents
        product.add(cycle.fdata[i], direction.tangents[i])
        product.add(cycle.rdata[i], direction.tangents[i])
        found = np.array([product.value])
        line = line_along(direction, cycle, reference)
        wrong = line.refute(found, 10 * rtol, atol + noise)
        if wrong is None:
            continue
        if is_smooth(case, reference.mutated):
            raise disagreement(case, path(i), wrong)
        left_out.add(case.variant, NO_DERIVATIVE)
        return


def line_along(direction: Direction, cycle: Cycle, reference: Reference) -> Stencil:
    """Return the results along a direction, paired with the cotangents of a cycle."""
    return Stencil(lambda t: pairing_at(direction, cycle, reference, t), direction.size)


def pairing_at(direction: Direction, cycle: Cycle, reference: Reference, t: float) -> Any:
    """Return <cotangents on exit, change of the results>, as a vector of one number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            moved = direction.inputs.copy().moved(scale(t, direction.tangents))
            results = moved.call(), moved.values
            dy, dxs = split_tangent(
                difference(results, (reference.output, reference.inputs.values)), 2
            )
            product = cycle.pair_exit(dy, split_tangent(dxs, len(direction.tangents)))
        except Exception:
            return None  # outside the domain of the function
    return np.array([product.value])


def disagreement(case: Case, where: str, wrong: Disagreement) -> Exception:
    """Return the failure for a derivative that differences refute."""
    return failure(
        "derivative at a special point",
        of=case.title,
        path=where,
        expected=f"{wrong.expected:.12e}  (finite differences)",
        got=f"{wrong.got:.12e}  (cotangents of the rule)",
        details=wrong.ladder(),
        hint=_HINT,
    )
