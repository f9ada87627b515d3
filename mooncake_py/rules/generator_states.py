"""The states of random generators, NumPy's and Python's: to draw the same numbers again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mooncake_py.modules import draws_numbers

__all__ = ["rewound", "set_state", "source_of", "state_of"]

UNSEEDED = object()
"""The state of a generator of a class of the user's, whose ``__init__`` is about to seed it."""


def source_of(generator: Any) -> Any:
    """Return what holds the state of a generator, None if it is none."""
    from numpy.random import BitGenerator, Generator  # they take long to import

    if issubclass(type(generator), Generator):
        return generator.bit_generator
    getters = ("get_state", "getstate")  # of NumPy's former generators, of Python's
    if isinstance(generator, BitGenerator) or any(hasattr(generator, name) for name in getters):
        return generator
    return None


def state_of(source: Any) -> Any:
    """Return the state of what `source_of` has found."""
    if hasattr(source, "getstate"):
        if draws_numbers(type(source)) and not hasattr(source, "gauss_next"):
            return UNSEEDED  # it has just been made
        return source.getstate()
    return source.get_state() if hasattr(source, "get_state") else source.state


def set_state(source: Any, state: Any) -> None:
    """Bring a source into a state that it was in."""
    if state is UNSEEDED:
        return  # it is seeded before anything is drawn
    if hasattr(source, "setstate"):
        source.setstate(state)
    elif hasattr(source, "set_state"):
        source.set_state(state)
    else:
        source.state = state


@contextmanager
def rewound(source: Any, state: Any) -> Iterator[None]:
    """Let a block draw from a state that a source was in; it goes on as if nothing was drawn."""
    now = state_of(source)
    set_state(source, state)
    try:
        yield
    finally:
        set_state(source, now)
