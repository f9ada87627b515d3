"""The values to be recorded: those overwritten while the reverse sweep still reads them.

The way back undoes each statement before it comes to those before it.  So a value must be saved
where it is overwritten, or where it ceases to live, if a statement before reads it on the way back.
Forwards through the region: ``needed`` are the names and arrays whose present values are wanted.

                                needed
    s = a * x[i]                a x         for d_x[i] += g * a, d_a += g * x[i]
    x[i] = 2.0 * s              a x         x is saved here; this statement reads nothing
    a = 0.0                     x           a is saved here

An array is one unit: if any of it is needed, all is, except elements that are told apart (see
`overlaps`).
"""

from __future__ import annotations

from collections.abc import Callable

from mooncake_py.compiler.derivatives.partials import NoPartial
from mooncake_py.compiler.native.regions.mentions import bound_by, values_in
from mooncake_py.compiler.native.sweeps.pull import Pull
from mooncake_py.compiler.native.sweeps.scopes import Scopes
from mooncake_py.compiler.regions.ir import (
    Alloc,
    Apply,
    Assign,
    Block,
    Count,
    For,
    ForAll,
    If,
    Let,
    Load,
    Name,
    Places,
    Reduce,
    Statement,
    While,
)

__all__ = ["Needs"]


class Needs:
    """The values to be recorded in a region.

    Parameters
    ----------
    body : Block
    scopes : Scopes
    pull_of : callable
        Returns the adjoint of an assignment, or of what computes an array.
    is_replayed : callable
        Whether the way back asks the test of a branch again.
    may_meet : callable
        Whether the way back may read elements that an assignment overwrites.

    Attributes
    ----------
    at_end : frozenset of str
        What is needed at the end of the region.
    """

    def __init__(
        self,
        body: Block,
        scopes: Scopes,
        pull_of: Callable[[Assign | Let | Apply | Reduce], Pull],
        is_replayed: Callable[[If], bool],
        may_meet: Callable[[Statement], bool],
    ) -> None:
        self.scopes = scopes
        self.pull_of = pull_of
        self.is_replayed = is_replayed
        self.may_meet = may_meet
        self._overwritten: set[int] = set()
        self._ending: dict[int, set[str]] = {}
        needed = frozenset[str]()
        for s in body:
            needed = self.statement(s, needed)
        self.at_end = needed

    def is_saved(self, s: Statement) -> bool:
        """Return True if what a statement overwrites must be saved."""
        return id(s) in self._overwritten

    def ending(self, block: Block) -> set[str]:
        """Return the names and arrays of a block that must be saved at its end."""
        return self._ending.get(id(block), set())

    def block(self, block: Block, needed: frozenset[str]) -> frozenset[str]:
        """Return the values needed after a block, given those needed before it."""
        for s in block:
            needed = self.statement(s, needed)
        own = self.scopes.of(block)
        ending = (own & needed).difference(self.scopes.replayed)
        self._ending.setdefault(id(block), set()).update(ending)
        return needed - own

    def statement(self, s: Statement, needed: frozenset[str]) -> frozenset[str]:
        """Return the values needed after a statement."""
        match s:
            case Assign() | Let() | Count() if self.scopes.replays(s):
                return needed | values_in((s.value,))
            case Assign() | Let():
                return self.assigned(s, s, needed)
            case ForAll(body=(Assign() as inner,)):
                inside = self.assigned(s, inner, needed)
                return (inside - set(s.counters)) | values_in(s.extents)
            case Count():
                return self.counted(s, needed)
            case Apply():
                return needed | self.pull_of(s).reads
            case Reduce():
                inside = self.assigned(s, s, needed)
                return (inside - set(s.counters)) | values_in(s.extents)
            case Places():
                if s.count in needed:
                    self._overwritten.add(id(s))
                return (needed - {s.count, *s.counters}) | values_in(s.extents)
            case Alloc():
                if s.name in needed:  # made again while an earlier one of the name is to be read
                    raise NoPartial
                return (needed - {s.name}) | values_in(s.shape)
            case For() | While():
                return self.repeated(s, needed)
            case If():
                if self.is_replayed(s):
                    needed |= values_in((s.test,))
                return self.block(s.body, needed) | self.block(s.orelse, needed)
        return needed

    def repeated(self, loop: For | While, needed: frozenset[str]) -> frozenset[str]:
        """Return the values needed after a loop: those that each pass may find needed."""
        if isinstance(loop, For):
            needed |= values_in((loop.range,))
        while True:
            after = self.block(loop.body, needed)
            if after <= needed:
                return needed
            needed |= after

    def counted(self, s: Count, needed: frozenset[str]) -> frozenset[str]:
        """Return the values needed after an int is bound."""
        if s.name in needed:
            self._overwritten.add(id(s))
        return needed - {s.name}

    def assigned(
        self, s: Statement, inner: Assign | Let | Reduce, needed: frozenset[str]
    ) -> frozenset[str]:
        """Return the values needed after an assignment, the only one of a statement."""
        part, *_ = bound_by(inner)
        pull = self.pull_of(inner)
        needed |= pull.reads
        if part in needed and self.may_meet(inner):
            self._overwritten.add(id(s))
            if isinstance(inner, Assign | Reduce) and isinstance(inner.target, Load):
                needed |= values_in(inner.target.index)
        if isinstance(inner, Let) or isinstance(inner.target, Name):
            needed -= {part}
        return needed | {part} if pull.reuses else needed
