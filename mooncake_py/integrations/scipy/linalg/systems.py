"""Linear systems, inverses, determinants, least squares and norms.

Sources: Giles (2008) for systems, inverses and determinants; the rest as in `numpy.linalg`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg as sl
from numpy import ndarray

from mooncake_py.integrations.scipy.linalg.stacks import VECTORS, over_stacks
from mooncake_py.rules.contraction import adjoint_matrix, conj
from mooncake_py.rules.declare import from_vjp, not_implemented
from mooncake_py.rules.linalg import cofactors, quiet
from mooncake_py.rules.matrices import complete_triangle, diagonal, fold_triangle
from mooncake_py.rules.norms import norm_rule
from mooncake_py.rules.singular_values import lstsq_rule, pinv_cotangent

__all__ = ["kind_of", "outer", "overwrite_a", "overwrite_b"]

Rule = tuple[Any, Any]
overwrite_a = ("overwrite_a",)
overwrite_b = ("overwrite_b",)


def outer(g: ndarray, x: ndarray) -> ndarray:
    """Return G X^H, of matrices or of one vector each."""
    return np.outer(g, conj(x)) if x.ndim == 1 else g @ adjoint_matrix(x)


def part_read(da: ndarray, assume_a: Any, lower: bool) -> Any:
    """Keep of a cotangent what is read of a matrix that is taken to have a structure."""
    if assume_a in ("pos", "positive definite", "her", "hermitian"):
        return fold_triangle(da, lower=lower)
    if assume_a in ("sym", "symmetric"):
        both = da + da.swapaxes(-1, -2)
        diagonal(both)[...] *= 0.5
        return np.tril(both) if lower else np.triu(both)
    if assume_a == "lower triangular":
        return np.tril(da)
    if assume_a == "upper triangular":
        return np.triu(da)
    if assume_a in ("diagonal", "tridiagonal"):
        width = 0 if assume_a == "diagonal" else 1
        return np.triu(np.tril(da, width), -width)
    return da


def whole_read(da: ndarray, assume_a: Any, lower: bool) -> Any:
    """Return the change of the matrix for which a structure stands: the transpose of the above."""
    if assume_a in ("pos", "positive definite", "her", "hermitian"):
        return complete_triangle(da, lower=lower)
    if assume_a in ("sym", "symmetric"):
        strict = np.tril(da, -1) if lower else np.triu(da, 1)
        both = strict + strict.swapaxes(-1, -2)
        diagonal(both)[...] = diagonal(da)
        return both
    return part_read(da, assume_a, lower)


def solve_jvp(
    tangents: Any, y: Any, a: Any, b: Any, lower: bool = False, **options: Any
) -> ndarray:
    """Differentiate A Y = B:  dY = A^-1 (dB - dA Y)."""
    a, b = np.asarray(a), np.asarray(b)
    da, db, *_ = tangents
    moved = np.zeros(np.shape(y), np.result_type(a, b)) if db is None else np.reshape(db, b.shape)
    if a.size == 1:
        moved = moved if da is None else moved - da.reshape(()) * y
        return moved / a.reshape(())
    vectors = b.ndim == 1  # one for all matrices of a stack
    moved, columns = (v[..., None] if vectors else v for v in (moved, y))
    if da is not None:
        whole = whole_read(np.asarray(da), options.get("assume_a"), lower)
        moved = moved - (whole.swapaxes(-1, -2) if options.get("transposed") else whole) @ columns
    kept = {name: v for name, v in options.items() if not name.startswith("overwrite")}
    found = sl.solve(a, moved, lower, **kept)
    return found[..., 0] if vectors else found


@from_vjp(sl.solve, permits=overwrite_a + overwrite_b, jvp=solve_jvp)
def solve_rule(a: Any, b: Any, lower: bool = False, **options: Any) -> Rule:
    """Y = A^-1 B, or A^-T B:  dB = A^-H dY,  dA = -dB Y^H, of which a structure reads a part."""
    a, b = np.asarray(a), np.asarray(b)
    y = sl.solve(a, b, lower, **options)
    assume_a = options.get("assume_a")

    def scalar_pullback(dy: ndarray) -> tuple[Any, Any]:
        db = dy / conj(a.reshape(()))
        return quiet(-np.sum(db * conj(y)).reshape(a.shape), dy), db.reshape(b.shape)

    def solve_pullback(dy: ndarray) -> tuple[Any, Any]:
        inverse = whole_inverse(a, assume_a, lower)
        inverse = inverse.swapaxes(-1, -2) if options.get("transposed") else inverse
        if b.ndim == 1:
            db = (adjoint_matrix(inverse) @ dy[..., None])[..., 0]
            da = quiet(-db[..., :, None] * conj(y)[..., None, :], dy)
        else:
            db = adjoint_matrix(inverse) @ dy
            da = quiet(-db @ adjoint_matrix(y), dy)
        if options.get("transposed"):
            da = da.swapaxes(-1, -2)
        return part_read(da, assume_a, lower), db

    return y, scalar_pullback if a.size == 1 else solve_pullback


def whole_inverse(a: ndarray, assume_a: Any, lower: bool) -> ndarray:
    """Return the inverse of the matrix that a structure stands for."""
    options = {} if assume_a is None else {"assume_a": assume_a, "lower": lower}
    return sl.solve(a, np.eye(a.shape[-1], dtype=a.dtype), **options)


def inv_jvp(tangents: Any, y: Any, a: Any, **options: Any) -> ndarray:
    """Differentiate Y = A^-1:  dY = -Y dA Y."""
    da = np.asarray(tangents[0])
    whole = whole_read(da, options.get("assume_a"), options.get("lower", False))
    return quiet(-y @ whole @ y, da)


@from_vjp(sl.inv, permits=overwrite_a, jvp=inv_jvp)
def inv_rule(a: Any, **options: Any) -> Rule:
    """Y = A^-1:  dA = -Y^H dY Y^H."""
    y = sl.inv(a, **options)

    def inv_pullback(dy: ndarray) -> Any:
        adjoint = adjoint_matrix(y)
        da = quiet(-adjoint @ dy @ adjoint, dy)
        return part_read(da, options.get("assume_a"), options.get("lower", False))

    return y, inv_pullback


@from_vjp(sl.det, permits=overwrite_a)
def det_rule(a: Any, overwrite_a: Any = False, check_finite: bool = True) -> Rule:
    """D = det A:  dA = dD conj(C) with the cofactors C."""
    a = np.asarray(a)
    y = sl.det(a, check_finite=check_finite)
    return y, lambda dy: (np.asarray(dy)[..., None, None] * conj(cofactors(a, y)),)


KINDS: dict[Any, int] = {0: 0, 1: 1, 2: 2, "N": 0, "T": 1, "C": 2}
PROBE = np.array([[1, 0], [1j, 1]])


def kind_of(trans: Any, solve: Callable[[ndarray, ndarray, Any], Any]) -> int:
    """Return which system SciPy solves: 1 with the transpose, 2 with the adjoint, else 0.

    It takes much for a number: a small system with the same argument tells.
    """
    found = KINDS.get(trans) if type(trans) in (int, str) else None
    if found is not None:
        return found
    first, last = solve(PROBE, np.ones(2), trans)
    return 0 if last != 1 else 1 if first.imag < 0 else 2


def triangular_kind(trans: Any) -> int:
    """Return which system `solve_triangular` solves."""
    return kind_of(trans, lambda a, b, trans: sl.solve_triangular(a, b, trans, True))


def solve_triangular_jvp(
    tangents: Any,
    x: Any,
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> ndarray:
    """Differentiate op(A) X = B:  dX = op(A)^-1 (dB - op(dA) X), of the triangle that is read."""
    a, b = np.asarray(a), np.asarray(b)
    da, db, *_ = tangents
    moved = np.zeros(np.shape(x), np.result_type(a, b)) if db is None else np.asarray(db)
    vectors = b.ndim == 1  # one for all matrices of a stack
    moved, solutions = (v[..., None] if vectors else v for v in (moved, x))
    if da is not None:
        offset = 1 if unit_diagonal else 0
        part = np.tril(da, -offset) if lower else np.triu(da, offset)
        kind = triangular_kind(trans)
        moved = moved - (part, part.swapaxes(-1, -2), adjoint_matrix(part))[kind] @ solutions
    found = sl.solve_triangular(a, moved, trans, lower, unit_diagonal, check_finite=False)
    return found[..., 0] if vectors else found


@from_vjp(sl.solve_triangular, permits=overwrite_b, jvp=solve_triangular_jvp)
def solve_triangular_rule(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Rule:
    """X = op(A)^-1 B:  dB = op(A)^-H dX,  d op(A) = -dB X^H, in the triangle that is read."""
    a, b = np.asarray(a), np.asarray(b)
    x = sl.solve_triangular(a, b, trans, lower, unit_diagonal, check_finite=check_finite)
    kind = triangular_kind(trans)

    def solve_triangular_pullback(dx: ndarray) -> tuple[Any, Any]:
        adjoint = conj(a) if kind == 1 else a
        vectors = b.ndim == 1  # one for all matrices of a stack
        columns, solutions = (v[..., None] if vectors else v for v in (dx, x))
        db = sl.solve_triangular(
            adjoint, columns, {0: 2, 1: 0, 2: 0}[kind], lower, unit_diagonal, check_finite=False
        )
        da = -db @ adjoint_matrix(solutions)
        da = {0: da, 1: da.swapaxes(-1, -2), 2: adjoint_matrix(da)}[kind]
        offset = 1 if unit_diagonal else 0
        return quiet(np.tril(da, -offset) if lower else np.triu(da, offset), dx), (
            db[..., 0] if vectors else db
        )

    return x, solve_triangular_pullback


GELSY = not_implemented("lapack_driver='gelsy'", fix="use another driver")


@from_vjp(sl.lstsq, permits=overwrite_a + overwrite_b)
@over_stacks(sl.lstsq, 2, VECTORS)
def lstsq_of_scipy_rule(a: Any, b: Any, cond: Any = None, **options: Any) -> Rule:
    """Use the pullback of NumPy's `lstsq`."""
    result = sl.lstsq(a, b, cond, **options)

    def lstsq_pullback(dy: Any) -> Any:
        if options.get("lapack_driver") == "gelsy":
            return GELSY, GELSY
        _, pullback = lstsq_rule(np.asarray(a), np.asarray(b), cond)
        return pullback(dy)[:2]

    return result, lstsq_pullback


@from_vjp(sl.pinv)
def pinv_rule(a: Any, **options: Any) -> Rule:
    """P = A^+, in which singular values below the cutoff count as zero."""
    a = np.asarray(a)
    result = sl.pinv(a, **options)

    def pinv_pullback(dy: Any) -> Any:
        p, dp = (result[0], dy[0]) if options.get("return_rank") else (result, dy)
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        kept = diagonal(vh @ p @ u).real * s > 0.5  # 1 or 0, up to rounding
        return pinv_cotangent(u, s, vh, kept, dp)

    return result, pinv_pullback


@from_vjp(sl.norm)
def norm_of_scipy_rule(
    a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, check_finite: bool = True
) -> Rule:
    """Use the pullback of NumPy's `norm`."""
    _, pullback = norm_rule(a, ord, axis, keepdims)
    return sl.norm(a, ord, axis, keepdims, check_finite), pullback
