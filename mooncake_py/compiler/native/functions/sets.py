"""Functions of NumPy that take arrays of ints as sets, of ints that are known while they are read.

np.setdiff1d(np.arange(6), [0, 3])      [1, 2, 4, 5]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mooncake_py.compiler.native.building.arguments import Given, Reader
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import Array, Number, Tuple, Unfit, Value
from mooncake_py.compiler.native.regions.region import INT
from mooncake_py.compiler.regions.ir import Assign, Const, Load

__all__ = ["SETS"]

MOST = 1 << 12  # ints that are looked at one by one


def ints_in(value: Value) -> list[int] | None:
    """Return the ints of a list or an array, None if some are known only when it runs."""
    items: Sequence[Any] = ()
    if isinstance(value, Tuple):
        items = [v.e if isinstance(v, Number) else v for v in value.items]
    elif isinstance(value, Array) and value.kind == INT and len(value.shape) == 1:
        (n,) = value.shape
        if not isinstance(n, Const) or n.value is None or n.value > MOST:
            return None
        items = [value.at((Const(k),)) for k in range(int(n.value))]
    found = [e.value for e in items if isinstance(e, Const) and type(e.value) is int]
    return found if found and len(found) == len(items) else None  # type: ignore[return-value]


def of_sets(f: Callable[..., Any]) -> Reader:
    """Return the reader of a function of sets."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        sets = [ints_in(value) for value in args]
        if given or not sets or None in sets:
            raise Unfit(
                f"np.{f.__name__} of {said(*args)}: use ints that are known, or make the array "
                "outside",
                b.place,
            )
        ints = f(*[np.array(found) for found in sets])
        a = b.new((Const(len(ints)),), INT)
        for k, value in enumerate(ints):
            b.add(Assign(Load(a.base, (Const(k),)), Const(int(value)), place=b.place))
        return a

    return read


SETS: dict[Any, Reader] = {
    f: of_sets(f) for f in (np.setdiff1d, np.intersect1d, np.union1d, np.unique)
}
