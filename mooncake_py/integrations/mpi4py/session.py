"""A block in which all ranks of a communicator take derivatives together."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from mpi4py import MPI

from mooncake_py.diagnostics.places import current_place
from mooncake_py.errors import MissingRuleError, RankError
from mooncake_py.integrations.mpi4py import channels
from mooncake_py.integrations.mpi4py.channels import Channels, Traffic

if TYPE_CHECKING:
    from mooncake_py.integrations.mpi4py.links import Receiving

__all__ = ["Session", "current", "over"]

FAULT = 1  # the tag of messages that say that a rank has failed
LEFT = 2  # ... that a message was left where it came
SPINS = 100  # tests of a request before other processes of the core get their turn


class Fault(NamedTuple):
    """The message of a rank to the others when it has failed."""

    time: float
    rank: int
    text: str
    epoch: int  # of the block in which it is


class Session:
    """The state between the beginning and the end of a block of :func:`over`.

    Attributes
    ----------
    sent, sent_back : Traffic
        What this rank has sent for the program, and on the way back.
    """

    def __init__(self, comms: list[Any]) -> None:
        self.channels = [channels.made(comm) for comm in comms]
        self.top = self.channels[0]
        self.sent = Traffic()
        self.sent_back = Traffic()
        self.open: dict[int, Any] = {}  # links that have begun
        self.pending: list[tuple[Any, Any]] = []  # sends of the way back, and what they send
        self.told: Fault | None = None
        self.freed: list[Any] = []  # communicators that the way back may still need
        self.is_ending = False
        self.is_answering = False
        self.asked: set[tuple[Channels, int, int]] = set()  # who was told that it waits in vain
        self.notices: list[Any] = []
        self.top.blocks += 1
        self.epoch = self.top.blocks
        self.neglected: Receiving | None = None  # what was begun to be received, and not ended

    # Communicators.

    def channels_of(self, comm: Any, together: bool = False) -> Channels:
        """Return the channels of a communicator; if it has none, all its ranks must ask together.

        Raises
        ------
        MissingRuleError
            If it has none, and not all its ranks ask.
        """
        found = channels.existing(comm)
        if found is None:
            if not together:
                raise MissingRuleError(
                    "a message on a communicator that the derivative does not know",
                    where=current_place()[0],
                    why="its adjoint needs a communicator of its own, which all ranks make "
                    "together",
                    fix="name it where the derivative begins: comm=[comm, cart], or over([comm, "
                    "cart]);\nthose made within, and those of collective calls, need no name",
                )
            self.wait(comm.Ibarrier())  # now all are there: what they make together will end
            found = channels.made(comm)
        if found not in self.channels:
            self.channels.append(found)
        return found

    def meet(self, comm: Any) -> Channels:
        """Wait until all ranks of a communicator have come here, and return its channels.

        A call of them all will then end, though it cannot hear of a rank that has failed.
        """
        found = self.channels_of(comm, together=True)
        self.wait(found.program.Ibarrier())
        return found

    def reduced(self, x: np.ndarray, op: Any = MPI.SUM) -> np.ndarray:
        """Return the reduction of an array over all ranks of the block."""
        y = np.empty_like(x)
        self.wait(self.top.control.Iallreduce(x, y, op))
        return y

    def adopt(self, comm: Any) -> None:
        """Make the channels of a new communicator, which all its ranks have made together."""
        if comm != MPI.COMM_NULL and not comm.Is_inter():
            self.channels.append(channels.made(comm))

    # Waiting.

    def wait(self, request: Any, status: Any = None) -> None:
        """Wait for a request, and meanwhile for word that another rank has failed."""
        spins = 0
        while not request.Test(status):
            self.poll()
            spins += 1
            if spins > SPINS:
                os.sched_yield()

    def poll(self) -> None:
        """Raise if another rank has failed, and go on with what is under way."""
        self.listen()
        self.progress()

    def progress(self) -> None:
        """Match deferred receives with messages that are there."""
        for found in self.channels:
            for link in list(found.deferred):
                link.match()
        if self.is_answering:
            for link in list(self.open.values()):
                link.answer_neglected()

    @contextmanager
    def answering(self, is_outermost: bool) -> Iterator[None]:
        """Answer meanwhile what the program has begun to receive and never waited for.

        On the way back of the outermost derivative nothing of the program is under way, and another
        rank may wait for the answer.
        """
        self.is_answering = is_outermost
        try:
            yield
        finally:
            self.is_answering = False

    def listen(self) -> None:
        """Raise if another rank has failed, or has ended and left messages of this one there."""
        control = self.top.control
        if self.told is None and control.Iprobe(MPI.ANY_SOURCE, FAULT):
            self.top.faults.append(control.recv(source=MPI.ANY_SOURCE, tag=FAULT))
        for fault in self.top.faults:
            if fault.epoch == self.epoch:  # the others are one block ahead
                self.told = fault
        if self.told is not None:
            raise failed_elsewhere(self.told, self.top.size)
        if control.Iprobe(MPI.ANY_SOURCE, LEFT):
            epoch, error = control.recv(source=MPI.ANY_SOURCE, tag=LEFT)
            if epoch == self.epoch:
                raise error
        if self.is_ending:
            self.ask_senders()

    def ask_senders(self) -> None:
        """Tell the sender of a message that nobody here will receive, who may wait for an answer.

        If it is from the next block, the sender knows, and ignores what it is told.
        """
        status = MPI.Status()
        for found in self.channels:
            for comm, what in (found.program, "message"), (found.adjoint, "cotangent"):
                if comm.Iprobe(MPI.ANY_SOURCE, MPI.ANY_TAG, status):
                    source, tag = status.Get_source(), status.Get_tag() % channels.TAGS
                    if (found, source, tag) not in self.asked:
                        self.asked.add((found, source, tag))
                        self.tell(comm, source, never_received(what, self.top.rank, tag))

    def tell(self, comm: Any, rank: int, error: RankError) -> None:
        """Tell a rank of a communicator what it will raise if it is in this block."""
        control = self.top.control
        (dest,) = MPI.Group.Translate_ranks(comm.Get_group(), [rank], control.Get_group())
        self.notices.append(control.isend((self.epoch, error), dest, LEFT))

    def send_back(self, data: Any, peer: int, tag: int, found: Channels) -> None:
        """Send a cotangent, without waiting for its arrival."""
        self.sent_back.add(data.nbytes)
        self.pending.append((found.adjoint.Isend(data, peer, tag), data))

    # The end.

    def end(self) -> None:
        """Close what is open; from now on nobody here receives messages of the program."""
        for link in list(self.open.values()):
            link.close()
        for request, _ in self.pending:
            self.wait(request)
        self.pending.clear()
        if self.neglected is not None:
            self.neglected.close()
        self.is_ending = True

    def finish(self) -> None:
        """Wait until all ranks have come to the end, or one has failed."""
        self.end()
        lost = np.array([sum(found.balance for found in self.channels)])
        if self.reduced(lost)[0]:
            raise never_received("message", None, None)
        for comm in self.freed:
            comm.Free()

    def agree(self, error: BaseException) -> BaseException:
        """Tell the other ranks of an error, or hear of theirs; return what is to be raised here."""
        own = None
        if self.told is None:
            own = Fault(time.time(), self.top.rank, described(error), self.epoch)
        faults = self.exchange(own)
        self.abandon()
        first = min(faults)
        if own is None:
            return failed_elsewhere(first, self.top.size)
        others = [fault for fault in faults if fault is not own and fault != own]
        for fault in sorted(others):
            error.add_note(f"rank {fault.rank} has failed too: {fault.text}")
        return error

    def exchange(self, own: Fault | None) -> list[Fault]:
        """Return the faults of all ranks, after all have heard that there are some."""
        control, rank = self.top.control, self.top.rank
        others = [r for r in range(self.top.size) if r != rank]
        requests = [] if own is None else [control.isend(own, r, FAULT) for r in others]
        told = self.top.rescue.allgather(own)
        faults = [fault for fault in told if fault is not None]
        for fault in faults:
            if fault.rank != rank and fault not in self.top.faults:
                control.recv(source=fault.rank, tag=FAULT)
        MPI.Request.waitall(requests)
        return faults

    def abandon(self) -> None:
        """Close what is open; the next derivative makes communicators of its own."""
        for link in list(self.open.values()):
            link.cancel()
        for found in self.channels:
            found.broken = True
            _abandoned.append((found, self.pending))


_abandoned: list[Any] = []  # what MPI may still read and write
_session: ContextVar[Session | None] = ContextVar("mooncake_py.integrations.mpi4py", default=None)


def current() -> Session:
    """Return the session round a communication.

    Raises
    ------
    MissingRuleError
        If there is none.
    """
    session = _session.get()
    if session is None:
        raise MissingRuleError(
            "communication by MPI in a derivative of one rank alone",
            where=current_place()[0],
            why="the adjoint communicates too, so that all ranks must differentiate together",
            fix="value_and_grad(f, comm=comm), grad(f, comm=comm), or for other derivatives\n"
            "`with over(comm):` of mooncake_py.integrations.mpi4py",
        )
    return session


def is_running() -> bool:
    """Return True within a block of :func:`over`."""
    return _session.get() is not None


@contextmanager
def over(comm: Any) -> Iterator[Session]:
    """Take derivatives of programs that communicate by MPI; all ranks enter the block together.

    Parameters
    ----------
    comm : MPI.Intracomm or list of MPI.Intracomm
        The communicator of all ranks that take part.  Further ones, of some of these ranks, must
        be named if their first use in the program is a message from rank to rank; those that the
        program makes itself need not be.

    Yields
    ------
    Session
        Its attributes `sent` and `sent_back` count this rank's messages and bytes.

    Raises
    ------
    RankError
        If another rank has raised an exception within the block.  The rank that has raised it
        raises it unchanged.  Afterwards the communicators can be used again.

    Notes
    -----
    Within the block the derivatives of each rank are those of the sum over ranks of what it and
    the others differentiate: `vjp` and `grad` give the gradient of that sum with respect to the
    rank's own arguments, `jvp` the tangent of its own output along the tangents of all ranks.
    All ranks take the same derivatives, in the same order.  Messages do not pass the borders of
    the block: what is sent within is received within.
    """
    comms = listed(comm)
    if _session.get() is not None:
        session = current()
        for each in comms:
            session.channels_of(each, together=True)
        yield session
        return
    session = Session(comms)
    token = _session.set(session)
    try:
        yield session
        session.finish()
    except BaseException as error:
        raised = session.agree(error)
        if raised is error:
            raise
        raise raised from None
    finally:
        _session.reset(token)


def listed(comm: Any) -> list[Any]:
    """Return communicators as a list."""
    comms = list(comm) if isinstance(comm, Iterable) else [comm]
    for each in comms or [None]:
        if not isinstance(each, MPI.Comm):
            raise TypeError(f"comm must be an mpi4py.MPI.Comm or a list of them, not {each!r}")
    return comms


def described(error: BaseException) -> str:
    """Return an error in a line or two, with the place where it was raised."""
    text = "".join(traceback.format_exception_only(error)).strip()
    frames = traceback.extract_tb(error.__traceback__)
    return f"{text}\n{frames[-1].filename}:{frames[-1].lineno}" if frames else text


def never_received(what: str, rank: int | None, tag: int | None) -> RankError:
    """Return the error for a message that its receiver has left."""
    which = "" if rank is None else f" with the tag {tag} to rank {rank}"
    return RankError(
        f"a {what}{which} was never received",
        why="the receiver has come to the end of the derivative",
        fix="receive within the derivative all messages sent within it, and take the same\n"
        "derivatives on all ranks",
    )


def failed_elsewhere(fault: Fault, size: int) -> RankError:
    """Return the error for ranks that another rank has left."""
    return RankError(
        f"rank {fault.rank} of {size} has failed",
        why=fault.text,
        fix="fix the error raised on that rank; all ranks take part in a derivative",
    )
