"""The lower-case calls: numbers, arrays and structures of them, pickled.

A message of objects is the pickled structure and, behind it, all its numbers as one vector, which
is what derivatives follow.
"""

from __future__ import annotations

import functools
import operator
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy import ndarray

from mooncake_py.integrations.mpi4py.flat_objects import flat_message
from mooncake_py.integrations.mpi4py.links import Receiving, Sending, header_of
from mooncake_py.integrations.mpi4py.operations import (
    AllGather,
    AllToAll,
    Broadcast,
    Gather,
    Scatter,
)
from mooncake_py.integrations.mpi4py.primitives import (
    collected,
    finish_receive_inside,
    finish_send_inside,
    natively,
    start_receive_inside,
    start_send_inside,
)
from mooncake_py.integrations.mpi4py.rules.collective import operation
from mooncake_py.integrations.mpi4py.rules.messages import ANY_SOURCE, ANY_TAG, note_status
from mooncake_py.integrations.mpi4py.rules.reductions import MAX, MIN, SUM, reduced_everywhere
from mooncake_py.integrations.mpi4py.rules.requests import Request, complete, has_ended, request_of
from mooncake_py.integrations.mpi4py.session import current
from mooncake_py.rules.declare import contextual, overlay
from mooncake_py.runtime.mode import Mode

__all__: list[str] = []

FLOAT = np.dtype(float)


def plain(obj: Any) -> Any:
    """Return objects with zeros in place of their numbers: constants."""
    vector, unflatten = flat_message(obj)
    return unflatten(np.zeros(vector.size))


def vector_of(obj: Any) -> ndarray:
    """Return the numbers of objects; what receives them expects double precision."""
    vector, _ = flat_message(obj)
    return vector if vector.dtype == FLOAT else vector.astype(FLOAT)


def rebuilt(structure: Any, vector: ndarray) -> Any:
    """Return a structure with the numbers of a vector."""
    _, unflatten = flat_message(structure)
    return unflatten(vector)


def begin_send(ctx: Mode, comm: Any, obj: Any, dest: int, tag: int, waits: bool = False) -> Sending:
    """Begin to send objects."""
    vector = ctx.call(vector_of, obj)
    link = Sending(comm, dest, tag, header_of(ctx.call(plain, obj)), waits)
    start_send_inside(ctx, link, vector)
    return link


def begin_receive(ctx: Mode, comm: Any, source: int, tag: int) -> Receiving:
    """Begin to receive objects."""
    link = Receiving(comm, source, tag, None, FLOAT)
    start_receive_inside(ctx, link)
    return link


def end_receive(ctx: Mode, link: Receiving, message: None, status: Any) -> Any:
    """Return the objects that have come; None where nobody sends."""
    vector = finish_receive_inside(ctx, link)
    note_status(link, status)
    return ctx.call(rebuilt, link.header, vector)


@contextual(MPI.Comm.send)
def send(ctx: Mode, comm: Any, obj: Any, dest: int, tag: int = 0) -> None:
    """Send objects."""
    finish_send_inside(ctx, begin_send(ctx, comm, obj, dest, tag))


@contextual(MPI.Comm.ssend)
def synchronous_send(ctx: Mode, comm: Any, obj: Any, dest: int, tag: int = 0) -> None:
    """Send objects, and wait until the other rank receives them."""
    finish_send_inside(ctx, begin_send(ctx, comm, obj, dest, tag, waits=True))


@contextual(MPI.Comm.recv)
def receive(
    ctx: Mode, comm: Any, buf: Any = None, source: int = ANY_SOURCE, tag: int = ANY_TAG,
    status: Any = None,
) -> Any:  # fmt: skip
    """Receive objects."""
    return end_receive(ctx, begin_receive(ctx, comm, source, tag), None, status)


