"""Which memory holds the same array.

A variable of an array that a loop rebinds has memory of its own, its *buffer*, into which each
array is copied that it is bound to.  The array may have other names, which stand for other memory:

    for k in range(n):
        new = step(u)
        u = new             the buffer of u holds what the memory of `new` holds
        u[0] = 1.0          `new` must not be read any more: it does not see this write
"""

from __future__ import annotations

__all__ = ["Aliases"]


class Aliases:
    """Pairs of memory that may hold the same array where the reader is.

    Attributes
    ----------
    pairs : set of frozenset of str
    """

    def __init__(self) -> None:
        self.pairs: set[frozenset[str]] = set()

    def others(self, base: str) -> set[str]:
        """Return the memory that may hold the same array."""
        return {other for pair in self.pairs if base in pair for other in pair - {base}}

    def copied(self, base: str, source: str, certainly: bool) -> None:
        """Note that memory holds the array of other memory now.

        Parameters
        ----------
        base : str
        source : str
            Empty for an array that has no memory yet.
        certainly : bool
            Whether what it held before is gone in any case.
        """
        if certainly:
            self.pairs = {pair for pair in self.pairs if base not in pair}
        if source:
            same = {source, *self.others(source)} - {base}
            self.pairs = self.pairs | {frozenset({base, other}) for other in same}
