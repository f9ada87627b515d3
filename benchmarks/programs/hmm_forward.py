"""Log likelihood of a hidden Markov model of animal movement, by the scaled forward algorithm.

Style: an ecologist's script: dicts of parameters, densities by state, scipy.stats and special.
"""

import numpy as np
from scipy.special import gammaln, i0e, softmax

from benchmarks.programs.program import Program


def gamma_density(x, mean, sd):
    """Density of step lengths."""
    shape = mean**2 / sd**2
    rate = mean / sd**2
    return np.exp(shape * np.log(rate) - gammaln(shape) + (shape - 1) * np.log(x) - rate * x)


def vonmises_density(angle, centre, kappa):
    """Density of turning angles."""
    return np.exp(kappa * (np.cos(angle - centre) - 1.0)) / (2.0 * np.pi * i0e(kappa))


def transition_matrix(coefficients, covariate):
    """Transition probabilities, which depend on a covariate, by a softmax of each row."""
    n_states = coefficients.shape[1]
    eta = np.zeros((n_states, n_states))
    row = 0
    for i in range(n_states):
        for j in range(n_states):
            if i != j:
                eta[i, j] = coefficients[0, i] + coefficients[1, j] * covariate - 0.1 * row
                row += 1
    return softmax(eta, axis=1)


def stationary(gamma):
    """Stationary distribution of a transition matrix."""
    n = gamma.shape[0]
    a = np.eye(n) - gamma + np.ones((n, n))
    return np.linalg.solve(a.T, np.ones(n))


def state_densities(track, par):
    """Density of each observation in each state; missing angles count as one."""
    n_states = len(par["step_mean"])
    probs = np.ones((len(track["step"]), n_states))
    for s in range(n_states):
        probs[:, s] *= gamma_density(track["step"], par["step_mean"][s], par["step_sd"][s])
        seen = ~np.isnan(track["angle"])
        probs[seen, s] *= vonmises_density(
            track["angle"][seen], par["angle_mean"][s], par["angle_kappa"][s]
        )
    return probs


def natural(working):
    """Transform unconstrained parameters to those of the densities."""
    return {
        "step_mean": np.exp(working["step_mean"]),
        "step_sd": np.exp(working["step_sd"]),
        "angle_mean": working["angle_mean"],
        "angle_kappa": np.exp(working["angle_kappa"]),
        "beta": working["beta"],
    }


def forward(probs, matrices, delta):
    """Log likelihood by scaled forward probabilities."""
    loglik = 0.0
    alpha = delta * probs[0]
    for t in range(len(probs)):
        if t > 0:
            alpha = alpha @ matrices[t] * probs[t]
        scale = alpha.sum()
        loglik += np.log(scale)
        alpha = alpha / scale
    return loglik


def negative_log_likelihood(working, tracks):
    """Sum over the animals, with a weak prior on the coefficients."""
    par = natural(working)
    total = 0.0
    for track in tracks:
        probs = state_densities(track, par)
        matrices = [transition_matrix(par["beta"], z) for z in track["temperature"]]
        total -= forward(probs, matrices, stationary(matrices[0]))
    return float(total + 0.5 * np.sum(par["beta"] ** 2))


def simulate_track(rng, length):
    """Return a track of three behaviours with some missing angles."""
    state = np.repeat(rng.integers(0, 3, length // 10 + 1), 10)[:length]
    angle = rng.vonmises(0.0, np.array([0.5, 2.0, 8.0])[state])
    angle[rng.random(length) < 0.1] = np.nan
    return {
        "step": rng.gamma(2.0, np.array([0.1, 0.6, 2.0])[state]) + 1e-3,
        "angle": angle,
        "temperature": rng.normal(size=length),
    }


def arguments():
    """Return starting values and four tracks."""
    rng = np.random.default_rng(5)
    working = {
        "step_mean": np.log([0.3, 1.0, 4.0]),
        "step_sd": np.log([0.2, 0.9, 2.5]),
        "angle_mean": np.array([0.1, 0.0, -0.05]),
        "angle_kappa": np.log([0.6, 2.0, 6.0]),
        "beta": rng.normal(0.0, 0.3, (2, 3)) - np.array([[1.5], [0.0]]),
    }
    return working, [simulate_track(rng, 150) for _ in range(4)]


PROGRAM = Program(run=negative_log_likelihood, arguments=arguments, argnums=(0,), group="arrays")
