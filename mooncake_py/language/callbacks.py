"""Compiled functions with callbacks that only return decisions or text.

The engine derives the callback, so that it sees its reads and writes; the result of the callback
does not contribute to the derivative, and is passed to the compiled function as plain numbers.
"""

from __future__ import annotations

import functools
import re
import weakref
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from mooncake_py.language.draws import once, repeats
from mooncake_py.runtime.activity import parts, unwrapped
from mooncake_py.runtime.references import references_beside
from mooncake_py.runtime.users_code import is_of_library, is_written_in_python

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Language, Mode

__all__ = ["HANDLERS", "by_reference", "plain"]


def plain(ctx: Language, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function for compiled code to call: it runs derived and returns plain numbers."""

    def run_derived(*args: Any, **kwargs: Any) -> Any:
        return unwrapped(ctx.call(function, *args, **kwargs))

    return run_derived


def by_reference(ctx: Language, value: Any) -> Any:
    """Return a function for compiled code to call, which keeps its results; other values as is."""
    is_class = isinstance(value, type) and not is_of_library(value) and is_written_in_python(value)
    if not (is_class or isinstance(value, (FunctionType, MethodType, functools.partial))):
        return value
    return functools.partial(ctx.call, value)


def run_calling_back(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function of which some arguments are callbacks."""

    def argument(value: Any) -> Any:
        return plain(ctx, value) if callable(value) else unwrapped(value)

    return f(*map(argument, args), **{name: argument(v) for name, v in kwargs.items()})


def run_ref(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``weakref.ref(o)``; refuse a callback, which the engine could not see."""
    callback = args[-1] if len(args) > (1 if f is weakref.ref else 2) else None
    if callback is not None and not is_of_weakref(callback):
        ctx.refuse(
            weakref.ref,
            args,
            "the engine could not see its callback, which runs when the object is deleted",
        )
    return f(*args, **kwargs)


class Referent:
    """What a weak reference has given to a part of a program that runs again, which keeps it."""

    def __init__(self, value: Any) -> None:
        self.value = value


_kept: weakref.WeakValueDictionary[int, Referent] = weakref.WeakValueDictionary()
"""By the ids of the values: one for each."""


def run_referent(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``reference()``: an object that only the records of derivatives hold is gone.

    A part of a program that runs again finds it as in its first run, if it was made before.
    """
    now = referent_now(ctx, f, args, kwargs)
    if not repeats():
        return now

    def run() -> tuple[Any, Any]:
        return None if now is None else _kept.setdefault(id(now), Referent(now)), None

    found = once(run, lambda _: now is None)
    return None if found is None else found.value


def referent_now(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    holder = [f(*args, **kwargs)]
    if holder[0] is None:
        return None
    beside = references_beside(holder)
    recorded_ones = recorded(ctx, holder[0]) + (id(holder[0]) in _kept)
    return None if 0 < beside <= recorded_ones else holder[0]


def recorded(ctx: Mode, o: Any) -> int:
    """Return how many references to an object the records of a call and of those around it hold."""
    count = 0
    for context in (ctx, *ctx.outers):
        held = [getattr(context, "tape", ())]
        rehearsal = getattr(context, "rehearsal", None)
        if rehearsal is not None:
            held += [rehearsal.changes.kept, rehearsal.setting.cells.values()]
        for entries in held:
            for entry in entries:
                if entry is not None:
                    count += sum([part is o for part in entry])
    return count


def is_of_weakref(callback: Any) -> bool:
    """Return whether a callback only tidies up one of the collections of `weakref`."""
    if type(callback) is not FunctionType or callback.__module__ not in ("weakref", "_weakrefset"):
        return False
    held = [part for part in parts(callback) if type(part) is FunctionType]
    return all(is_of_weakref(part) for part in held if part is not callback)


def run_proxy(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    ctx.refuse(f, args, "compiled code applies operations on a proxy to the object")


def run(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run natively; values pass by reference."""
    return f(*args, **kwargs)


HANDLERS = dict.fromkeys(
    (functools.cmp_to_key, re.sub, re.subn, re.Pattern.sub, re.Pattern.subn), run_calling_back
) | {
    type(functools.cmp_to_key(lambda a, b: 0)).__call__: run,
    weakref.ref: run_ref,
    weakref.ref.__call__: run_referent,
    weakref.ref.__new__: run_ref,
    weakref.ref.__init__: run_ref,
    weakref.proxy: run_proxy,
}
