"""Matrices of covariance, and kernel density estimates."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import scipy.linalg as la

from mooncake_py.rules.declare import overlay, zero_derivative
from mooncake_py.rules.plain_values import derived_as, same_values

__all__ = ["held", "spectrum"]

_multivariate: Any = import_module("scipy.stats._multivariate")
_stats: Any = import_module("scipy.stats._stats")


def spectrum(m: Any, lower: bool, check_finite: bool) -> tuple[Any, Any]:
    """Return eigenvalues and vectors as they are: they tell the rank, and what to raise."""
    return la.eigh(m, lower=lower, check_finite=check_finite)


zero_derivative(spectrum, because="chooses the rank")


def factorize(
    self: Any,
    M: Any,
    cond: float | None = None,
    rcond: float | None = None,
    lower: bool = True,
    check_finite: bool = True,
    allow_singular: bool = True,
) -> None:
    """Do what ``_PSD.__init__`` does, by Cholesky where the rank is full.

    U U^T is the inverse of M in either way; eigenvectors have no derivative where eigenvalues
    coincide, as those of a multiple of the identity.
    """
    self._M = np.asarray(M)
    s, u = spectrum(M, lower, check_finite)
    eps = _multivariate._eigvalsh_to_eps(s, cond, rcond)
    if np.min(s) < -eps:
        raise ValueError("The input matrix must be symmetric positive semidefinite.")
    rank = int(np.sum(s > eps))
    if rank < len(s) and not allow_singular:
        raise np.linalg.LinAlgError(
            "When `allow_singular is False`, the input matrix must be symmetric positive definite."
        )
    if rank == len(s):
        factor = la.cholesky(M, lower=lower)
        across = la.solve_triangular(factor, np.eye(rank), lower=lower)
        inverse = across.T if lower else across
        root = np.multiply(u, np.sqrt(_multivariate._pinv_1d(s, eps)))
        self.U = same_values(inverse @ held(factor.T if lower else factor, u / np.sqrt(s)), root)
        log_pdet = 2 * np.sum(np.log(np.diag(factor)))
        self.log_pdet = same_values(log_pdet, np.sum(np.log(s[s > eps])))
    else:
        values, vectors = la.eigh(M, lower=lower, check_finite=check_finite)
        self.U = np.multiply(vectors, np.sqrt(_multivariate._pinv_1d(values, eps)))
        self.log_pdet = np.sum(np.log(values[values > eps]))
    self.eps = 1e3 * eps
    self.V = u[:, s <= eps]
    self.rank = rank
    self._pinv = None


def held(factor: Any, root: Any) -> Any:
    """Return the rotation from one root of the inverse to the other: no product depends on it."""
    return factor @ root


zero_derivative(held, because="chooses among the roots of a matrix")
if hasattr(_multivariate, "_PSD") and hasattr(_multivariate, "_eigvalsh_to_eps"):
    overlay(_multivariate._PSD.__init__)(factorize)


def log_kernels(points: Any, xi: Any, factor: Any) -> Any:
    """Return the logarithm of the normal density at each of `xi` (m, d) about each point (n, d)."""
    centres = la.solve_triangular(factor, np.transpose(points), lower=True).T
    places = la.solve_triangular(factor, np.transpose(xi), lower=True).T
    apart = places[:, None, :] - centres[None, :, :]
    norm = np.sum(np.log(np.diag(factor))) + len(factor) / 2 * np.log(2 * np.pi)
    return -np.sum(apart * apart, axis=2) / 2 - norm


def estimate(points: Any, values: Any, xi: Any, factor: Any, dtype: Any) -> Any:
    """Return the kernel density estimate, shape (m, p), for weights `values` (n, p)."""
    return np.asarray(np.exp(log_kernels(points, xi, factor)) @ values, dtype)


def log_estimate(points: Any, values: Any, xi: Any, factor: Any, dtype: Any) -> Any:
    """Return its logarithm."""
    logs = log_kernels(points, xi, factor)
    top = np.max(logs, axis=1, keepdims=True)
    return np.asarray(np.log(np.exp(logs - top) @ values) + top, dtype)


for each, replacement in (
    ("gaussian_kernel_estimate", estimate),
    ("gaussian_kernel_estimate_log", log_estimate),
):
    compiled = getattr(getattr(_stats, each, None), "__signatures__", {})
    for precision in compiled.keys() & {"float", "double"}:
        derived_as(compiled[precision])(replacement)
