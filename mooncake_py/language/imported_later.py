"""Handlers for modules that the engine does not import, made when the program has imported them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mooncake_py.language import native_calls, scipy_functions

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler

__all__ = ["handlers", "imported"]

MAKERS: dict[str, Callable[[Any], dict[Any, Handler]]] = {
    **native_calls.LATER,
    **scipy_functions.LATER,
}
_imported: tuple[str, ...] = ()
_seen = 0


def imported() -> tuple[str, ...]:
    """Return the names of those modules that the program has imported so far, each wholly."""
    global _imported, _seen
    count = len(sys.modules)
    if count != _seen:
        begun = [name for name in MAKERS if name in sys.modules]
        _imported = tuple(name for name in begun if is_whole(sys.modules[name]))
        _seen = count if len(begun) == len(_imported) else 0
    return _imported


def is_whole(module: Any) -> bool:
    """Return whether the import of a module has ended."""
    return not getattr(getattr(module, "__spec__", None), "_initializing", False)


def handlers(modules: tuple[str, ...]) -> dict[Any, Handler]:
    """Return the handlers for some modules that were imported."""
    found: dict[Any, Handler] = {}
    for name in modules:
        found |= MAKERS[name](sys.modules[name])
    return found
