"""Messages from one rank to another: blocking, nonblocking, around a ring, persistent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from tests.integrations.mpi4py.on_ranks.steps.state import Part, State, random_parts

__all__ = ["PAIRS"]


@dataclass(frozen=True)
class OneToAnother:
    """One rank sends a part to another, if there is another."""

    sent: Part
    received: Part
    source: int
    distance: int

    @classmethod
    def random(cls, random: Random, kind: str) -> OneToAnother:
        parts = random_parts(random, kind, random.randint(1, 4))
        return cls(*parts, random.randrange(4), random.randint(1, 3))

    def ends(self, size: int) -> tuple[int, int]:
        source = self.source % size
        return source, (source + self.distance) % size

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        source, dest = self.ends(comm.size)
        if source == dest:
            return
        if comm.rank == source:
            comm.Send(self.sent.of(state), dest, tag=self.distance)
        elif comm.rank == dest:
            comm.Recv(self.received.of(state), source, tag=self.distance)

    def on_all(self, states: Sequence[State]) -> None:
        source, dest = self.ends(len(states))
        if source != dest:
            self.received.of(states[dest])[:] = self.sent.of(states[source])


@dataclass(frozen=True)
class AnyToRoot:
    """All others send to one rank, which takes the messages as they come."""

    sent: Part
    received: Part
    root: int

    @classmethod
    def random(cls, random: Random, kind: str) -> AnyToRoot:
        return cls(*random_parts(random, kind, 3), random.randrange(4))

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        root = self.root % comm.size
        if comm.rank == root:
            self.take(comm, self.received.of(state))
        else:
            comm.Send(self.sent.of(state), root, tag=comm.rank)
        comm.Barrier()  # or a rank's next message could come before another's first

    def take(self, comm: MPI.Intracomm, received: NDArray) -> None:
        come, status = np.empty_like(received), MPI.Status()
        parts = np.zeros((comm.size, len(received)), received.dtype)
        for _ in range(comm.size - 1):
            comm.Recv(come, MPI.ANY_SOURCE, MPI.ANY_TAG, status)
            assert status.Get_tag() == status.Get_source()
            parts[status.Get_source()] = come
        for rank in range(comm.size):  # in order: a checkpoint compares the bits of two runs
            received += parts[rank] * (1.0 + 0.3 * rank)

    def on_all(self, states: Sequence[State]) -> None:
        root = self.root % len(states)
        for rank, state in enumerate(states):
            if rank != root:
                self.received.of(states[root])[:] += self.sent.of(state) * (1.0 + 0.3 * rank)


@dataclass(frozen=True)
class Ring:
    """Every rank sends a part around the ring, by whichever calls `way` says."""

    sent: Part
    received: Part
    distance: int
    way: str

    choices = {
        "way": (
            "Sendrecv",
            "Waitall",
            "receive first",
            "send first",
            "wait in turn",
            "test",
            "persistent",
            "Startall",
        ),
    }

    @classmethod
    def random(cls, random: Random, kind: str) -> Ring:
        parts = random_parts(random, kind, random.randint(1, 4))
        return cls(*parts, random.randint(0, 3), random.choice(cls.choices["way"]))

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        dest = (comm.rank + self.distance) % comm.size
        source = (comm.rank - self.distance) % comm.size
        sent, received = self.sent.of(state), self.received.of(state)
        if self.way == "Sendrecv":
            comm.Sendrecv(sent, dest, 5, received, source, 5)
        elif self.way == "persistent":
            self.persistent(comm.Send_init(sent, dest), comm.Recv_init(received, source))
        elif self.way == "Startall":
            requests = [comm.Recv_init(received, source), comm.Send_init(sent, dest)]
            MPI.Prequest.Startall(requests)
            MPI.Request.Waitall(requests)
            for request in requests:
                request.Free()
        else:
            self.nonblocking(comm, state, dest, source)

    def nonblocking(self, comm: MPI.Intracomm, state: State, dest: int, source: int) -> None:
        if self.way == "receive first":
            incoming = comm.Irecv(self.received.of(state), source)
            outgoing = comm.Isend(self.sent.of(state), dest)
        else:
            outgoing = comm.Isend(self.sent.of(state), dest)
            incoming = comm.Irecv(self.received.of(state), source)
        if self.way == "Waitall":
            MPI.Request.Waitall([outgoing, incoming])
        elif self.way == "test":
            while not incoming.Test():
                pass
            outgoing.Wait()
        elif self.way == "send first":
            outgoing.Wait()
            incoming.Wait()
        else:
            incoming.Wait()
            outgoing.Wait()

    def persistent(self, outgoing: MPI.Prequest, incoming: MPI.Prequest) -> None:
        incoming.Start()
        outgoing.Start()
        incoming.Wait()
        outgoing.Wait()
        outgoing.Free()
        incoming.Free()

    def on_all(self, states: Sequence[State]) -> None:
        sent = [self.sent.of(state).copy() for state in states]
        for rank, values in enumerate(sent):
            self.received.of(states[(rank + self.distance) % len(states)])[:] = values


@dataclass(frozen=True)
class OverlappedRing:
    """A ring whose ranks compute elsewhere in their arrays while messages are under way."""

    sent: Part
    received: Part

    @classmethod
    def random(cls, random: Random, kind: str) -> OverlappedRing:
        return cls(*random_parts(random, kind, 2))

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
        sent, received = self.sent.of(state), self.received.of(state)
        back = np.empty_like(received)
        requests = [
            comm.Irecv(received, left, 1),
            comm.Irecv(back, right, 2),
            comm.Isend(sent, right, 1),
            comm.Isend(sent, left, 2),
        ]
        aside(state, self)
        MPI.Request.Waitall(requests[1:])
        sent *= 1.0 + back * np.conj(back)
        requests[0].Wait()
        received *= 0.5 + 0.1 * comm.rank

    def on_all(self, states: Sequence[State]) -> None:
        sent = [self.sent.of(state).copy() for state in states]
        for rank, state in enumerate(states):
            aside(state, self)
            back = sent[(rank + 1) % len(states)]
            self.sent.of(state)[:] *= 1.0 + back * np.conj(back)
            self.received.of(state)[:] = sent[rank - 1] * (0.5 + 0.1 * rank)


def aside(state: State, ring: OverlappedRing) -> None:
    """Change what no message of this step touches; read what is being sent."""
    sent, received = state[ring.sent.name], state[ring.received.name]
    received[: ring.received.start] *= 0.7
    received[ring.received.stop :] += 0.1 * sent[ring.sent.start]
    sent[ring.sent.stop :] *= sent[ring.sent.start]


@dataclass(frozen=True)
class Crossing:
    """Two messages of one tag to one rank, which waits for the second one first."""

    sent: Part
    received: Part

    @classmethod
    def random(cls, random: Random, kind: str) -> Crossing:
        return cls(*random_parts(random, kind, 4))

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
        sent, received = self.sent.of(state), self.received.of(state)
        incoming = [comm.Irecv(received[:2], left), comm.Irecv(received[2:], left)]
        outgoing = [comm.Isend(sent[:2], right), comm.Isend(sent[2:], right)]
        incoming[1].Wait()
        received[2:] *= received[2:]
        incoming[0].Wait()
        MPI.Request.Waitall(outgoing)

    def on_all(self, states: Sequence[State]) -> None:
        sent = [self.sent.of(state).copy() for state in states]
        for rank, state in enumerate(states):
            received = self.received.of(state)
            received[:] = sent[rank - 1]
            received[2:] *= received[2:]


@dataclass(frozen=True)
class Replace:
    """A part goes around the ring and another one takes its place (`Sendrecv_replace`)."""

    part: Part
    distance: int

    @classmethod
    def random(cls, random: Random, kind: str) -> Replace:
        part, _ = random_parts(random, kind, random.randint(1, 4))
        return cls(part, random.randint(0, 3))

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        dest = (comm.rank + self.distance) % comm.size
        source = (comm.rank - self.distance) % comm.size
        comm.Sendrecv_replace(self.part.of(state), dest, source=source)

    def on_all(self, states: Sequence[State]) -> None:
        sent = [self.part.of(state).copy() for state in states]
        for rank, values in enumerate(sent):
            self.part.of(states[(rank + self.distance) % len(states)])[:] = values


@dataclass(frozen=True)
class Rounds:
    """Persistent requests that are started several times; the buffers change in between."""

    sent: Part
    received: Part
    rounds: int

    @classmethod
    def random(cls, random: Random, kind: str) -> Rounds:
        return cls(*random_parts(random, kind, 2), random.randint(2, 3))

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
        sent, received = self.sent.of(state), self.received.of(state)
        requests = [comm.Send_init(sent, right), comm.Recv_init(received, left)]
        for _ in range(self.rounds):
            MPI.Prequest.Startall(requests)
            MPI.Request.Waitall(requests)
            sent += 0.5 * received * received
        for request in requests:
            request.Free()

    def on_all(self, states: Sequence[State]) -> None:
        for _ in range(self.rounds):
            sent = [self.sent.of(state).copy() for state in states]
            for rank, state in enumerate(states):
                received = self.received.of(state)
                received[:] = sent[rank - 1]
                self.sent.of(state)[:] += 0.5 * received * received


PAIRS = [OneToAnother, AnyToRoot, Ring, Ring, OverlappedRing, Crossing, Replace, Rounds]
