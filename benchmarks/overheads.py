"""What is paid once: deriving a function at its first call, importing the package."""

import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mooncake_py import value_and_grad

DERIVE_LIMIT = 10e-3
IMPORT_LIMIT = 60e-3

# Ten such blocks make the function: reads, writes, calls and branches as in ordinary code.
_FIVE_LINES = """\
    a = np.sin(x[{k}:]) * x[{k}]
    x[{k}] += a[0] * 0.5
    if {k} % 2 == 0:
        a = a - np.exp(-a)
    total = total + np.sum(a * a)
"""


def derive_time(rounds: int) -> float:
    """Return the median time, in seconds, by which the first call exceeds a later one.

    Each round derives a new function of fifty lines, since a rule is derived only once.
    """
    x = np.linspace(0.1, 1.0, 20)
    with tempfile.TemporaryDirectory() as folder:
        return statistics.median(
            _first_call_excess(Path(folder) / f"fifty_lines_{k}.py", x) for k in range(rounds)
        )


def _first_call_excess(path: Path, x: np.ndarray) -> float:
    body = "".join(_FIVE_LINES.format(k=k) for k in range(10))
    path.write_text(
        f"import numpy as np\n\ndef fifty_lines(x):\n    total = 0.0\n{body}    return total\n"
    )
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    gradient = value_and_grad(module.fifty_lines)
    first = _seconds(gradient, x)
    later = statistics.median(_seconds(gradient, x) for _ in range(5))
    return first - later


def _seconds(gradient: Callable[..., Any], x: np.ndarray) -> float:
    start = time.perf_counter()
    gradient(x)
    return time.perf_counter() - start


def import_time(rounds: int) -> float:
    """Return the median time, in seconds, that `import mooncake_py` takes once NumPy is in.

    Bytecode is cached, as after any installation; one run before the counted ones fills the cache.
    """
    program = (
        "import time, numpy; start = time.perf_counter(); import mooncake_py; "
        "print(time.perf_counter() - start)"
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
    return statistics.median(times[1:])
