"""Rows and columns of arrays with two axes: halos, derived datatypes, Cartesian neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from mpi4py import MPI

from tests.integrations.mpi4py.on_ranks.steps.state import State, table_of

__all__ = ["TABLES"]


@dataclass(frozen=True)
class Columns:
    """A column goes to the next rank on a line, described by a derived datatype."""

    sent: int
    received: int
    way: str

    choices = {"way": ("vector", "subarray", "buffer", "strided copy")}

    @classmethod
    def random(cls, random: Random) -> Columns:
        return cls(*random.sample(range(5), 2), random.choice(cls.choices["way"]))

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        u = table_of(state)
        line = comm.Create_cart([comm.size])
        source, dest = line.Shift(0, 1)
        if self.way == "buffer":
            come = u[:, self.received].copy()  # which stays where there is no neighbour
            line.Sendrecv([u[:, self.sent].copy(), MPI.DOUBLE], dest, recvbuf=come, source=source)
            u[:, self.received] = come
        elif self.way == "strided copy":
            come = np.array(u[:, self.received])
            requests = [line.Irecv(come, source), line.Isend(u[:, self.sent].copy(), dest)]
            MPI.Request.Waitall(requests)
            u[:, self.received] = come
        else:
            self.by_type(line, u, source, dest)
        line.Free()

    def by_type(self, line: MPI.Cartcomm, u: np.ndarray, source: int, dest: int) -> None:
        rows, columns = u.shape
        if self.way == "vector":
            column = MPI.DOUBLE.Create_vector(rows, 1, columns).Commit()
            flat = u.reshape(-1)
            sent, received = [flat[self.sent :], 1, column], [flat[self.received :], 1, column]
            line.Sendrecv(sent, dest, 0, received, source, 0)
            column.Free()
            return
        types = [
            MPI.DOUBLE.Create_subarray((rows, columns), (rows, 1), (0, k)).Commit()
            for k in (self.sent, self.received)
        ]
        requests = [line.Isend([u, 1, types[0]], dest), line.Irecv([u, 1, types[1]], source)]
        MPI.Request.Waitall(requests)
        for datatype in types:
            datatype.Free()

    def on_all(self, states: Sequence[State]) -> None:
        sent = [table_of(state)[:, self.sent].copy() for state in states]
        for rank, state in enumerate(states[1:]):
            table_of(state)[:, self.received] = sent[rank]


@dataclass(frozen=True)
class Halos:
    """First and last rows are exchanged on a line or a ring; the inner ones are recomputed."""

    periodic: bool
    persistent: bool

    choices = {"periodic": (False, True), "persistent": (False, True)}

    @classmethod
    def random(cls, random: Random) -> Halos:
        return cls(random.random() < 0.5, random.random() < 0.5)

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        u = table_of(state)
        line = comm.Create_cart([comm.size], periods=[self.periodic], reorder=False)
        below, above = line.Shift(0, 1)
        if self.persistent:
            requests = [
                line.Recv_init(u[0], below, 1),
                line.Recv_init(u[3], above, 2),
                line.Send_init(u[1], below, 2),
                line.Send_init(u[2], above, 1),
            ]
            for _ in range(2):
                MPI.Prequest.Startall(requests)
                MPI.Request.Waitall(requests)
                relax(u)
        else:
            for _ in range(2):
                line.Sendrecv(u[2], above, 1, u[0], below, 1)
                line.Sendrecv(u[1], below, 2, u[3], above, 2)
                relax(u)
        line.Free()

    def on_all(self, states: Sequence[State]) -> None:
        tables = [table_of(state) for state in states]
        last = len(tables) - 1
        for _ in range(2):
            for rank, u in enumerate(tables):
                if rank > 0 or self.periodic:
                    u[0] = tables[rank - 1][2]
                if rank < last or self.periodic:
                    u[3] = tables[(rank + 1) % len(tables)][1]
            for u in tables:
                relax(u)


def relax(u: np.ndarray) -> None:
    u[1:3, 1:-1] += 0.2 * (u[:2, 1:-1] + u[2:, 1:-1] - 2.0 * u[1:3, 1:-1] * u[1:3, 1:-1])


TABLES = [Columns, Halos]
