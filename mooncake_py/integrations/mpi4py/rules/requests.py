"""Messages of arrays that go on after the call, and the requests that stand for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpi4py import MPI

from mooncake_py.diagnostics.places import current_place
from mooncake_py.errors import MissingRuleError
from mooncake_py.integrations.mpi4py.buffers import Message, message_of
from mooncake_py.integrations.mpi4py.links import Link
from mooncake_py.integrations.mpi4py.primitives import finish_send_inside
from mooncake_py.integrations.mpi4py.rules.messages import (
    ANY_SOURCE,
    ANY_TAG,
    begin_receive,
    begin_send,
    end_receive,
)
from mooncake_py.rules.declare import contextual
from mooncake_py.runtime.mode import Mode

__all__ = ["complete", "has_ended", "request_of"]


class Request(MPI.Request):
    """Stands for a message within a derivative, in place of mpi4py's request.

    Attributes
    ----------
    link : Link or None
        The message under way, None when it is over.
    ending : callable or None
        What ends to receive it: ``ending(context, link, message, status)``; None for one that is
        sent.
    message : Message or None
        Where it goes.
    """

    link: Link | None
    ending: Callable[..., Any] | None
    message: Message | None


class PersistentRequest(MPI.Prequest, Request):
    """A message that is begun by `Start`, again and again."""

    begin: Callable[[Mode], Link]


def request_of(link: Link, ending: Any = None, message: Any = None) -> Request:
    """Return the request for a message that has begun."""
    request = Request()
    request.link, request.ending, request.message = link, ending, message
    return request


def persistent_request(begin: Any, ending: Any, message: Message) -> PersistentRequest:
    """Return the request for a message that `begin` begins."""
    request = PersistentRequest()
    request.link, request.ending, request.message = None, ending, message
    request.begin = begin
    return request


def link_of(request: Any) -> Any:
    """Return the message of a request that is under way, or None.

    Raises
    ------
    MissingRuleError
        If the request was made outside the derivative.
    """
    if isinstance(request, Request):
        return request.link
    if request == MPI.REQUEST_NULL:
        return None
    raise MissingRuleError(
        "a request that was made outside the derivative is waited for within it",
        where=current_place()[0],
        why="the received data come from outside, and nobody would take their cotangent",
        fix="begin and end the message within the differentiated function, or both outside",
    )


def has_ended(request: Any) -> bool:
    """Return whether a message has gone or come, without waiting."""
    link = link_of(request)
    return link is None or link.is_done()


def complete(ctx: Mode, request: Any, status: Any) -> Any:
    """Wait for a message; return the objects that it brought, if any."""
    link, result = link_of(request), None
    if link is not None:
        if request.ending is None:
            finish_send_inside(ctx, link)
        else:
            result = request.ending(ctx, link, request.message, status)
        ctx.setattr(request, "link", None)  # noted, to be undone
    return result


@contextual(MPI.Comm.Isend, MPI.Comm.Irsend)
def isend(ctx: Mode, comm: Any, buf: Any, dest: int, tag: int = 0) -> Request:
    """Begin to send an array."""
    return request_of(begin_send(ctx, comm, message_of(buf), dest, tag))


@contextual(MPI.Comm.Issend)
def issend(ctx: Mode, comm: Any, buf: Any, dest: int, tag: int = 0) -> Request:
    """Begin to send an array, which ends when the other rank receives it."""
    return request_of(begin_send(ctx, comm, message_of(buf), dest, tag, waits=True))


@contextual(MPI.Comm.Irecv)
def irecv(ctx: Mode, comm: Any, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
    """Begin to receive an array."""
    message = message_of(buf)
    return request_of(begin_receive(ctx, comm, message, source, tag), end_receive, message)


# Waiting.


def method(kind: type, name: str) -> Any:
    """Return the function behind a class method."""
    return kind.__dict__[name].__func__


@contextual(MPI.Request.Wait)
def wait(ctx: Mode, request: Any, status: Any = None) -> bool:
    """Wait for a message."""
    complete(ctx, request, status)
    return True


@contextual(MPI.Request.Test)
def end_if_done(ctx: Mode, request: Any, status: Any = None) -> bool:
    """End a message that has gone or come."""
    if not has_ended(request):
        return False
    complete(ctx, request, status)
    return True


@contextual(method(MPI.Request, "Waitall"))
def wait_all(ctx: Mode, cls: Any, requests: Any, statuses: Any = None) -> bool:
    """Wait for all messages."""
    for i, request in enumerate(requests):
        complete(ctx, request, None if statuses is None else statuses[i])
    return True


@contextual(method(MPI.Request, "Testall"))
def end_if_all_done(ctx: Mode, cls: Any, requests: Any, statuses: Any = None) -> bool:
    """End messages that have all gone or come."""
    return all(map(has_ended, requests)) and wait_all(ctx, cls, requests, statuses)


def first_done(requests: Any) -> int | None:
    """Return which of some requests is done first, waiting for it; None if none is under way."""
    links = [(i, link) for i, r in enumerate(requests) if (link := link_of(r)) is not None]
    while links:
        for i, link in links:
            if link.is_done():
                return i
    return None


@contextual(method(MPI.Request, "Waitany"))
def wait_any(ctx: Mode, cls: Any, requests: Any, status: Any = None) -> int:
    """Wait for one message."""
    i = first_done(requests)
    if i is None:
        return MPI.UNDEFINED
    complete(ctx, requests[i], status)
    return i


@contextual(method(MPI.Request, "Waitsome"))
def wait_some(ctx: Mode, cls: Any, requests: Any, statuses: Any = None) -> list[int] | None:
    """Wait for one message, and end all that have gone or come."""
    if first_done(requests) is None:
        return None
    done = [i for i, r in enumerate(requests) if link_of(r) is not None and has_ended(r)]
    for k, i in enumerate(done):
        complete(ctx, requests[i], None if statuses is None else statuses[k])
    return done


# Messages that are begun again and again.


@contextual(MPI.Comm.Send_init, MPI.Comm.Rsend_init)
def send_init(
    ctx: Mode, comm: Any, buf: Any, dest: int, tag: int = 0, waits: bool = False
) -> PersistentRequest:
    """Return a request to send an array."""
    message = message_of(buf)

    def begin(ctx: Mode) -> Link:
        return begin_send(ctx, comm, message, dest, tag, waits)

    return persistent_request(begin, None, message)


@contextual(MPI.Comm.Ssend_init)
def ssend_init(ctx: Mode, comm: Any, buf: Any, dest: int, tag: int = 0) -> PersistentRequest:
    """Return a request to send an array, which ends when the other rank receives it."""
    return send_init(ctx, comm, buf, dest, tag, waits=True)


@contextual(MPI.Comm.Recv_init)
def recv_init(
    ctx: Mode, comm: Any, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG
) -> PersistentRequest:
    """Return a request to receive an array."""
    message = message_of(buf)

    def begin(ctx: Mode) -> Link:
        return begin_receive(ctx, comm, message, source, tag)

    return persistent_request(begin, end_receive, message)


@contextual(MPI.Prequest.Start)
def start(ctx: Mode, request: Any) -> None:
    """Begin a message."""
    link_of(request)
    ctx.setattr(request, "link", request.begin(ctx))


@contextual(method(MPI.Prequest, "Startall"))
def start_all(ctx: Mode, cls: Any, requests: Any) -> None:
    """Begin several messages."""
    for request in requests:
        start(ctx, request)


@contextual(MPI.Request.Free)
def free(ctx: Mode, request: Any) -> None:
    """Free a request: one that is not under way, or whose message is sent."""
    complete(ctx, request, None)
