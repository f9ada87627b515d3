"""Copies of iterators in C, which continue from the same position.

Some cannot be copied, such as generators and, in new versions of Python, those of itertools.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["copied", "reduced", "set_state"]


@contextmanager
def in_silence() -> Iterator[None]:
    """Silence that itertools warn when they are copied, as they do from Python 3.12 on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def copied(iterator: Any) -> Any:
    """Return a copy of an iterator where it stands, None if there is none."""
    with in_silence():
        try:
            return copy.copy(iterator)
        except TypeError:
            return None


def reduced(iterator: Any) -> tuple[Any, ...] | None:
    """Return how an iterator is made again where it is, None if it does not say so."""
    with in_silence():
        try:
            found = iterator.__reduce__()
        except TypeError:
            return None
    return found if type(found) is tuple else None


def set_state(iterator: Any, state: Any) -> None:
    """Move an iterator on to where another one is."""
    with in_silence():
        iterator.__setstate__(state)
