"""`np.linalg.norm` of vectors and matrices, and condition numbers.

Where a norm has a kink the derivative is a subgradient: elements or columns that tie for the
maximum share equally, and at zero the derivative is zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.axes import keep
from mooncake_py.rules.contraction import adjoint_matrix
from mooncake_py.rules.declare import from_vjp, not_implemented
from mooncake_py.rules.exact_zeros import pushed
from mooncake_py.rules.matrices import inverse_or_nan, inverse_or_zero

__all__: list[str] = []


OF_ORDER = not_implemented("the derivative with respect to the order of a norm")


def norm_jvp(
    tangents: Any, y: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False
) -> Any:
    """Return Re<slope, dx> over the axes of each norm: no element belongs to two of them."""
    if len(tangents) > 1 and tangents[1] is not None:
        raise OF_ORDER.fail("numpy.linalg.norm", 1)
    if ord is None and axis is None and not keepdims and 0 < y < np.inf:
        return np.real(np.vdot(x, tangents[0])) / y
    x = np.asarray(x)
    axes = normed_axes(x.ndim, ord, axis)
    wide = keep(y, axes, x.shape)
    slopes = norm_cotangent(x, wide, np.ones_like(wide), ord, axes)
    if slopes is None:
        return np.zeros_like(y)
    return np.sum(np.real(pushed(tangents[0], np.conj(slopes))), axes, keepdims=bool(keepdims))


@from_vjp(np.linalg.norm, jvp=norm_jvp)
def norm_rule(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> tuple[Any, Any]:
    """Choose between the norm of everything, of vectors along an axis, and of matrices."""
    x = np.asarray(x)
    y = np.linalg.norm(x, ord, axis, keepdims)

    def norm_pullback(dy: Any) -> Any:
        return cotangent(dy), None, None, None

    def norm_of_order_pullback(dy: Any) -> Any:
        return cotangent(dy), OF_ORDER, None, None

    def cotangent(dy: Any) -> Any:
        if ord is None and axis is None and not keepdims and 0 < y < np.inf:
            return x * (dy / y)
        axes = normed_axes(x.ndim, ord, axis)
        dy = np.asarray(dy, np.asarray(y).dtype)
        dy_wide, y_wide = keep(dy, axes, x.shape), keep(y, axes, x.shape)
        dx = norm_cotangent(x, y_wide, dy_wide, ord, axes)
        if dx is None or np.isfinite(y).all():
            return dx
        return np.where((dy_wide == 0) & np.isnan(dx), 0, dx)

    return y, norm_pullback if ord is None else norm_of_order_pullback


def norm_cotangent(x: ndarray, y: Any, dy: Any, ord: Any, axes: tuple[int, ...]) -> Any:
    """Return the cotangent of `x` for its norm `y`, with the axes kept in `y` and `dy`."""
    if ord is None or (isinstance(ord, str) and ord != "nuc"):
        return x * (dy * inverse_or_zero(y))
    if len(axes) == 1:
        return vector_cotangent(x, y, dy, ord, axes[0])
    return matrix_cotangent(x, y, dy, ord, axes)


def normed_axes(ndim: int, ord: Any, axis: Any) -> tuple[int, ...]:
    """Return the axes that a norm is taken over, none of them negative."""
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(int(i) % ndim for i in axes)


def phase(x: ndarray) -> ndarray:
    """Return x / abs(x), the derivative of abs in this inner product; zero at zero."""
    return x * inverse_or_zero(np.abs(x)) if np.iscomplexobj(x) else np.sign(x)


def shares(candidates: Any, best: Any, axis: Any) -> Any:
    """Return equal weights for the candidates that attain the best, zero for the others."""
    attained = candidates == best
    count = np.maximum(attained.sum(axis=axis, keepdims=True), 1)
    return attained / count.astype(np.asarray(candidates).dtype)


def vector_cotangent(x: ndarray, y: Any, dy: Any, ord: Any, axis: int) -> Any:
    """Return dx = dy phase(x) abs(x)^(p-1) y^(1-p) for y = sum(abs(x)^p)^(1/p)."""
    if ord == 0:
        return None  # a count
    if np.isinf(ord):
        return dy * phase(x) * shares(np.abs(x), y, axis)
    if ord == 1:
        return dy * phase(x)
    if ord == 2:
        return x * (dy * inverse_or_zero(y))
    size = np.abs(x)
    ratio = np.power(size * inverse_or_zero(y), ord - 1, out=np.zeros_like(size), where=size != 0)
    return dy * phase(x) * ratio


def matrix_cotangent(x: ndarray, y: Any, dy: Any, ord: Any, axes: tuple[int, ...]) -> Any:
    """Sum norms (1, inf) share among the columns or rows; spectral norms use singular vectors."""
    row, column = axes
    if ord in (1, -1, np.inf, -np.inf):
        summed, compared = (row, column) if abs(ord) == 1 else (column, row)
        sums = np.abs(x).sum(axis=summed, keepdims=True)
        return dy * phase(x) * shares(sums, y, compared)
    u, s, vh = np.linalg.svd(np.moveaxis(x, axes, (-2, -1)), full_matrices=False)
    if ord == "nuc":
        weights = (s > 0).astype(s.dtype)
    else:
        extreme = s[..., :1] if ord == 2 else s[..., -1:]
        weights = shares(s, extreme, -1) * (s > 0)
    return dy * np.moveaxis((u * weights[..., None, :]) @ vh, (-2, -1), axes)


# Condition numbers.


@from_vjp(np.linalg.cond)
def cond_rule(x: Any, p: Any = None) -> tuple[Any, Any]:
    """Return norm(X) norm(X^-1), for p of 2 or -2 the ratio of the outermost singular values.

    Where the matrix is singular, and the condition number infinite, the derivative is zero.
    """
    x = np.asarray(x)
    y = np.linalg.cond(x, p)

    def cond_pullback(dy: Any) -> tuple[ndarray, None]:
        # Before NumPy 2.3 some are complex numbers without an imaginary part.
        wide = np.where(np.isfinite(y), np.real(dy), 0)[..., None, None]
        if p is None or p in (2, -2):
            return spectral_cotangent(x, wide, -1 if p == -2 else 0), None
        inverse = inverse_or_nan(x)
        size, inverse_size = (np.linalg.norm(m, p, (-2, -1), keepdims=True) for m in (x, inverse))
        of_x = norm_cotangent(x, size, wide * inverse_size, p, (-2, -1))
        of_inverse = norm_cotangent(inverse, inverse_size, wide * size, p, (-2, -1))
        adjoint = adjoint_matrix(inverse)
        dx = of_x - adjoint @ of_inverse @ adjoint
        return np.where((wide == 0) & np.isnan(dx), 0, dx), None

    return y, cond_pullback


def spectral_cotangent(x: ndarray, dy: ndarray, over: int) -> ndarray:
    """Return the cotangent of X for the ratio of its first and last singular value (`over` = 0).

    With `over` = -1 it is the ratio of the last and the first.
    """
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    upper, lower = s[..., over, None], s[..., -1 - over, None]
    inverse = inverse_or_zero(lower)
    slope = inverse * (shares(s, upper, -1) - upper * inverse * shares(s, lower, -1))
    return dy * ((u * np.where(s > 0, slope, 0)[..., None, :]) @ vh)
