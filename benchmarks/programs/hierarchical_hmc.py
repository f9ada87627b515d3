"""Leapfrog paths of Hamiltonian Monte Carlo for a hierarchical regression.

Style: a Bayesian's own sampler: log densities as functions, handwritten gradients, dataclasses.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy import stats

from benchmarks.programs.program import Program


@dataclass
class Data:
    """Observations of groups."""

    x: np.ndarray
    y: np.ndarray
    group: np.ndarray
    n_groups: int


@dataclass
class Priors:
    """Hyperparameters."""

    mu_scale: float
    tau_scale: float
    sigma_scale: float
    slope_scale: float = 1.0


@dataclass
class State:
    """Position and momentum."""

    q: np.ndarray
    p: np.ndarray
    energies: list = field(default_factory=list)


def split(q, n_groups):
    """Return offsets of groups, mean, log tau, slope and log sigma."""
    return q[:n_groups], q[n_groups], q[n_groups + 1], q[n_groups + 2], q[n_groups + 3]


def log_posterior(q, data, priors):
    """Log density up to a constant, offsets not centred."""
    z, mu, log_tau, slope, log_sigma = split(q, data.n_groups)
    tau, sigma = np.exp(log_tau), np.exp(log_sigma)
    theta = mu + tau * z
    value = np.sum(stats.norm.logpdf(data.y, theta[data.group] + slope * data.x, sigma))
    value += stats.norm.logpdf(mu, 0.0, priors.mu_scale)
    value += stats.norm.logpdf(slope, 0.0, priors.slope_scale)
    value += stats.halfcauchy.logpdf(tau, scale=priors.tau_scale) + log_tau
    value += stats.halfcauchy.logpdf(sigma, scale=priors.sigma_scale) + log_sigma
    return value - 0.5 * z @ z


def gradient(q, data, priors):
    """Gradient of the log posterior, derived on paper."""
    z, mu, log_tau, slope, log_sigma = split(q, data.n_groups)
    tau, sigma = np.exp(log_tau), np.exp(log_sigma)
    residual = data.y - (mu + tau * z[data.group] + slope * data.x)
    scaled = residual / sigma**2
    by_group = np.bincount(data.group, weights=scaled, minlength=data.n_groups)
    g = np.zeros_like(q)
    n = data.n_groups
    g[:n] = tau * by_group - z
    g[n] = scaled.sum() - mu / priors.mu_scale**2
    g[n + 1] = tau * (by_group @ z) + 1.0 - 2.0 * tau**2 / (priors.tau_scale**2 + tau**2)
    g[n + 2] = scaled @ data.x - slope / priors.slope_scale**2
    g[n + 3] = np.sum(residual * scaled) - len(data.y) + 1.0
    g[n + 3] -= 2.0 * sigma**2 / (priors.sigma_scale**2 + sigma**2)
    return g


def leapfrog(state, step, n_steps, data, priors):
    """Move the state along its path, in place."""
    state.p += 0.5 * step * gradient(state.q, data, priors)
    for i in range(n_steps):
        state.q += step * state.p
        scale = 1.0 if i < n_steps - 1 else 0.5
        state.p += scale * step * gradient(state.q, data, priors)
    state.energies.append(0.5 * state.p @ state.p - log_posterior(state.q, data, priors))


def expected_jump(q0, step, priors, data, n_paths=12, n_steps=15, seed=4):
    """Mean squared jump, weighted by acceptance: a criterion to tune the step."""
    rng = np.random.default_rng(seed)
    state = State(q0.copy(), np.zeros_like(q0))
    total = 0.0
    for _ in range(n_paths):
        before = state.q.copy()
        state.p = rng.standard_normal(len(q0))
        start = 0.5 * state.p @ state.p - log_posterior(state.q, data, priors)
        leapfrog(state, step, n_steps, data, priors)
        change = state.energies[-1] - start
        total += np.sum((state.q - before) ** 2) / (1.0 + np.exp(change))
    return float(total / n_paths + 0.01 * np.std(state.energies))


def arguments():
    """Return a start, a step, priors, and data of eight groups."""
    rng = np.random.default_rng(12)
    group = rng.integers(0, 8, 120)
    x = rng.normal(size=120)
    y = rng.normal(1.0, 0.7, 8)[group] + 0.5 * x + rng.normal(0.0, 0.4, 120)
    q0 = np.concatenate([rng.normal(0.0, 0.3, 8), [0.9, -0.5, 0.4, -0.8]])
    return q0, 0.02, Priors(5.0, 1.0, 1.0), Data(x, y, group, 8)


PROGRAM = Program(run=expected_jump, arguments=arguments, argnums=(0, 1, 2), group="arrays")
