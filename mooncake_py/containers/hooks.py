"""Hooks of classes and of the whole process that Python calls where no one sees it."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any

from mooncake_py.containers.effects import (
    HASHING,
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
    "refuse_finalizer", "refuse_if_changing", "refuse_metaclass",
]  # fmt: skip

DELETING = ("__del__",)
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
