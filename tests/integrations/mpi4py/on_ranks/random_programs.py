"""Programs of steps, on all ranks and in one process: a few."""

from __future__ import annotations

from mpi4py import MPI

from tests.integrations.mpi4py.on_ranks.comparing import WAYS, compare
from tests.integrations.mpi4py.on_ranks.steps.program import FAMILIES, every_step, random_program


def check_programs_give_the_same_values(comm: MPI.Intracomm) -> None:
    """Hold the two meanings of each step against each other, without derivatives."""
    programs = [every_step(family, kind) for family in FAMILIES for kind in ("real", "complex")]
    compare(comm, programs, ["plain"])


def check_pairs(comm: MPI.Intracomm) -> None:
    compare(comm, [every_step("pairs")], ["gradient", "tangent"])


def check_pairs_of_complex_numbers(comm: MPI.Intracomm) -> None:
    compare(comm, [every_step("pairs", "complex")], ["gradient"])


def check_collectives(comm: MPI.Intracomm) -> None:
    compare(comm, [every_step("collectives")], ["gradient", "tangent"])


def check_collectives_of_complex_numbers(comm: MPI.Intracomm) -> None:
    compare(comm, [every_step("collectives", "complex")], ["gradient"])


def check_counts_that_vary(comm: MPI.Intracomm) -> None:
    compare(comm, [every_step("varying")], ["gradient", "tangent"])


def check_objects(comm: MPI.Intracomm) -> None:
    compare(comm, [every_step("objects")], ["gradient", "tangent"])


def check_objects_of_other_precision(comm: MPI.Intracomm) -> None:
    compare(comm, [every_step("objects", "single"), every_step("objects", "complex")], ["gradient"])


def check_columns_and_halos(comm: MPI.Intracomm) -> None:
    compare(comm, [every_step("tables")], ["gradient", "tangent"])


def check_random_gradients(comm: MPI.Intracomm) -> None:
    compare(comm, [random_program(seed) for seed in range(3)], ["gradient"])


def check_random_programs_in_all_ways(comm: MPI.Intracomm) -> None:
    compare(comm, [random_program(4, 3)], WAYS)
