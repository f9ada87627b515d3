"""What random programs compute with: arrays on each rank, and parts of them.

A step is what all ranks do together.  It says so twice: by mpi4py on one rank, and without it for
all ranks in one process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

__all__ = ["KINDS", "LEAST", "Part", "State", "Step", "initial_state", "random_parts", "table_of"]

State = dict[str, NDArray]

LEAST = 6  # elements that each array has on every rank
KINDS = {"real": ("x", "y"), "complex": ("z", "v"), "single": ("s", "t")}
"""The arrays by what they hold: messages go from one of a pair to the other."""


class Step(Protocol):
    """Something that all ranks do together."""

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        """Do the part of one rank, with mpi4py."""

    def on_all(self, states: Sequence[State]) -> None:
        """Do what all ranks do; the states are in the order of the ranks."""


@dataclass(frozen=True)
class Part:
    """A slice of one of the arrays."""

    name: str
    start: int
    stop: int

    def of(self, state: State) -> NDArray:
        """Return the slice, a view."""
        return state[self.name][self.start : self.stop]


def random_parts(random: Random, kind: str, count: int) -> tuple[Part, Part]:
    """Return a part of each array of a pair, in any order, with this many elements."""
    names = random.sample(KINDS[kind], 2)
    first, second = (random.randrange(LEAST - count + 1) for _ in range(2))
    return Part(names[0], first, first + count), Part(names[1], second, second + count)


def table_of(state: State) -> NDArray:
    """Return the array with two axes."""
    return state["u"]


def initial_state(seed: int, rank: int) -> State:
    """Return the arrays of a rank, whose sizes differ from rank to rank; none has a zero."""
    random = np.random.default_rng([seed, rank])
    count = LEAST + 2 * rank % 5

    def numbers(*shape: int) -> NDArray:
        return random.uniform(0.3, 1.5, shape) * random.choice([-1.0, 1.0], shape)

    return {
        "x": numbers(count),
        "y": numbers(count),
        "z": numbers(count) + 1j * numbers(count),
        "v": numbers(count) + 1j * numbers(count),
        "s": numbers(count).astype(np.float32),
        "t": numbers(count).astype(np.float32),
        "u": numbers(4, 5),
    }
