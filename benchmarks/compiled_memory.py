"""Peak memory of compiled gradients beyond the primal's, in a process of its own.

Compiled code takes its memory from the C library, where `tracemalloc` does not see it, so the peak
is what the operating system counts (Linux).  In that process the library gives each large array
pages of its own, which it returns when the array is freed.
"""

import copy
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.kernels import KERNELS
from benchmarks.memory import CASES, Memory
from mooncake_py import value_and_grad
from mooncake_py.compiler.native.machine.background import WORKER

STATUS = Path("/proc/self/status")
RESET = Path("/proc/self/clear_refs")
OWN_PAGES = {"MALLOC_MMAP_THRESHOLD_": "32768", "MALLOC_TOP_PAD_": "0"}
"""Settings of the C library."""


def is_measurable() -> bool:
    """Return True if the operating system tells peaks."""
    return STATUS.exists() and RESET.exists()


def compiled_bytes_of(case: Memory) -> tuple[int, int]:
    """Return the peak of a compiled gradient beyond that of the primal, and the bytes counted."""
    kernel = next(kernel for kernel in KERNELS if kernel.name == case.kernel)
    command = [sys.executable, "-m", "benchmarks.compiled_memory", case.kernel, str(case.size)]
    environment = os.environ | OWN_PAGES
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return int(done.stdout), case.needed(*kernel.make_arguments(case.size))


def memory_row(case: Memory, measured: int, counted: int) -> str:
    """Return the line of one case."""
    return (
        f"peak memory compiled: {case.kernel:<20}{case.size:>6}"
        f"{measured / 1e6:>10.2f} MB{counted / 1e6:>10.2f} MB counted{measured / counted:>8.2f}"
    )


def memory_rows(name_has: str) -> list[str]:
    """Return the lines of the cases; none where peaks cannot be measured."""
    cases = [case for case in CASES if name_has in case.kernel and is_measurable()]
    return [memory_row(case, *compiled_bytes_of(case)) for case in cases]


def beyond(name: str, size: int) -> int:
    """Return the bytes by which the peak of a compiled gradient exceeds that of the primal."""
    kernel = next(kernel for kernel in KERNELS if kernel.name == name)
    gradient = value_and_grad(kernel.function, argnums=kernel.argnums, compile=True)
    gradient(*kernel.make_arguments(kernel.sizes[0]))  # compiles
    WORKER.wait()  # it takes memory too
    arguments = kernel.make_arguments(size)
    return peak(gradient, arguments) - peak(kernel.function, arguments)


def peak(function: Callable[..., Any], arguments: tuple[Any, ...]) -> int:
    """Return the most bytes that a call takes at a time, its arguments not counted."""
    fresh = copy.deepcopy(arguments)
    before = bytes_now("VmRSS")
    RESET.write_text("5")  # the peak is what there is now
    function(*fresh)
    return bytes_now("VmHWM") - before


def bytes_now(name: str) -> int:
    """Return the memory that the operating system counts for this process."""
    (line,) = [line for line in STATUS.read_text().splitlines() if line.startswith(f"{name}:")]
    return 1024 * int(line.split()[1])


if __name__ == "__main__":
    print(beyond(sys.argv[1], int(sys.argv[2])))
