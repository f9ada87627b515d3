"""Compiled derivatives of the kernels: `python -m benchmarks.compiled [--quick] [--filter NAME]`.

For comparison: the kernel as Numba compiles it by itself, where it can, and handwritten adjoints,
compiled.  Needs Numba; code compiled before, on disk, does not count.
"""

import argparse
import copy
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from benchmarks.compiled_adjoints import ADJOINTS
from benchmarks.compiled_memory import memory_rows
from benchmarks.kernel import Kernel
from benchmarks.kernels import KERNELS
from benchmarks.measure import require_agreement
from benchmarks.modes import runs_of
from benchmarks.report import duration, geometric_mean
from benchmarks.timing import interleaved_medians
from mooncake_py import value_and_grad
from mooncake_py.compiler.native.machine.background import WORKER
from mooncake_py.compiler.native.site import Site
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.modes.forward import whole as forward
from mooncake_py.modes.reverse import whole as reverse

Extent = Literal["whole", "parts", "no"]
Run = Callable[..., Any]

# Most that the geometric means of gradient, jvp and hvp over the primal may be.
MEAN_LIMITS = {"gradient": 0.75, "jvp": 0.4, "hvp": 2.0}
# Most that gradient / hand-written compiled adjoint may be.
ADJOINT_LIMIT = 1.5
# Most that gradient / kernel compiled by Numba may be.
NUMBA_LIMIT = 6.0
# Most that the first call may take, and in a second process, in seconds.
FIRST_LIMIT = 1.5
AGAIN_LIMIT = 0.4
# Kernels whose first call is timed in a second process too.
AGAIN = "jacobi_2d", "lu", "prediction", "cavity"

# What runs functions that are compiled whole, without the context of a derivative.
WITHOUT_CONTEXT = (
    (reverse, "gradient_of_whole"),
    (forward, "push_whole"),
    (forward, "products_of_whole"),
)

CALLS = 4  # by which compiled code has run, at least once

FAST = {"fastmath": {"reassoc", "contract"}, "error_model": "numpy"}
"""Numba's options for handwritten code: sums in any order, as vectors need it."""


@dataclass(frozen=True)
class CompiledTimes:
    """Times of the compiled derivatives of one kernel at one size.

    Parameters
    ----------
    kernel : str
    size : int
    primal : float, in seconds
        Time of the kernel itself.
    ratios : dict of str to float
        Over the primal's time: of "gradient", "jvp" and "hvp", of "numba", the kernel as Numba
        compiles it, and of "adjoint", handwritten, where there are these.
    first : float, in seconds
        What the first call of the gradient takes.
    extents : tuple of {"whole", "parts", "no"}
        Whether the function was compiled whole, or loops of it or functions that it calls: for
        gradient, jvp and hvp.
    problem : str
        What went wrong, empty if nothing did.
    """

    kernel: str
    size: int
    primal: float
    ratios: dict[str, float]
    first: float
    extents: tuple[Extent, ...]
    problem: str = ""

    def over(self, other: str) -> float | None:
        """Return the time of the gradient over that of something else."""
        if "gradient" not in self.ratios or other not in self.ratios:
            return None
        return self.ratios["gradient"] / self.ratios[other]


def measure_compiled(
    kernels: Sequence[Kernel], name_has: str, quick: bool, budget: float
) -> Iterator[CompiledTimes]:
    """Yield the times of each chosen kernel, measured for about `budget` seconds each."""
    for kernel in kernels:
        if name_has in kernel.name:
            for size in kernel.sizes[:1] if quick else kernel.sizes:
                yield compiled_times(kernel, size, budget)


