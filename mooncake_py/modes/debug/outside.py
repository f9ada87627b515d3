"""State that no rule may change as it computes derivatives: random, warning and error state."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mooncake_py.modes.debug.broken import broken
from mooncake_py.rules.kinds import Rule

__all__ = ["leaving_outside"]


@contextmanager
def leaving_outside(rule: Rule) -> Iterator[None]:
    """Raise if a block, which computes derivatives, changes what later steps of a program use."""
    before = outside()
    yield
    after = outside()
    if threading.active_count() > 1:
        return  # another thread may have drawn
    for name, value in before.items():
        if after[name] != value:
            raise broken(
                rule,
                f"changed {name} as it computed a derivative",
                "that it stays unchanged: later parts of the program depend on it",
                "another one",
                "draw from a generator of its own, and restore the settings that it changes",
            )


def outside() -> dict[str, Any]:
    """Return these states by name, as far as the program has imported their modules."""
    found: dict[str, Any] = {
        "the filters of warnings": tuple(warnings.filters),
        "numpy.geterr()": np.geterr(),
    }
    if "random" in sys.modules:
        found["the state of Python's global generator"] = sys.modules["random"].getstate()
    if "numpy.random" in sys.modules:
        kind, key, *rest = sys.modules["numpy.random"].get_state()
        found["the state of NumPy's global generator"] = kind, key.tobytes(), rest
    return found
