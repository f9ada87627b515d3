"""What a benchmark kernel is: an ordinary NumPy function with seeded arguments."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Group = Literal["vector", "slices", "elements", "floats", "calls", "attributes", "items", "chain"]

# Most that gradient / primal may be, by group; chains have a limit for each size.
GROUP_LIMITS: dict[str, float] = {
    "vector": 4.5,
    "slices": 8.0,
    "elements": 7.0,
    "floats": 20.0,
    "calls": 6.0,
    "attributes": 6.0,
    "items": 8.0,
    "tiny": 7.0,
}
CHAIN_LIMITS: dict[int, float] = {1: 6.0, 100: 5.0, 10_000: 3.3}
# Most that the geometric mean over a group may be.
MEAN_LIMITS: dict[str, float] = {"vector": 3.5, "slices": 4.0}
# Most that gradient / hand-written adjoint may be, from so many numbers on.
ADJOINT_LIMIT = 1.3
MANY = 10_000


@dataclass(frozen=True)
class Kernel:
    """A function to differentiate, and how to call it.

    Parameters
    ----------
    name : str
        Unique among the kernels.
    group : str
        Where the work is: in array operations (vector), in loops over rows, columns, windows and
        masks of arrays (slices), in single elements and short slices (elements), in plain floats
        (floats), in loops over numbers with calls of own functions (calls), attributes of an
        object (attributes) or items of lists (items), or in a chain of many elementwise
        operations (chain).
    function : callable
        Unmodified NumPy code that returns a float; it may overwrite its arguments.
    make_arguments : callable
        From a size to a tuple of arguments, the same ones at each call.
    sizes : tuple of int
        The sizes to time, smallest first.
    argnums : tuple of int
        The arguments with respect to which the gradient is taken.
    adjoint : callable, optional
        A hand-written adjoint: takes the arguments of `function`, may overwrite them, and returns
        the value and a tuple with one gradient for each of `argnums`.
    tiny : tuple of int, optional
        Sizes at which NumPy's operations take a microsecond or two, so that the ratio is that of
        interpreters: timed under a limit of their own.
    """

    name: str
    group: Group
    function: Callable[..., Any]
    make_arguments: Callable[[int], tuple[Any, ...]]
    sizes: tuple[int, ...]
    argnums: tuple[int, ...] = (0,)
    adjoint: Callable[..., tuple[Any, tuple[Any, ...]]] | None = None
    tiny: tuple[int, ...] = ()

    def group_of(self, size: int) -> str:
        """Return the group under which a size is reported."""
        return "tiny" if size in self.tiny else self.group

    def limit(self, size: int) -> float | None:
        """Return the most that gradient / primal may be at this size, None if there is no limit."""
        group = self.group_of(size)
        return CHAIN_LIMITS.get(size) if group == "chain" else GROUP_LIMITS[group]


def generator() -> np.random.Generator:
    """Return the random generator that all arguments are drawn from, freshly seeded."""
    return np.random.default_rng(20_240_501)
