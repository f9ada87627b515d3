"""Ask an epidemic model, written with objects, on what the number of deaths depends.

A town of 100,000 in six age groups goes through an epidemic (susceptible, exposed, infectious,
recovered or dead), in steps of a day:

    F_a = p sum_b c_ab I_b / N_b,
    S_a' = -S_a F_a,   E_a' = S_a F_a - E_a / l,   I_a' = E_a / l - I_a / d.

Meanwhile measures reduce the contacts c_ab of some ages. Disease, measures and people are objects;
a day changes the arrays of people in place. One gradient, in the form of these objects, tells how
the deaths depend on all 54 numbers: each entry of the contact matrix, the duration of each stage,
the fatality at each age, the strength of each measure, and the number of susceptibles, which
vaccination changes. The numbers are made up, of the order of those of COVID-19 in 2020.

References
----------
M. J. Keeling and P. Rohani, Modeling Infectious Diseases in Humans and Animals (2008), chapter 3.

What other tools would need. JAX: the dataclasses registered as pytrees, `.at[].multiply` for the
measures, and, if the loop over days is to be compiled as `lax.scan`, methods that return new people
and `where` for the days of a measure. autograd: dicts instead of objects, and no changes of arrays
in place. PyTorch: tensors as attributes; then backward raises, "modified by an inplace operation":
a product saves the susceptibles, and the next line changes them.
"""

from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from common import Array, picture_path, report, save
from matplotlib.figure import Figure

from mooncake_py import flatten, value_and_grad

AGES = ("0-9", "10-19", "20-39", "40-59", "60-74", "75+")
SIZES = np.array([9e3, 10e3, 25e3, 28e3, 18e3, 10e3])
DAYS = 200


@dataclass
class Disease:
    """What the pathogen does; durations are in days, the fatality is for each age."""

    transmission: float
    latent: float
    infectious: float
    fatality: Array


@dataclass
class Measure:
    """Fewer contacts of some ages from one day to another."""

    name: str
    ages: tuple[int, ...]
    first: int
    last: int
    reduction: float

    def apply(self, day: int, contacts: Array) -> None:
        """Reduce the contacts, in place, if it is in force."""
        if self.first <= day < self.last:
            for age in self.ages:
                contacts[age] *= 1.0 - self.reduction
                contacts[:, age] *= 1.0 - self.reduction


class Population:
    """How many people are in which state; one number for each age."""

    def __init__(self, susceptible: Array) -> None:
        self.infectious = 2e-4 * SIZES
        self.susceptible = susceptible - self.infectious
        self.exposed = np.zeros(len(AGES))
        self.dead = np.zeros(len(AGES))
        self.history: list[Array] = []

    def live(self, disease: Disease, contacts: Array) -> None:
        """Let a day pass."""
        force = disease.transmission * (contacts @ (self.infectious / SIZES))
        infections = force * self.susceptible
        outbreaks = self.exposed / disease.latent
        ends = self.infectious / disease.infectious
        self.susceptible -= infections
        self.exposed += infections
        self.exposed -= outbreaks
        self.infectious += outbreaks
        self.infectious -= ends
        self.dead += disease.fatality * ends
        self.history.append(self.infectious.copy())


@dataclass
class Scenario:
    """All that one may want to change; contacts are per day, of row with column."""

    disease: Disease
    contacts: Array
    susceptible: Array
    measures: list[Measure]

    def run(self) -> Population:
        """Return the people at the end."""
        people = Population(self.susceptible)
        for day in range(DAYS):
            contacts = self.contacts.copy()
            for measure in self.measures:
                measure.apply(day, contacts)
            people.live(self.disease, contacts)
        return people


def deaths(scenario: Scenario) -> float:
    """Return how many die, of all ages."""
    return np.sum(scenario.run().dead)


