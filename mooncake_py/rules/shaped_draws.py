"""Draws with shape parameters: of gamma, beta, Dirichlet, Student's t and others.

A draw y from the distribution function F(y; a) is the quantile of a probability u = F(y; a), which
is uniform for every a.  The derivative holds u fixed,

    dy/da = -(dF/da) / (dF/dy),

so the mean of the derivatives of g(y) is the derivative of the mean of g(y): M. Figurnov,
S. Mohamed and A. Mnih, "Implicit reparameterization gradients" (2018).  It is not the limit of
differences of draws with one seed: NumPy draws by rejection, and what is rejected depends on a.

SciPy has the distribution functions.  Rules for it fill in the slopes dy/da.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.random import Generator, RandomState

from mooncake_py.rules.axes import Result
from mooncake_py.rules.declare import from_vjp, not_implemented, overlay, zero_derivative
from mooncake_py.rules.kinds import NotImplementedDerivative
from mooncake_py.rules.matrices import inverse_or_zero
from mooncake_py.rules.plain_values import held
from mooncake_py.rules.random import constant_parameter, drawn
from mooncake_py.rules.sources import without_rule

__all__ = ["SLOPES", "Slope"]

Slope = Callable[..., Any]

SLOPES: dict[str, Slope] = {}
"""From a family to the function ``(i, y, *parameters)``: the slope of a draw in a parameter."""


def slope_of(family: str) -> Slope | NotImplementedDerivative:
    """Return the slopes of a family, for which SciPy is imported if it is there."""
    if family not in SLOPES:
        from mooncake_py.rules.optional import load_imported

        try:
            importlib.import_module("scipy.special")
        except ModuleNotFoundError:
            return not_implemented(
                f"the derivative of draws in a parameter of shape ({family}) needs SciPy",
                fix="install it: python -m pip install scipy",
            )
        load_imported()
    return SLOPES.get(family) or not_implemented(
        f"this version of SciPy lacks the distribution function of {family}"
    )


zero_derivative(slope_of, because="chooses a formula")


def along(family: str, i: int, dy: Any, y: Any, *parameters: Any) -> Any:
    """Return the cotangent of a parameter."""
    slope = slope_of(family)
    if isinstance(slope, NotImplementedDerivative):
        return slope
    return dy * slope(i, np.asarray(y), *[np.asarray(v, float) for v in parameters])


def methods(name: str) -> tuple[Any, ...]:
    """Return the method of the new and of the former generators."""
    return getattr(Generator, name), getattr(RandomState, name)


@overlay(Generator.standard_gamma)
def standard_gamma(
    self: Generator, shape: Any, size: Any = None, dtype: Any = np.float64, out: Any = None
) -> Any:
    """Draw; without a size, `out` says how many."""
    y = standard_draws(self, shape, size, dtype, out)
    if out is None:
        return y
    out[...] = y
    return out


def standard_draws(
    generator: Generator, shape: Any, size: Any, dtype: Any, out: ndarray | None
) -> Any:
    """Return new draws, as many as there are elements of `out`."""
    into = None if out is None else np.empty_like(out)
    return generator.standard_gamma(shape, size, dtype, into)


@from_vjp(standard_draws)
def standard_draws_rule(
    generator: Generator, shape: Any, size: Any, dtype: Any, out: ndarray | None
) -> Result:
    y = standard_draws(generator, shape, size, dtype, out)
    return y, lambda dy: (None, lambda: along("gamma", 0, dy, y, shape), None, None, None)


@from_vjp(RandomState.standard_gamma)
def legacy_standard_gamma_rule(self: RandomState, shape: Any, size: Any = None) -> Result:
    y = self.standard_gamma(shape, size)
    return y, lambda dy: (None, lambda: along("gamma", 0, dy, y, shape))


@from_vjp(*methods("gamma"))
def gamma_rule(self: Any, shape: Any, scale: Any = 1.0, size: Any = None) -> Result:
    """Return y = scale z, where z has a scale of one."""
    y, z = drawn("gamma", self, (shape, scale), size, scale, (shape, 1.0))

    def standard() -> Any:
        return y / np.asarray(scale) if z is None else z

    def gamma_pullback(dy: Any) -> tuple[Any, ...]:
        of_shape = along("gamma", 0, dy * np.asarray(scale), standard(), shape)
        return None, of_shape, lambda: dy * standard()

    return y, gamma_pullback


@from_vjp(*methods("chisquare"))
def chisquare_rule(self: Any, df: Any, size: Any = None) -> Result:
    """Return y = 2 z, where z is a gamma draw of the shape df / 2."""
    y = self.chisquare(df, size)
    return y, lambda dy: (
        None,
        lambda: along("gamma", 0, dy, np.asarray(y) / 2, np.asarray(df) / 2),
    )


@from_vjp(*methods("beta"))
def beta_rule(self: Any, a: Any, b: Any, size: Any = None) -> Result:
    y = self.beta(a, b, size)
    return y, lambda dy: (None, *in_each("beta", dy, y, a, b))


@from_vjp(*methods("f"))
def f_rule(self: Any, dfnum: Any, dfden: Any, size: Any = None) -> Result:
    y = self.f(dfnum, dfden, size)
    return y, lambda dy: (None, *in_each("f", dy, y, dfnum, dfden))


@from_vjp(*methods("standard_t"))
def standard_t_rule(self: Any, df: Any, size: Any = None) -> Result:
    y = self.standard_t(df, size)
    return y, lambda dy: (None, *in_each("standard_t", dy, y, df))


@from_vjp(*methods("wald"))
def wald_rule(self: Any, mean: Any, scale: Any, size: Any = None) -> Result:
    y = self.wald(mean, scale, size)
    return y, lambda dy: (None, *in_each("wald", dy, y, mean, scale))


@from_vjp(*methods("noncentral_chisquare"))
def noncentral_chisquare_rule(self: Any, df: Any, nonc: Any, size: Any = None) -> Result:
    y = self.noncentral_chisquare(df, nonc, size)
    return y, lambda dy: (None, *in_each("noncentral_chisquare", dy, y, df, nonc))


@from_vjp(*methods("noncentral_f"))
def noncentral_f_rule(self: Any, dfnum: Any, dfden: Any, nonc: Any, size: Any = None) -> Result:
    y = self.noncentral_f(dfnum, dfden, nonc, size)
    return y, lambda dy: (None, *in_each("noncentral_f", dy, y, dfnum, dfden, nonc))


def in_each(family: str, dy: Any, y: Any, *parameters: Any) -> list[Callable[[], Any]]:
    """Return the cotangents of all parameters, each computed when it is wanted."""
    return [lambda i=i: along(family, i, dy, y, *parameters) for i in range(len(parameters))]


# Dirichlet: y_j = v_j (1 - v_1) ... (1 - v_(j-1)), where v_j is a draw of beta by itself, with the
# parameters alpha_j and alpha_(j+1) + ... + alpha_k.


@from_vjp(*methods("dirichlet"))
def dirichlet_rule(self: Any, alpha: Any, size: Any = None) -> Result:
    y = self.dirichlet(alpha, size)
    return y, lambda dy: (None, lambda: dirichlet_cotangent(dy, y, np.asarray(alpha, float)))


def dirichlet_cotangent(dy: ndarray, y: ndarray, alpha: ndarray) -> Any:
    """Return the cotangent of the parameters: through each v, and its share of those after it."""
    rest, further = sums_from(y), sums_from(alpha)[1:]
    inverse = inverse_or_zero(rest)
    v = (y * inverse)[..., :-1]
    after = sums_from(dy * y)[..., 1:] * inverse[..., 1:]
    dv = rest[..., :-1] * (dy[..., :-1] - after)
    of_first = along("beta", 0, dv, v, alpha[:-1], further)
    if isinstance(of_first, NotImplementedDerivative):
        return of_first
    of_further = along("beta", 1, dv, v, alpha[:-1], further)
    none = np.zeros((*y.shape[:-1], 1))
    shares = np.concatenate([none, np.cumsum(of_further, axis=-1)], axis=-1)
    return np.concatenate([of_first, none], axis=-1) + shares


def sums_from(x: ndarray) -> ndarray:
    """Return for each element the sum of itself and those after it."""
    return np.cumsum(x[..., ::-1], axis=-1)[..., ::-1]


# The `random` module draws by rejection too, in Python; its `betavariate` is made of two gammas.

plain_gammavariate = without_rule(random.Random.gammavariate)
plain_vonmisesvariate = without_rule(random.Random.vonmisesvariate)


@overlay(random.Random.gammavariate)
def gammavariate(self: random.Random, alpha: Any, beta: Any) -> Any:
    return gamma_draw(plain_gammavariate(self, held(alpha), held(beta)), alpha, beta)


def gamma_draw(y: Any, alpha: Any, beta: Any) -> Any:
    """Return a draw that is there, which has slopes in its parameters."""
    return y


@from_vjp(gamma_draw)
def gamma_draw_rule(y: Any, alpha: Any, beta: Any) -> Result:
    y = gamma_draw(y, alpha, beta)

    def gamma_draw_pullback(dy: Any) -> tuple[Any, ...]:
        z = y / beta
        return None, lambda: along("gamma", 0, dy * beta, z, alpha), lambda: dy * z

    return y, gamma_draw_pullback


@overlay(random.Random.vonmisesvariate)
def vonmisesvariate(self: random.Random, mu: Any, kappa: Any) -> Any:
    return direction_draw(plain_vonmisesvariate(self, held(mu), held(kappa)), mu, kappa)


def direction_draw(y: Any, mu: Any, kappa: Any) -> Any:
    """Return a draw that is there, which turns with `mu`."""
    return y


@from_vjp(direction_draw)
def direction_draw_rule(y: Any, mu: Any, kappa: Any) -> Result:
    """Without a preferred direction Python leaves mu out."""
    dmu = 0.0 if kappa <= 1e-6 else 1.0
    return y, lambda dy: (None, dmu * dy, constant_parameter("vonmisesvariate", "kappa"))
