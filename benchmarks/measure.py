"""Measure one kernel at one size: check that all gradients agree, then time them in turns."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.autograd_peer import candidate_peers
from benchmarks.differences import leaves
from benchmarks.kernel import ADJOINT_LIMIT, MANY, Kernel
from benchmarks.timing import interleaved_medians
from mooncake_py import value_and_grad


@dataclass(frozen=True)
class Measurement:
    """Times of one kernel at one size.

    Parameters
    ----------
    kernel, group : str
    size : int
    primal : float, in seconds
        Time of the kernel itself.
    gradient : float or None
        Time of `mooncake_py`'s gradient over the primal's; None if it raised, see `problem`.
    adjoint : float or None
        Time of the hand-written adjoint over the primal's; None if there is none.
    autograd : float or None
        Time of autograd's gradient over the primal's; None if it cannot.
    autograd_modified : bool
        True if autograd ran a functional variant of the kernel.
    limit : float or None
        The most that `gradient` may be.
    problem : str
        What went wrong in `mooncake_py`, empty if nothing did.
    adjoint_limit : float or None
        The most that the gradient's time may be over the hand-written adjoint's.
    """

    kernel: str
    group: str
    size: int
    primal: float
    gradient: float | None
    adjoint: float | None
    autograd: float | None
    autograd_modified: bool
    limit: float | None
    problem: str
    adjoint_limit: float | None = None

    @property
    def gradient_over_adjoint(self) -> float | None:
        """Time of `mooncake_py`'s gradient over the hand-written adjoint's."""
        if self.gradient is None or self.adjoint is None:
            return None
        return self.gradient / self.adjoint

    @property
    def exceeds_adjoint_limit(self) -> bool:
        """Whether the gradient takes too much longer than the hand-written adjoint."""
        ratio = self.gradient_over_adjoint
        return ratio is not None and self.adjoint_limit is not None and ratio > self.adjoint_limit

    @property
    def exceeds_limit(self) -> bool:
        """Whether the gradient is slower than it may be, or missing."""
        return self.gradient is None or (self.limit is not None and self.gradient > self.limit)


def measure(kernel: Kernel, size: int, budget: float) -> Measurement:
    """Measure a kernel at a size, for about `budget` seconds.

    Raises
    ------
    ArithmeticError
        If two of the gradients differ: times of a wrong gradient say nothing.
    """
    arguments = kernel.make_arguments(size)
    problem = ""
    candidates: dict[str, Callable[..., Any]] = {"primal": kernel.function}
    results: dict[str, Any] = {}

    ours = value_and_grad(kernel.function, argnums=kernel.argnums)
    # A gradient that fails belongs in the table like any other result; the others still count.
    try:
        results["gradient"] = ours(*copy.deepcopy(arguments))
        candidates["gradient"] = ours
    except Exception as error:
        problem = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    if kernel.adjoint is not None:
        results["adjoint"] = kernel.adjoint(*copy.deepcopy(arguments))
        candidates["adjoint"] = kernel.adjoint
    peers: dict[str, Callable[..., Any]] = {}
    modified = False
    for peer in candidate_peers(kernel):
        try:
            results["autograd"] = peer.gradient(*copy.deepcopy(arguments))
        except Exception:
            continue
        peers["autograd"] = peer.gradient
        modified = peer.modified
        break

    require_agreement(f"{kernel.name} at size {size}", results)
    medians = interleaved_medians(candidates, arguments, budget)
    if peers:  # apart, as it takes long and leaves the caches empty
        alone = interleaved_medians({"primal": kernel.function, **peers}, arguments, budget)
        medians["autograd"] = alone["autograd"] / alone["primal"] * medians["primal"]
    many = any(leaf.size >= MANY for k in kernel.argnums for leaf in leaves(arguments[k]))
    ratios = {name: taken / medians["primal"] for name, taken in medians.items()}
    return Measurement(
        kernel=kernel.name,
        group=kernel.group_of(size),
        size=size,
        primal=medians["primal"],
        gradient=ratios.get("gradient"),
        adjoint=ratios.get("adjoint"),
        autograd=ratios.get("autograd"),
        autograd_modified=modified,
        limit=kernel.limit(size),
        problem=problem,
        adjoint_limit=ADJOINT_LIMIT if many else None,
    )


def require_agreement(what: str, results: dict[str, Any]) -> None:
    """Raise unless all the (value, gradients) pairs are equal up to rounding."""
    names = list(results)
    for name in names[1:]:
        for expected, got in zip(leaves(results[names[0]]), leaves(results[name]), strict=True):
            tolerance = 1e-8 * (1.0 + np.max(np.abs(expected), initial=0.0))
            if not np.allclose(got, expected, rtol=0.0, atol=tolerance):
                raise ArithmeticError(f"{what}: {name} and {names[0]} give different gradients")
