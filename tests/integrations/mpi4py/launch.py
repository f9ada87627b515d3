"""Start programs on several ranks, with the `mpiexec` of whichever MPI is installed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.ranks import mpiexec

__all__ = ["NEEDS_MPI", "run_on_ranks"]

ROOT = Path(__file__).parents[3]


NEEDS_MPI = pytest.mark.skipif(not mpiexec(), reason="needs mpi4py and mpiexec")


def run_on_ranks(ranks: int, *arguments: str, seconds: float, cwd: Path = ROOT) -> str:
    """Run ``python *arguments`` on this many ranks, and return what they printed.

    Fails the test if a rank does not end with exit code 0, or if all do not end in time: then it
    ends them.
    """
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    started = subprocess.Popen(
        [*mpiexec(), "-n", str(ranks), sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        printed, _ = started.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        printed = end(started)
        pytest.fail(f"{ranks} ranks did not end within {seconds} s\n{printed}", pytrace=False)
    if started.returncode:
        pytest.fail(f"{ranks} ranks: exit code {started.returncode}\n{printed}", pytrace=False)
    return printed


def end(started: subprocess.Popen[str]) -> str:
    """End a group of processes and return what it printed; `mpiexec` ends its ranks if asked."""
    os.killpg(started.pid, signal.SIGTERM)
    try:
        printed, _ = started.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        printed, _ = started.communicate()
    return printed
