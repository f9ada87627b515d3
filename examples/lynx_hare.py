"""Fit the Lotka-Volterra equations to the fur records of the Hudson's Bay Company.

The simulator is ordinary NumPy that writes into preallocated arrays; `mooncake_py` differentiates
it unchanged. Run `python examples/lynx_hare.py`.
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

DATA = Path(__file__).parent / "data" / "lynx_hare.csv"
STEPS_PER_YEAR = 10
NAMES = (
    "growth of the hares        [1/year]",
    "predation                  [1/year/thousand lynx]",
    "death of the lynx          [1/year]",
    "growth of the lynx by prey [1/year/thousand hares]",
    "hares in 1900              [thousand]",
    "lynx in 1900               [thousand]",
)


def change(state: Array, rates: Array, out: Array) -> None:
    """Write the time derivatives of hares and lynx into `out`."""
    hares, lynx = state
    growth, predation, death, feeding = rates
    out[0] = (growth - predation * lynx) * hares
    out[1] = (feeding * hares - death) * lynx


def simulate(rates: Array, start: Array, years: int) -> Array:
    """Integrate by Runge and Kutta's method of fourth order; one row for each step."""
    dt = 1.0 / STEPS_PER_YEAR
    steps = years * STEPS_PER_YEAR
    trajectory = np.empty((steps + 1, 2))
    trajectory[0] = start
    state = start.copy()
    trial = np.empty(2)
    k1, k2, k3, k4 = np.empty((4, 2))
    for step in range(steps):
        change(state, rates, k1)
        np.multiply(k1, 0.5 * dt, out=trial)
        trial += state
        change(trial, rates, k2)
        np.multiply(k2, 0.5 * dt, out=trial)
        trial += state
        change(trial, rates, k3)
        np.multiply(k3, dt, out=trial)
        trial += state
        change(trial, rates, k4)
        k2 += k3
        k2 *= 2.0
        k1 += k2
        k1 += k4
        k1 *= dt / 6.0
        state += k1
        trajectory[step + 1] = state
    return trajectory


def misfit(parameters: Array, observed: Array) -> float:
    """Sum the squared residuals of the logarithms, as counts scatter in proportion.

    The parameters are the logarithms of four rates and two initial values: all are positive.
    """
    values = np.exp(parameters)
    trajectory = simulate(values[:4], values[4:], len(observed) - 1)
    residuals = np.log(trajectory[::STEPS_PER_YEAR]) - np.log(observed)
    return np.sum(residuals**2)


def first_guess(observed: Array) -> Array:
    """Guess from two facts about the equations.

    The means over a cycle are the equilibrium (death / feeding, growth / predation), and small
    cycles have the period 2 pi / sqrt(growth * death), here about ten years.
    """
    hares, lynx = np.mean(observed, axis=0)
    speed = 2.0 * np.pi / 10.0
    return np.log([speed, speed / lynx, speed, speed / hares, observed[0, 0], observed[0, 1]])


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, and report what was found and what it cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only a few iterations")
    parser.add_argument("--plot", type=Path, default=OUTPUT / "lynx_hare.png", metavar="FILE")
    options = parser.parse_args(arguments)

    table = np.loadtxt(DATA, delimiter=",", comments="#", skiprows=2)
    years, observed = table[:, 0], table[:, 1:]
    guess = first_guess(observed)
    gradient = value_and_grad(misfit)

    before, slope = gradient(guess, observed)
    difference = largest_difference(lambda x: misfit(x, observed), guess, slope, range(len(guess)))
    print(f"gradient against finite differences: largest relative difference {difference:.1e}")
    simulation = seconds(lambda: misfit(guess, observed))
    ratio = seconds(lambda: gradient(guess, observed)) / simulation
    print(f"one simulation takes {1e3 * simulation:.1f} ms, its gradient {ratio:.1f} times that\n")

    fitted = minimize(
        lambda x: gradient(x, observed),
        guess,
        iterations=10 if options.quick else 100,
        report=lambda iteration, value: print(f"iteration {iteration:3d}   misfit {value:.6f}"),
    )

    print(f"\nmisfit before the fit {before:.4f}, after it {misfit(fitted, observed):.4f}")
    for name, value in zip(NAMES, np.exp(fitted), strict=True):
        print(f"  {name:<52}{value:9.4f}")
    plot(options.plot, years, observed, fitted)


def plot(file: Path, years: Array, observed: Array, fitted: Array) -> None:
    """Save a picture of data and fit, if matplotlib is there."""
    plt = plotter()
    if plt is None:
        return
    values = np.exp(fitted)
    trajectory = simulate(values[:4], values[4:], len(years) - 1)
    time = years[0] + np.arange(len(trajectory)) / STEPS_PER_YEAR
    figure, axes = plt.subplots(figsize=(8, 4))
    for column, (name, colour) in enumerate((("hares", "tab:brown"), ("lynx", "tab:blue"))):
        axes.plot(years, observed[:, column], "o", color=colour)
        axes.plot(time, trajectory[:, column], color=colour, label=name)
    axes.set(xlabel="year", ylabel="pelts, thousands", title="Hudson's Bay fur records")
    axes.set_xticks(np.arange(years[0], years[-1] + 1, 5, dtype=int))
    axes.legend()
    save(figure, file)


if __name__ == "__main__":
    main()
