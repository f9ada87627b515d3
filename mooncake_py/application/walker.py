"""Walks through values of any structure, by the fields that their specs define."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.diagnostics.native_modules import is_native_module
from mooncake_py.modules import module_of
from mooncake_py.overriding import override
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.tangent_tree import TangentTree
from mooncake_py.runtime.values import INEXACT_SCALARS
from mooncake_py.runtime.watched import watch
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.tangents.sequences import ListSpec
from mooncake_py.tangents.spec import ObjectSpec, TangentSpec

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Finder", "Mapper", "Walker", "parts_apart", "replace_parts"]


class Walker:
    """Visits values of any structure, and their parts; what is met twice is visited once.

    That is not so for tuples that hold numbers, which are values of their own in each place: equal
    tuples may be one object, as those of a program's text are.
    """

    by_place = True
    """Whether such tuples are visited in each place."""

    def __init__(self, ctx: Mode) -> None:
        self.ctx = ctx
        self.memo: dict[int, tuple[Any, Any, Any]] = {}  # keeps the object whose id is the key

    def visit(self, value: Any) -> tuple[Any, Any]:
        """Return the replacement of a value, and its tree: a node, a `TangentTree` or None."""
        t = type(value)
        if t is Active or t in INEXACT_SCALARS:
            return self.visit_scalar(value)
        if issubclass(type(value), ndarray):
            return self.visit_array(value)
        known = self.memo.get(id(value))
        if known is not None:
            return known[1:]
        spec = spec_of(value)
        watch(self.ctx, t)
        if isinstance(spec, ObjectSpec) and is_native_module(module_of(t)):
            return value, None  # a lock, a logger, a path
        fields = spec.fields(value)
        if fields is None:
            return value, None
        tree = TangentTree(spec.container)
        if spec.mutable:
            self.memo[id(value)] = value, value, tree
            self.visit_mutable(value, spec, fields, tree)
            return value, tree
        new = self.visit_immutable(value, spec, fields, tree)
        by_place = self.by_place and issubclass(t, tuple) and self.holds_numbers(fields, tree)
        if not by_place:
            self.memo[id(value)] = value, new, tree
        return new, tree

    def holds_numbers(self, fields: Mapping[Any, Any], tree: TangentTree) -> bool:
        """Return whether a tuple has numbers, in itself or in tuples that it holds."""
        return any(
            type(part) is Active
            or type(part) in INEXACT_SCALARS
            or (type(tree.parts.get(name)) is TangentTree and id(part) not in self.memo)
            for name, part in fields.items()
        )

    def visit_parts(self, fields: Mapping[Any, Any], tree: TangentTree) -> dict[Any, Any]:
        """Visit the parts of a container, fill in its tree and return their replacements."""
        parts: dict[Any, Any] = {}
        for name, part in list(fields.items()):
            parts[name], tree.parts[name] = self.visit(part)
        return parts

    def visit_scalar(self, value: Any) -> tuple[Any, Any]:
        """Return the replacement of a number, and its node."""
        raise NotImplementedError

    def visit_array(self, value: ndarray) -> tuple[Any, Any]:
        """Return the replacement of an array, and its node."""
        raise NotImplementedError

    def visit_mutable(self, value: Any, spec: TangentSpec, fields: Any, tree: TangentTree) -> None:
        """Fill in the tree of a container or an object."""
        raise NotImplementedError

    def visit_immutable(self, value: Any, spec: TangentSpec, fields: Any, tree: TangentTree) -> Any:
        """Return the replacement of a tuple, a frozen dataclass or a method; fill in its tree."""
        raise NotImplementedError


class Mapper(Walker):
    """Puts replacements of the parts of values in their places; copies tuples and similar values.

    Attributes
    ----------
    replaced : list of tuple
        Containers and objects of which parts were replaced, their specs, and these parts.
    """

    def __init__(self, ctx: Mode) -> None:
        super().__init__(ctx)
        self.replaced: list[tuple[Any, TangentSpec, dict[Any, Any]]] = []

    @override
    def visit_mutable(self, value: Any, spec: TangentSpec, fields: Any, tree: TangentTree) -> None:
        old = dict(fields)
        parts = self.visit_parts(old, tree)
        new = {name: part for name, part in parts.items() if part is not old[name]}
        if new:
            self.replacing(value, spec, {name: old[name] for name in new}, new)
            replace_parts(value, spec, new)

    def replacing(self, value: Any, spec: TangentSpec, old: Any, new: Any) -> None:
        """Note that parts of a container or an object are about to be replaced."""
        self.replaced.append((value, spec, old))

    @override
    def visit_immutable(self, value: Any, spec: TangentSpec, fields: Any, tree: TangentTree) -> Any:
        parts = self.visit_parts(fields, tree)
        changed = any(parts[name] is not part for name, part in fields.items())
        return spec.build(value, parts) if changed else value


class Finder(Walker):
    """Finds the nodes of values, and leaves the values as they are."""

    @override
    def visit_mutable(self, value: Any, spec: TangentSpec, fields: Any, tree: TangentTree) -> None:
        self.visit_parts(fields, tree)

    @override
    def visit_immutable(self, value: Any, spec: TangentSpec, fields: Any, tree: TangentTree) -> Any:
        self.visit_parts(fields, tree)
        return value


def replace_parts(value: Any, spec: TangentSpec, parts: Mapping[Any, Any]) -> None:
    """Replace parts of a container or an object in place, past its own methods.

    Other threads, which look on, do not find the container empty meanwhile.
    """
    if type(spec) is ListSpec:
        setter: Any = list.__setitem__ if issubclass(type(value), list) else deque.__setitem__
        for i, part in parts.items():
            setter(value, i, part)
    else:
        spec.fill(value, parts)


def parts_apart(value: Any, spec: TangentSpec) -> dict[Any, Any] | None:
    """Return the parts that an object keeps elsewhere than in attributes; None for others.

    The dict is another one than the object's own, so that it does not change with it.
    """
    return None if isinstance(spec, ObjectSpec) else dict(spec.fields(value) or {})
