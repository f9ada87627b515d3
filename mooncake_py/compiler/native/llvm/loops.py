"""Loops: over ranges, while a test holds, and over counters in the order that suits the machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mooncake_py.compiler.native.llvm.listening import listen, listens
from mooncake_py.compiler.native.llvm.marks import Passes, are_apart, marks
from mooncake_py.compiler.native.llvm.nests import nested
from mooncake_py.compiler.native.llvm.products import product_by_blas
from mooncake_py.compiler.native.llvm.saved import on_stack, popped_by, sized
from mooncake_py.compiler.native.llvm.sums import FEW, LANE, MANY, Sums, totals_of
from mooncake_py.compiler.native.regions.contractions import Contraction
from mooncake_py.compiler.native.regions.refused import CannotCompile
from mooncake_py.compiler.native.regions.region import INT
from mooncake_py.compiler.regions.ir import (
    Const,
    For,
    ForAll,
    Op,
    Push,
    Statement,
    While,
    statements,
)

if TYPE_CHECKING:
    from mooncake_py.compiler.native.llvm.statements import Statements

__all__ = ["BODY", "Loops"]

BODY = "pass"
"""The prefix of the labels of the bodies of loops."""


class Loops:
    """Writes the loops of one function."""

    def __init__(self, all_: Statements) -> None:
        self.all = all_
        self.to = all_.to
        self.writer = all_.writer
        self._ends: list[str] = []

    # In order.

    def while_true(self, s: While) -> None:
        """Write a loop that goes on while a test holds."""
        head, body, end = (self.writer.fresh(hint) for hint in ("while", BODY, "end"))
        self.writer.go(head)
        self.writer.begin(head)
        self.writer.branch(self.to.truth(s.test), body, end)
        self.writer.begin(body)
        self.passes(s, end)
        self.writer.go(head)
        self.writer.begin(end)

    def over_range(self, s: For) -> None:
        """Write a loop over a range."""
        if not isinstance(s.range, Op) or len(s.range.args) != 3:
            raise CannotCompile("a loop over no range")
        first, last, by = s.range.args
        lo, hi, step = (self.to.as_kind(e, INT) for e in (first, last, by))
        if by == Const(1):
            self.counted(lo, hi, "1", lambda *at: self.one_pass(s, *at), "slt")
        elif by == Const(-1):
            self.counted(lo, hi, "-1", lambda *at: self.one_pass(s, *at), "sgt")
        else:
            self.stepped(s, lo, hi, step)

    def one_pass(self, s: For, i: str, end: str) -> None:
        """Write one pass of a loop over a range."""
        self.to.set(s.name, i)
        self.passes(s, end)

    def stepped(self, s: For, lo: str, hi: str, step: str) -> None:
        """Write a loop with steps of any size: how many passes there are is known before.

        Ends and steps may be so large that the number after the last one is not an int.
        """
        do = self.writer.do
        self.writer.leave_unless(do(f"icmp ne i64 {step}, 0"))
        is_up = do(f"icmp sgt i64 {step}, 0")
        up, down = do(f"icmp slt i64 {lo}, {hi}"), do(f"icmp sgt i64 {lo}, {hi}")
        is_some = do(f"select i1 {is_up}, i1 {up}, i1 {down}")
        forward, back = do(f"sub i64 {hi}, {lo}"), do(f"sub i64 {lo}, {hi}")
        away = do(f"select i1 {is_up}, i64 {forward}, i64 {back}")
        minus = do(f"sub i64 0, {step}")
        size = do(f"select i1 {is_up}, i64 {step}, i64 {minus}")
        before = do(f"sub i64 {away}, 1")
        some = do(f"add i64 {do(f'udiv i64 {before}, {size}')}, 1")
        n = do(f"select i1 {is_some}, i64 {some}, i64 0")

        def one(k: str, end: str) -> None:
            self.one_pass(s, do(f"add i64 {lo}, {do(f'mul i64 {k}, {step}')}"), end)

        self.counted("0", n, "1", one, "ult")

    def counted(
        self,
        lo: str,
        hi: str,
        by: str,
        body: Callable[[str, str], None],
        test: str,
        how: Passes = Passes.FREELY,
        group: int | None = None,
    ) -> None:
        """Write a loop over ints from one to another, that one left out.

        Parameters
        ----------
        body : callable
            Writes a pass, given the int, and the label of what stands behind the loop.
        """
        writer = self.writer
        inner, end = writer.fresh(BODY), writer.fresh("end")
        before = writer.label
        writer.branch(writer.do(f"icmp {test} i64 {lo}, {hi}"), inner, end)
        writer.begin(inner)
        i, following = writer.register(), writer.register()
        phi = writer.later()
        body(i, end)
        flag = "" if test == "ult" else " nsw"
        writer.line(f"{following} = add{flag} i64 {i}, {by}")
        writer.fill(phi, f"{i} = phi i64 [ {lo}, %{before} ], [ {following}, %{writer.label} ]")
        more = writer.do(f"icmp {test} i64 {following}, {hi}")
        writer.branch(more, inner, end, marks(writer.module, how, group))
        writer.begin(end)

    def passes(self, s: For | While, end: str) -> None:
        """Write the body of a loop."""
        if self.all.listens and listens(s, is_outermost=not self._ends):
            listen(self.writer)
        self._ends.append(end)
        self.all.passes(s.body)
        self._ends.pop()

    def leave(self) -> None:
        """Write what leaves the innermost loop; nothing comes to what stands behind it."""
        self.writer.go(self._ends[-1])
        self.writer.begin(self.writer.fresh("never"))

    # In any order.

    def for_all(self, s: ForAll) -> None:
        """Write loops over counters; the stack moves once."""
        stack = self.all.stack
        pushes = sum(isinstance(inner, Push) for inner in statements(s.body))
        pops = sum(map(popped_by, statements(s.body)))
        if pushes and pops:
            raise TypeError(s)
        if not pushes and not pops:
            self.nest(s)
            return
        size = sized(pushes + pops, s.extents)
        if self.all.is_count:
            stack.move(size)
        elif pops:
            stack.move(size, "sub")
            self.nest(on_stack(s, pops))
        else:
            stack.free = 0
            stack.room(size)
            self.nest(on_stack(s, pushes))
            stack.move(size)

    def nest(self, s: ForAll) -> None:
        """Write loops over counters, in a good order."""
        for loop in nested(s, self.to.kind):
            if isinstance(loop, Contraction):
                end = self.writer.fresh("end")
                product_by_blas(self.to, loop, end)
                for inner in loop.loops:
                    self.loop_or_line(inner)
                self.writer.go(end)
                self.writer.begin(end)
            else:
                self.loop_or_line(loop)

    def loop_or_line(self, s: Statement) -> None:
        """Write loops over counters, in the order of these, or another statement."""
        if isinstance(s, ForAll):
            self.over_counters(s, 0)
        else:
            self.all.lines(s)

    def over_counters(self, s: ForAll, place: int) -> None:
        """Write the loops over the counters from a place on."""
        if place == len(s.counters):
            for inner in s.body:
                self.loop_or_line(inner)
            return

        def one(i: str, end: str) -> None:
            self.to.set(s.counters[place], i)
            self.over_counters(s, place + 1)

        n = self.to.as_kind(s.extents[place], INT)
        if place < len(s.counters) - 1:
            self.counted("0", n, "1", one, "slt")
            return
        totals = totals_of(s, self.to.kind)
        if totals:
            self.counted(self.in_parts(s, n, totals), n, "1", one, "slt", Passes.SINGLY)
        else:
            self.apart(s, lambda group: self.counted("0", n, "1", one, "slt", group=group))

    def apart(self, s: ForAll, write: Callable[[int | None], None]) -> None:
        """Write an innermost loop whose passes, if that is so, are told to be apart."""
        module, arrays = self.writer.module, self.to.arrays
        before = arrays.group
        if are_apart(s.body, s.counters[-1]):
            arrays.group = module.node(lambda _: "distinct !{}")
        write(arrays.group)
        arrays.group = before

    def in_parts(self, s: ForAll, n: str, totals: tuple[str, ...]) -> str:
        """Write what adds up most numbers of sums, and return where the rest begins."""
        writer, do, sums = self.writer, self.writer.do, Sums(self.to, totals)
        large, some, rest, end = [writer.fresh(hint) for hint in ("large", "some", "rest", "end")]
        many, most = do(f"and i64 {n}, {-MANY}"), do(f"and i64 {n}, {-FEW}")
        before = writer.label
        writer.branch(do(f"icmp sge i64 {n}, {FEW}"), some, end)
        writer.begin(some)
        sums.begin()
        writer.branch(do(f"icmp sge i64 {n}, {MANY}"), large, rest)
        writer.begin(large)
        self.in_blocks(s, "0", many, sums, MANY)
        sums.gather()
        writer.go(rest)
        writer.begin(rest)
        self.in_blocks(s, many, most, sums, FEW)
        sums.end()
        last = writer.label
        writer.go(end)
        writer.begin(end)
        return writer.phi("i64", ("0", before), (most, last))

    def in_blocks(self, s: ForAll, lo: str, hi: str, sums: Sums, size: int) -> None:
        """Write a loop in steps, with one in it over the partial sums."""
        body = sums.within(s.body, size)

        def block(i: str, _: str) -> None:
            def one(k: str, _: str) -> None:
                self.to.set(LANE.name, k)
                self.to.set(s.counters[-1], self.writer.do(f"add nsw i64 {i}, {k}"))
                for inner in body:
                    self.loop_or_line(inner)

            def lanes(group: int | None) -> None:
                self.counted("0", str(size), "1", one, "slt", Passes.AT_ONCE, group)

            self.apart(s, lanes)

        self.counted(lo, hi, str(size), block, "slt")
