"""The states of random generators, NumPy's and Python's: to draw the same numbers again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mooncake_py.modules import draws_numbers

__all__ = [
    "is_in_state", "rewound", "set_state", "shared_generators", "source_of", "source_of_children",
    "state_of",
]  # fmt: skip

CHILDREN = "n_children_spawned"
"""The attribute of a `SeedSequence` that holds its state, a count."""
UNSEEDED = object()
"""The state of a generator of a class of the user's, whose ``__init__`` is about to seed it."""


def source_of(generator: Any) -> Any:
    """Return the object that holds the state of a generator, None if it is not one."""
    from numpy.random import BitGenerator, Generator  # they take long to import

    if issubclass(type(generator), Generator):
        return generator.bit_generator
    getters = ("get_state", "getstate", CHILDREN)  # of NumPy's former generators, of Python's
    if isinstance(generator, BitGenerator) or any(hasattr(generator, name) for name in getters):
        return generator
    return None


def source_of_children(generator: Any) -> Any:
    """Return the seeds that count the generators which one has spawned, None if there are none."""
    if hasattr(generator, CHILDREN):
        return generator
    seeds = getattr(source_of(generator), "seed_seq", None)
    return seeds if hasattr(seeds, CHILDREN) else None


def state_of(source: Any) -> Any:
    """Return the state of what `source_of` or `source_of_children` has found."""
    if hasattr(source, CHILDREN):
        return source.n_children_spawned
    if hasattr(source, "getstate"):
        if draws_numbers(type(source)) and not hasattr(source, "gauss_next"):
            return UNSEEDED  # it has just been made
        return source.getstate()
    return source.get_state() if hasattr(source, "get_state") else source.state


def set_state(source: Any, state: Any) -> None:
    """Bring a source into a state that it was in."""
    if state is UNSEEDED:
        return  # it is seeded before anything is drawn
    if hasattr(source, CHILDREN):
        set_count(source, state)
        return
    if hasattr(source, "setstate"):
        source.setstate(state)
    elif hasattr(source, "set_state"):
        source.set_state(state)
    else:
        source.state = state


def set_count(seeds: Any, count: int) -> None:
    """Set how many children seeds have, which only what pickles them may do."""
    if seeds.n_children_spawned != count:
        fields = list(seeds.__reduce__()[2])
        fields[1] = count  # they are in the order of their names, after `entropy`
        seeds.__setstate__(tuple(fields))


def is_in_state(source: Any, state: Any) -> bool:
    """Return whether a source is in a state that it was in."""
    return are_equal(state_of(source), state)


def are_equal(a: Any, b: Any) -> bool:
    """Return whether two states are equal."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(are_equal(part, b[key]) for key, part in a.items())
    if type(a) is type(b) and isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(are_equal, a, b))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return a is b or bool(a == b)


def shared_generators() -> list[Any]:
    """Return the generators of NumPy and Python that functions of their modules draw from."""
    found = (("numpy.random.mtrand", "_rand"), ("random", "_inst"))
    return [getattr(sys.modules[name], held) for name, held in found if name in sys.modules]


@contextmanager
def rewound(source: Any, state: Any) -> Iterator[None]:
    """Let a block draw from a state that a source was in; it goes on as if nothing was drawn."""
    now = state_of(source)
    set_state(source, state)
    try:
        yield
    finally:
        set_state(source, now)
