"""Hooks of classes and of the whole process that Python calls where no one sees it."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any

from mooncake_py.containers.effects import (
    HASHING,
    STORES_OF_ATTRIBUTES,
    Search,
    called,
    unseen,
    writer,
)
from mooncake_py.diagnostics.native_modules import is_native_module
from mooncake_py.modules import module_of
from mooncake_py.runtime.attribute_lookup import in_class

if TYPE_CHECKING:
    from mooncake_py.diagnostics.reporting import Reporting

__all__ = [
    "refuse_attribute_hook", "refuse_class_hooks", "refuse_finalizer", "refuse_if_changing",
    "refuse_metaclass",
]  # fmt: skip

DELETING = ("__del__",)
MAKING_CLASSES = ("__prepare__", "__new__", "__init__")
CLASSIFYING = (*HASHING, "__getattr__", "__getattribute__")


def refuse_if_changing(ctx: Reporting, f: Any) -> None:
    """Raise if native code would call a function, or one that keeps it, which changes something."""
    f, of = called(f), FunctionType
    method = in_class(type(f), "__call__")
    if type(method) is FunctionType:
        f, of = method, type(f)  # of an object
    if type(f) is FunctionType and not is_native_module(module_of(f)):
        change = Search(of).change_in(f)
        if change is not None:
            raise ctx.failed(unseen(ctx.user_location(), f, change))


def refuse_finalizer(ctx: Reporting, cls: type) -> None:
    """Raise if instances of a class would change something when Python frees them."""
    if hasattr(cls, "__del__"):
        refuse_if_changing(ctx, sys.unraisablehook)  # which is told if the method raises
        found = writer(cls, DELETING)
        if found is not None:
            raise ctx.failed(unseen(ctx.user_location(), *found))


def refuse_metaclass(ctx: Reporting, cls: type) -> None:
    """Raise if a class would change something where the engine looks up what it knows of it."""
    meta = type(cls)
    found = None if meta is type else writer(meta, CLASSIFYING)
    if found is not None:
        raise ctx.failed(unseen(ctx.user_location(), *found))


def refuse_class_hooks(ctx: Reporting, base: Any, is_metaclass: bool) -> None:
    """Raise if code that runs when a class is made of a base changes more than attributes."""
    if is_metaclass or issubclass(type(base), type):
        meta = base if is_metaclass else type(base)
        hooks = [getattr(meta, name, None) for name in MAKING_CLASSES]
        hooks.append(getattr(base, "__init_subclass__", None))
    else:
        hooks = [getattr(type(base), "__mro_entries__", None)]
    for hook in hooks:
        refuse_class_hook(ctx, called(hook))


def refuse_attribute_hook(ctx: Reporting, value: Any) -> None:
    """Raise if an attribute of a class that is about to be made changes more when it is told so."""
    refuse_class_hook(ctx, getattr(type(value), "__set_name__", None))


def refuse_class_hook(ctx: Reporting, hook: Any) -> None:
    """Raise if a function changes more than attributes."""
    if type(hook) is FunctionType and not is_native_module(module_of(hook)):
        change = Search(FunctionType, STORES_OF_ATTRIBUTES).change_in(hook)
        if change is not None:
            raise ctx.failed(unseen(ctx.user_location(), hook, change))
