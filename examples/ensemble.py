"""The gradient of a sum over 200 independent runs, in several processes: by joblib and by Dask.

A chimney stands upwind of a town.  The wind is random: what reaches the town is the mean over
many runs, each with a wind of its own.  How does it change with what the chimney emits, with how
the smoke spreads, and with the mean wind?

    python examples/ensemble.py            in this process, by joblib, and by Dask
    python examples/ensemble.py --quick    of fewer runs

joblib and Dask are installed by ``pip install ".[ensemble]"``; a missing one is skipped.
"""

import argparse
import importlib.util
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from smoke import smoke_in_town

from mooncake_py import value_and_grad

Run = tuple[float, np.ndarray]
# A worker that is closed may complain of a heartbeat that came too late.
QUIET: dict[str, Any] = {"dashboard_address": None, "silence_logs": logging.CRITICAL}

smoke_and_gradient = value_and_grad(smoke_in_town)


def mean(runs: list[Run]) -> Run:
    """Return the means over runs, added up in their order: the same in every process."""
    value, gradient = 0.0, np.zeros(3)
    for one, slope in runs:
        value += one
        gradient += slope
    return value / len(runs), gradient / len(runs)


def here(params: np.ndarray, seeds: range) -> list[Run]:
    """Run in this process."""
    return [smoke_and_gradient(params, seed) for seed in seeds]


def by_joblib(params: np.ndarray, seeds: range, workers: int) -> list[Run]:
    """Run in processes of joblib, which returns results in the order of the calls."""
    from joblib import Parallel, delayed

    runs: Any = Parallel(workers)(delayed(smoke_and_gradient)(params, seed) for seed in seeds)
    return runs


def by_dask(params: np.ndarray, seeds: range, workers: int) -> list[Run]:
    """Run on a cluster of Dask's, here on this machine; `gather` returns results in order."""
    from dask.distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, **QUIET)
    with cluster, Client(cluster) as client:
        futures = client.map(smoke_and_gradient, [params] * len(seeds), seeds)
        runs: Any = client.gather(futures)
    return runs


def in_chunks(params: np.ndarray, seeds: range, workers: int) -> list[Run]:
    """Run by joblib, one call for a quarter of what a worker does: memory is kept in between."""
    from joblib import Parallel, delayed

    size = max(1, len(seeds) // (4 * workers))
    chunks = [seeds[start : start + size] for start in range(0, len(seeds), size)]
    parts: Any = Parallel(workers)(delayed(run_chunk)(params, chunk) for chunk in chunks)
    return [run for part in parts for run in part]


def run_chunk(params: np.ndarray, seeds: range) -> list[Run]:
    """Run several seeds in one process with a derivative that is prepared there."""
    step = smoke_and_gradient.prepare(params, seeds[0])
    runs = []
    for seed in seeds:
        value, gradient = step(params, seed)
        runs.append((value, gradient.copy()))  # the next call overwrites it
    return runs


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute the mean and its gradient in each way, and compare all runs to the bit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20 runs instead of 200")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(arguments)
    params, seeds = np.array([1.0, 0.3, 0.2]), range(20 if options.quick else 200)
    here(params, seeds[:1])  # what only the first call does
    expected = timed("in this process", here, params, seeds)
    value, gradient = mean(expected)
    print(f"smoke in the town {value:.4f}")
    for name, slope in zip(("rate", "diffusivity", "mean wind"), gradient, strict=True):
        print(f"    its derivative in {name:12} {slope:+.4f}")
    for name, way in WAYS.items():
        if importlib.util.find_spec(name.partition(",")[0]) is None:
            print(f"{name}: not installed")
            continue
        runs = timed(name, way, params, seeds, options.workers)
        print(f"    equal to the bit: {'yes' if same(runs, expected) else 'NO'}")


WAYS: dict[str, Callable[..., list[Run]]] = {
    "joblib": by_joblib,
    "joblib, in chunks": in_chunks,
    "distributed": by_dask,
}


def same(runs: list[Run], expected: list[Run]) -> bool:
    """Return whether all values and gradients are equal."""
    pairs = zip(runs, expected, strict=True)
    return all(a == b and np.array_equal(da, db) for (a, da), (b, db) in pairs)


def timed(name: str, way: Callable[..., list[Run]], *args: Any) -> list[Run]:
    """Call a function, print the time with that of starting processes, return the runs."""
    start = time.perf_counter()
    runs = way(*args)
    print(f"{name}: {len(runs)} runs in {time.perf_counter() - start:.2f} s")
    return runs


if __name__ == "__main__":
    main()
