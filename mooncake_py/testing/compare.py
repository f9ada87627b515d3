"""Comparison of nested values, to a tolerance or bit for bit, with the path to a difference."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from mooncake_py.tangents.bits import bits_of
from mooncake_py.testing.structure import Part, children, is_inexact, is_number, walk_all
from mooncake_py.words import with_article

__all__ = ["Mismatch", "compare", "first_change", "freeze", "is_zero", "largest_number"]


class Mismatch(NamedTuple):
    """The position and the kind of a difference between two values."""

    path: str
    expected: Any
    got: Any


def compare(expected: Any, got: Any, path: str, *, ulps: float = 256.0) -> Mismatch | None:
    """Return the first place where two nested values differ, or None.

    Types, dtypes, shapes and structure must be equal, numbers equal to `ulps` units of rounding
    relative to the largest number of their array; nan equals nan.
    """
    return _Comparison(ulps).compare(expected, got, path)


class _Comparison:
    """A comparison in lock-step that visits each pair of containers once."""

    def __init__(self, ulps: float) -> None:
        self.ulps = ulps
        self.seen: dict[tuple[int, int], Any] = {}

    def compare(self, expected: Any, got: Any, path: str) -> Mismatch | None:
        if type(expected) is not type(got):
            return Mismatch(path, _described(expected), _described(got))
        if issubclass(type(expected), np.ndarray):
            return self.compare_arrays(expected, got, path)
        if is_number(expected):
            close = _close(np.asarray(expected), np.asarray(got), self.ulps)
            return None if close else Mismatch(path, expected, got)
        if isinstance(expected, (str, bytes)):
            return None if expected == got else Mismatch(path, expected, got)
        if expected is got or (id(expected), id(got)) in self.seen:
            return None
        self.seen[id(expected), id(got)] = (expected, got)
        return self.compare_parts(expected, got, path)

    def compare_arrays(self, expected: Any, got: Any, path: str) -> Mismatch | None:
        if expected.dtype != got.dtype:
            return Mismatch(path, f"dtype {expected.dtype}", f"dtype {got.dtype}")
        if expected.shape != got.shape:
            return Mismatch(path, f"shape {expected.shape}", f"shape {got.shape}")
        return None if _close(expected, got, self.ulps) else Mismatch(path, expected, got)

    def compare_parts(self, expected: Any, got: Any, path: str) -> Mismatch | None:
        parts, other_parts = children(expected), children(got)
        names = [name for name, _ in parts]
        other_names = [name for name, _ in other_parts]
        if names != other_names:
            if issubclass(type(expected), (list, tuple)):
                return Mismatch(path, f"length {len(names)}", f"length {len(other_names)}")
            return Mismatch(path, f"parts {', '.join(names)}", f"parts {', '.join(other_names)}")
        for (name, part), (_, other) in zip(parts, other_parts, strict=True):
            mismatch = self.compare(part, other, path + name)
            if mismatch is not None:
                return mismatch
        return None


def _described(value: Any) -> str:
    kind = type(value).__name__
    if issubclass(type(value), np.ndarray):
        return f"{kind} of dtype {value.dtype}, shape {value.shape}"
    return f"{kind} {value!r:.80}" if is_number(value) else kind


def _close(expected: Any, got: Any, ulps: float) -> bool:
    """Return whether arrays of one dtype and shape are equal up to rounding."""
    if bits_of(expected) == bits_of(got):
        return True
    if expected.dtype.kind not in "fc":
        return bool(np.array_equal(expected, got))
    finite = np.isfinite(expected)
    if not np.array_equal(finite, np.isfinite(got)):
        return False
    if not np.array_equal(expected[~finite], got[~finite], equal_nan=True):
        return False
    scale = np.max(np.abs(expected[finite]), initial=0.0)
    error = np.max(np.abs(expected[finite] - got[finite]), initial=0.0)
    return bool(error <= ulps * np.finfo(expected.dtype).eps * scale)


State = list[tuple[str, tuple[Any, ...]]]
"""For each part of some values its path and what must not change."""


def freeze(roots: Iterable[Part]) -> State:
    """Record the state of values bit for bit: identity of containers, bytes of arrays."""
    return [(path, _signature(value)) for path, value in walk_all(roots)]


def _signature(value: Any) -> tuple[Any, ...]:
    if issubclass(type(value), np.ndarray):
        layout = (value.dtype.str, value.shape, value.strides)
        return ("array", value, *layout, value.copy(), bits_of(value))
    if is_number(value):
        return ("number", type(value), repr(value))
    names = tuple(name for name, _ in children(value))
    return ("container", value, names)


def first_change(before: State, roots: Iterable[Part]) -> Mismatch | None:
    """Return the first part whose state differs from the record of :func:`freeze`, or None."""
    after = freeze(roots)
    for (path, old), (other_path, new) in zip(before, after, strict=False):
        if path != other_path:
            return Mismatch(path, f"{path} present", f"{other_path} in its place")
        mismatch = _changed(path, old, new)
        if mismatch is not None:
            return mismatch
    if len(before) != len(after):
        path = max(before, after, key=len)[min(len(before), len(after))][0]
        return Mismatch(path, f"{len(before)} parts in all", f"{len(after)} parts in all")
    return None


def _changed(path: str, old: tuple[Any, ...], new: tuple[Any, ...]) -> Mismatch | None:
    if old[0] != new[0]:
        return Mismatch(path, with_article(old[0]), with_article(new[0]))
    if old[0] == "number":
        return None if old == new else Mismatch(path, old[2], new[2])
    if old[1] is not new[1]:
        return Mismatch(path, "the same object", f"another object, {type(new[1]).__name__}")
    if old[0] == "container":
        return None if old[2] == new[2] else Mismatch(path, f"parts {old[2]}", f"parts {new[2]}")
    if old[2:5] != new[2:5]:
        return Mismatch(path, f"dtype, shape, strides {old[2:5]}", f"{new[2:5]}")
    return None if old[6] == new[6] else Mismatch(path, old[5], new[5])


def is_zero(value: Any) -> bool:
    """Return whether a number or array is exactly zero everywhere (minus zero counts, nan not)."""
    return not np.any(np.asarray(value) != 0)


def largest_number(roots: Iterable[Part]) -> float:
    """Return the largest finite modulus among the inexact numbers of some values, or 0."""
    largest = 0.0
    for _, value in walk_all(roots):
        if is_inexact(value):
            sizes = np.abs(value)
            largest = max(largest, float(np.max(sizes, where=np.isfinite(sizes), initial=0.0)))
    return largest
