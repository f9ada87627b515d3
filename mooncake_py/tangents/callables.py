"""The specs of functions, methods and what wraps them.

A closure is an object whose fields are the captured variables.  Each captured variable lives in a
cell, which other closures may share, so a cell is its own mutable object.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from mooncake_py.overriding import override
from mooncake_py.tangents.kinds import MutableTangent
from mooncake_py.tangents.spec import TangentSpec

__all__ = [
    "BuiltinMethodSpec",
    "CellSpec",
    "FunctionSpec",
    "MethodSpec",
    "PartialSpec",
    "WrapperSpec",
]


class CellSpec(TangentSpec):
    """The cell of a captured variable; empty before the variable is assigned."""

    @override
    def fields(self, x: types.CellType) -> dict[str, Any]:
        try:
            return {"cell_contents": x.cell_contents}
        except ValueError:
            return {}

    @override
    def blank(self, x: types.CellType) -> types.CellType:
        return types.CellType()

    @override
    def fill(self, blank: types.CellType, fields: Mapping[str, Any]) -> None:
        for contents in fields.values():
            blank.cell_contents = contents


class _ImmutableCallable(TangentSpec):
    """A callable whose parts cannot be replaced; it is built whole, with a mutable tangent."""

    mutable = False

    @property
    @override
    def container(self) -> type:
        return MutableTangent


class FunctionSpec(_ImmutableCallable):
    """Functions: captured variables by name; no tangent where nothing is captured."""

    @override
    def fields(self, x: types.FunctionType) -> dict[str, Any] | None:
        if not x.__closure__:
            return None
        return dict(zip(x.__code__.co_freevars, x.__closure__, strict=True))

    @override
    def build(self, x: types.FunctionType, fields: Mapping[str, Any]) -> types.FunctionType:
        closure = tuple(fields.values())
        new = types.FunctionType(x.__code__, x.__globals__, x.__name__, x.__defaults__, closure)
        new.__kwdefaults__ = x.__kwdefaults__
        for name in functools.WRAPPER_ASSIGNMENTS:
            if hasattr(x, name):
                setattr(new, name, getattr(x, name))
        new.__dict__.update(x.__dict__)
        return new


class MethodSpec(_ImmutableCallable):
    """Bound methods: the object and the function."""

    @override
    def fields(self, x: types.MethodType) -> dict[str, Any]:
        return {"__self__": x.__self__, "__func__": x.__func__}

    @override
    def build(self, x: types.MethodType, fields: Mapping[str, Any]) -> types.MethodType:
        return types.MethodType(fields["__func__"], fields["__self__"])


class BuiltinMethodSpec(_ImmutableCallable):
    """Bound methods of built-in types, such as ``x.sum``; plain functions in C have no tangent."""

    @override
    def fields(self, x: Any) -> dict[str, Any] | None:
        target = getattr(x, "__self__", None)
        if target is None or issubclass(type(target), (types.ModuleType, type, np.ufunc)):
            return None
        return {"__self__": target}

    @override
    def build(self, x: Any, fields: Mapping[str, Any]) -> Any:
        return getattr(fields["__self__"], x.__name__)


class PartialSpec(_ImmutableCallable):
    """The function and the arguments of a ``functools.partial``."""

    @override
    def fields(self, x: functools.partial[Any]) -> dict[str, Any]:
        return {"func": x.func, "args": x.args, "keywords": x.keywords}

    @override
    def build(self, x: functools.partial[Any], fields: Mapping[str, Any]) -> Any:
        return type(x)(fields["func"], *fields["args"], **fields["keywords"])


class WrapperSpec(_ImmutableCallable):
    """The function inside a ``functools.lru_cache``."""

    @override
    def fields(self, x: Any) -> dict[str, Any]:
        return {"__wrapped__": x.__wrapped__}

    @override
    def build(self, x: Any, fields: Mapping[str, Any]) -> Any:
        parameters = x.cache_parameters()
        return functools.lru_cache(**parameters)(fields["__wrapped__"])
