"""Cases for differences, convolutions and interpolation."""

from __future__ import annotations

from itertools import cycle, product

import numpy as np

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw
from tests.rules.cases.versions import since

__all__ = ["cases"]


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [*difference_cases(), *convolution_cases(), *interpolation_cases()]


def difference_cases() -> list[Case]:
    x, row = draw(3, 4), draw(6)
    places = np.array([0.0, 0.5, 1.5, 1.75, 3.0, 4.0])
    return [
        *(Case(np.diff, (x,), {"axis": axis}, f"axis={axis}") for axis in (-1, 0)),
        *(Case(np.diff, (x, n), label=f"n={n}") for n in (0, 1, 2, 3, 4, 6)),
        Case(np.diff, (row,), {"prepend": 0.5, "append": np.ones(2)}, "ends"),
        Case(np.diff, (row, 1, -1, draw(2), 1.5), label="active-ends"),
        Case(np.diff, (draw(4, dtype=complex),), label="complex"),
        Case(np.ediff1d, (x,), label="plain"),
        Case(np.ediff1d, (row, draw(2), 1.5), label="ends"),
        Case(np.gradient, (row,), label="row"),
        # Older ones assign to the shape of an array, which is refused.
        *since("2.4.0", Case(np.gradient, (row, places), label="places")),
        Case(np.gradient, (draw(4, 5), 0.5), {"axis": 1, "edge_order": 2}, "edge-order"),
        Case(np.gradient, (draw(4, 5),), label="all-axes"),
        Case(np.gradient, (row, 0.5), label="distance"),
        Case(np.gradient, (draw(4, 5), 0.5, 0.7), label="distances"),
        Case(np.trapezoid, (row,), label="row"),
        Case(np.trapezoid, (x,), {"dx": 0.5, "axis": 0}, "axis"),
        Case(np.trapezoid, (row, places), label="places"),
        Case(np.trapezoid, (draw(4, 6), places), label="places-of-rows"),
        Case(np.trapezoid, (row, None, 0.5), label="distance"),
        Case(np.unwrap, (3 * row,), label="row"),
    ]


def convolution_cases() -> list[Case]:
    lengths = ((5, 3), (3, 5), (4, 2), (2, 5), (3, 6), (4, 4), (3, 1), (1, 4))
    modes = ("full", "same", "valid")
    calls = [(function, *call) for function in (np.convolve, np.correlate)
             for call in product(lengths, modes)]  # fmt: skip
    return [
        *(
            Case(
                function,
                (draw(n, dtype=dtype), draw(m, dtype=dtype, seed=1), mode),
                label=f"{n}-{m}-{mode}-{dtype.__name__}",
            )
            # In turns: the tester also makes the arguments complex, all and one at a time.
            for (function, (n, m), mode), dtype in zip(calls, cycle((float, complex)), strict=False)
        ),
        Case(np.convolve, (draw(4), draw(2)), label="default"),
        Case(np.correlate, (draw(4), draw(2)), label="default"),
    ]


def interpolation_cases() -> list[Case]:
    x = np.array([[-0.5, 0.2, 0.7], [1.1, 2.9, 3.5]])
    xp, fp = np.array([0.0, 0.5, 1.5, 3.0]), draw(4)
    return [
        Case(np.interp, (x, xp, fp), label="array"),
        Case(np.interp, (1.1, xp, fp), label="number"),
        Case(np.interp, (x, xp, fp, 1.5, 2.5), label="outside"),
        Case(np.interp, (x, xp, draw(4, dtype=complex)), label="complex"),
        Case(np.interp, (x, xp[::-1] - 1.33, fp), {"period": 4.0}, "period"),
        Case(np.interp, (x, xp[::-1] - 1.33, fp, None, None, -4.0), label="active-period"),
        Case(np.interp, (xp, xp, fp), label="nodes", interface_only=True),
        Case(np.interp, (x, xp[:1], fp[:1]), label="one-node"),
    ]
