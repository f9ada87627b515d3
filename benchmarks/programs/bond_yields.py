"""Yields and credit spreads of bonds by root finding, with default risk by quadrature.

Style: a quantitative analyst: lambdas to brentq and quad inside loops, namedtuples, comprehension.
"""

import math
from collections import namedtuple

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

from benchmarks.programs.program import Program

Bond = namedtuple("Bond", "coupon maturity frequency price")


class Curve:
    """Zero rates by Nelson and Siegel."""

    def __init__(self, level, slope, hump, scale):
        self.level, self.slope, self.hump, self.scale = level, slope, hump, scale

    def zero(self, t):
        """Zero rate for a time."""
        x = t / self.scale
        loading = -math.expm1(-x) / x if x > 1e-8 else 1.0
        return self.level + self.slope * loading + self.hump * (loading - math.exp(-x))

    def discount(self, t):
        """Discount factor for a time."""
        return math.exp(-self.zero(t) * t)


class Hazard:
    """Intensity of default that reverts to a mean."""

    def __init__(self, now, mean, speed):
        self.now, self.mean, self.speed = now, mean, speed

    def __call__(self, t):
        """Return the intensity at a time."""
        return self.mean + (self.now - self.mean) * math.exp(-self.speed * t)

    def survival(self, t):
        """Probability to survive until a time."""
        area, _ = quad(self, 0.0, t)
        return math.exp(-area)


def cash_flows(bond):
    """Return times and amounts."""
    n = round(bond.maturity * bond.frequency)
    times = [(k + 1) / bond.frequency for k in range(n)]
    amounts = [100.0 * bond.coupon / bond.frequency] * n
    amounts[-1] += 100.0
    return times, amounts


def risky_price(bond, curve, hazard, recovery):
    """Price with default: promised payments if alive, recovery at default."""
    times, amounts = cash_flows(bond)
    promised = sum(a * curve.discount(t) * hazard.survival(t) for t, a in zip(times, amounts))

    def density(t):
        return hazard(t) * math.exp(-hazard.mean * t) * curve.discount(t)

    recovered, _ = quad(density, 0.0, bond.maturity, epsabs=1e-10)
    return promised + 100.0 * recovery * recovered


def yield_to_maturity(bond, price):
    """Solve for the yield that gives the price."""
    times, amounts = cash_flows(bond)

    def excess(y):
        return sum(a * math.exp(-y * t) for t, a in zip(times, amounts)) - price

    return brentq(excess, -0.5, 2.0, xtol=1e-13)


def spread_over(bond, curve, price):
    """Solve for the constant spread over the curve."""
    times, amounts = cash_flows(bond)
    return brentq(
        lambda s: (
            sum(a * curve.discount(t) * math.exp(-s * t) for t, a in zip(times, amounts)) - price
        ),
        -0.5,
        2.0,
        xtol=1e-13,
    )


def duration(bond, y):
    """Mean time of the payments."""
    times, amounts = cash_flows(bond)
    values = np.array([a * math.exp(-y * t) for t, a in zip(times, amounts)])
    return np.dot(values, times) / values.sum()


def misfit(curve_parameters, hazard_parameters, recovery, bonds):
    """Compare yields of the model with those of the market, weighted by duration."""
    curve = Curve(*curve_parameters)
    hazard = Hazard(*hazard_parameters)
    total, weights = 0.0, 0.0
    spreads = []
    for bond in bonds:
        model = risky_price(bond, curve, hazard, recovery)
        quoted = yield_to_maturity(bond, bond.price)
        fitted = yield_to_maturity(bond, model)
        weight = 1.0 / duration(bond, quoted)
        total += weight * (1e4 * (fitted - quoted)) ** 2
        weights += weight
        spreads.append(spread_over(bond, curve, bond.price))
    roughness = float(np.sum(np.diff(spreads, 2) ** 2))
    return math.sqrt(total / weights) + 1e4 * roughness


def arguments():
    """Return parameters of curve and hazard, recovery, and bonds."""
    rng = np.random.default_rng(18)
    kinds = [(0.03, 2, 1), (0.045, 4, 2), (0.05, 5, 1), (0.035, 7, 2), (0.06, 10, 1)]
    bonds = [
        Bond(coupon, years, frequency, float(92.0 + rng.uniform(0.0, 8.0)))
        for coupon, years, frequency in kinds * 8
    ]
    return [0.04, -0.015, 0.01, 1.8], [0.01, 0.025, 0.3], 0.4, bonds


PROGRAM = Program(run=misfit, arguments=arguments, argnums=(0, 1, 2, 3), group="callbacks")
