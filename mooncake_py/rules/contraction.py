"""Products that sum over shared axes: dot, inner, outer, tensordot, kron, cross.

All are linear in each operand, so the cotangent of one operand is a product of the output's
cotangent with the other operand.  With the inner product Re<., .> the factor is conjugated:
for y = A b,  dA = dy b^H  and  db = A^H dy.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.broadcasting import unbroadcast
from mooncake_py.rules.declare import bilinear, overlay
from mooncake_py.rules.kinds import Like
from mooncake_py.rules.shortcuts import are_floats, shortcut

__all__: list[str] = []


def conj(x: Any) -> Any:
    """Conjugate; unlike ``np.conj`` it returns a real array itself, not a copy."""
    return x.conjugate()


def adjoint_matrix(x: ndarray) -> ndarray:
    """Conjugate transpose of a stack of matrices."""
    return conj(x).swapaxes(-1, -2)


def outer(a: Any, b: Any) -> Any:
    """Return the products of all elements of `a` with all of `b`.

    Of vectors it is a product of matrices, for which BLAS takes less than half the time.
    """
    if a.ndim == b.ndim == 1:
        return np.dot(a[:, None], b[None])
    return np.multiply.outer(a, b)


# Vectors, whatever the shape of the operands.


def vdot_left(dy: Any, a: Like, b: Any) -> Any:
    return np.reshape(conj(dy) * b, a.shape)


def vdot_right(dy: Any, a: Any, b: Like) -> Any:
    return np.reshape(dy * a, b.shape)


bilinear(np.vdot, left=vdot_left, right=vdot_right)


def outer_left(dy: ndarray, a: Like, b: Any) -> Any:
    return np.reshape(dy @ np.ravel(conj(b)), a.shape)


def outer_right(dy: ndarray, a: Any, b: Like) -> Any:
    return np.reshape(np.ravel(conj(a)) @ dy, b.shape)


bilinear(np.outer, np.linalg.outer, left=outer_left, right=outer_right)


# dot, inner and tensordot: the axes of the output are those of a, then those of b.


def dot_left(dy: Any, a: Like, b: Any) -> Any:
    b = conj(b)
    if a.ndim == 0 or np.ndim(b) == 0 or a.ndim == b.ndim == 1:
        return dy * b
    if b.ndim == 1:
        return outer(dy, b)
    if b.ndim == 2:
        return np.dot(dy, b.T)
    kept = [*range(b.ndim - 2), b.ndim - 1]
    return np.tensordot(dy, b, (range(1 - b.ndim, 0), kept))


def dot_right(dy: Any, a: Any, b: Like) -> Any:
    a = conj(a)
    if np.ndim(a) == 0 or b.ndim == 0 or a.ndim == b.ndim == 1:
        return a * dy
    if a.ndim == 2 and b.ndim <= 2:
        return np.dot(a.T, dy)
    if a.ndim == 1 and b.ndim == 2:
        return outer(a, dy)
    kept = range(a.ndim - 1)
    summed = np.tensordot(a, dy, (kept, kept))
    return np.moveaxis(summed, 0, -2) if b.ndim > 1 else summed


bilinear(np.dot, np.ndarray.dot, left=dot_left, right=dot_right)


def inner_left(dy: Any, a: Like, b: Any) -> Any:
    b = conj(b)
    if a.ndim == 0 or np.ndim(b) == 0:
        return dy * b
    return np.tensordot(dy, b, b.ndim - 1)


def inner_right(dy: Any, a: Any, b: Like) -> Any:
    a = conj(a)
    if np.ndim(a) == 0 or b.ndim == 0:
        return a * dy
    kept = range(a.ndim - 1)
    return np.tensordot(dy, a, (kept, kept))


bilinear(np.inner, left=inner_left, right=inner_right)


def contracted_axes(
    axes: Any, a_ndim: int, b_ndim: int
) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return for each operand of tensordot the axes summed over, then the axes kept."""
    if isinstance(axes, (int, np.integer)):
        in_a, in_b = list(range(a_ndim - int(axes), a_ndim)), list(range(int(axes)))
    else:
        in_a = [int(i) % a_ndim for i in np.atleast_1d(axes[0])]
        in_b = [int(i) % b_ndim for i in np.atleast_1d(axes[1])]
    kept_a = [i for i in range(a_ndim) if i not in in_a]
    kept_b = [i for i in range(b_ndim) if i not in in_b]
    return in_a, in_b, kept_a, kept_b


def tensordot_left(dy: Any, a: Like, b: Any, axes: Any = 2) -> ndarray:
    in_a, in_b, kept_a, kept_b = contracted_axes(axes, a.ndim, np.ndim(b))
    shared = range(len(kept_a), len(kept_a) + len(kept_b))
    g = np.tensordot(dy, conj(b), (shared, kept_b))
    # The axes of g are kept_a, then the partners in a of the summed axes of b in rising order.
    order = kept_a + [i for _, i in sorted(zip(in_b, in_a, strict=True))]
    return np.transpose(g, np.argsort(order))


