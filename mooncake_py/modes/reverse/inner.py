"""The context of a derivative inside another one.

Outer active data that the inner call uses become inputs of the inner derivative: the memory of an
array gets a separate shadow, and a number collects its cotangent in its node.  If there are no such
inputs, the result does not depend on the outer variables.
"""

from __future__ import annotations

from mmap import mmap
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any
from weakref import ref

from numpy import ndarray

from mooncake_py.errors import NestedDerivativeError
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.overriding import override
from mooncake_py.recomputation.setting import Setting
from mooncake_py.runtime.active import Active, shared_number
from mooncake_py.runtime.enclosing import nested_derivative
from mooncake_py.runtime.foreign import foreign_numbers, held_foreign
from mooncake_py.runtime.memory import Memory
from mooncake_py.runtime.numerals import Numerals
from mooncake_py.runtime.views import View

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["InnerContext", "refuse_to_catch"]


class InnerContext(ReverseContext):
    """One reverse-mode call inside another.

    The outer derivative follows it if it is `grad`, `vjp` or `jvp`.  If not, to meet what is active
    outside is an error.
    """

    def __init__(self, outer: Mode, follows: bool = False) -> None:
        super().__init__()
        self.follows = follows
        self.outers = (outer, *outer.outers)
        self.level = outer.level + 1
        self.nesting = outer.nesting + 1
        self.share_traces(outer)
        self.registry.foreign = outer.registry.foreign
        self.foreign_before = frozenset(self.registry.foreign)
        self.registry.look_up = outer.registry.look_up
        # By the id of the owner the blocks here and outside; numbers and the cotangents they had.
        self.captured: dict[int, tuple[Memory, Memory]] = {}
        self.numbers: dict[int, tuple[Active, Any]] = {}
        self.setting = Setting(*self.outers)
        self.known = self.registry.known = _Known(self)
        del self.record  # the method below, not that of the tape

    @property
    def numerals(self) -> Numerals | None:
        """The numbers written as text, here or outside: they may be read on either side."""
        return self.outers[0].numerals

    @numerals.setter
    def numerals(self, found: Numerals) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self.outers[0].numerals = found

    @property
    def depends(self) -> bool:
        """Whether the call has used outer active data."""
        return bool(self.captured or self.numbers)

    @property
    def receiver(self) -> Mode | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The outer call, if it follows the results of this one, after this one has run."""
        return self.outers[0] if self.follows and self.depends else None

    def record(self, entry: tuple[Any, ...]) -> None:
        """Record an entry, and note the numbers of outside to which it gives cotangents."""
        self.meet_numbers(entry)
        self.tape.append(entry)

    @override
    def meet_numbers(self, entry: tuple[Any, ...]) -> None:
        for number in foreign_numbers(self, entry):
            self.meet(number)

    @override
    def meet(self, number: Active) -> None:
        if number.context not in self.outers:
            if number.context.level > self.level:
                return  # of forward mode over this call
            raise shared_number(number)
        if not self.follows:
            raise self.refusal()
        if id(number) not in self.numbers:
            self.numbers[id(number)] = number, number.grad
            # At once: in a second run an outer number may be a new one, of what runs outside.
            if number.context is not self.outers[0]:
                self.outers[0].meet(number)

    def refusal(self) -> NestedDerivativeError:
        """Return the error for the use of outer active data."""
        return nested_derivative(self.outers)

    @override
    def leave(self, value: Any) -> None:
        for part in held_foreign(self, value, set()):
            if type(part) is Active:
                self.meet(part)
            else:
                self.find(part)

    @override
    def carry_out(self, error: BaseException, held: Any) -> None:
        # Data active here may depend on data active outside, if this call has met any.
        if self.holds_met(held) or (self.depends and self.contains_active(held)):
            refuse_to_catch(self.outers, error, self.user_location())

    def holds_met(self, value: Any) -> bool:
        """Return whether a value holds anything that is active outside."""
        return any(
            part.context in self.outers
            if type(part) is Active
            else self.find(part) is not None and self.is_captured(part)
            for part in held_foreign(self, value, set())
        )

    def is_captured(self, a: ndarray) -> bool:
        """Return whether an array shares memory with one that is active outside."""
        return id(a if a.base is None else self.registry.owner(a)) in self.captured

    @override
    def entering(self, f: FunctionType) -> None:
        super().entering(f)
        self.setting.entering(f)
        self.outers[0].entering(f)

    @override
    def notes_functions(self) -> bool:
        return True

    @override
    def note_cell(self, cell: CellType) -> None:
        super().note_cell(cell)
        self.setting.note_cell(cell)
        self.outers[0].note_cell(cell)

    @override
    def call_function(self, f: FunctionType, args: Any, kwargs: Any) -> Any:
        self.entering(f)
        return super().call_function(f, args, kwargs)

    def capture(self, node: Any) -> Memory:
        """Return a block of this call for one that is active outside."""
        if not self.follows:
            raise self.refusal()
        memory = node.memory
        owner = memory.ref()
        known = dict.get(self.known, id(owner))
        if known is not None and known.ref() is owner:
            return known.memory
        if memory.shape is None:
            memory.describe(owner)
        own = Memory.met(owner)
        own.describe(owner)
        self.known[id(owner)] = own
        self.captured[id(owner)] = own, memory
        return own

    def deliver(self) -> None:
        """Add the cotangents of captured data to those of the outer call."""
        for own, outside in self.captured.values():
            if own.grad is not None:
                outside.add_block(own)

    def forget_maps(self) -> None:
        """Drop the maps of files that this call has made: another run of it maps them again."""
        known = self.registry.foreign
        if len(known) > len(self.foreign_before):
            made = [key for key, (buffer, _) in known.items() if type(buffer) is mmap]
            for key in set(made) - self.foreign_before:
                del known[key]

    def forget_cotangents(self) -> None:
        """Restore the cotangents that the numbers of the outer call had."""
        for number, grad in self.numbers.values():
            number.grad = grad


def refuse_to_catch(contexts: Any, error: BaseException, where: Any) -> None:
    """Let calls fail that go on after an exception which holds what is active in them.

    It passes through them as it is: where no one catches it, no derivative is lost.
    """
    refusal = NestedDerivativeError(
        "an exception that carries active data out of an inner derivative was caught",
        where=where,
        why="its derivative would be lost: the data of an exception are copied when it leaves",
        fix="return the data, for example with has_aux=True, or put a text into the exception",
    )
    refusal.__cause__ = error
    for ctx in contexts:
        ctx.failed(refusal)


class _Known(dict[int, Memory | View]):
    """Nodes by id of the array; captures where an array is looked up that is active outside."""

    __slots__ = ("ctx",)

    def __init__(self, ctx: InnerContext) -> None:
        super().__init__()
        self.ctx = ref(ctx)  # no cycle, which only the collector would free

    @override
    def get(self, key: int, default: Any = None, /) -> Any:
        node = super().get(key)
        if node is not None and node.ref() is not None:
            return node
        ctx = self.ctx()
        assert ctx is not None
        outside = ctx.outers[0].node_at(key)
        if outside is None or outside.ref() is None:
            return default if node is None else node
        own = ctx.capture(outside)
        return own if own.ref() is outside.ref() else default


if TYPE_CHECKING:  # that nothing which the mode promises is missing

    def _inside(outer: Mode) -> ReverseMode:
        return InnerContext(outer)
