"""What a mode of differentiation promises to the code that runs in it.

A context gives each operation of rewritten code its meaning.  That of reverse mode records on a
tape, that of forward mode carries tangents, that of debug mode checks besides; rules, containers
and the language itself do not know which.  A :class:`Mode` is what all of them may rely on.  It
is put together of protocols of one concern each: ask for the narrowest that serves.

Operators besides ``eq`` are methods too, under their names in the module `operator`: whoever runs
one has its name at hand and looks it up.  These classes are for type checkers: no class of the
engine inherits them when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from types import CellType, FunctionType
from typing import Any, Protocol

from numpy import ndarray, ufunc

from mooncake_py.diagnostics.reporting import Reporting
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.memory import Registry
from mooncake_py.runtime.numerals import Numerals
from mooncake_py.runtime.operators import BinaryOperator

__all__ = ["Calling", "Computing", "Handler", "Language", "Mode", "Recording", "Tracking"]


class Recording(Protocol):
    """What records changes of the user's state, so that they can be undone.

    Attributes
    ----------
    rebound : dict
        Globals that functions which were called may bind: by id of the globals and name.
    ordered : dict or Changes
        Dicts and sets, by id, of which the order of the keys is recorded.
    rehearsal : Rehearsal or None
        What watches a part that runs without record.
    meter : Meter or None
        What tells the user how far the call is.
    """

    rebound: dict[tuple[int, str], dict[str, Any]]
    ordered: Any
    rehearsal: Any
    meter: Any

    def record(self, entry: tuple[Any, ...], /) -> None:
        """Record an entry ``(pull, ...)``: on the way back ``pull(entry)`` is called."""
        ...

    def log_write(self, memory: Any, o: ndarray, i: Any) -> object:
        """Record what a write to ``o[i]`` is about to overwrite."""
        ...

    def change_shape(self, o: ndarray, shape: Any) -> None:
        """Run ``o.shape = shape``, and the same for the shadow or the tangent."""
        ...

    def roll_back(self) -> None:
        """Undo every change of primal state, without derivatives."""
        ...

    def outside(self) -> AbstractContextManager[None]:
        """Return a block for code that is no part of the call: what it changes stays changed."""
        ...

    def repeatable(self, run: Callable[[], Any]) -> Any:
        """Run a part of the call that may be run again instead of being recorded."""
        ...

    def run_again(self, body: Callable[[Any], Any], names: Any, items: Any, slots: int = 10) -> Any:
        """Run a checkpointed loop, the body of which is a function that binds `names`."""
        ...


class Tracking(Reporting, Protocol):
    """What knows which memory is active, and in which derivative.

    Attributes
    ----------
    level : int
        How many derivatives this one is inside of, and over.
    nesting : int
        How many derivatives the user takes of the code that runs here, one in another.
    thread : int
        Of the thread that runs the call.
    outers : sequence of Mode
        The calls round this one, and under it, the nearest first.
    receiver : Mode or None
        The call round this one in which what this one hands out is active.
    numerals : Numerals or None
        Numbers that were written as text.
    stored : StoredFiles or None
        Files that active data were written to.
    watches : bool
        Whether objects exist that NumPy would turn into arrays unseen.
    """

    level: int
    nesting: int
    thread: int
    outers: Sequence[Mode]
    receiver: Mode | None
    numerals: Numerals | None
    stored: Any
    watches: bool

    @property
    def registry(self) -> Registry:
        """Blocks of memory: who owns them, and whether writes to them must be logged."""
        ...

    def find(self, a: ndarray, /) -> Any:
        """Return something other than None if an array is active.

        In reverse mode it is the node of the array, in forward mode its tangent.
        """
        ...

    def node_at(self, key: int) -> Any:
        """Return something with a reference to the array of this id, if it is active."""
        ...

    def meet(self, number: Active) -> None:
        """Note a number that is active in another call; raise if that call is not round this."""
        ...

    def entering(self, f: FunctionType) -> None:
        """Note a Python function that is about to run in a derivative inside this one."""
        ...

    def note_cell(self, cell: CellType) -> None:
        """Note a captured variable that is about to become active."""
        ...

    def leave(self, value: Any) -> None:
        """Note a value that the function returns or raises."""
        ...

    def carry_out(self, error: BaseException, held: Any) -> None:
        """Note what an exception holds that leaves the call."""
        ...

    def written(self, text: Any, *, whole: bool = False) -> Any:
        """Remember the numbers in a text that was made of active values, and return it."""
        ...

    def refuse(self, f: Any, args: Iterable[Any], why: str) -> None:
        """Raise because a function cannot be run in the engine's sight."""
        ...

    def refuse_if_active(self, f: Any, args: Iterable[Any]) -> None:
        """Raise if a function without a rule would receive active data."""
        ...

    def refuse_subclass(self, *values: Any) -> None:
        """Raise if an instance of a subclass of ndarray meets active data."""
        ...

    def refuse_subclasses(self, values: Any) -> None:
        """Raise if an instance of a subclass of ndarray is among operands that are active."""
        ...


