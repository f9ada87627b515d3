"""Draws made from others by a smooth map: of Weibull, Pareto, power, triangular, normal.

The map is the one that NumPy uses, so that the derivative is that of the very numbers drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray
from numpy.random import Generator, RandomState

from mooncake_py.rules.axes import Result, owned
from mooncake_py.rules.declare import from_vjp, overlay, zero_derivative
from mooncake_py.rules.gauge import inverse_differences, rounding
from mooncake_py.rules.generator_states import rewound, source_of, state_of
from mooncake_py.rules.random import constant_parameter

__all__: list[str] = []


@from_vjp(Generator.vonmises, RandomState.vonmises)
def vonmises_rule(self: Any, mu: Any, kappa: Any, size: Any = None) -> Result:
    """Return y = mu + z, brought into one turn, where z depends on kappa by rejection.

    For a tiny kappa NumPy draws from the whole turn, and leaves mu out.
    """
    y = self.vonmises(mu, kappa, size)

    def vonmises_pullback(dy: Any) -> tuple[Any, ...]:
        dmu = np.where(np.asarray(kappa) < UNIFORM_BELOW, 0.0, dy)
        return None, dmu, constant_parameter("vonmises", "kappa")

    return y, vonmises_pullback


UNIFORM_BELOW = 1e-8


# Powers of draws: y = u^(1/a), so that dy/da = -y log(y) / a.


@from_vjp(Generator.weibull, RandomState.weibull)
def weibull_rule(self: Any, a: Any, size: Any = None) -> Result:
    y = self.weibull(a, size)
    return y, lambda dy: (None, power_cotangent(dy, y, a))


@from_vjp(Generator.power, RandomState.power)
def power_rule(self: Any, a: Any, size: Any = None) -> Result:
    y = self.power(a, size)
    return y, lambda dy: (None, power_cotangent(dy, y, a))


@from_vjp(Generator.pareto, RandomState.pareto)
def pareto_rule(self: Any, a: Any, size: Any = None) -> Result:
    """Return y = u^(-1/a) - 1."""
    y = self.pareto(a, size)
    return y, lambda dy: (None, power_cotangent(dy, 1 + np.asarray(y), a))


def power_cotangent(dy: Any, y: Any, a: Any) -> Any:
    """Return -dy y log(y) / a, and zero where y or a is zero."""
    y = np.asarray(y)
    return -dy * quotient_or_zero(y * np.log(np.where(y > 0, y, 1)), a)


@from_vjp(Generator.triangular, RandomState.triangular)
def triangular_rule(self: Any, left: Any, mode: Any, right: Any, size: Any = None) -> Result:
    """Return the inverse of the distribution at u.

    Up to the mode y = left + s with s = sqrt(u (mode - left) (right - left)), beyond it
    y = right - s with s = sqrt((1 - u) (right - mode) (right - left)).
    """
    y = self.triangular(left, mode, right, size)

    def triangular_pullback(dy: Any) -> tuple[Any, ...]:
        low, middle, high = (np.asarray(x, float) for x in (left, mode, right))
        rises = y <= middle
        s = np.where(rises, y - low, high - y) / 2
        by_side = quotient_or_zero(s, np.where(rises, middle - low, high - middle))
        by_base = s / (high - low)
        own = 1 - by_side - by_base
        dleft, dright = np.where(rises, own, by_base), np.where(rises, by_base, own)
        return None, dy * dleft, dy * by_side, dy * dright

    return y, triangular_pullback


def quotient_or_zero(a: Any, b: Any) -> Any:
    """Return a / b, and zero where b is zero."""
    b = np.broadcast_to(np.asarray(b, dtype=float), np.shape(a))
    return np.divide(a, b, out=np.zeros_like(b), where=b != 0)


# Several normal numbers with a covariance: mean + z F', where F F' = cov.  Of equal eigenvalues the
# vectors in F are any basis, and F has no derivative.  Half of dcov cov^-1 (y - mean) moves draws
# from one distribution to the other as well (by Stein's lemma), whatever F is.


@overlay(Generator.multivariate_normal)
def multivariate_normal(
    self: Generator,
    mean: Any,
    cov: Any,
    size: Any = None,
    check_valid: str = "warn",
    tol: float = 1e-8,
    *,
    method: str = "svd",
) -> Any:
    mean, cov = np.asarray(mean), np.asarray(cov).astype(np.float64)
    z = numbers_behind(self, mean, cov, size, check_valid, tol, method=method)
    if method != "cholesky" and has_free_basis(cov):
        return normal_draws(plain_draws(from_numbers, z, mean, cov, method), mean, cov)
    return from_numbers(z, mean, cov, method)


def from_numbers(z: ndarray, mean: Any, cov: Any, method: str) -> Any:
    """Return mean + z F'."""
    if method == "cholesky":
        factor = np.linalg.cholesky(cov)
    elif method == "eigh":
        s, u = np.linalg.eigh(cov)
        factor = u * np.sqrt(np.abs(s))
    else:
        u, s, _ = np.linalg.svd(cov)
        factor = u * np.sqrt(s)
    return owned(mean + np.reshape(z, (-1, mean.size)) @ factor.T, z.shape)


