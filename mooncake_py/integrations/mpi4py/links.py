"""One message from rank to rank: how it is sent, and how its cotangent comes back."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy import ndarray

from mooncake_py.diagnostics.places import place_at, positions_running
from mooncake_py.errors import Location, RankError
from mooncake_py.integrations.mpi4py.channels import Channels
from mooncake_py.integrations.mpi4py.session import Session, current

__all__ = ["Link", "Receiving", "Sending", "header_of"]

WILD = (MPI.ANY_SOURCE, MPI.ANY_TAG)


class Link:
    """One end of a message: its communicator, the other rank and the tag."""

    def __init__(self, comm: Any, peer: int, tag: int) -> None:
        self.session: Session = current()
        self.channels: Channels = self.session.channels_of(comm)
        self.peer = peer
        self.tag = tag
        self.request: Any = None
        self.answer: Any = None  # the request for the cotangent
        self.number = 0
        self.is_outermost = False  # whether no other derivative is around that of the message
        self.position = positions_running(1)[0]  # of the call; its line is read if it is needed

    @property
    def where(self) -> Location | None:
        """Where in the user's source the message was begun."""
        return place_at(self.position)

    @property
    def is_null(self) -> bool:
        """Whether there is nobody at the other end."""
        return self.peer == MPI.PROC_NULL

    def opened(self) -> None:
        """Note that the communication has begun."""
        self.session.open[id(self)] = self

    def closed(self) -> None:
        """Note that it has ended."""
        self.session.open.pop(id(self), None)

    def cancel(self) -> None:
        """End it after an error."""
        for request in (self.request, self.answer):
            if request is not None and request != MPI.REQUEST_NULL:
                self.cancel_request(request)
        self.closed()

    def cancel_request(self, request: Any) -> None:
        """End to receive: this rank alone can do it."""
        request.Cancel()
        request.Wait()


class Sending(Link):
    """The sender's end.

    With a `header`, bytes that stand before the data, the message is one of objects.
    """

    def __init__(self, comm: Any, peer: int, tag: int, header: bytes | None, waits: bool) -> None:
        super().__init__(comm, peer, tag)
        self.header = header
        self.waits = waits  # for the receive to begin

    def start(self, x: ndarray) -> None:
        """Send a copy of the data."""
        self.shape, self.dtype = x.shape, x.dtype
        if self.is_null:
            return
        if self.header is None:
            data: Any = np.array(x, order="C")
        else:
            data = np.frombuffer(self.header + x.tobytes(), np.uint8)
        self.data = data
        self.number = self.channels.next_number(self.channels.sent, self.peer, self.tag)
        self.session.sent.add(data.nbytes)
        program = self.channels.program
        send = program.Issend if self.waits else program.Isend
        self.request = send(data, self.peer, self.tag)
        self.opened()

    def is_done(self) -> bool:
        """Return whether the data have left."""
        self.session.poll()
        return self.request is None or self.request.Test()

    def finish(self) -> None:
        """Wait until the data have left."""
        if self.request is not None:
            self.session.wait(self.request)
        self.data = None
        self.closed()

    def close(self) -> None:
        """End what the program has begun and never waited for."""
        self.finish()

    def cancel_request(self, request: Any) -> None:
        """End to send, which only the receiver could; or to receive the cotangent."""
        if request is self.answer:
            super().cancel_request(request)
        else:
            request.Free()

    def answer_neglected(self) -> None:
        """Do nothing: only a receive is answered."""

    # The way back.

    def expect(self) -> None:
        """Begin to receive the cotangent."""
        if self.answer is None and not self.is_null and math.prod(self.shape):
            self.cotangent = np.empty(self.shape, self.dtype)
            self.answer = self.channels.adjoint.Irecv(self.cotangent, self.peer, self.number)
            self.opened()

    def collect(self) -> ndarray | None:
        """Return the cotangent of the data, when it is there; None for zero."""
        self.expect()
        if self.answer is None:
            return None
        status = MPI.Status()
        with self.session.answering(self.is_outermost):
            self.session.wait(self.answer, status)
        if status.Get_count(MPI.BYTE) != self.cotangent.nbytes:
            raise mismatch(self, status.Get_count(MPI.BYTE))
        self.answer = None
        self.closed()
        return self.cotangent