def compiled_times(kernel: Kernel, size: int, budget: float) -> CompiledTimes:
    """Time the compiled derivatives of a kernel, and the references, in turns.

    Raises
    ------
    ArithmeticError
        If gradients differ: times of a wrong gradient say nothing.
    """
    arguments = kernel.make_arguments(size)
    results: dict[str, Any] = {}
    runs: dict[str, Run] = {"primal": kernel.function}
    problem = ""
    plain = value_and_grad(kernel.function, argnums=kernel.argnums, compile=False)
    results["plain"] = plain(*copy.deepcopy(arguments))
    extents: tuple[Extent, ...] = ()
    start = time.perf_counter()
    try:
        ours = value_and_grad(kernel.function, argnums=kernel.argnums, compile=True)
        results["gradient"] = ours(*copy.deepcopy(arguments))
        first = time.perf_counter() - start
        runs |= runs_of(kernel, size, compile=True)
        extents = tuple(extent_of(kernel, size, runs[name]) for name in MEAN_LIMITS)
        WORKER.wait()  # for the better code
    except ArithmeticError:
        raise
    except Exception as error:  # belongs in the table like any other result
        first = time.perf_counter() - start
        problem = f"{type(error).__name__}: {error}".splitlines()[0]
    by_numba = compiled_primal(kernel, arguments)
    if by_numba is not None:
        runs["numba"] = by_numba
    if kernel.name in ADJOINTS:
        runs["adjoint"] = by_hand(ADJOINTS[kernel.name])
        results["adjoint"] = runs["adjoint"](*copy.deepcopy(arguments))
    require_agreement(f"{kernel.name} at size {size}", results)
    medians = interleaved_medians(runs, arguments, budget)
    primal = medians.pop("primal")
    return CompiledTimes(
        kernel=kernel.name,
        size=size,
        primal=primal,
        ratios={name: taken / primal for name, taken in medians.items()},
        first=first,
        extents=extents,
        problem=problem,
    )


def extent_of(kernel: Kernel, size: int, run: Run) -> Extent:
    """Run a derivative of a kernel; return how much of it was compiled, in any of some calls.

    One of the first calls runs plain code, whose time is compared.
    """
    with counted() as found:
        for _ in range(CALLS):
            run(*kernel.make_arguments(size))
    return "whole" if kernel.function.__qualname__ in found else "parts" if found else "no"


@contextmanager
def counted() -> Iterator[set[str]]:
    """Collect the names of the functions and loops that run compiled within a block."""
    found: set[str] = set()
    run = Site.run

    def watched(self: Site, ctx: Any, reading: Any, inputs: Any, given: Any) -> Any:
        y = run(self, ctx, reading, inputs, given)
        if y is not Elsewhere:
            found.add(self.name)
        return y

    def watching(derivative: Run) -> Run:
        def noted(f: Any, *args: Any, **options: Any) -> Any:
            result = derivative(f, *args, **options)
            if result is not None:
                found.add(f.__qualname__)
            return result

        return noted

    before = [getattr(module, name) for module, name in WITHOUT_CONTEXT]
    try:
        Site.run = watched
        for (module, name), derivative in zip(WITHOUT_CONTEXT, before, strict=True):
            setattr(module, name, watching(derivative))
        yield found
    finally:
        Site.run = run
        for (module, name), derivative in zip(WITHOUT_CONTEXT, before, strict=True):
            setattr(module, name, derivative)


def by_hand(function: Run) -> Run:
    """Return a function that was written to be compiled, compiled."""
    import numba

    return numba.njit(**FAST)(function)


def compiled_primal(kernel: Kernel, arguments: tuple[Any, ...]) -> Run | None:
    """Return a kernel as Numba compiles it by itself; None if it cannot, or computes otherwise."""
    import numba

    function = numba.njit(error_model="numpy")(kernel.function)
    expected = kernel.function(*copy.deepcopy(arguments))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about speed, and types that Numba is to give up
        try:
            value = function(*copy.deepcopy(arguments))
        except Exception:
            return None
    return function if abs(value - expected) <= 1e-8 * (1.0 + abs(expected)) else None


def first_again(name: str) -> float:
    """Return the time of the first call in another process, which finds the compiled code."""
    command = [sys.executable, "-m", "benchmarks.compiled", "--again", name]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout)


def first_call(kernel: Kernel) -> float:
    """Return the time of the first call of a compiled gradient, without imports."""
    warm_up()
    arguments = kernel.make_arguments(kernel.sizes[0])
    start = time.perf_counter()
    value_and_grad(kernel.function, argnums=kernel.argnums, compile=True)(*arguments)
    return time.perf_counter() - start


def warm_up() -> None:
    """Let what compiles be imported, and do what it does once."""
    value_and_grad(_sum_of_squares, compile=True)(np.ones(100))


def _sum_of_squares(x: np.ndarray) -> float:
    s = 0.0
    for v in x:
        s += v * v
    return s


