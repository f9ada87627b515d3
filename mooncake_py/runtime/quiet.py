"""NumPy without warnings, or with errors in their place, for code that runs a few operations.

``np.errstate(all="ignore")`` takes 1.3 us, because it makes a new setting each time; entering an
existing setting takes 0.2 us.  A search finds the context variable of the setting.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any

import numpy as np

__all__ = ["Quiet", "Raising", "error_hook", "is_strict", "loud_again", "quiet"]


def _holding_variable(**modes: Any) -> tuple[ContextVar[Any], Any] | None:
    """Return the context variable of NumPy's setting, and a setting with these modes, or None."""
    before = copy_context()
    with np.errstate(**modes):
        inside = copy_context()
    for variable, setting in inside.items():
        if before.get(variable) is not setting:
            return variable, setting
    return None


def _made_once() -> tuple[Callable[[], Any], Callable[[Any], None]] | None:
    """Return functions that enter and leave the setting; None if NumPy keeps it elsewhere."""
    found = _holding_variable(all="ignore")
    if found is None:
        return None
    variable, setting = found
    return partial(variable.set, setting), variable.reset


def _made_each_time() -> tuple[Callable[[], Any], Callable[[Any], None]]:
    def enter() -> Any:
        block = np.errstate(all="ignore")
        block.__enter__()
        return block

    return enter, lambda block: block.__exit__(None, None, None)


quiet, loud_again = _made_once() or _made_each_time()
_variable, _loud = _holding_variable(
    divide="raise", over="raise", under="ignore", invalid="raise"
) or (None, None)
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
        if _variable is not None and modes == USUAL:
            self.leave: Callable[..., Any] = partial(_put_back, _variable.set(_loud))
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