class Receiving(Link):
    """The receiver's end.

    Parameters
    ----------
    rows : int or None
        For how many elements there is room; None for a message of objects.
    """

    def __init__(
        self, comm: Any, source: int, tag: int, rows: int | None, dtype: np.dtype[Any]
    ) -> None:
        super().__init__(comm, source, tag)
        self.rows = rows
        self.dtype = np.dtype(dtype)
        self.header: Any = None
        self.pattern = source, tag
        self.buffer: Any = np.empty(0, dtype)
        self.finished = False  # whether the program has waited for it
        self.status = MPI.Status()

    def start(self, depth: int) -> None:
        """Begin to receive elements, each with as many tangents as the depth says."""
        self.width = (2,) * depth
        if self.is_null:
            return
        self.opened()
        deferred = self.channels.deferred
        if (
            self.rows is None
            or any(part in WILD for part in self.pattern)
            or any(overlap(self, other) for other in deferred)
        ):
            deferred.append(self)
            return
        self.receive_into(self.rows, self.channels.program, self.peer, self.tag)

    def receive_into(self, rows: int, source: Any, *of: Any) -> None:
        """Begin to receive so many elements, from a communicator or as a message that was found."""
        self.number = self.channels.next_number(self.channels.received, self.peer, self.tag)
        self.buffer = np.empty((rows, *self.width), self.dtype)
        self.request = source.Irecv(self.buffer, *of)

    def match(self) -> bool:
        """Match a message that is there; return whether there was one, now or before."""
        deferred = self.channels.deferred
        if self not in deferred:
            return True
        for other in deferred[: deferred.index(self)]:
            if overlap(self, other) and not other.match():
                return False
        status = MPI.Status()
        message = self.channels.program.Improbe(*self.pattern, status)
        if message is None:
            return False
        deferred.remove(self)
        self.peer, self.tag = status.Get_source(), status.Get_tag()
        if self.rows is None:
            self.receive_object(message, status.Get_count(MPI.BYTE))
        else:
            self.receive_into(self.rows, message)
        return True

    def receive_object(self, message: Any, nbytes: int) -> None:
        """Receive a message of objects, which is as long as it is."""
        self.number = self.channels.next_number(self.channels.received, self.peer, self.tag)
        data = np.empty(nbytes, np.uint8)
        message.Recv(data)
        length, self.header = read_header(data)
        self.buffer = data[length:].view(self.dtype).reshape(-1, *self.width)

    def is_done(self) -> bool:
        """Return whether the data are there."""
        self.session.poll()
        return self.has_come()

    def has_come(self) -> bool:
        """Return whether the data are there now."""
        if not self.match():
            return False
        if self.request is not None and self.request.Test(self.status):
            self.shorten()
        return self.request is None

    def answer_neglected(self) -> None:
        """Answer what the program has never waited for, if it is there and was for this pass."""
        if self.is_outermost and not self.finished and self.has_come():
            self.neglect()

    def neglect(self) -> None:
        """Send a cotangent of zero for what the program has never waited for: an error later."""
        self.session.neglected = self
        self.give(np.zeros_like(self.finish()))

    def shorten(self) -> None:
        """Keep as much of the buffer as has come: the request is over."""
        nbytes = self.status.Get_count(MPI.BYTE)
        got = nbytes // (self.dtype.itemsize * math.prod(self.width))
        self.buffer = self.buffer[:got]
        self.request = None

    def finish(self) -> ndarray:
        """Return the data when they are there, new memory: as many elements as were sent."""
        self.finished = True
        if self.is_null:
            return np.empty((0, *self.width), self.dtype)
        while not self.match():
            self.session.poll()
        if self.request is not None:
            self.session.wait(self.request, self.status)
            self.shorten()
        self.closed()
        data, self.buffer = self.buffer, None
        self.count = len(data)
        return data

    def cancel(self) -> None:
        """End it after an error."""
        if self in self.channels.deferred:
            self.channels.deferred.remove(self)
        super().cancel()

    def close(self) -> None:
        """Raise: the program has begun to receive and never waited."""
        raise RankError(
            "a receive was begun and never ended within the derivative",
            where=self.where,
            why="without a Wait the data may not be there, and nobody sends their cotangent back",
            fix="wait for each request: request.Wait()",
        )

    # The way back.

    def give(self, g: ndarray) -> None:
        """Send the cotangent back."""
        if g.size:
            self.session.send_back(np.ascontiguousarray(g), self.peer, self.number, self.channels)


def overlap(a: Receiving, b: Receiving) -> bool:
    """Return whether a message could be for either of two receives."""
    return a is not b and all(
        x == y or x in WILD or y in WILD for x, y in zip(a.pattern, b.pattern, strict=True)
    )


def mismatch(link: Sending, nbytes: int) -> RankError:
    """Return the error for a cotangent of another size than the data."""
    return RankError(
        f"rank {link.peer} has sent a cotangent of {nbytes} bytes for "
        f"{link.cotangent.nbytes} bytes of data",
        where=link.where,
        why="the ranks have not taken the same derivatives in the same order",
        fix="let all ranks take the same derivatives of functions that communicate",
    )


def header_of(structure: Any) -> bytes:
    """Return the header of a message of objects, of a multiple of 16 bytes."""
    text = pickle.dumps(structure)
    padded = -(-(len(text) + 16) // 16) * 16
    return len(text).to_bytes(8, "little") + padded.to_bytes(8, "little") + text.ljust(padded - 16)


def read_header(data: ndarray) -> tuple[int, Any]:
    """Return the length of what stands before the data, and what it says."""
    length = int.from_bytes(data[:8].tobytes(), "little")
    padded = int.from_bytes(data[8:16].tobytes(), "little")
    return padded, pickle.loads(data[16 : 16 + length].tobytes())
