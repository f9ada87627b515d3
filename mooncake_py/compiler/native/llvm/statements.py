"""Statements: what they store, where they branch, and what leaves a function."""

from __future__ import annotations

from itertools import groupby

from mooncake_py.compiler.native.llvm.expressions import Expressions
from mooncake_py.compiler.native.llvm.listening import INTERRUPTED
from mooncake_py.compiler.native.llvm.loops import Loops
from mooncake_py.compiler.native.llvm.memory import Memory
from mooncake_py.compiler.native.llvm.numbers import joined
from mooncake_py.compiler.native.llvm.saved import (
    STACK,
    TOP,
    as_slot,
    is_lasting,
    popped_by,
    with_slots,
)
from mooncake_py.compiler.native.llvm.stack import Stack
from mooncake_py.compiler.native.llvm.writer import NO_MEMORY
from mooncake_py.compiler.native.nodes.node import Outside
from mooncake_py.compiler.native.regions.refused import CannotCompile
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT32, INT
from mooncake_py.compiler.regions.ir import (
    Alloc,
    Apply,
    Assign,
    Block,
    Break,
    Bump,
    Check,
    Const,
    Count,
    Expr,
    For,
    ForAll,
    Grow,
    If,
    Let,
    Load,
    Name,
    Op,
    Push,
    Statement,
    Target,
    While,
    statements,
)
from mooncake_py.compiler.regions.simplify import added

__all__ = ["Statements"]


