"""Messages of arrays that go on after the call, and the requests that stand for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpi4py import MPI

from mooncake_py.diagnostics.places import current_place
from mooncake_py.distributed.buffers import Message, message_of
from mooncake_py.distributed.data import unpack
from mooncake_py.distributed.links import Link
from mooncake_py.distributed.primitives import finish_receive, finish_send, natively
from mooncake_py.distributed.rules.messages import (
    ANY_SOURCE,
    ANY_TAG,
    begin_receive,
    begin_send,
    note_status,
)
from mooncake_py.errors import MissingRuleError
from mooncake_py.rules.declare import overlay

__all__ = ["Request", "request_of"]


class Request(MPI.Request):
    """What stands for a message within a derivative, in place of mpi4py's request.

    Attributes
    ----------
    link : Link or None
        The message under way, None when it is over.
    ending : callable or None
        What ends to receive it: ``ending(link, message, status)``; None for one that is sent.
    message : Message or None
        Where it goes.
    """

    link: Link | None
    ending: Callable[..., Any] | None
    message: Message | None


class PersistentRequest(MPI.Prequest, Request):
    """A message that is begun by `Start`, again and again."""

    begin: Callable[[], Any]


@natively
def request_of(link: Any, ending: Any = None, message: Any = None) -> Request:
    """Return the request for a message that has begun."""
    request = Request()
    request.link, request.ending, request.message = link, ending, message
    return request


@natively
def persistent_request(begin: Any, ending: Any, message: Any) -> PersistentRequest:
    """Return the request for a message that `begin` begins."""
    request = PersistentRequest()
    request.link, request.ending, request.message = None, ending, message
    request.begin = begin
    return request


@natively
def require_own(request: Any) -> None:
    """Raise if a request was not made within a derivative."""
    if not isinstance(request, Request):
        raise MissingRuleError(
            "a request that was made outside the derivative is waited for within it",
            where=current_place()[0],
            why="what it receives comes from outside, and nobody would take its cotangent",
            fix="begin and end the message within what is differentiated, or both outside",
        )


@natively
def is_done(request: Any) -> bool:
    """Return whether a message has gone or come, without waiting."""
    require_own(request)
    return request.link is None or request.link.is_done()


def fill(link: Any, message: Any, status: Any) -> None:
    """End to receive an array."""
    unpack(message, finish_receive(link))
    note_status(link, status)


def complete(request: Any, status: Any) -> Any:
    """Wait for a message; return the objects that it brought, if any."""
    require_own(request)
    link = request.link
    result = None
    if link is not None:
        if request.ending is None:
            finish_send(link)
        else:
            result = request.ending(link, request.message, status)
        request.link = None
    return result


@overlay(MPI.Comm.Isend)
def isend(comm: Any, buf: Any, dest: int, tag: int = 0) -> Any:
    return request_of(begin_send(comm, message_of(buf), dest, tag))


@overlay(MPI.Comm.Issend)
def issend(comm: Any, buf: Any, dest: int, tag: int = 0) -> Any:
    return request_of(begin_send(comm, message_of(buf), dest, tag, True))


@overlay(MPI.Comm.Irsend)
def irsend(comm: Any, buf: Any, dest: int, tag: int = 0) -> Any:
    return request_of(begin_send(comm, message_of(buf), dest, tag))


@overlay(MPI.Comm.Irecv)
def irecv(comm: Any, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Any:
    message = message_of(buf)
    return request_of(begin_receive(comm, message, source, tag), fill, message)


# Waiting.


@overlay(MPI.Request.Wait)
def wait(request: Any, status: Any = None) -> bool:
    complete(request, status)
    return True


@overlay(MPI.Request.Test)
def has_ended(request: Any, status: Any = None) -> bool:
    if not is_done(request):
        return False
    complete(request, status)
    return True


@overlay(MPI.Request.__dict__["Waitall"].__func__)
def wait_all(cls: Any, requests: Any, statuses: Any = None) -> bool:
    for i, request in enumerate(requests):
        complete(request, statuses[i] if statuses is not None else None)
    return True


@overlay(MPI.Request.__dict__["Testall"].__func__)
def have_ended(cls: Any, requests: Any, statuses: Any = None) -> bool:
    for request in requests:
        if not is_done(request):
            return False
    return wait_all(cls, requests, statuses)


@natively
def first_done(requests: Any) -> int:
    """Return which of some requests is done first, waiting for it; -1 if none is under way."""
    under_way = [(i, request) for i, request in enumerate(requests) if request.link is not None]
    while under_way:
        for i, request in under_way:
            if request.link.is_done():
                return i
    return -1


@natively
def all_done(requests: Any) -> list[int]:
    """Return which requests are under way and done."""
    return [i for i, r in enumerate(requests) if r.link is not None and r.link.is_done()]


@overlay(MPI.Request.__dict__["Waitany"].__func__)
def wait_any(cls: Any, requests: Any, status: Any = None) -> int:
    i = first_done(requests)
    if i < 0:
        return MPI.UNDEFINED
    complete(requests[i], status)
    return i


@overlay(MPI.Request.__dict__["Waitsome"].__func__)
def wait_some(cls: Any, requests: Any, statuses: Any = None) -> Any:
    if first_done(requests) < 0:
        return None
    done = all_done(requests)
    for k, i in enumerate(done):
        complete(requests[i], statuses[k] if statuses is not None else None)
    return done


# Messages that are begun again and again.


@overlay(MPI.Comm.Send_init)
def send_init(comm: Any, buf: Any, dest: int, tag: int = 0) -> Any:
    message = message_of(buf)
    return persistent_request(lambda: begin_send(comm, message, dest, tag), None, message)


@overlay(MPI.Comm.Ssend_init)
def ssend_init(comm: Any, buf: Any, dest: int, tag: int = 0) -> Any:
    message = message_of(buf)
    return persistent_request(lambda: begin_send(comm, message, dest, tag, True), None, message)


@overlay(MPI.Comm.Recv_init)
def recv_init(comm: Any, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Any:
    message = message_of(buf)
    return persistent_request(lambda: begin_receive(comm, message, source, tag), fill, message)


@overlay(MPI.Prequest.Start)
def start(request: Any) -> None:
    request.link = request.begin()


@overlay(MPI.Prequest.__dict__["Startall"].__func__)
def start_all(cls: Any, requests: Any) -> None:
    for request in requests:
        request.link = request.begin()


@overlay(MPI.Request.Free)
def free(request: Any) -> None:
    """Free a request: one that is not under way, or whose message is sent."""
    if request.link is not None:
        complete(request, None)