def tensordot_right(dy: Any, a: Any, b: Like, axes: Any = 2) -> ndarray:
    in_a, in_b, kept_a, kept_b = contracted_axes(axes, np.ndim(a), b.ndim)
    g = np.tensordot(conj(a), dy, (kept_a, range(len(kept_a))))
    order = [i for _, i in sorted(zip(in_a, in_b, strict=True))] + kept_b
    return np.transpose(g, np.argsort(order))


bilinear(np.tensordot, np.linalg.tensordot, left=tensordot_left, right=tensordot_right)


# matmul and its kin: stacks of matrices and vectors, broadcast against each other.


def matmul_left(dy: Any, a: Like, b: ndarray, **options: Any) -> Any:
    if "axes" in options:
        return along_axes(matmul_left, 0, dy, a, b, options["axes"])
    if b.ndim == 1:
        return dy * conj(b) if a.ndim == 1 else outer(dy, conj(b))
    if a.ndim == 1:
        if dy.ndim == 1:
            return np.matmul(conj(b), dy)
        return np.matmul(conj(b), dy[..., None])[..., 0]
    return np.matmul(dy, adjoint_matrix(b))


def matmul_right(dy: Any, a: ndarray, b: Like, **options: Any) -> Any:
    if "axes" in options:
        return along_axes(matmul_right, 1, dy, a, b, options["axes"])
    if a.ndim == 1:
        if b.ndim == 1:
            return dy * conj(a)
        return outer(conj(a), dy) if b.ndim == 2 else conj(a)[:, None] * dy[..., None, :]
    if b.ndim > 2 or a.ndim == 2:
        return np.matmul(adjoint_matrix(a), dy)
    # One matrix or vector for a whole stack: one product sums over the stack as well.
    stack = range(a.ndim - 1)
    return np.tensordot(conj(a), dy, (stack, stack))


bilinear(np.matmul, np.linalg.matmul, left=matmul_left, right=matmul_right)


def vecdot_left(dy: Any, a: Like, b: ndarray, **options: Any) -> Any:
    """Return da = conj(dy) * b: y = sum(conj(a) * b) is linear in the real sense."""
    if options:
        dy, axes = vecdot_axes(dy, **options)
        return along_axes(vecdot_left, 0, dy, a, b, axes)
    return conj(np.asarray(dy))[..., None] * b


def vecdot_right(dy: Any, a: ndarray, b: Like, **options: Any) -> Any:
    if options:
        dy, axes = vecdot_axes(dy, **options)
        return along_axes(vecdot_right, 1, dy, a, b, axes)
    return np.asarray(dy)[..., None] * a


def vecdot_axes(
    dy: Any, axis: int = -1, axes: Any = None, keepdims: bool = False, **options: Any
) -> tuple[Any, list[Any]]:
    """Return `dy` without the axis that `vecdot` kept, and the axes that it sums over."""
    in_a, in_b, *out = [axis, axis, axis] if axes is None else axes
    if keepdims:
        dy = np.squeeze(dy, *(out or [-1]))
    return dy, [in_a, in_b, ()]


bilinear(np.vecdot, np.linalg.vecdot, left=vecdot_left, right=vecdot_right)


def matvec_left(dy: ndarray, a: Like, b: ndarray, **options: Any) -> ndarray:
    if "axes" in options:
        return along_axes(matvec_left, 0, dy, a, b, options["axes"])
    return dy[..., :, None] * conj(b)[..., None, :]


def matvec_right(dy: ndarray, a: ndarray, b: Like, **options: Any) -> ndarray:
    if "axes" in options:
        return along_axes(matvec_right, 1, dy, a, b, options["axes"])
    return np.matmul(adjoint_matrix(a), dy[..., None])[..., 0]


def vecmat_left(dy: ndarray, a: Like, b: ndarray, **options: Any) -> ndarray:
    """Return da = B conj(dy): y = a^H B is linear in the real sense."""
    if "axes" in options:
        return along_axes(vecmat_left, 0, dy, a, b, options["axes"])
    return np.matmul(b, conj(dy)[..., None])[..., 0]


def vecmat_right(dy: ndarray, a: ndarray, b: Like, **options: Any) -> ndarray:
    if "axes" in options:
        return along_axes(vecmat_right, 1, dy, a, b, options["axes"])
    return a[..., :, None] * dy[..., None, :]


if hasattr(np, "matvec"):  # NumPy 2.2 and newer
    bilinear(np.matvec, left=matvec_left, right=matvec_right)
    bilinear(np.vecmat, left=vecmat_left, right=vecmat_right)


