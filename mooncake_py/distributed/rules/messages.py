"""Messages of arrays from rank to rank that are over when the call returns."""

from __future__ import annotations

from typing import Any

from mpi4py import MPI

from mooncake_py.distributed.buffers import Message, message_of
from mooncake_py.distributed.data import packed, unpack
from mooncake_py.distributed.links import Receiving, receiving, sending
from mooncake_py.distributed.primitives import (
    finish_receive,
    finish_send,
    natively,
    start_receive,
    start_send,
)
from mooncake_py.rules.declare import overlay

__all__ = ["begin_receive", "begin_send", "note_status"]

ANY_SOURCE, ANY_TAG = MPI.ANY_SOURCE, MPI.ANY_TAG

for function in (message_of, sending, receiving):
    natively(function)


@natively
def note_status(link: Receiving, status: Any) -> None:
    """Write into a status what has come."""
    if status is None:
        return
    if link.is_null:
        status.Set_source(MPI.PROC_NULL)
        status.Set_tag(MPI.ANY_TAG)
        status.Set_elements(MPI.BYTE, 0)
        return
    status.Set_source(link.peer)
    status.Set_tag(link.tag)
    status.Set_elements(MPI.BYTE, link.count * link.dtype.itemsize)


def begin_send(comm: Any, message: Message, dest: int, tag: int, waits: bool = False) -> Any:
    """Begin to send a message."""
    link = sending(comm, dest, tag, waits=waits)
    start_send(link, packed(message))
    return link


def begin_receive(comm: Any, message: Message, source: int, tag: int) -> Any:
    """Begin to receive a message."""
    link = receiving(comm, source, tag, message.rows, message.dtype)
    start_receive(link)
    return link


def end_receive(link: Any, message: Message, status: Any) -> None:
    """End to receive a message, into its array."""
    unpack(message, finish_receive(link))
    note_status(link, status)


@overlay(MPI.Comm.Send)
def send(comm: Any, buf: Any, dest: int, tag: int = 0) -> None:
    finish_send(begin_send(comm, message_of(buf), dest, tag))


@overlay(MPI.Comm.Ssend)
def synchronous_send(comm: Any, buf: Any, dest: int, tag: int = 0) -> None:
    finish_send(begin_send(comm, message_of(buf), dest, tag, True))


@overlay(MPI.Comm.Rsend)
def ready_send(comm: Any, buf: Any, dest: int, tag: int = 0) -> None:
    finish_send(begin_send(comm, message_of(buf), dest, tag))


@overlay(MPI.Comm.Recv)
def receive(
    comm: Any, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG, status: Any = None
) -> None:
    message = message_of(buf)
    end_receive(begin_receive(comm, message, source, tag), message, status)


@overlay(MPI.Comm.Sendrecv)
def send_and_receive(
    comm: Any, sendbuf: Any, dest: int, sendtag: int = 0, recvbuf: Any = None,
    source: int = ANY_SOURCE, recvtag: int = ANY_TAG, status: Any = None,
) -> None:  # fmt: skip
    message = message_of(recvbuf)
    link = begin_receive(comm, message, source, recvtag)
    sent = begin_send(comm, message_of(sendbuf), dest, sendtag)
    data = finish_receive(link)
    finish_send(sent)
    unpack(message, data)
    note_status(link, status)


@overlay(MPI.Comm.Sendrecv_replace)
def send_and_replace(
    comm: Any, buf: Any, dest: int, sendtag: int = 0, source: int = ANY_SOURCE,
    recvtag: int = ANY_TAG, status: Any = None,
) -> None:  # fmt: skip
    send_and_receive(comm, buf, dest, sendtag, buf, source, recvtag, status)
