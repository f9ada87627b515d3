"""What is paid once: deriving a function at its first call, importing the package."""

import importlib.util
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import solver
from mooncake_py import value_and_grad
from mooncake_py.compiler.printing import text
from mooncake_py.compiler.statements import array_forms

DERIVE_LIMIT, NEW_LIMIT = 20e-3, 30e-3
IMPORT_LIMIT = 50e-3


def derive_time(rounds: int, new_texts: bool = False) -> float:
    """Return the least processor time, in seconds, by which a first call exceeds a later one.

    Each round derives a copy of the solver of a hundred lines, since a rule is derived only once.
    The first round, which also derives what is common to all programs, does not count.

    Parameters
    ----------
    rounds : int
    new_texts : bool
        Whether the forms of its statements are forgotten before each round, as in a program that
        has none like them; else they are those of the first one.
    """
    u, v = 0.1 * np.random.default_rng(0).standard_normal((2, 8, 8))
    with tempfile.TemporaryDirectory() as folder:
        copies = [Path(folder) / f"solver_{k}.py" for k in range(rounds + 1)]
        return min([_first_call_excess(path, u, v, new_texts) for path in copies][1:])


def _first_call_excess(path: Path, u: np.ndarray, v: np.ndarray, new_texts: bool) -> float:
    if new_texts:
        array_forms.printed.cache_clear()
        text.forget()
    shutil.copyfile(solver.__file__, path)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    gradient = value_and_grad(module.cavity_flow)
    first = _seconds(gradient, u, v)
    later = statistics.median(_seconds(gradient, u, v) for _ in range(5))
    return first - later


def _seconds(gradient: Callable[..., Any], *args: np.ndarray) -> float:
    start = time.process_time()
    gradient(*args)
    return time.process_time() - start


def import_time(rounds: int) -> float:
    """Return the least processor time, in seconds, of `import mooncake_py` once NumPy is in.

    Bytecode is cached, as after any installation; one run before the counted ones fills the cache.
    """
    program = (
        "import time, numpy; start = time.process_time(); import mooncake_py; "
        "print(time.process_time() - start)"
    )
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        times = [
            float(
                subprocess.run(
                    [sys.executable, "-c", program],
                    check=True,
                    capture_output=True,
                    env=environment,
                ).stdout
            )
            for _ in range(rounds + 1)
        ]
    return min(times[1:])
