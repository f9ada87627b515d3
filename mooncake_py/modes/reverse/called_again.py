"""Functions printed for calls of the same kinds: when they are made, asked, and given up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

__all__ = ["CalledAgain"]

P = ParamSpec("P")
T = TypeVar("T")
FIRST = 12  # calls after which the choice of the way is settled, most often
MISSED = 8  # calls in a row that went the general way after all


class CalledAgain(Generic[P, T]):
    """The printed function of a derivative, made after some calls in the general way.

    Parameters
    ----------
    make : callable
        What prints it for a call; it returns None where there is none.

    Attributes
    ----------
    again : callable or None
        It returns None for a call that goes the general way.
    """

    def __init__(self, make: Callable[P, Callable[P, T | None] | None]) -> None:
        self.make = make
        self.again: Callable[P, T | None] | None = None
        self.calls = self.missed = 0
        self.next = FIRST

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T | None:
        """Return the results, None if the call goes the general way."""
        again = self.again
        if again is None:
            return None
        found = again(*args, **kwargs)
        if found is not None:
            self.missed = 0
            return found
        self.missed += 1
        if self.missed > MISSED:
            self.again = None
        return None

    def ran(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Note a call in the general way."""
        self.calls += 1
        if self.again is None and self.calls >= self.next:
            self.next = 2 * self.calls
            self.missed = 0
            self.again = self.make(*args, **kwargs)
