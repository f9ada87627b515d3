"""Both sweeps of loops and branches, for statements of any kind.

    for i in range: S           for i in range: S'         for i in reversed(range): R
    while test: S               c = 0                      for _ in range(pop ints): R
                                while test: c = c + 1; S'
                                push ints c
    if test: S                  if test: S'; push ints True        if pop ints: R
    else: T                     else: T'; push ints False          else: Q

S' is S with what it saves, R its adjoint.  A loop that a ``break`` leaves counts its passes too.
"""

from __future__ import annotations

from mooncake_py.compiler.regions.ir import (
    INTS,
    Block,
    Break,
    Const,
    Count,
    Expr,
    For,
    If,
    Name,
    Op,
    Pop,
    Push,
    Statement,
    While,
)
from mooncake_py.compiler.regions.steps import Names
from mooncake_py.syntax.nodes import Place

__all__ = ["Pair", "Sweeper", "stops", "with_body"]


Pair = tuple[list[Statement], list[Statement]]
"""The statements forward, and those back in the order in which they run."""


class Sweeper:
    """Goes through the blocks of a region, once.

    Attributes
    ----------
    ends : list of list of Statement
        What runs forward at the end of each block around a statement, within its loop: a ``break``
        does it first.
    """

    def __init__(self) -> None:
        self.ends: list[list[Statement]] = []
        self.passes = Names("c")

    def simple(self, s: Statement) -> Pair:
        """Return the sweeps of a statement that is neither a loop nor a branch."""
        raise NotImplementedError

    def is_replayed(self, s: If) -> bool:
        """Return True if the way back can ask the test again."""
        raise NotImplementedError

    def backwards(self, loop: For, body: list[Statement], passes: Expr | None) -> list[Statement]:
        """Return a loop back through a range, or its first passes."""
        raise NotImplementedError

    def again(self, passes: Expr, body: list[Statement], place: Place | None) -> For:
        """Return a loop of so many passes."""
        raise NotImplementedError

    def block(self, block: Block) -> Pair:
        """Return the sweeps of a block."""
        forward: list[Statement] = []
        reverse: list[Statement] = []
        for s in block:
            ahead, back = self.statement(s)
            forward += ahead
            reverse = back + reverse
        return forward, reverse

    def statement(self, s: Statement) -> Pair:
        """Return the sweeps of a statement."""
        match s:
            case If():
                return self.branched(s)
            case For() | While():
                return self.repeated(s)
            case Break():
                return [*(note for end in reversed(self.ends) for note in end), s], []
        return self.simple(s)

    def repeated(self, loop: For | While) -> Pair:
        """Return the sweeps of a loop; the way back goes through the same range backwards.

        Where the range does not tell how often it runs, the passes are counted.
        """
        outer, self.ends = self.ends, []
        forward, reverse = self.block(loop.body)
        self.ends = outer
        place = loop.place
        if not reverse:
            return [with_body(loop, forward)], []
        if isinstance(loop, For) and not stops(loop.body):
            return [with_body(loop, forward)], self.backwards(loop, reverse, None)
        passes = Name(self.passes(), place=place)
        count = Count(passes.name, Op("add", (passes, Const(1))), place=place)
        ahead = [
            Count(passes.name, Const(0), place=place),
            with_body(loop, [count, *forward]),
            Push(INTS, passes, place=place),
        ]
        if isinstance(loop, While):
            return ahead, [self.again(Pop(INTS), reverse, place)]
        return ahead, self.backwards(loop, reverse, Pop(INTS))

    def branched(self, s: If) -> Pair:
        """Return the sweeps of a branch, which notes the way that it took unless it is replayed."""
        is_replayed = self.is_replayed(s)
        sides: list[list[Statement]] = []
        backs: list[list[Statement]] = []
        for side, block in ((True, s.body), (False, s.orelse)):
            self.ends.append([] if is_replayed else [self.note(side, s.place)])
            ahead, back = self.block(block)
            self.ends.pop()
            sides.append(ahead)
            backs.append(back)
        notes = not is_replayed and (any(backs) or stops((s,)))
        for side, ahead in zip((True, False), sides, strict=True):
            if notes and not (ahead and isinstance(ahead[-1], Break)):
                ahead.append(self.note(side, s.place))
        forward = If(s.test, tuple(sides[0]), tuple(sides[1]), place=s.place)
        if not notes and not any(backs):
            return [forward], []
        test = Pop(INTS, place=s.place) if notes else s.test
        return [forward], [If(test, tuple(backs[0]), tuple(backs[1]), place=s.place)]

    def note(self, side: bool, place: Place | None) -> Push:
        """Return code that notes the side of a branch."""
        return Push(INTS, Const(side, place=place), place=place)


def stops(block: Block) -> bool:
    """Return True if a block has a ``break`` that leaves the loop it is in."""
    return any(
        isinstance(s, Break) or (isinstance(s, If) and stops((*s.body, *s.orelse))) for s in block
    )


def with_body(loop: For | While, body: list[Statement]) -> For | While:
    """Return a loop with another body."""
    if isinstance(loop, For):
        return For(loop.name, loop.range, tuple(body), place=loop.place)
    return While(loop.test, tuple(body), place=loop.place)