class Language(Protocol):
    """What rewritten code asks: of a mode, and of a context of one's own.

    Attributes
    ----------
    chosen : object
        What :meth:`choose` tested last.
    linked : object
        The right operand of the last :meth:`link`.
    """

    chosen: Any
    linked: Any

    # Calls.

    def call(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Run ``f(*args, **kwargs)``."""
        ...

    def call_one(self, f: Any, x: Any, /) -> Any:
        """Run ``f(x)``."""
        ...

    def method(self, o: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Run ``o.name(*args, **kwargs)``."""
        ...

    def decorator(self, decorator: Any) -> Callable[[Any], Any]:
        """Return what a decorator does to a function."""
        ...

    def run_region(self, site: Any, functions: Any, steps: Any, inputs: Any) -> Any:
        """Run a region as one entry and return what it binds; `Elsewhere` says that it must not."""
        ...

    # Attributes and elements.

    def getattr(self, o: Any, name: str) -> Any:
        """Run ``o.name``."""
        ...

    def peek(self, o: Any, name: str) -> Any:
        """Return ``o.name`` where that runs no code of the user's, else something else."""
        ...

    def field(self, o: Any, name: str) -> Any:
        """Return ``o.name`` where reading it runs no code, else something else."""
        ...

    def own_field(self, o: Any, name: str, *others: Any) -> Any:
        """Return ``o.name`` where reading and storing it runs no code, else something else."""
        ...

    def peek_operator(self, name: str, *operands: Any) -> Any:
        """Return the result of an operator where that runs no code of the user's."""
        ...

    def setattr(self, o: Any, name: str, v: Any, /) -> None:
        """Run ``o.name = v``."""
        ...

    def delattr(self, o: Any, name: str) -> None:
        """Run ``del o.name``."""
        ...

    def getitem(self, o: Any, i: Any) -> Any:
        """Run ``o[i]``."""
        ...

    def setitem(self, o: Any, i: Any, v: Any) -> None:
        """Run ``o[i] = v``."""
        ...

    def delitem(self, o: Any, i: Any) -> None:
        """Run ``del o[i]``."""
        ...

    def augitem(self, op: str, o: Any, i: Any, v: Any, /) -> None:
        """Run ``o[i] op= v``, where `v` has no side effects."""
        ...

    def augattr(self, op: str, o: Any, name: str, v: Any, /) -> None:
        """Run ``o.name op= v``, where `v` has no side effects."""
        ...

    def storeback(self, o: Any, i: Any, v: Any) -> None:
        """Write back what an augmented assignment to ``o[i]`` has computed."""
        ...

    # Truth, size, comparison.

    def eq(self, a: Any, b: Any, /) -> Any:
        """Run ``a == b``."""
        ...

    def truth(self, value: Any) -> Any:
        """Return something native whose truth is that of a value."""
        ...

    def choose(self, value: Any) -> Any:
        """Return the truth of an operand of ``and`` or ``or``, which is kept as `chosen`."""
        ...

    def len(self, value: Any) -> int:
        """Run ``len(value)``."""
        ...

    def identical(self, a: Any, b: Any) -> bool:
        """Run ``a is b``."""
        ...

    def not_identical(self, a: Any, b: Any) -> bool:
        """Run ``a is not b``."""
        ...

    def link(self, name: str, a: Any, b: Any) -> Any:
        """Run one comparison of a chain; its right operand is kept as `linked`."""
        ...

    def contained(self, item: Any, container: Any) -> bool:
        """Run ``item in container``."""
        ...

    def not_contained(self, item: Any, container: Any) -> bool:
        """Run ``item not in container``."""
        ...

    def key(self, value: Any) -> Any:
        """Return a value that Python is about to hash."""
        ...

    def format(self, value: Any, conversion: str, spec: str) -> str:
        """Run ``f"{value!conversion:spec}"``."""
        ...

    # Loops, unpacking, managers, classes.

    def iter(self, iterable: Any, pattern: Any = None) -> Iterable[Any]:
        """Return what a loop over `iterable` runs over."""
        ...

    def unpack(self, value: Any, pattern: Any) -> Any:
        """Return a value that is unpacked next: `pattern` is None for each target."""
        ...

    def mapping(self, value: Any) -> Any:
        """Return what ``**value`` unpacks."""
        ...

    def delegate(self, iterable: Any) -> Any:
        """Return what ``yield from`` delegates to."""
        ...

    def manager(self, manager: Any) -> Any:
        """Return the context manager of a ``with`` statement."""
        ...

    def class_made(self, cls: type) -> type:
        """Return a class that a ``class`` statement has made."""
        ...


class Calling(Language, Protocol):
    """What calls functions, reads and writes as the engine does.

    Attributes
    ----------
    handlers, unary_handlers : mapping
        From a function to what calls it: any, or one of one number or array.
    rules_version : tuple
        Of the rules that the tables were made of.
    caches : dict of int to Cache
        What functions that `functools.lru_cache` made have returned, by the id of the function.
    flags : dict
        The arrays of flags that were read.
    """

    handlers: Any
    unary_handlers: Any
    rules_version: Any
    caches: dict[int, Any]
    flags: dict[int, Any]

    def load_handlers(self) -> None:
        """Take the tables of handlers for the rules that are registered now."""
        ...

    def heed_settings(self) -> None:
        """See whether quick forms serve under the settings of NumPy and of the rules."""
        ...

    def call_function(self, f: FunctionType, args: Any, kwargs: Any) -> Any:
        """Run a Python function by its derived form."""
        ...

    def set_own_attribute(self, native: Any, o: Any, name: str, v: Any) -> None:
        """Write an attribute that the instance keeps itself, by a function such as `setattr`."""
        ...

    def read_cached(self, descriptor: Any, o: Any) -> Any:
        """Read a `functools.cached_property`."""
        ...

    def forget_lookups(self) -> None:
        """Look attributes up anew: one of a class has changed."""
        ...

    def scalar_attribute(self, value: Active, name: str) -> Any:
        """Return an attribute of an active number."""
        ...

    def iterate_array(self, a: ndarray) -> Iterable[Any]:
        """Return what a loop over an array runs over."""
        ...

    def as_operand(self, value: Any) -> Any:
        """Return a list or tuple as an array, with what is active in it."""
        ...


class Computing(Protocol):
    """What computes with numbers and arrays: where modes differ.

    An operator is described by its `BinaryOperator`, or by its name in the module `operator`.
    """

    def array_operator(self, op: BinaryOperator, a: Any, b: Any) -> Any:
        """Run an operator of which an operand is an array, the other one or a number."""
        ...

    def scalar_operation(
        self, rule: Any, function: Callable[..., Any], args: tuple[Any, ...]
    ) -> Any:
        """Run a function of numbers of which at least one is active."""
        ...

    def unary_array(self, function: Any, ufunc: ufunc, a: ndarray) -> Any:
        """Run a unary operator on an array."""
        ...

    def unary(self, name: str, a: Any) -> Any:
        """Run a unary operator on a value of any type."""
        ...

    def inplace(self, op: BinaryOperator, x: Any, v: Any) -> Any:
        """Run ``x op= v`` and return what the name is bound to afterwards."""
        ...

    def inplace_array(self, op: BinaryOperator, x: ndarray, v: Any) -> None:
        """Run ``x op= v`` for an array."""
        ...

    def assign(self, o: ndarray, i: Any, v: Any) -> None:
        """Run ``o[i] = v`` for an array."""
        ...

    def converted(self, f: Any, x: Active) -> Any:
        """Run ``float(x)`` and the like for an active number."""
        ...


class Mode(Recording, Tracking, Calling, Computing, Protocol):
    """One differentiated call, in whichever mode."""


Handler = Callable[[Any, Any, Any, Any], Any]
"""How a function is called, ``(mode, function, args, kwargs)``: a table has those of one mode."""
