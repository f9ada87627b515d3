"""The modules in which classes and functions say that they were defined, and what these tell."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np

__all__ = [
    "DISPATCHER", "DRAWING", "SOLVERS", "draws_numbers", "held_by_module", "is_of_solvers",
    "module_of", "package_of",
]  # fmt: skip

DISPATCHER = type(np.sum)
"""The class of the functions of NumPy that ask ``__array_function__``."""
GENERATORS = frozenset({"BitGenerator", "Generator", "Random", "RandomState", "SeedSequence"})
"""The classes of NumPy and Python that draw random numbers, or make what does."""
NAMES = """
    basinhopping bootstrap check_grad clarkson_woodruff_transform differential_evolution
    directed_hausdorff dual_annealing dunnett goodness_of_fit kmeans kmeans2 monte_carlo_test
    multiscale_graphcorr permutation_test qmc qmc_quad quadratic_assignment rand random
    random_array resample rvs sobol_indices svds
"""
DRAWING = frozenset(NAMES.split())
"""Names of modules and functions that may draw from a generator that nothing refers to."""
SOLVERS = ["mooncake_py.solvers."]
"""Packages of functions between a solver and the user's function; integrations add theirs."""
MAKERS = frozenset({"abc", "types"})
"""Modules whose name a class has that a program lets them make, as by `type` of an abstract one."""


def module_of(value: Any) -> str:
    """Return the name of the module of a class or function; "" if it names none.

    A program may set ``__module__`` to anything, and ``np.ctypeslib.as_ctypes`` sets it to None.
    Python names the module of the code that makes a class: of an abstract one `abc`, which is "".
    """
    found = getattr(value, "__module__", None)
    if type(found) is not str or (found in MAKERS and is_made_by(found, value)):
        return ""
    return found


def is_made_by(maker: str, value: Any) -> bool:
    """Return whether a class is one that code of a module has made for a program."""
    is_class = issubclass(type(value), type)
    return is_class and held_by_module(sys.modules.get(maker), value.__name__) is not value


def package_of(value: Any) -> str:
    """Return the name of the package that the module of a class or function is in."""
    return module_of(value).partition(".")[0]


def is_of_solvers(f: Any) -> bool:
    """Return whether a function stands between a solver and the user's function, which it calls."""
    return module_of(f).startswith(tuple(SOLVERS))


def held_by_module(module: Any, name: str) -> Any:
    """Return a module's attribute, None if it has none; no code of the program runs."""
    return module.__dict__.get(name) if issubclass(type(module), ModuleType) else None


def draws_numbers(cls: type) -> bool:
    """Return whether instances of a class draw random numbers, without importing what defines it.

    `numpy.random` and `random` take longer to import than most of this package.
    """
    for base in cls.__mro__:
        if base.__name__ in GENERATORS:
            module = module_of(base)
            if module == "random" or module.startswith("numpy.random"):
                return True
    return False
