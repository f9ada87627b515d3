"""Hooks of the process that Python calls where modules are imported and garbage is collected.

What those of the program change is recorded.
"""

from __future__ import annotations

import builtins
import gc
import importlib
import sys
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from mooncake_py.application.seen_calls import Seen, run_seen, runs_python
from mooncake_py.diagnostics.native_modules import is_native_module
from mooncake_py.modules import module_of

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler, Mode

__all__ = ["HANDLERS", "seen"]

NOTHING = nullcontext()


def of_program(hooks: list[Any]) -> list[Any]:
    """Return the hooks that are part of the program."""
    return [hook for hook in hooks if not is_native_module(module_of(hook)) and runs_python(hook)]


def seen(ctx: Mode) -> AbstractContextManager[None]:
    """Return a block for an import, in which finders of the program are seen."""
    found = of_program([*sys.meta_path, *sys.path_hooks])
    return Seen(ctx, builtins.__import__, found) if found else NOTHING


def run_importing(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that imports a module."""
    ctx.refuse_if_active(f, args)
    with seen(ctx):
        return f(*args, **kwargs)


def run_collecting(ctx: Mode, f: Any, args: Any, kwargs: Any) -> int:
    """Run ``gc.collect``, which calls functions before and after."""
    return run_seen(ctx, f, of_program(gc.callbacks), partial(f, *args, **kwargs))


HANDLERS: dict[Any, Handler] = {
    gc.collect: run_collecting,
    builtins.__import__: run_importing,
    importlib.import_module: run_importing,
}
