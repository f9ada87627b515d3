"""Native code that calls Python code of the user's: what that changes is recorded.

A function of the standard library may call a hook, write to a file that is an object of the user's,
or print an element.  The Python code runs as it is.  All state that it can reach is compared with
the state before, so that each change is undone after the derivative.
"""

from __future__ import annotations

import functools
import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from numpy import ndarray

from mooncake_py.containers.reachable import Reachable, State
from mooncake_py.diagnostics.native_modules import is_native_module
from mooncake_py.modules import module_of
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT, holds_inert
from mooncake_py.tangents.fields import own_attributes

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["reaches_active", "run_logged", "run_seen", "runs_python"]

CONTAINERS = (list, tuple, dict, set, frozenset, deque)
FUNCTIONS = (FunctionType, MethodType, functools.partial)
HEAP_TYPE = 1 << 9
IN_C = frozenset({"_csv", "_io", "_json", "_pickle"})
"""Modules in C whose objects call methods of the user's objects that they hold."""
LIBRARIES = ("numpy", "scipy", "mooncake_py")
DEEP = 4
WRITTEN = (FunctionType, property, classmethod, staticmethod)

_written_in_python: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def runs_python(value: Any, depth: int = 0) -> bool:
    """Return whether native code that is given a value may call Python code of the user's."""
    t = type(value)
    if (t in INERT and t is not type) or t is Active or t is ndarray or depth > DEEP:
        return False
    if t in CONTAINERS:
        if t not in (set, frozenset) and t is not tuple and holds_inert(value):
            return False
        held = list(value.values() if isinstance(value, dict) else value)
        return any(runs_python(part, depth + 1) for part in held)
    if t in FUNCTIONS:
        return True
    if module_of(t) in IN_C:
        return any(runs_python(part, depth + 1) for part in gc.get_referents(value))
    cls: Any = value if isinstance(value, type) else t
    if not cls.__flags__ & HEAP_TYPE or module_of(cls).startswith(
        ("numpy", "scipy", "mooncake_py")
    ):
        return False
    if is_native_module(module_of(cls)):
        return not isinstance(value, type) and any(
            runs_python(part, depth + 1) for part in own_attributes(value).values()
        )
    found = _written_in_python.get(cls)
    if found is None:
        held = (part for base in cls.__mro__ for part in vars(base).values())
        found = _written_in_python[cls] = any(type(part) in WRITTEN for part in held)
    return found


def run_seen(ctx: Mode, f: Any, values: Iterable[Any], run: Callable[[], Any]) -> Any:
    """Run native code that may call Python code, and record what that changes."""
    values = list(values)
    if not any(map(runs_python, values)):
        return run()
    state = State(ctx, [f, *within(values)])
    try:
        return run()
    finally:
        for place, contents in state.put_back():
            place.put(ctx, contents)


def reaches_active(ctx: Mode, values: Iterable[Any]) -> bool:
    """Return whether Python code that native code may call can reach active data."""
    return Reachable(ctx, list(values)).is_active


def within(values: Iterable[Any], depth: int = 0) -> Iterator[Any]:
    """Yield values, and what objects of the standard library hold."""
    for value in values:
        yield value
        t = type(value)
        if t in INERT or t in CONTAINERS or t in FUNCTIONS or depth > DEEP:
            continue
        if module_of(t) in IN_C:
            yield from within(gc.get_referents(value), depth + 1)
        elif is_native_module(module_of(t)) and not isinstance(value, type):
            yield from within(own_attributes(value).values(), depth + 1)


def run_logged(ctx: Mode, f: Any, args: Any, kwargs: Any, run: Callable[[], Any]) -> Any:
    """Run a function of `logging`, whose handlers and filters may be the user's."""
    import logging  # not above: few programs use it

    logger = args[0] if args and isinstance(args[0], logging.Logger) else logging.getLogger()
    found: list[Any] = []
    here: logging.Logger | None = logger
    while here is not None:
        found += [vars(here), *here.filters, *here.handlers]
        here = here.parent if here.propagate else None
    for handler in list(found):
        if isinstance(handler, logging.Handler):
            found += [handler.formatter, *handler.filters, getattr(handler, "stream", None)]
    return run_seen(ctx, f, (*found, *args[1:], *kwargs.values()), run)
