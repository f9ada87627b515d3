"""NumPy without warnings, or with errors in their place, for code that runs a few operations.

``np.errstate(all="ignore")`` takes 1.3 us, because it makes a new setting each time; entering an
existing setting takes 0.2 us.  A search finds the context variable of the setting.

What is computed `Unheard` issues no warnings of Python code either, and tells whether there were
any: so a rule computes the output of its function and more, and the function itself runs again,
heard, if it has something to say.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any

import numpy as np

from mooncake_py.diagnostics.warned import (
    look_up_again,
    not_redirected,
    note_unheard,
    pending,
    redirect,
    take_out,
)
from mooncake_py.runtime.silence import depth, leave_deeper

__all__ = [
    "BY_NAME", "Heard", "Quiet", "Raising", "Unheard", "error_hook", "error_modes", "is_strict",
    "loud_again", "quiet", "set_error_modes", "setting",
    "silently",
]  # fmt: skip


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


Ways = tuple[Callable[[], Any], Callable[[], Any], Callable[[Any], Any]]


def _made_once(found: tuple[ContextVar[Any], Any] | None) -> Ways | None:
    """Return functions in C that read the present setting, enter another and restore one.

    None if NumPy keeps its setting elsewhere.
    """
    if found is None:
        return None
    variable, value = found
    return variable.get, partial(variable.set, value), variable.set


def error_modes() -> dict[str, Any]:
    """Return how NumPy treats floating-point errors and what it calls, as for `np.errstate`."""
    return {**np.geterr(), "call": np.geterrcall()}


def set_error_modes(modes: dict[str, Any]) -> None:
    """Set what `error_modes` returns."""
    np.seterrcall(modes.get("call"))
    np.seterr(**{kind: how for kind, how in modes.items() if kind != "call"})


def _made_each_time(modes: dict[str, Any]) -> Ways:
    return error_modes, partial(set_error_modes, modes), set_error_modes


_silent, _listening = _holding_variable(SILENT), _holding_variable(LISTENING)
_loud = _holding_variable(LOUD)
setting, quiet, loud_again = _made_once(_silent) or _made_each_time(SILENT)
"""Surround a few operations, whatever interrupts them: the setting is read first.

    before = setting()
    try:
        quiet()
        ...
    finally:
        loud_again(before)
"""
BY_NAME: dict[str, Any] = {"loud_again": loud_again, "quiet": quiet, "setting": setting}
"""For generated code."""
_, _listen, _ = _made_once(_listening) or _made_each_time(LISTENING)
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
    """Return the hook that NumPy calls at floating-point errors, None if the program set none.

    The hook is a function or a log.
    """
    hook = np.geterrcall() if _settings()[2] else None
    return None if hook is note_unheard else hook


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


def silently(f: Callable[..., Any], *args: Any) -> Any:
    """Call a function without warnings of NumPy."""
    before = setting()
    try:
        quiet()
        return f(*args)
    finally:
        loud_again(before)


class Quiet:
    """The same as a block: ``with Quiet(): ...``."""

    __slots__ = ("before",)

    def __enter__(self) -> None:
        self.before = setting()
        try:
            quiet()
        except BaseException:  # an interrupt, after which nothing leaves the block
            loud_again(self.before)
            raise

    def __exit__(self, *exception: object) -> None:
        loud_again(self.before)


class Raising:
    """A block in which NumPy raises FloatingPointError where it would warn otherwise."""

    __slots__ = ("before",)

    def __enter__(self) -> None:
        modes = _settings()[3]
        self.before = setting()
        try:
            if _variable is not None and _loud is not None and modes == USUAL:
                _variable.set(_loud[1])
                return
            louder: Any = {kind: "raise" if how == "warn" else how for kind, how in modes.items()}
            np.seterr(**louder)
        except BaseException:  # an interrupt, after which nothing leaves the block
            loud_again(self.before)
            raise

    def __exit__(self, *exception: object) -> None:
        loud_again(self.before)


class Unheard:
    """A block that issues no warnings; it counts in `noticed` what it does not issue."""

    __slots__ = ("before", "count", "filters", "noticed")
    noticed: int

    def __enter__(self) -> Unheard:
        self.before = setting()
        self.count = pending.count
        self.filters = not_redirected()
        pending.unheard += 1
        try:
            redirect()
            _listen()
        except BaseException:  # an interrupt, after which nothing leaves the block
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        loud_again(self.before)
        if self.filters is not None:
            take_out(self.filters)
        pending.unheard -= 1
        self.noticed = pending.count - self.count


class Heard:
    """The warnings and writes heard so far, with which to go on after an interrupt.

    Python may raise one where a block of this module, or of `silence`, begins to end: it stays
    open then.
    """

    __slots__ = ("depth", "filters", "setting", "unheard")

    def __init__(self) -> None:
        self.setting = setting()
        self.unheard = pending.unheard
        self.filters = warnings.filters
        self.depth = depth()

    def put_back(self) -> None:
        """Leave the blocks that are open since."""
        loud_again(self.setting)
        pending.unheard = self.unheard
        if warnings.filters is not self.filters:  # of `warnings.catch_warnings`
            warnings.filters = self.filters
            look_up_again()
        leave_deeper(self.depth)
