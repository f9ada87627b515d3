"""Peak memory of gradients beyond the primal's, against the bytes that an adjoint needs.

Counted, for each kernel, are arrays that must be in memory at the fullest moment: operands that
the adjoint reads and nobody else keeps, what was overwritten and must return, and the cotangents
of the arrays that live on.  The temporaries of a step are not counted: the primal has some too.
"""

import copy
import gc
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.kernels import KERNELS
from mooncake_py import value_and_grad

# Most that measured / counted may be.
MEMORY_LIMIT = 1.3


@dataclass(frozen=True)
class Memory:
    """A kernel at one size, and how many bytes its adjoint needs.

    Parameters
    ----------
    kernel : str
        One of the kernels that are timed.
    size : int
    needed : callable
        From the arguments to the number of bytes.
    """

    kernel: str
    size: int
    needed: Callable[..., int]


def jacobi_2d(u: Any, steps: int) -> int:
    """Count for a linear stencil: no operand is read."""
    overwritten = u[1:-1, 1:-1].nbytes  # once: between two steps the adjoint reads nothing of u
    return overwritten + u.nbytes  # du


def leapfrog_waves(ez: Any, speed: Any, source: Any) -> int:
    """Count for three fields that are stepped in turns, linear except in the speed."""
    curls = len(source) * speed.nbytes  # the other factor of each product with the speed
    overwritten = ez[1:-1, 1:-1].nbytes  # hx and hy are the function's own, and begin with zeros
    # Of ez, hx, hy, speed and the source.
    cotangents = ez.nbytes + 2 * ez[1:].nbytes + speed.nbytes + source.nbytes
    return curls + overwritten + cotangents


def recurrence_rows(x: Any, decay: Any) -> int:
    """Count for rows in place: both factors stay in the arrays that they are read from."""
    return x[1:].nbytes + x.nbytes + decay.nbytes  # overwritten; dx; ddecay


def dense_layers(weights: Any, biases: Any, x: Any, target: Any) -> int:
    """Count for a network, in which the outputs go as the gradients of the weights come."""
    outputs = x.nbytes * len(weights)
    gradients = sum(w.nbytes + b.nbytes for w, b in zip(weights, biases, strict=True))
    first = weights[0].nbytes + biases[0].nbytes
    at_turn = outputs + target.nbytes  # the error, a factor of its square
    at_last = x.nbytes + gradients - first  # before the first layer: its output, the gradients
    return max(at_turn, at_last, gradients)


CASES = (
    Memory("jacobi_2d", 400, jacobi_2d),
    Memory("leapfrog_waves", 300, leapfrog_waves),
    Memory("recurrence_rows", 4000, recurrence_rows),
    Memory("dense_layers", 128, dense_layers),
)


def measure_memory(name_has: str) -> Iterator[tuple[Memory, int, int]]:
    """Yield each case, and the bytes measured and counted."""
    for case in CASES:
        if name_has in case.kernel:
            yield (case, *bytes_of(case))


def bytes_of(case: Memory) -> tuple[int, int]:
    """Return the peak of the gradient beyond that of the primal, and the bytes counted."""
    kernel = next(kernel for kernel in KERNELS if kernel.name == case.kernel)
    arguments = kernel.make_arguments(case.size)
    gradient = value_and_grad(kernel.function, argnums=kernel.argnums)
    gradient(*copy.deepcopy(arguments))  # derives what is called
    beyond = peak(gradient, arguments) - peak(kernel.function, arguments)
    return beyond, case.needed(*arguments)


def peak(function: Callable[..., Any], arguments: tuple[Any, ...]) -> int:
    """Return the most bytes that a call takes at a time, its arguments not counted."""
    fresh = copy.deepcopy(arguments)
    gc.collect()
    tracemalloc.start()  # NumPy reports its arrays to it
    try:
        function(*fresh)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
