"""Ranks that raise: they raise what they raise, the others hear of it, and all goes on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from mpi4py import MPI
from numpy.typing import NDArray

from mooncake_py import grad, hook, jvp, value_and_grad
from mooncake_py.errors import MissingRuleError
from mooncake_py.integrations.mpi4py import RankError, over

Array = NDArray[np.float64]
Function = Callable[[Array], float]


class Broken(Exception):
    """What a rank raises on purpose."""


def rings(comm: MPI.Intracomm, x: Array) -> float:
    """Return this rank's part of a function that is right: the sum of x times the next x."""
    left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
    come = np.empty_like(x)
    requests = [comm.Irecv(come, right), comm.Isend(x, left)]
    MPI.Request.Waitall(requests)
    return float(np.sum(x * come)) + float(comm.allreduce(np.sum(x)))


def expect_rings(comm: MPI.Intracomm) -> None:
    """Take the gradient of what is right, and compare it with the formula."""
    x = np.arange(3.0) + comm.rank
    neighbours = np.arange(3.0) * 2 + (comm.rank - 1) % comm.size + (comm.rank + 1) % comm.size
    with over(comm) as session:
        g = grad(lambda x: rings(comm, x))(x)
    np.testing.assert_allclose(g, neighbours + comm.size)
    assert not session.open
    assert not session.pending


@contextmanager
def failure(comm: MPI.Intracomm, *ranks: int) -> Iterator[None]:
    """Expect `Broken` on these ranks and `RankError` on the others; then try what is right."""
    with pytest.raises((Broken, RankError)) as caught:
        yield
    text = str(caught.value)
    if caught.type is Broken:
        assert comm.rank in ranks, "raised on another rank"
        assert text == f"on rank {comm.rank}", "the exception has changed"
    else:
        # Of several ranks one may hear of another's failure before its own.
        assert comm.rank not in ranks or len(ranks) > 1, "the exception was lost"
        named = re.match(r"rank (\d+) of (\d+) has failed", text)
        assert named is not None, text
        assert int(named[1]) in ranks, text
        assert f"Broken: on rank {named[1]}" in text, text
    expect_rings(comm)


def broken_if(condition: bool, comm: MPI.Intracomm) -> None:
    if condition:
        raise Broken(f"on rank {comm.rank}")


def last(comm: MPI.Intracomm) -> int:
    return comm.size - 1


def run(comm: MPI.Intracomm, f: Function) -> None:
    value_and_grad(f, comm=comm)(np.arange(3.0) + comm.rank)


def check_before_any_message(comm: MPI.Intracomm) -> None:
    def f(x: Array) -> float:
        broken_if(comm.rank == 0, comm)
        return rings(comm, x)

    with failure(comm, 0):
        run(comm, f)


def check_after_the_last_message(comm: MPI.Intracomm) -> None:
    def f(x: Array) -> float:
        value = rings(comm, x)
        broken_if(comm.rank == last(comm), comm)
        return value

    with failure(comm, last(comm)):
        run(comm, f)


def check_between_isend_and_wait(comm: MPI.Intracomm) -> None:
    def f(x: Array) -> float:
        come = np.empty_like(x)
        incoming = comm.Irecv(come, (comm.rank + 1) % comm.size)
        outgoing = comm.Isend(x, (comm.rank - 1) % comm.size)
        broken_if(comm.rank == last(comm), comm)
        MPI.Request.Waitall([incoming, outgoing])
        return float(np.sum(x * come))

    with failure(comm, last(comm)):
        run(comm, f)


def check_while_others_receive(comm: MPI.Intracomm) -> None:
    def f(x: Array) -> float:
        broken_if(comm.rank == 0, comm)
        comm.Recv(x, 0)
        return float(np.sum(x))

    with failure(comm, 0):
        run(comm, f)


def check_while_others_receive_from_anyone(comm: MPI.Intracomm) -> None:
    def f(x: Array) -> float:
        broken_if(comm.rank == 0, comm)
        comm.Recv(x, MPI.ANY_SOURCE)
        return float(np.sum(x)) * comm.recv()

    with failure(comm, 0):
        run(comm, f)


def check_while_others_reduce(comm: MPI.Intracomm) -> None:
    def f(x: Array) -> float:
        broken_if(comm.rank == last(comm), comm)
        comm.Allreduce(MPI.IN_PLACE, x)
        return float(np.sum(x))

    with failure(comm, last(comm)):
        run(comm, f)


def check_while_others_reduce_objects(comm: MPI.Intracomm) -> None:
    def f(x: Array) -> float:
        broken_if(comm.rank == last(comm), comm)
        return float(comm.allreduce(np.sum(x)))

    with failure(comm, last(comm)):
        run(comm, f)


def check_while_others_wait_at_a_barrier(comm: MPI.Intracomm) -> None:
    def f(x: Array) -> float:
        broken_if(comm.rank == 0, comm)
        comm.Barrier()
        return float(np.sum(x))

    with failure(comm, 0):
        run(comm, f)


def check_while_others_split(comm: MPI.Intracomm) -> None:
    def f(x: Array) -> float:
        broken_if(comm.rank == last(comm), comm)
        half = comm.Split(comm.rank % 2)
        half.Allreduce(MPI.IN_PLACE, x)
        half.Free()
        return float(np.sum(x))

    with failure(comm, last(comm)):
        run(comm, f)


