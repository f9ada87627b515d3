"""Subclasses of containers with methods in Python: C calls those that it calls anyway.

Each method computes with elements of the argument, so that a call that is not derived, or one too
many, shows in the gradient.
"""

from __future__ import annotations

import copy
import operator
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad
from tests.support.pairs import rotating

X = np.array([3.0, 2.0, 5.0])
NAMES = """
    __init__ __getitem__ __setitem__ __delitem__ __contains__ __iter__ __len__ __reversed__ keys
    values items get append extend update add copy __add__ __mul__ __or__ __iadd__ __ior__
"""
METHODS = NAMES.split()
BASES: dict[Any, tuple[Any, ...]] = {
    list: ([1.0, 2.0],), deque: ([1.0, 2.0],), tuple: ([1.0, 2.0],), set: ([1, 2],),
    frozenset: ([1, 2],), dict: ({"a": 1.0, "b": 2.0},), OrderedDict: ({"a": 1.0, "b": 2.0},),
    defaultdict: (float, {"a": 1.0, "b": 2.0}), Counter: ("aab",),
}  # fmt: skip
USES: dict[str, Callable[[Any], Any]] = {
    "copy": lambda o: o.copy(),
    "copy of the base": lambda o: type(o).__mro__[1].copy(o),
    "copied": copy.copy,
    "copied deeply": copy.deepcopy,
    "reduced": lambda o: o.__reduce_ex__(2),
    "joined": lambda o: o + o,
    "repeated": lambda o: o * 2,
    "repeated in place": lambda o: operator.imul(o, 2),
    "merged": lambda o: o | o,
    "merged from the right": lambda o: {"x": 1} | o,
    "unpacked": lambda o: {**o},
    "dict": dict,
    "set": set,
    "frozenset": frozenset,
    "list": list,
    "counted": Counter,
    "disjoint": lambda o: {9}.isdisjoint(o),
    "union": lambda o: {1}.union(o),
    "popped": lambda o: o.pop("a") if isinstance(o, dict) else o.pop(),
    "missing": lambda o: list(map(o.__getitem__, "qa")),
}


def hooked(base: Any, hook: Callable[[], Any]) -> Any:
    """Return a subclass whose methods call a hook, and then those of the base."""

    def method(name: str) -> Any:
        def run(self: Any, *args: Any, **kwargs: Any) -> Any:
            hook()
            return getattr(base, name)(self, *args, **kwargs)

        return run

    names = {name: method(name) for name in METHODS if hasattr(base, name)}
    if issubclass(base, dict):
        names["__missing__"] = lambda self, key: hook()
    return type("Hooked", (base,), names)


@pytest.mark.parametrize(("base", "use"), rotating(BASES, USES.values(), times=2))
def test_calls_of_methods(base: Any, use: Callable[[Any], Any]) -> None:
    def f(x: Any) -> Any:
        total = [0.0, False]

        def hook() -> float:
            if total[1]:
                total[0] = total[0] + x[0] * x[1]
            return 1.0

        o = hooked(base, hook)(*BASES[base])
        total[1] = True
        use(o)
        total[1] = False
        return total[0] + x[2]

    try:
        expected = f(X)
    except (TypeError, AttributeError, KeyError, IndexError):
        return  # no such use of the class
    calls = round((expected - X[2]) / (X[0] * X[1]))
    slopes = calls * X[1], calls * X[0], 1.0
    value, gradient = value_and_grad(f)(X)
    assert value == expected
    np.testing.assert_allclose(gradient, slopes)
    np.testing.assert_allclose(jvp(f, (X,), (np.ones(3),)), (expected, sum(slopes)))
