"""NumPy without warnings, or with errors in their place, for code that runs a few operations.

``np.errstate(all="ignore")`` takes 1.3 us, because it makes a new setting each time; entering an
existing setting takes 0.2 us.  A search finds the context variable of the setting.

What is computed `Unheard` issues no warnings of Python code either, and tells whether there were
any: so a rule computes the output of its function and more, and the function itself runs again,
heard, if it has something to say.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any

import numpy as np

from mooncake_py.diagnostics.warned import note_unheard, pending, redirect, take_out

__all__ = ["Quiet", "Raising", "Unheard", "error_hook", "is_strict", "loud_again", "quiet"]


SILENT: dict[str, Any] = {"all": "ignore"}
LISTENING: dict[str, Any] = {"all": "call", "under": "ignore", "call": note_unheard}
"""NumPy calls a function where it warns by default."""
LOUD: dict[str, Any] = {"all": "raise", "under": "ignore"}


def _holding_variable(setting: dict[str, Any]) -> tuple[ContextVar[Any], Any] | None:
    """Return the context variable of NumPy's setting, and the one that is wanted, or None."""
    before = copy_context()
    with np.errstate(**setting):
        inside = copy_context()
    for variable, value in inside.items():
        if before.get(variable) is not value:
            return variable, value
    return None


def _made_once(
    found: tuple[ContextVar[Any], Any] | None,
) -> tuple[Callable[[], Any], Callable[[Any], None]] | None:
    """Return functions that enter and leave a setting; None if NumPy keeps it elsewhere."""
    if found is None:
        return None
    variable, value = found
    return partial(variable.set, value), variable.reset


def _made_each_time(
    setting: dict[str, Any],
) -> tuple[Callable[[], Any], Callable[[Any], None]]:
    def enter() -> Any:
        block = np.errstate(**setting)
        block.__enter__()
        return block

    return enter, lambda block: block.__exit__(None, None, None)


_silent, _listening = _holding_variable(SILENT), _holding_variable(LISTENING)
_loud = _holding_variable(LOUD)
quiet, loud_again = _made_once(_silent) or _made_each_time(SILENT)
_listen, _leave = _made_once(_listening) or _made_each_time(LISTENING)
_variable = None if _silent is None else _silent[0]
_found: tuple[Any, bool, bool, dict[str, Any]] = None, False, False, {}
USUAL = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


def is_strict() -> bool:
    """Return whether NumPy is set to raise, or to warn of numbers that are too small.

    Python's floats do neither, and so do the quick forms, which compute with them.  What was found
    is kept with the setting: asking NumPy takes 1 us.
    """
    return _settings()[1]


def error_hook() -> Any:
    """Return what NumPy calls at floating-point errors: a function or a log, None if neither."""
    return np.geterrcall() if _settings()[2] else None


def _settings() -> tuple[Any, bool, bool, dict[str, Any]]:
    """Return NumPy's setting, whether it is strict, whether it calls something, and its modes."""
    global _found
    present = None if _variable is None else _variable.get()  # which has a default
    if _listening is not None and present is _listening[1]:
        return present, False, False, USUAL
    if present is None or present is not _found[0]:
        modes = np.geterr()
        kinds = set(modes.values())
        strict = modes["under"] != "ignore" or not kinds <= {"ignore", "warn"}
        _found = present, strict, not kinds.isdisjoint(("call", "log")), dict(modes)
    return _found


class Quiet:
    """The same as a block: ``with Quiet(): ...``."""

    __slots__ = ("before",)

    def __enter__(self) -> None:
        self.before = quiet()

    def __exit__(self, *exception: object) -> None:
        loud_again(self.before)


class Raising:
    """A block in which NumPy raises FloatingPointError where it would warn otherwise."""

    __slots__ = ("leave",)

    def __enter__(self) -> None:
        modes = _settings()[3]
        if _variable is not None and _loud is not None and modes == USUAL:
            self.leave: Callable[..., Any] = partial(_put_back, _variable.set(_loud[1]))
            return
        louder: Any = {kind: "raise" if how == "warn" else how for kind, how in modes.items()}
        block = np.errstate(**louder)
        block.__enter__()
        self.leave = block.__exit__

    def __exit__(self, *exception: object) -> None:
        self.leave(*exception)


def _put_back(token: Any, *exception: object) -> None:
    """Enter the setting again that was before."""
    assert _variable is not None
    _variable.reset(token)


class Unheard:
    """A block that issues no warnings; it counts in `noticed` what it does not issue."""

    __slots__ = ("before", "count", "filters", "noticed")
    noticed: int

    def __enter__(self) -> Unheard:
        pending.unheard += 1
        self.count = pending.count
        self.filters = redirect()
        self.before = _listen()
        return self

    def __exit__(self, *exception: object) -> None:
        _leave(self.before)
        if self.filters is not None:
            take_out(self.filters)
        pending.unheard -= 1
        self.noticed = pending.count - self.count
