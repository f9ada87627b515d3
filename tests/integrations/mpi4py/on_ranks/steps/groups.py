"""Steps made of other steps: within parts of the ranks, in loops, with checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mpi4py import MPI

from mooncake_py import checkpoint, checkpointed
from tests.integrations.mpi4py.on_ranks.steps.state import State, Step

__all__ = ["Checkpointed", "InGroups", "InSlots", "OnCopy"]


@dataclass(frozen=True)
class InGroups:
    """Steps within the groups that `Split` makes, the ranks in the opposite order."""

    steps: tuple[Step, ...]
    groups: int

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        group = comm.Split(comm.rank % self.groups, -comm.rank)
        for step in self.steps:
            step.on_rank(group, state)
        group.Free()

    def on_all(self, states: Sequence[State]) -> None:
        for first in range(min(self.groups, len(states))):
            group = states[first :: self.groups][::-1]
            for step in self.steps:
                step.on_all(group)


@dataclass(frozen=True)
class OnCopy:
    """Steps on a copy of the communicator."""

    steps: tuple[Step, ...]

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        copy = comm.Dup()
        for step in self.steps:
            step.on_rank(copy, state)
        copy.Free()

    def on_all(self, states: Sequence[State]) -> None:
        for step in self.steps:
            step.on_all(states)


@dataclass(frozen=True)
class Checkpointed:
    """Steps that run again on the way back, messages included."""

    steps: tuple[Step, ...]

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        checkpoint(self.run, comm, state)

    def run(self, comm: MPI.Intracomm, state: State) -> None:
        for step in self.steps:
            step.on_rank(comm, state)

    def on_all(self, states: Sequence[State]) -> None:
        for step in self.steps:
            step.on_all(states)


@dataclass(frozen=True)
class InSlots:
    """Steps repeated in a checkpointed loop."""

    steps: tuple[Step, ...]
    rounds: int

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        for _ in checkpointed(range(self.rounds), slots=2):
            for step in self.steps:
                step.on_rank(comm, state)

    def on_all(self, states: Sequence[State]) -> None:
        for _ in range(self.rounds):
            for step in self.steps:
                step.on_all(states)
