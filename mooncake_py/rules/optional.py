"""Rules for optional modules, loaded when the user has imported the module.

SciPy need not be installed; `numpy.random` and `statistics` would add half to the time that
importing this package takes.  This module imports none of them.  Callers of the registry first call
:func:`load_imported`, which costs almost nothing if no further module was imported.
"""

from __future__ import annotations

import contextlib
import importlib
import sys

from mooncake_py.rules import local
from mooncake_py.rules.steady import hold_functions

__all__ = ["MODULES", "import_installed", "load_imported"]

# From a module that users import to the one with its rules.
MODULES = {
    "numpy.polynomial": "mooncake_py.rules.polynomials",  # NumPy itself leaves it out
    "numpy.fft": "mooncake_py.rules.fft",
    "numpy.random": "mooncake_py.rules.draws",
    "random": "mooncake_py.rules.draws",
    "statistics": "mooncake_py.rules.averages",
    "networkx.utils.decorators": "mooncake_py.rules.networkx",
    "mpi4py.MPI": "mooncake_py.distributed.rules",
} | {
    f"scipy.{part}": f"mooncake_py.rules.scipy.{part.replace('.', '_')}"
    for part in (
        "fft", "interpolate", "linalg", "ndimage", "signal", "sparse",
        "spatial", "spatial.distance", "spatial.transform", "special", "stats",
    )
} | {
    f"scipy.{part}": f"mooncake_py.solvers.scipy.{part.replace('.', '_')}"
    for part in ("integrate", "optimize", "sparse.linalg")
}  # fmt: skip
_waiting = dict(MODULES)
_seen = 0


def import_installed() -> None:
    """Import the modules that there are rules for, as far as they are installed.

    But not MPI, whose import joins this process to others.
    """
    for module in MODULES:
        if module.startswith("mpi4py"):
            continue
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(module)


def load_imported() -> None:
    """Read the rules for all modules that the program has imported since the last call."""
    global _seen
    count = len(sys.modules)
    if count == _seen:
        return
    for module in [module for module in list(_waiting) if module in sys.modules]:
        with local.using(None):  # its rules hold everywhere, wherever they are asked for first
            importlib.import_module(MODULES[module])
        hold_functions()
        _waiting.pop(module, None)  # only now: another thread waits for the import too
    _seen = count  # not those that other threads have imported meanwhile
