"""Find the speed of sound in layers of rock from recordings in a borehole.

A source near the surface sends a pulse down. Pressure p and velocity v obey

    dv/dt = -dp/dz,    dp/dt = -c(z)^2 dv/dz

where the density is 1. On a staggered grid, v and p overwrite each other in turn (leapfrog;
J. Virieux, Geophysics 49 (1984) 1933-1957). The surface reflects; a sponge damps what arrives at
the bottom. Hydrophones in a borehole record the pressure, with noise. Full-waveform inversion
seeks the slowness 1/c of each block of rock whose recordings fit, with a penalty on jumps that
permits some (smoothed total variation). L-BFGS-B finds it, from one constant speed. The data are
made up: four layers.

What other tools would need. JAX: the time loop as `lax.scan` with (v, p) as its carry, each update
as `.at[].add`, the recordings as stacked outputs. autograd: new arrays in each step, joined from
their parts, as it refuses assignment to slices; the recordings as a list. PyTorch: the same loop on
tensors works, as no product saves an array that is overwritten: stiffness multiplies a difference,
which is new in each step.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from common import Array, picture_path, report, save
from numpy.typing import NDArray
from scipy.optimize import minimize

from mooncake_py import value_and_grad

CELLS, BLOCK, STEPS, SPONGE = 160, 4, 600, 30
DZ, DT = 10.0, 0.002  # m, s
NOISE = 0.01  # a hundredth of the pulse
PENALTY = 0.3  # of jumps


def simulate(speed: Array, pulse: Array, depths: NDArray[np.int64]) -> Array:
    """Return the pressure at the hydrophones, one row for each time step."""
    stiffness = (DT / DZ) * np.repeat(speed, BLOCK) ** 2
    damping = np.ones(CELLS)
    damping[-SPONGE:] -= 0.15 * np.linspace(0.0, 1.0, SPONGE) ** 2
    pressure = np.zeros(CELLS)
    velocity = np.zeros(CELLS + 1)
    recorded = np.empty((STEPS, len(depths)))
    for step in range(STEPS):
        velocity[1:-1] -= (DT / DZ) * (pressure[1:] - pressure[:-1])
        velocity[0] -= 2.0 * (DT / DZ) * pressure[0]  # no pressure at the surface
        pressure -= stiffness * (velocity[1:] - velocity[:-1])
        pressure[2] += pulse[step]
        pressure *= damping
        velocity[1:] *= damping
        recorded[step] = pressure[depths]
    return recorded


def misfit(slowness: Array, pulse: Array, depths: NDArray[np.int64], recorded: Array) -> float:
    """Weigh the misfit of the recordings against the jumps of the slowness, in s/km."""
    error = simulate(1000.0 / slowness, pulse, depths) - recorded
    jumps = slowness[1:] - slowness[:-1]
    return 0.5 * np.sum(error**2) + PENALTY * np.sum(np.sqrt(jumps**2 + 1e-6))


def true_speed() -> Array:
    """Return four layers, in m/s."""
    speed = np.full(CELLS // BLOCK, 1800.0)
    speed[8:], speed[15:], speed[20:], speed[29:] = 2200.0, 2900.0, 2400.0, 3200.0
    return speed


def main(picture: Path) -> None:
    """Recover the layers, check them, and draw them."""
    time = DT * np.arange(STEPS)
    pulse = np.exp(-((12.0 * np.pi * (time - 0.1)) ** 2))
    depths = np.array([5, 40, 80, 120])
    truth = true_speed()
    recorded = simulate(truth, pulse, depths)
    recorded += NOISE * np.random.default_rng(0).standard_normal(recorded.shape)

    gradient = value_and_grad(misfit)
    guess = np.full_like(truth, 1000.0 / 2200.0)
    report(misfit, gradient, guess, pulse, depths, recorded)

    found = minimize(
        gradient, guess, (pulse, depths, recorded), "L-BFGS-B", jac=True,
        bounds=[(0.25, 0.8)] * len(guess), options={"maxiter": 100},
    )  # fmt: skip
    speed = 1000.0 / found.x
    above = slice(0, (CELLS - SPONGE) // BLOCK)
    errors = abs(speed - truth)[above] / truth[above]
    print(f"{found.nfev} gradients of {len(guess)} numbers")
    print(f"error of the speed: {np.mean(errors):.2%} in the mean, {np.max(errors):.1%} at most")
    assert np.mean(errors) < 0.01
    assert np.max(errors) < 0.06

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
    kilometres = 1e-3 * DZ * BLOCK * np.arange(len(truth))
    left.step(1e-3 * truth, kilometres, color="black", label="true")
    left.step(1e-3 * speed, kilometres, color="tab:orange", label="found")
    left.plot(np.full_like(speed, 2.2), kilometres, ":", color="tab:gray", label="first guess")
    left.set(xlabel="speed of sound, km/s", ylabel="depth, km", ylim=(1.3, 0.0))
    left.legend()
    first = simulate(1000.0 / guess, pulse, depths)
    for number, depth in enumerate(depths):
        offset = 1e-3 * DZ * depth
        right.plot(time, offset - 0.12 * first[:, number], ":", color="tab:gray")
        right.plot(time, offset - 0.12 * recorded[:, number], color="black", linewidth=1)
    right.set(xlabel="time, s", ylim=(1.45, -0.15), title="recorded; first guess dotted")
    save(figure, picture)


if __name__ == "__main__":
    main(picture_path(__file__))
