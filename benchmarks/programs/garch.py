"""Likelihood of daily returns with asymmetric GARCH volatility and Student's t.

Style: an econometrician's model class: parameters by name, loops over time, vectorized parts.
"""

from collections import OrderedDict

import numpy as np
from scipy.special import gammaln

from benchmarks.programs.program import Program


class ConstantMean:
    """Returns around a constant."""

    names = ("mu",)

    def residuals(self, params, y):
        """Return the residuals of the mean."""
        return y - params["mu"]


class AutoregressiveMean(ConstantMean):
    """Returns that depend on those of the day before."""

    names = ("mu", "phi")

    def residuals(self, params, y):
        """Return the residuals of the mean."""
        e = np.empty_like(y)
        e[0] = y[0] - params["mu"]
        e[1:] = y[1:] - params["mu"] - params["phi"] * y[:-1]
        return e


class GJR:
    """Variance that reacts more to losses than to gains."""

    names = ("omega", "alpha", "gamma", "beta")

    def variance(self, params, e):
        """Recursion of the conditional variance, from a backcast."""
        omega, alpha = params["omega"], params["alpha"]
        gamma, beta = params["gamma"], params["beta"]
        weights = 0.94 ** np.arange(75)
        h = np.zeros(len(e))
        backcast = np.dot(weights, e[:75] ** 2) / weights.sum()
        h[0] = omega + (alpha + 0.5 * gamma + beta) * backcast
        for t in range(1, len(e)):
            h[t] = omega + beta * h[t - 1] + alpha * e[t - 1] ** 2
            if e[t - 1] < 0:
                h[t] += gamma * e[t - 1] ** 2
        return h

    def persistence(self, params):
        """How much of a shock lasts to the next day."""
        return params["alpha"] + 0.5 * params["gamma"] + params["beta"]


class StudentT:
    """Standardized t distribution."""

    names = ("nu",)

    def loglikelihood(self, params, e, h):
        """Sum of the log densities."""
        nu = params["nu"]
        constant = gammaln(0.5 * (nu + 1)) - gammaln(0.5 * nu) - 0.5 * np.log(np.pi * (nu - 2))
        terms = constant - 0.5 * np.log(h)
        terms -= 0.5 * (nu + 1) * np.log1p(e**2 / (h * (nu - 2)))
        return terms.sum()


class Model:
    """A mean, a variance and a distribution."""

    def __init__(self, y, mean, volatility, distribution):
        self.y = np.asarray(y)
        self.parts = [mean, volatility, distribution]

    @property
    def names(self):
        """Names of all parameters, in order."""
        return [name for part in self.parts for name in part.names]

    def unpack(self, theta):
        """Return a dict for each part."""
        named = OrderedDict(zip(self.names, theta))
        return [{name: named[name] for name in part.names} for part in self.parts]

    def negative_loglikelihood(self, theta):
        """Objective for the optimizer, with a penalty near the unit root."""
        mean, volatility, distribution = self.parts
        p_mean, p_vol, p_dist = self.unpack(theta)
        e = mean.residuals(p_mean, self.y)
        h = volatility.variance(p_vol, e)
        h = np.clip(h, 1e-8, None)
        value = -distribution.loglikelihood(p_dist, e, h)
        slack = 1.0 - volatility.persistence(p_vol)
        return value - 0.1 * np.log(slack)


def objective(theta, returns):
    """Negative log likelihood of returns in percent."""
    model = Model(100.0 * returns, AutoregressiveMean(), GJR(), StudentT())
    return float(model.negative_loglikelihood(theta) / len(returns))


def arguments():
    """Return parameters, and returns whose volatility clusters."""
    rng = np.random.default_rng(10)
    n = 10_000
    z = rng.standard_t(6, n) / np.sqrt(1.5)
    calm = 0.008 * np.exp(0.5 * np.sin(np.arange(n) / 120.0))
    theta = np.array([0.03, 0.05, 0.02, 0.05, 0.08, 0.88, 7.0])
    return theta, calm * z


PROGRAM = Program(run=objective, arguments=arguments, argnums=(0, 1), group="arrays")
