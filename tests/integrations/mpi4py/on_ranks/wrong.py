"""Checks that are wrong on purpose: the worker must tell."""

from __future__ import annotations

from mpi4py import MPI


def check_fails_on_one_rank(comm: MPI.Intracomm) -> None:
    if comm.rank == 1:
        raise AssertionError("not the same")


def check_hangs(comm: MPI.Intracomm) -> None:
    if comm.rank == 0:
        comm.recv(source=1)