def along_axes(adjoint: Any, side: int, dy: Any, a: Any, b: Any, axes: Any) -> ndarray:
    """Apply an adjoint for the last axes where vectors and matrices lie along other axes.

    `axes` names those of both operands and of the output, in the form that the ufuncs take.
    """
    of_a, of_b, of_y = (core if isinstance(core, tuple) else (core,) for core in axes)
    moved = [to_the_end(a, of_a), to_the_end(b, of_b)]
    g = adjoint(to_the_end(dy, of_y), *moved)
    g = unbroadcast(np.asarray(g), moved[side].shape)
    core = (of_a, of_b)[side]
    return np.moveaxis(g, range(-len(core), 0), core)


def to_the_end(x: Any, axes: tuple[int, ...]) -> ndarray:
    """Move axes to the end; of an array without values, that of another one of its shape."""
    if isinstance(x, Like):
        x = np.broadcast_to(np.zeros((), x.dtype), x.shape)
    return np.moveaxis(x, axes, range(-len(axes), 0))


# The Kronecker product: axis i of the output is the pair (axis i of a, axis i of b).


def pair_axes(
    dy: Any, a_shape: tuple[int, ...], b_shape: tuple[int, ...]
) -> tuple[ndarray, tuple[int, ...], tuple[int, ...]]:
    """Split each axis of `dy` into its pair; return also both shapes padded to as many axes."""
    ndim = np.ndim(dy)
    a_shape = (1,) * (ndim - len(a_shape)) + a_shape
    b_shape = (1,) * (ndim - len(b_shape)) + b_shape
    pairs = [n for pair in zip(a_shape, b_shape, strict=True) for n in pair]
    return np.reshape(dy, pairs), a_shape, b_shape


def kron_left(dy: Any, a: Like, b: Any) -> ndarray:
    paired, _, b_shape = pair_axes(dy, a.shape, np.shape(b))
    b_axes = range(1, paired.ndim, 2)
    g = np.tensordot(paired, np.reshape(conj(b), b_shape), (b_axes, range(len(b_shape))))
    return np.reshape(g, a.shape)


def kron_right(dy: Any, a: Any, b: Like) -> ndarray:
    paired, a_shape, _ = pair_axes(dy, np.shape(a), b.shape)
    a_axes = range(0, paired.ndim, 2)
    g = np.tensordot(np.reshape(conj(a), a_shape), paired, (range(len(a_shape)), a_axes))
    return np.reshape(g, b.shape)


bilinear(np.kron, left=kron_left, right=kron_right)


# The cross product: y . (a x b) = a . (b x y) = b . (y x a).


def cross_of_rows(a: ndarray, b: ndarray) -> ndarray:
    """Cross product of vectors of length 3 along the last axes."""
    return np.cross(a, b)


bilinear(
    cross_of_rows,
    left=lambda dy, a, b: np.cross(conj(b), dy),
    right=lambda dy, a, b: np.cross(dy, conj(a)),
)


numpy_cross: Any = getattr(np.cross, "__wrapped__", np.cross)


@overlay(np.cross)
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """Bring the vectors to the last axis; vectors of length 2 go the way of NumPy's source."""
    if axis is not None:
        axisa = axisb = axisc = axis
    first = np.moveaxis(np.asarray(a), operator.index(axisa), -1)
    second = np.moveaxis(np.asarray(b), operator.index(axisb), -1)
    if first.shape[-1] == 3 and second.shape[-1] == 3:
        return np.moveaxis(cross_of_rows(first, second), -1, operator.index(axisc))
    return numpy_cross(a, b, axisa, axisb, axisc, axis)


def are_vectors(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None) -> bool:
    """Return whether these are two vectors of length 3."""
    return are_floats(a, b) and a.shape == b.shape == (3,) and a.dtype is b.dtype


def cross_of_two(a: Any, b: Any) -> ndarray:
    """Return the cross product of two vectors, number by number: a fifth of NumPy's time."""
    a0, a1, a2 = a.tolist()
    b0, b1, b2 = b.tolist()
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], a.dtype)


def cross_jvp(tangents, y, a, b, *axes, **options) -> Any:
    da, db = tangents[:2]
    if da is None:
        return cross_of_two(a, db)
    moved = cross_of_two(da, b)
    return moved if db is None else moved + cross_of_two(a, db)


@shortcut(np.cross, accepts=are_vectors, jvp=cross_jvp, wrt=(0, 1))
def cross_rule(a, b, *axes, **options) -> Any:
    def cross_pullback(dy):
        return lambda: cross_of_two(b, dy), lambda: cross_of_two(dy, a)

    return np.cross(a, b), cross_pullback
