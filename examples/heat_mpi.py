"""Recover the initial temperature of a plate from later readings, on several processes by MPI.

Each process has a block of the plate and one row or column of its neighbours' around it, which it
gets from them before each time step: the usual halo exchange on a Cartesian communicator, into
slices of the array that the time loop overwrites. `mooncake_py` differentiates it unchanged;
the cotangents of the halos travel the other way.
Run `mpiexec -n 4 python examples/heat_mpi.py`, with as many processes as you like.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray
from pictures import OUTPUT, plotter, save

from mooncake_py import value_and_grad

Array = NDArray[np.float64]

CONDUCTION = 0.2  # part of the difference to each neighbour that flows in a step
NOISE = 0.05  # degrees
SMOOTHING = 2e-4  # weight of the roughness against the misfit
READ_EVERY = 5  # steps


class Block(NamedTuple):
    """The part of the plate that a process has, and the sensors on it."""

    cart: MPI.Cartcomm
    rows: slice
    columns: slice
    sensors: tuple[
        NDArray[np.intp], NDArray[np.intp]
    ]  # rows and columns within the block, its halo counted


def block_of(cart: MPI.Cartcomm, is_sensor: NDArray[np.bool_]) -> Block:
    """Return this process's part of a plate; the parts need not have the same size."""
    parts = []
    for count, place, size in zip(cart.dims, cart.coords, is_sensor.shape, strict=True):
        parts.append(slice(place * size // count, (place + 1) * size // count))
    rows, columns = parts
    down, along = np.nonzero(is_sensor[rows, columns])
    return Block(cart, rows, columns, (down + 1, along + 1))


def exchange(u: Array, cart: MPI.Cartcomm) -> None:
    """Fill the halo with what the neighbours have there; beyond the plate it stays zero."""
    above, below = cart.Shift(0, 1)
    before, behind = cart.Shift(1, 1)
    # Columns are not contiguous: they travel in buffers.
    first, last = u[1:-1, 1].copy(), u[1:-1, -2].copy()
    from_before, from_behind = np.zeros_like(first), np.zeros_like(last)
    MPI.Request.Waitall(
        [
            cart.Irecv(u[0, 1:-1], above, tag=1),
            cart.Irecv(u[-1, 1:-1], below, tag=2),
            cart.Irecv(from_before, before, tag=3),
            cart.Irecv(from_behind, behind, tag=4),
            cart.Isend(u[-2, 1:-1], below, tag=1),
            cart.Isend(u[1, 1:-1], above, tag=2),
            cart.Isend(last, behind, tag=3),
            cart.Isend(first, before, tag=4),
        ]
    )
    u[1:-1, 0] = from_before
    u[1:-1, -1] = from_behind


def flow(u: Array) -> Array:
    """Return the flow into each point of a block from the four around it."""
    return u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]


def with_halo(initial: Array) -> Array:
    """Return a block with room for its halo."""
    u = np.zeros((initial.shape[0] + 2, initial.shape[1] + 2))
    u[1:-1, 1:-1] = initial
    return u


def step(u: Array, cart: MPI.Cartcomm) -> None:
    """Let heat flow for one time step, in place; the edge of the plate is held at zero."""
    exchange(u, cart)
    u[1:-1, 1:-1] += CONDUCTION * flow(u)


def readings(initial: Array, block: Block, steps: int) -> Array:
    """Return the readings of the sensors on a block, shape (times, sensors)."""
    u = with_halo(initial)
    read = np.empty((steps // READ_EVERY, len(block.sensors[0])))
    for k in range(steps):
        step(u, block.cart)
        if (k + 1) % READ_EVERY == 0:
            read[k // READ_EVERY] = u[block.sensors]
    return read


def misfit(initial: Array, block: Block, measured: Array, steps: int) -> float:
    """Weigh the difference from what was read against the roughness of the initial state.

    This is the part of one process; what is minimised is the sum of all.
    """
    error = readings(initial, block, steps) - measured
    u = with_halo(initial)
    exchange(u, block.cart)
    roughness = -np.sum(initial * flow(u))  # the squares of all differences
    return 0.5 * np.sum(error * error) + 0.5 * SMOOTHING * roughness


def true_plate(size: int) -> Array:
    """Return a cold plate with a hot disc and a hot frame, in degrees."""
    plate = np.zeros((size, size))
    y, x = np.mgrid[0 : 1 : size * 1j, 0 : 1 : size * 1j]
    plate[np.hypot(x - 0.32, y - 0.34) < 0.17] = 100.0
    outer = np.maximum(abs(x - 0.66), abs(y - 0.66)) < 0.2
    inner = np.maximum(abs(x - 0.66), abs(y - 0.66)) < 0.1
    plate[outer & ~inner] = 80.0
    return plate


def minimize(
    gradient: Callable[[Array], tuple[float, Array]],
    x: Array,
    iterations: int,
    comm: MPI.Comm,
    report: Callable[[int, float], None],
) -> Array:
    """Minimise a quadratic function by conjugate gradients; each process has a part of `x`.

    The gradient of such a function is affine, so that the difference of two gradients is a product
    with the Hessian.

    References
    ----------
    J. Nocedal and S. J. Wright, Numerical Optimization (2006), algorithm 5.2.
    """

    def dot(a: Array, b: Array) -> float:
        return comm.allreduce(float(np.vdot(a, b)))

    value, slope = gradient(x)
    downhill = direction = -slope
    length = dot(slope, slope)
    for iteration in range(1, iterations + 1):
        curved = gradient(x + direction)[1] + downhill
        step_length = length / dot(direction, curved)
        x = x + step_length * direction
        value -= 0.5 * step_length * length
        downhill = downhill - step_length * curved
        former, length = length, dot(downhill, downhill)
        direction = downhill + length / former * direction
        report(iteration, value)
    return x


def whole(part: Array, block: Block, size: int) -> Array | None:
    """Return the whole plate on the first process, None on the others."""
    parts = block.cart.gather((block.rows, block.columns, part))
    if parts is None:
        return None
    plate = np.empty((size, size))
    for rows, columns, values in parts:
        plate[rows, columns] = values
    return plate


def main(arguments: Sequence[str] | None = None) -> None:
    """Recover the plate, and compare the gradient with that of one process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small plate, a few iterations")
    parser.add_argument("--plot", type=Path, default=OUTPUT / "heat_mpi.png", metavar="FILE")
    options = parser.parse_args(arguments)
    size, steps, iterations = (24, 20, 20) if options.quick else (64, 40, 40)

    comm = MPI.COMM_WORLD
    cart = comm.Create_cart(MPI.Compute_dims(comm.size, 2))
    say = print if cart.rank == 0 else no_words

    random = np.random.default_rng(4)  # the same numbers on all processes
    truth = true_plate(size)
    is_sensor = random.random((size, size)) < 0.25
    block = block_of(cart, is_sensor)
    measured = readings(truth[block.rows, block.columns], block, steps)
    measured += NOISE * np.random.default_rng([4, cart.rank]).standard_normal(measured.shape)

    gradient = value_and_grad(misfit, comm=cart)
    start = 20.0 + 10.0 * random.standard_normal((size, size))
    mine = start[block.rows, block.columns]
    _, slope = gradient(mine, block, measured, steps)
    difference = difference_from_one_process(slope, start, is_sensor, block, measured, steps)
    say(f"{cart.size} processes, {cart.dims[0]} by {cart.dims[1]} blocks")
    say(f"gradient against that of one process: largest relative difference {difference:.1e}")

    def report(iteration: int, value: float) -> None:
        if iteration % 10 == 0:
            say(f"iteration {iteration:3d}   misfit {value:.4f}", flush=True)

    begin = time.perf_counter()
    found = minimize(
        lambda x: gradient(x, block, measured, steps), np.zeros_like(mine), iterations, cart, report
    )
    say(f"{iterations + 1} gradients of {steps} steps took {time.perf_counter() - begin:.1f} s")
    plate = whole(found, block, size)
    if plate is not None:
        error = np.linalg.norm(plate - truth) / np.linalg.norm(truth)
        say(f"error of the recovered initial state: {error:.1%}")
        plot(options.plot, truth, plate, is_sensor, cart)


def difference_from_one_process(
    slope: Array,
    start: Array,
    is_sensor: NDArray[np.bool_],
    block: Block,
    measured: Array,
    steps: int,
) -> float:
    """Compare a gradient with that of the same program run by one process on the whole plate."""
    slopes = whole(slope, block, len(start))
    sensors = block.cart.gather((block.rows, block.columns, measured))
    if slopes is None or sensors is None:
        return 0.0
    read = np.empty((steps // READ_EVERY, *start.shape))
    for rows, columns, values in sensors:
        part = read[:, rows, columns]
        part[:, is_sensor[rows, columns]] = values
    alone = block_of(MPI.COMM_SELF.Create_cart([1, 1]), is_sensor)
    _, expected = value_and_grad(misfit, comm=alone.cart)(start, alone, read[:, is_sensor], steps)
    return float(np.max(abs(slopes - expected)) / np.max(abs(expected)))


def no_words(*_: Any, **__: Any) -> None:
    """Print nothing: the first process speaks for all."""


def plot(
    file: Path, truth: Array, found: Array, is_sensor: NDArray[np.bool_], cart: MPI.Cartcomm
) -> None:
    """Save the plates and their difference side by side, if matplotlib is there."""
    plt = plotter()
    if plt is None:
        return
    figure, axes = plt.subplots(1, 3, figsize=(13, 4))
    panels = {"true initial state": truth, "recovered": found, "error": found - truth}
    for panel, (title, plate) in zip(axes, panels.items(), strict=True):
        limits = {"vmin": -50.0, "vmax": 50.0} if title == "error" else {"vmin": 0.0, "vmax": 100.0}
        cmap = "RdBu_r" if title == "error" else "inferno"
        drawn = panel.imshow(plate, cmap=cmap, **limits)
        figure.colorbar(drawn, ax=panel, label="degrees", fraction=0.046)
        panel.set(title=title, xticks=[], yticks=[])
    down, along = np.nonzero(is_sensor)
    axes[0].plot(along, down, ".", color="white", markersize=1.5, label="sensors")
    axes[0].legend(loc="upper right", fontsize=8, facecolor="gray", labelcolor="white")
    draw_blocks(axes[1], len(truth), cart)
    save(figure, file)


def draw_blocks(panel: Any, size: int, cart: MPI.Cartcomm) -> None:
    """Draw where the blocks of the processes meet."""
    rows, columns = cart.dims
    for k in range(1, rows):
        panel.axhline(k * size // rows - 0.5, color="white", linewidth=0.8, linestyle="--")
    for k in range(1, columns):
        panel.axvline(k * size // columns - 0.5, color="white", linewidth=0.8, linestyle="--")


if __name__ == "__main__":
    main()
