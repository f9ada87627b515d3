"""Recover the initial temperature of a plate from a noisy picture of its final state.

Heat flow forgets: fine detail decays first, and noise would be blown up by any direct inversion. So
the initial state sought is the smooth one whose future fits the picture. Its gradient runs through
hundreds of time steps that overwrite one array; `mooncake_py` differentiates them unchanged.
Run `python examples/heat_inversion.py`.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from diagnostics import largest_difference, seconds
from numpy.typing import NDArray
from optimization import minimize
from pictures import OUTPUT, plotter, save

from mooncake_py import value_and_grad

Array = NDArray[np.float64]

NOISE = 0.2  # degrees
SMOOTHING = 1e-3  # weight of the roughness against the misfit


def cool(plate: Array, steps: int) -> None:
    """Let heat flow in `plate`, in place; its edges are held at their temperature."""
    for _ in range(steps):
        plate[1:-1, 1:-1] += 0.2 * (
            plate[2:, 1:-1]
            + plate[:-2, 1:-1]
            + plate[1:-1, 2:]
            + plate[1:-1, :-2]
            - 4.0 * plate[1:-1, 1:-1]
        )


def misfit(initial: Array, measured: Array, steps: int) -> float:
    """Weigh the difference from the measurement against the roughness of the initial state."""
    plate = initial.copy()
    cool(plate, steps)
    error = plate - measured
    across = initial[1:, :] - initial[:-1, :]
    along = initial[:, 1:] - initial[:, :-1]
    roughness = np.sum(across * across) + np.sum(along * along)
    return 0.5 * np.sum(error * error) + 0.5 * SMOOTHING * roughness


def true_plate(size: int) -> Array:
    """Return a cold plate with a hot square and a hot ring, in degrees."""
    plate = np.zeros((size, size))
    y, x = np.mgrid[0 : 1 : size * 1j, 0 : 1 : size * 1j]
    plate[(abs(x - 0.3) < 0.14) & (abs(y - 0.3) < 0.14)] = 100.0
    plate[abs(np.hypot(x - 0.65, y - 0.65) - 0.18) < 0.06] = 80.0
    return plate


def main(arguments: Sequence[str] | None = None) -> None:
    """Recover the plate, and report how well and at what cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small plate, a few iterations")
    parser.add_argument("--plot", type=Path, default=OUTPUT / "heat_inversion.png", metavar="FILE")
    options = parser.parse_args(arguments)
    size, steps, iterations = (40, 40, 25) if options.quick else (120, 300, 150)

    random = np.random.default_rng(3)
    truth = true_plate(size)
    measured = truth.copy()
    cool(measured, steps)
    measured += NOISE * random.standard_normal(measured.shape)
    guess = measured.copy()  # as the simulation writes into it
    gradient = value_and_grad(misfit)

    _, slope = gradient(guess, measured, steps)
    places = [tuple(place) for place in random.integers(1, size - 1, (6, 2))]
    difference = largest_difference(
        lambda x: misfit(x, measured, steps), guess, slope, places, step=1.0
    )
    print(f"gradient against finite differences: largest relative difference {difference:.1e}")
    simulation = seconds(lambda: misfit(guess, measured, steps))
    ratio = seconds(lambda: gradient(guess, measured, steps)) / simulation
    print(f"{steps} steps on {size} x {size} points take {1e3 * simulation:.1f} ms, ", end="")
    print(f"their gradient {ratio:.1f} times that\n")

    def of_vector(x: Array) -> tuple[float, Array]:
        value, slope = gradient(x.reshape(size, size), measured, steps)
        return value, slope.ravel()

    def report(iteration: int, value: float) -> None:
        if iteration % 10 == 0:
            print(f"iteration {iteration:3d}   misfit {value:.4f}", flush=True)

    found = minimize(of_vector, guess.ravel(), iterations, report).reshape(size, size)

    print(f"\nerror of the measured state as a guess: {relative_error(measured, truth):.1%}")
    print(f"error of the recovered initial state:   {relative_error(found, truth):.1%}")
    plot(options.plot, {"true initial state": truth, "measured": measured, "recovered": found})


def relative_error(guess: Array, truth: Array) -> float:
    """Return the norm of the error over the norm of the truth."""
    return float(np.linalg.norm(guess - truth) / np.linalg.norm(truth))


def plot(file: Path, plates: dict[str, Array]) -> None:
    """Save the plates side by side, if matplotlib is there."""
    plt = plotter()
    if plt is None:
        return
    figure, axes = plt.subplots(1, len(plates), figsize=(4 * len(plates), 4))
    for panel, (title, plate) in zip(axes, plates.items(), strict=True):
        panel.imshow(plate, vmin=0.0, vmax=100.0, cmap="inferno")
        panel.set(title=title, xticks=[], yticks=[])
    save(figure, file)


if __name__ == "__main__":
    main()
