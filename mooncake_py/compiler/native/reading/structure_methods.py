"""Methods of lists and dicts whose keys and lengths are known."""

from __future__ import annotations

import ast
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Any

from mooncake_py.compiler.native.building.deques import Deque
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import (
    NO_KEY,
    Cells,
    Dictionary,
    Known,
    Number,
    Stack,
    Tuple,
    Unfit,
    Value,
    key_in,
)
from mooncake_py.compiler.native.reading import defaults, deques, dicts, ordering
from mooncake_py.compiler.native.reading.structures import Structure, StructureReader
from mooncake_py.compiler.regions.ir import Const
from mooncake_py.overriding import override

__all__ = ["StructureMethodReader"]

NOTHING = Known(None)
FIRST = Number(Const(0), "int")
Args = Sequence[Value]
Given = dict[str, Value]
Method = Callable[[StructureReader, Structure, Args, Given], Value]


def called(r: StructureReader, made: Structure, name: str, args: Args, given: Given) -> Value:
    """Read a call of a method."""
    methods = OF_DICTS if isinstance(made, Dictionary) else OF_LISTS
    if isinstance(made, Deque):
        methods = OF_DEQUES
    if isinstance(made, Dictionary) and made.cls is Counter and name not in OF_COUNTERS:
        raise Unfit(f"the method {name} of a Counter", r.b.place)
    if name not in methods:
        raise Unfit(f"the method {name} of {said(made)}", r.b.place)
    if given and name != "update":
        raise Unfit(f"the method {name} of {said(made)} with keyword arguments", r.b.place)
    return methods[name](r, made, args, given)


def taking(
    least: int, most: int, read: Callable[[StructureReader, Structure, Args], Value]
) -> Method:
    """Return the reader of a method that takes some arguments by position."""

    def read_call(r: StructureReader, made: Structure, args: Args, given: Given) -> Value:
        if not least <= len(args) <= most:
            raise Unfit("a call with arguments that do not fit", r.b.place)
        return read(r, made, args)

    return read_call


def under(r: StructureReader, made: Structure, key: Value) -> Value | None:
    """Return the value under a key, None if there is none."""
    if dicts.found_key(r, key) is NO_KEY:
        raise Unfit(f"an item of a dict at {said(key)}: use constant keys", r.b.place)
    assert isinstance(made, Dictionary)
    return made.under(key)


def got(r: StructureReader, made: Structure, args: Args) -> Value:
    """Read ``d.get(key, default)``."""
    found = dicts.for_each_key(r, args[0], lambda k: got(r, made, (k, *args[1:])))
    if found is not None:
        return found
    found = under(r, made, args[0])
    return (args[1] if len(args) == 2 else NOTHING) if found is None else found


def popped_of_dict(r: StructureReader, made: Structure, args: Args) -> Value:
    """Read ``d.pop(key, default)``."""
    if under(r, made, args[0]) is None and len(args) == 2:
        return args[1]
    return r.delete_item(made, args[0])


def popped_last(r: StructureReader, made: Structure, args: Args) -> Value:
    """Read ``d.popitem()``."""
    assert isinstance(made, Dictionary)
    if not made.keys:
        raise Unfit("`popitem` of an empty dict", r.b.place)
    key = dicts.key_value(made.keys[-1])
    return Tuple((key, r.delete_item(made, key)))


def set_by_default(r: StructureReader, made: Structure, args: Args) -> Value:
    """Read ``d.setdefault(key, default)``."""
    found = under(r, made, args[0])
    if found is not None:
        return found
    value = args[1] if len(args) == 2 else NOTHING
    found = r.changing(made)
    r.set_item(found, args[0], value)
    return r.now_at(r.slot_of(found.name, key_in(args[0])))


def updated(r: StructureReader, made: Structure, args: Args, given: Given) -> Value:
    """Read ``d.update(other, key=value)``."""
    found = r.changing(made)
    for key, value in pairs_of(r, args, given):
        r.set_item(found, key, r.kept_apart(value))
    return NOTHING


def pairs_of(r: StructureReader, args: Args, given: Given) -> list[tuple[Value, Value]]:
    """Return the keys and values that `dict` and `update` are given."""
    found: list[tuple[Value, Value]] = []
    if len(args) > 1:
        raise Unfit("a call with arguments that do not fit", r.b.place)
    for other in args:
        if isinstance(other, Dictionary):
            found += zip(map(dicts.key_value, other.keys), other.items, strict=True)
            continue
        pairs = other.items if isinstance(other, Tuple) else ()
        for pair in pairs:
            if not isinstance(pair, Tuple) or len(pair.items) != 2:
                raise Unfit(f"a dict made of {said(pair)}: use pairs", r.b.place)
            found.append((pair.items[0], pair.items[1]))
        if not isinstance(other, Tuple):
            raise Unfit(f"a dict made of {said(other)}: use a dict or pairs", r.b.place)
    return [*found, *[(Known(name), value) for name, value in given.items()]]


def all_pairs(r: StructureReader, made: Structure, args: Args) -> Value:
    """Read ``d.items()``."""
    assert isinstance(made, Dictionary)
    pairs = zip(map(dicts.key_value, made.keys), made.items, strict=True)
    return Tuple(tuple([Tuple(pair) for pair in pairs]))


def all_keys(r: StructureReader, made: Structure, args: Args) -> Value:
    """Read ``d.keys()``."""
    assert isinstance(made, Dictionary)
    return Tuple(tuple(map(dicts.key_value, made.keys)))


def all_values(r: StructureReader, made: Structure, args: Args) -> Value:
    """Read ``d.values()``."""
    return Tuple(made.items)


