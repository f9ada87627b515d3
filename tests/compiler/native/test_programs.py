"""Whole programs with objects, which stay compiled whole: their derivatives against differences."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import value_and_grad
from tests.compiler.native.agreeing import require_compiled

pytestmark = pytest.mark.plain

STEP = 1e-6


# A class that holds a grid and the state on it; its limiter is chosen by a text.


class Cells:
    def __init__(self, count, length):
        self.count = count
        self.width = length / count
        self.middles = self.width * (np.arange(count) + 0.5)


class Traffic:
    fastest = 1.0

    def __init__(self, cells, density, viscosity, scheme, ramp=None):
        self.cells, self.density, self.viscosity = cells, density, viscosity
        self.scheme, self.ramp = scheme, ramp
        self.clock = 0.0
        self.passes = 0

    @property
    def speed(self):
        return self.fastest * (1.0 - self.density)

    def flow(self):
        q = self.density * self.speed
        left, right = self.density[:-1], self.density[1:]
        if self.scheme == "central":
            jump = self.viscosity
        elif self.scheme == "local":
            jump = np.maximum(np.abs(1.0 - 2.0 * left), np.abs(1.0 - 2.0 * right))
        else:
            raise ValueError(self.scheme)
        return 0.5 * (q[:-1] + q[1:]) - 0.5 * jump * (right - left)

    def advance(self, dt):
        q = self.flow()
        self.density[1:-1] -= dt / self.cells.width * (q[1:] - q[:-1])
        if self.ramp is not None:
            self.density += dt * self.ramp * (1.0 - self.density)
        self.density[0] = self.density[1]
        self.density[-1] = self.density[-2]
        self.clock += dt
        self.passes += 1


def congestion(density, viscosity, scheme, ramp):
    road = Traffic(Cells(density.shape[0], 4.0), density, viscosity, scheme, ramp)
    total = 0.0
    for k in range(12):
        road.advance(0.05)
        if k % 4 == 3:
            total += np.sum(road.density**2) * road.clock
    return total / road.passes + np.sum(road.cells.middles * road.speed)


# A state in a named tuple that each day replaces, and a delay in an array.


class Catchment(NamedTuple):
    depth: float
    rate: float
    lag: float
    loss: float


class Water(NamedTuple):
    soil: float
    ground: float
    underway: np.ndarray


def share(day, lag):
    if day <= 0:
        return 0.0
    return (day / lag) ** 1.5 if day < lag else 1.0


def weather(water, c, rain, heat):
    wet, dry = (rain - heat, 0.0) if rain >= heat else (0.0, heat - rain)
    fill = water.soil / c.depth
    into = wet * (1.0 - fill * fill)
    out = dry * fill * (2.0 - fill)
    return water._replace(soil=water.soil + into - out), wet - into


def drain(water, c, excess, weights):
    underway = np.append(water.underway[1:], 0.0) + excess * weights
    ground = max(0.0, water.ground + 0.3 * underway[0] - c.loss)
    base = c.rate * ground**1.5
    return water._replace(ground=ground - base, underway=underway), base + 0.7 * underway[0]


def discharge(c, rain, heat, seen):
    weights = np.zeros(5)
    for k in range(5):
        weights[k] = share(k + 1, c.lag) - share(k, c.lag)
    water = Water(0.5 * c.depth, 2.0, np.zeros(5))
    error = 0.0
    for day in range(len(rain)):
        water, excess = weather(water, c, rain[day], heat[day])
        water, flow = drain(water, c, excess, weights)
        if day >= 4:
            error += (math.sqrt(flow + 0.1) - seen[day]) ** 2
    return error


# A solver object that calls back; doses by kind; a list of results.


@dataclass
class Rates:
    uptake: float
    clearance: float
    volume: float
    saturation: float = 0.0

    @property
    def elimination(self):
        return self.clearance / self.volume


@dataclass
class Intake:
    day: float
    amount: float
    kind: str = "mouth"


class Heun:
    def __init__(self, slope, h):
        self.slope, self.h = slope, h
        self.evaluations = 0

    def __call__(self, t, y, *others):
        first = self.evaluate(t, y, *others)
        second = self.evaluate(t + self.h, y + self.h * first, *others)
        return y + 0.5 * self.h * (first + second)

    def evaluate(self, t, y, *others):
        self.evaluations += 1
        return self.slope(t, y, *others)


def two_compartments(t, y, rates):
    gut, blood = y
    gone = rates.elimination * blood
    if rates.saturation:
        gone = gone / (1.0 + rates.saturation * blood)
    return np.array([-rates.uptake * gut, rates.uptake * gut - gone])


def misfit(rates, intakes, days, seen):
    step, y, t = Heun(two_compartments, 0.25), np.zeros(2), 0.0
    levels = []
    for k in range(len(days)):
        while t < days[k]:
            for intake in intakes:
                if abs(intake.day - t) < 0.1:
                    if intake.kind == "mouth":
                        y[0] += intake.amount
                    else:
                        y[1] += intake.amount
            y = step(t, y, rates)
            t += step.h
        levels.append(y[1] / rates.volume)
    total = 0.0
    for k in range(len(days)):
        total += (levels[k] - seen[k]) ** 2
    return total + 0.0 * step.evaluations


# Layers in a list, of several classes, and functions under string keys.

BENDS = {"soft": np.tanh, "none": lambda z: z, "bump": lambda z: np.exp(-z * z)}


class Block:
    def cost(self):
        return 0.0


class Mixing(Block):
    def __init__(self, weights, shift, bend="none", decay=None):
        self.weights, self.shift, self.bend, self.decay = weights, shift, bend, decay

    def __call__(self, x, scale=1.0):
        return scale * BENDS[self.bend](x @ self.weights + self.shift)

    def cost(self):
        return self.decay * np.sum(self.weights**2) if self.decay is not None else super().cost()


class Centred(Block):
    def __init__(self, gain):
        self.gain = gain

    def __call__(self, x, **_):
        return self.gain * (x - np.mean(x, axis=0))


class Around(Block):
    def __init__(self, inner):
        self.inner = inner

    def __call__(self, x, **options):
        return x + self.inner(x, **options)

    def cost(self):
        return self.inner.cost()


class Chain:
    def __init__(self, *blocks):
        self.blocks = list(blocks)

    def __call__(self, x, **options):
        for block in self.blocks:
            x = block(x, **options)
        return x


def fit(chain, x, y):
    error = chain(x, scale=0.9) - y
    return np.mean(error**2) + sum(block.cost() for block in chain.blocks)


# Bodies in a list that act on each other in pairs.


class Bead:
    def __init__(self, x, y, mass):
        self.x, self.y, self.mass = x, y, mass
        self.vx = self.vy = 0.0
        self.fx = self.fy = 0.0

    @property
    def motion(self):
        return 0.5 * self.mass * (self.vx**2 + self.vy**2)

    def move(self, dt):
        self.vx += dt * self.fx / self.mass
        self.vy += dt * self.fy / self.mass
        self.x += dt * self.vx
        self.y += dt * self.vy


class Cluster:
    def __init__(self, beads, stiffness, length):
        self.beads, self.stiffness, self.length = beads, stiffness, length

    def pull(self, a, b):
        dx, dy = b.x - a.x, b.y - a.y
        r = math.sqrt(dx * dx + dy * dy)
        f = self.stiffness * (r - self.length) / r if r > self.length else 0.2 * (r - self.length)
        a.fx += f * dx
        a.fy += f * dy
        b.fx -= f * dx
        b.fy -= f * dy

    def forces(self):
        for bead in self.beads:
            bead.fx, bead.fy = 0.0, -0.1 * bead.mass
        for i in range(len(self.beads)):
            for j in range(i + 1, len(self.beads)):
                self.pull(self.beads[i], self.beads[j])


def swing(cluster, steps):
    for _ in range(steps):
        cluster.forces()
        for bead in cluster.beads:
            bead.move(0.05)
    return sum(bead.motion for bead in cluster.beads) + cluster.beads[0].x * cluster.beads[-1].y


# Dicts of dicts, made inside and passed, which each period changes.

GOODS = ("bread", "cloth")


def wishes(home, prices, bend):
    weights = {}
    for g in GOODS:
        weights[g] = home["liking"][g] * prices[g] ** (1.0 - bend)
    total = sum(weights.values())
    return {g: w / total * home["money"] / prices[g] for g, w in weights.items()}


def period(market, homes, bend, log=None):
    wanted = {g: 0.0 for g in GOODS}  # noqa: C420
    pairs = {g: {k: 0.1 for k in GOODS} for g in GOODS}  # noqa: C420
    same = wanted
    for home in homes:
        if home["kind"] == "worker":
            home["money"] = market["wage"] * home["hours"]
        bought = wishes(home, market["prices"], bend)
        for g in bought:
            same[g] += bought[g]
            pairs[g]["cloth"] += bought[g] * pairs["bread"][g]
    sold = pairs["bread"]["cloth"] - pairs["cloth"]["cloth"] * pairs["cloth"]["bread"]
    for g in GOODS:
        given = min(wanted[g], market["stock"][g])
        market["prices"][g] *= math.exp(0.1 * (wanted[g] - market["stock"][g]))
        market["stock"][g] += 0.4 - 0.5 * given
        sold += math.log1p(given)
    market["wage"] = 0.8 * market["wage"] + 0.1 * sum(market["prices"].values())
    if log is not None:
        log.append(sold)
    return sold


def trade(homes, bend, periods):
    prices, stock = {g: 0.2 * len(g) for g in GOODS}, {g: 0.3 * len(g) for g in GOODS}
    market = {"prices": prices, "stock": stock, "wage": 1.0}
    total, weight = 0.0, 1.0
    for _ in range(periods):
        total += weight * period(market, homes, bend)
        weight *= 0.9
    return total


rng = np.random.default_rng(7)
RAIN = rng.gamma(0.5, 4.0, 20)
X = rng.standard_normal((6, 3))
PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "central": (congestion, (0.3 + 0.1 * np.sin(np.arange(12.0)), 0.8, "central", None)),
    "local": (congestion, (0.3 + 0.1 * np.sin(np.arange(12.0)), 0.8, "local", 0.1)),
    "discharge": (
        discharge,
        (Catchment(30.0, 0.05, 2.6, 0.1), RAIN, 1.0 + np.cos(np.arange(20.0)), np.ones(20)),
    ),
    "misfit": (
        misfit,
        (
            Rates(1.1, 0.6, 3.0, 0.2),
            [Intake(0.0, 9.0), Intake(1.5, 4.0, "vein")],
            np.array([1.1, 2.1, 3.9]),
            np.array([1.2, 2.0, 0.9]),
        ),
    ),
    "fit": (
        fit,
        (
            Chain(
                Mixing(rng.standard_normal((3, 4)), np.zeros(4), "soft", 0.01),
                Centred(np.ones(4)),
                Around(Mixing(0.3 * rng.standard_normal((4, 4)), np.zeros(4), "bump")),
                Mixing(rng.standard_normal((4, 1)), np.zeros(1)),
            ),
            X,
            np.sin(X[:, :1]),
        ),
    ),
    "trade": (
        trade,
        (
            [
                {
                    "kind": "worker",
                    "money": 0.0,
                    "hours": 1.2,
                    "liking": {"bread": 1.0, "cloth": 0.4},
                },
                {
                    "kind": "heir",
                    "money": 0.7,
                    "hours": 0.0,
                    "liking": {"bread": 0.3, "cloth": 0.9},
                },
            ],
            1.7,
            6,
        ),
    ),
    "swing": (
        swing,
        (Cluster([Bead(1.1 * k, 0.3 * k * k, 1.0 + 0.2 * k) for k in range(3)], 2.0, 1.4), 6),
    ),
}


def parts(value: Any) -> list[Any]:
    """Return the floats of an argument, or of a gradient, in order."""
    if isinstance(value, float):
        return [value]
    if isinstance(value, np.ndarray):
        return [*value.ravel()]
    if isinstance(value, (tuple, list)):
        return [x for part in value for x in parts(part)]
    held = getattr(value, "_fields", None) or getattr(value, "__dict__", {})
    held = value if isinstance(value, dict) else held
    return [x for part in held.values() for x in parts(part)]


def shifted(value: Any, by: Any) -> Any:
    """Return a copy of an argument, each of whose floats is changed by a function."""
    if isinstance(value, float):
        return value + float(by(0.0))
    if isinstance(value, np.ndarray):
        return value + by(value)
    if isinstance(value, (tuple, list)):
        items = [shifted(part, by) for part in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: shifted(part, by) for key, part in value.items()}
    if not hasattr(value, "__dict__"):
        return value
    made = copy.copy(value)
    vars(made).update({name: shifted(part, by) for name, part in vars(value).items()})
    return made


def along(seed: int, size: float) -> Any:
    """Return a function that gives changes of numbers and arrays, the same ones each time."""
    drawn = np.random.default_rng(seed)
    return lambda x: size * drawn.standard_normal(np.shape(x))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_compiled_whole_and_right_at_two_points(name, tried):
    f, args = PROGRAMS[name]
    argnums = tuple(k for k, a in enumerate(args) if a is not None and not isinstance(a, int | str))
    for point in (args, shifted(args, along(1, 0.01))):
        before = parts(point)
        value, g = value_and_grad(f, argnums, compile=True)(*point)
        assert parts(point) == before
        expected, h = value_and_grad(f, argnums)(*point)
        require_compiled(f, tried)
        assert_allclose(value, expected, rtol=1e-12)
        assert_allclose(parts(g), parts(h), rtol=1e-9, atol=1e-12)
        there = [f(*shifted(point, along(2, e))) for e in (STEP, -STEP)]
        directions = shifted([point[k] for k in argnums], along(2, 1.0))
        slope = np.subtract(parts(directions), parts([point[k] for k in argnums])) @ parts(g)
        assert_allclose(slope, (there[0] - there[1]) / (2 * STEP), rtol=1e-5, atol=1e-7)