def base_scenario() -> Scenario:
    """Return a scenario in which all contacts are mutual."""
    total = SIZES[:, None] * [
        [6.0, 1.5, 3.5, 2.0, 0.8, 0.3],
        [1.5, 9.0, 3.0, 3.0, 0.6, 0.3],
        [1.4, 1.2, 5.0, 3.5, 0.8, 0.4],
        [0.7, 1.1, 3.1, 4.5, 1.0, 0.6],
        [0.5, 0.4, 1.2, 1.6, 2.2, 0.6],
        [0.3, 0.3, 1.0, 1.7, 1.0, 1.2],
    ]
    contacts = 0.5 * (total + total.T) / SIZES[:, None]
    disease = Disease(0.03, 4.0, 6.0, np.array([2e-5, 5e-5, 3e-4, 2e-3, 1.5e-2, 8e-2]))
    measures = [
        Measure("schools closed", (0, 1), 60, 150, 0.3),
        Measure("work from home", (2, 3), 60, 200, 0.15),
        Measure("shielding", (4, 5), 60, 200, 0.15),
    ]
    return Scenario(disease, contacts, SIZES.copy(), measures)


def main(picture: Path) -> None:
    """Check the gradient in all numbers, use it, and draw it."""
    scenario = base_scenario()
    gradient = value_and_grad(deaths)
    vector, scenario_of = flatten(scenario)

    def of_vector(x: Array) -> tuple[float, Array]:
        value, slopes = gradient(scenario_of(x))
        return value, flatten(slopes)[0]

    report(lambda x: deaths(scenario_of(x)), of_vector, vector)
    total, slopes = gradient(scenario)
    print(f"{total:.0f} deaths; by one gradient in {len(vector)} numbers there are fewer by")
    for measure, slope in zip(scenario.measures, slopes.measures, strict=True):
        print(f"  {-0.01 * slope.reduction:4.1f} if {measure.name!r} reduces contacts by 1 % more")
    averted = 1000.0 * slopes.susceptible
    for age, lives in zip(AGES, averted, strict=True):
        print(f"  {lives:4.1f} if 1000 people aged {age} are immune")
    assert all(slope.reduction < 0.0 for slope in slopes.measures)
    # Those who meet many are worth more than those who are at some risk themselves.
    assert averted[1] > averted[4]
    elasticity = slopes.contacts * scenario.contacts / total
    save(drawn(scenario, averted, elasticity), picture)


def drawn(scenario: Scenario, averted: Array, elasticity: Array) -> Figure:
    """Draw the epidemic, and what the gradient says."""
    figure, panels = plt.subplots(1, 3, figsize=(11.5, 3.6), layout="constrained")
    panels[0].stackplot(range(DAYS), np.transpose(scenario.run().history), labels=AGES, zorder=2)
    panels[0].legend(title="age", fontsize="x-small", reverse=True)
    for row, measure in enumerate(scenario.measures):
        height = -350 * (row + 1)
        panels[0].hlines(height, measure.first, measure.last, linewidth=9, color="lightgray")
        panels[0].text(measure.first + 4, height, measure.name, va="center", fontsize="x-small")
    panels[0].set(title="Epidemic in a town of 100,000", xlabel="day", ylabel="infectious people")
    panels[0].set_yticks(range(0, 5000, 1000))
    panels[1].bar(AGES, averted, color="tab:green")
    panels[1].set(title="Whom to vaccinate", xlabel="age of the vaccinated")
    panels[1].set_ylabel("deaths averted by 1000 vaccinations")
    image = panels[2].imshow(elasticity, cmap="YlOrRd", vmin=0.0)
    panels[2].set(title="Which contacts matter", xlabel="with those aged")
    panels[2].set_ylabel("contacts of those aged")
    panels[2].set_xticks(range(len(AGES)), AGES, rotation=45)
    panels[2].set_yticks(range(len(AGES)), AGES)
    figure.colorbar(image, ax=panels[2], label="% more deaths for 1 % more contacts")
    return figure


if __name__ == "__main__":
    main(picture_path(__file__))