@overlay(RandomState.multivariate_normal)
def legacy_multivariate_normal(
    self: RandomState,
    mean: Any,
    cov: Any,
    size: Any = None,
    check_valid: str = "warn",
    tol: float = 1e-8,
) -> Any:
    mean, cov = np.asarray(mean), np.asarray(cov).astype(np.float64)
    z = numbers_behind(self, mean, cov, size, check_valid, tol)
    if has_free_basis(cov):
        return normal_draws(plain_draws(legacy_from_numbers, z, mean, cov), mean, cov)
    return legacy_from_numbers(z, mean, cov)


def legacy_from_numbers(z: ndarray, mean: Any, cov: Any) -> Any:
    """Return z F' + mean, in the order of the former generators."""
    _, s, vh = np.linalg.svd(cov)
    return owned(np.reshape(z, (-1, mean.size)) @ (np.sqrt(s)[:, None] * vh) + mean, z.shape)


def has_free_basis(cov: ndarray) -> bool:
    """Return whether eigenvalues coincide, of a matrix that is not singular."""
    w = np.linalg.eigvalsh(cov)
    _, coincide = inverse_differences(w)
    return bool(np.count_nonzero(coincide) > w.size and w[0] > rounding(w)[0])


def plain_draws(made_by: Any, *args: Any) -> ndarray:
    """Return draws without a derivative."""
    return made_by(*args)


def normal_draws(y: ndarray, mean: Any, cov: Any) -> Any:
    """Return draws that are there, which have a derivative in mean and covariance."""
    return y.copy()


@from_vjp(normal_draws)
def normal_draws_rule(y: ndarray, mean: Any, cov: Any) -> Result:
    result = normal_draws(y, mean, cov)

    def normal_draws_pullback(dy: ndarray) -> tuple[Any, ...]:
        dy = np.reshape(dy, (-1, mean.size))
        from_mean = np.reshape(result, (-1, mean.size)) - mean
        dcov = dy.T @ np.linalg.solve(cov, from_mean.T).T
        return None, np.sum(dy, axis=0), (dcov + dcov.T) / 4

    return result, normal_draws_pullback


def numbers_behind(generator: Any, *arguments: Any, **options: Any) -> ndarray:
    """Draw from the normal distribution with NumPy's checks, and return what it is made from."""
    source = source_of(generator)
    before = state_of(source)
    shape = generator.multivariate_normal(*arguments, **options).shape
    with rewound(source, before):
        return generator.standard_normal(shape)


zero_derivative(
    has_free_basis, numbers_behind, plain_draws,
    because="draws without parameters that have a derivative",
)  # fmt: skip
