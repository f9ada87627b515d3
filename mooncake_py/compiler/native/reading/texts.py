"""Characters of strings, at places that are known only when the code runs: one of a few.

    s = "GATTACA"               codes = [0, 1, 2, 2, 1, 3, 1]   made before the region runs
    cost[s[i], t[j]]            t1 = codes of s[i], t2 = codes of t[j]
                                [cost["G", "G"], cost["G", "A"], ...][t1 * 4 + t2]

A key that is made of such choices stands for all combinations; where numbers stand under these
they are stored in an array, as they are then, and one of them is taken by its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.types import ArrayType
from mooncake_py.compiler.native.building.values import (
    NO_KEY,
    Choice,
    Dictionary,
    Known,
    Number,
    Tuple,
    Unfit,
    Value,
    key_in,
)
from mooncake_py.compiler.native.reading.comparisons import joined
from mooncake_py.compiler.native.reading.drawing import added
from mooncake_py.compiler.native.reading.made import Called
from mooncake_py.compiler.native.regions.linear import ZERO, plus, times
from mooncake_py.compiler.native.regions.region import FLOAT, INT
from mooncake_py.compiler.regions.ir import Compare, Const, Expr, Load, Op, Select

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.calls import CallReader
    from mooncake_py.compiler.native.reading.expressions import ExpressionReader

__all__ = ["are_numbers", "character", "chosen_item", "number_at"]

LETTERS = 32
"""So many different characters may a text have."""
MOST = 1024
"""So many combinations may a key stand for."""


def letters(text: str) -> str:
    """Return the different characters of a text."""
    return "".join(sorted(set(text)))


def codes(text: str) -> np.ndarray:
    """Return the place of each character of a text among the different ones."""
    place = {letter: k for k, letter in enumerate(letters(text))}
    return np.array([place[letter] for letter in text])


def character(r: CallReader, text: str, at: Value) -> Value:
    """Read an item of a text at an int that is known only when it runs."""
    b, count, found = r.b, len(text), letters(text)
    if not isinstance(at, Number) or at.kind != INT or not count:
        raise Unfit("an item of a text at an index that is known only when it runs", b.place)
    if len(found) > LETTERS:
        raise Unfit(
            f"an item of a text of more than {LETTERS} different characters, at an index that is "
            "known only when it runs",
            b.place,
        )
    place: Expr = b.steady(at.e)
    if not b.ranges.is_natural(place):
        below = Compare(("lt",), (place, ZERO))
        place = b.counted(Select(below, Op("add", (place, Const(count))), place))
        b.require(Compare(("le",), (ZERO, place)))
    b.check("lt", place, Const(count))
    if len(found) == 1:
        return Known(found)
    tag = b.counted(Load(codes_in(r, text), (place,)), "t")
    return Choice(tag, tuple(range(len(found))), tuple(map(Known, found)))


def codes_in(r: CallReader, text: str) -> str:
    """Return the input that holds the codes of a text."""
    for call in r.made.called:
        if call.f is codes and call.args == (text,):
            return call.targets[0]
    name, kind = r.b.fresh("d"), ArrayType(INT, (False,))
    added(r, name, kind)
    r.made.called.append(Called((name,), codes, (text,), {}, (kind,)))
    return name


class Keys(NamedTuple):
    """The keys that one may be, and what tells which of them it is."""

    keys: tuple[Any, ...]
    place: Expr


def keys_of(key: Value) -> Keys | None:
    """Return all keys that a key may be, None if that is not known; their places are in order."""
    if isinstance(key, Choice):
        found = tuple(map(key_in, key.options))
        is_plain = NO_KEY not in found and key.numbers == tuple(range(len(found)))
        return Keys(found, key.tag) if is_plain else None
    if not isinstance(key, Tuple) or key.is_list:
        known = key_in(key)
        return None if known is NO_KEY else Keys((known,), ZERO)
    keys: list[tuple[Any, ...]] = [()]
    place: Expr = ZERO
    for part in key.items:
        own = keys_of(part)
        if own is None or len(keys) * len(own.keys) > MOST:
            return None
        keys = [(*before, k) for before in keys for k in own.keys]
        place = plus(times(place, Const(len(own.keys))), own.place)
    return Keys(tuple(keys), place)


def chosen_item(r: ExpressionReader, d: Dictionary, key: Value) -> Value | None:
    """Read an item of a dict at a key that is one of several; None where branches must tell."""
    found = keys_of(key)
    if found is None or len(found.keys) == 1:
        return None
    there = [n for n, k in enumerate(found.keys) if k in d.keys]
    if not there or not are_numbers([d.items[d.keys.index(found.keys[n])] for n in there]):
        return None
    b, place = r.b, r.b.counted(found.place)
    if len(there) < len(found.keys):  # else Python raises
        b.require(joined("or", [Compare(("eq",), (place, Const(n))) for n in there]))
    keys = [k if k in d.keys else found.keys[there[0]] for k in found.keys]
    return number_at(r, [d.items[d.keys.index(k)] for k in keys], place)


def are_numbers(values: Sequence[Value]) -> bool:
    """Return True for numbers of one type, which may stand in an array."""
    numbers = [v for v in values if isinstance(v, Number) and v.rank is None]
    is_one_type = len({v.type for v in numbers}) == 1 and len(numbers) == len(values)
    return is_one_type and numbers[0].kind in (FLOAT, INT)


def number_at(r: ExpressionReader, values: Sequence[Value], place: Expr) -> Number:
    """Return one of several numbers of one type, by its place."""
    b, numbers = r.b, [v for v in values if isinstance(v, Number)]
    table = b.new((Const(len(values)),), numbers[0].kind)
    for k, v in enumerate(numbers):
        b.add(b.stored(table, (Const(k),), operations.as_element(b, v)))
    e = Load(table.base, (place,))
    if numbers[0].kind == INT:
        return Number(b.counted(e), numbers[0].type)
    return Number(b.number(e), numbers[0].type)
