"""Smoothed trend and season of a monthly series, by the Rauch-Tung-Striebel recursion.

Style: a statistician's functions that pass lists of matrices, one for each time.
"""

import numpy as np
from scipy import linalg

from benchmarks.programs.program import Program

PERIOD = 4


def structural_model(variances):
    """Return transition, noise and observation of a local trend with a season."""
    level, slope, season, observation = variances
    trend = np.array([[1.0, 1.0], [0.0, 1.0]])
    seasonal = np.vstack([-np.ones(PERIOD - 1), np.eye(PERIOD - 2, PERIOD - 1)])
    transition = linalg.block_diag(trend, seasonal)
    noise = np.diag(np.array([level, slope, season] + [0.0] * (PERIOD - 2)))
    design = np.array([1.0, 0.0, 1.0] + [0.0] * (PERIOD - 2))
    return transition, noise, design, observation


def symmetric(a):
    """Return the symmetric part of a matrix."""
    return 0.5 * (a + a.T)


def filter_series(series, model, mean, covariance):
    """Run the filter, and return lists of predicted and filtered moments."""
    transition, noise, design, observation = model
    predicted, filtered = [], []
    for y in series:
        mean = transition @ mean
        covariance = symmetric(transition @ covariance @ transition.T + noise)
        predicted.append((mean, covariance))
        spread = covariance @ design
        variance = design @ spread + observation
        gain = spread / variance
        mean = mean + gain * (y - design @ mean)
        covariance = symmetric(covariance - np.outer(gain, spread))
        filtered.append((mean, covariance))
    return predicted, filtered


def smooth_series(predicted, filtered, transition):
    """Run backwards through the lists."""
    means = [filtered[-1][0]]
    covariances = [filtered[-1][1]]
    gains = []
    for t in range(len(filtered) - 2, -1, -1):
        mean, covariance = filtered[t]
        next_mean, next_covariance = predicted[t + 1]
        gain = linalg.solve(next_covariance, transition @ covariance, assume_a="pos").T
        means.insert(0, mean + gain @ (means[0] - next_mean))
        covariances.insert(
            0, symmetric(covariance + gain @ (covariances[0] - next_covariance) @ gain.T)
        )
        gains.insert(0, gain)
    return means, covariances, gains


def lagged(covariances, gains):
    """Return the covariances of neighbouring states."""
    return [later @ gain.T for later, gain in zip(covariances[1:], gains)]


def expected_cost(log_variances, start, series):
    """Return minus the expected complete log likelihood, as the EM algorithm needs it."""
    model = structural_model(np.exp(log_variances))
    transition, noise, design, observation = model
    predicted, filtered = filter_series(series, model, start, 10.0 * np.eye(len(start)))
    means, covariances, gains = smooth_series(predicted, filtered, transition)
    cost = 0.0
    for y, m, c in zip(series, means, covariances):
        cost += 0.5 * (np.log(observation) + ((y - design @ m) ** 2 + design @ c @ design))
    active = slice(0, 3)
    weights = 1.0 / np.diag(noise)[active]
    for t, cross in enumerate(lagged(covariances, gains)):
        step = means[t + 1] - transition @ means[t]
        second = (
            np.outer(step, step)
            + covariances[t + 1]
            + transition @ covariances[t] @ transition.T
            - cross @ transition.T
            - transition @ cross.T
        )
        cost += 0.5 * (weights @ np.diag(second)[active] - np.sum(np.log(weights)))
    return float(cost / len(series))


def arguments():
    """Return log variances, the first state, and a series with trend and season."""
    rng = np.random.default_rng(7)
    t = np.arange(120)
    series = 0.1 * t + np.sin(0.5 * np.pi * t) + rng.normal(0.0, 0.4, len(t)).cumsum() * 0.3
    start = np.array([0.2, 0.1, 0.0, 1.0, 0.0])
    return np.array([-2.0, -4.0, -3.0, -1.5]), start, series


PROGRAM = Program(run=expected_cost, arguments=arguments, argnums=(0, 1, 2), group="arrays")
