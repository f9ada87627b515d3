"""The stack: room on it, and its top."""

from __future__ import annotations

from itertools import takewhile

from mooncake_py.compiler.native.llvm.expressions import Expressions
from mooncake_py.compiler.native.llvm.memory import Memory
from mooncake_py.compiler.native.llvm.saved import STACK, TOP, pushes_of
from mooncake_py.compiler.native.regions.region import INT
from mooncake_py.compiler.regions.ir import Block, Const, Expr, Name
from mooncake_py.compiler.regions.simplify import added

__all__ = ["Stack"]


class Stack:
    """The stack of one function.

    Parameters
    ----------
    grows : bool
        Whether it may be too small.

    Attributes
    ----------
    free : int
        Numbers for which there is room.
    """

    def __init__(self, to: Expressions, memory: Memory, *, grows: bool) -> None:
        self.to = to
        self.memory = memory
        self.grows = grows
        self.free = 0

    def room_ahead(self, block: Block) -> None:
        """Write what makes room at once for what is pushed before the next loop.

        It stands where the first statement of the block needs it.
        """
        if not self.grows or self.free >= (pushes_of(block[0]) or 0):
            return
        counts = takewhile(lambda n: n is not None, map(pushes_of, block))
        self.free = sum(n for n in counts if n is not None)
        self.room(Const(self.free))

    def room(self, size: Expr) -> None:
        """Write what makes room for numbers."""
        if self.grows:
            self.memory.room(STACK, self.to.as_kind(added(Name(TOP), size), INT))

    def move(self, size: Expr, op: str = "add") -> None:
        """Write what moves the top."""
        by = self.to.as_kind(size, INT)
        self.to.set(TOP, self.to.writer.do(f"{op} nsw i64 {self.to.named(TOP)}, {by}"))
