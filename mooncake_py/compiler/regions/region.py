"""A piece of a function that may run as one entry."""

from __future__ import annotations

from dataclasses import dataclass, field

from mooncake_py.compiler.regions.ir import Assign, Block, End, For, Load, While, statements

__all__ = ["Region"]


@dataclass(frozen=True)
class Region:
    """A piece of a function that may run as one entry.

    Attributes
    ----------
    body : Block
        Checks, and a loop.
    inputs : tuple of str
        What is read that the region does not bind before: numbers, and the arrays of which
        elements are read or written.
    arrays : dict of str to int
        Of the arrays the number of indices.
    bound : dict of str to str
        What the region binds: its names here, and the user's.
    counts : frozenset of str
        Which of these are ints for certain, and the ints of functions that it calls.
    like : dict of str to str
        For each tangent that is bound or written the name of its value, whose type it has.
    shaped, data : frozenset of str
        The arrays that can be no lists (their shapes are read, or they have a tuple as an index),
        and those of which elements are read as ints.
    sums : frozenset of str
        The names to which the builtin `sum` would add.
    """

    body: Block
    inputs: tuple[str, ...]
    arrays: dict[str, int]
    bound: dict[str, str]
    counts: frozenset[str] = frozenset()
    like: dict[str, str] = field(default_factory=dict)
    shaped: frozenset[str] = frozenset()
    data: frozenset[str] = frozenset()
    sums: frozenset[str] = frozenset()

    @property
    def loop(self) -> For | While:
        """The outermost loop."""
        loop = self.body[-1]
        assert isinstance(loop, For | While)
        return loop

    def written(self) -> set[str]:
        """Return the arrays of which elements are written."""
        return {
            s.target.array
            for s in statements(self.body)
            if isinstance(s, Assign) and isinstance(s.target, Load)
        }

    @property
    def grown(self) -> set[str]:
        """The lists to which something is appended."""
        return {
            s.target.array
            for s in statements(self.body)
            if isinstance(s, Assign) and isinstance(s.target, End)
        }
