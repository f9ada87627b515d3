"""Cases for norms and condition numbers."""

from __future__ import annotations

import numpy as np

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw
from tests.rules.cases.matrices import regular

__all__ = ["cases"]


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [*norm_cases(), *condition_cases()]


def norm_cases() -> list[Case]:
    x, a, tied = draw(4), draw(2, 3), np.array([2.0, -2.0, 1.0])
    orders = (None, 2, 1, 3, 1.5, np.inf, -np.inf, -2)
    matrix_orders = ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
    return [
        *(Case(np.linalg.norm, (x,), {"ord": order}, f"vector-{order}") for order in orders),
        *(Case(np.linalg.norm, (a,), {"ord": order}, f"matrix-{order}") for order in matrix_orders),
        Case(np.linalg.norm, (x, 0), label="vector-0"),
        Case(np.linalg.norm, (draw(2, 3, 2),), label="all"),
        Case(np.linalg.norm, (a,), {"axis": 0}, "axis"),
        Case(np.linalg.norm, (a, 3), {"axis": -1, "keepdims": True}, "axis-keepdims"),
        Case(np.linalg.norm, (draw(2, 3, 4), 2), {"axis": (2, 0)}, "two-axes"),
        Case(np.linalg.norm, (draw(3, dtype=complex), 3), label="complex"),
        Case(np.linalg.norm, (np.zeros(3),), label="zero", interface_only=True),
        Case(np.linalg.norm, (tied,), {"ord": np.inf}, "tie", interface_only=True),
        Case(np.linalg.norm, (np.zeros((2, 3)), "nuc"), label="nuc-zero", interface_only=True),
        Case(np.linalg.norm, (draw(2, 3, 4), "nuc"), {"axis": (-1, 0)}, "nuc-negative-axes"),
        Case(np.linalg.norm, (draw(2, 3, 4), -2), {"axis": (1, 2), "keepdims": True}, "stack"),
        Case(np.linalg.norm, (draw(2, 3, dtype=complex), "nuc"), label="complex-nuc"),
        Case(np.linalg.norm, (a[:, ::2].T,), {"ord": 1}, "strided"),
        Case(np.linalg.norm, (draw(0),), label="empty"),
        *(
            Case(np.linalg.vector_norm, (a,), options, f"derived-{options}")
            for options in (
                {},
                {"axis": 1},
                {"axis": (0, 1), "ord": 3},
                {"keepdims": True, "ord": 1},
            )
        ),
        *(
            Case(np.linalg.matrix_norm, (draw(2, 3, 4),), options, f"derived-{options}")
            for options in ({}, {"ord": "nuc"}, {"ord": 2, "keepdims": True}, {"ord": -np.inf})
        ),
    ]


def condition_cases() -> list[Case]:
    orders = (None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc")
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    plain = {"layouts": False}  # of a matrix with equal rows it is infinite, up to rounding
    matrices = {"": regular(3, 3), "-stack": regular(2, 3, 3)}
    return [
        *(
            Case(np.linalg.cond, (x, order), label=f"{order}{label}", options=plain)
            for order in orders
            for label, x in matrices.items()
        ),
        Case(np.linalg.cond, (regular(6, 6)[::2, ::-2],), label="strided", options=plain),
        Case(np.linalg.cond, (draw(4, 2, dtype=complex),), label="complex-tall", options=plain),
        Case(np.linalg.cond, (draw(2, 4),), {"p": -2}, "wide"),
        Case(np.linalg.cond, (np.array([[1.5]]),), label="one-by-one"),
        Case(np.linalg.cond, (np.stack([singular, np.eye(2) * 2]), 1), label="singular",
             interface_only=True),
    ]  # fmt: skip
