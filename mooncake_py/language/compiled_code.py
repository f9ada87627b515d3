"""Compiled code without a rule, called with constants: it runs, and its writes are recorded.

The effects of this code are unknown.  So the engine compares all arrays and containers that it can
reach with copies, and repeats and records each change. It refuses effects that it cannot see:
Python code that the compiled code calls, and memory that is accessed by address.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, FrameType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.containers import containers
from mooncake_py.containers.undo import note
from mooncake_py.diagnostics.native_modules import is_native_module
from mooncake_py.diagnostics.places import is_library
from mooncake_py.diagnostics.refusals import missing_rule
from mooncake_py.language import array_protocols, draws
from mooncake_py.rooms import PACKAGE
from mooncake_py.runtime import buffers
from mooncake_py.runtime.methods import DESCRIPTORS
from mooncake_py.runtime.referents import (
    Reached,
    TooMuchError,
    is_function_of_cython,
    reached_from,
)
from mooncake_py.tangents.bits import bits_of
from mooncake_py.tangents.memory import is_writeable, owner
from mooncake_py.tangents.subclasses import plain

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["keeps_data", "refuse_held", "run"]

FUNCTIONS = (type, np.ufunc, BuiltinFunctionType, *DESCRIPTORS)
OF_WORDS = "biufmM"


def run(ctx: Mode, f: Any, values: Any, args: Any, kwargs: Any) -> Any:
    """Run ``f(*args, **kwargs)``, which may write to what it can reach from `f` and `values`."""
    try:
        reached = reached_from((f, *values))
    except TooMuchError as error:
        raise missing_rule(ctx, f, values, str(error), kwargs) from None
    reached.arrays += [a for o in reached.containers if (a := buffers.lent(ctx, o)) is not None]
    reached.arrays += [a for key, a in ctx.held.items() if key not in reached.known]
    refuse_active(ctx, f, reached, values, kwargs)
    for generator in reached.generators:
        draws.note(draws.source_of(generator))
    watch, unseen = Watch(ctx, reached), Unseen()
    references = [sys.getrefcount(a) for a in reached.arrays]
    y = None
    try:
        with unseen.refused():
            y = f(*args, **kwargs)
    except BaseException:
        if unseen.function is None:
            raise
    finally:
        watch.record_writes()
    if unseen.function is not None:
        why = f"it calls {unseen.function}, Python code that the engine could not see"
        raise missing_rule(ctx, f, values, why, kwargs)
    more = [a for a, n in zip(reached.arrays, references, strict=True) if sys.getrefcount(a) > n]
    if more:
        ctx.held.update((id(a), a) for a in not_in_sight(more, (f, y)))
    return array_protocols.watch_array(ctx, y)


def refuse_active(ctx: Mode, f: Any, reached: Reached, values: Any, kwargs: Any) -> None:
    """Raise if compiled code can reach active data."""
    if reached.numbers or any(ctx.find(plain(a)) is not None for a in reached.arrays):
        why = "it can reach active data through its arguments"
        raise missing_rule(ctx, f, values, why, kwargs)


def refuse_held(ctx: Mode, f: Any, values: Any, kwargs: Any) -> None:
    """Raise if an array has become active that compiled code keeps for itself."""
    if any(ctx.find(plain(a)) is not None for a in ctx.held.values()):
        why = "it may read an array that compiled code has kept, and that has become active since"
        raise missing_rule(ctx, f, values, why, kwargs)


def not_in_sight(arrays: list[ndarray], holders: Any) -> list[ndarray]:
    """Return the arrays that compiled code keeps, but not where its objects or results show it."""
    try:
        found = reached_from(holders)
    except TooMuchError:
        return arrays
    seen = {
        *found.known,
        *(id(a.base) for a in found.arrays),
        *(id(owner(a)) for a in found.arrays),
    }
    return [a for a in arrays if id(a) not in seen]


def keeps_data(f: Any) -> bool:
    """Return whether what is called is an object that may hold data, not a function or a class."""
    if not callable(f) or isinstance(f, FUNCTIONS):
        return False
    return not is_function_of_cython(f)


class Watch:
    """Copies of arrays and containers, from which to see what has been written to them."""

    def __init__(self, ctx: Mode, reached: Reached) -> None:
        self.ctx = ctx
        writeable = (a for a in map(plain, reached.arrays) if is_writeable(a))
        self.arrays = [(a, a.copy(order="K")) for a in writeable]
        self.containers = [(o, containers.module_of(o)) for o in reached.containers]
        self.contents = [module.contents(o) for o, module in self.containers]

    def record_writes(self) -> None:
        """Undo writes, and repeat them so that the engine can undo them."""
        changed = [(a, a.copy(), old) for a, old in self.arrays if not same_bits(a, old)]
        for a, _, old in changed:
            a[...] = old
        for a, new, _ in changed:
            self.ctx.assign(a, Ellipsis, new)
        for (o, module), old in zip(self.containers, self.contents, strict=True):
            if not same_items(module.contents(o), old):
                note(self.ctx, module.restore, o, old)


def same_bits(a: ndarray, old: ndarray) -> bool:
    """Return whether an array holds what a copy of it holds; zeros of different signs differ."""
    if a.dtype.kind == "O":
        return all(p is q for p, q in zip(a.ravel().tolist(), old.ravel().tolist(), strict=True))
    if a.dtype.kind in OF_WORDS and a.itemsize in (1, 2, 4, 8):
        word = f"u{a.itemsize}"
        return bool(np.array_equal(a.view(word), old.view(word)))
    return bits_of(a) == bits_of(old)


def same_items(new: Any, old: Any) -> bool:
    """Return whether a container holds the very objects that it held, in the same order."""
    if issubclass(type(new), (bytearray, array)):
        return bytes(new) == bytes(old)
    if len(new) != len(old) or not all(p is q for p, q in zip(new, old, strict=True)):
        return False
    return not issubclass(type(new), dict) or all(new[key] is part for key, part in old.items())


class Unseen:
    """Looks out for Python code of the user's that compiled code calls, and refuses it."""

    def __init__(self) -> None:
        self.function: str | None = None

    @contextmanager
    def refused(self) -> Iterator[None]:
        """Raise where Python code is entered within this block, and remember it.

        Compiled code may drop the exception; so the name is kept too.
        """
        getter: Any = sys.getprofile
        setter: Any = sys.setprofile
        old = getter()
        if old is not None and not callable(old):  # a profiler in C, which cannot be put back
            getter, setter = sys.gettrace, sys.settrace
            old = getter()
        setter(self.entered)
        try:
            yield
        finally:
            setter(old)

    def entered(self, frame: FrameType, event: str, arg: object) -> None:
        """Note which code of the user begins to run."""
        if event == "call" and self.function is None and is_users(frame):
            self.function = frame.f_code.co_qualname
            raise RuntimeError(f"{self.function} would run unseen")


def is_users(frame: FrameType) -> bool:
    """Return whether code may belong to the user: not to a library, nor to this package."""
    code, module = frame.f_code, frame.f_globals.get("__name__") or ""
    if code.co_name == "__del__" or code.co_filename.startswith(PACKAGE):
        return False
    return not (is_library(code.co_filename) or is_native_module(module))
