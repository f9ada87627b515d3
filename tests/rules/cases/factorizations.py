"""Cases for Cholesky and QR factorizations."""

from __future__ import annotations

import numpy as np

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw
from tests.rules.cases.matrices import definite

__all__ = ["cases"]


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [*cholesky_cases(), *qr_cases()]


def cholesky_cases() -> list[Case]:
    return [
        Case(np.linalg.cholesky, (definite(3, 3),)),
        Case(np.linalg.cholesky, (definite(2, 3, 3, dtype=complex),), label="complex-stack"),
        Case(np.linalg.cholesky, (definite(3, 3),), {"upper": True}, "upper"),
        Case(np.linalg.cholesky, (definite(3, 3, dtype=complex),), {"upper": True}, "upper-phases"),
        Case(np.linalg.cholesky, (np.asfortranarray(definite(3, 3)),), label="fortran"),
        Case(np.linalg.cholesky, (definite(1, 1),), label="one-by-one"),
        Case(np.linalg.cholesky, (draw(0, 0),), label="empty"),
        Case(
            np.linalg.cholesky,
            (definite(3, 3) + np.triu(draw(3, 3), 1),),
            label="other-triangle-unread",
        ),
    ]


def complement(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return R, and the projection on the complement of the columns of A."""
    q, r = np.linalg.qr(a, "complete")
    rest = q[..., a.shape[-1] :]
    return r, rest @ np.conj(np.swapaxes(rest, -1, -2))


def qr_cases() -> list[Case]:
    # With equal rows the matrix is singular, and QR has no derivative.
    plain = {"layouts": False}
    shapes = {"square": (3, 3), "tall": (4, 2), "wide": (2, 4), "stack": (2, 4, 3),
              "wide-stack": (2, 2, 3), "column": (3, 1), "one-by-one": (1, 1)}  # fmt: skip
    return [
        *(
            Case(np.linalg.qr, (draw(*shape, dtype=dtype), mode),
                 label=f"{label}-{mode}-{dtype.__name__}", options=plain)
            for label, shape in shapes.items()
            for mode in ("reduced", "r", "raw")
            for dtype in (float, complex)
        ),
        Case(np.linalg.qr, (draw(2, 4),), {"mode": "complete"}, "complete-wide", options=plain),
        *(
            Case(complement, (draw(*shape, dtype=dtype),), label=f"{shape}-{dtype.__name__}",
                 options={**plain, "forward": False})  # a basis of a space has no tangent
            for shape in ((4, 2), (2, 4, 2))
            for dtype in (float, complex)
        ),
        Case(np.linalg.qr, (draw(3, 8)[:, ::2].T,), label="strided", options=plain),
        Case(np.linalg.qr, (draw(0, 2),), label="no-rows"),
        Case(np.linalg.qr, (draw(2, 0),), label="no-columns"),
    ]  # fmt: skip
