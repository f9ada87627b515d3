"""Functions of SciPy that compiled code knows, by the modules in which users find them.

SciPy is not imported for them: what a program calls is there already.
"""

from __future__ import annotations

import sys
from types import MethodType
from typing import Any

from mooncake_py.compiler.native.building.arguments import Reader
from mooncake_py.compiler.native.functions.densities import density_reader
from mooncake_py.compiler.native.functions.matrix_functions import MATRICES
from mooncake_py.compiler.native.functions.sums_of_exponentials import EXPONENTIALS
from mooncake_py.modules import module_of

__all__ = ["is_density", "is_of_distribution", "scipy_reader"]

FUNCTIONS: dict[str, dict[str, Reader]] = {
    "scipy.special": EXPONENTIALS, "scipy.linalg": MATRICES,
}  # fmt: skip


def scipy_reader(f: Any) -> Reader | None:
    """Return the reader of a function of SciPy, None if there is none."""
    name = getattr(f, "__name__", "")
    if not (getattr(f, "__module__", None) or "").startswith("scipy."):
        return None
    for module, table in FUNCTIONS.items():
        if name in table and getattr(sys.modules.get(module), name, None) is f:
            return table[name]
    return density_reader(f)


METHODS = frozenset({
    "pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf", "pmf", "logpmf",
})  # fmt: skip


def is_of_distribution(f: Any) -> bool:
    """Return True for a density or such of a distribution of `scipy.stats`."""
    name = getattr(f, "__name__", None)
    return type(f) is MethodType and name in METHODS and is_distribution(f.__self__)


def is_distribution(o: Any) -> bool:
    """Return True for a distribution by its name in `scipy.stats`."""
    if not module_of(type(o)).startswith("scipy.stats."):
        return False
    return getattr(sys.modules.get("scipy.stats"), str(getattr(o, "name", None)), None) is o


def is_density(o: Any, name: str) -> bool:
    """Return True for a method of a distribution that compiled code reads, or calls."""
    return name in METHODS and is_distribution(o)