@contextual(MPI.Comm.sendrecv)
def send_and_receive(
    ctx: Mode, comm: Any, sendobj: Any, dest: int, sendtag: int = 0, recvbuf: Any = None,
    source: int = ANY_SOURCE, recvtag: int = ANY_TAG, status: Any = None,
) -> Any:  # fmt: skip
    """Send objects and receive others."""
    link = begin_receive(ctx, comm, source, recvtag)
    sent = begin_send(ctx, comm, sendobj, dest, sendtag)
    received = end_receive(ctx, link, None, status)
    finish_send_inside(ctx, sent)
    return received


@contextual(MPI.Comm.isend)
def isend(ctx: Mode, comm: Any, obj: Any, dest: int, tag: int = 0) -> Request:
    """Begin to send objects."""
    return request_of(begin_send(ctx, comm, obj, dest, tag))


@contextual(MPI.Comm.issend)
def issend(ctx: Mode, comm: Any, obj: Any, dest: int, tag: int = 0) -> Request:
    """Begin to send objects, which ends when the other rank receives them."""
    return request_of(begin_send(ctx, comm, obj, dest, tag, waits=True))


@contextual(MPI.Comm.irecv)
def irecv(
    ctx: Mode, comm: Any, buf: Any = None, source: int = ANY_SOURCE, tag: int = ANY_TAG
) -> Request:
    """Begin to receive objects."""
    return request_of(begin_receive(ctx, comm, source, tag), end_receive)


@contextual(MPI.Request.wait)
def wait(ctx: Mode, request: Any, status: Any = None) -> Any:
    """Wait for a message, and return what it has brought."""
    return complete(ctx, request, status)


@contextual(MPI.Request.test)
def end_if_done(ctx: Mode, request: Any, status: Any = None) -> tuple[bool, Any]:
    """Return whether a message has gone or come, and what it has brought."""
    if not has_ended(request):
        return False, None
    return True, complete(ctx, request, status)


@contextual(MPI.Request.__dict__["waitall"].__func__)
def wait_all(ctx: Mode, cls: Any, requests: Any, statuses: Any = None) -> list[Any]:
    """Wait for messages, and return what they have brought."""
    return [
        complete(ctx, request, None if statuses is None else statuses[i])
        for i, request in enumerate(requests)
    ]


# Collective.


@natively
def shared(comm: Any, name: str, *args: Any) -> Any:
    """Run one of the lower-case collective calls on structures, which are constants.

    What cannot be pickled raises before any rank waits for it.
    """
    given, *rest = args
    pickled: Any
    if name in ("scatter", "alltoall") and given is not None:
        pickled = [pickle.dumps(part) for part in given]
    else:
        pickled = pickle.dumps(given)
    got = getattr(current().meet(comm).program, name)(pickled, *rest)
    return [pickle.loads(part) for part in got] if isinstance(got, list) else loaded(got)


def loaded(pickled: bytes | None) -> Any:
    """Return the object that was pickled; None if nothing was received."""
    return None if pickled is None else pickle.loads(pickled)


@natively
def size_of(structure: Any) -> int:
    """Return how many numbers there are in a structure."""
    return flat_message(structure)[0].size


def split(structures: Sequence[Any], vector: ndarray) -> list[Any]:
    """Return structures with the numbers of a vector, in turn."""
    result = []
    start = 0
    for structure in structures:
        stop = start + size_of(structure)
        result.append(rebuilt(structure, vector[start:stop]))
        start = stop
    return result


def joined(objects: Sequence[Any]) -> ndarray:
    """Return the numbers of several objects as one vector."""
    return np.concatenate([vector_of(obj) for obj in objects])


@overlay(MPI.Comm.bcast)
def broadcast(comm: Any, obj: Any, root: int = 0) -> Any:
    is_root = comm.rank == root
    structure = shared(comm, "bcast", plain(obj) if is_root else None, root)
    given = vector_of(obj) if is_root else np.empty(0)
    vector = collected(operation(Broadcast, comm, root, size_of(structure)), given)
    return obj if is_root else rebuilt(structure, vector)


@overlay(MPI.Comm.gather)
def gather(comm: Any, sendobj: Any, root: int = 0) -> Any:
    structures = shared(comm, "gather", plain(sendobj), root)
    counts = [] if structures is None else [size_of(s) for s in structures]
    vector = collected(operation(Gather, comm, root, counts), vector_of(sendobj))
    return None if structures is None else split(structures, vector)


