"""Items of dicts that are not there: those of `defaultdict` are made, those of `Counter` are 0.

volume = defaultdict(float)
volume["a"] += x                    volume = {}; volume["a"] = 0.0; volume["a"] += x
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import (
    Dictionary,
    Known,
    Number,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading.scope import constant
from mooncake_py.compiler.regions.ir import Const

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.structures import StructureReader

__all__ = ["factory_of", "missing"]

NUMBERS = float, int, bool, str


def factory_of(
    r: StructureReader, cls: type, args: Sequence[Value]
) -> tuple[Value | None, Sequence[Value]]:
    """Return the factory of a new dict for missing keys, and the other arguments."""
    if cls is Counter and args:
        raise Unfit("a Counter of items: count them in a loop", r.b.place)
    if cls is not defaultdict or not args:
        return None, args
    factory = args[0]
    return (None if isinstance(factory, Known) and factory.value is None else factory), args[1:]


def missing(r: StructureReader, d: Dictionary, key: Value) -> Value:
    """Return the value of a dict for a key that is not there."""
    if d.cls is Counter:
        return Number(Const(0), "int")
    if d.factory is None:
        raise Unfit("an item of a dict that is not there", r.b.place)
    found, factory = r.changing(d), d.factory

    def insert() -> Value:
        r.set_item(found, key, r.kept_apart(made_by(r, factory)))
        return Known(None)

    r.contained(insert)
    now = r.current(found)
    assert isinstance(now, Dictionary)
    item = now.under(key)
    assert item is not None
    return item


def made_by(r: StructureReader, factory: Value) -> Value:
    """Return a value made by a factory."""
    f = factory.value if isinstance(factory, Known) else None
    if f is list:
        return r.list_made(Tuple((), is_list=True), r.b.place)
    if f in (dict, OrderedDict, Counter):
        return r.made_dict(f, (), {})
    if f in NUMBERS:
        found = constant(f())
        assert found is not None
        return found
    if isinstance(factory, Known) and type(f) is type and f.__module__ == "builtins":
        raise Unfit(f"a defaultdict of {said(factory)}: use float, int, list or dict", r.b.place)
    return r.applied(factory, (), {}, r.call_here())
