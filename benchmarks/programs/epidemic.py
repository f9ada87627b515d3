"""An epidemic in age groups with measures that are switched by rules, day by day.

Style: modern Python of an epidemiologist: NamedTuple states, pattern matching, pure functions.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.programs.program import Program


class Group(NamedTuple):
    """People of one age group by state."""

    susceptible: float
    exposed: float
    infectious: float
    recovered: float
    dead: float = 0.0

    @property
    def alive(self) -> float:
        """All who live."""
        return self.susceptible + self.exposed + self.infectious + self.recovered


class Disease(NamedTuple):
    """Rates by day."""

    transmission: float
    incubation: float
    recovery: float
    fatality: tuple[float, ...]
    waning: float


class Open(NamedTuple):
    """No measures."""


class Masks(NamedTuple):
    """Everybody wears a mask."""

    efficacy: float


class Lockdown(NamedTuple):
    """Contacts are cut, less and less obeyed."""

    strictness: float
    since: int


class Vaccinate(NamedTuple):
    """Doses by day for groups from a given one on."""

    doses: float
    first_group: int


Measure = Open | Masks | Lockdown | Vaccinate


class Outcome(NamedTuple):
    """What a day has cost."""

    day: int
    infectious: float
    deaths: float
    burden: float


def contact_factor(measure: Measure, day: int) -> float:
    """Share of contacts that remain."""
    match measure:
        case Masks(efficacy):
            return 1.0 - efficacy
        case Lockdown(strictness, since) if day - since < 60:
            return 1.0 - strictness * math.exp(-(day - since) / 40.0)
        case Lockdown():
            return 0.9
        case _:
            return 1.0


def burden(measure: Measure) -> float:
    """Cost of a measure for a day."""
    match measure:
        case Masks():
            return 0.02
        case Lockdown(strictness=s):
            return s**2
        case Vaccinate(doses, first_group=0):
            return 1.2 * doses
        case Vaccinate(doses):
            return doses
        case Open():
            return 0.0
    raise TypeError(measure)


def decide(measure: Measure, day: int, share: float, policy: dict) -> Measure:
    """Choose the measure of tomorrow."""
    match measure, share:
        case Lockdown(_, since), s if s < policy["reopen"] and day - since > 14:
            return Masks(policy["masks"])
        case ((Open() | Masks()), s) if s > policy["close"]:
            return Lockdown(policy["strictness"], day)
        case Masks(), _ if day > 120:
            return Vaccinate(policy["doses"], first_group=2 if day < 160 else 0)
        case _:
            return measure


def advance(groups, contacts, disease: Disease, measure: Measure, day: int, dt: float):
    """Return the groups after a time step."""
    factor = contact_factor(measure, day)
    pressure = [g.infectious / g.alive for g in groups]
    new = []
    for a, g in enumerate(groups):
        force = disease.transmission * factor * sum(c * p for c, p in zip(contacts[a], pressure))
        infected = g.susceptible * -math.expm1(-force * dt)
        onset = disease.incubation * g.exposed * dt
        removed = disease.recovery * g.infectious * dt
        died = disease.fatality[a] * removed
        lost = disease.waning * g.recovered * dt
        g = g._replace(
            susceptible=g.susceptible - infected + lost,
            exposed=g.exposed + infected - onset,
            infectious=g.infectious + onset - removed,
            recovered=g.recovered + removed - died - lost,
            dead=g.dead + died,
        )
        match measure:
            case Vaccinate(doses, first_group) if a >= first_group:
                moved = doses * g.susceptible * dt
                s, e, i, r, d = g
                g = Group(s - moved, e, i, r + moved, d)
        new.append(g)
    return tuple(new)


def simulate(groups, contacts, disease, policy, days) -> Iterator[Outcome]:
    """Yield the outcome of each day."""
    measure: Measure = Open()
    for day in range(days):
        before = sum(g.dead for g in groups)
        for _ in range(4):
            groups = advance(groups, contacts, disease, measure, day, dt=0.25)
        ill = sum(g.infectious for g in groups)
        share = ill / sum(g.alive for g in groups)
        yield Outcome(day, ill, sum(g.dead for g in groups) - before, burden(measure))
        measure = decide(measure, day, share, policy)


def cost(groups, contacts, disease, policy, days):
    """Deaths and burdens, and the logarithm of the peak."""
    outcomes = list(simulate(groups, contacts, disease, policy, days))
    deaths = sum(o.deaths * 0.999**o.day for o in outcomes)
    burdens = sum(o.burden for o in outcomes)
    peak = max(o.infectious for o in outcomes)
    return 1e3 * deaths + 0.05 * burdens + math.log(peak)


def arguments():
    """Return groups, contacts, disease, policy and the number of days."""
    groups = (
        Group(0.2495, 3e-4, 2e-4, 0.0),
        Group(0.5490, 6e-4, 4e-4, 0.0),
        Group(0.1998, 1e-4, 1e-4, 0.0),
    )
    contacts = [[6.0, 3.0, 0.8], [3.0, 5.0, 1.2], [0.8, 1.2, 2.0]]
    disease = Disease(0.05, 0.25, 0.14, (1e-4, 2e-3, 3e-2), 0.004)
    policy = {"close": 0.03, "reopen": 0.0153, "masks": 0.35, "strictness": 0.8, "doses": 0.01}
    return groups, contacts, disease, policy, 250


PROGRAM = Program(run=cost, arguments=arguments, argnums=(0, 1, 2, 3), group="objects")
