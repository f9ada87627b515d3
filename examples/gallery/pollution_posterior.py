"""Sample the posterior of a pollution, by NUTS of PyMC through a simulation written in NumPy.

At an unknown place something leaked into a canal. Six stations measured the concentration
for ten hours, with noise. Place, amount, speed of the water and diffusion are unknown. The model of
PyMC has a prior for each; its likelihood runs a simulation that overwrites one array of
concentrations 200 times. `to_pytensor` makes it a function of PyTensor's variables, and has the
gradient that NUTS needs, compiled.

What other tools would need. PyTensor alone: the time loop as `scan`, the steps as `inc_subtensor`.
In NumPyro or BlackJAX: JAX's `lax.scan`, or this simulation by `to_jax`.
"""

import logging
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pymc as pm  # pyright: ignore[reportMissingImports]
from common import Array, picture_path, report, save

from mooncake_py import value_and_grad
from mooncake_py.integrations.pytensor import to_pytensor

LENGTH, CELLS = 10.0, 40  # km
HOURS, STEPS = 10.0, 200
STATIONS = np.array([16, 20, 24, 28, 32, 36])
NAMES = ("place [km]", "amount [kg]", "speed [km/h]", "diffusion [km2/h]")
TRUE = np.array([2.6, 3.0, 0.55, 0.08])
NOISE = 0.05


def readings(place: float, amount: float, speed: float, diffusion: float) -> Array:
    """Simulate the canal, and return what the stations measure each half hour."""
    dx, dt = LENGTH / CELLS, HOURS / STEPS
    x = (np.arange(CELLS) + 0.5) * dx
    water = amount * np.exp(-0.5 * ((x - place) / 0.3) ** 2)
    out = np.empty((20, len(STATIONS)))
    for step in range(STEPS):
        flux = speed * water[:-1] - diffusion / dx * (water[1:] - water[:-1])
        water[:-1] -= dt / dx * flux
        water[1:] += dt / dx * flux
        if step % 10 == 9:
            out[step // 10] = water[STATIONS]
    return out


def misfit(p: Array, measured: Array) -> float:
    """Return the sum of squares for some parameters."""
    return np.sum((readings(p[0], p[1], p[2], p[3]) - measured) ** 2)


def sampled(measured: Array) -> Any:
    """Return samples of the posterior, and of the prior."""
    with pm.Model():
        place = pm.Uniform("place", 0.5, 5.0)
        amount = pm.LogNormal("amount", 1.0, 0.7)
        speed = pm.TruncatedNormal("speed", 0.5, 0.2, lower=0.05, upper=1.5)
        diffusion = pm.TruncatedNormal("diffusion", 0.1, 0.05, lower=0.01, upper=0.3)
        simulated = to_pytensor(readings, compile=True)(place, amount, speed, diffusion)
        pm.Normal("measured", simulated, NOISE, observed=measured)
        trace = pm.sample(
            200, tune=200, chains=2, cores=1, random_seed=0, progressbar=False,
            compute_convergence_checks=False,
        )  # fmt: skip
        prior = pm.sample_prior_predictive(400, random_seed=0)
    return trace, prior


def main(picture: Path) -> None:
    """Sample, check and draw the posterior."""
    logging.getLogger("pymc").setLevel(logging.ERROR)
    random = np.random.default_rng(0)
    measured = readings(*TRUE)
    measured += NOISE * random.standard_normal(measured.shape)
    report(misfit, value_and_grad(misfit, compile=True), TRUE + 0.02, measured, rounds=5)

    trace, prior = sampled(measured)
    names = ("place", "amount", "speed", "diffusion")
    chains = {name: trace.posterior[name].to_numpy() for name in names}
    print(f"{int(trace.sample_stats['n_steps'].sum())} gradients for 400 samples of two chains")
    for name, label, true in zip(names, NAMES, TRUE, strict=True):
        one = chains[name]
        mean, spread = one.mean(), one.std()
        print(f"{label}: {mean:.3f} +- {spread:.3f} (true: {true})")
        assert abs(mean - true) < 4.0 * spread
        assert abs(one[0].mean() - one[1].mean()) < spread  # the chains agree

    figure, axes = plt.subplots(1, 5, figsize=(13, 2.8), layout="constrained")
    for axis, name, label, true in zip(axes, names, NAMES, TRUE, strict=False):
        low, high = np.quantile(prior.prior[name], [0.02, 0.98])
        bins = np.linspace(low, high, 60)
        axis.hist(prior.prior[name].to_numpy().ravel(), bins, density=True, color="lightgray")
        axis.hist(chains[name].ravel(), bins, density=True, color="tab:red")
        axis.axvline(true, color="k", linewidth=0.9)
        axis.set(xlabel=label, yticks=[])
    axes[0].set_title("prior (grey), posterior (red)", fontsize="small")
    hours = HOURS / 20 * (1.0 + np.arange(20))
    draws = np.stack([chains[name].ravel()[::10] for name in names], axis=1)
    for k, colour in ((0, "tab:blue"), (3, "tab:green"), (5, "tab:purple")):
        for draw in draws:
            axes[4].plot(hours, readings(*draw)[:, k], color=colour, linewidth=0.3, alpha=0.5)
        axes[4].plot(hours, measured[:, k], "o", color=colour, markersize=3)
    axes[4].set(xlabel="time [h]", ylabel="concentration", title="three stations")
    save(figure, picture)


if __name__ == "__main__":
    main(picture_path(__file__))
