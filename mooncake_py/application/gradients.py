"""Gradients in the structure of the arguments, read from trees after the reverse pass."""

from __future__ import annotations

from types import CellType
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.runtime.active import Active
from mooncake_py.runtime.memory import Memory
from mooncake_py.runtime.pulls import scalar_cotangent
from mooncake_py.runtime.tangent_tree import TangentTree
from mooncake_py.runtime.views import View
from mooncake_py.tangents import NoTangent
from mooncake_py.tangents.containers import MUTABLE, fill_container, join_container
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.tangents.spec import TangentSpec

__all__ = ["Known", "gradient_of", "scalar_gradient"]


class Known:
    """In a tree, a number or an array whose gradient is computed elsewhere."""

    __slots__ = ("gradient",)

    gradient: Any


def gradient_of(value: Any, tree: Any, memo: dict[int, Any]) -> Any:
    """Return the gradient of a value in its own structure, after the reverse pass.

    It is the same dataclass for a dataclass, a `MutableTangent` for any other object, that of a
    closure with the captured variables by name; parts without a derivative give ``NoTangent()``.
    Arrays are new.  What is met twice has one gradient, by the `memo`.
    """
    if tree is None:
        return NoTangent()
    if type(tree) is Known:
        return tree.gradient
    if type(tree) is Active:
        return scalar_gradient(tree)
    if type(tree) is Memory or isinstance(tree, View):
        if id(tree) not in memo:
            memo[id(tree)] = array_gradient(value, tree)
        return memo[id(tree)]
    if type(value) is CellType:
        return gradient_of(value.cell_contents, tree.parts["cell_contents"], memo)
    if id(tree) not in memo:
        memo[id(tree)] = container_gradient(value, tree, memo)
    return memo[id(tree)]


def container_gradient(value: Any, tree: TangentTree, memo: dict[int, Any]) -> Any:
    spec = spec_of(value)
    fields = spec.fields(value)
    assert fields is not None
    if type(spec).gradient is not TangentSpec.gradient:
        parts = {name: gradient_of(fields[name], m, memo) for name, m in tree.parts.items()}
        return spec.gradient(value, parts)
    mutable = mutable_gradient(value, tree)
    if mutable is not None:
        memo[id(tree)] = mutable  # before its parts, which may lead back to it
    parts = {name: gradient_of(fields[name], m, memo) for name, m in tree.parts.items()}
    if mutable is None:
        is_namedtuple = hasattr(type(value), "_fields")
        return type(value)(*parts.values()) if is_namedtuple else join_container(tree.kind, parts)
    if is_dataclass(value):
        for name, part in parts.items():
            object.__setattr__(mutable, name, part)
    else:
        fill_container(mutable, parts)
    return mutable


def mutable_gradient(value: Any, tree: TangentTree) -> Any:
    """Return an empty gradient that is filled in place, or None if it is made whole."""
    if is_dataclass(value):
        return object.__new__(type(value))
    return tree.kind() if tree.kind in MUTABLE else None


def is_dataclass(value: Any) -> bool:
    """Return whether a value is an instance of a dataclass, without the module that makes them."""
    return hasattr(type(value), "__dataclass_fields__")


def scalar_gradient(node: Active) -> Any:
    """Return the cotangent of an active scalar in the type of the scalar."""
    return type(node.primal)(scalar_cotangent(node, node.grad))


def array_gradient(value: ndarray, node: Any) -> ndarray:
    """Return the cotangent of an array as a new array of its shape and dtype."""
    if type(node) is not Memory:
        if node.memory.grad is None:
            return np.zeros(value.shape, value.dtype)
        return node.shadow().copy()
    g = node.grad
    if g is None:
        return np.zeros(value.shape, value.dtype)
    flags = g.flags
    if flags.owndata and flags.c_contiguous and not node.pinned:
        return g
    return np.array(g, order="C")
