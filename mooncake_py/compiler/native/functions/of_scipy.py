"""Functions of SciPy that compiled code knows, by the modules in which users find them.

SciPy is not imported for them: what a program calls is there already.
"""

from __future__ import annotations

import sys
from typing import Any

from mooncake_py.compiler.native.building.arguments import Reader
from mooncake_py.compiler.native.functions.densities import density_reader
from mooncake_py.compiler.native.functions.matrix_functions import MATRICES
from mooncake_py.compiler.native.functions.sums_of_exponentials import EXPONENTIALS
from mooncake_py.modules import module_of

__all__ = ["is_density", "scipy_reader"]

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


def is_density(o: Any, name: str) -> bool:
    """Return True for a method of a distribution that compiled code knows."""
    return module_of(type(o)).startswith("scipy.stats.") and (
        density_reader(getattr(o, name, None)) is not None
    )