def copied(r: StructureReader, made: Structure, args: Args) -> Value:
    """Read ``d.copy()`` or ``l.copy()``."""
    if isinstance(made, Dictionary):
        new = Dictionary(made.keys, made.items, cls=made.cls, factory=made.factory)
        return r.list_made(new, r.b.place)
    return r.list_made(Tuple(made.items, True), r.b.place)


def cleared(r: StructureReader, made: Structure, args: Args) -> Value:
    """Read ``d.clear()`` or ``l.clear()``."""
    if made.items:
        r.set_keys(r.changing(made), ())
    return NOTHING


def popped_of_list(r: StructureReader, made: Structure, args: Args) -> Value:
    """Read ``l.pop(k)``."""
    return r.delete_item(made, args[0] if args else Number(Const(-1), "int"))


def inserted(r: StructureReader, made: Structure, args: Args) -> Value:
    """Read ``l.insert(k, item)``."""
    found = r.changing(made)
    at = key_in(args[0])
    if type(at) is not int:
        raise Unfit(f"`insert` at {said(args[0])}: use a constant int", r.b.place)
    items = r.items_in(found)
    items.insert(at, args[1])
    r.refill(found, items)
    return NOTHING


def turned_round(r: StructureReader, made: Structure, args: Args) -> Value:
    """Read ``l.reverse()``."""
    found = r.changing(made)
    r.refill(found, r.items_in(found)[::-1])
    return NOTHING


OF_DICTS: dict[str, Method] = {
    "get": taking(1, 2, got), "pop": taking(1, 2, popped_of_dict),
    "popitem": taking(0, 0, popped_last), "setdefault": taking(1, 2, set_by_default),
    "update": updated, "items": taking(0, 0, all_pairs), "keys": taking(0, 0, all_keys),
    "values": taking(0, 0, all_values), "copy": taking(0, 0, copied),
    "clear": taking(0, 0, cleared),
}  # fmt: skip
OF_LISTS: dict[str, Method] = {
    "pop": taking(0, 1, popped_of_list), "insert": taking(2, 2, inserted),
    "reverse": taking(0, 0, turned_round), "copy": taking(0, 0, copied),
    "clear": taking(0, 0, cleared),
}  # fmt: skip


OF_DEQUES: dict[str, Method] = {
    name: taking(least, most, read) for name, (least, most, read) in deques.METHODS.items()
} | {"reverse": taking(0, 0, turned_round), "clear": taking(0, 0, cleared)}
DICTS = dict, OrderedDict, defaultdict, Counter
OF_COUNTERS = "get", "items", "keys", "values", "copy"


class StructureMethodReader(StructureReader):
    """Reads calls of methods of lists and dicts."""

    @override
    def method_of_structure(self, made: Value, node: ast.Call) -> Value:
        assert isinstance(node.func, ast.Attribute)
        name = node.func.attr
        args, given = [*map(self.value, node.args)], self.keywords(node)
        is_first = name == "insert" and len(args) == 2 and not given and args[0] == FIRST
        if is_first and self.put_first(made, args[1]):
            return NOTHING
        if name == "sort" and not args:
            return self.sorted_in_place(made, given, node)
        if not isinstance(made, Structure):
            return self.changed_cells(made, name)
        return self.contained(lambda: called(self, made, name, args, given))

    def in_order(
        self, items: Sequence[Value], given: dict[str, Value], call: ast.Call
    ) -> tuple[Value, ...]:
        """Return known items as `sorted` orders them."""
        raise NotImplementedError

    def sorted_in_place(self, made: Value, given: dict[str, Value], node: ast.Call) -> Value:
        """Read ``made.sort(key=..., reverse=...)``."""
        if isinstance(made, Structure):
            found = self.changing(made)
            self.refill(found, self.in_order(self.items_in(found), given, node))
            return NOTHING
        if not isinstance(made, Cells) or given:
            return self.changed_cells(made, "sort")
        self.require_own(made)
        numbers = ordering.sorted_numbers(self.b, made, downwards=False)
        self.b.store(made.array, numbers.array.at)
        return NOTHING

    def put_first(self, made: Value, value: Value) -> bool:
        """Read ``made.insert(0, value)`` of a list to which a loop does that."""
        if not isinstance(made, Stack):
            if not (isinstance(made, Tuple) and self.is_from_before(made)):
                return False
            self.unroll_at(self.around[-1].place, pins=False)
            self.find_stack(made, value, is_turned=True)
            return False
        if self.nested > 1 or self.exclusive:
            raise Unfit("a list that grows within an expression", self.b.place)
        self.require_no_loop_over(made)
        self.stacked_up(made, value, is_turned=True)
        return True

    def changed_cells(self, made: Value, name: str) -> Value:
        """Read a method of a list of numbers, which may be one of any items; of few if not."""
        if isinstance(made, Cells) and made.place is not None:
            self.changing(made)
        raise Unfit(f"the method {name} of {said(made)}", self.b.place)

    @override
    def missing(self, made: Dictionary, key: Value) -> Value:
        return defaults.missing(self, made, key)

    @override
    def made_container(
        self, f: Any, args: Sequence[Value], given: dict[str, Value]
    ) -> Value | None:
        if f is deque:
            return deques.made(self, args, given)
        return self.made_dict(f, args, given) if any(f is cls for cls in DICTS) else None

    @override
    def made_dict(self, cls: type, args: Sequence[Value], given: dict[str, Value]) -> Value:
        found: dict[Any, Value] = {}
        factory, args = defaults.factory_of(self, cls, args)
        for key, value in pairs_of(self, args, given):
            dicts.put(self, found, key, value)
        made = Dictionary(tuple(found), tuple(found.values()), cls=cls, factory=factory)
        return self.list_made(made, self.b.place)
