"""Functions of the items of a generator, and of known items: sums, `any`, extrema by a key.

    any(f(t) for t in x)                        found = False
                                                for t in x:
                                                    if f(t):
                                                        found = True
                                                        break

What is known decides at once.
"""

from __future__ import annotations

import ast
import functools
import math
from collections import OrderedDict, deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import (
    Array,
    Cells,
    Generator,
    Known,
    Number,
    Object,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.functions.builtin_functions import COMPENSATES
from mooncake_py.compiler.native.reading import comparisons, ordering
from mooncake_py.compiler.native.reading.branches import NOTHING
from mooncake_py.compiler.native.reading.choosing import CHOSEN
from mooncake_py.compiler.native.reading.comparisons import joined
from mooncake_py.compiler.native.reading.comprehensions import ComprehensionReader, Renamed
from mooncake_py.compiler.native.reading.constants import UNKNOWN, python_of
from mooncake_py.compiler.native.reading.iterables import Generated, Rows
from mooncake_py.compiler.native.reading.lowering import BROKE
from mooncake_py.compiler.native.reading.mapped import as_generator
from mooncake_py.compiler.native.reading.yields import loops_of
from mooncake_py.compiler.regions.ir import Const
from mooncake_py.overriding import override
from mooncake_py.syntax.nodes import (
    Place,
    assign,
    constant,
    load,
    located,
    place_of,
    replaced,
    statement,
    store,
)

__all__ = ["GeneratorReader"]


class GeneratorReader(ComprehensionReader):
    """Reads calls of functions that go through known items, or through what a generator yields."""

    @override
    def passed(self, node: ast.expr, f: Any) -> Value:
        if f in AT_ONCE:
            node = as_generator(self, node) or node
        if isinstance(node, ast.GeneratorExp):
            if f not in AT_ONCE:
                return super().passed(node, f)
            with self.within_comprehension(node):
                return self.comprehension(node)
        if f in AT_ONCE and self.is_iterator(node):
            assert isinstance(node, ast.Call)
            return Tuple(tuple(self.all_of(self.iterated(node), node)), is_list=True)
        return super().passed(node, f)

    @override
    def call(self, node: ast.Call) -> Value:
        (only,) = node.args if len(node.args) == 1 and not node.keywords else (None,)
        f = (
            self.known_function(node.func)
            if isinstance(only, ast.Call | ast.GeneratorExp)
            else None
        )
        if isinstance(only, ast.Call) and f in (any, all, sum):
            only = as_generator(self, only) or only
            node = replaced(node, args=[only])
        if not isinstance(only, ast.GeneratorExp):
            return super().call(node)
        with self.within_comprehension(only):
            if f is any or f is all:
                return self.truth_of(only, f is any)
            if f is sum and place_of(only) in self.findings.run:
                return self.sum_of(only)
        return super().call(node)

    @override
    def generator_of(self, node: ast.GeneratorExp) -> Value:
        found = self.renamed(node)
        over = self.begun_over(found.generators[0].iter)
        for name in found.names:
            self.scope.bindings[name] = 1
        self.scope.makes_functions = True  # it may be consumed later
        body = loops_of(found.elements[0], found.generators, over)
        return self.made_generator(self.scope, body, is_own=False)

    def all_yielded(self, f: Any, generator: Generator, node: ast.Call) -> Value:
        """Read all that a generator yields, as a function takes it: a list or a truth."""
        place = place_of(node)
        name, item = self.b.fresh(".generator"), self.b.fresh(".yielded")
        self.slots.bound(self.scope.slot(name), generator)
        over = ast.comprehension(store(item, place), load(name, place), [], 0)
        if f is any or f is all:
            made = located(ast.GeneratorExp(load(item, place), [over]), place)
            return self.truth_of(made, f is any)
        return self.comprehension(located(ast.ListComp(load(item, place), [over]), place))

    @override
    def listed(self, generator: Generator) -> Value:
        call = self.call_here()
        return self.contained(lambda: self.all_yielded(list, generator, call))

    @override
    def starred_items(self, value: Value, node: ast.expr) -> Sequence[Value]:
        if isinstance(value, Generator):
            value = self.listed(value)
        if isinstance(value, Object):
            over = self.made_iterable(value, node)
            if isinstance(over, Generated):
                return self.starred_items(over.generator, node)
        elif isinstance(value, Array) and value.shape:
            over = Rows(value)
        else:
            return super().starred_items(value, node)
        items = self.known_items(over, as_items=True)
        return super().starred_items(value, node) if items is None else items

    def truth_of(self, node: ast.GeneratorExp, is_any: bool) -> Value:
        """Read ``any`` or ``all`` of what a generator yields."""
        found = self.renamed(node)
        if place_of(node) in self.findings.run:
            return self.truth_by_loops(node, found, is_any)
        over = self.iterated(found.generators[0].iter)
        items = self.known_items(over, self.is_unrolled(node, over))
        if items is None:  # or a generator, which goes on no more where it is decided
            self.run_instead(node)
            raise AssertionError
        made: list[tuple[Value, ...]] = []
        self.each(node, found, items, made)
        return Number(joined("or" if is_any else "and", [self.truth(v) for (v,) in made]), "bool")

    def truth_by_loops(self, node: ast.GeneratorExp, found: Renamed, is_any: bool) -> Value:
        """Read ``any`` or ``all`` as a loop that is left where it is decided."""
        place, name = place_of(node), self.b.fresh(".truth")
        (element,) = found.elements
        test = element if is_any else located(ast.UnaryOp(ast.Not(), element), place)
        found.generators[-1].ifs.append(test)
        decided = assign(store(name, place), constant(is_any, place), place)
        start = assign(store(name, place), constant(not is_any, place), place)
        return self.run(name, start, [decided, located(ast.Break(), place)], found)

    def sum_of(self, node: ast.GeneratorExp) -> Value:
        """Read ``sum`` of what a generator with tests yields, which may be nothing."""
        place, found, name = place_of(node), self.renamed(node), self.b.fresh(".sum")
        (element,) = found.elements
        self.b.is_exact = self.b.is_exact and not COMPENSATES
        more = located(ast.AugAssign(store(name, place), ast.Add(), element), place)
        start = assign(store(name, place), constant(0, place), place)
        return self.run(name, start, [more], found)

    @override
    def called(
        self, f: Any, args: Sequence[Value], given: dict[str, Value], node: ast.Call
    ) -> Value:
        if args and isinstance(args[0], Generator) and f in AT_ONCE:
            found = self.all_yielded(f, args[0], node)
            if f in (any, all, list):
                return found
            args = [found, *args[1:]]
        if f is next and args and not given:
            return self.next_of(*args, node=node)
        if f is iter and len(args) == 1 and not isinstance(args[0], Object):
            return self.iterator_of(args[0], node)
        if f is functools.reduce and len(args) > 1 and not given:
            return self.reduced(*args, node=node)
        if f in CHOOSING and (given or is_among_tuples(args)):
            return self.chosen(f, args, given, node)
        if f is sorted and isinstance(args[0] if len(args) == 1 else None, Array | Cells):
            downwards = python_of(given.get("reverse", Known(False)))
            if given.keys() <= {"reverse"} and type(downwards) is bool:
                return ordering.sorted_numbers(self.b, args[0], downwards)  # type: ignore[arg-type]
        if f is sorted and len(args) == 1:
            items = self.all_of(self.made_iterable(args[0], node), node)
            made = Tuple(self.in_order(items, given, node), is_list=True)
            return self.list_made(made, place_of(node))
        return super().called(f, args, given, node)

    def next_of(self, of: Value, *default: Value, node: ast.Call) -> Value:
        """Read ``next(x)`` and ``next(x, default)``."""
        if not isinstance(of, Generator) or len(default) > 1:
            raise Unfit(f"`next` of {said(of)}: use a generator or iter(x)", place_of(node))
        if not isinstance(node.args[0], ast.Name | ast.Attribute | ast.Subscript):
            return self.first_of(of, default, place_of(node))  # nobody goes on with it
        found = self.advance(of)
        if found is not None:
            return found
        if not default:
            raise Unfit("`next` of a generator that has ended, which raises", place_of(node))
        return default[0]

    def first_of(self, generator: Generator, default: Sequence[Value], place: Place) -> Value:
        """Read the first item that a generator yields, as a loop that is left there."""
        names = [self.b.fresh(f".{name}") for name in ("generator", "first", "item")]
        over, first, item = names
        met = self.b.fresh(BROKE)
        self.slots.bound(self.scope.slot(over), generator)
        self.scope.bindings[first] = 2
        start = default[0] if default else Number(Const(0.0), "float")
        body = [
            assign(store(first, place), load(item, place), place),
            assign(store(met, place), constant(True, place), place),
            located(ast.Break(), place),
        ]
        loop = located(ast.For(store(item, place), load(over, place), body, []), place)
        with self.elsewhere(self.scope, [], self.loops_outside, self.consumer):
            self.b.place = place
            self.bind(first, start)
            self.read([assign(store(met, place), constant(False, place), place), loop])
            is_met = self.truth(self.scope.env[met])
            if is_met == Const(False) and not default:
                raise Unfit("`next` of a generator that has ended, which raises", place)
            if not default:
                self.b.require(is_met)
            return self.held(self.scope.slot(first))

    def iterator_of(self, value: Value, node: ast.Call) -> Value:
        """Read ``iter(x)``, which loops and `next` go on with."""
        if isinstance(value, Generator):
            return value
        place, name = place_of(node), self.b.fresh(".item")
        begun = self.begun_with(self.made_iterable(value, node), place)
        give = statement(located(ast.Yield(load(name, place)), place), place)
        loop = located(ast.For(store(name, place), begun, [give], []), place)
        self.scope.makes_functions = True
        self.of_generators.add(self.scope.slot(name).own)
        return self.made_generator(self.scope, [loop], is_own=False, source=value)

    def reduced(self, f: Value, over: Value, *start: Value, node: ast.Call) -> Value:
        """Read ``functools.reduce`` of what is known."""
        items = [*start[:1], *self.starred_items(over, node)]
        if len(start) > 1 or not items:
            raise Unfit("`reduce` of nothing, or with more arguments, which raises", place_of(node))
        found, *others = items
        for item in others:
            found = self.applied(f, [self.kept_apart(found), item], {}, node)
        return found

    def chosen(
        self, f: Any, args: Sequence[Value], given: dict[str, Value], node: ast.Call
    ) -> Value:
        """Read ``min`` or ``max`` with a key or a default."""
        over = Tuple(tuple(args)) if len(args) > 1 else args[0] if args else None
        if not given.keys() <= {"key", "default"} or not isinstance(over, Tuple):
            raise Unfit(
                f"`{f.__name__}` of {said(*args)} with options: use known items",
                place_of(node),
            )
        if not over.items:
            if "default" not in given:
                raise Unfit(f"`{f.__name__}` of nothing, which raises", place_of(node))
            return given["default"]
        key = given.get("key", NOTHING)
        if key == NOTHING and is_among_tuples([over]):
            return self.best(f, [*zip(over.items, over.items, strict=True)], node)
        if key == NOTHING:
            return over.items[0] if len(over.items) == 1 else super().called(f, [over], {}, node)
        keys = [self.applied(key, [item], {}, node) for item in over.items]
        return self.best(f, list(zip(keys, over.items, strict=True)), node)

    def best(self, f: Any, pairs: Sequence[tuple[Value, Value]], node: ast.Call) -> Value:
        """Return the first of the items with the least or the greatest key."""
        if not all(isinstance(v, Number | Array) for pair in pairs for v in pair):
            return self.best_choice(f, pairs, node)
        least, found = (self.scope.slot(self.b.fresh(part)) for part in (".key", CHOSEN))
        self.scope.bindings.update({least.name: 2, found.name: 2})
        known = known_best(f, [key for key, _ in pairs], node)
        if known is not None:
            return pairs[known][1]
        (key, item), *others = pairs
        self.bind(least, key)
        self.bind(found, item)
        op = "lt" if f is min else "gt"
        for key, item in others:
            values = (key, self.slots.values[least])
            if not all(isinstance(v, Number) for v in values):
                raise Unfit(f"`{f.__name__}` by {said(*values)}: use numbers", place_of(node))
            test = comparisons.comes_first(self, op, *values)

            def better(key: Value = key, item: Value = item) -> None:
                self.bind(least, key)
                self.bind(found, item)

            self.split(test, (better, lambda: None), (False, False), node)
        if found not in self.slots.values:
            raise Unfit(f"`{f.__name__}` of arrays that differ", place_of(node))
        return self.slots.values[found]

    def best_choice(self, f: Any, pairs: Sequence[tuple[Value, Value]], node: ast.Call) -> Value:
        """Return the first of the items, which may be objects, with the best key."""
        known = known_best(f, [key for key, _ in pairs], node)
        if known is not None:
            return pairs[known][1]
        op = "lt" if f is min else "gt"
        best, *others = [Tuple(pair) for pair in pairs]
        for pair in others:
            keys = [pair.items[0], best.items[0]]
            if not all(isinstance(v, Number) for v in keys) and not are_ordered(keys):
                raise Unfit(f"`{f.__name__}` by {said(*keys)}: use numbers", place_of(node))
            test = comparisons.comes_first(self, op, *keys)
            if isinstance(test, Const):
                best = pair if test.value else best
                continue
            found = self.read_sides([test], [lambda p=pair: p, lambda p=best: p])
            assert isinstance(found, Tuple)
            best = found
        return best.items[1]


def known_best(f: Any, keys: Sequence[Value], node: ast.Call) -> int | None:
    """Return the position of the least or the greatest of known keys; None if one is not known."""
    known = [python_of(key) for key in keys]
    if UNKNOWN in known:
        return None
    try:
        return f(range(len(keys)), key=known.__getitem__)
    except TypeError as error:
        why = f"`{f.__name__}` of items that cannot be compared"
        raise Unfit(why, place_of(node)) from error


def is_among_tuples(args: Sequence[Value]) -> bool:
    """Return True for the arguments of a function that compares tuples of numbers."""
    items = args[0].items if len(args) == 1 and isinstance(args[0], Tuple) else args
    return len(items) > 1 and are_ordered(items)


def are_ordered(values: Sequence[Value]) -> bool:
    """Return True for tuples of numbers, of one length, or of tuples of such."""
    first = values[0]
    return isinstance(first, Tuple) and all(
        isinstance(v, Tuple)
        and v.cls is None
        and not v.is_list
        and len(v.items) == len(first.items)
        and all(isinstance(x, Number) or are_ordered([x]) for x in v.items)
        for v in values
    )


AT_ONCE = (
    sum, min, max, tuple, list, sorted, any, all, dict, OrderedDict, deque, math.prod, np.fromiter,
)  # fmt: skip
"""Functions that take all that a generator yields before anything else happens."""
CHOOSING = (min, max)
