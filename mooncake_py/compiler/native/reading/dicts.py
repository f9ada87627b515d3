"""Items of dicts that are passed, by keys that are known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.native.building.deques import Deque
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import (
    NO_KEY,
    Choice,
    Dictionary,
    Number,
    Tuple,
    Unfit,
    Value,
    key_in,
)
from mooncake_py.compiler.native.reading import texts
from mooncake_py.compiler.native.reading.scope import constant
from mooncake_py.compiler.native.regions.region import INT
from mooncake_py.compiler.regions.ir import Const, Expr
from mooncake_py.syntax.nodes import place_of

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.expressions import ExpressionReader

__all__ = [
    "for_each_key", "found_key", "item", "iterated", "key_value", "put", "tested", "written_out",
]  # fmt: skip


def found_key(r: ExpressionReader, key: Value) -> Any:
    """Return a known key, else `NO_KEY`; note that its ints must be known."""
    known = key_in(key)
    if known is NO_KEY:
        for e in ints_in(key):
            r.unroll(e)
            r.pin(e)
    return known


def ints_in(key: Value) -> Iterator[Expr]:
    """Yield the ints in a key."""
    if isinstance(key, Number) and key.kind == INT:
        yield key.e
    elif isinstance(key, Tuple):
        for part in key.items:
            yield from ints_in(part)


def item(r: ExpressionReader, d: Dictionary, key: Value) -> Value:
    """Read ``d[key]``."""
    known = found_key(r, key)
    found = texts.chosen_item(r, d, key) if known is NO_KEY else None
    if found is not None:
        return found
    found = for_each_key(r, key, lambda k: item(r, d, k))
    if found is not None:
        return found
    if known is NO_KEY:
        raise Unfit(f"an item of a dict at {said(key)}: use constant keys", r.b.place)
    if known not in d.keys:
        return r.missing(d, key)
    return d.items[d.keys.index(known)]


def for_each_key(r: ExpressionReader, key: Value, read: Callable[[Value], Value]) -> Value | None:
    """Read something for each key that one, or a part of it, may be; None if that is one."""
    if isinstance(key, Choice):
        return r.for_each(key, read)
    if not isinstance(key, Tuple) or key.is_list:
        return None
    n = next((n for n, part in enumerate(key.items) if isinstance(part, Choice)), -1)
    if n < 0:
        return None
    choice, before, after = key.items[n], key.items[:n], key.items[n + 1 :]
    assert isinstance(choice, Choice)

    def one(part: Value) -> Value:
        whole = replace(key, items=(*before, part, *after))
        return for_each_key(r, whole, read) or read(whole)

    return r.for_each(choice, one)


def tested(r: ExpressionReader, key: Value, d: Value, *, is_in: bool) -> Number:
    """Read ``key in d`` or ``key not in d``."""
    if isinstance(d, Dictionary):
        found = for_each_key(r, key, lambda k: tested(r, k, d, is_in=is_in))
        if isinstance(found, Number):
            return found
    if not isinstance(d, Dictionary) or found_key(r, key) is NO_KEY:
        raise Unfit(f"`in` for {said(key, d)}: use a constant key and a dict", r.b.place)
    return Number(Const((d.under(key) is not None) == is_in), "bool")


def put(r: ExpressionReader, items: dict[Any, Value], key: Value, value: Value) -> None:
    """Put an item into what becomes a dict."""
    known = found_key(r, key)
    if known is NO_KEY:
        raise Unfit(f"a dict with {said(key)} as a key: use constant keys", r.b.place)
    items[known] = value


def iterated(value: Value) -> Value:
    """Return the keys of a dict, which a loop runs over, and anything else as it is.

    The items of a deque are those of a tuple.
    """
    if isinstance(value, Deque):
        return Tuple(value.items)
    if isinstance(value, Dictionary):
        return Tuple(tuple(map(key_value, value.keys)))
    return value


def key_value(key: Any) -> Value:
    """Return the value of a known key."""
    if type(key) is tuple:
        return Tuple(tuple(map(key_value, key)))
    found = constant(key)
    assert found is not None
    return found


def written_out(
    r: ExpressionReader, keys: Sequence[ast.expr | None], values: Sequence[ast.expr]
) -> Dictionary:
    """Read a dict that is written out."""
    found: dict[Any, Value] = {}
    for key, node in zip(keys, values, strict=True):
        at, value = None if key is None else r.value(key), r.value(node)
        if at is not None:
            put(r, found, at, value)
        elif isinstance(value, Dictionary):
            found |= dict(zip(value.keys, value.items, strict=True))
        else:
            raise Unfit(f"** before {said(value)}: use a dict of known keys", place_of(node))
    return Dictionary(tuple(found), tuple(found.values()))
