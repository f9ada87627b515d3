"""Each kind of call, against differences over all ranks: gradient, tangent, second derivative."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy import ndarray

from mooncake_py import hvp, jvp, value_and_grad
from mooncake_py.integrations.mpi4py import over

Program = Callable[[MPI.Intracomm, ndarray], Any]
STEP = 1e-6


def neighbours(comm: MPI.Intracomm) -> tuple[int, int]:
    return (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size


def columns_first(comm: MPI.Intracomm, x: ndarray) -> Any:
    left, right = neighbours(comm)
    a, b = np.asfortranarray(np.outer(x, x)), np.zeros((4, 4), order="F")
    comm.Sendrecv(a, right, 0, b, left, 0)
    return np.sum(b * np.arange(16.0).reshape(4, 4))


def datatypes(comm: MPI.Intracomm, x: ndarray) -> Any:
    left, right = neighbours(comm)
    a, b, c = np.outer(x, x + 1), np.zeros((4, 4)), np.ones((4, 4))
    column = MPI.DOUBLE.Create_vector(4, 1, 4).Commit()
    comm.Sendrecv([a, 1, column], right, 0, [b, 1, column], left, 0)
    column.Free()
    middle = MPI.DOUBLE.Create_subarray([4, 4], [2, 2], [1, 1]).Commit()
    comm.Sendrecv([a, middle], right, 0, [c, middle], left, 0)
    next_to = MPI.DOUBLE.Create_vector(4, 1, 4).Create_resized(0, 8).Commit()
    comm.Sendrecv([a, 2, next_to], right, 0, [b, (2, 1), next_to], left, 0)
    room_for_two = np.zeros((4, 4))
    comm.Sendrecv([a, 1, next_to], right, 0, [room_for_two, 2, next_to], left, 0)
    weights = np.arange(16.0).reshape(4, 4)  # where elements are put matters
    return np.sum(b**2 * weights) + np.sum(c**3 * weights) + np.sum(room_for_two**2 * weights)


def parts(comm: MPI.Intracomm, x: ndarray) -> Any:
    left, right = neighbours(comm)
    b = np.zeros(6)
    comm.Sendrecv([x, 2, MPI.DOUBLE], right, 0, [b, (2, 3), MPI.DOUBLE], left, 0)
    return np.sum(b**2 * np.arange(6))


def short_message(comm: MPI.Intracomm, x: ndarray) -> Any:
    """Leave what stands behind a message as it was."""
    left, right = neighbours(comm)
    y = x**2
    request = comm.Irecv(y, left, 3)
    comm.Send(np.sin(x[:2]), right, 3)
    while not request.Test():
        pass
    return np.sum(y**3 * x)


def collective(comm: MPI.Intracomm, x: ndarray) -> Any:
    size = comm.size
    y, z, w, v, p, m, s, r = (np.zeros(4 * k) for k in (size, 1, 1, 1, 1, 1, 1, 1))
    comm.Allgather(x**2, y)
    comm.Reduce_scatter_block(np.sin(y), z)
    comm.Scan(z, w)
    comm.Exscan(w * x, v)
    comm.Allreduce(1 + 0.1 * x * w, p, MPI.PROD)
    comm.Allreduce(x * p, m, MPI.MIN)
    q = np.zeros(4 * size) if comm.rank == 0 else None
    comm.Gather(m + v, q, root=0)
    comm.Scatter(None if q is None else q**2, s, root=0)
    a = np.zeros(4 * size)
    comm.Alltoall(np.concatenate([s * (k + 1) for k in range(size)]), a)
    comm.Reduce(a[:4], r if comm.rank == size - 1 else None, root=size - 1)
    comm.Bcast(r, root=size - 1)
    comm.Allreduce(MPI.IN_PLACE, r)
    return np.sum(r * x) / size


def varying(comm: MPI.Intracomm, x: ndarray) -> Any:
    size, rank = comm.size, comm.rank
    counts = [k + 1 for k in range(size)]
    starts = [sum(counts[:k]) for k in range(size)]
    everything, there = np.zeros(sum(counts)), np.zeros(sum(counts))
    back, exchanged = np.zeros(rank + 1), np.zeros(size)
    comm.Allgatherv(np.sin(x[0]) * np.ones(rank + 1), [everything, counts])
    comm.Scatterv([everything**2, (counts, starts), MPI.DOUBLE], back, root=0)
    comm.Gatherv(back * x[1], [there, (counts, starts), MPI.DOUBLE], root=0)
    comm.Alltoallv([np.arange(1.0, size + 1) * x[2], [1] * size], [exchanged, [1] * size])
    comm.Reduce_scatter(everything, back, counts)
    return np.sum(there) + np.sum(exchanged**2) + np.sum(back**2)


@dataclass
class Pair:
    a: float
    b: ndarray


def objects(comm: MPI.Intracomm, x: ndarray) -> Any:
    size, rank = comm.size, comm.rank
    left, right = neighbours(comm)
    named = comm.bcast({"a": x[0] * 2, "n": 3, "b": [x[1:], "text"], "p": Pair(float(x[0]), x * 3)})
    total = named["a"] * named["n"] + np.sum(named["b"][0] ** 2) + named["p"].a * named["p"].b[1]
    total += sum(k * v for k, v in comm.allgather((rank, np.sum(x) ** 2)))
    request = comm.isend([x[0] * x[1], None], right, 3)
    total += comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG)[0] ** 2
    request.wait()
    comm.barrier()
    piece = comm.scatter([x * k for k in range(size)] if rank == 0 else None)
    gathered = comm.gather(float(piece[1]) ** 2, root=size - 1)
    total += np.sum(piece) + sum(comm.alltoall([x[0] * k for k in range(size)])) ** 2
    total += comm.allreduce(float(x[0]), MPI.MAX) * np.sum(comm.allreduce(x * x))
    total += comm.allreduce(float(x[2]), MPI.PROD) + comm.scan(float(x[1]))
    before = comm.exscan(float(x[1]))
    reduced = comm.reduce(x[3] ** 2, root=0)
    pair = comm.sendrecv(Pair(x[0] * x[3], x), right, 1, source=left, recvtag=1)
    total += pair.a * np.sum(pair.b) + (0.0 if before is None else before**2)
    return total + (sum(gathered) if gathered is not None else 0.0) + (reduced or 0.0)


class Named:
    """An object with two names for one array."""

    def __init__(self, a: Any, b: Any) -> None:
        self.a = a
        self.b = b


def shared_objects(comm: MPI.Intracomm, x: ndarray) -> Any:
    """Write to one of two places of an array or a list that arrives as one, as pickle keeps it."""
    left, right = neighbours(comm)

    def passed(sent: Any) -> Any:
        return comm.sendrecv(sent, right, 5, source=left, recvtag=5)

    a, b = passed([x, x])
    a[0] = 5.0
    total = np.sum(b**2)
    named = passed({"a": x * 2.0, "b": [x, x]})
    named["b"][0][:] = named["a"] * named["b"][1]
    total += np.sum(named["b"][1])
    thing = passed(Named(x, [x, x.copy()]))
    thing.a *= 2.0
    total += np.sum(thing.b[0] ** 2 * thing.b[1])
    kept = [x]
    once, again = comm.bcast((kept, kept))
    once.append(x * 2.0)
    total += np.sum(again[-1]) * len(again)
    for pair in comm.allgather((x, x)):
        pair[0][1] = 3.0 * pair[1][0]
        total += np.sum(pair[1] ** 3)
    columns = np.asfortranarray(np.outer(x, x))
    first, second = passed([columns, columns])
    assert first is second
    assert first.flags.f_contiguous
    return total + np.sum(second.ravel("K") * np.arange(second.size))


def from_anywhere(comm: MPI.Intracomm, x: ndarray) -> Any:
    """Wait for messages from anywhere in another order than that of the receives."""
    buffers = [np.zeros(2) for _ in range(comm.size)]
    status, total = MPI.Status(), 0.0
    receives = [comm.Irecv(b, MPI.ANY_SOURCE, MPI.ANY_TAG) for b in buffers]
    sends = [comm.Isend(x[:2] * (k + 1), k, 4 + comm.rank) for k in range(comm.size)]
    for request, b in zip(receives[::-1], buffers[::-1], strict=True):
        request.Wait(status)
        assert status.Get_count(MPI.DOUBLE) == 2
        total += np.sum(b**2) * (1 + status.Get_tag()) * (1 + status.Get_source())
    MPI.Request.Waitall([*sends, MPI.REQUEST_NULL])
    comm.Barrier()  # else a rank that runs this again may send to one that has not ended
    return total


def out_of_order(comm: MPI.Intracomm, x: ndarray) -> Any:
    """Wait first for what comes second: each cotangent finds its message."""
    left, right = neighbours(comm)
    a, b = np.zeros(2), np.zeros(2)
    first, second = comm.Irecv(a, left, 1), comm.Irecv(b, left, 1)
    sends = [comm.Isend(x[:2] ** 2, right, 1), comm.Isend(np.sin(x[2:]), right, 1)]
    second.Wait()
    x = x * b[0]
    first.Wait()
    MPI.Request.Waitall(sends)
    return np.sum(a * b**2 * x[:2])


def wild_before_exact(comm: MPI.Intracomm, x: ndarray) -> Any:
    """Wait first for the receive that was begun second: the first gets the first message."""
    left, right = neighbours(comm)
    a, b = np.zeros(2), np.zeros(2)
    wild, exact = comm.Irecv(a, left, MPI.ANY_TAG), comm.Irecv(b, left, 1)
    sends = [comm.Isend(x[:2] ** 2, right, 1), comm.Isend(np.sin(x[2:]), right, 1)]
    exact.Wait()
    wild.Wait()
    MPI.Request.Waitall(sends)
    return np.sum(a**3 * b * x[:2])


def sends_that_wait(comm: MPI.Intracomm, x: ndarray) -> Any:
    """Send so that it ends only when the others have begun to receive, from anywhere."""
    _, right = neighbours(comm)
    a = np.zeros(4)
    request = comm.Irecv(a, MPI.ANY_SOURCE, 2)
    comm.Ssend(x, right, 2)
    request.Wait()
    comm.Barrier()
    return np.sum(a**3 * x)


def persistent(comm: MPI.Intracomm, x: ndarray) -> Any:
    left, right = neighbours(comm)
    y, h = x.copy(), np.zeros(1)
    requests = [comm.Send_init(y[:1], right, 2), comm.Recv_init(h, left, 2)]
    for _ in range(3):
        MPI.Prequest.Startall(requests)
        MPI.Request.Waitall(requests)
        y[0] = np.sin(y[0]) + h[0] * y[1]
    for request in requests:
        request.Free()
    return y[0] ** 2


def complex_numbers(comm: MPI.Intracomm, x: ndarray) -> Any:
    z, w = x * np.exp(1j * x), np.zeros(4, complex)
    comm.Allreduce(z, w)
    return abs(np.sum(w**2)) / comm.size


def constants(comm: MPI.Intracomm, x: ndarray) -> Any:
    left, right = neighbours(comm)
    ranks, i, fixed = np.zeros(1, int), np.arange(3) + comm.rank, np.ones(4)
    comm.Allreduce(np.array([comm.rank]), ranks)
    comm.Sendrecv_replace(i, right, 0, left, 0)
    comm.Sendrecv(np.full(4, 2.0), right, 1, fixed, left, 1)
    return x[0] * ranks[0] * comm.allreduce(1) + len(comm.bcast("hello")) + i[0] * x @ fixed


def groups(comm: MPI.Intracomm, x: ndarray) -> Any:
    half = comm.Split(comm.rank % 2, comm.rank)
    y = np.empty_like(x)
    half.Allreduce(x, y)
    ring = comm.Create_cart([comm.size], periods=[True])
    before, after = ring.Shift(0, 1)
    ring.Sendrecv_replace(y, after, 0, before, 0)
    z = half.allreduce(float(y[0]) ** 2)
    half.Free()
    ring.Free()
    return np.sum(y**2) + z


def check_ties_share(comm: MPI.Intracomm) -> None:
    def largest(x: ndarray) -> Any:
        y = np.zeros(2)
        comm.Allreduce(x, y, MPI.MAX)
        return y[0] + comm.rank * y[1]

    share = value_and_grad(largest, comm=comm)(np.array([3.0, float(comm.rank)]))[1]
    last = comm.rank == comm.size - 1
    weights = sum(range(comm.size)) * last
    np.testing.assert_allclose(share, [1.0, weights], rtol=1e-14)


def agrees(program: Program, comm: MPI.Intracomm) -> None:
    """Compare the derivatives of a program with differences over all ranks."""
    f = partial(program, comm)
    x = np.cos(np.arange(4.0) + 1.3 * comm.rank) + 0.1 * comm.rank
    d = np.sin(3 * np.arange(4.0) + comm.rank)
    gradient = value_and_grad(f, comm=comm)
    value, g = gradient(x)
    np.testing.assert_allclose(value, comm.allreduce(float(f(x))), rtol=1e-13)
    slope = comm.allreduce((f(x + STEP * d) - f(x - STEP * d)) / (2 * STEP))
    np.testing.assert_allclose(comm.allreduce(float(g @ d)), slope, rtol=1e-6, atol=1e-7)
    with over(comm):
        _, tangent = jvp(f, (x,), (d,))
        product = hvp(f, (x,), d)
    np.testing.assert_allclose(
        comm.allreduce(float(tangent)), float(comm.allreduce(g @ d)), rtol=1e-11
    )
    change = gradient(x + STEP * d)[1] - gradient(x - STEP * d)[1]
    np.testing.assert_allclose(product, change / (2 * STEP), rtol=1e-5, atol=1e-6)


PROGRAMS = (
    columns_first, datatypes, parts, short_message, collective, varying, objects, shared_objects,
    from_anywhere,
    out_of_order, wild_before_exact, sends_that_wait, persistent, complex_numbers, constants,
    groups,
)  # fmt: skip

for program in PROGRAMS:
    globals()[f"check_{program.__name__}"] = partial(agrees, program)
