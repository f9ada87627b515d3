"""Fdata and rdata of values, built and read along trees.

In a container that is identified by address (list, dict, object) the parts of the fdata are whole
tangents, and floats have their cotangents there; elsewhere the cotangent of a float is rdata.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy import ndarray

from mooncake_py.application.gradients import scalar_gradient
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.memory import Memory
from mooncake_py.runtime.tangent_tree import TangentTree
from mooncake_py.runtime.views import View
from mooncake_py.tangents import FData, NoFData, NoRData, NoTangent, RData
from mooncake_py.tangents.containers import (
    EMPTY,
    MUTABLE,
    fill_container,
    join_container,
    join_or_collapse,
)
from mooncake_py.tangents.memory import is_same_view

__all__ = ["Follower", "collect", "pour", "rdata_of", "restore", "seed"]


def put_parts(data: Any, parts: dict[Any, Any]) -> None:
    """Replace all parts of mutable fdata."""
    if type(data) is not list:
        (data if type(data) is dict else data._fields).clear()
    fill_container(data, parts)


# After the forward pass: fdata follow the structure of the values.


class Follower:
    """Brings fdata to the structure of trees; a container met twice is brought once.

    Fdata that are copied in and out stay what they are.
    """

    def __init__(self, copied: list[ndarray]) -> None:
        self.copied = copied
        self.memo: dict[int, Any] = {}

    def fdata(self, tree: Any, present: Any) -> Any:
        """Return the fdata of a value identified by value; `present` are the old ones or None."""
        if type(tree) is Active or tree is None:
            return NoFData()
        if type(tree) is TangentTree and tree.kind not in MUTABLE:
            kind = tuple if tree.kind is tuple else FData
            return join_or_collapse(kind, followed(self.fdata, tree, present), NoFData())
        return self.tangent(tree, present)

    def tangent(self, tree: Any, present: Any) -> Any:
        """Return the tangent of a part of a container."""
        if tree is None:
            return NoTangent()
        if type(tree) is Active:
            zero = type(tree.primal)(0)
            return present if type(present) is type(zero) else zero
        if isinstance(tree, (Memory, View)):
            return self.shadow(tree, present)
        if tree.kind in MUTABLE:
            return self.mutable(tree, present)
        parts = followed(self.tangent, tree, present)
        if all(type(part) in EMPTY for part in parts.values()):
            return NoTangent()
        return join_container(tree.kind, parts)

    def mutable(self, tree: TangentTree, present: Any) -> Any:
        """Return the fdata of a container or an object, the present object if there is one."""
        known = self.memo.get(id(tree))
        if known is not None:
            return known
        data = present if type(present) is tree.kind else tree.kind()
        self.memo[id(tree)] = data
        put_parts(data, followed(self.tangent, tree, present))
        return data

    def shadow(self, node: Any, present: Any) -> ndarray:
        """Return the shadow of an array, the present object if it is that already."""
        if any(present is data for data in self.copied):
            return present
        shadow = node.pin()
        return present if type(present) is ndarray and is_same_view(present, shadow) else shadow


def followed(follow: Callable[[Any, Any], Any], tree: TangentTree, data: Any) -> dict[Any, Any]:
    """Return the replacements of the parts of a tree, which may have parts of fdata."""
    return {name: follow(part, part_of(data, name)) for name, part in tree.parts.items()}


def part_of(data: Any, name: Any) -> Any:
    """Return a part of fdata, or None if there is none yet."""
    try:
        return data[name]
    except (LookupError, AttributeError, TypeError):
        return None


# The reverse pass.


def collect(tree: Any, data: Any, seen: set[int]) -> None:
    """Add the cotangents that fdata of containers hold for numbers to their nodes."""
    if type(tree) is Active:
        if type(data) not in EMPTY:
            tree.add(data)
    elif type(tree) is TangentTree and type(data) not in EMPTY:
        if tree.kind in MUTABLE:
            if id(tree) in seen:
                return
            seen.add(id(tree))
        for name, part in tree.parts.items():
            if type(part) is TangentTree or type(part) is Active:
                collect(part, data[name], seen)


def pour(tree: Any, data: Any, seen: set[int]) -> Any:
    """Add the cotangents of nodes to fdata, in place where they have an address; return them."""
    if tree is None or type(data) in EMPTY:
        return data
    if type(tree) is Active:
        g = tree.take()
        return data if g is None else type(data)(data + g)
    if type(tree) is not TangentTree:
        g = tree.take()
        if g is not None:
            data += g
        return data
    if id(tree) in seen:
        return data
    seen.add(id(tree))
    parts = {name: pour(part, data[name], seen) for name, part in tree.parts.items()}
    if tree.kind not in MUTABLE:
        return join_container(type(data), parts)
    for name, part in parts.items():
        data[name] = part
    return data


def seed(tree: Any, dy: Any) -> None:
    """Give the rdata of the output to its active scalars."""
    if type(dy) is NoRData:
        return
    if type(tree) is Active:
        tree.add(dy)
    elif type(tree) is TangentTree and tree.kind not in MUTABLE:
        for name, part in tree.parts.items():
            seed(part, dy[name])


def restore(data: Any, parts: dict[Any, Any], tree: TangentTree) -> None:
    """Bring fdata of a container back to their structure at entry, with the cotangents there."""
    put_parts(
        data, {name: tangent_at_entry(tree.parts.get(name), part) for name, part in parts.items()}
    )


def tangent_at_entry(tree: Any, part: Any) -> Any:
    """Return the tangent of a part of a container after the reverse pass."""
    if type(tree) is Active:
        return type(part)(scalar_gradient(tree)) if type(part) not in EMPTY else part
    if type(tree) is not TangentTree or tree.kind in MUTABLE or type(part) in EMPTY:
        return part
    return join_container(
        tree.kind, {name: tangent_at_entry(inner, part[name]) for name, inner in tree.parts.items()}
    )


def rdata_of(tree: Any) -> Any:
    """Return the rdata of an argument after the reverse pass."""
    if type(tree) is Active:
        return scalar_gradient(tree)
    if type(tree) is not TangentTree or tree.kind in MUTABLE:
        return NoRData()
    parts = {name: rdata_of(part) for name, part in tree.parts.items()}
    return join_or_collapse(tuple if tree.kind is tuple else RData, parts, NoRData())
