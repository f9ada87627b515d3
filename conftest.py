"""Settings of the whole test run, and what cannot be collected where an extra is missing."""

import gc
import os
from collections.abc import Generator
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

import pytest
from _pytest.doctest import DoctestModule

NEEDS = {
    "scipy": [
        "mooncake_py/integrations/scipy/*",
        "mooncake_py/sparse/derivatives.py",
        "tests/integrations/scipy/*",
        "tests/language/test_foreign_operands.py",
        "tests/programs/brought/*",
        "tests/rules/cases/scipy/*",
        "tests/rules/foreign/solvers.py",
        "tests/rules/test_stand_ins.py",
        "tests/solvers/test_objects_of_callbacks.py",
        "tests/solvers/test_state*.py",
        "tests/testing/test_rule_where_there_is_no_derivative.py",
        "docs/scipy.md",
        "docs/sparse.md",
        "docs/quick_start.md",
        "docs/solvers.md",
        "docs/optimizers.md",
        "docs/likelihoods.md",
        "docs/events.md",
        "docs/language.md",
        "docs/tutorials/gaussian_process.md",
        "docs/tutorials/million.md",
        "docs/tutorials/package.md",
    ],
    "filterpy": ["docs/tutorials/package.md"],
    "networkx": ["mooncake_py/integrations/networkx.py"],
    "llvmlite": ["docs/cheat_sheet.md", "docs/compiled.md"],
    "numba": ["docs/numba.md"],
    "jax": ["mooncake_py/integrations/jax/*", "docs/frameworks.md"],
    "torch": ["mooncake_py/integrations/torch/*", "docs/frameworks.md"],
    "pytensor": ["mooncake_py/integrations/pytensor.py", "docs/pymc.md"],
}

collect_ignore_glob = [
    "tests/packages/cases/*",  # read by a test of each
    # These import MPI, which joins the process to others.
    "mooncake_py/integrations/mpi4py/*",
    "tests/integrations/mpi4py/on_ranks/*",
    *(path for package, paths in NEEDS.items() if not find_spec(package) for path in paths),
]

# The matrices are small: threads of BLAS only wait for each other.  NumPy reads it when imported.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that rewrite golden files and that select a share of the tests."""
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files")
    parser.addoption("--share", metavar="K/N", help="run share K of N of the tests, by their names")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples only in modules that have some."""
    found = yield
    if file_path.suffix != ".py" or ">>> " in file_path.read_text(encoding="utf-8"):
        return found
    return [part for part in found if not isinstance(part, DoctestModule)]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select the tests of one share: a test stays in its share when others come and go."""
    share: str | None = config.getoption("--share")
    if share is None:
        return
    k, n = map(int, share.split("/"))
    if not 1 <= k <= n:
        raise pytest.UsageError(f"--share is K/N with K from 1 to N, not {share}")
    left_out = [item for item in items if crc32(item.nodeid.encode()) % n != k - 1]
    items[:] = [item for item in items if crc32(item.nodeid.encode()) % n == k - 1]
    config.hook.pytest_deselected(items=left_out)


def pytest_configure() -> None:
    """Collect tests without the garbage collector, which would find nothing."""
    gc.disable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, None, None]:
    """Keep what stays of a file's tests, in caches, out of the way of the next file's too.

    Tests that collect garbage would look through all that those before them have left.
    """
    yield
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        gc.freeze()


def pytest_collection_finish() -> None:
    """Keep what was collected out of the garbage collector's way: it stays to the end.

    After that it looks rarely at what the tests leave, of which most stays in caches.
    """
    gc.freeze()
    gc.set_threshold(10_000, 50, 50)
    gc.enable()
