"""Daily rainfall and runoff by four parameters: two stores and two unit hydrographs.

Style: a hydrologist's port of an old code: scalars, many branches, lists as buffers.
"""

import math
import random

from benchmarks.programs.program import Program


def s_curve_1(t, x4):
    """Cumulated ordinate of the first unit hydrograph."""
    if t <= 0.0:
        return 0.0
    if t < x4:
        return (t / x4) ** 2.5
    return 1.0


def s_curve_2(t, x4):
    """Cumulated ordinate of the second unit hydrograph."""
    if t <= 0.0:
        return 0.0
    if t <= x4:
        return 0.5 * (t / x4) ** 2.5
    if t < 2.0 * x4:
        return 1.0 - 0.5 * (2.0 - t / x4) ** 2.5
    return 1.0


def ordinates(curve, x4, n):
    """Differences of an S curve."""
    return [curve(float(j), x4) - curve(float(j - 1), x4) for j in range(1, n + 1)]


def production(store, x1, rain, evap):
    """Update the soil store; return it with the water that goes on to routing."""
    if rain >= evap:
        net = rain - evap
        ratio = net / x1
        if ratio > 13.0:
            ratio = 13.0
        th = math.tanh(ratio)
        fill = store / x1
        gain = x1 * (1.0 - fill * fill) * th / (1.0 + fill * th)
        excess = net - gain
        store = store + gain
    else:
        net = evap - rain
        ratio = net / x1
        if ratio > 13.0:
            ratio = 13.0
        th = math.tanh(ratio)
        fill = store / x1
        loss = store * (2.0 - fill) * th / (1.0 + (1.0 - fill) * th)
        excess = 0.0
        store = store - loss
    if store < 0.0:
        store = 0.0
    percolation = store * (1.0 - (1.0 + (4.0 * store / (9.0 * x1)) ** 4) ** -0.25)
    store -= percolation
    return store, excess + percolation


def shift_in(buffer, weights, amount):
    """Move a buffer by a day and add the new amount, spread by the weights."""
    n = len(buffer)
    for j in range(n - 1):
        buffer[j] = buffer[j + 1] + weights[j] * amount
    buffer[n - 1] = weights[n - 1] * amount
    return buffer[0]


def simulate(x1, x2, x3, x4, rain, evap, state):
    """Return daily flows."""
    n1 = math.ceil(x4)
    n2 = math.ceil(2.0 * x4)
    weights1 = ordinates(s_curve_1, x4, n1)
    weights2 = ordinates(s_curve_2, x4, n2)
    uh1 = [0.0] * n1
    uh2 = [0.0] * n2
    soil, routing = state[0] * x1, state[1] * x3
    flows = []
    for p, e in zip(rain, evap):
        soil, water = production(soil, x1, p, e)
        slow = shift_in(uh1, weights1, 0.9 * water)
        quick = shift_in(uh2, weights2, 0.1 * water)
        exchange = x2 * (routing / x3) ** 3.5
        routing = routing + slow + exchange
        if routing < 0.0:
            routing = 0.0
        outflow = routing * (1.0 - (1.0 + (routing / x3) ** 4) ** -0.25)
        routing -= outflow
        direct = quick + exchange
        if direct < 0.0:
            direct = 0.0
        flows.append(outflow + direct)
    return flows


def efficiency(x1, x2, x3, x4, rain, evap, observed, warmup=30):
    """Nash-Sutcliffe efficiency of the square roots of flows, after a warm-up."""
    flows = simulate(x1, x2, x3, x4, rain, evap, state=(0.6, 0.7))
    errors, total = 0.0, 0.0
    obs = [math.sqrt(q) for q in observed[warmup:]]
    mean = sum(obs) / len(obs)
    for sim, q in zip(flows[warmup:], obs):
        errors += (math.sqrt(sim + 0.01) - q) ** 2
        total += (q - mean) ** 2
    return 1.0 - errors / total


def arguments():
    """Return parameters and sixteen years of weather, with flows of other parameters."""
    draw = random.Random(8)
    days = range(16 * 365)
    rain = [draw.expovariate(1.0 / 7.0) if draw.random() < 0.4 else 0.0 for _ in days]
    evap = [2.5 - 2.0 * math.cos(2.0 * math.pi * d / 365.0) + 0.1 * draw.random() for d in days]
    observed = simulate(320.0, 0.4, 80.0, 1.9, rain, evap, (0.5, 0.5))
    return 257.0, 0.8, 91.0, 2.3, rain, evap, observed


PROGRAM = Program(run=efficiency, arguments=arguments, argnums=(0, 1, 2, 3), group="scalars")