def check_within_a_group(comm: MPI.Intracomm) -> None:
    """A rank fails in a group of some ranks; those of the other group wait for it at the end."""

    def f(x: Array) -> float:
        half = comm.Split(comm.rank % 2)
        half.Barrier()
        broken_if(comm.rank == last(comm), comm)
        half.Allreduce(MPI.IN_PLACE, x)
        half.Free()
        return float(np.sum(x))

    with failure(comm, last(comm)):
        run(comm, f)


def check_on_the_way_back(comm: MPI.Intracomm) -> None:
    def fail(g: Array) -> Array:
        broken_if(comm.rank == last(comm), comm)
        return g

    def f(x: Array) -> float:
        y = np.sin(x)
        hooked = hook(fail, y)
        return rings(comm, hooked)

    with failure(comm, last(comm)):
        run(comm, f)


def check_on_the_way_back_before_the_messages(comm: MPI.Intracomm) -> None:
    def fail(g: float) -> float:
        broken_if(comm.rank == 0, comm)
        return g

    with failure(comm, 0):
        run(comm, lambda x: hook(fail, rings(comm, x)))


def check_in_forward_mode(comm: MPI.Intracomm) -> None:
    def f(x: Array) -> float:
        broken_if(comm.rank == 0, comm)
        return rings(comm, x)

    with failure(comm, 0), over(comm):
        jvp(f, (np.arange(3.0),), (np.ones(3),))


def check_between_derivatives(comm: MPI.Intracomm) -> None:
    """In a block of several derivatives, what fails may stand between them."""
    with failure(comm, 0), over(comm):
        g = grad(lambda x: rings(comm, x))(np.arange(3.0))
        broken_if(comm.rank == 0, comm)
        jvp(lambda x: rings(comm, x), (g,), (g,))


def check_all_ranks_at_once(comm: MPI.Intracomm) -> None:
    def f(x: Array) -> float:
        comm.Barrier()
        broken_if(True, comm)
        return rings(comm, x)

    with failure(comm, *range(comm.size)):
        run(comm, f)


def check_two_ranks_at_once(comm: MPI.Intracomm) -> None:
    """Each raises its own exception; those who hear of both name the first."""

    def f(x: Array) -> float:
        broken_if(comm.rank in (0, last(comm)), comm)
        return rings(comm, x)

    with failure(comm, 0, last(comm)):
        run(comm, f)


def check_many_failures(comm: MPI.Intracomm) -> None:
    """The communicators that are made again after each failure are not used up."""
    for count in range(6):
        wrong = count % comm.size

        def f(x: Array, wrong: int = wrong) -> float:
            broken_if(comm.rank == wrong, comm)
            return rings(comm, x)

        with failure(comm, wrong):
            run(comm, f)


def check_a_derivative_of_one_rank_alone(comm: MPI.Intracomm) -> None:
    """Without `comm`, no rank communicates: all raise, and nobody waits."""
    if comm.size == 1:
        return
    with pytest.raises(MissingRuleError, match="comm=comm"):
        grad(lambda x: rings(comm, x))(np.arange(3.0))
    expect_rings(comm)


def check_a_communicator_that_was_not_named(comm: MPI.Intracomm) -> None:
    other = comm.Dup()

    def f(x: Array) -> float:
        y = np.empty_like(x)
        other.Sendrecv(x, (comm.rank + 1) % comm.size, 0, y, (comm.rank - 1) % comm.size)
        return np.sum(y)

    with pytest.raises(MissingRuleError, match=r"comm=\[comm, cart\]"):
        run(comm, f)
    expect_rings(comm)
    x = np.arange(3.0) + comm.rank
    g = grad(f, comm=[comm, other])(x)
    np.testing.assert_array_equal(g, np.ones(3))
    other.Free()


def check_a_receive_that_nobody_waits_for(comm: MPI.Intracomm) -> None:
    if comm.size == 1:  # the rank would wait for itself
        return

    def f(x: Array) -> float:
        if comm.rank == last(comm):
            comm.Irecv(np.empty_like(x), 0)
        if comm.rank == 0:
            comm.Send(x, last(comm))
        return float(np.sum(x))

    with pytest.raises(RankError, match="never ended"):
        run(comm, f)
    expect_rings(comm)


def check_receives_of_a_ring_that_nobody_waits_for(comm: MPI.Intracomm) -> None:
    """Each rank waits on the way back for one that waits for another."""

    def f(x: Array) -> float:
        comm.Irecv(np.empty_like(x), (comm.rank - 1) % comm.size)
        comm.Send(x, (comm.rank + 1) % comm.size)
        return float(np.sum(x))

    with pytest.raises(RankError, match="never ended"):
        run(comm, f)
    expect_rings(comm)


def check_a_message_that_nobody_receives(comm: MPI.Intracomm) -> None:
    if comm.size == 1:  # MPI itself may wait for ever
        return

    def f(x: Array) -> float:
        if comm.rank == 0:
            comm.Send(x, last(comm))
        return float(np.sum(x))

    with pytest.raises(RankError, match="never received"):
        run(comm, f)
    expect_rings(comm)
