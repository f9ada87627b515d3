"""Collective calls on buffers of one length on all ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from tests.integrations.mpi4py.on_ranks.steps.state import Part, State, random_parts

__all__ = ["COLLECTIVES", "combined", "random_operation"]

OPERATIONS = {"SUM": MPI.SUM, "PROD": MPI.PROD, "MAX": MPI.MAX, "MIN": MPI.MIN}


def random_operation(random: Random, kind: str) -> str:
    """Return the name of an operation; complex numbers have no order."""
    return random.choice(["SUM", "PROD"] if kind == "complex" else list(OPERATIONS))


def combined(operation: str, parts: Sequence[NDArray]) -> NDArray:
    """Return the result of a reduction of these arrays."""
    total = parts[0].copy()
    for part in parts[1:]:
        if operation == "SUM":
            total += part
        elif operation == "PROD":
            total *= part
        else:
            np.copyto(total, (np.maximum if operation == "MAX" else np.minimum)(total, part))
    return total


def told_apart(values: NDArray, rank: int) -> NDArray:
    """Return other values on each rank, so that a maximum never ties."""
    return values * (1.0 - 0.1 * rank) + 0.05 * (rank + 1)


@dataclass(frozen=True)
class Broadcast:
    """`Bcast`."""

    part: Part
    root: int

    @classmethod
    def random(cls, random: Random, kind: str) -> Broadcast:
        part, _ = random_parts(random, kind, random.randint(1, 4))
        return cls(part, random.randrange(4))

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        comm.Bcast(self.part.of(state), self.root % comm.size)

    def on_all(self, states: Sequence[State]) -> None:
        sent = self.part.of(states[self.root % len(states)]).copy()
        for state in states:
            self.part.of(state)[:] = sent


@dataclass(frozen=True)
class Reduction:
    """`Reduce`, `Allreduce`, `Scan` and `Exscan`, in place or not."""

    sent: Part
    received: Part
    operation: str
    call: str
    in_place: bool
    root: int

    choices = {
        "call": ("Reduce", "Allreduce", "Scan", "Exscan"),
        "operation": tuple(OPERATIONS),
        "in_place": (False, True),
    }

    @classmethod
    def random(cls, random: Random, kind: str) -> Reduction:
        parts = random_parts(random, kind, random.randint(1, 4))
        operation, call = random_operation(random, kind), random.choice(cls.choices["call"])
        return cls(*parts, operation, call, random.random() < 0.5, random.randrange(4))

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        values = told_apart(self.sent.of(state), comm.rank)
        operation, root = OPERATIONS[self.operation], self.root % comm.size
        sent, received = (MPI.IN_PLACE, values) if self.in_place else (values, values * 0.5)
        if self.call == "Reduce":
            if comm.rank == root:
                comm.Reduce(sent, received, operation, root)
            else:
                comm.Reduce(values, None, operation, root)
                received = values
        elif self.call == "Allreduce":
            comm.Allreduce(sent, received, operation)
        elif self.call == "Scan":
            comm.Scan(sent, received, operation)
        else:
            comm.Exscan(sent, received, operation)
        if self.call != "Exscan" or comm.rank > 0:  # where nothing comes the buffer is undefined
            self.received.of(state)[:] = received

    def on_all(self, states: Sequence[State]) -> None:
        values = [told_apart(self.sent.of(state), rank) for rank, state in enumerate(states)]
        for rank, state in enumerate(states):
            received = self.received.of(state)
            if self.call == "Reduce":
                at_root = rank == self.root % len(states)
                received[:] = combined(self.operation, values) if at_root else values[rank]
            elif self.call == "Allreduce":
                received[:] = combined(self.operation, values)
            elif self.call == "Scan":
                received[:] = combined(self.operation, values[: rank + 1])
            elif rank > 0:
                received[:] = combined(self.operation, values[:rank])


@dataclass(frozen=True)
class Gathering:
    """`Gather` and `Allgather`; the latter also in place."""

    sent: Part
    received: Part
    call: str
    root: int

    choices = {"call": ("Gather", "Allgather", "Allgather in place")}

    @classmethod
    def random(cls, random: Random, kind: str) -> Gathering:
        call = random.choice(cls.choices["call"])
        return cls(*random_parts(random, kind, 3), call, random.randrange(4))

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        sent, root = self.sent.of(state), self.root % comm.size
        table = np.zeros((comm.size, 3), sent.dtype)
        if self.call == "Gather":
            comm.Gather(sent, table if comm.rank == root else None, root)
        elif self.call == "Allgather":
            comm.Allgather(sent, table)
        else:
            table[comm.rank] = sent
            comm.Allgather(MPI.IN_PLACE, table)
        if self.call != "Gather" or comm.rank == root:
            self.received.of(state)[:] = weighted(table, comm.rank)

    def on_all(self, states: Sequence[State]) -> None:
        table = np.array([self.sent.of(state) for state in states])
        for rank, state in enumerate(states):
            if self.call != "Gather" or rank == self.root % len(states):
                self.received.of(state)[:] = weighted(table, rank)


def weighted(table: NDArray, rank: int) -> NDArray:
    """Return the sum of the rows with weights that differ from rank to rank."""
    total = np.zeros_like(table[0])
    for row in range(len(table)):
        total += table[row] * table[row, 0] * (0.3 + 0.1 * row - 0.2 * rank)
    return total


@dataclass(frozen=True)
class Spreading:
    """`Scatter`, `Alltoall` and `Reduce_scatter_block` of one row for each rank."""

    sent: Part
    received: Part
    call: str
    operation: str
    root: int

    choices = {
        "call": ("Scatter", "Alltoall", "Alltoall in place", "Reduce_scatter_block"),
        "operation": ("SUM", "MAX"),
    }

    @classmethod
    def random(cls, random: Random, kind: str) -> Spreading:
        call = random.choice(cls.choices["call"])
        operation = random_operation(random, kind)
        return cls(*random_parts(random, kind, 2), call, operation, random.randrange(4))

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        table = rows(self.sent.of(state), comm.rank, comm.size)
        received, root = self.received.of(state), self.root % comm.size
        if self.call == "Scatter":
            comm.Scatter(table if comm.rank == root else None, received, root)
        elif self.call == "Alltoall":
            other = np.empty_like(table)
            comm.Alltoall(table, other)
            received[:] = weighted(other, 0)
        elif self.call == "Alltoall in place":
            comm.Alltoall(MPI.IN_PLACE, table)
            received[:] = weighted(table, 0)
        else:
            comm.Reduce_scatter_block(table, received, OPERATIONS[self.operation])

    def on_all(self, states: Sequence[State]) -> None:
        count = len(states)
        tables = [rows(self.sent.of(state), rank, count) for rank, state in enumerate(states)]
        for rank, state in enumerate(states):
            received = self.received.of(state)
            if self.call == "Scatter":
                received[:] = tables[self.root % count][rank]
            elif self.call == "Reduce_scatter_block":
                received[:] = combined(self.operation, [table[rank] for table in tables])
            else:
                received[:] = weighted(np.array([table[rank] for table in tables]), 0)


def rows(values: NDArray, rank: int, count: int) -> NDArray:
    """Return a table with a row for each rank, all different."""
    table = np.empty((count, *values.shape), values.dtype)
    for row in range(count):
        table[row] = told_apart(values, rank) * (1.0 - 0.2 * row)
    return table


@dataclass(frozen=True)
class Wait:
    """`Barrier`, between writes to an array."""

    part: Part

    @classmethod
    def random(cls, random: Random, kind: str) -> Wait:
        return cls(random_parts(random, kind, 2)[0])

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        self.part.of(state)[:] *= 1.1
        comm.Barrier()
        self.part.of(state)[:] += 0.2

    def on_all(self, states: Sequence[State]) -> None:
        for state in states:
            self.part.of(state)[:] *= 1.1
            self.part.of(state)[:] += 0.2


COLLECTIVES = [Broadcast, Reduction, Reduction, Gathering, Spreading, Wait]
