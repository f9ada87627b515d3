"""Cases for functions that make arrays."""

from __future__ import annotations

import numpy as np

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw
from tests.rules.cases.versions import since

__all__ = ["cases"]

PAIR = np.dtype((float, 2))


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [*constant_cases(), *conversion_cases(), *assembly_cases(), *range_cases()]


def constant_cases() -> list[Case]:
    x = draw(2, 3)
    return [
        *(Case(function, ((2, 3),), label="shape") for function in (np.zeros, np.ones)),
        *(Case(function, (3,), label="size") for function in (np.eye, np.identity)),
        *(Case(function, (x,), label="like") for function in (np.zeros_like, np.ones_like)),
        Case(np.empty, ((0, 3),), label="shape"),
        Case(np.empty_like, (draw(0, 3),), label="like"),
        Case(np.full, ((2, 3), 1.5), label="number"),
        Case(np.full, ((2, 3), draw(3)), label="row"),
        Case(np.full, (3, 1.5), {"dtype": np.float32}, "dtype", interface_only=True),
        Case(np.full_like, (x, 1.5), label="number"),
        Case(np.full_like, (x, draw(2, 1)), label="column"),
    ]


def conversion_cases() -> list[Case]:
    x = draw(2, 3)
    names = (np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.copy, np.array)
    return [
        *(Case(function, (x,), label="array") for function in names),
        *(Case(function, (1.5,), label="number") for function in names),
        *(Case(function, ([1.5, 2.5],), label="list") for function in names),
        Case(np.asarray, (x,), {"dtype": complex}, "to-complex"),
        Case(np.asarray, (x,), {"dtype": np.float32}, "to-float32", interface_only=True),
        Case(np.ascontiguousarray, (x.T,), label="transposed"),
        Case(np.array, (x,), {"copy": None}, "view"),
        Case(np.array, (x,), {"copy": None, "ndmin": 3}, "view-ndmin"),
        Case(np.array, (x,), {"ndmin": 4}, "ndmin"),
        Case(np.from_dlpack, (x,), label="view"),
        *since("2.1.0", Case(np.from_dlpack, (x,), {"copy": True}, "copy")),
        Case(np.copy, (x.T,), {"order": "C"}, "order"),
        Case(np.ndarray.copy, (x,), label="method"),
        Case(np.ndarray.__array_wrap__, (x, draw(3)), label="of-another"),
        Case(np.ndarray.__array__, (x,), label="itself"),
        Case(np.ndarray.__array__, (x, np.dtype(complex)), label="to-complex"),
        Case(np.ndarray.__array__, (x,), {"copy": True}, "copied"),
        Case(np.ndarray.__copy__, (x,), label="copy"),
        Case(np.ndarray.__deepcopy__, (x, {}), label="deepcopy"),
        Case(np.ndarray.astype, (x, complex), label="to-complex"),
        Case(np.ndarray.astype, (x, float), {"copy": False}, "same"),
        Case(np.ndarray.astype, (x, int), label="to-int", interface_only=True),
        Case(np.ndarray.astype, (x, np.float32), label="to-float32", interface_only=True),
        Case(np.astype, (x, complex), label="to-complex"),
    ]


def assembly_cases() -> list[Case]:
    a, b = draw(2), draw(2, seed=1)
    return [
        Case(np.array, ([[1.5, 2.5], [3.5, 4.5]],), label="nested"),
        Case(np.array, ([a, b],), label="arrays"),
        Case(np.array, (([a, [1.5, 2.5]], (b, a)),), label="mixed"),
        Case(np.array, ([1, 2.5, 3 + 1j],), label="kinds"),
        Case(np.array, ([1.5, 2.5],), {"ndmin": 3}, "ndmin"),
        Case(np.array, ([1.5, 2.5], complex), label="dtype"),
        Case(np.fromiter, ([1.5, 2.5, 3.5], float), label="list"),
        Case(np.fromiter, ([1.5, 2.5, 3.5], float, 2), label="count"),
        Case(np.fromiter, ([[1.5, 2.5], [3.5, 4.5]], PAIR), label="rows"),
        Case(np.fromiter, ([1.5, 2.5, 3.5], PAIR, 2), label="repeated"),
        Case(np.array, ([1.5, 2.5, 3.5], PAIR), label="repeated list"),
        # In Fortran order NumPy leaves the second of each pair as it was in memory.
        Case(
            np.array,
            (draw(3, 2), PAIR),
            {"ndmin": 4},
            label="repeated",
            options={"layouts": False},
        ),
        Case(np.asarray, (draw(3), PAIR), label="repeated"),
        Case(np.ndarray.astype, (draw(2), PAIR), label="repeated"),
    ]


def range_cases() -> list[Case]:
    return [
        Case(np.arange, (5.5,), label="stop"),
        Case(np.arange, (0.5, 4.2), label="start"),
        Case(np.arange, (0.5, 4.2, 0.6), label="step"),
        *(
            Case(np.linspace, (0.5, 2.5, num), kwargs, f"{num}-{label}")
            for num in (5, 1, 0)
            for label, kwargs in (
                ("closed", {}),
                ("open", {"endpoint": False}),
                ("step", {"retstep": True}),
            )
            if not (label == "step" and num < 2)
        ),
        Case(np.linspace, (draw(3), draw(3, seed=1), 4), {"axis": -1}, "arrays"),
        Case(np.linspace, (draw(2, 1), draw(3), 4), {"retstep": True}, "broadcast"),
        Case(np.linspace, (0.5, 1 + 2j, 4), label="complex"),
        Case(np.logspace, (0.5, 1.5, 4), label="numbers"),
        Case(np.geomspace, (0.5, 8.5, 4), label="numbers"),
        Case(np.meshgrid, (draw(2), draw(3)), label="xy"),
        Case(np.meshgrid, (draw(2), draw(3)), {"indexing": "ij"}, "ij"),
        Case(np.meshgrid, (draw(2), draw(3), 1.5), label="three"),
        Case(np.meshgrid, (draw(2), draw(3)), {"sparse": True}, "sparse"),
        Case(np.meshgrid, (draw(2),), label="one"),
        Case(np.vander, (draw(3),), label="square"),
        Case(np.vander, (draw(3), 4), {"increasing": True}, "increasing"),
    ]
