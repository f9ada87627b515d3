"""Random programs made of steps, and the two ways to run them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from typing import Any

import numpy as np
from mpi4py import MPI

from tests.integrations.mpi4py.on_ranks.steps.collectives import COLLECTIVES
from tests.integrations.mpi4py.on_ranks.steps.groups import Checkpointed, InGroups, InSlots, OnCopy
from tests.integrations.mpi4py.on_ranks.steps.local import LOCAL, Bound, Local
from tests.integrations.mpi4py.on_ranks.steps.objects import OBJECTS
from tests.integrations.mpi4py.on_ranks.steps.pairs import PAIRS
from tests.integrations.mpi4py.on_ranks.steps.state import KINDS, State, Step, initial_state
from tests.integrations.mpi4py.on_ranks.steps.tables import TABLES
from tests.integrations.mpi4py.on_ranks.steps.varying import VARYING

__all__ = ["FAMILIES", "Program", "every_step", "random_program"]

FAMILIES = {
    "pairs": PAIRS,
    "collectives": COLLECTIVES,
    "varying": VARYING,
    "objects": OBJECTS,
    "tables": TABLES,
}


@dataclass(frozen=True)
class Program:
    """Steps, and the seed of the arrays that they begin with."""

    seed: int
    steps: tuple[Step, ...]
    tolerance: float

    def initial(self, rank: int) -> State:
        """Return the arrays of a rank before the program."""
        return initial_state(self.seed, rank)

    def on_rank(self, comm: MPI.Intracomm, state: State) -> float:
        """Run the program on one rank and return a number made of its arrays."""
        for step in self.steps:
            step.on_rank(comm, state)
        return reading(state, comm.rank)

    def on_all(self, states: Sequence[State]) -> tuple[float, ...]:
        """Run the program of all ranks in one process and return the number of each."""
        for step in self.steps:
            step.on_all(states)
        return tuple(reading(state, rank) for rank, state in enumerate(states))

    def text(self) -> str:
        """Return the steps, one a line."""
        return "\n".join(f"    {step}" for step in self.steps)


def reading(state: State, rank: int) -> float:
    """Return a number that depends on every element."""
    total = 0.1 * rank
    for name, values in state.items():
        if name in KINDS["complex"]:
            total += np.sum(np.sin(values.real) * np.cos(values.imag))
        elif name in KINDS["single"]:
            total += np.sum(np.sin(values), dtype=np.float64)
        else:
            total += np.sum(np.sin(values) * (1.0 + 0.2 * rank))
    return total


def random_program(
    seed: int, length: int = 5, families: Sequence[str] = tuple(FAMILIES)
) -> Program:
    """Return a program of this many communicating steps, and local ones between them."""
    random = Random(seed)
    kinds = ["real", *random.choices(["real", "complex", "single"], [4, 2, 1], k=2)]
    steps: list[Step] = []
    while len(steps) < 3 * length:
        steps += grouped(random, some_steps(random, families, kinds))
    single = "single" in kinds
    return Program(seed, tuple(steps), 1e-4 if single else 1e-12)


def some_steps(random: Random, families: Sequence[str], kinds: Sequence[str]) -> list[Step]:
    """Return a local step, one that communicates, and one that keeps what came within bounds."""
    family, kind = random.choice(families), random.choice(kinds)
    if family == "tables":
        local, step = random.choice(LOCAL["table"]), random.choice(TABLES).random(random)
        return [Local(local), step, Bound(("u",))]
    step = random.choice(FAMILIES[family]).random(random, kind)
    return [Local(random.choice(LOCAL[kind])), step, Bound(KINDS[kind])]


def grouped(random: Random, steps: list[Step]) -> list[Step]:
    """Return the steps as they are, or as a step that runs them in another way."""
    choice = random.random()
    if choice < 0.15:
        return [InGroups(tuple(steps), random.randint(1, 3))]
    if choice < 0.2:
        return [OnCopy(tuple(steps))]
    if choice < 0.3:
        return [Checkpointed(tuple(steps))]
    if choice < 0.35:
        return [InSlots(tuple(steps), 3)]
    return steps


def every_step(family: str, kind: str = "real") -> Program:
    """Return a program with each step of a family, in each of its forms."""
    random = Random(f"{family} of {kind}")
    steps: list[Step] = []
    for step in forms(random, family, kind):
        if family == "tables":
            steps += [Local(random.choice(LOCAL["table"])), step, Bound(("u",))]
        else:
            steps += [Local(random.choice(LOCAL[kind])), step, Bound(KINDS[kind])]
    return Program(len(steps), tuple(steps), 1e-4 if kind == "single" else 1e-12)


def forms(random: Random, family: str, kind: str) -> Iterator[Step]:
    """Yield each step of a family with each value of its attributes that are names."""
    for cls in dict.fromkeys(FAMILIES[family]):
        choices: dict[str, Sequence[Any]] = getattr(cls, "choices", {})
        for values in product(*choices.values()):
            step = cls.random(random) if family == "tables" else cls.random(random, kind)
            change = dict(zip(choices, values, strict=True))
            if kind == "complex" and change.get("operation") in ("MAX", "MIN"):
                continue
            yield replace(step, **change)
