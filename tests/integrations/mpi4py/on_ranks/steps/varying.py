"""Collective calls whose buffers have a length of their own on each rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from tests.integrations.mpi4py.on_ranks.steps.collectives import combined, random_operation
from tests.integrations.mpi4py.on_ranks.steps.state import KINDS, State

__all__ = ["VARYING"]

TYPES = {
    np.dtype(np.float64): MPI.DOUBLE,
    np.dtype(np.complex128): MPI.DOUBLE_COMPLEX,
    np.dtype(np.float32): MPI.FLOAT,
}
OPERATIONS = {"SUM": MPI.SUM, "PROD": MPI.PROD, "MAX": MPI.MAX, "MIN": MPI.MIN}


@dataclass(frozen=True)
class Varying:
    """`Gatherv`, `Allgatherv`, `Scatterv`, `Alltoallv` and `Reduce_scatter`.

    Rank r has `counts[r]` elements, which may be none.
    """

    source: str
    target: str
    call: str
    counts: tuple[int, ...]
    operation: str
    root: int

    choices = {
        "call": ("Gatherv", "Allgatherv", "Scatterv", "Alltoallv", "Reduce_scatter"),
        "operation": ("SUM", "MAX"),
    }

    @classmethod
    def random(cls, random: Random, kind: str) -> Varying:
        source, target = random.sample(KINDS[kind], 2)
        counts = tuple(random.sample([0, 1, 2, 3], 4))
        operation = random_operation(random, kind)
        return cls(
            source,
            target,
            random.choice(cls.choices["call"]),
            counts,
            operation,
            random.randrange(4),
        )

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        counts = list(self.counts[: comm.size])
        sent, received, mine = state[self.source], state[self.target], counts[comm.rank]
        datatype, root = TYPES[sent.dtype], self.root % comm.size
        if self.call in ("Gatherv", "Allgatherv"):
            whole = np.zeros(sum(counts), sent.dtype)
            if self.call == "Allgatherv":
                comm.Allgatherv(sent[:mine], [whole, counts, offsets(counts), datatype])
            else:
                comm.Gatherv(sent[:mine], [whole, counts] if comm.rank == root else None, root)
            if self.call == "Allgatherv" or comm.rank == root:
                received[:4] += condensed(whole, comm.rank)
        elif self.call == "Scatterv":
            whole = long(sent, sum(counts)) if comm.rank == root else None
            comm.Scatterv([whole, counts, offsets(counts), datatype], received[:mine], root)
        elif self.call == "Alltoallv":
            # Rank i has for rank j what j expects of i: as many as both have together.
            both = [mine + count for count in counts]
            whole, come = long(sent, sum(both)), np.zeros(sum(both), sent.dtype)
            comm.Alltoallv([whole, both], [come, both, offsets(both), datatype])
            received[:4] += condensed(come, comm.rank)
        else:
            whole = long(sent, sum(counts)) + 0.1 * comm.rank
            comm.Reduce_scatter(whole, received[:mine], counts, OPERATIONS[self.operation])

    def on_all(self, states: Sequence[State]) -> None:
        counts, ranks = self.counts[: len(states)], range(len(states))
        root, places = self.root % len(states), offsets(counts)
        if self.call in ("Gatherv", "Allgatherv"):
            sent = [state[self.source][: counts[rank]] for rank, state in enumerate(states)]
            whole = np.concatenate(sent)
            for rank in ranks if self.call == "Allgatherv" else [root]:
                states[rank][self.target][:4] += condensed(whole, rank)
        elif self.call == "Alltoallv":
            both = [[mine + count for count in counts] for mine in counts]
            wholes = [long(states[rank][self.source], sum(both[rank])) for rank in ranks]
            for rank in ranks:
                come = np.concatenate([taken(wholes[r], both[r], rank) for r in ranks])
                states[rank][self.target][:4] += condensed(come, rank)
        else:
            wholes = [long(state[self.source], sum(counts)) for state in states]
            if self.call == "Scatterv":
                whole = wholes[root]
            else:
                shifted = [wholes[rank] + 0.1 * rank for rank in ranks]
                whole = combined(self.operation, shifted)
            for rank in ranks:
                part = whole[places[rank] : places[rank] + counts[rank]]
                states[rank][self.target][: counts[rank]] = part


def offsets(counts: Sequence[int]) -> list[int]:
    """Return where the part of each rank begins."""
    return [sum(counts[:rank]) for rank in range(len(counts))]


def taken(whole: NDArray, counts: Sequence[int], rank: int) -> NDArray:
    """Return the part of a rank."""
    start = sum(counts[:rank])
    return whole[start : start + counts[rank]]


def long(values: NDArray, count: int) -> NDArray:
    """Return this many elements, all different, made of six."""
    whole = np.empty(count, values.dtype)
    for k in range(count):
        whole[k] = values[k % 6] * (1.0 + 0.1 * k) + 0.02 * k
    return whole


def condensed(whole: NDArray, rank: int) -> NDArray:
    """Return four numbers made of all elements, each with a weight of its own."""
    total = np.zeros(4, whole.dtype)
    for k in range(len(whole)):
        total[k % 4] += whole[k] ** 2 * (0.2 + 0.05 * k - 0.03 * rank)
    return total


VARYING = [Varying]
