"""Dicts read at active numbers: the value must have been stored for this very number.

A dict finds a value stored under an equal number.  A cache of results (``memo[x]``) would return a
constant from before the call, or the result for another variable with the same value, and the
derivative would be lost without an error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.diagnostics.reporting import Reporting, dropped
from mooncake_py.runtime.active import Active, primal_of
from mooncake_py.runtime.activity import INERT, within
from mooncake_py.runtime.same_number import are_same

__all__ = ["refuse_other_key"]


class Probe(Active):
    """An active number in a looked-up key, which records the numbers that compare equal to it."""

    __slots__ = ("met",)

    def __init__(self, number: Active) -> None:
        self.primal = number.primal
        self.context = number.context

    def __eq__(self, other: object) -> bool:
        equal = bool(self.primal == primal_of(other))
        if equal:
            self.met = other
        return equal

    __hash__ = Active.__hash__


def refuse_other_key(ctx: Reporting, d: dict[Any, Any], key: Any) -> None:
    """Raise if a dict holds, under an active key, numbers that were stored for another one."""
    if type(key) is tuple and all(type(part) in INERT for part in key):
        return  # the commonest compound keys: integers, strings
    probes: list[tuple[Active, Probe]] = []
    probing = probe(key, probes)
    if not probes or not dict.__contains__(d, probing):
        return
    if all(p.met is number or are_same(number, p.met) for number, p in probes):
        return
    if not any(map(can_vary, within(dict.__getitem__(d, probing), is_number, set()))):
        return
    what = "a dict was read at an active number, and holds a value for another one that is equal"
    if all(type(p.met) is Active for _, p in probes):
        raise dropped(
            ctx,
            what,
            why=f"what is stored under {primal_of(key)!r} was computed for another active number:\n"
            "each read of an element, such as x[0], is a new number to the engine",
            fix="use an int or a str as the key, such as the index of the element,\n"
            "or read the element once and use that variable both times",
        )
    raise dropped(
        ctx,
        what,
        why=f"what is stored under {primal_of(key)!r} was computed before the call or for "
        "another variable,\nso that its derivative with respect to this key is not known",
        fix="clear the dict before you take the gradient, or use functools.cache;\n"
        "if the key only names something, make it an int or a str",
    )


def probe(key: Any, probes: list[tuple[Active, Probe]]) -> Any:
    """Return an equal key with probes for active numbers."""
    if type(key) is Active:
        new = Probe(key)
        probes.append((key, new))
        return new
    if issubclass(type(key), tuple):
        return tuple(probe(part, probes) for part in key)
    return key


def is_number(value: Any) -> bool:
    return type(value) is Active or isinstance(value, (float, complex, np.inexact, ndarray))


def can_vary(number: Any) -> bool:
    """Return whether a number, or those of an array, could have a derivative."""
    return not issubclass(type(number), ndarray) or number.dtype.kind in "fcO"
