"""The command that starts programs on several ranks, whichever MPI is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

__all__ = ["mpiexec"]


@cache
def mpiexec() -> tuple[str, ...]:
    """Return the command, with the options for more ranks than cores; empty if there is none.

    The one next to the interpreter goes first: packages of PyPI install theirs there.
    """
    beside = Path(sys.executable).with_name("mpiexec")
    command = str(beside) if beside.exists() else shutil.which("mpiexec")
    if command is None or find_spec("mpi4py") is None:
        return ()
    version = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    if "Open MPI" not in version.stdout:
        return (command,)
    as_root = ("--allow-run-as-root",) if os.geteuid() == 0 else ()
    return (command, "--oversubscribe", *as_root)
