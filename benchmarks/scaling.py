"""Weak scaling of a heat equation with halo exchange, and of its gradient.

``python -m benchmarks.scaling --all`` measures 1, 2 and 4 ranks and prints the tables of
docs/explanation/scaling.md; ``mpiexec -n N python -m benchmarks.scaling`` measures N ranks and
prints them as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.ranks import mpiexec
from benchmarks.scaling_model import Measured, Model

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = ["main", "measure"]

Array = NDArray[np.float64]

SIZE = 400  # points of a rank's block in each direction
STEPS = 10
ROUNDS = 20
LONG = 1 << 17  # numbers of a long message: a megabyte
MEASURED = (1, 2, 4)
PREDICTED = (1, 4, 16, 100, 1_024, 10_000)


def exchange(u: Array, cart: MPI.Cartcomm) -> None:
    """Fill the halo with what the neighbours have there."""
    above, below = cart.Shift(0, 1)
    before, behind = cart.Shift(1, 1)
    cart.Sendrecv(u[1, 1:-1], above, 1, u[-1, 1:-1], below, 1)
    cart.Sendrecv(u[-2, 1:-1], below, 2, u[0, 1:-1], above, 2)
    come = np.zeros(u.shape[0] - 2)
    cart.Sendrecv(u[1:-1, 1].copy(), before, 3, come, behind, 3)
    u[1:-1, -1] = come
    come = np.zeros(u.shape[0] - 2)
    cart.Sendrecv(u[1:-1, -2].copy(), behind, 4, come, before, 4)
    u[1:-1, 0] = come


def energy(initial: Array, cart: MPI.Cartcomm, steps: int) -> float:
    """Return this rank's part of the energy after some steps; each overwrites one array."""
    u = np.zeros((initial.shape[0] + 2, initial.shape[1] + 2))
    u[1:-1, 1:-1] = initial
    for _ in range(steps):
        exchange(u, cart)
        u[1:-1, 1:-1] += 0.2 * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        )
    return np.sum(u[1:-1, 1:-1] ** 2)


def ping_pong(x: Array, comm: MPI.Comm, rounds: int) -> float:
    """Send an array there and back between the first two ranks."""
    y = np.zeros_like(x)
    for _ in range(rounds):
        if comm.Get_rank() == 0:
            comm.Send(x, 1)
            comm.Recv(y, 1)
        elif comm.Get_rank() == 1:
            comm.Recv(y, 0)
            comm.Send(x, 0)
    return np.sum(y)


def measure(size: int = SIZE, steps: int = STEPS, rounds: int = ROUNDS) -> Measured:
    """Measure on the ranks of this run; all ranks call it together and get the same."""
    from mpi4py import MPI

    from mooncake_py import value_and_grad
    from mooncake_py.integrations.mpi4py import over

    comm = MPI.COMM_WORLD
    cart = comm.Create_cart(MPI.Compute_dims(comm.size, 2))
    initial = np.random.default_rng(comm.rank).random((size, size))
    gradient = value_and_grad(energy, comm=cart)
    primal_seconds = shortest(lambda: energy(initial, cart, steps), comm, rounds)
    gradient_seconds = shortest(lambda: gradient(initial, cart, steps), comm, rounds)
    with over(cart) as session:
        value_and_grad(energy)(initial, cart, steps)

    def most(count: float) -> float:
        return comm.allreduce(count / steps, MPI.MAX)

    latency, latency_back, bandwidth = (
        measured_network(comm, rounds) if comm.size > 1 else (0.0, 0.0, 0.0)
    )
    return Measured(
        ranks=comm.size,
        steps=steps,
        primal=primal_seconds / steps,
        gradient=gradient_seconds / steps,
        messages=most(session.sent.messages),
        nbytes=most(session.sent.nbytes),
        messages_back=most(session.sent_back.messages),
        nbytes_back=most(session.sent_back.nbytes),
        latency=latency,
        latency_back=latency_back,
        bandwidth=bandwidth,
    )


