"""The iterators that ``yield from`` delegates to, whose methods run derived."""

from __future__ import annotations

from types import GeneratorType
from typing import TYPE_CHECKING, Any

from mooncake_py.language import iteration, moved
from mooncake_py.rooms import PACKAGE
from mooncake_py.rules.stand_ins import class_of
from mooncake_py.runtime.methods import python_method

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Delegate", "delegate", "takes"]

IN_MEMORY = frozenset({list, tuple, dict, range, str})


class Delegate:
    """An iterator in place of one of the program, or of what stands for one in C.

    A generator passes on what it is sent, and that it is closed, to what it delegates to.  It looks
    each method up as an attribute first, and does without those that are not there.

    Parameters
    ----------
    ctx : Mode
    iterator : iterator
        What the attributes belong to.
    step : callable, optional
        Its ``__next__``, if that is in Python.
    """

    __slots__ = ("_ctx", "_iterator", "_step")

    def __init__(self, ctx: Mode, iterator: Any, step: Any = None) -> None:
        self._ctx = ctx
        self._iterator = iterator
        self._step = step

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self._step is None:
            return next(self._iterator)
        return self._ctx.call(self._step, self._iterator)

    @property
    def send(self) -> Any:
        """The attribute looked up to send."""
        return self._method("send")

    @property
    def throw(self) -> Any:
        """The attribute looked up to throw."""
        return self._method("throw")

    @property
    def close(self) -> Any:
        """The attribute looked up to close."""
        return self._method("close")

    def _method(self, name: str) -> Any:
        ctx, iterator = self._ctx, self._iterator
        if self._step is None:
            cls = class_of(iterator)
            kind = "iterator" if cls is GeneratorType else cls.__name__
            raise AttributeError(f"{kind!r} object has no attribute {name!r}")
        method = ctx.getattr(iterator, name)
        return lambda *args: ctx.call(method, *args)


def delegate(ctx: Mode, iterable: Any) -> Any:
    """Return the iterator that ``yield from iterable`` delegates to."""
    t = type(iterable)
    if t in IN_MEMORY:
        return iterable
    if t is GeneratorType:
        iteration.refuse_foreign(ctx, iterable)
        moved.let_go(ctx, iterable)
        return iterable
    iterator = ctx.call(iter, iterable)
    step = python_method(type(iterator), "__next__")
    if step is not None:
        return Delegate(ctx, iterator, step)
    iterator = iteration.iterate_object(ctx, iterator)
    stands_in = type(iterator) is GeneratorType and iterator.gi_code.co_filename.startswith(PACKAGE)
    return Delegate(ctx, iterator) if stands_in else iterator


def takes(generator: Any, name: str) -> bool:
    """Return whether a generator hands something on to a method of an iterator of the program."""
    while type(generator) is GeneratorType:
        generator = generator.gi_yieldfrom
    return type(generator) is Delegate and hasattr(generator, name)
