"""Walks find what is active in values of any kind."""

from __future__ import annotations

import collections
import dataclasses
import functools
from typing import Any

import numpy as np
import pytest

from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.runtime.active import active_number
from mooncake_py.runtime.activity import contains_active, parts
from mooncake_py.runtime.classes import leads
from tests.support.carriers import CARRIERS, Kept

OF_ARRAYS = {
    "records with objects", "masked objects", "structured array", "records in records", "recarray",
    "record", "masked array", "array of a subclass", "poly1d",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(set(CARRIERS) - OF_ARRAYS))
def test_a_number_in_anything_is_found(name: str) -> None:
    ctx = ReverseContext()
    make = CARRIERS[name][0]
    if name == "array of objects":
        a = np.empty(1, object)
        a[0] = active_number(2.0, ctx)
        assert contains_active(ctx, a, set())
    else:
        assert contains_active(ctx, make(active_number(2.0, ctx)), set())
    assert not contains_active(ctx, make(2.0), set())


def test_the_context_is_not_looked_into() -> None:
    ctx = ReverseContext()
    ctx.held = active_number(2.0, ctx)  # type: ignore[attr-defined]
    kept = filter(ctx.truth, [1.0])
    assert not contains_active(ctx, kept, set())
    assert contains_active(ctx, filter(ctx.truth, [active_number(2.0, ctx)]), set())


def test_classes_that_hold_nothing_are_not_looked_into() -> None:
    class Plain:
        n = 1
        names = ("a", "b")

        def __init__(self) -> None:
            super().__init__()

        @staticmethod
        def run(k: int = 2) -> int:
            return k

    @dataclasses.dataclass
    class Data(Plain):
        a: float = 1.0

    v = 1.0

    class Closing:
        def get(self) -> Any:
            return v

    class Holding:
        cache = functools.partial(print)

    assert not any(map(leads, (Plain, Data, Kept, int, np.ndarray)))
    assert leads(Closing)
    assert leads(Holding)


def test_ordered_dicts_have_their_parts_in_their_order() -> None:
    d = collections.OrderedDict(a=1.0, b=2.0)
    d.move_to_end("a")
    assert list(parts(d)) == ["b", "a", 2.0, 1.0]
