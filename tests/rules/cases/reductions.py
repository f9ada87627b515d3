"""Cases for sums, means, products, variances and extrema."""

from __future__ import annotations

import numpy as np

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw
from tests.rules.cases.versions import NUMPY

__all__ = ["cases"]

MASK = np.array([[True, False, True], [True, True, False]])
AXES = (None, 0, -1, (0, 2), (-1, 1), ())


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [
        *sum_cases(),
        *mean_cases(),
        *variance_cases(),
        *product_cases(),
        *extremum_cases(),
        *cumulative_cases(),
        *ufunc_cases(),
        *nan_cases(),
        *derived_cases(),
    ]


def sum_cases() -> list[Case]:
    x, z = draw(2, 3, 4), draw(2, 3, dtype=complex)
    return [
        *(Case(np.sum, (x,), {"axis": axis}, f"axis={axis}") for axis in AXES),
        Case(np.sum, (x, 1), label="positional"),
        Case(np.sum, (x,), {"axis": 1, "keepdims": True}, "keepdims"),
        Case(np.sum, (x,), {"axis": (0, -1), "keepdims": True}, "keepdims-two"),
        Case(np.sum, (draw(2, 3),), {"axis": 0, "where": MASK}, "where"),
        Case(np.sum, (draw(2, 3),), {"where": MASK[0], "initial": 2.0}, "where-broadcast"),
        Case(np.sum, (x,), {"axis": 0, "initial": 3.0}, "initial"),
        Case(np.sum, (x,), {"axis": 0, "dtype": np.float32}, "dtype", interface_only=True),
        Case(np.sum, (z,), {"axis": 0}, "complex"),
        Case(np.sum, (draw(3, 0),), {"axis": 1}, "empty"),
        Case(np.sum, (np.array(1.5),), label="0-d"),
        Case(np.sum, (1.5,), label="number"),
        Case(np.sum, ([draw(3), draw(3, seed=1)],), {"axis": 0}, "list"),
        Case(np.ndarray.sum, (x,), label="method"),
        Case(np.ndarray.sum, (x, (0, 1)), {"keepdims": True}, "method-keepdims"),
    ]


def mean_cases() -> list[Case]:
    x = draw(2, 3, 4)
    return [
        *(Case(np.mean, (x,), {"axis": axis}, f"axis={axis}") for axis in AXES),
        Case(np.mean, (x, 1), {"keepdims": True}, "keepdims"),
        Case(np.mean, (draw(2, 3),), {"axis": 0, "where": MASK}, "where"),
        Case(np.mean, (draw(2, 3),), {"where": MASK, "keepdims": True}, "where-keepdims"),
        Case(np.mean, (draw(2, 3, dtype=complex),), {"axis": 1}, "complex"),
        Case(np.ndarray.mean, (x, -1), label="method"),
    ]


def variance_cases() -> list[Case]:
    x, z = draw(2, 3, 4), draw(2, 3, dtype=complex)
    found = []
    for function in (np.var, np.std):
        found += [
            *(Case(function, (x,), {"axis": axis}, f"axis={axis}") for axis in AXES if axis != ()),
            Case(function, (x,), {"axis": 1, "ddof": 1}, "ddof"),
            Case(function, (x,), {"axis": 1, "correction": 1}, "correction"),
            Case(function, (x,), {"axis": (0, 2), "keepdims": True}, "keepdims"),
            Case(function, (draw(2, 3),), {"axis": 1, "where": MASK, "ddof": 1}, "where"),
            Case(function, (draw(2, 3),), {"mean": np.array(0.25)}, "mean"),
            Case(function, (z,), {"axis": 1}, "complex"),
            Case(function, (np.ones((2, 3)),), {"axis": 1}, "constant", interface_only=True),
        ]
    return [
        *found,
        Case(np.ndarray.var, (x, 0), {"ddof": 1}, "method"),
        Case(np.ndarray.std, (x, 0), {"ddof": 1}, "method"),
    ]


def product_cases() -> list[Case]:
    x = draw(2, 3, 4)
    zeros = draw(3, 4)
    zeros[0, 1] = zeros[1, 0] = zeros[1, 2] = 0.0
    return [
        *(Case(np.prod, (x,), {"axis": axis}, f"axis={axis}") for axis in AXES),
        Case(np.prod, (x,), {"axis": (0, 2), "keepdims": True}, "keepdims"),
        Case(np.prod, (zeros,), {"axis": 1}, "zeros"),
        Case(np.prod, (zeros,), label="all-zeros"),
        Case(np.prod, (draw(2, 3),), {"axis": 1, "where": MASK, "initial": 2.0}, "where"),
        Case(np.prod, (draw(2, 3, dtype=complex),), {"axis": 1, "initial": 1 + 2j}, "complex"),
        Case(np.prod, (draw(0),), label="empty"),
        Case(np.ndarray.prod, (x, 1), label="method"),
    ]


