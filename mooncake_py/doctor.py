"""A report for maintainers: versions, settings, and whether each mode works here.

    python -m mooncake_py.doctor                 all of it
    python -m mooncake_py.doctor --no-compile    without the check that compiles, which takes longer

It exits with code 1 if a check fails.  Packages that are optional are not imported, except
llvmlite by the checks that compile.
"""

from __future__ import annotations

import argparse
import linecache
import os
import platform
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import mooncake_py
from mooncake_py import cache
from mooncake_py.checkpointing import checkpointed
from mooncake_py.doctor_regions import REGIONS, differences
from mooncake_py.errors import MooncakeWarning
from mooncake_py.higher_order import hvp
from mooncake_py.interface import grad, jvp
from mooncake_py.modes.reverse.settings import compile_mode
from mooncake_py.reflection.compiled import compiled_outcomes
from mooncake_py.runtime.compilation import INSTALL, problem

__all__ = ["main"]

PACKAGES = (
    "scipy", "numba", "llvmlite", "jax", "torch", "mpi4py", "pandas", "xarray", "scikit-learn",
    "statsmodels", "matplotlib", "tqdm", "joblib", "dask", "threadpoolctl", "pytest",
)  # fmt: skip
THREADS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS",
)  # fmt: skip
STEPS = 6


class Outcome(NamedTuple):
    """The outcome of a check: no error if all is well."""

    name: str
    seconds: float
    error: Exception | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report; return 0 if all checks pass, else 1."""
    parser = argparse.ArgumentParser(
        prog="python -m mooncake_py.doctor",
        description="Print the versions and try each mode.",
    )
    parser.add_argument("--no-compile", action="store_true", help="skip checks that compile")
    skips_compiled = parser.parse_args(arguments).no_compile
    for title, describe in DESCRIPTIONS.items():
        print(f"{title:<14}{described(describe)}")
    print()
    outcomes = []
    for name, check in CHECKS.items():
        if name in COMPILED and (skips_compiled or problem()):
            reason = "by --no-compile" if skips_compiled else f"{problem()}; {INSTALL}"
            print(f"{name:<14}left out: {reason}")
            continue
        outcome = checked(name, check)
        outcomes.append(outcome)
        print(f"{name:<14}{in_words(outcome)}", flush=True)
    failed = [outcome.error for outcome in outcomes if outcome.error is not None]
    for error in failed:
        print("", "".join(traceback.format_exception(error)), sep="\n", end="")
    return int(bool(failed))


# Versions and settings.


def described(describe: Callable[[], str]) -> str:
    """Return a description, or why there is none."""
    try:
        return describe()
    except Exception as error:
        return f"unknown: {type(error).__name__}: {error}"


def version_of(package: str) -> str | None:
    """Return the version of a package, None where it is not installed; nothing is imported."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
    except Exception as error:
        return f"(unreadable: {type(error).__name__})"


def with_home(path: str | Path) -> str:
    """Return a path with ``~`` for the home directory."""
    return str(path).replace(str(Path.home()), "~", 1)


def this_package() -> str:
    """Return the version of this package and where it is."""
    return f"{mooncake_py.__version__}, {with_home(Path(mooncake_py.__file__).parent)}"


def python() -> str:
    """Return the version of Python and where it is."""
    return f"{platform.python_version()} ({platform.python_implementation()}), " + with_home(
        sys.executable
    )


def machine() -> str:
    """Return the platform and how many cores it has."""
    return f"{platform.platform()}, {os.cpu_count()} cores"


def packages() -> str:
    """Return the optional packages that are installed."""
    found = [(name, version_of(name)) for name in PACKAGES]
    return ", ".join(f"{name} {version}" for name, version in found if version) or "none"


def missing() -> str:
    """Return the optional packages that are not installed."""
    return ", ".join(name for name in PACKAGES if version_of(name) is None) or "none"


def blas() -> str:
    """Return the library of linear algebra of NumPy."""
    built: Any = np.show_config(mode="dicts")
    found = built["Build Dependencies"]["blas"]
    return f"{found['name']} {found['version']}"


def threads() -> str:
    """Return how many threads libraries of linear algebra use, or what the environment says."""
    if version_of("threadpoolctl") is None:
        given = ", ".join(f"{name}={os.environ[name]}" for name in THREADS if name in os.environ)
        return f"{given or 'not limited by the environment'} (with threadpoolctl: the number)"
    from threadpoolctl import threadpool_info

    pools = [(pool["internal_api"], pool["num_threads"]) for pool in threadpool_info()]
    return ", ".join(f"{name} {count}" for name, count in pools) or "none"


