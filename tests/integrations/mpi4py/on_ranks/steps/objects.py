"""Lower-case calls: numbers, arrays and structures as messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from tests.integrations.mpi4py.on_ranks.steps.state import Part, State, random_parts

__all__ = ["OBJECTS"]


@dataclass
class Parcel:
    """A dataclass that is sent."""

    values: NDArray
    factor: Any
    label: str


def packed(values: NDArray, form: str) -> Any:
    """Return something that holds the values, in one of several forms."""
    if form == "array":
        return values.copy()
    if form == "number":
        return values[0] * values[1]
    if form == "tuple":
        return values[0], values[1:].copy(), "text"
    if form == "dict":
        return {"first": values[0], "rest": [values[1:] * 2.0, 3], "none": None}
    return Parcel(values * 0.5, values[1], "label")


def unpacked(message: Any, form: str) -> Any:
    """Return an array or a number made of all parts of a message."""
    if form in ("array", "number"):
        return message * 0.8
    if form == "tuple":
        return np.sum(message[1]) * message[0] + len(message[2])
    if form == "dict":
        return message["first"] * np.sum(message["rest"][0]) * message["rest"][1]
    return message.values * message.factor + len(message.label)


FORMS = ("array", "number", "tuple", "dict", "dataclass")


@dataclass(frozen=True)
class AroundTheRing:
    """Objects go around the ring."""

    sent: Part
    received: Part
    form: str
    way: str

    choices = {"way": ("sendrecv", "send", "isend", "alltoall")}

    @classmethod
    def random(cls, random: Random, kind: str) -> AroundTheRing:
        parts = random_parts(random, kind, 3)
        return cls(*parts, random.choice(FORMS), random.choice(cls.choices["way"]))

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        message = packed(self.sent.of(state), self.form)
        left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
        if comm.size == 1:
            come = message
        elif self.way == "sendrecv":
            come = comm.sendrecv(message, right, 7, source=left, recvtag=7)
        elif self.way == "send":
            if comm.rank == 0:
                comm.send(message, right)
                come = comm.recv(source=left)
            else:
                come = comm.recv(source=left)
                comm.send(message, right)
        elif self.way == "isend":
            request = comm.isend(message, dest=right, tag=2)
            come = comm.irecv(source=left, tag=2).wait()
            request.wait()
        else:
            messages = [message if rank == right else None for rank in range(comm.size)]
            come = comm.alltoall(messages)[left]
        self.received.of(state)[:] += unpacked(come, self.form)

    def on_all(self, states: Sequence[State]) -> None:
        messages = [packed(self.sent.of(state), self.form) for state in states]
        for rank, state in enumerate(states):
            self.received.of(state)[:] += unpacked(messages[rank - 1], self.form)


@dataclass(frozen=True)
class FromAll:
    """Objects are gathered and scattered; a root may give what all get."""

    sent: Part
    received: Part
    form: str
    call: str
    root: int

    choices = {"call": ("bcast", "gather", "allgather", "scatter"), "form": FORMS}

    @classmethod
    def random(cls, random: Random, kind: str) -> FromAll:
        parts = random_parts(random, kind, 3)
        return cls(
            *parts, random.choice(FORMS), random.choice(cls.choices["call"]), random.randrange(4)
        )

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        message, root = packed(self.sent.of(state), self.form), self.root % comm.size
        received = self.received.of(state)
        if self.call == "bcast":
            received += unpacked(
                comm.bcast(message if comm.rank == root else None, root), self.form
            )
        elif self.call == "scatter":
            messages = [packed(self.sent.of(state) * (k + 1), self.form) for k in range(comm.size)]
            received += unpacked(
                comm.scatter(messages if comm.rank == root else None, root), self.form
            )
        else:
            if self.call == "gather":
                messages = comm.gather(message, root)
            else:
                messages = comm.allgather(message)
            if messages is not None:
                for rank, come in enumerate(messages):
                    received += unpacked(come, self.form) * (0.2 + 0.1 * rank)

    def on_all(self, states: Sequence[State]) -> None:
        root = self.root % len(states)
        messages = [packed(self.sent.of(state), self.form) for state in states]
        from_root = self.sent.of(states[root]).copy()
        for rank, state in enumerate(states):
            received = self.received.of(state)
            if self.call == "bcast":
                received += unpacked(messages[root], self.form)
            elif self.call == "scatter":
                received += unpacked(packed(from_root * (rank + 1), self.form), self.form)
            elif self.call == "allgather" or rank == root:
                for other, come in enumerate(messages):
                    received += unpacked(come, self.form) * (0.2 + 0.1 * other)


@dataclass(frozen=True)
class Sums:
    """`allreduce`, `reduce`, `scan` and `exscan` of numbers and arrays."""

    sent: Part
    received: Part
    call: str
    number: bool
    root: int

    choices = {"call": ("allreduce", "reduce", "scan", "exscan"), "number": (False, True)}

    @classmethod
    def random(cls, random: Random, kind: str) -> Sums:
        call, number = random.choice(cls.choices["call"]), random.random() < 0.5
        return cls(*random_parts(random, kind, 3), call, number, random.randrange(4))

    def message(self, state: State) -> Any:
        sent = self.sent.of(state)
        return np.sum(sent * sent) if self.number else np.sin(sent)

    def on_rank(self, comm: MPI.Intracomm, state: State) -> None:
        message = self.message(state)
        if self.call == "allreduce":
            total = comm.allreduce(message)
        elif self.call == "reduce":
            total = comm.reduce(message, MPI.SUM, self.root % comm.size)
        elif self.call == "scan":
            total = comm.scan(message, MPI.SUM)
        else:
            total = comm.exscan(message)
        if total is not None:
            self.received.of(state)[:] += total * (0.5 + 0.1 * comm.rank)

    def on_all(self, states: Sequence[State]) -> None:
        messages = [self.message(state) for state in states]
        for rank, state in enumerate(states):
            if self.call == "reduce" and rank != self.root % len(states):
                continue
            ends = {"scan": rank + 1, "exscan": rank}
            total = None
            for message in messages[: ends.get(self.call, len(states))]:
                total = message if total is None else total + message
            if total is not None:
                self.received.of(state)[:] += total * (0.5 + 0.1 * rank)


OBJECTS = [AroundTheRing, FromAll, Sums]
