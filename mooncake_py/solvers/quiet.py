"""Solvers whose callbacks can change nothing.

Most are: then there is no state to look for, to compare and to put back.  Whatever is not known to
be harmless is left to `Run`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CellType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.derivatives import Derivative, of_mapped
from mooncake_py.overriding import override
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.enclosing import enclosed
from mooncake_py.runtime.silence import Deferred
from mooncake_py.solvers.held_still import held_still
from mooncake_py.solvers.reading import DATA, Reader, is_named_tuple
from mooncake_py.solvers.start import Solved

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Quiet", "quiet"]


class Quiet(Solved):
    """One call of such a solver within a derivative."""

    def __init__(self, ctx: Mode, reader: Reader) -> None:
        super().__init__(ctx)
        self.reader = reader
        is_active = reader.is_active
        self.begin = [] if is_active else None
        self.arrays = reader.arrays if is_active else []

    def solve(self, f: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Return the result of a solver for plain numbers; `NotImplemented` if not known."""
        warned = Deferred()
        try:
            with warned, held_still(self.arrays):
                found = self.evaluated(f, *args, **kwargs)
        except Exception:  # of a refused write, or one that carries numbers out of a callback
            if self.begin is None:
                warned.show()
                raise
            return NotImplemented
        warned.show()
        return found

    @override
    def knows(self, a: ndarray) -> bool:
        return any(a is known for known in self.reader.arrays)

    @override
    def evaluated(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        bare = Bare(self.reader.classes)
        args = tuple(map(bare.of, args))
        kwargs = {name: bare.of(value) for name, value in kwargs.items()}
        with self.ctx.outside(), enclosed(None):
            return f(*args, **kwargs)


def quiet(ctx: Mode, args: Any, kwargs: Any) -> Quiet | None:
    """Return the call of a solver whose callbacks can change nothing, None if they perhaps can."""
    if ctx.watches or ctx.objects or ctx.numerals is not None:
        return None
    reader = Reader(ctx)
    values = (*args, *kwargs.values()) if kwargs else args
    return Quiet(ctx, reader) if reader.is_quiet(values) else None


class Bare:
    """Data, functions and objects with plain numbers in place of active ones.

    What holds none stays itself.

    Parameters
    ----------
    classes : dict of int to type
        Those of objects that are copied if they hold active numbers.
    """

    def __init__(self, classes: dict[int, type]) -> None:
        self.classes = classes
        self.known: dict[int, Any] = {}

    def of(self, value: Any) -> Any:
        """Return a value, or what takes its place."""
        t = type(value)
        if t in DATA:
            return value
        if t is Active:
            return unwrapped(value)
        if id(value) not in self.known:
            self.known[id(value)] = self.holder(value, t)
        return self.known[id(value)]

    def holder(self, value: Any, t: type) -> Any:
        """Return the replacement of an object that holds others."""
        if t is FunctionType:
            return self.function(value)
        if t in (tuple, list) or is_named_tuple(t):
            parts = [self.of(part) for part in value]
            if all(map(is_same, parts, value)):
                return value
            return tuple.__new__(t, parts) if issubclass(t, tuple) else parts
        if t is dict:
            return self.names(value)
        if t is MethodType:
            f, o = self.of(value.__func__), self.of(value.__self__)
            same = f is value.__func__ and o is value.__self__
            return value if same else MethodType(f, o)
        if t is functools.partial:
            f, args, named = (self.of(p) for p in (value.func, value.args, value.keywords))
            return functools.partial(f, *args, **named)
        if isinstance(value, Derivative):
            return of_mapped(value, self.of)
        if id(t) in self.classes:
            held = self.names(vars(value))
            if held is not vars(value):
                value = object.__new__(t)
                vars(value).update(held)
        return value

    def names(self, held: dict[Any, Any]) -> dict[Any, Any]:
        """Return a dict."""
        parts = {key: self.of(part) for key, part in held.items()}
        return held if all(map(is_same, parts.values(), held.values())) else parts

    def function(self, f: FunctionType) -> FunctionType:
        """Return a function with plain numbers among its captured variables and defaults."""
        held = [cell.cell_contents for cell in f.__closure__ or ()]
        parts = [self.of(part) for part in held]
        defaults = self.of(f.__defaults__)
        if defaults is f.__defaults__ and all(map(is_same, parts, held)):
            return f
        cells = tuple(map(CellType, parts)) if parts else None
        return FunctionType(f.__code__, f.__globals__, f.__name__, defaults, cells)


def is_same(a: Any, b: Any) -> bool:
    """Return whether two values are one object."""
    return a is b
