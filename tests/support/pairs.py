"""A few of the cases of a product: enough of them to have each value, or each pair of values."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable
from typing import Any

import pytest

__all__ = ["of_each_kind", "pairwise", "pairwise_of", "rotating"]


def pairwise(*factors: Iterable[Any]) -> list[Any]:
    """Return cases that have each pair of values of two factors at least once.

    Faults that need one value of each of three factors are rare; of two factors it is the product.

    Examples
    --------
    >>> len(pairwise("abcd", "xyz", range(3), range(2)))
    13
    """
    return [joined(case) for case in pairwise_of(itertools.product(*factors))]


def pairwise_of(cases: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return those of some cases that have each pair of values that any of them has.

    It takes first what has most pairs that are new, in an order that depends on nothing else.
    """
    left = [(case, pairs(case)) for case in cases]
    random.Random(0).shuffle(left)
    chosen: list[tuple[Any, ...]] = []
    seen: set[Any] = set()
    for wanted in range(max((len(p) for _, p in left), default=0), 0, -1):
        rest = []
        for case, found in left:
            new = len(found - seen)
            if new >= wanted:
                chosen.append(case)
                seen |= found
            elif new:
                rest.append((case, found))
        left = rest
    return chosen


def pairs(case: tuple[Any, ...]) -> set[Any]:
    keys = [(k, key(value)) for k, value in enumerate(case)]
    return set(itertools.combinations(keys, 2))


def key(value: Any) -> Any:
    """Return something hashable that is equal for equal values; arrays are what they are."""
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value), value


def rotating(*factors: Iterable[Any], times: int = 1) -> list[Any]:
    """Return cases that have each value of the longest factor `times` times, the others in turn.

    For programs in several modes, say, of which none treats a program like no other one does.

    Examples
    --------
    >>> rotating("abcd", "xyz")
    [('a', 'x'), ('b', 'y'), ('c', 'z'), ('d', 'x')]
    >>> rotating("abc", "xyz", times=2)[3:]
    [('a', 'y'), ('b', 'z'), ('c', 'x')]
    """
    lists = [*map(list, factors)]
    count = max(map(len, lists))
    longest = next(i for i, values in enumerate(lists) if len(values) == count)
    cases = []
    for turn, k in itertools.product(range(times), range(count)):
        case, lap = [], 0
        for i, values in enumerate(lists):
            case.append(values[k if i == longest else (k + turn + lap) % len(values)])
            lap += 0 if i == longest else k // len(values)
        cases.append(joined(case))
    return cases


def joined(case: Iterable[Any]) -> Any:
    """Return a case, with the marks of its values if they have some."""
    marks = [mark for value in case for mark in getattr(value, "marks", ())]
    values = [value.values[0] if hasattr(value, "marks") else value for value in case]
    return pytest.param(*values, marks=marks) if marks else tuple(values)


def of_each_kind(cases: Iterable[Any], kind: Any) -> list[Any]:
    """Return the first case of each kind, which a function tells.

    Examples
    --------
    >>> of_each_kind(["sum, rows", "sum, columns", "mean"], lambda name: name.partition(",")[0])
    ['sum, rows', 'mean']
    """
    found: dict[Any, Any] = {}
    for case in cases:
        found.setdefault(kind(case), case)
    return list(found.values())
