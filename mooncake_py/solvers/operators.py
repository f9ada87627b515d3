"""Iterations in a library that call methods of operators, which may change what they reach."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.application.seen_calls import runs_python, within
from mooncake_py.containers.holders import Attributes, Contents, Place
from mooncake_py.containers.reachable import State
from mooncake_py.rules.declare import contextual
from mooncake_py.solvers.run import put_all
from mooncake_py.solvers.unsettled import Iterates

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["heard", "quietly"]

Function = Callable[..., Any]


def heard(f: Function, name: str, /, *args: Any) -> Any:
    """Return ``f(name, *args)``, of a method of that name; what operators change is recorded."""
    return f(name, *args)


@contextual(heard)
def hear_inside(ctx: Mode, f: Function, name: str, /, *args: Any) -> Any:
    """Run it inside a derivative."""
    if not any(map(runs_python, args)):
        return ctx.call(f, name, *args)
    listener = Listener()
    with listener:
        y = ctx.call(f, name, *args)
    found = [(place, place.read(), now) for place, now in listener.changes or ()]
    if ctx.contains_active(args):
        marks = Iterates(ctx, name)
        marks.stored = [place.path for place, _, _ in found]
        found = [(p, before, marked(marks, p, before, now)) for p, before, now in found]
    put_all(ctx, [(place, now) for place, _, now in found])
    return y


def marked(marks: Iterates, place: Place, before: Any, now: Any) -> Any:
    """Return the contents of a place, new parts marked as having no known derivative."""
    if not isinstance(place, (Attributes, Contents)):
        return marks.mark(now)
    if isinstance(now, dict):
        return {k: v if v is before.get(k) else marks.mark(v) for k, v in now.items()}
    if isinstance(now, list):
        known = set(map(id, before))
        return [v if id(v) in known else marks.mark(v) for v in now]
    return now


class Listeners(threading.local):
    """Those that wait for what operators change, in each thread."""

    def __init__(self) -> None:
        self.waiting: list[Listener] = []


LISTENERS = Listeners()


class Listener:
    """A block in which the changes that the first run of operators makes are kept."""

    def __init__(self) -> None:
        self.changes: list[tuple[Place, Any]] | None = None

    def __enter__(self) -> None:
        LISTENERS.waiting.append(self)

    def __exit__(self, *exception: object) -> None:
        LISTENERS.waiting.pop()


def quietly(f: Function, /, *args: Any, **kwargs: Any) -> Any:
    """Return ``f(*args)``; what operators change is undone, and told to who waits for it."""
    values = [f, *args, *kwargs.values()]
    if not any(map(runs_python, values)):
        return f(*args, **kwargs)
    state = State(NOTHING_ACTIVE, list(within(values)))
    try:
        return f(*args, **kwargs)
    finally:
        changes = state.put_back()
        for listener in LISTENERS.waiting[-1:]:
            if listener.changes is None:
                listener.changes = changes


class Outside:
    """Stands for a mode outside of derivatives, where nothing is active."""

    outers = ()

    def contains_active(self, value: Any) -> bool:
        """Return False."""
        return False

    def find(self, a: ndarray) -> None:
        """Find nothing."""


NOTHING_ACTIVE: Any = Outside()
