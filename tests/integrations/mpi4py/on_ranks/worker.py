"""Run the checks of some modules on all ranks.

Usage: ``mpiexec -n 4 python -m tests.integrations.mpi4py.on_ranks.worker MODULE...``.

A check is a function of a communicator whose name begins with ``check_``.  All checks run in one
go, as starting the ranks takes longer than most checks.  A rank that fails says so at once, for the
others may wait for it for ever.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Iterator
from importlib import import_module

from mpi4py import MPI

__all__ = ["main"]

Check = Callable[[MPI.Intracomm], None]


def checks(modules: list[str], name_has: str) -> Iterator[tuple[str, Check]]:
    """Yield the checks of these modules of this folder."""
    for module in modules:
        contents = vars(import_module(f"tests.integrations.mpi4py.on_ranks.{module}"))
        for name, check in contents.items():
            if name.startswith("check_") and name_has in name:
                yield f"{module}.{name}", check


def failed_on(comm: MPI.Intracomm, name: str, check: Check) -> list[int]:
    """Run one check, print what it raises, and return the ranks on which it failed."""
    failed = False
    try:
        check(MPI.COMM_WORLD)
    except Exception:
        failed = True
        where = f"{name} on rank {comm.rank} of {comm.size}"
        print(f"--- {where}\n{traceback.format_exc()}", file=sys.stderr, flush=True)
    return [rank for rank, there in enumerate(comm.allgather(failed)) if there]


def main(arguments: list[str]) -> int:
    """Run the checks and return the exit code; rank 0 prints the times with ``--times``."""
    modules = [argument for argument in arguments if not argument.startswith("-")]
    name_has = next((a.removeprefix("-k=") for a in arguments if a.startswith("-k=")), "")
    comm = MPI.COMM_WORLD.Dup()  # for the worker's own messages
    failures, count = [], 0
    for name, check in checks(modules, name_has):
        start = time.perf_counter()
        ranks = failed_on(comm, name, check)
        count += 1
        if ranks:
            failures.append(f"{name} failed on ranks {ranks}")
        if "--times" in arguments and comm.rank == 0:
            print(f"{time.perf_counter() - start:6.2f} s  {name}", flush=True)
    if comm.rank == 0:
        print(f"{count} checks on {comm.size} ranks", *failures, sep="\n", flush=True)
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
