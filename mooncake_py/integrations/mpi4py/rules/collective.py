"""Collective calls that move arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI

from mooncake_py.integrations.mpi4py.buffers import blocks_of, message_of
from mooncake_py.integrations.mpi4py.data import packed, unpack
from mooncake_py.integrations.mpi4py.operations import (
    AllGather,
    AllToAll,
    Broadcast,
    Gather,
    Scatter,
)
from mooncake_py.integrations.mpi4py.primitives import collected, natively
from mooncake_py.integrations.mpi4py.session import current
from mooncake_py.rules.declare import contextual, overlay
from mooncake_py.runtime.mode import Mode

__all__ = ["operation"]

IN_PLACE = MPI.IN_PLACE

for function in (blocks_of, message_of):
    natively(function)


@natively
def operation(kind: Any, comm: Any, *options: Any) -> Any:
    """Return a collective operation."""
    return kind(comm, *options)


@contextual(MPI.Comm.Barrier, MPI.Comm.barrier)
def barrier(ctx: Mode, comm: Any) -> None:
    """Wait until all ranks have come here."""
    current().meet(comm)


@overlay(MPI.Comm.Bcast)
def broadcast(comm: Any, buf: Any, root: int = 0) -> None:
    message = message_of(buf)
    given = packed(message) if comm.rank == root else np.empty(0, message.dtype)
    data = collected(operation(Broadcast, comm, root, message.rows), given)
    if comm.rank != root:
        unpack(message, data)


@overlay(MPI.Comm.Gather)
def gather(comm: Any, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
    gather_in_blocks(comm, sendbuf, recvbuf, root, True)


@overlay(MPI.Comm.Gatherv)
def gather_varying(comm: Any, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
    gather_in_blocks(comm, sendbuf, recvbuf, root, False)


def gather_in_blocks(comm: Any, sendbuf: Any, recvbuf: Any, root: int, in_parts: bool) -> None:
    """Gather blocks at the root."""
    if comm.rank == root:
        into = blocks_of(recvbuf, comm.size, in_parts)
        if sendbuf is IN_PLACE:
            given = packed(into)[own_rows(into, root)]
        else:
            given = packed(message_of(sendbuf))
        unpack(into, collected(operation(Gather, comm, root, into.counts), given))
    else:
        collected(operation(Gather, comm, root, ()), packed(message_of(sendbuf)))


@natively
def own_rows(blocks: Any, rank: int) -> slice:
    """Return where the rows of a rank stand among those of all."""
    start = sum(blocks.counts[:rank])
    return slice(start, start + blocks.counts[rank])


@overlay(MPI.Comm.Scatter)
def scatter(comm: Any, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
    scatter_in_blocks(comm, sendbuf, recvbuf, root, True)


@overlay(MPI.Comm.Scatterv)
def scatter_varying(comm: Any, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
    scatter_in_blocks(comm, sendbuf, recvbuf, root, False)


def scatter_in_blocks(comm: Any, sendbuf: Any, recvbuf: Any, root: int, in_parts: bool) -> None:
    """Scatter blocks from the root."""
    if comm.rank == root:
        of = blocks_of(sendbuf, comm.size, in_parts)
        count = of.counts[root]
        data = collected(operation(Scatter, comm, root, of.counts, count), packed(of))
        if recvbuf is not IN_PLACE:
            unpack(message_of(recvbuf), data)
    else:
        into = message_of(recvbuf)
        nothing = np.empty(0, into.dtype)
        unpack(into, collected(operation(Scatter, comm, root, (), into.rows), nothing))


@overlay(MPI.Comm.Allgather)
def all_gather(comm: Any, sendbuf: Any, recvbuf: Any) -> None:
    all_gather_in_blocks(comm, sendbuf, recvbuf, True)


@overlay(MPI.Comm.Allgatherv)
def all_gather_varying(comm: Any, sendbuf: Any, recvbuf: Any) -> None:
    all_gather_in_blocks(comm, sendbuf, recvbuf, False)


def all_gather_in_blocks(comm: Any, sendbuf: Any, recvbuf: Any, in_parts: bool) -> None:
    """Gather blocks everywhere."""
    into = blocks_of(recvbuf, comm.size, in_parts)
    if sendbuf is IN_PLACE:
        given = packed(into)[own_rows(into, comm.rank)]
    else:
        given = packed(message_of(sendbuf))
    unpack(into, collected(operation(AllGather, comm, into.counts), given))


@overlay(MPI.Comm.Alltoall)
def all_to_all(comm: Any, sendbuf: Any, recvbuf: Any) -> None:
    all_to_all_in_blocks(comm, sendbuf, recvbuf, True)


@overlay(MPI.Comm.Alltoallv)
def all_to_all_varying(comm: Any, sendbuf: Any, recvbuf: Any) -> None:
    all_to_all_in_blocks(comm, sendbuf, recvbuf, False)


def all_to_all_in_blocks(comm: Any, sendbuf: Any, recvbuf: Any, in_parts: bool) -> None:
    """Exchange blocks between all ranks."""
    into = blocks_of(recvbuf, comm.size, in_parts)
    of = into if sendbuf is IN_PLACE else blocks_of(sendbuf, comm.size, in_parts)
    unpack(into, collected(operation(AllToAll, comm, of.counts, into.counts), packed(of)))
