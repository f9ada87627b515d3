"""Find the heat sources under a plate from a few thermometers on it.

A plate of n x n points is cold at first and at its edges. Sources q(x, y), which are unknown, heat
it from below while heat spreads,

    dT/dt = T_xx + T_yy + q,

in explicit steps that overwrite one array. Thermometers at random places are read every few steps,
with noise. The sources sought are those whose readings fit, with a penalty on their roughness
(Tikhonov); L-BFGS finds them. The data are made up: two sources, a disc and a bar.

What other tools would need. JAX: the time loop as `lax.scan`, the step and the row of readings as
`.at[].add` and stacked outputs. autograd: the plate as a new array in each step, as assignment to
slices is refused. PyTorch: tensors; the step in place works on slices of a tensor that the backward
pass does not need, as here, where the step is linear.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from common import Array, picture_path, report, save
from numpy.typing import NDArray
from scipy.optimize import minimize

from mooncake_py import value_and_grad

SIZE, STEPS, EVERY = 32, 150, 10
NOISE = 0.02  # degrees
SMOOTHING = 0.02  # weight of the roughness against the misfit


def simulate(source: Array, places: NDArray[np.int64]) -> Array:
    """Return the readings, one row for each time at which the thermometers are read."""
    plate = np.zeros((SIZE, SIZE))
    readings = np.empty((STEPS // EVERY, len(places)))
    rows, columns = places.T
    for step in range(STEPS):
        plate[1:-1, 1:-1] += (
            0.2
            * (
                plate[2:, 1:-1]
                + plate[:-2, 1:-1]
                + plate[1:-1, 2:]
                + plate[1:-1, :-2]
                - 4.0 * plate[1:-1, 1:-1]
            )
            + 0.1 * source[1:-1, 1:-1]
        )
        if (step + 1) % EVERY == 0:
            readings[step // EVERY] = plate[rows, columns]
    return readings


def misfit(source: Array, places: NDArray[np.int64], measured: Array) -> float:
    """Weigh the misfit of the readings against the roughness of the sources."""
    error = simulate(source, places) - measured
    across, along = source[1:] - source[:-1], source[:, 1:] - source[:, :-1]
    return 0.5 * np.sum(error**2) + 0.5 * SMOOTHING * (np.sum(across**2) + np.sum(along**2))


def true_source() -> Array:
    """Return a disc and a bar."""
    y, x = np.mgrid[0:SIZE, 0:SIZE] / (SIZE - 1)
    disc = np.hypot(x - 0.3, y - 0.35) < 0.16
    bar = (abs(x - 0.7) < 0.08) & (abs(y - 0.6) < 0.24)
    return 1.0 * disc + 0.7 * bar


def main(picture: Path) -> None:
    """Recover the sources, check them, and draw them."""
    random = np.random.default_rng(1)
    places = random.integers(1, SIZE - 1, (80, 2))
    truth = true_source()
    measured = simulate(truth, places)
    measured += NOISE * random.standard_normal(measured.shape)

    gradient = value_and_grad(misfit)
    report(misfit, gradient, truth, places, measured)

    def of_vector(x: Array) -> tuple[float, Array]:
        value, slope = gradient(x.reshape(SIZE, SIZE), places, measured)
        return value, slope.ravel()

    # Sources heat: none is negative.
    found = minimize(
        of_vector, np.zeros(SIZE**2), jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * SIZE**2
    )
    source = found.x.reshape(SIZE, SIZE)
    left = np.sqrt(np.mean((simulate(source, places) - measured) ** 2))
    correlation = np.corrcoef(source.ravel(), truth.ravel())[0, 1]
    print(f"{found.nfev} gradients of {SIZE**2} numbers; readings fit to {left:.3f} degrees")
    print(f"correlation of the sources found with the true ones: {correlation:.3f}")
    assert left < 1.2 * NOISE
    assert correlation > 0.9

    figure, panels = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
    fields = {"true sources": truth, "found, and thermometers": source}
    for panel, (title, field) in zip(panels, fields.items(), strict=True):
        panel.imshow(field, vmin=0.0, vmax=1.1, cmap="inferno", origin="lower")
        panel.set(title=title, xticks=[], yticks=[])
    panels[1].plot(places[:, 1], places[:, 0], ".", color="white", markersize=4)
    figure.colorbar(panels[1].images[0], ax=panels, label="heat")
    save(figure, picture)


if __name__ == "__main__":
    main(picture_path(__file__))
