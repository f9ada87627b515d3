"""Fdata and rdata of values, built and read along mirrors.

In a container that is identified by address (list, dict, object) the parts of the fdata are whole
tangents, and floats have their cotangents there; elsewhere the cotangent of a float is rdata.
"""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from mooncake_py.application.gradients import scalar_gradient
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.memory import Memory, View
from mooncake_py.runtime.tangent_tree import Mirror
from mooncake_py.tangents import FData, NoFData, NoRData, NoTangent, RData
from mooncake_py.tangents.containers import EMPTY, MUTABLE, join_container
from mooncake_py.tangents.lookup import spec_of

__all__ = [
    "Follower", "collect", "fields_of", "parts_of", "pour", "rdata_of", "restore", "seed",
]


def fields_of(value: Any) -> Any:
    """Return what a container or an object holds, by index, key or name."""
    return spec_of(value).fields(value)


def parts_of(data: Any) -> dict[Any, Any]:
    """Return the parts of mutable fdata, as they are now."""
    if type(data) is list:
        return dict(enumerate(data))
    return dict(data if type(data) is dict else data._fields)


def put_parts(data: Any, parts: dict[Any, Any]) -> None:
    """Replace all parts of mutable fdata."""
    if type(data) is list:
        data[:] = parts.values()
        return
    target = data if type(data) is dict else data._fields
    target.clear()
    target.update(parts)


# After the forward pass: fdata follow the structure of the values.


class Follower:
    """Brings fdata to the structure of mirrors; a container met twice is brought once.

    Parameters
    ----------
    copied : list of ndarray
        Fdata that are copied in and out and stay what they are.
    """

    def __init__(self, copied: list[ndarray]) -> None:
        self.copied = copied
        self.memo: dict[int, Any] = {}

    def fdata(self, mirror: Any, present: Any) -> Any:
        """Return the fdata of a value identified by value; `present` are the old ones or None."""
        if type(mirror) is Active or mirror is None:
            return NoFData()
        if type(mirror) is Mirror and mirror.kind not in MUTABLE:
            parts = {
                name: self.fdata(part, part_of(present, name))
                for name, part in mirror.parts.items()
            }
            if all(type(part) is NoFData for part in parts.values()):
                return NoFData()
            return join_container(tuple if mirror.kind is tuple else FData, parts)
        return self.tangent(mirror, present)

    def tangent(self, mirror: Any, present: Any) -> Any:
        """Return the tangent of a part of a container."""
        if mirror is None:
            return NoTangent()
        if type(mirror) is Active:
            zero = type(mirror.primal)(0)
            return present if type(present) is type(zero) else zero
        if isinstance(mirror, (Memory, View)):
            return self.shadow(mirror, present)
        if mirror.kind in MUTABLE:
            return self.mutable(mirror, present)
        parts = {
            name: self.tangent(part, part_of(present, name)) for name, part in mirror.parts.items()
        }
        if all(type(part) in EMPTY for part in parts.values()):
            return NoTangent()
        return join_container(mirror.kind, parts)

    def mutable(self, mirror: Mirror, present: Any) -> Any:
        """Return the fdata of a container or an object, the present object if there is one."""
        known = self.memo.get(id(mirror))
        if known is not None:
            return known
        data = present if type(present) is mirror.kind else mirror.kind()
        self.memo[id(mirror)] = data
        parts = {
            name: self.tangent(part, part_of(present, name)) for name, part in mirror.parts.items()
        }
        put_parts(data, parts)
        return data

    def shadow(self, node: Any, present: Any) -> ndarray:
        """Return the shadow of an array, the present object if it is that already."""
        if any(present is data for data in self.copied):
            return present
        shadow = node.pin()
        return present if type(present) is ndarray and same_memory(present, shadow) else shadow


def part_of(data: Any, name: Any) -> Any:
    """Return a part of fdata, or None if there is none yet."""
    try:
        return data[name]
    except (LookupError, AttributeError, TypeError):
        return None


def same_memory(a: ndarray, b: ndarray) -> bool:
    """Tell whether two arrays are the same view of the same memory."""
    return (
        a.__array_interface__["data"] == b.__array_interface__["data"]
        and a.shape == b.shape
        and a.strides == b.strides
        and a.dtype == b.dtype
    )


# The reverse pass.


def collect(mirror: Any, data: Any, seen: set[int]) -> None:
    """Add the cotangents that fdata of containers hold for numbers to their nodes."""
    if type(mirror) is Active:
        if type(data) not in EMPTY:
            mirror.add(data)
    elif type(mirror) is Mirror and type(data) not in EMPTY:
        if mirror.kind in MUTABLE:
            if id(mirror) in seen:
                return
            seen.add(id(mirror))
        for name, part in mirror.parts.items():
            if type(part) is Mirror or type(part) is Active:
                collect(part, data[name], seen)


def pour(mirror: Any, data: Any, seen: set[int]) -> Any:
    """Add the cotangents of nodes to fdata, in place where they have an address; return them."""
    if mirror is None or type(data) in EMPTY:
        return data
    if type(mirror) is Active:
        g = mirror.take()
        return data if g is None else type(data)(data + g)
    if type(mirror) is not Mirror:
        g = mirror.take()
        if g is not None:
            data += g
        return data
    if id(mirror) in seen:
        return data
    seen.add(id(mirror))
    parts = {name: pour(part, data[name], seen) for name, part in mirror.parts.items()}
    if mirror.kind not in MUTABLE:
        return join_container(type(data), parts)
    for name, part in parts.items():
        data[name] = part
    return data


def seed(mirror: Any, dy: Any) -> None:
    """Give the rdata of the output to its active scalars."""
    if type(dy) is NoRData:
        return
    if type(mirror) is Active:
        mirror.add(dy)
    elif type(mirror) is Mirror and mirror.kind not in MUTABLE:
        for name, part in mirror.parts.items():
            seed(part, dy[name])


def restore(data: Any, parts: dict[Any, Any], mirror: Mirror) -> None:
    """Bring fdata of a container back to their structure at entry, with the cotangents there."""
    put_parts(data, {
        name: tangent_at_entry(mirror.parts.get(name), part) for name, part in parts.items()
    })


def tangent_at_entry(mirror: Any, part: Any) -> Any:
    """Return the tangent of a part of a container after the reverse pass."""
    if type(mirror) is Active:
        return type(part)(scalar_gradient(mirror)) if type(part) not in EMPTY else part
    if type(mirror) is not Mirror or mirror.kind in MUTABLE or type(part) in EMPTY:
        return part
    return join_container(mirror.kind, {
        name: tangent_at_entry(inner, part[name]) for name, inner in mirror.parts.items()
    })


def rdata_of(mirror: Any) -> Any:
    """Return the rdata of an argument after the reverse pass."""
    if type(mirror) is Active:
        return scalar_gradient(mirror)
    if type(mirror) is not Mirror or mirror.kind in MUTABLE:
        return NoRData()
    parts = {name: rdata_of(part) for name, part in mirror.parts.items()}
    if all(type(part) is NoRData for part in parts.values()):
        return NoRData()
    return join_container(tuple if mirror.kind is tuple else RData, parts)
