"""One function of a text: what it takes out of slots, its body, and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mooncake_py.compiler.native.llvm.expressions import Expressions
from mooncake_py.compiler.native.llvm.memory import Memory
from mooncake_py.compiler.native.llvm.module import Module
from mooncake_py.compiler.native.llvm.numbers import REGISTER
from mooncake_py.compiler.native.llvm.saved import STACK, TOP
from mooncake_py.compiler.native.llvm.signature import Signature, Slot
from mooncake_py.compiler.native.llvm.stack import Stack
from mooncake_py.compiler.native.llvm.statements import Statements
from mooncake_py.compiler.native.llvm.writer import Writer
from mooncake_py.compiler.native.regions.kinds import Known
from mooncake_py.compiler.native.regions.region import BOOL
from mooncake_py.compiler.regions.ir import Block

__all__ = ["Function"]

COUNT = "mc_count"
"""The function that tells how many numbers will be saved."""


class Function:
    """Writes one function.

    Parameters
    ----------
    kinds : mapping of str to str
        Of names and arrays.
    axes : mapping of str to int
        Of arrays.
    known : Known
        Kinds of expressions.
    asks, grows, is_count, listens : bool
        See `Statements` and `Stack`.
    """

    def __init__(
        self,
        module: Module,
        kinds: Mapping[str, str],
        axes: Mapping[str, int],
        known: Known,
        body: Block,
        *,
        asks: bool = False,
        grows: bool = False,
        is_count: bool = False,
        listens: bool = False,
    ) -> None:
        self.module = module
        self.kinds = kinds
        self.axes = axes
        self.body = body
        self.writer = Writer(module)
        self.to = Expressions(self.writer, kinds, axes, known)
        self.memory = Memory(self.to, body, can_leave=asks)
        self.stack = Stack(self.to, self.memory, grows=grows)
        self.statements = Statements(
            self.to, self.memory, self.stack, asks=asks, is_count=is_count, listens=listens
        )

    # Names that all functions have.

    def take(self, inputs: Sequence[Slot], moving: frozenset[str] = frozenset()) -> None:
        """Write what binds the inputs, which are in slots.

        Parameters
        ----------
        moving : frozenset of str
            Arrays that may get other memory.
        """
        changing = moving | self.memory.made | self.memory.grown
        for slot in inputs:
            if slot.axes is None:
                self.to.set(slot.name, self.number(slot))
                continue
            pointer = self.loaded(slot.place, "ptr")
            lengths = [self.loaded(slot.place + 1 + axis, "i64") for axis in range(slot.axes)]
            self.to.arrays.bind(slot.name, pointer, lengths, once=slot.name not in changing)

    def number(self, slot: Slot) -> str:
        """Return a number that is in a slot."""
        if slot.kind == BOOL:
            return self.writer.do(f"icmp ne i64 {self.loaded(slot.place, 'i64')}, 0")
        return self.loaded(slot.place, REGISTER[slot.kind])

    def loaded(self, place: int, type_: str) -> str:
        """Return the contents of a slot of the inputs."""
        return self.writer.do(f"load {type_}, ptr {self.at('%in', place)}")

    def at(self, slots: str, place: int) -> str:
        """Return the address of a slot."""
        return self.writer.do(f"getelementptr inbounds i64, ptr {slots}, i64 {place}")

    def give(self, place: int, type_: str, value: str) -> None:
        """Write what goes into a slot of the results."""
        self.writer.line(f"store {type_} {value}, ptr {self.at('%out', place)}")

    def give_all(self, outputs: Sequence[Slot]) -> None:
        """Write all results into their slots."""
        for slot in outputs:
            if slot.axes is not None:
                self.give_array(slot)
                continue
            value = self.to.named(slot.name)
            if slot.kind == BOOL:
                value = self.writer.do(f"zext i1 {value} to i64")
            self.give(slot.place, "i64" if slot.kind == BOOL else REGISTER[slot.kind], value)

    def give_array(self, slot: Slot) -> None:
        """Write where an array is, null for memory of the caller, and how long it is."""
        is_owner = self.memory.is_owner(slot.name)
        self.give(slot.place, "ptr", self.memory.owned(slot.name) if is_owner else "null")
        for axis in range(slot.axes or 0):
            self.give(slot.place + 1 + axis, "i64", self.to.arrays.length(slot.name, axis))

    def ended(self, head: str, name: str) -> None:
        """Take up the function in the text."""
        self.to.arrays.end(name)
        self.module.functions.append(self.writer.text(head))

    # Functions.

    def kernel(self, signature: Signature, *, has_count: bool) -> None:
        """Write a function that others call.

        Parameters
        ----------
        has_count : bool
            Whether `count` tells before how large the stack must be.
        """
        inputs, outputs = signature.inputs, signature.outputs
        moves = self.stack.grows or has_count
        stack = outputs[:1] if outputs and outputs[0].name == STACK else ()
        self.take(inputs, frozenset({STACK}) if moves else frozenset())
        if has_count:
            need = self.writer.do(f"call i64 @{COUNT}(ptr %in)")
            code = self.writer.do(f"trunc i64 {self.writer.do(f'sub i64 0, {need}')} to i32")
            self.writer.leave_unless(self.writer.do(f"icmp sge i64 {need}, 0"), code)
            self.memory.room(STACK, need)
        self.statements.block(self.body)
        self.give_all(outputs)
        self.memory.end([slot.name for slot in outputs])
        self.writer.line("ret i32 0")
        code = self.writer.begin_left()
        if code is not None:
            self.give_all(stack)
            self.memory.end([])
            self.writer.line(f"ret i32 {code}")
        parameters = "ptr noalias nocapture %in, ptr noalias nocapture %out"
        self.ended(f"define i32 @{signature.symbol}({parameters}) nounwind", signature.symbol)

    def count(self, inputs: Sequence[Slot]) -> None:
        """Write what tells how many numbers will be saved; a code, times -1, if that fails."""
        self.take(inputs)
        self.statements.block(self.body)
        self.memory.end([])
        self.writer.line(f"ret i64 {self.to.named(TOP)}")
        code = self.writer.begin_left()
        if code is not None:
            self.memory.end([])
            wide = self.writer.do(f"sext i32 {code} to i64")
            self.writer.line(f"ret i64 {self.writer.do(f'sub i64 0, {wide}')}")
        self.ended(f"define internal i64 @{COUNT}(ptr noalias nocapture %in) nounwind", COUNT)
