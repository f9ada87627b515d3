"""Cases for linear systems, inverses and determinants."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw
from tests.rules.cases.matrices import regular

__all__ = ["cases"]


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [*system_cases(), *inverse_cases(), *product_cases(), *determinant_cases()]


def system_cases() -> list[Case]:
    a, b = regular(3, 3), draw(3, 2)
    shapes: dict[str, tuple[Any, Any]] = {
        "vector": (a, draw(3)),
        "matrix": (a, b),
        "broadcast": (regular(4, 3, 3), b),
        "stack-vector": (regular(4, 3, 3), draw(3)),
        "one-for-all": (a, draw(4, 3, 2)),
        "both-stretched": (regular(4, 1, 3, 3), draw(2, 3, 1)),
        "one-by-one": (regular(1, 1), draw(1, 2)),
        "complex": (regular(3, 3, dtype=complex), b),
        "fortran": (np.asfortranarray(a), b[::-1]),
        "no-columns": (a, draw(3, 0)),
        "no-equations": (draw(0, 0), draw(0, 2)),
    }
    tensor = draw(2, 3, 6) + np.eye(6).reshape(2, 3, 6) * 4
    return [
        *(Case(np.linalg.solve, args, label=label) for label, args in shapes.items()),
        Case(np.linalg.tensorsolve, (tensor, draw(2, 3))),
        Case(np.linalg.tensorsolve, (np.moveaxis(tensor, 2, 0), draw(2, 3), (0,)), label="axes"),
        Case(np.linalg.tensorinv, (np.moveaxis(tensor, 2, 0),), {"ind": 1}, "derived"),
        Case(np.linalg.tensorinv, (regular(6, 6).reshape(2, 3, 3, 2),), label="derived-ind-2"),
    ]


def inverse_cases() -> list[Case]:
    return [
        Case(np.linalg.inv, (regular(3, 3),)),
        Case(np.linalg.inv, (regular(1, 1),), label="one-by-one"),
        Case(np.linalg.inv, (draw(0, 0),), label="empty"),
        Case(np.linalg.inv, (regular(2, 3, 3, dtype=complex),), label="complex-stack"),
        *(
            Case(np.linalg.matrix_power, (regular(3, 3), n), label=f"derived-{n}")
            for n in (-3, -1, 0, 1, 2, 3, 5)
        ),
        Case(np.linalg.matrix_power, (regular(2, 3, 3, dtype=complex), -2), label="derived-stack"),
        Case(np.linalg.matrix_rank, (draw(3, 2),)),
    ]


def product_cases() -> list[Case]:
    a, b = draw(2, 3, 4), draw(2, 3, 4, seed=1)
    return [
        Case(np.linalg.multi_dot, ([draw(2, 3), draw(3, 4), draw(4, 2)],), label="derived"),
        Case(np.linalg.multi_dot, ([draw(3), draw(3, 4), draw(4, 2), draw(2)],), label="vectors"),
        Case(np.linalg.multi_dot, ([draw(2, 3), draw(3, 2)],), label="derived-two"),
        Case(np.linalg.trace, (a,), {"offset": 1}, "derived"),
        Case(np.linalg.diagonal, (a,), {"offset": -1}, "derived"),
        Case(np.linalg.matrix_transpose, (a,), label="derived"),
        Case(np.linalg.cross, (draw(3, 2), draw(3, 2)), {"axis": 0}, "derived"),
        Case(np.linalg.vecdot, (a, b), {"axis": 1}, "axis"),
    ]


def determinant_cases() -> list[Case]:
    return [
        Case(np.linalg.det, (draw(3, 3),)),
        Case(np.linalg.det, (draw(1, 1),), label="one-by-one"),
        Case(np.linalg.det, (draw(0, 0),), label="empty"),
        Case(np.linalg.det, (draw(2, 3, 3, dtype=complex),), label="complex-stack"),
        Case(np.linalg.det, (np.outer(draw(3), draw(3)),), label="rank-one"),
        Case(np.linalg.det, (np.diag([1.0, 2.0, 0.0]),), label="rank-two"),
        Case(np.linalg.slogdet, (draw(3, 3),)),
        Case(np.linalg.slogdet, (draw(1, 1),), label="one-by-one"),
        Case(np.linalg.slogdet, (draw(2, 3, 3, dtype=complex),), label="complex-stack"),
    ]
