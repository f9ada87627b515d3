"""Copies of values, the same in plain calls as inside a derivative."""

from __future__ import annotations

from typing import Any, TypeVar

from numpy import ndarray

from mooncake_py.application.copying import copy_jointly
from mooncake_py.runtime.active import Active

__all__ = ["plain_copy"]

T = TypeVar("T")


def plain_copy(x: T) -> T:
    """Return a copy of a value in which all numbers are plain; each array is copied separately."""
    return copy_jointly(x, plain_leaf, keep_views=False)


def plain_leaf(leaf: Any) -> Any:
    """Return a number or an array without a connection to any derivative."""
    while type(leaf) is Active:
        leaf = leaf.primal
    return leaf.copy("K") if issubclass(type(leaf), ndarray) else leaf
