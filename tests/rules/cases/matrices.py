"""Seeded matrices for the cases of linear algebra."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.rules.cases.drawing import draw

__all__ = ["definite", "hermitian", "regular"]


def regular(*shape: int, dtype: Any = float) -> np.ndarray:
    """Return matrices with a dominant diagonal."""
    return draw(*shape, dtype=dtype) + 3 * np.eye(shape[-1])


def hermitian(*shape: int, dtype: Any = float) -> np.ndarray:
    """Return Hermitian matrices with distinct eigenvalues of both signs."""
    x = draw(*shape, dtype=dtype)
    return x + x.conj().swapaxes(-1, -2)


def definite(*shape: int, dtype: Any = float) -> np.ndarray:
    """Return positive definite matrices with distinct eigenvalues."""
    x = draw(*shape, dtype=dtype)
    return x @ x.conj().swapaxes(-1, -2) + np.diag(np.arange(1.0, shape[-1] + 1))
