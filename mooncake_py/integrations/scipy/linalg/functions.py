"""Functions of matrices: the adjoint of the Frechet derivative is that at the adjoint matrix.

Sources: A. H. Al-Mohy and N. J. Higham, SIAM J. Matrix Anal. 30 (2009), for the exponential;
N. J. Higham, "Functions of Matrices" (2008), equation 3.16 (block matrix) and section 6.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl
from numpy import ndarray

from mooncake_py.errors import MissingRuleError
from mooncake_py.rules.contraction import adjoint_matrix
from mooncake_py.rules.declare import from_vjp, not_implemented, overlay
from mooncake_py.rules.undrawn import drawn, undrawn

__all__: list[str] = []

Rule = tuple[Any, Any]


@from_vjp(sl.expm)
def expm_rule(A: Any) -> Rule:
    """Y = exp(A):  dA = L(A^H, dY)."""
    a = np.asarray(A)
    y = sl.expm(a)

    def expm_pullback(dy: ndarray) -> ndarray:
        stack = np.broadcast_to(adjoint_matrix(a) if a.ndim > 1 else np.conj(a), dy.shape)
        da = np.zeros(dy.shape, np.result_type(a, dy))
        for i in np.ndindex(dy.shape[:-2]):
            if dy[i].any():
                da[i] = sl.expm_frechet(stack[i], dy[i], compute_expm=False)
        return da if a.ndim > 1 else da.reshape(a.shape)

    return y, expm_pullback


ON_CUT = not_implemented(
    "negative eigenvalues lie on the branch cut of the logarithm; a double one, also that of a\n"
    "second derivative, has no side of it to working precision"
)


def is_double_on_cut(w: ndarray) -> bool:
    """Return whether two eigenvalues on the negative axis coincide up to rounding errors."""
    size = 1e-6 * np.abs(w)
    on_cut = (np.real(w) < 0) & (np.abs(np.imag(w)) <= size)
    pairs = np.abs(w[:, None] - w) <= size
    return bool(np.any(on_cut & (pairs.sum(axis=0) > 1)))


def refuse_estimate(disp: Any) -> None:
    """Raise if SciPy is asked for an estimate of the error too, which has no derivative."""
    if not disp:
        raise MissingRuleError(
            "functions of matrices with disp=False cannot be differentiated",
            why="SciPy returns an estimate of the error of the result, which has no derivative",
            fix="leave `disp` out",
        )


@overlay(sl.logm)
def logm(A: Any, disp: Any = True) -> Any:
    refuse_estimate(disp)
    a = np.asarray(A)
    return logarithm_at(a, drawn(sl.logm, a))


def logarithm(a: Any) -> Any:
    """Return log(A), without draws."""
    return undrawn(sl.logm, a)


@from_vjp(logarithm)
def logarithm_rule(a: Any) -> Rule:
    return logarithm_at_rule(a, logarithm(a))


def logarithm_at(a: Any, y: Any) -> Any:
    """Return y = log(A), which is known."""
    return y


@from_vjp(logarithm_at)
def logarithm_at_rule(a: ndarray, y: Any) -> Rule:
    """Y = log(A)."""

    def logm_pullback(dy: ndarray) -> Any:
        if dy.any() and any(map(is_double_on_cut, np.linalg.eigvals(a).reshape(-1, a.shape[-1]))):
            return ON_CUT
        return corner(logarithm, a, dy)

    return y, logm_pullback


def corner(function: Any, a: ndarray, dy: ndarray) -> ndarray:
    """Return the adjoint of the derivative of a function of matrices, along `dy`.

    It is the conjugate of the derivative at A^T along conj(dY), on either side of a branch cut:
    the corner of the function of [[A^T, conj(dY)], [0, A^T]].
    """
    n, transposed = a.shape[-1], a.swapaxes(-1, -2)
    scale = np.abs(dy).max(initial=0) / np.abs(a).max(initial=1)  # the derivative is linear
    if scale == 0:
        return np.zeros_like(dy)
    along = np.conj(dy) / scale
    block = np.block([[transposed, along], [np.zeros_like(transposed), transposed]])
    return scale * np.conj(np.asarray(function(block))[..., :n, n:])


SINGULAR = not_implemented(
    "the square root of a matrix that is singular to working precision has no derivative",
    fix="add a small multiple of the identity",
)


OF_NUMBER = not_implemented("SciPy returns another function of a number than its root")


def is_singular_root(y: ndarray) -> bool:
    """Return whether two eigenvalues of a root, or twice the same, add up to nothing.

    An eigenvalue of zero of the matrix comes out as a root of the rounding.
    """
    w = np.linalg.eigvals(y)
    rounding = 4 * len(w) * np.finfo(y.dtype).eps * np.abs(w).max(initial=0) ** 2
    return bool(np.any(np.abs(w[:, None] + w) ** 2 <= rounding))


@from_vjp(sl.sqrtm)
def sqrtm_rule(A: Any, disp: Any = True, blocksize: Any = None) -> Rule:
    """Y Y = A:  Y^H dA + dA Y^H = dY."""
    refuse_estimate(disp)
    if np.ndim(A) < 2:
        return sl.sqrtm(A), lambda dy: OF_NUMBER
    root: Any = sl.sqrtm(A)
    y = np.array(root, order="K")  # in memory of its own: SciPy's belongs to a capsule

    def sqrtm_pullback(dy: ndarray) -> Any:
        da = np.zeros(dy.shape, dy.dtype)
        for i in np.ndindex(dy.shape[:-2]):
            if dy[i].any():
                if is_singular_root(y[i]):
                    return SINGULAR
                adjoint = adjoint_matrix(y[i])
                da[i] = sl.solve_sylvester(adjoint, adjoint, dy[i])
        return da

    return y, sqrtm_pullback


def largest(w: ndarray) -> ndarray:
    """Return the size of the largest eigenvalue of each matrix."""
    return np.abs(w).max(axis=-1, keepdims=True, initial=0)


ON_AXIS = not_implemented("the sign of a matrix jumps where an eigenvalue crosses the axis")
NOT_POSITIVE = not_implemented(
    "fractional powers where an eigenvalue is zero, or negative and so on the branch cut"
)


@from_vjp(sl.signm)
def signm_rule(A: Any, disp: Any = True) -> Rule:
    """Y = sign(A), for eigenvalues off the imaginary axis.

    With N = Y A:  N dY + dY N = dA - Y dA Y  (Higham 2008, theorem 5.3).
    """
    refuse_estimate(disp)
    a = np.asarray(A)
    y: Any = sl.signm(a)

    def signm_pullback(dy: ndarray) -> Any:
        w = np.linalg.eigvals(a)
        if np.any(np.abs(w.real) <= 1e-10 * largest(w)):
            return ON_AXIS
        n, adjoint = adjoint_matrix(y @ a), adjoint_matrix(y)
        g = sl.solve_sylvester(n, n, dy)
        return g - adjoint @ g @ adjoint

    return y, signm_pullback


EXPONENT = not_implemented("the exponent of fractional_matrix_power", fix="use expm(t * logm(A))")


@overlay(sl.fractional_matrix_power)
def fractional_matrix_power(A: Any, t: Any) -> Any:
    a = np.asarray(A)
    return power_at(a, t, drawn(sl.fractional_matrix_power, a, t))


def power(a: Any, t: Any) -> Any:
    """Return A^t, without draws."""
    return undrawn(sl.fractional_matrix_power, a, t)


@from_vjp(power)
def power_rule(a: Any, t: Any) -> Rule:
    return power_at_rule(a, t, power(a, t))


def power_at(a: Any, t: Any, y: Any) -> Any:
    """Return y = A^t, which is known."""
    return y


@from_vjp(power_at)
def power_at_rule(a: ndarray, t: Any, y: Any) -> Rule:
    """Y = A^t, for eigenvalues off the negative axis unless `t` is an int."""

    def fractional_matrix_power_pullback(dy: ndarray) -> Any:
        w = np.linalg.eigvals(a)
        small = np.abs(w) <= 1e-10 * largest(w)
        negative = (w.real < 0) & (np.abs(w.imag) <= 1e-10 * np.abs(w))
        if t != int(t) and np.any(small | negative):
            return NOT_POSITIVE, EXPONENT
        return lambda: corner(lambda m: power(m, t), a, dy), EXPONENT

    return y, fractional_matrix_power_pullback
