"""The iterables of loops and comprehensions.

    items of tuples, lists, dicts, text     known: read once for each
    range(n), arrays, lists of numbers      of a length that is known only when it runs
    enumerate(x), zip(x, y), reversed(x)    of these

A zip is known if one of its parts is: the others must be long enough.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.indexing import viewed
from mooncake_py.compiler.native.building.types import MOST_ITEMS
from mooncake_py.compiler.native.building.values import (
    Array,
    Cells,
    Dictionary,
    Generator,
    Known,
    Number,
    Object,
    Stack,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading import dicts, lists, ordering, own_operators, stacks
from mooncake_py.compiler.native.reading.alike import Alike
from mooncake_py.compiler.native.reading.bodies import is_read_freely
from mooncake_py.compiler.native.reading.constants import UNKNOWN, python_of, value_of
from mooncake_py.compiler.native.reading.loop_rule import LoopRule
from mooncake_py.compiler.native.reading.merging import bases_in
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, minus, plus, times, turned
from mooncake_py.compiler.native.regions.region import INT
from mooncake_py.compiler.regions.ir import Const, Expr
from mooncake_py.jitted import is_prange
from mooncake_py.syntax.nodes import Place, place_of

__all__ = [
    "Enumerated", "Generated", "Items", "Iterable", "IterableReader", "Range", "Reversed", "Rows",
    "Zipped", "known_count", "memory_of", "names_of", "runs_back",
]  # fmt: skip


@dataclass(frozen=True)
class Items:
    """Values that are known one by one.

    Attributes
    ----------
    values : tuple of Value
    name : str
        Of a list or a dict that changes what it is called in the region.
    """

    values: tuple[Value, ...]
    name: str = ""


@dataclass(frozen=True)
class Range:
    """Ints from one on, up to another, which is not part of it."""

    low: Expr
    high: Expr
    step: int


@dataclass(frozen=True)
class Rows:
    """The rows or elements of an array, or the items of a list of numbers."""

    array: Array | Cells | Stack


@dataclass(frozen=True)
class Zipped:
    """Tuples of an item of each."""

    parts: tuple[Iterable, ...]
    is_strict: bool = False


@dataclass(frozen=True)
class Enumerated:
    """Pairs of a number, from one on, and an item."""

    start: Expr
    inner: Iterable


@dataclass(frozen=True)
class Reversed:
    """Items from the last to the first."""

    inner: Iterable


@dataclass(frozen=True)
class Generated:
    """The items of a generator.

    Attributes
    ----------
    start : Number or None
        In pairs with numbers from this one on.
    """

    generator: Generator
    start: Number | None = None


Iterable = Items | Alike | Range | Rows | Zipped | Enumerated | Reversed | Generated
VIEWS = ("items", "keys", "values")
COMBINED: dict[Any, Callable[..., Iterator[Any]]] = {
    itertools.product: itertools.product, itertools.combinations: itertools.combinations,
    itertools.permutations: itertools.permutations, itertools.pairwise: itertools.pairwise,
    itertools.combinations_with_replacement: itertools.combinations_with_replacement,
}  # fmt: skip
"""Functions of `itertools` that give tuples of the items of what they are given."""
RUN_OVER = "use a range, an array, a list of numbers, or a tuple, list or dict of known items"


class IterableReader(LoopRule):
    """Reads what loops run over, each expression once."""

    def iterated(self, node: ast.expr) -> Iterable:
        """Read what a loop runs over."""
        if isinstance(node, ast.Call):
            f = self.known_function(node.func)
            if is_hashed(f) and f in ITERATORS:
                return ITERATORS[f](self, node)
            if is_prange(f):
                return self.range_of(node)
            view = self.view_of(node)
            if view is not None:
                return view
        return self.made_iterable(self.value(node), node)

    def made_iterable(self, found: Value, node: ast.expr) -> Iterable:
        """Return the iterable of a loop over a value."""
        match found:
            case Tuple(items=items, name=name):
                return Items(items, name)
            case Dictionary(keys=keys, name=name):
                return Items(tuple(map(dicts.key_value, keys)), name)
            case Cells() | Stack():
                return Rows(found)
            case Array() if found.shape:
                return Rows(found if found.base else self.b.kept(found))
            case Generator():
                return Generated(found)
            case Object():
                return self.made_iterable(own_operators.iterated(self, found), node)
            case Known(value=value) if type(value) is range:
                return Range(Const(value.start), Const(value.stop), value.step)
            case Known(value=value) if type(value) in (tuple, str) and python_of(found) is value:
                items = tuple(map(value_of, value))
                if None not in items:
                    return Items(items)  # type: ignore[arg-type]
        raise Unfit(f"a loop over {said(found)}: {RUN_OVER}", place_of(node))

    def is_iterator(self, node: ast.expr) -> bool:
        """Return True for a call that makes what only a loop can run over."""
        if not isinstance(node, ast.Call):
            return False
        f = self.known_function(node.func)
        return (is_hashed(f) and f in ITERATORS and f is not sorted) or self.view_of(
            node
        ) is not None

    def known_function(self, node: ast.expr) -> Any:
        """Return the function that a name, or an attribute of a module, refers to, if any."""
        match node:
            case ast.Name():
                f = self.value(node)
            case ast.Attribute(value=ast.Name() as module) if self.is_module(module):
                f = self.value(node)
            case _:
                return None
        return f.value if isinstance(f, Known) else None

    def is_module(self, node: ast.expr) -> bool:
        """Return True for the name of a module."""
        found = self.value(node)
        return isinstance(found, Known) and issubclass(type(found.value), ModuleType)

    def view_of(self, call: ast.Call) -> Iterable | None:
        """Read ``d.items()``, ``d.keys()`` or ``d.values()``; None for other calls."""
        f = call.func
        if not isinstance(f, ast.Attribute) or f.attr not in VIEWS or call.args or call.keywords:
            return None
        d = self.value(f.value) if is_read_freely(f.value) else None
        if not isinstance(d, Dictionary):
            return None
        keys = [*map(dicts.key_value, d.keys)]
        if f.attr == "items":
            pairs = zip(keys, d.items, strict=True)
            return Items(tuple([Tuple(pair) for pair in pairs]), d.name)
        return Items(tuple(keys) if f.attr == "keys" else d.items, d.name)

    def range_of(self, call: ast.Call) -> Range:
        """Read ``range(...)``."""
        with self.among_others():
            numbers = [self.number(a) for a in call.args]
        if call.keywords or not 1 <= len(numbers) <= 3 or any(n.kind != INT for n in numbers):
            raise Unfit(f"a range of {said(*numbers)}: use one to three ints", place_of(call))
        parts = [self.b.steady(n.e) for n in numbers]
        step = parts[2] if len(parts) == 3 else ONE
        if not isinstance(step, Const) or not step.value:
            raise Unfit("a range with a step that is not constant", place_of(call))
        low, high = (ZERO, parts[0]) if len(parts) == 1 else (parts[0], parts[1])
        return Range(low, high, int(step.value))

    def zipped(self, call: ast.Call) -> Iterable:
        """Read ``zip(...)``."""
        if any(k.arg != "strict" or not isinstance(k.value, ast.Constant) for k in call.keywords):
            raise Unfit("`zip` with options", place_of(call))
        parts = tuple(map(self.iterated, call.args))
        if any(isinstance(part, Generated) for part in parts):
            if any(k.value.value for k in call.keywords):  # type: ignore[attr-defined]
                raise Unfit("`zip` of a generator with `strict`", place_of(call))
            return self.zipped_generators(parts, place_of(call))
        is_strict = any(bool(k.value.value) for k in call.keywords)  # type: ignore[attr-defined]
        return Zipped(parts, is_strict) if parts else Items(())

    def zipped_generators(self, parts: Sequence[Iterable], place: Place) -> Iterable:
        """Read ``zip`` of parts some of which are generators."""
        raise NotImplementedError

    def enumerated(self, call: ast.Call) -> Iterable:
        """Read ``enumerate(x, start)``."""
        nodes = [*call.args[1:], *(k.value for k in call.keywords)]
        if not call.args or len(nodes) > 1 or any(k.arg != "start" for k in call.keywords):
            raise Unfit("`enumerate` of other than one argument", place_of(call))
        inner = self.iterated(call.args[0])
        start = self.number(nodes[0]) if nodes else Number(ZERO, "int")
        if start.kind != INT:
            raise Unfit("`enumerate` that does not start at an int", place_of(call))
        if isinstance(inner, Generated):
            return Generated(inner.generator, start)
        return Enumerated(self.b.steady(start.e), inner)

    def turned(self, call: ast.Call) -> Iterable:
        """Read ``reversed(x)``."""
        (node,) = self.only_arguments(call, 1)
        inner = self.iterated(node)
        if isinstance(inner, Items):
            return Items(inner.values[::-1])
        if not isinstance(inner, Range):
            return Reversed(inner)
        return Range(*turned(inner.low, inner.high, inner.step), -inner.step)

    def combined(self, call: ast.Call) -> Iterable:
        """Read a function of `itertools` that makes tuples of known items."""
        f = self.known_function(call.func)
        nodes, options = [*call.args], [k.value for k in call.keywords]
        ints: list[int] = []
        if f not in (itertools.product, itertools.pairwise):
            options += nodes[1:]
            nodes = nodes[:1]
        for option in options:
            e = self.number(option).e
            if not isinstance(e, Const) or type(e.value) is not int:
                raise Unfit(f"`{f.__name__}` with a number that is not constant", place_of(call))
            ints.append(e.value)
        given = {"repeat": ints[0]} if f is itertools.product and ints else {}
        items = [self.all_of(self.iterated(node), call) for node in nodes]
        try:
            found = COMBINED[f](*items, *([] if given else ints), **given)
        except (TypeError, ValueError) as error:
            raise Unfit("a call with arguments that do not fit", place_of(call)) from error
        most = MOST_ITEMS * MOST_ITEMS
        tuples = tuple([Tuple(pair) for pair in itertools.islice(found, most + 1)])
        if len(tuples) > most:
            raise Unfit(f"`{f.__name__}` of more than {most} tuples: use loops", place_of(call))
        return Items(tuples)

    def chained(self, call: ast.Call) -> Iterable:
        """Read ``itertools.chain(...)``."""
        parts = [self.all_of(self.iterated(node), call) for node in call.args]
        return Items(tuple(itertools.chain(*parts)))

    def ordered(self, call: ast.Call) -> Items:
        """Read ``sorted(x, key=..., reverse=...)`` of what is known."""
        (node,) = call.args if len(call.args) == 1 else (None,)
        if node is None:
            raise Unfit("a call with arguments that do not fit", place_of(call))
        items = self.all_of(self.iterated(node), call)
        return Items(self.in_order(items, self.keywords(call), call))

    def in_order(
        self, items: Sequence[Value], given: dict[str, Value], call: ast.Call
    ) -> tuple[Value, ...]:
        """Return known items as `sorted` orders them."""
        if not given.keys() <= {"key", "reverse"}:
            raise Unfit("a call with arguments that do not fit", place_of(call))
        key = given.get("key", Known(None))
        keys = items
        if key != Known(None):
            keys = [self.applied(key, [item], {}, call) for item in items]
        downwards = python_of(given.get("reverse", Known(False)))
        known = [python_of(k) for k in keys]
        if type(downwards) is not bool:
            raise Unfit("`sorted` with `reverse` known only when it runs", place_of(call))
        if any(v is UNKNOWN for v in known):
            return ordering.sorted_items(self, items, keys, downwards)
        try:
            order = sorted(range(len(items)), key=known.__getitem__, reverse=bool(downwards))
        except TypeError as error:
            raise Unfit("`sorted` of items that cannot be compared", place_of(call)) from error
        return tuple([items[k] for k in order])

    def only_arguments(self, call: ast.Call, count: int) -> Sequence[ast.expr]:
        """Return the arguments of a call, which must be so many."""
        if len(call.args) != count or call.keywords:
            raise Unfit("a call with arguments that do not fit", place_of(call))
        return call.args

    # Items.

    def all_of(self, found: Iterable, call: ast.Call) -> Sequence[Value]:
        """Return the items of what must be known."""
        items = self.known_items(found, as_items=True)
        if items is None:
            raise Unfit(
                f"`{ast.unparse(call.func)}` of items whose number is known only when it runs",
                place_of(call),
            )
        return items

    def known_items(self, found: Iterable, as_items: bool = False) -> Sequence[Value] | None:
        """Return the items of what is known, None for others.

        Parameters
        ----------
        as_items : bool
            Whether a range with known bounds, and an array of known length, are known.
        """
        count = known_count(found, as_items)
        if count is None:
            return None
        if as_items and count > MOST_ITEMS and not isinstance(found, Items):
            raise Unfit(f"more than {MOST_ITEMS} items one by one", self.b.place)
        self.require_length(found, count)
        return [self.item_at(found, Const(k)) for k in range(count)]

    def require_length(self, found: Iterable, count: int, is_strict: bool = False) -> None:
        """Leave the region unless what a loop runs over has so many items, or more in a zip."""
        match found:
            case Zipped(parts=parts):
                for part in parts:
                    self.require_length(part, count, is_strict or found.is_strict)
            case Enumerated(inner=inner) | Reversed(inner=inner):
                self.require_length(inner, count, is_strict)
            case Items(values=values):
                if is_strict and len(values) != count:
                    raise Unfit("a strict `zip` of different lengths", self.b.place)
            case _:
                self.b.check("eq" if is_strict else "le", Const(count), self.length(found))

    def length(self, found: Iterable) -> Expr:
        """Return how many items there are; of a zip, whose parts are checked to have as many."""
        match found:
            case Items(values=values):
                return Const(len(values))
            case Alike(length=length):
                return length
            case Rows(array=array):
                return array.shape[0]
            case Enumerated(inner=inner) | Reversed(inner=inner):
                return self.length(inner)
            case Zipped(parts=(first, *others)):
                n = self.length(first)
                for other in others:
                    n = self.shorter(n, self.length(other), found.is_strict)
                return n
            case Range(low=low, high=high, step=step) if abs(step) == 1:
                return minus(high, low) if step > 0 else minus(low, high)
            case Range() if (count := range_count(found)) is not None:
                return Const(count)
        raise Unfit("a range with a step together with other iterables", self.b.place)

    def shorter(self, n: Expr, m: Expr, is_strict: bool) -> Expr:
        """Return the shorter of two lengths; they must be one if it is not known which that is."""
        if not is_strict and n != m:
            if self.b.ranges.is_natural(minus(n, m)):
                return m
            if self.b.ranges.is_natural(minus(m, n)):
                return n
        self.b.check("eq", m, n)
        return n

    def item_at(self, found: Iterable, at: Expr) -> Value:
        """Return an item, given how many come before it."""
        match found:
            case Items(values=values):
                assert isinstance(at, Const)
                return values[int(at.value)]  # type: ignore[arg-type]
            case Alike():
                return self.row_of(found, at)
            case Range(low=low, step=step):
                return Number(plus(low, times(Const(step), at)), "int")
            case Rows(array=Stack() as made):
                return self.of_list(stacks.item_at(self.b, made, at))
            case Rows(array=Cells() as cells):
                return lists.item(self.b, cells, Number(at, "int"))
            case Rows(array=Array() as array):
                view = viewed(self.b, array, [Number(at, "int")])
                return view if view.shape else self.element(view)
            case Zipped(parts=parts):
                return Tuple(tuple([self.item_at(part, at) for part in parts]))
            case Enumerated(start=start, inner=inner):
                return Tuple((Number(plus(start, at), "int"), self.item_at(inner, at)))
            case Reversed(inner=inner):
                return self.item_at(inner, minus(minus(self.length(inner), ONE), at))
        raise TypeError(found)


ITERATORS: dict[Any, Callable[[IterableReader, ast.Call], Iterable]] = {
    range: IterableReader.range_of, zip: IterableReader.zipped,
    enumerate: IterableReader.enumerated, reversed: IterableReader.turned,
    sorted: IterableReader.ordered, itertools.chain: IterableReader.chained,
} | dict.fromkeys(COMBINED, IterableReader.combined)  # fmt: skip


def is_hashed(f: Any) -> bool:
    """Return True for a function or a class of C, which can be looked up in a table."""
    return type(f) is type or type(f) is type(len)


def known_count(found: Iterable, as_items: bool) -> int | None:
    """Return how many items there are one by one, None for any other iterable."""
    match found:
        case Items(values=values):
            return len(values)
        case Enumerated(inner=inner) | Reversed(inner=inner):
            return known_count(inner, as_items)
        case Zipped(parts=parts):
            counts = [known_count(part, as_items) for part in parts]
            known = [count for count in counts if count is not None]
            return min(known) if known else None
        case Range() if as_items:
            return range_count(found)
        case Rows(array=array) if as_items and isinstance(array.shape[0], Const):
            return int(array.shape[0].value)  # type: ignore[arg-type]
    return None


def range_count(found: Range) -> int | None:
    """Return how many ints there are in a range, None if it is not known."""
    if not isinstance(found.low, Const) or not isinstance(found.high, Const):
        return None
    return len(range(int(found.low.value), int(found.high.value), found.step))  # type: ignore[arg-type]


def memory_of(found: Iterable) -> set[str]:
    """Return the memory that a loop runs over."""
    match found:
        case Rows(array=array):
            return set(bases_in([array]))
        case Zipped(parts=parts):
            return set().union(*map(memory_of, parts))
        case Enumerated(inner=inner) | Reversed(inner=inner):
            return memory_of(inner)
    return set()


def names_of(found: Iterable) -> frozenset[str]:
    """Return the names of the lists and dicts that a loop runs over."""
    match found:
        case Items(name=name) if name:
            return frozenset({name})
        case Zipped(parts=parts):
            return frozenset().union(*map(names_of, parts))
        case Enumerated(inner=inner) | Reversed(inner=inner):
            return names_of(inner)
    return frozenset()


def runs_back(found: Iterable) -> bool:
    """Return True for a loop that runs from the last items to the first."""
    match found:
        case Zipped(parts=parts):
            return any(map(runs_back, parts))
        case Enumerated(inner=inner):
            return runs_back(inner)
    return isinstance(found, Reversed)
