"""Cases for linear algebra and norms."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw

__all__ = ["cases"]


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [*system_cases(), *determinant_cases(), *hermitian_cases(), *svd_cases(), *norm_cases()]


def regular(*shape: int, dtype: Any = float) -> np.ndarray:
    """Return matrices with a dominant diagonal."""
    return draw(*shape, dtype=dtype) + 3 * np.eye(shape[-1])


def definite(*shape: int, dtype: Any = float) -> np.ndarray:
    """Return positive definite matrices with distinct eigenvalues."""
    x = draw(*shape, dtype=dtype)
    return x @ x.conj().swapaxes(-1, -2) + np.diag(np.arange(1.0, shape[-1] + 1))


def system_cases() -> list[Case]:
    b = draw(3, 2)
    return [
        Case(np.linalg.solve, (regular(3, 3), draw(3)), label="vector"),
        Case(np.linalg.solve, (regular(3, 3), b), label="matrix"),
        Case(np.linalg.solve, (regular(4, 3, 3), b), label="broadcast"),
        Case(np.linalg.solve, (regular(4, 3, 3), draw(3)), label="stack-vector"),
        Case(np.linalg.solve, (regular(3, 3, dtype=complex), b), label="complex"),
        Case(np.linalg.inv, (regular(3, 3),)),
        Case(np.linalg.inv, (regular(2, 3, 3, dtype=complex),), label="complex-stack"),
        Case(np.linalg.pinv, (draw(4, 2),), label="tall"),
        Case(np.linalg.pinv, (draw(2, 2, 3),), label="wide-stack"),
        Case(np.linalg.pinv, (definite(3, 3),), {"hermitian": True}, "hermitian"),
        Case(np.linalg.matrix_rank, (draw(3, 2),)),
        Case(np.linalg.matrix_power, (draw(3, 3), 3), label="derived"),
        Case(np.linalg.multi_dot, ([draw(2, 3), draw(3, 4), draw(4, 2)],), label="derived"),
    ]


def determinant_cases() -> list[Case]:
    return [
        Case(np.linalg.det, (draw(3, 3),)),
        Case(np.linalg.det, (draw(2, 3, 3, dtype=complex),), label="complex-stack"),
        Case(np.linalg.det, (np.outer(draw(3), draw(3)),), label="rank-one"),
        Case(np.linalg.det, (np.diag([1.0, 2.0, 0.0]),), label="rank-two"),
        Case(np.linalg.slogdet, (draw(3, 3),)),
        Case(np.linalg.slogdet, (draw(2, 3, 3, dtype=complex),), label="complex-stack"),
    ]


def hermitian_cases() -> list[Case]:
    return [
        Case(np.linalg.cholesky, (definite(3, 3),)),
        Case(np.linalg.cholesky, (definite(2, 3, 3, dtype=complex),), label="complex-stack"),
        Case(np.linalg.cholesky, (definite(3, 3),), {"upper": True}, "upper"),
        # With complex numbers the phase of a vector is an accident of the algorithm.
        Case(np.linalg.eigh, (definite(3, 3),), options={"dtypes": False}),
        Case(np.linalg.eigh, (definite(3, 3), "U"), label="U", options={"dtypes": False}),
        Case(np.linalg.eigvalsh, (definite(3, 3),)),
        Case(np.linalg.eigvalsh, (definite(2, 3, 3, dtype=complex), "U"), label="complex-stack"),
    ]


def singular_pairs(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the singular values, and for each of them its left times its right vector.

    The vectors alone are determined up to a sign or a phase, which jumps between neighbouring
    matrices; the products u_i conj(v_j) are not.
    """
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return s, u[..., :, :, None] * vh[..., None, :, :]


def singular_projections(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return weighted sums of the projections on the left and on the right singular vectors."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    weights = np.arange(1.0, s.shape[-1] + 1)
    left = (u * weights) @ np.conj(np.swapaxes(u, -1, -2))
    return left, np.conj(np.swapaxes(vh, -1, -2)) @ (weights[:, None] * vh)


def svd_cases() -> list[Case]:
    thin = {"full_matrices": False}
    shapes = {"square": (3, 3), "tall": (4, 2), "wide": (2, 4), "stack": (2, 2, 3)}
    # With equal rows the singular vectors have no derivative, nor those of full matrices a rule.
    plain = {"layouts": False}
    return [
        *(
            Case(
                function, (draw(*shape, dtype=dtype),), label=f"{label}-{dtype.__name__}",
                options=plain,
            )
            for function in (singular_pairs, singular_projections)
            for label, shape in shapes.items()
            for dtype in (float, complex)
        ),
        Case(singular_pairs, (draw(2, 6).T[::2],), label="strided", options=plain),
        Case(np.linalg.svd, (draw(3, 3),), label="square", interface_only=True, options=plain),
        Case(np.linalg.svd, (draw(4, 2),), thin, "tall", interface_only=True),
        Case(np.linalg.svd, (draw(3, 2),), {"compute_uv": False}, "values"),
        Case(np.linalg.svdvals, (draw(2, 3),), label="derived"),
    ]


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
        Case(np.linalg.vector_norm, (a,), {"axis": 1}, "derived"),
        Case(np.linalg.matrix_norm, (a,), label="derived"),
    ]
