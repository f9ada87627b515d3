"""The private communicators that stand behind one of the user's.

Within a block of :func:`~mooncake_py.integrations.mpi4py.over` the program's messages go through
one duplicate of its communicator and those of the adjoint through another, so that neither can meet
the other, nor what a program has left behind that was stopped by an error.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mpi4py import MPI

from mooncake_py.errors import MissingRuleError

if TYPE_CHECKING:
    from mooncake_py.integrations.mpi4py.links import Receiving

__all__ = ["TAGS", "Channels", "Traffic", "existing", "made"]

TAGS = 1 << 15
"""How many tags MPI promises; the bits above number the messages of a tag."""

FEWEST = 16  # numbers of messages that must be left


@dataclass
class Traffic:
    """The messages and bytes that this rank has sent, in one direction.

    A collective operation counts as one message, of what this rank contributes.
    """

    messages: int = 0
    nbytes: int = 0

    def add(self, nbytes: int) -> None:
        """Count a message."""
        self.messages += 1
        self.nbytes += nbytes


@dataclass(eq=False)
class Channels:
    """The private communicators of one communicator; made by all its ranks together.

    Attributes
    ----------
    program, adjoint : MPI.Intracomm
        For the program's messages, and for those of the way back.
    control : MPI.Intracomm
        For what ranks agree on: the end, the sum of their values, and word that one has failed.
    rescue : MPI.Intracomm
        For what they agree on after that.
    blocks : int
        How many blocks were begun over this communicator.
    faults : list of Fault
        What was heard of failures.
    deferred : list of Receiving
        Receives that are matched when a message is there, in the order of their calls.
    """

    program: Any
    adjoint: Any
    control: Any
    rescue: Any
    of_world: bool = False
    broken: bool = False
    blocks: int = 0
    faults: list[Any] = field(default_factory=list)
    sent: dict[tuple[int, int], int] = field(default_factory=dict)
    received: dict[tuple[int, int], int] = field(default_factory=dict)
    deferred: list[Receiving] = field(default_factory=list)
    _reversed: Any = None

    def __post_init__(self) -> None:
        self.rank: int = self.program.Get_rank()
        self.size: int = self.program.Get_size()
        limit: Any = MPI.COMM_WORLD.Get_attr(MPI.TAG_UB)  # others need not have it
        self.window = (limit + 1) // TAGS

    @property
    def balance(self) -> int:
        """How many messages this rank has sent, less those that it has received."""
        return sum(self.sent.values()) - sum(self.received.values())

    def reversed(self) -> Any:
        """Return the communicator for the adjoint of scans: the ranks in reverse order.

        The first call is one of all ranks together.
        """
        if self._reversed is None:
            self._reversed = self.adjoint.Split(0, self.size - self.rank)
        return self._reversed

    def next_number(self, counts: dict[tuple[int, int], int], peer: int, tag: int) -> int:
        """Return the tag of the adjoint of the next message to or from a rank."""
        number = counts.get((peer, tag), 0)
        counts[peer, tag] = number + 1
        if not 0 <= tag < TAGS or self.window < FEWEST:
            raise MissingRuleError(
                f"a message has the tag {tag}, which a derivative cannot number",
                why=f"tags below {TAGS} are left to programs; the bits above number messages, so "
                "that\neach finds its cotangent",
                fix=f"use tags from 0 to {TAGS - 1}",
            )
        return tag + TAGS * (number % self.window)

    def free(self) -> None:
        """Free the private communicators, when that of the user's is freed."""
        if self.of_world:  # MPI is being finalized
            return
        for comm in (self.program, self.adjoint, self.control, self.rescue, self._reversed):
            if comm is not None and not self.broken:
                comm.Free()


def _freed(_comm: Any, _key: int, channels: Channels) -> None:
    channels.free()


_key: int | None = None


def key() -> int:
    """Return under which key communicators keep their channels."""
    global _key
    if _key is None:
        _key = MPI.Comm.Create_keyval(delete_fn=_freed)
    return _key


def existing(comm: Any) -> Channels | None:
    """Return the channels of a communicator, or None if it has none that work."""
    found = comm.Get_attr(key())
    return None if found is None or found.broken else found


def made(comm: Any) -> Channels:
    """Return the channels of a communicator; its ranks call this together."""
    found = existing(comm)
    if found is None:
        if comm.Is_inter():
            raise MissingRuleError(
                "communication between two groups cannot be differentiated",
                why="the communicator is an intercommunicator",
                fix="use the communicator of both groups: comm.Merge()",
            )
        program = MPI.Intracomm(MPI.Comm.Dup(comm))  # without the topology
        others = [program.Dup() for _ in range(3)]
        found = Channels(program, *others, of_world=comm == MPI.COMM_WORLD)
        comm.Set_attr(key(), found)
    return found
