"""The contents of an argument: its arrays, and the containers and objects that hold them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.copying import same_view
from mooncake_py.diagnostics.native_modules import is_native_module
from mooncake_py.errors import InvalidTangentError
from mooncake_py.modules import module_of
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT, holds_inert
from mooncake_py.runtime.elsewhere import PartlySharedError, array_behind, has_own_memory
from mooncake_py.runtime.values import INEXACT_SCALARS
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.tangents.memory import address, cells, overlap, owner
from mooncake_py.tangents.spec import ObjectSpec

__all__ = [
    "PLAIN", "Part", "Survey", "block_of", "is_number", "parts_of", "shared_surveys",
]  # fmt: skip

PLAIN = INERT | {Active}
MANY = 16  # parts of which it pays to find out at once whether they are all inert


class Survey:
    """The arrays, containers and objects within reach of some values."""

    __slots__ = ("arrays", "holders")

    def __init__(self, *values: Any) -> None:
        self.arrays: list[ndarray] = []
        self.holders: dict[int, tuple[Any, Any]] = {}  # by id, with their parts
        rest = list(values)
        while rest:
            value = rest.pop()
            t = type(value)
            if t in PLAIN:
                continue
            if issubclass(type(value), ndarray):
                self.arrays.append(value)
            elif id(value) not in self.holders:
                parts = parts_of(value)
                self.holders[id(value)] = value, parts
                if len(parts) < MANY or not (t in (list, dict) and holds_inert(value)):
                    rest.extend(parts)

    def holds_numbers(self) -> bool:
        """Return whether anything here has a derivative."""
        return any(a.dtype.kind in "fc" for a in self.arrays) or any(
            is_number(part) for _, parts in self.holders.values() for part in parts
        )

    def leading_to(self, found: Iterable[int]) -> set[int]:
        """Return the ids of what leads to parts with these ids, these included."""
        above: dict[int, list[int]] = {}
        for key, (_, parts) in self.holders.items():
            for part in parts:
                above.setdefault(id(part), []).append(key)
        leads, rest = set(found), list(found)
        while rest:
            for key in above.get(rest.pop(), ()):
                if key not in leads:
                    leads.add(key)
                    rest.append(key)
        return leads


def is_number(part: Any) -> bool:
    """Return True for a number that has a derivative."""
    return type(part) in INEXACT_SCALARS or type(part) is Active


def parts_of(value: Any) -> Any:
    """Return the contents of a container or an object."""
    t = type(value)
    if t is list or t is tuple:
        return value
    if t is dict:
        return list(value.values())
    spec = spec_of(value)
    if isinstance(spec, ObjectSpec) and is_native_module(module_of(t)):
        return ()
    try:
        fields = spec.fields(value)
    except InvalidTangentError:  # lifting it says what is wrong
        return ()
    return () if fields is None else list(fields.values())


def shared_surveys(values: dict[Any, Any], chosen: Collection[Any]) -> list[Survey] | None:
    """Return the surveys of arguments if a chosen one may share something with another, or None."""
    if sum([type(value) not in PLAIN for value in values.values()]) < 2:
        return None
    of_chosen: set[int] = set()
    of_others: set[int] = set()
    for key, value in values.items():
        keys = reached_from(value)
        meets = not of_chosen.isdisjoint(keys)
        meets = meets or (key in chosen and not of_others.isdisjoint(keys))
        if meets or min(keys, default=0) < 0:
            return [*map(Survey, values.values())]
        (of_chosen if key in chosen else of_others).update(keys)
    return None


def reached_from(value: Any) -> Collection[int]:
    """Return the ids of the containers, objects and blocks of arrays within reach of a value.

    Arrays, and lists of such, are told apart in a microsecond or two.
    """
    t = type(value)
    if t is ndarray:
        return (block_of(value),)
    if t is list or t is tuple:
        arrays = [part for part in value[:MANY] if type(part) is ndarray]
        if len(arrays) == len(value):
            return [id(value), *map(block_of, arrays)]
    survey = Survey(value)
    return {*map(block_of, survey.arrays), *survey.holders}


def block_of(a: ndarray) -> int:
    """Return a key that two arrays share if they may share memory.

    It is negative for an array in memory of which the owner is not known: addresses tell.
    """
    if a.base is None:
        return id(a)
    root = owner(a)
    base: Any = root.base
    while issubclass(type(base), memoryview) and base.obj is not None:
        base = base.obj
    if base is not None and not has_own_memory(base):
        try:
            behind = array_behind(root)
        except PartlySharedError:
            behind = None
        return -id(base) if behind is None else id(behind)
    return id(root if base is None else base)


class Part:
    """The part of the original memory that a write changes."""

    def __init__(self, o: ndarray, i: Any, own: ndarray, original: ndarray) -> None:
        part = o[i]
        self.itemsize = o.itemsize
        self.view: ndarray | None = None
        if (
            issubclass(type(part), ndarray)
            and part.base is not None
            and np.may_share_memory(part, o)
        ):
            self.view = part if own is original else same_view(part, own, original)
        else:
            self.places = np.asarray(cells(o)[i]) + (address(original) - address(own))

    def meets(self, a: ndarray) -> bool:
        """Return whether an array has an element in common with it."""
        if self.view is not None:
            return overlap(self.view, a)
        if self.itemsize == a.itemsize:
            return bool(np.isin(self.places, cells(a)).any())
        low, high = np.lib.array_utils.byte_bounds(a)
        return bool(np.any((self.places + self.itemsize > low) & (self.places < high)))
