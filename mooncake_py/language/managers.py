"""Context managers written in Python, and ``np.errstate``."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.diagnostics.native_modules import is_native_module
from mooncake_py.diagnostics.warned import enter_block, leave_block
from mooncake_py.modules import module_of
from mooncake_py.runtime.active import Active, innermost
from mooncake_py.runtime.methods import python_method
from mooncake_py.runtime.sites import GENERAL, NO_SITE

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["derived_manager"]


class DerivedManager:
    """A context manager whose ``__enter__`` and ``__exit__`` run derived."""

    __slots__ = ("_ctx", "_enter", "_enter_way", "_exit", "_exit_way", "_manager")

    def __init__(self, ctx: Mode, manager: Any) -> None:
        self._ctx = ctx
        self._manager = manager
        t = type(manager)  # Python looks both up before it calls either
        self._enter, self._enter_way = ctx.special(manager, "__enter__")
        if self._enter is None:
            self._enter = python_method(t, "__enter__")
        self._exit, self._exit_way = ctx.special(manager, "__exit__")
        if self._exit is None:
            self._exit = python_method(t, "__exit__") or t.__exit__

    def __enter__(self) -> Any:
        way = self._enter_way or GENERAL
        return way.call1(NO_SITE, self._ctx, self._enter, self._manager)

    def __exit__(self, *details: Any) -> Any:
        way = self._exit_way or GENERAL
        answer = way.call4(NO_SITE, self._ctx, self._exit, self._manager, *details)
        # Python asks for its truth where the block has raised.
        return answer if details[0] is None else self._ctx.truth(answer)


class Followed:
    """A context manager after whose beginning, or end, something else is done."""

    def __init__(
        self, manager: Any, begun: Callable[[], object], ended: Callable[[], object] = lambda: None
    ) -> None:
        self._manager = manager
        self._begun = begun
        self._ended = ended

    def __enter__(self) -> Any:
        entered = self._manager.__enter__()
        try:
            self._begun()
        except BaseException:
            self._manager.__exit__(*sys.exc_info())
            raise
        return entered

    def __exit__(self, *details: Any) -> None:
        self._manager.__exit__(*details)
        self._ended()


def derived_manager(ctx: Mode, manager: Any) -> Any:
    """Return a manager that runs derived if it is written in Python, else the manager itself."""
    t = type(manager)
    if t is Active:
        return innermost(manager)  # for the error of the block
    if t is np.errstate:  # no quick form applies if it makes NumPy raise
        return Followed(manager, ctx.heed_settings, ctx.heed_settings)
    if t is warnings.catch_warnings:
        return Followed(manager, enter_block, leave_block)
    if python_method(t, "__enter__") is None or is_native_module(module_of(t)):
        return manager
    if not hasattr(t, "__exit__"):
        return manager  # which raises
    return DerivedManager(ctx, manager)
