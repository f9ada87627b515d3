"""Programs of steps, on all ranks and in one process: many."""

from __future__ import annotations

from importlib.util import find_spec

from mpi4py import MPI

from tests.integrations.mpi4py.on_ranks.comparing import WAYS, compare
from tests.integrations.mpi4py.on_ranks.steps.program import FAMILIES, every_step, random_program


def check_random_programs(comm: MPI.Intracomm) -> None:
    compare(comm, [random_program(seed) for seed in range(100, 120)], WAYS)


def check_all_steps_in_all_ways(comm: MPI.Intracomm) -> None:
    compare(comm, [every_step(family) for family in FAMILIES], WAYS)


def check_long_programs(comm: MPI.Intracomm) -> None:
    compare(comm, [random_program(seed, 12) for seed in range(200, 204)], ["gradient"])


def check_compiled_between_communications(comm: MPI.Intracomm) -> None:
    if comm.size != 2 or find_spec("llvmlite") is None:  # compiling takes long, on every rank
        return
    compare(comm, [random_program(300, 2)], ["gradient", "tangent"], compile=True)