def settings() -> str:
    """Return the environment variables of this package."""
    given = [f"{k}={with_home(v)}" for k, v in os.environ.items() if k.startswith("MOONCAKE_")]
    return ", ".join(sorted(given)) or "none"


DESCRIPTIONS: dict[str, Callable[[], str]] = {
    "mooncake_py": this_package,
    "Python": python,
    "platform": machine,
    "NumPy": lambda: np.__version__,
    "packages": packages,
    "missing": missing,
    "BLAS": blas,
    "threads": threads,
    "settings": settings,
    "cache": lambda: with_home(cache.description()),
}


# Whether it works: heat that flows along a rod, whose energy is a quadratic form.

PROGRAM: str = """\
def energy(u, steps):
    for _ in range(steps):
        u[1:-1] += 0.25 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    total = 0.0
    for i in range(len(u)):
        total += u[i] * u[i]
    return total


def energy_in_slots(u, steps):
    for _ in checkpointed(range(steps), slots=2):
        u[1:-1] += 0.25 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return (u * u).sum()
"""
"""As text, since functions that stand in files of this package are not compiled."""


def as_user() -> dict[str, Any]:
    """Return the functions of the program as if they were the user's."""
    file = "<rod>"
    linecache.cache[file] = len(PROGRAM), None, PROGRAM.splitlines(keepends=True), file
    scope: dict[str, Any] = {"__name__": "rod", "checkpointed": checkpointed}
    exec(compile(PROGRAM, file, "exec"), scope)
    return scope


SCOPE = as_user()
energy, energy_in_slots = SCOPE["energy"], SCOPE["energy_in_slots"]


def quadratic_form(size: int) -> Any:
    """Return the Hessian of the energy, by products of matrices."""
    step = np.eye(size)
    for i in range(1, size - 1):
        step[i, i - 1 : i + 2] = 0.25, 0.5, 0.25
    propagator = np.linalg.matrix_power(step, STEPS)
    return 2.0 * propagator.T @ propagator


U = np.linspace(0.0, 1.0, 9) ** 2
V = np.cos(np.arange(9.0))


def gradient(
    f: Callable[..., Any], *, debug: bool = False, compile: bool = False
) -> tuple[Any, Any]:
    """Return the gradient that is found, and the one expected."""
    derivative = grad(f, debug=debug, compile=compile)
    return derivative(U, STEPS), quadratic_form(len(U)) @ U


def slope() -> tuple[Any, Any]:
    """Return the derivative along a direction that is found, and the one expected."""
    found = jvp(energy, (U, STEPS), (V, None), compile=False)[1]
    return found, V @ quadratic_form(len(U)) @ U


def compiled_gradient() -> tuple[Any, Any]:
    """Return the gradient that is found, and the one expected; raise if it was not compiled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MooncakeWarning)  # that it is not compiled
        found = gradient(energy, compile=True)
    with compile_mode():
        lines = [str(outcome) for outcome in compiled_outcomes([energy])]
    if not lines or not all(line.endswith(": compiled") for line in lines):
        raise RuntimeError("; ".join(lines) or "nothing was compiled")
    return found


def regions() -> tuple[Any, Any]:
    """Return how many functions LLVM compiles; raise if it is not all of them."""
    wrong = differences()
    if wrong:
        raise RuntimeError("\n".join(wrong))
    return len(REGIONS), len(REGIONS)


COMPILED = ("compiled", "LLVM")
"""Checks that compile."""

CHECKS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "reverse": lambda: gradient(energy),
    "forward": slope,
    "hvp": lambda: (hvp(energy, (U, STEPS), V, compile=False), quadratic_form(len(U)) @ V),
    "checkpointed": lambda: gradient(energy_in_slots),
    "debug": lambda: gradient(energy, debug=True),
    "compiled": compiled_gradient,
    "LLVM": regions,
}
"""By the name of a mode, what returns a derivative that it finds, and the one expected."""


def checked(name: str, check: Callable[[], tuple[Any, Any]]) -> Outcome:
    """Run a check."""
    begun = perf_counter()
    before = U.copy()
    error = None
    try:
        found, expected = check()
        np.testing.assert_array_equal(U, before, err_msg="the argument was not restored")
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    except Exception as raised:
        error = raised
    finally:
        U[:] = before
    return Outcome(name, perf_counter() - begun, error)


def in_words(outcome: Outcome) -> str:
    """Return in a line what a check has found."""
    if outcome.error is None:
        return f"ok, {1e3 * outcome.seconds:.0f} ms"
    first = next(iter(str(outcome.error).strip().splitlines()), "")
    return f"FAILED: {type(outcome.error).__name__}: {first}"


if __name__ == "__main__":
    sys.exit(main())
