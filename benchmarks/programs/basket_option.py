"""Price of an Asian basket option with smoothed payoff and barrier, by Monte Carlo paths.

Style: a quant's pricing script: default_rng(seed), antithetic draws, payoffs as callables.
"""

import numpy as np
from scipy.stats import norm

from benchmarks.programs.program import Program


class GeometricBrownian:
    """Correlated assets with a volatility that depends on the level of each."""

    def __init__(self, spot, vol, corr, rate, skew):
        self.spot = np.asarray(spot, dtype=float)
        self.vol = np.asarray(vol)
        self.chol = np.linalg.cholesky(corr)
        self.rate = rate
        self.skew = skew

    def paths(self, n_paths, n_steps, maturity, rng):
        """Yield the assets at each date, as arrays of paths by assets."""
        dt = maturity / n_steps
        s = np.tile(self.spot, (n_paths, 1))
        for _ in range(n_steps):
            half = rng.standard_normal((n_paths // 2, len(self.spot)))
            z = np.concatenate([half, -half]) @ self.chol.T
            local = self.vol * np.exp(-self.skew * np.log(s / self.spot))
            s = s * np.exp((self.rate - 0.5 * local**2) * dt + local * np.sqrt(dt) * z)
            yield s


def asian_call(strike):
    """Pay what the mean of the dates is worth above the strike, with a soft kink."""
    return lambda average, final: np.logaddexp(0.0, average - strike)


def worst_of_put(strike, width):
    """Pay what the worst asset lacks, with a soft kink."""

    def payoff(average, final):
        lacking = (strike - final.min(axis=1)) / width
        return width * np.logaddexp(0.0, lacking)

    return payoff


class Barrier:
    """A payoff that vanishes, smoothly, if the basket has touched the barrier."""

    def __init__(self, payoff, level, smoothing):
        self.payoff, self.level, self.smoothing = payoff, level, smoothing

    def survival(self, basket):
        """Weight of each path at one date."""
        return norm.cdf((self.level - basket) / self.smoothing)

    def __call__(self, average, final, alive):
        """Return the payoff of each path."""
        return alive * self.payoff(average, final)


def control(model, weights, maturity):
    """Known mean of the basket at maturity."""
    return weights @ model.spot * np.exp(model.rate * maturity)


def price(spot, vol, corr, rate, strike, level, weights, n_paths, seed):
    """Price with the basket as a control variate, and a charge for the standard error."""
    maturity, n_steps = 1.0, 24
    rng = np.random.default_rng(seed)
    model = GeometricBrownian(spot, vol, corr, rate, skew=0.3)
    products = [
        (0.7, Barrier(asian_call(strike), level, smoothing=3.0)),
        (0.3, Barrier(worst_of_put(0.9 * strike, width=2.0), 1.1 * level, smoothing=3.0)),
    ]
    total = np.zeros(n_paths)
    alive = [np.ones(n_paths) for _ in products]
    for s in model.paths(n_paths, n_steps, maturity, rng):
        basket = s @ weights
        total += basket
        for n, (_, product) in enumerate(products):
            alive[n] *= product.survival(basket)
    average = total / n_steps
    discount = np.exp(-rate * maturity)
    values = sum(
        share * product(average, s, alive[n]) for n, (share, product) in enumerate(products)
    )
    values = discount * values
    beta = np.cov(values, basket)[0, 1] / np.var(basket, ddof=1)
    adjusted = values - beta * (basket - control(model, weights, maturity))
    error = adjusted.std(ddof=1) / np.sqrt(n_paths)
    return float(adjusted.mean() + 0.5 * error)


def arguments():
    """Return market data and terms of the contract."""
    corr = np.array([[1.0, 0.4, 0.2], [0.4, 1.0, 0.5], [0.2, 0.5, 1.0]])
    spot, vol = np.array([100.0, 95.0, 110.0]), np.array([0.2, 0.3, 0.25])
    return spot, vol, corr, 0.03, 100.0, 140.0, np.array([0.4, 0.35, 0.25]), 4000, 17


PROGRAM = Program(run=price, arguments=arguments, argnums=(0, 1, 2, 3, 4, 5, 6), group="arrays")
