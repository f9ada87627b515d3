"""Fit a model of rainfall and runoff, whose time loop is compiled by Numba, to ten years of flow.

The model is that of hydrologists, HBV: snow, soil and two reservoirs, day after day.  `@njit` makes
it fast, and `mooncake_py` differentiates it unchanged; with `compile=True` the gradient is
compiled as well. Run `python examples/catchment.py`.

References
----------
G. Lindström et al., Development and test of the distributed HBV-96 hydrological model,
J. Hydrology 201 (1997) 272-288.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from diagnostics import largest_difference, seconds
from numba import njit
from numpy.typing import NDArray
from optimization import minimize
from pictures import OUTPUT, plotter, save

from mooncake_py import value_and_grad

Array = NDArray[np.float64]

DAYS = 3650
NAMES = (
    "melt for each degree     [mm/day/K]",
    "capacity of the soil     [mm]",
    "exponent of the recharge [1]",
    "quick flow               [1/day]",
    "slow flow                [1/day]",
    "percolation              [1/day]",
)
TRUE = np.array([3.0, 180.0, 2.2, 0.25, 0.015, 0.08])
GUESS = np.array([5.0, 300.0, 1.2, 0.1, 0.05, 0.03])


@njit
def simulate(
    parameters: Array, rain: Array, temperature: Array, evaporation: Array, flow: Array
) -> None:
    """Write the flow of each day, in mm, into `flow`."""
    melting, capacity, exponent, quick, slow, percolation = parameters
    snow, soil, upper, lower = 0.0, 0.5 * capacity, 5.0, 40.0
    for day in range(len(rain)):
        if temperature[day] < 0.0:
            snow += rain[day]
            water = 0.0
        else:
            melt = min(snow, melting * temperature[day])
            snow -= melt
            water = rain[day] + melt
        recharge = water * (soil / capacity) ** exponent
        soil += water - recharge
        if soil > capacity:
            recharge += soil - capacity
            soil = capacity
        soil -= min(soil, evaporation[day] * min(1.0, soil / (0.7 * capacity)))
        upper += recharge
        moved = percolation * upper
        upper -= moved
        lower += moved
        flow[day] = quick * upper + slow * lower
        upper -= quick * upper
        lower -= slow * lower


def misfit(
    logarithms: Array, rain: Array, temperature: Array, evaporation: Array, measured: Array
) -> float:
    """Average the squared differences of the roots of flow, which weigh floods and droughts."""
    flow = np.empty(len(rain))
    simulate(np.exp(logarithms), rain, temperature, evaporation, flow)
    return np.sum((np.sqrt(flow) - np.sqrt(measured)) ** 2) / len(rain)


def weather(days: int) -> tuple[Array, Array, Array]:
    """Return made-up rain and evaporation in mm, and temperature in degrees Celsius."""
    rng = np.random.default_rng(1)
    season = np.sin(2.0 * np.pi * (np.arange(days) - 110) / 365.0)
    rain = rng.gamma(0.7, 9.0, days) * (rng.random(days) < 0.45)
    temperature = 6.0 + 11.0 * season + 3.0 * rng.standard_normal(days)
    return rain, temperature, 1.6 + 1.4 * season


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, and report what was found and what it cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only a few iterations")
    parser.add_argument("--plot", type=Path, default=OUTPUT / "catchment.png", metavar="FILE")
    options = parser.parse_args(arguments)

    given = weather(DAYS)
    measured = np.empty(DAYS)
    simulate(TRUE, *given, measured)
    measured *= np.exp(0.05 * np.random.default_rng(2).standard_normal(DAYS))

    guess = np.log(GUESS)
    gradient = value_and_grad(misfit, compile=True)
    before, slope = gradient(guess, *given, measured)
    difference = largest_difference(
        lambda x: misfit(x, *given, measured), guess, slope, range(len(guess))
    )
    print(f"gradient against finite differences: largest relative difference {difference:.1e}")
    report_times(guess, *given, measured)

    fitted = minimize(
        lambda x: gradient(x, *given, measured),
        guess,
        iterations=15 if options.quick else 200,
        report=lambda iteration, value: print(f"iteration {iteration:3d}   misfit {value:.6f}"),
    )

    print(f"\nmisfit before the fit {before:.5f}, after it {misfit(fitted, *given, measured):.5f}")
    for name, value, true in zip(NAMES, np.exp(fitted), TRUE, strict=True):
        print(f"  {name:<40}{value:10.4f}   true {true:10.4f}")
    plot(options.plot, given, measured, fitted)


def report_times(guess: Array, *given: Array) -> None:
    """Print what a simulation and its gradient take, compiled and not."""
    compiled, plain = value_and_grad(misfit, compile=True), value_and_grad(misfit)
    simulation = seconds(lambda: misfit(guess, *given))
    fast, slow = seconds(lambda: compiled(guess, *given)), seconds(lambda: plain(guess, *given))
    print(f"one simulation takes {1e3 * simulation:.2f} ms, compiled by Numba")
    print(f"its gradient {1e3 * slow:.1f} ms, and {1e3 * fast:.2f} ms with compile=True:")
    print(f"speed-up {slow / fast:.0f}, gradient / simulation {fast / simulation:.1f}\n")


def plot(file: Path, given: tuple[Array, Array, Array], measured: Array, fitted: Array) -> None:
    """Save a picture of measured and fitted flow in three of the years, if matplotlib is there."""
    plt = plotter()
    if plt is None:
        return
    flow = np.empty(DAYS)
    simulate(np.exp(fitted), *given, flow)
    shown = slice(DAYS - 3 * 365, DAYS)
    figure, axes = plt.subplots(figsize=(8, 4))
    axes.plot(measured[shown], ".", markersize=3, color="tab:gray", label="measured")
    axes.plot(flow[shown], color="tab:blue", label="fitted")
    axes.set(xlabel="day", ylabel="flow, mm/day", title="Flow from a catchment")
    axes.legend()
    save(figure, file)


if __name__ == "__main__":
    main()
