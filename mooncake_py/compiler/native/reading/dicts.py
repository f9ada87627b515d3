"""Items of dicts that are passed, by keys that are known."""

from __future__ import annotations

from collections.abc import Sequence

from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import (
    NO_KEY,
    Dictionary,
    Known,
    Number,
    Unfit,
    Value,
    key_in,
)
from mooncake_py.compiler.regions.ir import Const

__all__ = ["item", "item_or_default", "tested"]


def item(b: Builder, d: Dictionary, key: Value) -> Value:
    """Read ``d[key]``."""
    found = d.under(key)
    if found is None:
        raise Unfit("an item of a dict that is not there", b.place)
    return found


def item_or_default(b: Builder, d: Dictionary, args: Sequence[Value]) -> Value:
    """Read ``d.get(key, default)``."""
    if not 1 <= len(args) <= 2 or key_in(args[0]) is NO_KEY:
        raise Unfit(
            f"`dict.get` with {said(*args)}: use a constant key and at most one default", b.place
        )
    found = d.under(args[0])
    default = args[1] if len(args) == 2 else Known(None)
    return default if found is None else found


def tested(b: Builder, key: Value, d: Value, *, is_in: bool) -> Number:
    """Read ``key in d`` or ``key not in d``."""
    if not isinstance(d, Dictionary) or key_in(key) is NO_KEY:
        raise Unfit(f"`in` for {said(key, d)}: use a constant key and a dict", b.place)
    return Number(Const((d.under(key) is not None) == is_in), "bool")
