"""Rules for the discrete cosine and sine transforms of `scipy.fft`, of all types and norms.

The matrix of a transform is symmetric or the transpose of that of another type, up to weights of
the first and the last element: with D = diag(1, 2, ..., 2, 1),

    C1 = M D, M symmetric   C2^T = C3 diag(2, 1, ..., 1)   C3^T = diag(1/2, 1, ..., 1) C2
    S1, C4, S4 symmetric    S2^T = S3 diag(1, ..., 1, 2)   S3^T = diag(1, ..., 1, 1/2) S2

(SciPy's definitions, in the documentation of `dct` and `dst`).  The norms are factors that both
of a pair share, and with ``orthogonalize=True`` the weights vanish.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fft as sf
from numpy import ndarray

from mooncake_py.integrations.scipy.fft.fourier import axes_and_lengths
from mooncake_py.rules.declare import from_vjp
from mooncake_py.rules.fft import with_length

__all__: list[str] = []

PARTNER = {1: 1, 2: 3, 3: 2, 4: 4}


def adjoint(
    function: Callable[..., Any], dy: ndarray, type: int, n: int, axis: int, norm: Any,
    orthogonalize: Any,
) -> ndarray:  # fmt: skip
    """Return the adjoint along one axis, to which `x` was cropped or padded before.

    `n` is the length of `x` there.
    """
    orthogonal = norm == "ortho" if orthogonalize is None else bool(orthogonalize)
    inverse = function in (sf.idct, sf.idst)
    matrix = PARTNER[type] if inverse else type
    before, after = (1, 1) if orthogonal else weights(function, matrix)
    dx = function(
        scaled_ends(dy, before, axis), PARTNER[type], None, axis, norm, orthogonalize=orthogonal
    )
    return with_length(scaled_ends(dx, after, axis), n, axis)


def weights(function: Callable[..., Any], matrix: int) -> tuple[Any, Any]:
    """Return the weights of the ends, (first, last), before and after the partner is applied."""
    cosine = function in (sf.dct, sf.idct)
    if matrix == 1 and cosine:
        return (2.0, 2.0), (0.5, 0.5)  # of D / 2
    if matrix == 2:
        return ((2.0, 1.0) if cosine else (1.0, 2.0)), 1
    if matrix == 3:
        return 1, ((0.5, 1.0) if cosine else (1.0, 0.5))
    return 1, 1


def scaled_ends(x: ndarray, ends: Any, axis: int) -> ndarray:
    """Multiply the first and the last element along an axis."""
    if ends == 1:
        return x
    x = np.array(x)
    moved = np.moveaxis(x, axis, 0)
    moved[0] *= ends[0]
    moved[-1] *= ends[1]
    return x


def transform(function: Callable[..., Any], of_axes: Callable[..., Any]) -> None:
    """Declare a transform along one axis, and that along several."""

    @from_vjp(function, permits=("overwrite_x",))
    def rule(
        x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None, **options: Any
    ) -> Any:
        x = np.asarray(x)
        y = function(x, type, n, axis, norm, **options)
        orthogonalize = options.get("orthogonalize")

        def pullback(dy: ndarray) -> tuple[Any, ...]:
            length = x.shape[axis]
            dx = adjoint(function, dy, type, length, axis, norm, orthogonalize)
            return dx, None, None, None

        return y, pullback

    @from_vjp(of_axes, permits=("overwrite_x",))
    def rule_of_axes(
        x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None, **options: Any
    ) -> Any:
        x = np.asarray(x)
        y = of_axes(x, type, s, axes, norm, **options)
        orthogonalize = options.get("orthogonalize")

        def pullback(dy: ndarray) -> tuple[Any, ...]:
            for axis, _ in axes_and_lengths(x.ndim, s, axes):
                dy = adjoint(function, dy, type, x.shape[axis], axis, norm, orthogonalize)
            return dy, None, None, None

        return y, pullback


transform(sf.dct, sf.dctn)
transform(sf.idct, sf.idctn)
transform(sf.dst, sf.dstn)
transform(sf.idst, sf.idstn)
