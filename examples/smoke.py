"""The smoke of a chimney, blown over a town by a random wind: one run of `ensemble.py`.

It is a module, so that worker processes import it, and take the model apart once, not for each run.
"""

import numpy as np

CELLS = 120
STEPS = 300
CHIMNEY, TOWN = 20, slice(80, 100)


def smoke_in_town(params: np.ndarray, seed: int) -> float:
    """Return the smoke over the town, for rate of emission, diffusivity and mean wind."""
    rate, diffusivity, mean_wind = params
    gusts = 0.5 * np.random.default_rng(seed).standard_normal(STEPS)
    u = np.zeros(CELLS)
    for gust in gusts:
        wind = mean_wind + gust
        u[CHIMNEY] += rate
        u[1:-1] += diffusivity * (u[2:] - 2 * u[1:-1] + u[:-2]) - wind / 2 * (u[2:] - u[:-2])
    return float(np.mean(u[TOWN]))