@overlay(MPI.Comm.scatter)
def scatter(comm: Any, sendobj: Any, root: int = 0) -> Any:
    is_root = comm.rank == root
    structure = shared(comm, "scatter", plain(sendobj) if is_root else None, root)
    counts = [size_of(plain(o)) for o in sendobj] if is_root else []
    given = joined(sendobj) if is_root else np.empty(0)
    count = size_of(structure)
    return rebuilt(structure, collected(operation(Scatter, comm, root, counts, count), given))


@overlay(MPI.Comm.allgather)
def all_gather(comm: Any, sendobj: Any) -> Any:
    structures = shared(comm, "allgather", plain(sendobj))
    counts = [size_of(s) for s in structures]
    vector = collected(operation(AllGather, comm, counts), vector_of(sendobj))
    return split(structures, vector)


@overlay(MPI.Comm.alltoall)
def all_to_all(comm: Any, sendobj: Any) -> Any:
    structures = shared(comm, "alltoall", plain(list(sendobj)))
    gives = [size_of(plain(o)) for o in sendobj]
    gets = [size_of(s) for s in structures]
    return split(structures, collected(operation(AllToAll, comm, gives, gets), joined(sendobj)))


# Reductions.

FUNCTIONS: tuple[tuple[Any, Callable[[Any, Any], Any]], ...] = (
    (MPI.SUM, operator.add), (MPI.PROD, operator.mul), (MPI.MAX, max), (MPI.MIN, min),
    (MPI.LAND, lambda a, b: bool(a) & bool(b)), (MPI.LOR, lambda a, b: bool(a) | bool(b)),
    (MPI.LXOR, lambda a, b: bool(a) ^ bool(b)),
    (MPI.BAND, operator.and_), (MPI.BOR, operator.or_), (MPI.BXOR, operator.xor),
)  # fmt: skip


@natively
def function_of(op: Any) -> Callable[[Any, Any], Any]:
    """Return the function of Python for a reduction."""
    return next((f for known, f in FUNCTIONS if op == known), op)


@natively
def common_kind(comm: Any, obj: Any, op: Any) -> str:
    """Return how objects can be reduced as arrays: what is the same on all ranks."""
    kind = "other"
    if any(op == known for known in (SUM, MAX, MIN)):
        if type(obj) is float:
            kind = "number"
        elif type(obj) is np.ndarray and obj.dtype == FLOAT and op == SUM:
            kind = f"array {obj.shape}"
    kinds = shared(comm, "allgather", kind)
    return kind if all(k == kind for k in kinds) else "other"


def reduced(comm: Any, obj: Any, op: Any) -> Any:
    """Return the reduction of the objects of all ranks."""
    kind = common_kind(comm, obj, op)
    if kind == "number":
        return float(reduced_everywhere(comm, np.array([obj]), op)[0])
    if kind != "other":
        return np.reshape(reduced_everywhere(comm, np.reshape(obj, -1), op), obj.shape)
    return functools.reduce(function_of(op), all_gather(comm, obj))


@overlay(MPI.Comm.allreduce)
def all_reduce(comm: Any, sendobj: Any, op: Any = SUM) -> Any:
    return reduced(comm, sendobj, op)


@overlay(MPI.Comm.reduce)
def reduce(comm: Any, sendobj: Any, op: Any = SUM, root: int = 0) -> Any:
    result = reduced(comm, sendobj, op)
    return result if comm.rank == root else None


@overlay(MPI.Intracomm.scan)
def scan(comm: Any, sendobj: Any, op: Any = SUM) -> Any:
    return functools.reduce(function_of(op), all_gather(comm, sendobj)[: comm.rank + 1])


@overlay(MPI.Intracomm.exscan)
def exclusive_scan(comm: Any, sendobj: Any, op: Any = SUM) -> Any:
    rank = comm.rank
    objects = all_gather(comm, sendobj)
    return functools.reduce(function_of(op), objects[:rank]) if rank else None
