"""Dicts read at active numbers: the value must have been stored for this very number.

A dict finds a value stored under an equal number.  A cache of results (``memo[x]``) would return a
constant from before the call, or the result for another variable with the same value, and the
derivative would be lost without an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.containers.equality import compared, holds_numbers, is_same, may_differ
from mooncake_py.containers.origins import have_one_origin, origins_of
from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT, unwrapped, within
from mooncake_py.runtime.attribute_lookup import MISSING
from mooncake_py.runtime.same_number import are_same

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["refuse_other_key"]


class Probe(Active):
    """A key that is looked up, which records the stored key that equals it."""

    __slots__ = ("key", "met")

    def __init__(self, key: Any) -> None:
        self.key = key
        self.met: Any = MISSING

    @property
    def __class__(self) -> type:  # not that of the number, by which dataclasses compare
        return Probe

    def __eq__(self, other: object) -> bool:
        equal = bool(other == self.key)
        if equal:
            self.met = other
        return equal

    def __hash__(self) -> int:
        return hash(self.key)


def refuse_other_key(ctx: Mode, d: dict[Any, Any], key: Any) -> None:
    """Raise if a dict holds, under a key with active numbers, what was stored for other ones."""
    if type(key) is tuple and all(type(part) in INERT for part in key):
        return  # the commonest compound keys: integers, strings
    sought = compared(ctx, key)
    if not holds_numbers(sought) or not dict.__contains__(d, key):
        return
    stored = stored_key(d, key, may_differ(sought))
    if stored is key or are_of_one_number(sought, compared(ctx, stored)):
        return
    if not any(map(can_vary, within(dict.__getitem__(d, key), is_number, set()))):
        return
    what = "a dict was read at an active number, and holds a value for another one that is equal"
    if ctx.contains_active(stored):
        raise dropped(
            ctx,
            what,
            why=f"what is stored under {unwrapped(key)!r} was computed for another active number:\n"
            "each read of an element, such as x[0], is a new number to the engine",
            fix="use an int or a str as the key, such as the index of the element,\n"
            "or read the element once and use that variable both times",
        )
    raise dropped(
        ctx,
        what,
        why=f"what is stored under {unwrapped(key)!r} was computed before the call or for "
        "another variable,\nso that its derivative with respect to this key is not known",
        fix="clear the dict before you take the gradient, or use functools.cache;\n"
        "if the key only names something, make it an int or a str",
    )


def are_of_one_number(sought: Any, stored: Any) -> bool:
    """Return whether two equal keys, as compared, hold the same numbers or elements."""
    return is_same(sought, stored, are_same) or have_one_origin(
        origins_of(sought), origins_of(stored)
    )


def stored_key(d: dict[Any, Any], key: Any, by_code: bool) -> Any:
    """Return the key of a dict that is equal to one, where its class may compare by its code."""
    if by_code:  # which may not know what to do with a probe
        code = hash(key)
        return next(k for k in dict.__iter__(d) if k is key or (hash(k) == code and k == key))
    probe = Probe(key)
    dict.__contains__(d, probe)
    return probe.met


def is_number(value: Any) -> bool:
    return type(value) is Active or isinstance(value, (float, complex, np.inexact, ndarray))


def can_vary(number: Any) -> bool:
    """Return whether a number, or those of an array, could have a derivative."""
    return not issubclass(type(number), ndarray) or number.dtype.kind in "fcO"