def extremum_cases() -> list[Case]:
    x = draw(2, 3, 4)
    ties = np.array([[1.0, 2.0, 2.0], [3.0, 3.0, 3.0]])
    found = []
    for function in (np.max, np.amax, np.min, np.amin):
        found += [
            *(Case(function, (x,), {"axis": axis}, f"axis={axis}") for axis in AXES),
            Case(function, (x,), {"axis": (0, 2), "keepdims": True}, "keepdims"),
            Case(function, (draw(2, 3),), {"where": MASK, "initial": 0.3}, "where"),
            Case(function, (ties,), {"axis": 1}, "ties", interface_only=True),
        ]
    return [
        *found,
        *(Case(np.ptp, (x,), {"axis": axis}, f"axis={axis}") for axis in (None, 1, (0, 2))),
        Case(np.ptp, (x, 1), {"keepdims": True}, "keepdims"),
        Case(np.ndarray.max, (x, 0), label="method"),
        Case(np.ndarray.min, (x,), {"axis": -1, "keepdims": True}, "method"),
    ]


def cumulative_cases() -> list[Case]:
    x, z = draw(2, 3, 4), draw(2, 3, dtype=complex)
    zeros = draw(3, 4)
    zeros[0, 1] = zeros[1, 0] = zeros[1, 2] = 0.0
    found = []
    for function in (np.cumsum, np.cumprod):
        found += [
            *(Case(function, (x,), {"axis": axis}, f"axis={axis}") for axis in (None, 0, 1, -1)),
            Case(function, (zeros,), {"axis": 1}, "zeros"),
            Case(function, (zeros,), label="zeros-flat"),
            Case(function, (z,), {"axis": 1}, "complex"),
            Case(function, (draw(2, 0),), {"axis": 1}, "empty"),
            Case(function, (np.array(1.5),), {"axis": 0}, "0-d"),
        ]
    return [
        *found,
        Case(np.ndarray.cumsum, (x, 1), label="method"),
        Case(np.ndarray.cumprod, (x, 1), label="method"),
    ]


def ufunc_cases() -> list[Case]:
    x = draw(3, 4)
    return [
        *(
            Case(ufunc.reduce, (x,), kwargs, f"{ufunc.__name__}-{label}")
            for ufunc in (np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin)
            for label, kwargs in (("default", {}), ("all", {"axis": None, "keepdims": True}))
        ),
        *(
            Case(ufunc.accumulate, (x,), kwargs, f"{ufunc.__name__}-{label}")
            for ufunc in (np.add, np.multiply)
            for label, kwargs in (("default", {}), ("axis", {"axis": -1}))
        ),
    ]


def nan_cases() -> list[Case]:
    """Return cases with nan among the elements: neighbours must be right, and they zero."""
    x = draw(3, 4)
    x[0, 1] = x[2, 2] = np.nan
    reductions = (np.nansum, np.nanprod, np.nanmean, np.nanvar, np.nanstd, np.nanmax, np.nanmin)
    return [
        *(
            Case(function, (array,), kwargs, f"{label}-{numbers}", interface_only=numbers == "nan")
            for function in reductions
            for label, kwargs in (("all", {}), ("axis", {"axis": 1}), ("keep", {"keepdims": True}))
            for numbers, array in (("nan", x), ("plain", draw(3, 4)))
        ),
        *(
            Case(
                function,
                (array,),
                {"axis": axis},
                f"{axis}-{label}",
                interface_only=label == "nan",
            )
            for function in (np.nancumsum, np.nancumprod)
            for axis in (None, 1)
            for label, array in (("nan", x), ("plain", draw(3, 4)))
        ),
    ]


def derived_cases() -> list[Case]:
    """Return cases of functions that are derived from NumPy's Python source."""
    x = draw(3, 4)
    weights = np.array([0.2, 0.5, 0.3, 0.7])
    return [
        Case(np.average, (x,), label="plain"),
        Case(np.average, (x,), {"axis": 1, "weights": weights}, "weights"),
        Case(np.average, (x, 1), {"weights": weights, "keepdims": True}, "keepdims"),
        *standard_cases(),
    ]


def standard_cases() -> list[Case]:
    """Return cases of functions that came with the array API standard."""
    if NUMPY < "2.1.0":
        return []
    x = draw(3, 4)
    return [
        Case(np.cumulative_sum, (x,), {"axis": 1}, "axis"),
        Case(np.cumulative_sum, (draw(5),), {"include_initial": True}, "initial"),
        Case(np.cumulative_prod, (x,), {"axis": 1}, "axis"),
    ]
