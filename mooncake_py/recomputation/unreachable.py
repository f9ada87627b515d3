"""Objects that a part of a program has made and left in cycles: only the record refers to them.

The collector of garbage does not take it: the entries that undo the part refer to it.
"""

from __future__ import annotations

import gc
import itertools
from collections.abc import Iterable
from types import CodeType, ModuleType
from typing import Any

from numpy import ndarray

from mooncake_py.modules import package_of
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.references import references_beside

__all__ = ["unreachable"]

ENDS = (type, ModuleType, CodeType, ndarray, Active)
"""Types whose objects are not looked into, although they may lead to more."""
MOST = 100_000


def unreachable(holders: Iterable[Any]) -> set[int]:
    """Return the ids of the objects that nothing leads to but some tuples; as the collector counts.

    An object is reachable if there are more references to it than those of the tuples, and of what
    is found from these; and so is what it refers to.  Where too much is found, all of it is.
    """
    found = list({id(holder): holder for holder in holders}.values())
    first = len(found)
    places = {id(holder): k for k, holder in enumerate(found)}
    leads_to: list[list[int]] = []
    while len(leads_to) < len(found) <= MOST:
        looks_into = len(leads_to) < first or not is_end(found[len(leads_to)])
        leads_to.append(met(found[len(leads_to)], found, places) if looks_into else [])
    if len(found) > MOST:
        return set()
    within = [0] * len(found)
    for k in itertools.chain.from_iterable(leads_to):
        within[k] += 1
    todo = [k for k in range(first, len(found)) if references_beside(found, k) > within[k]]
    reached = set(todo)
    while todo:
        for k in leads_to[todo.pop()]:
            if k not in reached:
                reached.add(k)
                todo.append(k)
    return {key for key, k in places.items() if k >= first and k not in reached}


def met(value: Any, found: list[Any], places: dict[int, int]) -> list[int]:
    """Return the places of what an object refers to, in the list of all that was found."""
    met = []
    for part in gc.get_referents(value):
        if id(part) in places or gc.is_tracked(part):
            k = places.setdefault(id(part), len(found))
            if k == len(found):
                found.append(part)
            met.append(k)
    return met


def is_end(value: Any) -> bool:
    """Return whether an object is not looked into: those of the engine, and globals, are not."""
    t = type(value)
    if t is dict:
        return "__builtins__" in value or "__build_class__" in value
    return issubclass(t, ENDS) or package_of(t) == "mooncake_py"