def measured_network(comm: MPI.Intracomm, rounds: int) -> tuple[float, float, float]:
    """Return the latency in the program and in a gradient, and the bandwidth in bytes a second."""
    from mooncake_py import value_and_grad

    trips = 20  # few, so that some round is over before the core is given to others
    short, long = np.ones(1), np.ones(LONG)
    gradient = value_and_grad(ping_pong, comm=comm)
    rounds *= 3
    here = shortest(lambda: ping_pong(short, comm, trips), comm, rounds) / (2 * trips)
    there_and_back = shortest(lambda: gradient(short, comm, trips), comm, rounds) / (4 * trips)
    of_long = shortest(lambda: ping_pong(long, comm, 2), comm, rounds) / 4
    return here, there_and_back, long.nbytes / max(of_long - here, 1e-9)


def shortest(call: Callable[[], Any], comm: MPI.Intracomm, rounds: int) -> float:
    """Return the shortest time of a call that all ranks make together: that of the last rank."""
    from mpi4py import MPI

    call()
    times = []
    for _ in range(rounds):
        comm.Barrier()
        start = time.perf_counter()
        call()
        times.append(comm.allreduce(time.perf_counter() - start, MPI.MAX))
    return min(times)


def measured_on(ranks: int, options: Sequence[str]) -> Measured:
    """Start this module on so many ranks, and return what they measure."""
    command = [*mpiexec(), "-n", str(ranks), sys.executable, "-m", "benchmarks.scaling", *options]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    return Measured(**json.loads(printed.stdout))


def report(results: Sequence[Measured]) -> str:
    """Return the tables of the page; the first result is of one rank, the second of two."""
    model = Model.of(*results[:2])
    rows = [
        "| ranks | step, ms | gradient, ms | ratio | by the model | messages | kB | back / there |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for r in results:
        step, gradient = model.here(r.ranks, os.cpu_count())
        back = f"{r.nbytes_back / r.nbytes:.2f}" if r.nbytes else "-"
        rows.append(
            f"| {r.ranks} | {1e3 * r.primal:.2f} | {1e3 * r.gradient:.2f} "
            f"| {r.gradient / r.primal:.1f} | {1e3 * step:.2f}, {1e3 * gradient:.2f} "
            f"| {r.messages:.0f} + {r.messages_back:.0f} "
            f"| {r.nbytes / 1e3:.1f} + {r.nbytes_back / 1e3:.1f} | {back} |"
        )
    pair = results[1]
    network = [
        f"latency: {1e6 * pair.latency:.1f} us in the program, {1e6 * pair.latency_back:.0f} us",
        f"in a gradient; bandwidth: {pair.bandwidth / 1e9:.1f} GB/s",
    ]
    return "\n".join([*rows, "", " ".join(network), "", *predictions(model)])


def predictions(model: Model) -> list[str]:
    """Return the table of the model: this machine with cores enough, and a cluster."""
    columns = ("step, ms", "gradient, ms", "ratio", "efficiency")
    header = ("ranks", *columns, *(f"cluster: {column}" for column in columns))
    rows = [f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
    for ranks in PREDICTED:
        cells = [f"{ranks:,}"]
        for step, gradient in (model.here(ranks), model.on_cluster(ranks)):
            cells += [f"{1e3 * step:.2f}", f"{1e3 * gradient:.2f}", f"{gradient / step:.1f}"]
            cells.append(f"{model.both.compute / gradient:.0%}")
        rows.append("| " + " | ".join(cells) + " |")
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="start 1, 2 and 4 ranks")
    parser.add_argument("--quick", action="store_true", help="small blocks, for a test")
    options = parser.parse_args(arguments)
    if options.all:
        print(f"{os.cpu_count()} cores")
        print(report([measured_on(n, ["--quick"] if options.quick else []) for n in MEASURED]))
        return
    result = measure(20, 5, 2) if options.quick else measure()
    from mpi4py import MPI

    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps(asdict(result)))


if __name__ == "__main__":
    main()
