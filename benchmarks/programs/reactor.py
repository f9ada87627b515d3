"""A stirred reactor with a table of reactions, integrated stiffly by odeint.

Style: a chemical engineer: reactions in tables of tuples, loops over species, args=(...).
"""

import math

import numpy as np
from scipy.integrate import odeint

from benchmarks.programs.program import Program

GAS_CONSTANT = 8.314
SPECIES = ("A", "B", "C", "D")
INDEX = {name: i for i, name in enumerate(SPECIES)}
# Reactants, products, heat of reaction in J/mol.
REACTIONS = (
    ({"A": 1}, {"B": 1}, -40_000.0),
    ({"A": 1, "B": 1}, {"C": 1}, -60_000.0),
    ({"C": 1}, {"D": 2}, 15_000.0),
)


def arrhenius(factor, energy, temperature):
    """Rate constant at a temperature."""
    return factor * math.exp(-energy / (GAS_CONSTANT * temperature))


def rates_of(concentrations, temperature, kinetics):
    """Rate of each reaction, by mass action."""
    rates = []
    for (reactants, _, _), (log_factor, energy) in zip(REACTIONS, kinetics):
        rate = arrhenius(math.exp(log_factor), energy, temperature)
        for name, order in reactants.items():
            rate *= concentrations[INDEX[name]] ** order
        rates.append(rate)
    return rates


def balances(y, t, kinetics, feed, dilution, cooling):
    """Time derivatives of concentrations and temperature."""
    concentrations, temperature = y[:-1], y[-1]
    rates = rates_of(concentrations, temperature, kinetics)
    change = [0.0] * len(SPECIES)
    heat = 0.0
    for rate, (reactants, products, enthalpy) in zip(rates, REACTIONS):
        for name, n in reactants.items():
            change[INDEX[name]] -= n * rate
        for name, n in products.items():
            change[INDEX[name]] += n * rate
        heat -= enthalpy * rate
    for i, inflow in enumerate(feed):
        change[i] += dilution * (inflow - concentrations[i])
    coolant = 300.0 + 5.0 * math.sin(0.2 * t)
    warming = heat / 4.2e3 + dilution * (320.0 - temperature) - cooling * (temperature - coolant)
    return np.array([*change, warming])


def operate(kinetics, feed, dilution, cooling, times):
    """Integrate the reactor from its start-up."""
    y0 = np.array([*feed, 330.0])
    return odeint(
        balances,
        y0,
        times,
        args=(kinetics, feed, dilution, cooling),
        rtol=1e-10,
        atol=1e-10,
    )


def profit(kinetics, feed, dilution, cooling, times):
    """Worth of the products minus costs of feed, of cooling and of being too hot."""
    states = operate(kinetics, feed, dilution, cooling, times)
    prices = {"B": 1.0, "C": 5.0, "D": 2.0}
    worth = sum(price * states[:, INDEX[name]] for name, price in prices.items())
    income = dilution * np.trapezoid(worth, times) / (times[-1] - times[0])
    heat = cooling * np.mean(np.maximum(states[:, -1] - 300.0, 0.0))
    excess = np.logaddexp(0.0, 0.5 * (states[:, -1] - 370.0))
    return float(income - 0.1 * dilution * sum(feed) - 1e-3 * heat - 0.01 * np.mean(excess))


def arguments():
    """Return kinetics, feed, flow and cooling, and times of samples."""
    kinetics = [(20.0, 6.5e4), (17.0, 5.8e4), (14.5, 5.6e4)]
    return kinetics, [1.5, 0.1, 0.0, 0.0], 0.08, 0.05, np.linspace(0.0, 360.0, 361)


PROGRAM = Program(run=profit, arguments=arguments, argnums=(0, 1, 2, 3), group="callbacks")