HEADER = (
    f"{'compiled':<24}{'size':>7}{'primal':>11}{'numba':>8}{'gradient':>10}{'jvp':>8}{'hvp':>8}"
    f"{'grad/numba':>12}{'grad/adj':>10}{'first':>10}  extent"
)
LEGEND = (
    "numba: the kernel compiled by Numba alone.  gradient, jvp, hvp: compiled, time over the "
    "primal's.\nadj: a handwritten adjoint, compiled.  first: the first call of the "
    "gradient.\nextent: compiled whole, or parts, for gradient, jvp and hvp.  ! above its limit."
)


def row(measured: CompiledTimes) -> str:
    """Return the line of one kernel."""
    ratios = measured.ratios
    same = len(set(measured.extents)) == 1
    line = (
        f"{measured.kernel:<24}{measured.size:>7}{duration(measured.primal):>11}"
        f"{text(ratios.get('numba')):>8}{text(ratios.get('gradient')):>10}"
        f"{text(ratios.get('jvp')):>8}{text(ratios.get('hvp')):>8}"
        f"{text(measured.over('numba'), NUMBA_LIMIT):>12}"
        f"{text(measured.over('adjoint'), ADJOINT_LIMIT):>10}"
        f"{measured.first:>8.2f} s{'!' if measured.first > FIRST_LIMIT else ' '} "
        f"{measured.extents[0] if same else ', '.join(measured.extents)}"
    )
    return f"{line}\n    {measured.problem}" if measured.problem else line


def means(measurements: Sequence[CompiledTimes]) -> list[str]:
    """Return lines with the geometric means over all, and over what was compiled whole."""
    whole = [m for m in measurements if set(m.extents) == {"whole"}]
    lines = []
    for title, members in (("all", measurements), ("whole", whole)):
        found = {
            name: geometric_mean(m.ratios.get(name) for m in members)
            for name in ("numba", *MEAN_LIMITS)
        }
        gradient, forward, second = (text(found[name], MEAN_LIMITS[name]) for name in MEAN_LIMITS)
        lines.append(
            f"{'geometric mean, ' + title:<42}{text(found['numba']):>8}{gradient:>10}{forward:>8}"
            f"{second:>8}{text(geometric_mean(m.over('numba') for m in members)):>12}"
            f"{text(geometric_mean(m.over('adjoint') for m in members)):>10}"
        )
    parts = sum(m not in whole and any(e != "no" for e in m.extents) for m in measurements)
    lines.append(f"compiled of {len(measurements)}: {len(whole)} whole, {parts} in parts")
    return lines


def again_row(name: str, seconds: float) -> str:
    """Return the line of a first call in a second process."""
    mark = "!" if seconds > AGAIN_LIMIT else ""
    return f"first call in a second process, {name}: {seconds:.2f} s{mark}"


def text(ratio: float | None, limit: float = float("inf")) -> str:
    """Return a ratio with two digits that count, marked if it is above its limit."""
    if ratio is None:
        return "-"
    return f"{ratio:.{1 if ratio >= 10 else 2 if ratio >= 0.1 else 3}f}{'!' * (ratio > limit)}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the kernels and print the table as it grows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compiled", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smallest sizes, a short look at each")
    parser.add_argument("--filter", default="", metavar="NAME", help="kernels whose name has this")
    parser.add_argument("--again", metavar="NAME", help="only time the first call of this kernel")
    options = parser.parse_args(arguments)
    by_name = {kernel.name: kernel for kernel in KERNELS}
    if options.again is not None:
        print(first_call(by_name[options.again]))
        return
    measurements = []
    warm_up()
    with tempfile.TemporaryDirectory() as empty:
        os.environ["MOONCAKE_CACHE_DIR"] = empty
        print(HEADER)
        budget = 0.3 if options.quick else 1.0
        for measured in measure_compiled(KERNELS, options.filter, options.quick, budget):
            measurements.append(measured)
            print(row(measured), flush=True)
        print(*means(measurements), LEGEND, sep="\n")
        for line in memory_rows(options.filter):
            print(line, flush=True)
        for name in AGAIN:
            if options.filter in name:
                print(again_row(name, first_again(name)), flush=True)


if __name__ == "__main__":
    main()