class Statements:
    """Writes the statements of one function.

    Parameters
    ----------
    asks : bool
        Whether it is left where a function of arrays fails: the way back does not ask, but where
        a function of Python fails.
    is_count : bool
        Whether of what is pushed only the size counts.
    listens : bool
        Whether loops look for signals.
    """

    def __init__(
        self,
        to: Expressions,
        memory: Memory,
        stack: Stack,
        *,
        asks: bool,
        is_count: bool,
        listens: bool,
    ) -> None:
        self.to = to
        self.writer = to.writer
        self.memory = memory
        self.stack = stack
        self.loops = Loops(self)
        self.is_count = is_count
        self.listens = listens
        self._asks = asks
        self._known: frozenset[Expr] = frozenset()

    def block(self, block: Block) -> None:
        """Write a block."""
        known, place = self._known, 0
        for is_check, group in groupby(block, lambda s: isinstance(s, Check)):
            for s in group:
                if not is_check:
                    self.stack.room_ahead(block[place:])
                self.lines(s)
                place += 1
        self._known = known

    def lines(self, s: Statement) -> None:
        """Write a statement."""
        self.writer.statement = s
        count = popped_by(s)
        if count:
            self.stack.move(Const(count), "sub")
            s = with_slots(s, [added(Name(TOP), Const(k)) for k in reversed(range(count))])
        self.statement(s)

    def statement(self, s: Statement) -> None:
        """Write a statement that pops nothing."""
        match s:
            case Assign(target=target, value=value):
                self.assign(target, value)
            case Let(name=name, value=value) | Count(name=name, value=value):
                self.assign(Name(name), value)
            case Bump(target=target, value=value):
                self.bump(target, value)
            case Push():
                self.push(s)
            case Check(test=test):
                self.check(test)
            case Alloc():
                self.memory.make(s)
            case Grow():
                self.memory.grow(s)
            case Apply():
                self.apply(s)
            case If():
                self.branches(s)
            case For():
                self.loops.over_range(s)
            case ForAll():
                self.loops.for_all(s)
            case While():
                self.loops.while_true(s)
            case Break():
                self.loops.leave()
            case _:
                raise CannotCompile(type(s).__name__)

    # Numbers and elements.

    def assign(self, target: Target, value: Expr) -> None:
        """Write what stores a value."""
        if isinstance(value, Op) and value.op in ("add", "sub") and value.args[0] == target:
            self.bump(target, value.args[1], value.op)
            return
        kind = self.to.kind(target)
        found = self.to.as_kind(value, kind)
        if isinstance(target, Name):  # which may be compared
            self.to.set(target.name, self.writer.hidden(kind, found))
        else:
            self.store(target, found)

    def store(self, target: Target, value: str) -> None:
        """Write an element."""
        if not isinstance(target, Load):
            raise CannotCompile(type(target).__name__)
        self.to.arrays.store(target.array, self.to.arrays.address(target), value)

    def bump(self, target: Target, value: Expr, op: str = "add") -> None:
        """Write what adds a value, or subtracts it."""
        if isinstance(value, Op) and value.op == "neg":
            value, op = value.args[0], {"add": "sub", "sub": "add"}[op]
        own, arrays = self.to.kind(target), self.to.arrays
        kind = joined(
            (own, self.to.kind(value), INT) if own == BOOL else (own, self.to.kind(value))
        )
        if isinstance(target, Name):
            kind = FLOAT32 if own == FLOAT32 else kind
            more = self.to.as_kind(value, kind)
            before = self.to.converted(self.to.named(target.name), own, kind)
            found = self.to.binary(op, kind, before, more)
            self.to.set(target.name, self.to.converted(found, kind, own))
            return
        more, address = self.to.as_kind(value, kind), arrays.address(target)
        before = self.to.converted(arrays.load(target.array, address), own, kind)
        found = self.to.converted(self.to.binary(op, kind, before, more), kind, own)
        arrays.store(target.array, address, found)

    def push(self, s: Push) -> None:
        """Write what saves a number."""
        if not self.is_count:
            self.stack.free -= 1
            self.assign(Load(STACK, (Name(TOP),)), as_slot(s))
        self.stack.move(Const(1))

    # Statements that leave the function.

    def check(self, test: Expr) -> None:
        """Write what leaves the function unless a test holds, if that is not known to hold."""
        if test in self._known:
            return
        if is_lasting(test, self.memory.made):
            self._known |= {test}
        self.writer.leave_unless(self.to.truth(test))

    def apply(self, s: Apply) -> None:
        """Write what computes an array by a function of arrays."""
        arrays = self.to.arrays
        kinds: list[tuple[str, int | None]] = []
        passed: list[str] = []
        for array in (s.target, *s.operands):
            axes = arrays.axes[array]
            kinds.append((arrays.kind(array), axes))
            passed.append(f"ptr {arrays.pointer(array)}")
            passed += [f"i64 {arrays.length(array, axis)}" for axis in range(axes)]
        symbol = self.writer.module.symbol_of(s.function, tuple(kinds), BOOL)
        if isinstance(s.function, Outside):
            asked = self.writer.helper("mc_signals", "i32")
            self.writer.leave_unless(self.writer.do(f"icmp sge i32 {asked}, 0"), INTERRUPTED)
        done = self.writer.do(f"call i8 @{symbol}({', '.join(passed)})")
        if isinstance(s.function, Outside):
            found = self.writer.helper("mc_interrupted", "i32", f"i8 {done}")
            self.writer.leave_unless(self.writer.do(f"icmp sge i32 {found}, 0"), INTERRUPTED)
            self.writer.leave_unless(self.writer.do(f"icmp sgt i8 {done}, 0"))
            return
        self.writer.leave_unless(self.writer.do(f"icmp sge i8 {done}, 0"), NO_MEMORY)
        if self._asks:
            self.writer.leave_unless(self.writer.do(f"icmp ne i8 {done}, 0"))

    # Branches.

    def branches(self, s: If) -> None:
        """Write a branch."""
        writer, stack = self.writer, self.stack
        test = self.to.truth(s.test)
        yes, no, end = (writer.fresh(hint) for hint in ("then", "else", "end"))
        writer.branch(test, yes, no)
        free = stack.free
        left: list[int] = []
        for label, side in ((yes, s.body), (no, s.orelse)):
            stack.free = free
            writer.begin(label)
            self.block(side)
            writer.go(end)
            left.append(stack.free)
        stack.free = min(left)
        writer.begin(end)

    def passes(self, block: Block) -> None:
        """Write the body of a loop, each pass of which makes room for itself."""
        free, self.stack.free = self.stack.free, 0
        self.block(block)
        self.stack.free = 0 if any(isinstance(s, Push) for s in statements(block)) else free
