"""Context managers written in Python."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from mooncake_py.derive.calls.native_modules import is_native_module

__all__ = ["derived_manager"]


class DerivedManager:
    """A context manager whose ``__enter__`` and ``__exit__`` run derived."""

    def __init__(self, ctx: Any, manager: Any) -> None:
        self._ctx = ctx
        self._manager = manager

    def __enter__(self) -> Any:
        return self._ctx.call(type(self._manager).__enter__, self._manager)

    def __exit__(self, *details: Any) -> Any:
        return self._ctx.call(type(self._manager).__exit__, self._manager, *details)

def derived_manager(ctx: Any, manager: Any) -> Any:
    """Return a manager that runs derived if it is written in Python, else the manager itself."""
    t = type(manager)
    if type(getattr(t, "__enter__", None)) is not FunctionType or is_native_module(t.__module__):
        return manager
    return DerivedManager(ctx, manager)
