"""A piece of a function that may run as one entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from mooncake_py.compiler.regions.ir import Assign, Block, End, For, Load, Sliced, While, statements

__all__ = ["Axes", "Region"]


class Axes(NamedTuple):
    """How many axes the inputs of a region have: arrays, and lists of arrays as one array."""

    arrays: Mapping[str, int]
    lists: Mapping[str, int] = MappingProxyType({})


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
    shaped, data, whole : frozenset of str
        The arrays that can be no lists (their shapes are read, or they have a tuple as an index),
        those of which elements are read as ints, and those of which slices are read or written.
    changed, rebound : frozenset of str
        The names that an operator changes in place, if they are arrays, and those bound anew.
    local : frozenset of str
        The names that nothing outside the region reads.
    variables : frozenset of str
        The names that are bound to arrays.
    in_parts : frozenset of str
        The names of these of which parts are read or written.
    sums : frozenset of str
        The names to which the builtin `sum` would add.
    lists : frozenset of str
        The lists of arrays.
    """

    body: Block
    inputs: tuple[str, ...]
    arrays: dict[str, int]
    bound: dict[str, str]
    counts: frozenset[str] = frozenset()
    like: dict[str, str] = field(default_factory=dict)
    shaped: frozenset[str] = frozenset()
    data: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    rebound: frozenset[str] = frozenset()
    local: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()
    in_parts: frozenset[str] = frozenset()
    sums: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()

    @property
    def loop(self) -> For | While:
        """The outermost loop."""
        loop = self.body[-1]
        assert isinstance(loop, For | While)
        return loop

    def written(self) -> set[str]:
        """Return the arrays of which elements are written, but for those of names."""
        found = {
            s.target.array
            for s in statements(self.body)
            if isinstance(s, Assign) and isinstance(s.target, Load)
        }
        found |= {s.written for s in self.sliced if s.written is not None}
        return found - self.variables

    @property
    def grown(self) -> set[str]:
        """The lists to which something is appended."""
        return {
            s.target.array
            for s in statements(self.body)
            if isinstance(s, Assign) and isinstance(s.target, End)
        }

    @property
    def sliced(self) -> list[Sliced]:
        """The statements on slices."""
        return [s for s in statements(self.body) if isinstance(s, Sliced)]
