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
from types import ModuleType
from typing import TYPE_CHECKING, Any

from mooncake_py.application.seen_calls import Seen, run_seen, runs_python
from mooncake_py.diagnostics.native_modules import is_native_module
from mooncake_py.modules import held_by_module, module_of
from mooncake_py.tangents.fields import instance_dict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mooncake_py.runtime.mode import Handler, Mode

__all__ = ["HANDLERS", "imported", "module_with_code", "seen"]

NOTHING = nullcontext()


def of_program(hooks: list[Any]) -> list[Any]:
    """Return the hooks that are part of the program."""
    return [hook for hook in hooks if not is_native_module(module_of(hook)) and runs_python(hook)]


def seen(ctx: Mode) -> AbstractContextManager[None]:
    """Return a block for an import, in which finders of the program are seen."""
    found = of_program([*sys.meta_path, *sys.path_hooks])
    return Seen(ctx, builtins.__import__, found) if found else NOTHING


def module_with_code(ctx: Mode, own: Any, module: tuple[str, int], names: Iterable[str]) -> Any:
    """Return the module of ``from module import names`` if it runs code of the program for a name.

    Parameters
    ----------
    ctx
        The context.
    own : dict
        The globals of the importing function.
    module : tuple of str and int
        The name of the module, and how many dots precede it.
    names : iterable of str
        The names to import.
    """
    name, level = module
    found = None if level else sys.modules.get(name)
    if found is None:
        package = own.get("__package__") or own.get("__name__", "").rpartition(".")[0]
        if level and not package:
            return None  # Python raises its error
        with seen(ctx):
            found = importlib.import_module("." * level + name, package)
    held = found.__dict__ if type(found) is ModuleType else None
    if held is not None and "__getattr__" not in held:
        return None
    if is_native_module(module_of(type(found)) if held is None else held.get("__name__")):
        return None
    try:
        ctx.getattr(found, "__path__")
    except AttributeError:
        return found
    for part in names:
        import_within(ctx, found, part)
    return found


def import_within(ctx: Mode, package: Any, name: str) -> None:
    """Import a module of a package, if the package has nothing else of this name."""
    try:
        ctx.getattr(package, name)
        return
    except AttributeError:
        full = f"{held_by_module(package, '__name__')}.{name}"
    try:
        with seen(ctx):
            importlib.import_module(full)
    except ModuleNotFoundError as error:
        if error.name != full:
            raise


def imported(ctx: Mode, module: Any, name: str) -> Any:
    """Return the value that ``from module import name`` binds: an attribute, or a loaded module."""
    held = instance_dict(module) or {}
    own_name = held.get("__name__", "<unknown module name>")
    full = f"{own_name}.{name}"
    try:
        return ctx.getattr(module, name)
    except AttributeError:
        if full in sys.modules:
            return sys.modules[full]
    place = held.get("__file__")
    raise ImportError(
        f"cannot import name {name!r} from {own_name!r} ({place or 'unknown location'})",
        name=own_name,
        path=place,
    )


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
