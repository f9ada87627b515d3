"""The contents of an argument: its arrays, and the containers and objects that hold them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.copying import same_view
from mooncake_py.diagnostics.native_modules import is_native_module
from mooncake_py.errors import InvalidTangentError
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT, holds_inert
from mooncake_py.runtime.values import INEXACT_SCALARS
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.tangents.memory import address, cells, owner
from mooncake_py.tangents.spec import ObjectSpec

__all__ = [
    "PLAIN", "Part", "Survey", "block_of", "is_number", "overlap", "parts_of", "shared_surveys",
]  # fmt: skip

PLAIN = INERT | {Active}
MANY = 16  # parts of which it pays to find out at once whether they are all inert
MAX_WORK = 10_000  # of the exact test whether two arrays overlap: microseconds


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
            if isinstance(value, ndarray):
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
    if isinstance(spec, ObjectSpec) and is_native_module(t.__module__):
        return ()
    try:
        fields = spec.fields(value)
    except InvalidTangentError:  # lifting it says what is wrong
        return ()
    return () if fields is None else list(fields.values())


def shared_surveys(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Survey] | None:
    """Return the surveys of arguments of which two may share something, None if none do.

    Most calls have one array or arrays that own their memory: they are told apart in a fraction
    of a microsecond.
    """
    values = (*args, *kwargs.values()) if kwargs else args
    rest = [value for value in values if type(value) not in PLAIN]
    if len(rest) < 2:
        return None
    for value in rest:
        if type(value) is not ndarray or value.base is not None:
            break
    else:
        if len({*map(id, rest)}) == len(rest):
            return None
    surveys: list[Survey] = []
    met: set[int] = set()
    shared = False
    for value in values:
        survey = Survey(value)
        surveys.append(survey)
        keys = {block_of(a) for a in survey.arrays}
        keys.update(survey.holders)
        shared = shared or not met.isdisjoint(keys)
        met |= keys
    return surveys if shared else None


def block_of(a: ndarray) -> int:
    """Return what two arrays have in common if they may share memory."""
    if a.base is None:
        return id(a)
    root = owner(a)
    base: Any = root.base
    while isinstance(base, memoryview) and base.obj is not None:
        base = base.obj
    return id(root if base is None else base)


def overlap(a: ndarray, b: ndarray) -> bool:
    """Return whether two arrays share an element; True if an exact test would take too long."""
    try:
        return np.shares_memory(a, b, max_work=MAX_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


class Part:
    """The part of the original memory that a write changes."""

    def __init__(self, o: ndarray, i: Any, own: ndarray, original: ndarray) -> None:
        part = o[i]
        self.itemsize = o.itemsize
        self.view: ndarray | None = None
        if isinstance(part, ndarray) and part.base is not None and np.may_share_memory(part, o):
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
