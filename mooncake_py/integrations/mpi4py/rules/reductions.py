"""Reductions of arrays over ranks: sums, products, largest and smallest elements."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI
from numpy import ndarray

from mooncake_py.diagnostics.places import current_place
from mooncake_py.errors import MissingRuleError
from mooncake_py.integrations.mpi4py.buffers import blocks_of, message_of
from mooncake_py.integrations.mpi4py.data import packed, unpack
from mooncake_py.integrations.mpi4py.operations import (
    AllGather,
    AllSum,
    ExclusiveScan,
    ReduceScatter,
    Scan,
    Sum,
)
from mooncake_py.integrations.mpi4py.primitives import collected, natively
from mooncake_py.integrations.mpi4py.rules.collective import IN_PLACE, operation
from mooncake_py.integrations.mpi4py.session import current
from mooncake_py.rules.declare import overlay

__all__ = ["reduced_everywhere"]

SUM, PROD, MAX, MIN = MPI.SUM, MPI.PROD, MPI.MAX, MPI.MIN
ACCUMULATE = (MPI.PROD, np.multiply), (MPI.MAX, np.maximum), (MPI.MIN, np.minimum)


@natively
def kind_of(op: Any, dtype: np.dtype[Any]) -> str:
    """Return which reduction it is: one with a derivative, or of numbers that have none."""
    if dtype.kind not in "fc":
        return "constant"
    for known, name in ((SUM, "sum"), (PROD, "product"), (MAX, "extreme"), (MIN, "extreme")):
        if op == known:
            return name
    raise MissingRuleError(
        "a reduction by an operation without a rule",
        where=current_place()[0],
        why="there are rules for MPI.SUM, PROD, MAX and MIN",
        fix="gather the arrays by Allgather, and reduce them in Python",
    )


@natively
def reduced_natively(comm: Any, x: ndarray, op: Any) -> ndarray:
    """Return the reduction, as a constant."""
    session = current()
    y = np.empty_like(x)
    found = session.channels_of(comm, together=True)
    session.wait(found.program.Iallreduce(np.ascontiguousarray(x), y, op))
    return y


@natively
def scanned_natively(comm: Any, x: ndarray, op: Any, exclusive: bool) -> ndarray:
    """Return the reduction over the ranks up to this one, as a constant."""
    session = current()
    program = session.channels_of(comm, together=True).program
    y = np.zeros_like(x)
    scan = program.Iexscan if exclusive else program.Iscan
    session.wait(scan(np.ascontiguousarray(x), y, op))
    return y


@natively
def constant_of(x: ndarray) -> ndarray:
    """Return a copy that has no derivative."""
    return x.copy()


@natively
def share_of(comm: Any, x: ndarray, y: ndarray) -> ndarray:
    """Return the share of each element in the extreme one: those that tie have equal ones."""
    tied = (x == y) & np.isfinite(x)
    number = reduced_natively(comm, tied.astype(np.int64), SUM)
    return np.where(tied, 1.0 / np.maximum(number, 1), 0.0).astype(x.dtype)


def reduced_everywhere(comm: Any, x: ndarray, op: Any) -> ndarray:
    """Return the reduction of arrays, on all ranks."""
    kind = kind_of(op, x.dtype)
    if kind == "constant":
        return reduced_natively(comm, x, op)
    if kind == "sum":
        return collected(operation(AllSum, comm), x)
    if kind == "extreme":
        y = reduced_natively(comm, x, op)
        share = share_of(comm, x, y)
        # The value is that of the extreme element, the derivative that of the sum.
        chosen = np.where(share > 0, x, 0.0)
        return y + collected(operation(AllSum, comm), share * (chosen - constant_of(chosen)))
    return np.prod(gathered(comm, x), axis=0)


def gathered(comm: Any, x: ndarray) -> ndarray:
    """Return the rows of all ranks, one below the other."""
    rows = collected(operation(AllGather, comm, [len(x)] * comm.size), x)
    return np.reshape(rows, (comm.size, len(x)))


@overlay(MPI.Comm.Allreduce)
def all_reduce(comm: Any, sendbuf: Any, recvbuf: Any, op: Any = SUM) -> None:
    into = message_of(recvbuf)
    given = into if sendbuf is IN_PLACE else message_of(sendbuf)
    unpack(into, reduced_everywhere(comm, packed(given), op))


@overlay(MPI.Comm.Reduce)
def reduce(comm: Any, sendbuf: Any, recvbuf: Any, op: Any = SUM, root: int = 0) -> None:
    is_root = comm.rank == root
    x = packed(message_of(recvbuf if sendbuf is IN_PLACE else sendbuf))
    if kind_of(op, x.dtype) == "sum":
        y = collected(operation(Sum, comm, root), x)
    else:
        y = reduced_everywhere(comm, x, op)
    if is_root:
        unpack(message_of(recvbuf), y)


@overlay(MPI.Comm.Reduce_scatter)
def reduce_scatter(
    comm: Any, sendbuf: Any, recvbuf: Any, recvcounts: Any = None, op: Any = SUM
) -> None:
    into = message_of(recvbuf)
    if recvcounts is None:
        counts = all_counts(comm, into.rows)
    else:
        counts = [int(c) for c in recvcounts]
    reduce_and_scatter(comm, packed(into if sendbuf is IN_PLACE else message_of(sendbuf)), into,
                       counts, op)  # fmt: skip


@overlay(MPI.Comm.Reduce_scatter_block)
def reduce_scatter_block(comm: Any, sendbuf: Any, recvbuf: Any, op: Any = SUM) -> None:
    into = message_of(recvbuf)
    x = packed(blocks_of(into.array if sendbuf is IN_PLACE else sendbuf, comm.size, True))
    reduce_and_scatter(comm, x, into, [len(x) // comm.size] * comm.size, op)


def reduce_and_scatter(comm: Any, x: ndarray, into: Any, counts: Any, op: Any) -> None:
    """Reduce arrays; each rank gets its part."""
    if kind_of(op, x.dtype) == "sum":
        unpack(into, collected(operation(ReduceScatter, comm, counts), x))
    else:
        start = sum(counts[: comm.rank])
        unpack(into, reduced_everywhere(comm, x, op)[start : start + counts[comm.rank]])


@natively
def all_counts(comm: Any, count: int) -> list[int]:
    """Return the numbers that the ranks have."""
    session = current()
    counts = np.empty(comm.size, np.int64)
    program = session.channels_of(comm, together=True).program
    session.wait(program.Iallgather(np.array([count], np.int64), counts))
    return counts.tolist()


# Over the ranks up to this one.


@overlay(MPI.Intracomm.Scan)
def scan(comm: Any, sendbuf: Any, recvbuf: Any, op: Any = SUM) -> None:
    into = message_of(recvbuf)
    x = packed(into if sendbuf is IN_PLACE else message_of(sendbuf))
    unpack(into, scanned(comm, x, op))


def scanned(comm: Any, x: ndarray, op: Any) -> ndarray:
    """Return the reduction over the ranks up to this one."""
    kind = kind_of(op, x.dtype)
    if kind == "constant":
        return scanned_natively(comm, x, op, False)
    if kind == "sum":
        return collected(operation(Scan, comm), x)
    return folded(op, gathered(comm, x)[: comm.rank + 1])


@overlay(MPI.Intracomm.Exscan)
def exclusive_scan(comm: Any, sendbuf: Any, recvbuf: Any, op: Any = SUM) -> None:
    into = message_of(recvbuf)
    x = packed(into if sendbuf is IN_PLACE else message_of(sendbuf))
    kind = kind_of(op, x.dtype)
    if kind == "constant":
        y = scanned_natively(comm, x, op, True)
    elif kind == "sum":
        y = collected(operation(ExclusiveScan, comm), x)
    else:
        rows = gathered(comm, x)
        y = folded(op, rows[: comm.rank]) if comm.rank else x
    if comm.rank:
        unpack(into, y)


def folded(op: Any, rows: ndarray) -> ndarray:
    """Return the product, the largest or the smallest of rows."""
    f = function_of(op)
    y = rows[0]
    for row in rows[1:]:
        y = f(y, row)
    return y


@natively
def function_of(op: Any) -> Any:
    """Return the function of NumPy for a reduction."""
    return next(f for known, f in ACCUMULATE if op == known)
