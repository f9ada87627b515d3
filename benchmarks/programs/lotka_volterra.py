"""Predators and two preys in a changing climate, integrated by scipy's solve_ivp.

Style: a theoretical biologist: right-hand side as a closure over parameters, events, callbacks.
"""

from functools import partial

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.programs.program import Program


def seasonal(amplitude, period):
    """Return a function of time that modulates growth."""

    def modulation(t):
        return 1.0 + amplitude * np.cos(2.0 * np.pi * t / period)

    return modulation


def holling(attack, handling):
    """Return a saturating functional response."""
    return lambda prey: attack * prey / (1.0 + attack * handling * prey)


def linear_response(attack):
    """Return a functional response without saturation."""
    return lambda prey: attack * prey


class FoodWeb:
    """Two preys and a predator, put together from functions."""

    def __init__(self, growth, capacity, responses, conversion, mortality, climate):
        self.growth = growth
        self.capacity = capacity
        self.responses = responses
        self.conversion = conversion
        self.mortality = mortality
        self.climate = climate
        self.evaluations = 0

    def __call__(self, t, y):
        """Return the time derivatives."""
        self.evaluations += 1
        preys, predator = y[:2], y[2]
        eaten = np.array([f(n) for f, n in zip(self.responses, preys)]) * predator
        dydt = np.empty(3)
        competition = preys + 0.4 * preys[::-1]
        dydt[:2] = self.growth * self.climate(t) * preys * (1.0 - competition / self.capacity)
        dydt[:2] -= eaten
        dydt[2] = self.conversion @ eaten - self.mortality * predator
        return dydt


def predator_peak(t, y, web):
    """Zero where the predators neither grow nor shrink."""
    eaten = np.array([f(n) for f, n in zip(web.responses, y[:2])])
    return web.conversion @ eaten - web.mortality


def make_web(theta):
    """Return the web of a dict of parameters."""
    responses = [
        holling(theta["attack"][0], theta["handling"]),
        linear_response(theta["attack"][1]),
    ]
    return FoodWeb(
        growth=theta["growth"],
        capacity=theta["capacity"],
        responses=responses,
        conversion=theta["conversion"],
        mortality=theta["mortality"],
        climate=seasonal(theta["amplitude"], period=12.0),
    )


def simulate(theta, y0, times):
    """Integrate the web, and return its states at the times and the times of the peaks."""
    web = make_web(theta)
    event = partial(predator_peak, web=web)
    event_function = lambda t, y: event(t, y)  # noqa: E731
    event_function.direction = -1
    solution = solve_ivp(
        web,
        (times[0], times[-1]),
        y0,
        method="RK45",
        t_eval=times,
        events=event_function,
        rtol=1e-9,
        atol=1e-10,
    )
    if not solution.success:
        raise RuntimeError(solution.message)
    return solution.y, solution.t_events[0]


def distance(theta, y0, times, counts):
    """Compare logarithms of the numbers with counts, and ask for a late first peak."""
    states, peaks = simulate(theta, y0, times)
    residuals = np.log(states) - np.log(counts)
    penalty = (peaks[0] - 3.0) ** 2 if len(peaks) else 1.0
    return float(np.mean(residuals**2) + 0.01 * penalty)


def arguments():
    """Return parameters, first numbers, times, and counts with errors."""
    rng = np.random.default_rng(9)
    times = np.linspace(0.0, 20.0, 41)
    theta = {
        "growth": np.array([0.9, 0.6]),
        "capacity": np.array([12.0, 9.0]),
        "attack": [0.35, 0.08],
        "handling": 0.4,
        "conversion": np.array([0.5, 0.4]),
        "mortality": 0.3,
        "amplitude": 0.2,
    }
    y0 = np.array([4.0, 3.0, 1.2])
    states, _ = simulate({**theta, "mortality": 0.35}, y0, times)
    counts = states * np.exp(rng.normal(0.0, 0.1, states.shape))
    return theta, y0, times, counts


PROGRAM = Program(run=distance, arguments=arguments, argnums=(0, 1), group="callbacks")
