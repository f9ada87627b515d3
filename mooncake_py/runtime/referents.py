"""Arrays and containers that compiled code can reach from its arguments, through any class."""

from __future__ import annotations

from array import array
from collections import deque
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np
from numpy import dtype, generic, ndarray

from mooncake_py.modules import module_of, package_of
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import CONTAINERS, INERT, elements, holds_inert, windows
from mooncake_py.runtime.held_in_c import held_in_c
from mooncake_py.tangents.fields import instance_dict
from mooncake_py.words import with_article

__all__ = ["Reached", "TooMuchError", "is_function_of_cython", "reached_from"]

CODE = (type, ModuleType, FunctionType, CodeType, WrapperDescriptorType, dtype, generic)
FILLED = (list, dict, set, deque, bytearray, array)
BY_ADDRESS = frozenset({"_cffi_backend", "_ctypes", "ctypes", "mmap"})
BY_ADDRESS_NAMES = frozenset({"PyCapsule", "SwigPyObject"})
MOST = 100_000


class TooMuchError(Exception):
    """Compiled code can reach more than can be watched, or memory by its address; says which."""


class Reached:
    """Arrays, containers that may change, and active numbers that compiled code can reach."""

    def __init__(self) -> None:
        self.arrays: list[ndarray] = []
        self.containers: list[Any] = []
        self.numbers: list[Active] = []
        self.generators: list[Any] = []  # of random numbers, with a state of their own
        self.known: dict[int, Any] = {}  # keeps the object whose id is the key


def reached_from(values: Any) -> Reached:
    """Return the objects reachable from values, without running methods of their classes.

    Raises
    ------
    TooMuchError
        If one of the values is a pointer, or there are too many.
    """
    found = Reached()
    todo = list(values)
    while todo:
        value = todo.pop()
        t = type(value)
        if t in INERT or issubclass(type(value), CODE) or id(value) in found.known:
            continue
        found.known[id(value)] = value
        if len(found.known) > MOST:
            raise TooMuchError("it can reach too many objects to see whether they change")
        if module_of(t).startswith("numpy.random"):
            found.generators.append(value)
            continue
        if package_of(t) in BY_ADDRESS or t.__name__ in BY_ADDRESS_NAMES:
            raise TooMuchError(f"{with_article(t.__name__)} knows memory by its address")
        if t is Active:
            found.numbers.append(value)
            continue
        if issubclass(type(value), ndarray):
            found.arrays.append(value)
        elif issubclass(type(value), FILLED):
            found.containers.append(value)
        todo += parts_of(value)
    return found


def parts_of(value: Any) -> Any:
    """Return the objects that a value refers to; none for arrays and containers of plain values."""
    if issubclass(type(value), ndarray):
        return value.ravel().tolist() if value.dtype.kind == "O" else ()
    if issubclass(type(value), (MethodType, BuiltinFunctionType)) or is_function_of_cython(value):
        return (getattr(value, "__self__", None),)
    if issubclass(type(value), (np.flatiter, np.broadcast, memoryview, np.void)):
        return windows(value)
    if issubclass(type(value), np.nditer):
        return value.operands
    if issubclass(type(value), CONTAINERS):
        inert = type(value) in (list, tuple, dict) and holds_inert(value)
        return () if inert else [*elements(value), *attributes_of(value)]
    return [*held_in_c(value), *attributes_of(value)]


def is_function_of_cython(value: Any) -> bool:
    """Return whether a value is a plain function, whose globals are not arguments."""
    return type(value).__name__ in ("cython_function_or_method", "fused_cython_function")


def attributes_of(value: Any) -> tuple[Any, ...]:
    """Return the dict in which an object keeps its attributes, if it has one."""
    held = instance_dict(value)
    return (held,) if type(held) is dict else ()
