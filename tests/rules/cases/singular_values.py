"""Cases for singular values and vectors, pseudoinverses and least squares."""

from __future__ import annotations

import numpy as np

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw
from tests.rules.cases.matrices import definite, hermitian

__all__ = ["cases"]


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [*svd_cases(), *hermitian_svd_cases(), *pinv_cases(), *lstsq_cases()]


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
    # With equal rows the singular vectors have no derivative.
    plain = {"layouts": False}
    real = {"dtypes": False, **plain}
    return [
        *(
            Case(
                function, (draw(*shape, dtype=dtype),), label=f"{label}-{dtype.__name__}",
                options={**plain, "forward": dtype is float},  # phases have no tangents
            )
            for function in (singular_pairs, singular_projections)
            for label, shape in shapes.items()
            for dtype in (float, complex)
        ),
        Case(singular_pairs, (draw(2, 6).T[::2],), label="strided", options=plain),
        Case(np.linalg.svd, (draw(3, 3),), label="square", options=real),
        Case(np.linalg.svd, (draw(4, 2),), thin, "tall", options=real),
        Case(np.linalg.svd, (draw(2, 2, 4),), thin, "wide-stack", options=real),
        Case(np.linalg.svd, (draw(3, 2),), {"compute_uv": False}, "values"),
        Case(np.linalg.svd, (draw(2, 3, 2, dtype=complex),), {"compute_uv": False}, "values-stack"),
        Case(np.linalg.svd, (draw(1, 1),), label="one-by-one", options=real),
        Case(np.linalg.svd, (draw(0, 2),), {"full_matrices": False}, "empty"),
        Case(np.linalg.svdvals, (draw(2, 3),), label="derived"),
        *(
            Case(null_spaces, (draw(*shape, dtype=dtype),), label=f"{shape}-{dtype.__name__}",
                 options={**plain, "forward": False})  # a basis of a space has no tangent
            for shape in ((4, 2), (2, 4), (2, 4, 2))
            for dtype in (float, complex)
        ),
    ]  # fmt: skip


def null_spaces(a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the singular values and projections on what A does not reach and sends to zero."""
    u, s, vh = np.linalg.svd(a)
    k = s.shape[-1]
    left, right = u[..., k:], vh[..., k:, :]
    return (
        s,
        left @ np.conj(np.swapaxes(left, -1, -2)),
        np.conj(np.swapaxes(right, -1, -2)) @ right,
    )


def hermitian_pairs(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the same as `singular_pairs` for a Hermitian matrix."""
    u, s, vh = np.linalg.svd(a, hermitian=True)
    return s, u[..., :, :, None] * vh[..., None, :, :]


def hermitian_svd_cases() -> list[Case]:
    plain = {"layouts": False}
    real = {"dtypes": False, **plain}
    opposite = np.diag([2.0, -2.0, 1.0]) + 0.0
    return [
        Case(np.linalg.svd, (hermitian(3, 3),), {"hermitian": True}, "hermitian",
             options=real),
        *(
            Case(hermitian_pairs, (hermitian(*shape, dtype=dtype),),
                 label=f"{shape}-{dtype.__name__}",
                 options={**plain, "forward": dtype is float})
            for shape in ((3, 3), (2, 3, 3))
            for dtype in (float, complex)
        ),
        Case(np.linalg.svd, (hermitian(2, 3, 3, dtype=complex),),
             {"hermitian": True, "compute_uv": False}, "hermitian-values"),
        Case(hermitian_pairs, (opposite,), label="opposite-signs", interface_only=True,
             options=plain),
    ]  # fmt: skip


def pinv_cases() -> list[Case]:
    low_rank = draw(4, 2) @ draw(2, 3)
    return [
        Case(np.linalg.pinv, (draw(4, 2),), label="tall"),
        Case(np.linalg.pinv, (draw(2, 2, 3),), label="wide-stack"),
        Case(np.linalg.pinv, (draw(3, 3, dtype=complex),), label="complex"),
        Case(np.linalg.pinv, (draw(4, 3), 0.5), label="cutoff"),
        Case(np.linalg.pinv, (draw(2, 4, 3, dtype=complex),), {"rtol": 0.5}, "cutoff-stack"),
        Case(np.linalg.pinv, (draw(2, 4, 3), np.array([0.1, 0.5])), label="cutoffs"),
        Case(np.linalg.pinv, (np.eye(3),), label="equal-values"),
        Case(np.linalg.pinv, (low_rank, 1e-9), label="low-rank", interface_only=True),
        Case(np.linalg.pinv, (definite(3, 3),), {"hermitian": True}, "hermitian"),
        Case(np.linalg.pinv, (hermitian(3, 3, dtype=complex), 0.3), {"hermitian": True},
             "hermitian-cutoff"),
        Case(np.linalg.pinv, (draw(0, 2),), label="empty"),
    ]  # fmt: skip


def lstsq_cases() -> list[Case]:
    a, b = draw(4, 3), draw(4, 2)
    shapes = {
        "tall": (a, b),
        "tall-vector": (a, draw(4)),
        "wide": (draw(2, 3), draw(2, 2)),
        "square": (draw(3, 3), draw(3)),
        "complex": (draw(4, 3, dtype=complex), b),
        "cutoff": (a, b, 0.5),
        "strided": (draw(6, 8).T[::2], draw(4, seed=1)[::-1]),
        "no-columns": (a, draw(4, 0)),
    }
    return [
        *(Case(np.linalg.lstsq, args, label=label) for label, args in shapes.items()),
        # Layouts leave out: a matrix of equal rows is singular, and rounding decides on its rank.
        Case(np.linalg.lstsq, (a, b), {"rcond": -1}, "machine-precision", {"layouts": False}),
    ]
