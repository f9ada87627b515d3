"""The memory that the C library keeps when arrays are freed."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from mooncake_py.runtime.heap import keep_freed_memory

PROGRAM = """
import resource, sys
import numpy as np
from mooncake_py import grad

def arrays():
    return [np.ones(1 << 16) for _ in range(16)]

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        arrays()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

arrays()
before = faults()
grad(np.sum)(np.ones(3))
arrays()
print(before, faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_arrays_that_are_freed_are_not_touched_anew_after_a_derivative():
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MALLOC", "GLIBC"))}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    before, after = map(int, run.stdout.split())
    assert before > 10_000 > 100 > after


def test_another_c_library_is_left_alone(monkeypatch):
    def unknown(name):
        raise OSError

    monkeypatch.setattr("ctypes.CDLL", unknown)
    keep_freed_memory()
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setattr("ctypes.CDLL", None)
    keep_freed_memory()
