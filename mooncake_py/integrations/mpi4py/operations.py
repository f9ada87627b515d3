"""Collective operations that are linear in what the ranks give: each has its transpose.

Data are rows of equal width: the elements, followed by their tangents in forward mode. A rank that
gives or gets nothing has an array without rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy import ndarray

from mooncake_py.integrations.mpi4py.channels import Channels
from mooncake_py.integrations.mpi4py.session import Session, current

__all__ = [
    "AllGather", "AllSum", "AllToAll", "Broadcast", "ExclusiveScan", "Gather", "Operation",
    "ReduceScatter", "Scan", "Scatter", "Sum",
]  # fmt: skip


class Operation:
    """A linear operation of all ranks of a communicator."""

    def __init__(self, comm: Any) -> None:
        self.session: Session = current()
        self.channels: Channels = self.session.channels_of(comm, together=True)
        self.rank, self.size = self.channels.rank, self.channels.size

    def run(self, x: ndarray) -> ndarray:
        """Return this rank's result."""
        self.session.sent.add(x.nbytes)
        self.width = x.shape[1:]
        return self.forward(self.channels.program, np.ascontiguousarray(x))

    def transposed(self, g: ndarray) -> ndarray:
        """Return the cotangent of what this rank gave, from that of what it got."""
        self.session.sent_back.add(g.nbytes)
        return self.backward(self.channels.adjoint, np.ascontiguousarray(g))

    def forward(self, comm: Any, x: ndarray) -> ndarray:
        """Run the operation on a communicator."""
        raise NotImplementedError

    def backward(self, comm: Any, g: ndarray) -> ndarray:
        """Run its transpose."""
        raise NotImplementedError

    def finished(self, request: Any, y: ndarray) -> ndarray:
        """Return a result when it is there."""
        self.session.wait(request)
        return y

    def rows(self, count: int, like: ndarray) -> ndarray:
        """Return memory for so many rows."""
        return np.empty((count, *self.width), like.dtype)

    def blocks(self, a: ndarray, counts: Sequence[int]) -> list[Any]:
        """Return rows with the numbers of elements that belong to each rank."""
        width = math.prod(self.width)
        return [a, [count * width for count in counts]]


class AllSum(Operation):
    """Every rank gets the sum; its own transpose."""

    def forward(self, comm: Any, x: ndarray) -> ndarray:  # noqa: D102
        y = np.empty_like(x)
        return self.finished(comm.Iallreduce(x, y, MPI.SUM), y)

    def backward(self, comm: Any, g: ndarray) -> ndarray:  # noqa: D102
        return self.forward(comm, g)


class _Rooted(Operation):
    """An operation of which one rank is the root."""

    def __init__(self, comm: Any, root: int) -> None:
        super().__init__(comm)
        self.root = root
        self.is_root = self.rank == root

    def reduced(self, comm: Any, x: ndarray) -> ndarray:
        """Return the sum at the root."""
        y = np.empty_like(x) if self.is_root else self.rows(0, x)
        return self.finished(comm.Ireduce(x, y if self.is_root else None, MPI.SUM, self.root), y)

    def broadcast(self, comm: Any, x: ndarray, rows: int) -> ndarray:
        """Return the root's rows everywhere."""
        y = x.copy() if self.is_root else self.rows(rows, x)
        return self.finished(comm.Ibcast(y, self.root), y)

    def gathered(self, comm: Any, x: ndarray, counts: Sequence[int]) -> ndarray:
        """Return the rows of all ranks at the root."""
        y = self.rows(sum(counts) if self.is_root else 0, x)
        into = self.blocks(y, counts) if self.is_root else None
        return self.finished(comm.Igatherv(x, into, self.root), y)

    def scattered(self, comm: Any, x: ndarray, counts: Sequence[int], rows: int) -> ndarray:
        """Return this rank's rows of those at the root."""
        y = self.rows(rows, x)
        of = self.blocks(x, counts) if self.is_root else None
        return self.finished(comm.Iscatterv(of, y, self.root), y)


class Sum(_Rooted):
    """The root gets the sum."""

    def forward(self, comm: Any, x: ndarray) -> ndarray:  # noqa: D102
        self.given = len(x)
        return self.reduced(comm, x)

    def backward(self, comm: Any, g: ndarray) -> ndarray:  # noqa: D102
        return self.broadcast(comm, g, self.given)


