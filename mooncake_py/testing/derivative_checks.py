"""Checks of cotangents against finite differences."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mooncake_py.testing.case import Case, Inputs, path
from mooncake_py.testing.compare import largest_number
from mooncake_py.testing.cycle import Cycle
from mooncake_py.testing.failure import failure
from mooncake_py.testing.finite_differences import Direction, Estimate, random_direction
from mooncake_py.testing.forward_checks import Reference
from mooncake_py.testing.pairing import Pairing
from mooncake_py.testing.structure import is_inexact, walk_all

__all__ = [
    "DerivativeTest",
    "Tolerance",
    "component_bytes",
    "promoted",
]

_NOISE = 1e-12
"""Rounding error of a difference of order-one results at the largest steps, per unit."""

_DEFAULT_RTOL = {2: 5e-2, 4: 1e-3}
"""By the bytes of a real component; 1e-6 for float64 and longer."""


@dataclass(frozen=True)
class Tolerance:
    """The tolerance for finite differences: ``atol + rtol * magnitude``."""

    rtol: float
    atol: float

    @classmethod
    def choose(
        cls, values: Any, rtol: float | None, atol: float, *, differences_rounded: bool
    ) -> Tolerance:
        """Choose the tolerance for the least precise number among some values.

        Parameters
        ----------
        values : object
            The inputs and the output.
        rtol : float or None
            The user's choice; None for the default of the precision.
        atol : float
            The absolute tolerance.
        differences_rounded : bool
            True if the differences use that precision too, which costs two thirds of its digits.
        """
        unit = min((component_bytes(part) for _, part in walk_all([("", values)])), default=8)
        if rtol is None:
            rtol = _DEFAULT_RTOL.get(unit, 1e-6)
            if differences_rounded and unit in _DEFAULT_RTOL:
                rtol = 10 * rtol
        return cls(rtol, atol)


def component_bytes(value: Any) -> int:
    """Return the bytes of a real component of an array or a number; 16 for anything else."""
    dtype = getattr(value, "dtype", None)
    if dtype is None or not is_inexact(value):
        return 16
    return dtype.itemsize // (2 if dtype.kind == "c" else 1)


def promoted(inputs: Inputs) -> Inputs | None:
    """Return a copy with half and single precision promoted to double, or None.

    None if there is nothing to promote, or if the function rejects the result.
    """
    if all(component_bytes(part) >= 8 for _, part in walk_all(inputs.roots())):
        return None
    copied = inputs.copy(_to_double)
    try:
        copied.copy().call()
    except Exception:
        return None  # a function for single precision only: its differences must do
    return copied


def _to_double(value: Any) -> Any:
    dtype = getattr(value, "dtype", None)
    if dtype is None or component_bytes(value) >= 8:
        return np.array(value, order="K") if issubclass(type(value), np.ndarray) else value
    wide = np.complex128 if dtype.kind == "c" else np.float64
    return (
        np.array(value, dtype=wide, order="K")
        if issubclass(type(value), np.ndarray)
        else wide(value)
    )


class DerivativeTest:
    """Directions at one point, along which cycles are compared with finite differences.

    Parameters
    ----------
    case : Case
        The rule and the point.
    reference : Reference
        The results of the function there.
    directions : int
        Number of random directions for each input.
    rtol, atol : float or None
        See :meth:`Tolerance.choose`.
    """

    def __init__(
        self, case: Case, reference: Reference, directions: int, rtol: float | None, atol: float
    ) -> None:
        self.case = case
        inputs = case.differentiated(case.inputs)
        double = promoted(inputs)
        point = inputs if double is None else double
        self.tolerance = Tolerance.choose(
            (case.inputs.values, reference.output), rtol, atol, differences_rounded=double is None
        )
        results = [("", reference.output), ("", reference.inputs.values)]
        self.result_size = largest_number(results)
        rng = case.rng(1)
        every = set(range(len(point.values)))
        chosen = [({i}, path(i)) for i in sorted(every) for _ in range(directions)]
        if len(every) > 2 and directions > 1:
            chosen.append((every, "all arguments together"))
        found = [(random_direction(point, moved, rng), name) for moved, name in chosen]
        self.directions = [(d, name) for d, name in found if d is not None]

    def check(self, cycle: Cycle, check: str, hint: str, skip: Iterable[str] = ()) -> None:
        """Compare a cycle with the differences along each direction, and raise on disagreement.

        Parameters
        ----------
        cycle : Cycle
            After its reverse pass.
        check, hint : str
            For the message.
        skip : iterable of str
            Names of directions to leave out.
        """
        noise = _NOISE * self.result_size * _square_norm(cycle)
        for direction, name in self.directions:
            if name not in skip:
                self._check_direction(cycle, direction, name, noise / direction.size, check, hint)

    def _check_direction(
        self, cycle: Cycle, direction: Direction, name: str, noise: float, check: str, hint: str
    ) -> None:
        entry = cycle.pair_entry(direction.tangents)
        tried: list[tuple[Estimate, float]] = []
        for step, estimate in direction.estimates(cycle.pair_exit):
            error = abs(estimate.value - entry.value)
            size = max(estimate.magnitude, entry.magnitude)
            if error <= self.tolerance.atol + noise + self.tolerance.rtol * size:
                direction.prefer(step)
                return
            tried.append((estimate, error / size if size else math.inf))
        if not tried:
            raise self._no_differences(name)
        raise self._disagreement(entry, tried, name, check, hint)

    def _no_differences(self, name: str) -> Exception:
        return failure(
            "finite differences",
            of=self.case.title,
            path=name,
            expected="results at nearby inputs",
            got="exceptions or values that are not finite, at every step",
            hint="choose inputs inside the function's domain, or pass interface_only=True at "
            "points where the derivative does not exist",
        )

    def _disagreement(
        self,
        entry: Pairing,
        tried: list[tuple[Estimate, float]],
        name: str,
        check: str,
        hint: str,
    ) -> Exception:
        best = min(tried, key=lambda pair: pair[1] if math.isfinite(pair[1]) else math.inf)[0]
        ladder = [f"  {e.label:<27} {e.value: .12e}  off by {off:.1e}" for e, off in tried]
        rows = [
            f"tolerance: {self.tolerance.rtol:.0e} of the terms",
            "steps (central differences, relative step; pairs are extrapolated):",
            *ladder,
        ]
        return failure(
            check,
            of=self.case.title,
            path=name,
            expected=f"{best.value:.12e}  (finite differences, {best.label})",
            got=f"{entry.value:.12e}  (cotangents of the rule)",
            details="\n".join(rows),
            hint=hint,
        )


def _square_norm(cycle: Cycle) -> float:
    """Return the sum of the squares of the cotangents on exit."""
    product = Pairing()
    for part in (*cycle.exit_cotangents[0], *cycle.exit_cotangents[1:]):
        product.add(part, part)
    return product.magnitude
