"""Generators of random numbers, in parts of a program that are run twice.

The second run draws the same numbers: the first notes the state of each generator that it draws
from.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from mooncake_py.derive.reports.places import PACKAGE
from mooncake_py.rules.kinds import Rule

__all__ = ["noting", "set_state", "state_of"]

FILES = frozenset(
    os.path.join(PACKAGE, "rules", name)
    for name in ("random.py", "shuffling.py", "transformed_draws.py")
)


def noting(rule: Rule, handler: Callable[..., Any]) -> Callable[..., Any]:
    """Return the handler of a function; one that draws notes the state of the generator first."""
    if rule.origin.file not in FILES:
        return handler

    def run(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
        rehearsal = getattr(ctx, "rehearsal", None)
        if rehearsal is not None:
            for generator in (getattr(f, "__self__", None), *args[:1]):
                source = source_of(generator)
                if source is not None and id(source) not in rehearsal.draws:
                    rehearsal.draws[id(source)] = source, state_of(source)
        return handler(ctx, f, args, kwargs)

    return run


def source_of(generator: Any) -> Any:
    """Return what holds the state of a generator, None if it is none."""
    from numpy.random import BitGenerator, Generator

    if isinstance(generator, Generator):
        return generator.bit_generator
    getters = ("get_state", "getstate")  # of NumPy's former generators, of Python's
    if isinstance(generator, BitGenerator) or any(hasattr(generator, name) for name in getters):
        return generator
    return None


def state_of(source: Any) -> Any:
    """Return the state of a source of random numbers."""
    if hasattr(source, "getstate"):
        return source.getstate()
    return source.get_state() if hasattr(source, "get_state") else source.state


def set_state(source: Any, state: Any) -> None:
    """Put a source of random numbers into a former state."""
    if hasattr(source, "setstate"):
        source.setstate(state)
    elif hasattr(source, "set_state"):
        source.set_state(state)
    else:
        source.state = state
