"""Comparison of code that runs as one entry without debug mode with its reference.

Values must agree bit for bit.  Cotangents and tangents are sums, whose terms each way adds in its
own order: they may differ by the rounding errors of these terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.errors import DifferentResultError, Location
from mooncake_py.modes.debug.beside import NotPlainError, as_plain, difference
from mooncake_py.tangents.bits import bits_of

if TYPE_CHECKING:
    from mooncake_py.modes.debug.context import Checks

__all__ = ["QuickWay", "is_far", "spread"]

TINY = 1e-300
FIX = "it is a fault of mooncake_py: please report it with this message"


class QuickWay:
    """Compares a quick way with its reference.

    Parameters
    ----------
    ctx : Checks
    what : str
        What runs by it: a loop, a statement.
    parts : str
        What its reference is made of.
    """

    def __init__(self, ctx: Checks, what: str, parts: str) -> None:
        self.ctx = ctx
        self.what = what
        self.parts = parts

    @property
    def where(self) -> Location | None:
        """The place in the user's source."""
        return self.ctx.user_location()

    def compare_value(self, name: str, y: Any, expected: Any, exactly: bool = True) -> None:
        """Raise if the quick way gives something else than its reference."""
        with suppress(NotPlainError):
            y, expected = as_plain(y), as_plain(expected)
            found = difference(y, expected, exactly, flags=False)
            if found is None:
                return
            what, got, plainly = found
            index: Any = ()
            if what == "value" and issubclass(type(y), np.ndarray) and y.ndim:
                index = next(differing(y, expected))
                got, plainly = repr(y[index]), repr(expected[index])
            raise self.ctx.failed(self.differs(f"another {what}", name, got, plainly, index))

    def compare_rounded(
        self, what: str, name: str, y: Any, expected: Any, sizes: Any, close: float
    ) -> None:
        """Raise if cotangents or tangents differ by more than rounding does.

        Parameters
        ----------
        what : str
            They are called.
        name : str
            Of what they belong to.
        y, expected : float or ndarray
            What the quick way gives, and what its reference does, which may not be finite.
        sizes : float or ndarray
            The sizes of the terms that they are sums of.
        close : float
            How much of these rounding may change.
        """
        far = is_far(y, expected, sizes, close)
        if far.any():
            k = np.unravel_index(np.argmax(far), far.shape)
            got, plainly = (str(np.broadcast_to(v, far.shape)[k]) for v in (y, expected))
            raise self.ctx.failed(self.differs(f"another {what}", name, got, plainly, k))

    def differs(
        self, what: str, name: str, got: str, expected: str, index: Any = ()
    ) -> DifferentResultError:
        """Return the error for a quick way that does something else than its reference."""
        place = f"[{', '.join(map(str, index))}]" if index else ""
        return DifferentResultError(
            f"{self.what} that runs as one entry gives {name}{place} {what}"
            f" than its {self.parts} do",
            where=self.where,
            why=f"expected: {expected}\ngot:      {got}",
            fix=FIX,
        )

    def ends_otherwise(self) -> DifferentResultError:
        """Return the error for a reference that raises where the quick way runs to its end."""
        return DifferentResultError(
            f"{self.what} that runs as one entry comes to its end, and its {self.parts} raise",
            where=self.where,
            why="without debug mode the program goes on after it",
            fix=FIX,
        )


def is_far(y: Any, expected: Any, sizes: Any, close: float) -> np.ndarray:
    """Return where derivatives differ by more than a part of the sizes, or one is not finite."""
    y, expected, sizes = map(np.asarray, (y, expected, sizes))
    with np.errstate(all="ignore"):
        near = np.abs(y - expected) <= close * np.where(sizes == sizes, sizes, np.inf) + TINY
    return np.asarray(~near & np.isfinite(expected))


def spread(expected: Any, found: Iterable[Any], most: float) -> Any:
    """Return about the size of the terms of something that errors of at most a part change."""
    with np.errstate(all="ignore"):
        changes = [np.abs(g - expected) for g in found]
        return np.abs(expected) + np.maximum.reduce(changes) / most


def differing(a: np.ndarray, b: np.ndarray) -> Iterator[tuple[int, ...]]:
    """Yield the indices at which two arrays of one shape and dtype differ."""
    return (k for k in np.ndindex(a.shape) if bits_of(a[k]) != bits_of(b[k]))
