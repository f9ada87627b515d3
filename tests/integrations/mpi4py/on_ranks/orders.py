"""Derivatives inside others, and parts that run again, of a program that communicates."""

from __future__ import annotations

import numpy as np
from mpi4py import MPI
from numpy import ndarray

from mooncake_py import checkpointed, grad, hvp, jvp, value_and_grad, vjp
from mooncake_py.integrations.mpi4py import over

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.rank, COMM.size
LEFT, RIGHT = (RANK - 1) % SIZE, (RANK + 1) % SIZE
STEP = 1e-6
X = np.cos(np.arange(4.0) + RANK)
D = np.sin(3 * np.arange(4.0) + RANK)


def step(y: ndarray, h: ndarray) -> None:
    receive, send = COMM.Irecv(h, LEFT, 5), COMM.Isend(y[:2], RIGHT, 5)
    y *= np.sin(y) + 1.5
    receive.Wait()
    send.Wait()
    y[-2:] += h * y[:2]
    largest = np.zeros(1)
    COMM.Allreduce(np.array([np.max(y)]), largest, MPI.MAX)
    y /= largest[0]


def ring(x: ndarray) -> float:
    y, h = x.copy(), np.zeros(2)
    for _ in range(3):
        step(y, h)
    return np.sum(y**2)


def ring_again(x: ndarray) -> float:
    y, h = x.copy(), np.zeros(2)
    for _ in checkpointed(range(3)):
        step(y, h)
    return np.sum(y**2)


def slope(x: ndarray) -> float:
    return grad(ring)(x) @ D


def over_ranks(y: float) -> float:
    return COMM.allreduce(float(y))


def difference(f: object) -> float:
    return over_ranks((f(X + STEP * D) - f(X - STEP * D)) / (2 * STEP))


def check_checkpoints(comm: MPI.Intracomm) -> None:
    plain, again = (value_and_grad(f, comm=comm)(X) for f in (ring, ring_again))
    assert plain[0] == again[0]
    np.testing.assert_array_equal(plain[1], again[1])


def check_debug_mode(comm: MPI.Intracomm) -> None:
    plain, checked = (value_and_grad(ring, comm=comm, debug=d)(X) for d in (False, True))
    np.testing.assert_allclose(checked[1], plain[1], rtol=1e-13)


def check_prepared(comm: MPI.Intracomm) -> None:
    value, g = value_and_grad(ring, comm=comm)(X)
    prepared = value_and_grad(ring, comm=comm).prepare(X)
    for _ in range(2):
        again, h = prepared(X)
        assert again == value
        np.testing.assert_array_equal(h, g)


def check_pullbacks(comm: MPI.Intracomm) -> None:
    g = grad(ring, comm=comm)(X)
    with over(comm):
        _, pullback = vjp(ring, X)
        for scale in (1.0, 2.0):
            np.testing.assert_allclose(pullback(scale)[0], scale * g, rtol=1e-14)


def check_reverse_inside_reverse(comm: MPI.Intracomm) -> None:
    with over(comm):
        np.testing.assert_allclose(grad(slope)(X), hvp(ring, (X,), D), rtol=1e-10)


def check_forward_inside_forward(comm: MPI.Intracomm) -> None:
    with over(comm):
        second = jvp(lambda x: jvp(ring, (x,), (D,))[1], (X,), (D,))[1]
        product = hvp(ring, (X,), D) @ D
    np.testing.assert_allclose(over_ranks(second), over_ranks(product), rtol=1e-9)


def check_reverse_inside_reverse_inside_forward(comm: MPI.Intracomm) -> None:
    with over(comm):
        _, third = jvp(lambda x: grad(slope)(x) @ D, (X,), (D,))
        expected = difference(lambda x: grad(slope)(x) @ D)
    np.testing.assert_allclose(over_ranks(third), expected, rtol=1e-5)


def check_an_inner_derivative_that_depends_on_another_rank_only(comm: MPI.Intracomm) -> None:
    def through(x: ndarray) -> float:
        def inner(z: ndarray) -> float:
            y = np.zeros(4)
            COMM.Sendrecv(x if RANK == 0 else z, RIGHT, 0, y, LEFT, 0)
            return np.sum(z * y)

        return np.sum(grad(inner)(np.ones(4)) ** 2)

    with over(comm):
        g = grad(through)(X)
        expected = difference(through)
    np.testing.assert_allclose(over_ranks(g @ D), expected, rtol=1e-6)


def check_one_value_of_all(comm: MPI.Intracomm) -> None:
    def total(x: ndarray) -> float:
        return COMM.allreduce(float(ring(x)))

    value, g = value_and_grad(ring, comm=comm)(X)
    same, h = value_and_grad(total, comm=comm, output="same")(X)
    np.testing.assert_allclose(same, value, rtol=1e-14)
    np.testing.assert_allclose(h, g, rtol=1e-13)
