"""Cases for eigenvalues and eigenvectors."""

from __future__ import annotations

import numpy as np

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw
from tests.rules.cases.matrices import definite, hermitian

__all__ = ["cases"]


def cases() -> list[Case]:
    """Return all cases of this family."""
    return [*hermitian_cases(), *general_cases()]


def projections(a: np.ndarray, triangle: str = "L") -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues, and a weighted sum of the projections on the eigenvectors.

    The phase of a complex vector is an accident of the algorithm; it does not enter these.
    """
    w, v = np.linalg.eigh(a, triangle)
    weights = np.arange(1.0, w.shape[-1] + 1)
    return w, (v * weights) @ np.conj(np.swapaxes(v, -1, -2))


def hermitian_cases() -> list[Case]:
    plain = {"layouts": False}
    real = {"dtypes": False, **plain}
    return [
        Case(np.linalg.eigh, (definite(3, 3),), options=real),
        Case(np.linalg.eigh, (definite(3, 3), "U"), label="U", options=real),
        Case(np.linalg.eigh, (definite(2, 3, 3),), label="stack", options=real),
        Case(np.linalg.eigh, (definite(1, 1),), label="one-by-one", options=real),
        Case(np.linalg.eigh, (draw(0, 0),), label="empty"),
        Case(np.linalg.eigh, (draw(6, 6)[::2, ::2],), label="strided", options=real),
        *(
            Case(
                projections,
                (hermitian(*shape, dtype=dtype), triangle),
                label=f"{shape}-{dtype.__name__}-{triangle}",
                options={**plain, "forward": dtype is float},
            )  # phases have no tangents
            for shape in ((3, 3), (2, 3, 3))
            for dtype in (float, complex)
            for triangle in "LU"
        ),
        Case(np.linalg.eigvalsh, (definite(3, 3),)),
        Case(np.linalg.eigvalsh, (definite(2, 3, 3, dtype=complex), "U"), label="complex-stack"),
    ]


def spectral_projections(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues, and for each the product of its right and its left vector."""
    w, v = np.linalg.eig(a)
    return w, np.swapaxes(v, -1, -2)[..., :, :, None] * np.linalg.inv(v)[..., :, None, :]


def general_cases() -> list[Case]:
    # With equal rows zero is an eigenvalue several times.
    plain = {"layouts": False}
    real_values = np.diag([1.0, 2.0, 4.0]) + 0.3 * draw(3, 3)
    matrices = {
        "real-values": real_values,
        "conjugate-pairs": draw(4, 4),
        "complex": draw(3, 3, dtype=complex),
        "stack": draw(2, 4, 4),
        "one-by-one": draw(1, 1),
        "strided": draw(6, 6)[::2, ::-2],
    }
    return [
        *(
            Case(function, (a,), label=label, options=plain)
            for label, a in matrices.items()
            for function in (np.linalg.eig, np.linalg.eigvals, spectral_projections)
        ),
        *(
            Case(function, (draw(*shape),), label=f"empty-{shape}")
            for function in (np.linalg.eig, np.linalg.eigvals)
            for shape in ((0, 0), (0, 2, 2))
        ),
    ]
