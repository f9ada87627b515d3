"""Weak references, and collections of them: what only the records of derivatives hold is gone."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Any

from mooncake_py.language import unfinished
from mooncake_py.language.draws import once, repeats
from mooncake_py.runtime.activity import parts
from mooncake_py.runtime.references import references_beside

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode, Recording

__all__ = ["HANDLERS", "is_gone"]


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


def is_of_weakref(callback: Any) -> bool:
    """Return whether a callback only tidies up one of the collections of `weakref`."""
    if type(callback) is not FunctionType or callback.__module__ not in ("weakref", "_weakrefset"):
        return False
    held = [part for part in parts(callback) if type(part) is FunctionType]
    return all(is_of_weakref(part) for part in held if part is not callback)


def run_proxy(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    ctx.refuse(f, args, "compiled code applies operations on a proxy to the object")


class Referent:
    """The referent that a weak reference gave to a part that runs again, which keeps it."""

    def __init__(self, value: Any) -> None:
        self.value = value


_kept: weakref.WeakValueDictionary[int, Referent] = weakref.WeakValueDictionary()
"""By the ids of the values: one for each."""


def run_referent(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``reference()``: an object that only the records of derivatives hold is gone.

    A part of a program that runs again finds it as in its first run, if it was made before.
    """
    gone = is_gone(ctx, *args)
    known = f(*args, **kwargs)
    if not repeats():
        return None if gone else known

    def run() -> tuple[Any, Any]:
        found = None if gone else _kept.setdefault(id(known), Referent(known))
        return found, found

    def is_again(first: Any) -> bool:
        return gone and type(first) is Referent and first.value is known

    found = once(run, is_again)
    return None if found is None else found.value


def run_size(ctx: Mode, f: Any, args: Any, kwargs: Any) -> int:
    """Run ``len(collection)`` of objects that are held weakly: those that are gone do not count."""
    data = args[0].data
    references = data.values() if is_of_values(args[0]) else data
    gone = [r for r in list(references) if CALL(r) is not None and is_gone(ctx, r)]
    return f(*args, **kwargs) - len(gone)


def is_of_values(collection: Any) -> bool:
    """Return whether the values of a mapping are held weakly."""
    return issubclass(type(collection), weakref.WeakValueDictionary)


CALL = weakref.ref.__call__


def is_gone(ctx: Recording, reference: Any, holders: Iterable[Iterable[Any]] = ()) -> bool:
    """Return whether an object lives no more, or only records and these other `holders` hold it."""
    holder = [CALL(reference)]
    if holder[0] is None:
        return True
    beside = references_beside(holder)
    recorded = sum([part is holder[0] for held in (*holders_of(ctx), *holders) for part in held])
    return 0 < beside <= recorded + (id(holder[0]) in _kept)


def holders_of(ctx: Recording) -> Iterator[Iterable[Any]]:
    """Yield the holders in the records of a call and of those around it, several objects each."""
    from mooncake_py.recomputation.replay import pull_replay  # what few programs need

    contexts: tuple[Any, ...] = (ctx, *getattr(ctx, "outers", ()))
    yield from unfinished.holders(contexts)
    for context in contexts:
        rehearsal = getattr(context, "rehearsal", None)
        if rehearsal is not None:
            yield from filter(None, rehearsal.changes.kept)
            yield from rehearsal.setting.cells.values()
        for entry in getattr(context, "tape", ()):
            if entry is not None:
                yield entry
                if entry[0] is pull_replay:
                    yield from entry[1].holders()


HANDLERS = {
    weakref.ref: run_ref,
    CALL: run_referent,
    weakref.ref.__new__: run_ref,
    weakref.ref.__init__: run_ref,
    weakref.proxy: run_proxy,
    weakref.WeakSet.__len__: run_size,
    weakref.WeakKeyDictionary.__len__: run_size,
    weakref.WeakValueDictionary.__len__: run_size,
}
