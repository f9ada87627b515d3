"""Gradients against JAX and autograd: `python -m benchmarks.peers [--quick] [--write]`.

JAX runs the kernels as they were rewritten for it, jitted; autograd the kernels unchanged and,
where there is one, a functional variant.  Needs the extras `bench`, `compile` and `jax`; missing
ones are skipped.  With `--write` the tables in the documentation and the picture are regenerated
(which needs matplotlib).
"""

import argparse
import copy
import importlib.util
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks import compiled, jax_peer
from benchmarks.autograd_peer import candidate_peers
from benchmarks.kernel import Kernel
from benchmarks.kernels import KERNELS
from benchmarks.measure import require_agreement
from benchmarks.timing import interleaved_medians
from mooncake_py import value_and_grad
from mooncake_py.compiler.native.machine.background import WORKER

Run = Callable[..., Any]

PROGRAMS = ("compiled", "plain", "jax", "autograd", "functional")
"""What computes gradients: ours with `compile=True` and without, JAX, and autograd on the kernel
unchanged and on a functional variant."""


@dataclass
class PeerTimes:
    """Times of the gradients of one kernel at one size.

    Parameters
    ----------
    kernel : str
    size : int
    primal : float, in seconds
        Time of the NumPy function.
    ratios : dict of str to float
        Of those of `PROGRAMS` that can do it, over the primal's time.
    refused : dict of str to str
        Of those that cannot, the error's name, or "WRONG" for a gradient that is wrong.
    first : dict of str to float, in seconds
        Process time of the first call, "jax", and "compiled" if anything was compiled.
    rewritten : tuple of (int, int)
        How many lines of the kernel its JAX version does not have, and how many it has.
    """

    kernel: str
    size: int
    primal: float = 0.0
    ratios: dict[str, float] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    first: dict[str, float] = field(default_factory=dict)
    rewritten: tuple[int, int] = (0, 0)


def measure_peers(
    kernels: Sequence[Kernel], name_has: str, quick: bool, budget: float
) -> Iterator[PeerTimes]:
    """Yield the times of each chosen kernel, measured for about `budget` seconds each."""
    for kernel in kernels:
        if name_has in kernel.name:
            for size in kernel.sizes[:1] if quick else kernel.sizes:
                yield peer_times(kernel, size, budget)


def peer_times(kernel: Kernel, size: int, budget: float) -> PeerTimes:
    """Time all gradients of a kernel in turns.

    Raises
    ------
    ArithmeticError
        If a gradient of ours, or JAX's of a kernel rewritten by us, is wrong.
    """
    arguments = kernel.make_arguments(size)
    found = PeerTimes(kernel.name, size)
    plain = value_and_grad(kernel.function, argnums=kernel.argnums, compile=False)
    expected = plain(*copy.deepcopy(arguments))
    runs: dict[str, Run] = {"primal": kernel.function, "plain": plain}
    what = f"{kernel.name} at size {size}"

    def agrees(name: str, result: Any) -> None:
        require_agreement(what, {"plain": expected, name: result})

    for name, run in compiled_runs(kernel, arguments).items():
        with compiled.counted() as functions:
            start = time.process_time()
            result = run(*copy.deepcopy(arguments))
            taken = time.process_time() - start
        if functions or name == "jax":
            found.first[name] = taken
        if name == "jax":
            found.rewritten = jax_peer.rewritten_lines(kernel)
            result = jax_peer.as_given(result, kernel, arguments)
        agrees(name, result)
        runs[name] = run
    WORKER.wait()  # for the better code
    # Timed by themselves: what they leave for the garbage collector slows down all others.
    peers: dict[str, Run] = {}
    for peer in candidate_peers(kernel):
        name = "functional" if peer.modified else "autograd"
        try:
            agrees(name, peer.gradient(*copy.deepcopy(arguments)))
        except ArithmeticError:
            found.refused[name] = "WRONG"
        except Exception as error:  # belongs in the table like any other result
            found.refused[name] = type(error).__name__
        else:
            peers[name] = peer.gradient
    medians = interleaved_medians(runs, arguments, budget, warm=True)
    found.primal = medians["primal"]
    found.ratios = over_primal(medians)
    if peers:
        alone = interleaved_medians({"primal": kernel.function, **peers}, arguments, 0.0, warm=True)
        found.ratios |= over_primal(alone)
    return found


def over_primal(medians: dict[str, float]) -> dict[str, float]:
    """Return the times but the primal's over the primal's."""
    return {n: taken / medians["primal"] for n, taken in medians.items() if n != "primal"}


def compiled_runs(kernel: Kernel, arguments: tuple[Any, ...]) -> dict[str, Run]:
    """Return the gradients that are compiled in the first call, none of which has run."""
    runs: dict[str, Run] = {}
    if importlib.util.find_spec("llvmlite") is not None:
        runs["compiled"] = value_and_grad(kernel.function, argnums=kernel.argnums, compile=True)
    if jax_peer.is_installed():
        runs["jax"] = jax_peer.jax_gradient(kernel, arguments)
    return runs


def warm_up() -> None:
    """Import what compiles, and let it do what it does once; JAX is to compute in float64."""
    if importlib.util.find_spec("llvmlite") is not None:
        compiled.warm_up()
    if jax_peer.is_installed():
        jax_peer.use_float64()


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or read what was measured; print the table, and write the documentation."""
    from benchmarks import peers_documents, peers_report

    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smallest sizes, a short look at each")
    parser.add_argument("--filter", default="", metavar="NAME", help="kernels whose name has this")
    parser.add_argument("--write", action="store_true", help="write README, docs and picture")
    parser.add_argument("--read", action="store_true", help="what was written before, not measured")
    options = parser.parse_args(arguments)
    if options.read:
        conditions, measured = peers_documents.read()
    else:
        conditions, measured = peers_report.conditions(), []
        print(conditions, peers_report.HEADER, sep="\n")
        with tempfile.TemporaryDirectory() as empty, warnings.catch_warnings():
            os.environ["MOONCAKE_CACHE_DIR"] = empty
            warnings.simplefilter("ignore")  # autograd's, and of kernels that are not compiled
            warm_up()
            budget = 0.3 if options.quick else 1.0
            for times in measure_peers(KERNELS, options.filter, options.quick, budget):
                measured.append(times)
                print(peers_report.row(times), flush=True)
    print(*peers_report.means(measured), peers_report.LEGEND, sep="\n")
    if options.write:
        peers_documents.write(conditions, measured)


if __name__ == "__main__":
    main()
