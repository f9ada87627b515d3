"""What a test differentiates, recorded where it calls the interface."""

from __future__ import annotations

import contextvars
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from mooncake_py import derivatives, interface
from mooncake_py.modes.forward import call
from mooncake_py.modes.reverse import pullback
from mooncake_py.runtime.enclosing import enclosing
from mooncake_py.utilities.ignoring import run_watched
from tests.support.modes.snapshots import Unknown, snapshot

__all__ = ["Record", "recording"]


@dataclass
class Record:
    """A derivative that a test has taken.

    Attributes
    ----------
    f : callable
    args, kwargs : tuple, dict
        The very objects that the test passed.
    argnums : int, str or tuple
    has_aux : bool
    value : object
        Snapshot of the value (of a gradient) or of the output (of a pullback or a push forward).
    gradient : object
        Snapshot of the gradient; None for a pullback or a push forward.
    before : object
        Snapshot of the arguments.
    context : Context
        The context variables at the call: local rules, NumPy's error state, debug mode.
    """

    f: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    argnums: Any
    has_aux: bool
    value: Any
    gradient: Any
    before: Any
    context: contextvars.Context = field(default_factory=contextvars.copy_context)

    @property
    def call(self) -> tuple[Any, ...]:
        """The function, the chosen arguments and all of them."""
        return self.f, self.argnums, self.args, self.kwargs

    @property
    def text(self) -> str:
        name = getattr(self.f, "__qualname__", repr(self.f))
        how = "gradient" if self.gradient is not None else "output"
        return f"{how} of {name} {place(self.f)}, argnums {self.argnums!r}, args {self.args!r:.300}"


def place(f: Any) -> str:
    code = getattr(f, "__code__", None)
    return f"({code.co_filename}:{code.co_firstlineno})" if code else ""


def is_outermost() -> bool:
    """Tell whether a derivative runs in no other, nor in what that one ignores."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code is run_watched.__code__:
            return False
        frame = frame.f_back
    return enclosing() is None


@contextmanager
def recording() -> Iterator[list[Record]]:
    """Record the outermost derivatives that are taken meanwhile."""
    records: list[Record] = []
    value_and_gradient, start = derivatives.value_and_gradient, pullback.Vjp.start
    push_forward = call.push_forward

    def add(*parts: Any) -> None:
        try:
            f, args, kwargs, argnums, has_aux, value, gradient = parts
            records.append(Record(
                f, args, kwargs, argnums, has_aux, snapshot(value),
                None if gradient is None else snapshot(gradient), snapshot((args, kwargs)),
            ))  # fmt: skip
        except (Unknown, RecursionError):
            pass

    def recorded_gradient(
        f: Any,
        argnums: Any,
        has_aux: bool,
        debug: bool,
        args: Any,
        kwargs: Any,
        *by: Any,
        **storage: Any,
    ) -> Any:
        outermost = is_outermost()
        result = value_and_gradient(f, argnums, has_aux, debug, args, kwargs, *by, **storage)
        if outermost:
            value = result[0][0] if has_aux else result[0]
            add(f, args, kwargs, argnums, has_aux, value, result[1])
        return result

    def recorded_start(self: Any) -> Any:
        y, pull = start(self)
        if is_outermost():
            add(self.f, self.given, {}, None, False, y, None)
        return y, pull

    def recorded_push(f: Any, primals: Any, tangents: Any, *name: str) -> Any:
        outermost = is_outermost()
        y, dy = push_forward(f, primals, tangents, *name)
        if outermost:
            add(f, primals, {}, None, False, y, None)
        return y, dy

    class GivenVjp(pullback.Vjp):
        def __init__(self, f: Any, args: Any, chosen: Any) -> None:
            self.given = args
            super().__init__(f, args, chosen)

        start = recorded_start

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(derivatives, "value_and_gradient", recorded_gradient)
        patch.setattr(interface, "Vjp", GivenVjp)
        patch.setattr(call, "push_forward", recorded_push)
        yield records
