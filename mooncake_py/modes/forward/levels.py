"""The state of a forward-mode call, and its interface to the context below."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, cast

from numpy import ndarray

from mooncake_py.containers import state
from mooncake_py.containers.undo import note
from mooncake_py.language.array_language import ArrayLanguage
from mooncake_py.modes.forward import pushforward
from mooncake_py.modes.forward.blocks import Blocks
from mooncake_py.rules.creation import laid_out_copy
from mooncake_py.runtime import drops
from mooncake_py.runtime.active import Active, active_number
from mooncake_py.runtime.compilation import Compile
from mooncake_py.runtime.numerals import Numerals
from mooncake_py.runtime.operators import BinaryOperator
from mooncake_py.runtime.quiet import Quiet, Unheard
from mooncake_py.runtime.registry import Registry
from mooncake_py.runtime.values import FLOAT64, NUMBERS, is_inexact

if TYPE_CHECKING:
    from mooncake_py.modes.forward.context import ForwardContext
    from mooncake_py.runtime.forward_mode import ForwardMode
    from mooncake_py.runtime.mode import Mode
else:
    ForwardMode = object  # what the classes built on this one add up to

__all__ = ["Levels"]


def operator_call(f: Callable[..., Any], *args: Any) -> Any:
    """Return ``f(*args)``."""
    return f(*args)


class Levels(ArrayLanguage, ForwardMode):
    """Primals and tangents, both values of the context below.

    Parameters
    ----------
    base : Mode
        What computes primals and tangents, and undoes writes.
    plain : bool
        Whether nothing is active below: then tangents are computed natively.

    Attributes
    ----------
    is_last : bool
        Whether nothing is active below, also where debug mode checks what is computed there.
    blocks : Blocks
        Tangents of arrays.  That of a number is the `grad` of the `Active`, whose `primal` and
        `grad` may be active numbers of the base.
    """

    fuses = False
    receiver: Mode | None = None
    unsettled: Callable[[], Exception] | None = None  # for tangents that are not known: nan
    is_outermost = True  # not while it computes for a derivative inside
    numbers = NUMBERS | {Active}

    def __init__(self, base: Mode, plain: bool) -> None:
        self.base = base
        self.plain = plain
        self.is_last = plain
        self.blocks = Blocks(base.registry, drops.reporter(self))
        super().__init__()
        self.rebound = base.rebound
        self.share_traces(base)

    @contextmanager
    def based_on(self, base: Mode) -> Iterator[None]:
        """Compute on top of another context meanwhile, with the same tangents."""
        before = self.base, self.plain, self.is_last, self.is_outermost
        self.base, self.plain, self.is_last, self.is_outermost = base, False, False, False
        try:
            yield
        finally:
            self.base, self.plain, self.is_last, self.is_outermost = before

    # Questions that the context below answers.

    @property
    def failure(self) -> Any:
        """The first error of the engine, at any level."""
        return self.base.failure

    @failure.setter
    def failure(self, error: Any) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self.base.failure = error

    @property
    def numerals(self) -> Numerals | None:
        """Numbers written as text at any level, which the base checks in reads."""
        return self.base.numerals

    @numerals.setter
    def numerals(self, found: Numerals) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self.base.numerals = found

    @property
    def registry(self) -> Registry:
        """The base's record of memory: whether writes must be logged."""
        return self.base.registry

    @property
    def thread(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The thread that runs the call."""
        return self.base.thread

    @property
    def level(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How many derivatives this one is inside of, and over."""
        return self.base.level + 1

    @property
    def nesting(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How many derivatives the user takes of this code: the base is there for this one."""
        return self.base.nesting

    @property
    def compiles(self) -> Compile:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether functions are compiled: what computes below says it."""
        return self.base.compiles

    @property
    def outers(self) -> Sequence[Mode]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The calls under and around this one."""
        return (self.base, *self.base.outers)

    def node_at(self, key: int) -> Any:
        """Return something with a reference to the array of this id, if it is active."""
        known = self.blocks.of_id(key)
        return self.base.node_at(key) if known is None else known

    def record(self, entry: tuple[Any, ...]) -> None:
        """Record how to undo a change."""
        self.base.record(entry)

    def log_write(self, memory: Any, o: ndarray, i: Any) -> None:
        """Record the elements that a write is about to overwrite; of what moves, the whole block.

        The tangent of a block took as much memory, and later writes need no log then.
        """
        if self.plain and not getattr(memory, "rewritten", False):
            owner = memory.ref()
            if owner is not None and self.blocks.of_id(id(owner)) is not None:
                memory.logged = owner.nbytes
        self.base.log_write(memory, o, i)

    def change_shape(self, o: ndarray, shape: Any) -> None:
        """Run ``o.shape = shape``, and the same for the tangent."""
        old = o.shape
        self.base.change_shape(o, shape)
        if self.blocks.tangent_of(o) is not None:
            note(self, state.restore_shape, o, old, self.blocks)
            self.blocks.change_shape(o, shape)

    def roll_back(self) -> None:
        """Undo every change of primal state."""
        self.base.roll_back()

    def leave(self, value: Any) -> None:
        """Note a value that the function returns or raises."""
        self.base.leave(value)
        if self.unsettled is not None and self.is_outermost:
            # Only where callbacks of solvers have stored something.
            from mooncake_py.modes.forward.settled import require_settled

            require_settled(cast("ForwardContext", self), value, self.unsettled)

    def call_function(self, f: Any, args: Any, kwargs: Any) -> Any:
        """Run a Python function by its derived form."""
        self.base.entering(f)
        return super().call_function(f, args, kwargs)

    def outside(self) -> AbstractContextManager[None]:
        """Return a block for code that is not a part of the call: its changes persist."""
        return self.base.outside()

    def carry_out(self, error: BaseException, held: Any) -> None:
        """Note the data of an exception that leaves the call."""
        self.base.carry_out(error, held)

    def meet(self, number: Active) -> None:
        """Note a number that is active in another call."""
        self.base.meet(number)

    def entering(self, f: Any) -> None:
        """Note a Python function that is about to run."""
        self.base.entering(f)

    def notes_functions(self) -> bool:
        """Return whether Python functions that run are noted."""
        return self.base.notes_functions()

    def note_cell(self, cell: Any) -> None:
        """Note a captured variable that is about to change, not by code that runs here."""
        self.base.note_cell(cell)

    # Activity.

    def find(self, a: ndarray) -> Any:
        """Return something if an array is active at this level or below."""
        t = self.blocks.tangent_of(a)
        return self.base.find(a) if t is None else t

    def split(self, value: Any) -> tuple[Any, Any]:
        """Return the primal and the tangent of a number or an array; None for zero."""
        t = type(value)
        if t is ndarray:
            return value, self.blocks.tangent_of(value)
        if t is Active and value.context is self:
            return value.primal, value.grad
        return value, None

    # The same for what handles tangents along several directions too: see `StackedContext`.
    pair = split

    def keep_first(self) -> None:
        """Go on with one direction only: what follows handles no more."""

    def primal(self, value: Any) -> Any:
        """Return the primal of a value, of the parts of lists, tuples and dicts too."""
        t = type(value)
        if t is Active:
            return value.primal if value.context is self else value
        if t is list or t is tuple:
            return t(map(self.primal, value))
        if t is dict:
            return {self.primal(k): self.primal(v) for k, v in value.items()}
        return value

    def tangent(self, value: Any) -> Any:
        """Return the tangent of an argument, a list for a sequence; None where all is zero."""
        if type(value) is list or type(value) is tuple:
            parts = [self.tangent(v) for v in value]
            return parts if any(part is not None for part in parts) else None
        return self.pair(value)[1]

    # Computing below.

    @property
    def operators(self) -> Any:
        """The operators for values of the base, under the names of `operator`."""
        return operator if self.plain else self.base

    @property
    def caller(self) -> Callable[..., Any]:
        """A function that calls functions on values of the base."""
        return operator_call if self.plain else self.base.call

    def lower(self, f: Callable[..., Any], *args: Any) -> Any:
        """Run a function on values of the base."""
        with Unheard():
            if self.plain:
                return f(*args)
            return self.base.call(f, *args)

    def on_primals(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run a function that has a rule on primals, of which one has a tangent.

        Where nothing is active below there is nothing to record, unless numbers are read from text.
        """
        if self.plain and self.numerals is None:
            return f(*args, **kwargs)
        return self.base.call(f, *args, **kwargs)

    def write(self, t: ndarray, i: Any, v: Any) -> None:
        """Run ``t[i] = v`` for a tangent."""
        if self.plain and type(v) is float and t.dtype is FLOAT64:
            t[i] = v
            return
        with Quiet():
            if self.plain:
                t[i] = v
            else:
                self.base.assign(t, i, v)

    def change(self, op: BinaryOperator, t: ndarray, v: Any) -> None:
        """Run ``t op= v`` for a tangent."""
        if self.plain:
            with Quiet():
                op.inplace(t, v)
        else:
            self.base.inplace(op, t, v)

    def tangent_to_write(self, a: ndarray) -> ndarray:
        """Return the tangent of an array for a region to read and write.

        Where nothing is active below, no one undoes writes to tangents: they need no log.
        """
        t = self.blocks.activate(a)
        if self.plain:
            self.registry.note_new(t if t.base is None else self.registry.owner(t))
        return t

    def heed_settings(self) -> None:
        """Note a change of settings, at all levels: regions run below."""
        super().heed_settings()
        self.base.heed_settings()
        self.pushes = self.base.fuses or self.base.pushes
        self.peeks = self.base.peeks

    def run_region(self, site: Any, functions: Any, steps: Any, inputs: Any) -> Any:
        """Run a region as its tangent, by the context below."""
        return site.push(self, functions, steps, inputs)

    def run_statement(self, site: Any, functions: Any, values: Any) -> Any:
        """Run a statement with its tangent, both by the context below."""
        return site.push(self, functions, values)

    def run_generally(self, site: Any, functions: Any, values: Any, ctx: Mode) -> Any:
        """Run a statement operation by operation in this context, or in one of those over it."""
        return self.base.run_generally(site, functions, values, ctx)

    def fresh(self, y: Any, t: Any) -> Any:
        """Return a new value with its tangent."""
        if t is None or not is_inexact(y):
            return y
        if type(y) is not ndarray:
            return self.fresh_number(y, t)
        y = self.owned(y)
        whole = y.base is None and type(t) is ndarray and t.base is None
        if whole and t.dtype is y.dtype and t.strides == y.strides and t.shape == y.shape:
            return self.fresh_array(y, t)
        self.write(self.blocks.activate(y), Ellipsis, t)
        self.note_new(y if y.base is None else self.registry.owner(y))
        return y

    def owned(self, y: ndarray) -> ndarray:
        """Return a result in memory of its own: libraries hand out memory that a capsule has."""
        if y.base is None or not self.registry.is_unowned(y):
            return y
        return self.base.call(laid_out_copy, y)

    def fresh_array(self, y: ndarray, t: ndarray) -> ndarray:
        """Return a new array that owns its memory, with a tangent laid out like it."""
        self.blocks.put(y, t)
        if self.plain:  # as `note_new`
            self.base.registry.note_new(y)
        return y

    def note_new(self, owner: ndarray) -> None:
        """Note that nobody else has seen an array yet: writes need no log."""
        if self.plain:
            self.registry.note_new(owner)

    def fresh_number(self, y: Any, t: Any) -> Any:
        """Return a number with its tangent; itself if that is None."""
        if t is None:
            return y
        active = active_number(y, self)
        active.grad = t
        return active

    def converted(self, f: Any, x: Active) -> Any:
        """Run ``float(x)`` and similar for an active number."""
        if x.context is not self:
            return self.base.call(f, x)
        if type(x.primal) is f and type(x.grad) is f:
            return x
        y = self.base.call(f, x.primal)
        return (
            self.fresh(y, self.lower(pushforward.fitted, self.pair(x)[1], y))
            if is_inexact(y)
            else y
        )