class Broadcast(_Rooted):
    """All get what the root has, of so many rows."""

    def __init__(self, comm: Any, root: int, count: int) -> None:
        super().__init__(comm, root)
        self.count = count

    def forward(self, comm: Any, x: ndarray) -> ndarray:  # noqa: D102
        return self.broadcast(comm, x, self.count)

    def backward(self, comm: Any, g: ndarray) -> ndarray:  # noqa: D102
        return self.reduced(comm, g)


class Gather(_Rooted):
    """The root gets the rows of all ranks; only it knows how many each has."""

    def __init__(self, comm: Any, root: int, counts: Sequence[int]) -> None:
        super().__init__(comm, root)
        self.counts = counts

    def forward(self, comm: Any, x: ndarray) -> ndarray:  # noqa: D102
        self.given = len(x)
        return self.gathered(comm, x, self.counts)

    def backward(self, comm: Any, g: ndarray) -> ndarray:  # noqa: D102
        return self.scattered(comm, g, self.counts, self.given)


class Scatter(_Rooted):
    """Each rank gets its rows of those that the root has."""

    def __init__(self, comm: Any, root: int, counts: Sequence[int], count: int) -> None:
        super().__init__(comm, root)
        self.counts = counts
        self.count = count

    def forward(self, comm: Any, x: ndarray) -> ndarray:  # noqa: D102
        return self.scattered(comm, x, self.counts, self.count)

    def backward(self, comm: Any, g: ndarray) -> ndarray:  # noqa: D102
        return self.gathered(comm, g, self.counts)


class AllGather(Operation):
    """Each rank gets the rows of all."""

    def __init__(self, comm: Any, counts: Sequence[int]) -> None:
        super().__init__(comm)
        self.counts = counts

    def all_gathered(self, comm: Any, x: ndarray) -> ndarray:
        """Return the rows of all ranks."""
        y = self.rows(sum(self.counts), x)
        return self.finished(comm.Iallgatherv(x, self.blocks(y, self.counts)), y)

    def summed(self, comm: Any, x: ndarray) -> ndarray:
        """Return this rank's rows of the sum."""
        y = self.rows(self.counts[self.rank], x)
        counts = self.blocks(x, self.counts)[1]
        return self.finished(comm.Ireduce_scatter(x, y, counts, MPI.SUM), y)

    def forward(self, comm: Any, x: ndarray) -> ndarray:  # noqa: D102
        return self.all_gathered(comm, x)

    def backward(self, comm: Any, g: ndarray) -> ndarray:  # noqa: D102
        return self.summed(comm, g)


class ReduceScatter(AllGather):
    """Each rank gets its rows of the sum."""

    def forward(self, comm: Any, x: ndarray) -> ndarray:  # noqa: D102
        return self.summed(comm, x)

    def backward(self, comm: Any, g: ndarray) -> ndarray:  # noqa: D102
        return self.all_gathered(comm, g)


class AllToAll(Operation):
    """Each rank gets rows from each."""

    def __init__(self, comm: Any, gives: Sequence[int], gets: Sequence[int]) -> None:
        super().__init__(comm)
        self.gives = gives
        self.gets = gets

    def exchanged(
        self, comm: Any, x: ndarray, gives: Sequence[int], gets: Sequence[int]
    ) -> ndarray:
        """Return the rows that the ranks have for this one."""
        y = self.rows(sum(gets), x)
        return self.finished(comm.Ialltoallv(self.blocks(x, gives), self.blocks(y, gets)), y)

    def forward(self, comm: Any, x: ndarray) -> ndarray:  # noqa: D102
        return self.exchanged(comm, x, self.gives, self.gets)

    def backward(self, comm: Any, g: ndarray) -> ndarray:  # noqa: D102
        return self.exchanged(comm, g, self.gets, self.gives)


class Scan(Operation):
    """Each rank gets the sum over the ranks up to itself."""

    def __init__(self, comm: Any) -> None:
        super().__init__(comm)
        self.back = self.channels.reversed()

    def forward(self, comm: Any, x: ndarray) -> ndarray:  # noqa: D102
        y = np.empty_like(x)
        return self.finished(comm.Iscan(x, y, MPI.SUM), y)

    def backward(self, comm: Any, g: ndarray) -> ndarray:  # noqa: D102
        return self.forward(self.back, g)


class ExclusiveScan(Scan):
    """Each rank gets the sum over the ranks before it; the first gets zero, which no one reads."""

    def forward(self, comm: Any, x: ndarray) -> ndarray:  # noqa: D102
        y = np.zeros_like(x)
        self.finished(comm.Iexscan(x, y, MPI.SUM), y)
        return y if comm.Get_rank() else np.zeros_like(x)
