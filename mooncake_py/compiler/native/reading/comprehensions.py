"""Comprehensions and generator expressions.

    [f(p) for p in (a, b) if p is not None]     read for each item: a list of known items

    [f(t) for t in x]                           b = array(len(x))
                                                for i in range(len(x)):
                                                    b[i] = f(x[i])

    [f(s, t) for s in x for t in y if s < t]    b = []
                                                for s in x:
                                                    for t in y:
                                                        if s < t:
                                                            b.append(f(s, t))

Their variables get names of their own.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from mooncake_py.compiler.native.building.findings import Again
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.operations import as_float
from mooncake_py.compiler.native.building.types import MOST_ITEMS
from mooncake_py.compiler.native.building.values import (
    Array,
    Cells,
    Dictionary,
    Number,
    Object,
    Stack,
    Tuple,
    Unfit,
    Value,
    stored,
)
from mooncake_py.compiler.native.reading import dicts, lists, pinned, stacks, tables
from mooncake_py.compiler.native.reading.alike import Alike
from mooncake_py.compiler.native.reading.iterables import (
    Generated,
    Iterable,
    known_count,
    memory_of,
)
from mooncake_py.compiler.native.reading.rows import RowReader
from mooncake_py.compiler.native.regions.linear import ONE, minus, plus, times
from mooncake_py.compiler.native.regions.region import FLOAT, INT
from mooncake_py.compiler.regions.ir import Alloc, Assign, Compare, Const, Expr, For, Load, Name, Op
from mooncake_py.overriding import override
from mooncake_py.syntax.nodes import Place, assign, load, located, place_of, store, when

__all__ = ["ComprehensionReader", "Renamed"]

Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
SHORT = 8
"""So many passes of several loops in one comprehension are read one by one."""


class Renamed(NamedTuple):
    """A comprehension whose variables have names of their own.

    Attributes
    ----------
    elements : list of expr
        What it makes; of a dict keys and values.
    generators : list of comprehension
    names : set of str
    place : Place
    """

    elements: list[ast.expr]
    generators: list[ast.comprehension]
    names: set[str]
    place: Place


class ComprehensionReader(RowReader):
    """Reads comprehensions."""

    @override
    @contextmanager
    def within_comprehension(self, node: ast.expr) -> Iterator[None]:
        before = self.comprehending
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            self.comprehending = (*before, place_of(node))
        with self.among_others():
            yield
        self.comprehending = before

    @override
    def run_comprehension(self) -> None:
        """Find out that a comprehension whose parts write must run as loops, if it does not."""
        for place in self.comprehending[-1:]:
            if place not in self.findings.run:
                self.findings.run.add(place)
                raise Again

    @override
    def comprehension(self, node: Comprehension) -> Value:
        if any(g.is_async for g in node.generators):
            raise Unfit("an asynchronous comprehension", place_of(node))
        found = self.renamed(node)
        if place_of(node) in self.findings.run:
            return self.grown_by(node, found)
        over = self.iterated(found.generators[0].iter)
        if isinstance(over, Generated):
            return self.collected(node, self.yielded(node, found, over))
        table = tables.made(self, node, found, over, known_count(over, as_items=True))
        if table is not None:
            return table
        items = self.known_items(over, self.is_unrolled(node, over))
        is_one_loop = len(found.generators) == 1 and not found.generators[0].ifs
        if items is not None and self.stays(place_of(node)):
            with self.row_loop(place_of(node), items) as loop:
                return self.looped(node, loop.over, found)
        if items is not None:
            made: list[tuple[Value, ...]] = []
            self.each(node, found, items, made)
            return self.collected(node, made)
        if not is_one_loop or isinstance(node, ast.DictComp | ast.SetComp):
            self.run_instead(node, over)
        return self.looped(node, over, found)

    def is_unrolled(self, node: Comprehension, over: Iterable) -> bool:
        """Return True for a comprehension over few ints or rows that is read for each of them."""
        count = known_count(over, as_items=True)
        if count is None:
            return False
        is_one_loop = len(node.generators) == 1 and not node.generators[0].ifs
        return place_of(node) in self.findings.unrolled or (count <= SHORT and not is_one_loop)

    def run_instead(self, node: Comprehension, over: Iterable | None = None) -> None:
        """Find out that a comprehension must run as loops that append to a list."""
        if isinstance(node, ast.DictComp | ast.SetComp):
            if over is not None:
                self.pin(self.length(over), MOST_ITEMS)
            raise Unfit(
                "a dict or a set with as many items as are known only when it runs: use arrays",
                place_of(node),
            )
        self.findings.run.add(place_of(node))
        raise Again

    def renamed(self, node: Comprehension) -> Renamed:
        """Return a comprehension with names of its own."""
        generators = copy.deepcopy(node.generators)
        made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        elements = copy.deepcopy(made)
        names = {n.id for g in generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        suffix = self.b.fresh(".of")
        first, *others = generators
        within = [first.target, *first.ifs, *elements]
        within += [part for g in others for part in (g.target, g.iter, *g.ifs)]
        for part in (n for top in within for n in ast.walk(top)):
            if isinstance(part, ast.Name) and part.id in names:
                part.id += suffix
        own = {name + suffix for name in names}
        self.scope.local.update(own)
        return Renamed(elements, generators, own, place_of(node))

    # Known items.

    def each(
        self,
        node: Comprehension,
        found: Renamed,
        items: Sequence[Value],
        made: list[tuple[Value, ...]],
        depth: int = 0,
    ) -> None:
        """Read what a comprehension makes, for each of the items of one of its loops."""
        generator = found.generators[depth]
        for k, item in enumerate(items):
            with self.counting(k > 0, node, len(items)):
                self.bind_item(generator.target, item)
                if not all(self.decided_test(test, node) for test in generator.ifs):
                    continue
                if depth + 1 == len(found.generators):
                    made.append(tuple([self.kept_apart(self.value(e)) for e in found.elements]))
                    if isinstance(made[-1][-1], Object | Dictionary):  # no list of a loop's
                        self.findings.rowless.add(place_of(node))
                    continue
                over = self.iterated(found.generators[depth + 1].iter)
                inner = self.known_items(over, self.is_unrolled(node, over))
                if inner is None:
                    self.run_instead(node)
                    return
                self.each(node, found, inner, made, depth + 1)

    def yielded(
        self, node: Comprehension, found: Renamed, over: Generated
    ) -> list[tuple[Value, ...]]:
        """Read what a comprehension makes of what a generator yields, where no loop yields it."""
        made: list[tuple[Value, ...]] = []
        block, numbered = self.b.block, self.numbering(over, place_of(node))

        def take(value: Value) -> Expr:
            if self.b.block is not block:  # as often as loops and tests tell
                self.run_instead(node)
            self.each(node, found, [numbered(value)], made)
            return Const(False)

        self.consume(over.generator, take, [], may_leave=False)
        return made

    def decided_test(self, test: ast.expr, node: Comprehension) -> bool:
        """Return whether a test holds that must be known."""
        found = self.test(test)
        if not isinstance(found, Const):
            self.run_instead(node)
        assert isinstance(found, Const)
        return bool(found.value)

    def bind_item(self, target: ast.expr, item: Value) -> None:
        """Bind the target of a comprehension to an item: variables that nothing else binds."""
        if isinstance(target, ast.Name):
            self.slots.bound(self.scope.slot(target.id), self.kept_apart(item))
        elif isinstance(target, ast.Tuple):
            items = self.items(item, len(target.elts))
            for part, value in zip(target.elts, items, strict=True):
                self.bind_item(part, value)
        else:
            raise Unfit("a comprehension that binds other than variables", place_of(target))

    def collected(self, node: Comprehension, made: Sequence[tuple[Value, ...]]) -> Value:
        """Return the list or the dict of what a comprehension makes."""
        if isinstance(node, ast.SetComp):
            raise Unfit("a set: use a list or a tuple", place_of(node))
        if not isinstance(node, ast.DictComp):
            return Tuple(tuple([v for (v,) in made]), is_list=True)
        pairs: dict[Any, Value] = {}
        for key, value in made:
            dicts.put(self, pairs, key, value)
        return Dictionary(tuple(pairs), tuple(pairs.values()))

    # Loops.

    def looped(self, node: Comprehension, over: Iterable, found: Renamed) -> Value:
        """Read a comprehension over items whose number is known only when it runs."""
        b = self.b
        counter = b.fresh("i")
        (element,) = found.elements
        count = known_count(over, as_items=True)
        if count is not None:
            self.short[counter] = place_of(node)
        parts: list[Iterable] = [*over.parts] if isinstance(over, Alike) else [over]
        target = found.generators[0].target
        _, (low, high, step) = self.head(target, over)
        if step != 1:
            self.run_instead(node)
        if count is None:
            self.passes[place_of(node)] = minus(high, low)
        n = b.natural(b.steady(times(Const(len(parts)), minus(high, low))))
        runs = Compare(("lt",), (low, high))
        name, ranks = b.fresh("b"), b.fresh("b")
        b.arrays[name], b.made[name] = 1, b.loops
        stack: Stack | None = None
        x = Number(Const(0), "int")
        self.enter_loop([located(ast.Expr(element), place_of(node))], runs, memory_of(over))
        with b.loop(counter, low, minus(high, ONE)) as block:
            for k, part in enumerate(parts):
                heads, _ = self.head(target, part)
                self.bind_heads(heads, Number(Name(counter), "int"), low)
                made = self.element_of_list(node, element, count)
                pinned.note_ints(self, made, place_of(node))
                at = plus(times(Const(len(parts)), minus(Name(counter), low)), Const(k))
                if isinstance(made, Number):
                    if k and (x.type, x.rank is None) != (made.type, made.rank is None):
                        raise Unfit("a list of numbers of two types", place_of(node))
                    x = made
                    e = as_float(x.e) if x.kind == FLOAT else x.e
                    b.add(Assign(Load(name, (at,)), e, place=b.place))
                    if x.rank is not None:
                        b.kinds[ranks], b.arrays[ranks], b.made[ranks] = INT, 1, b.loops - 1
                        b.add(Assign(Load(ranks, (at,)), x.rank, place=b.place))
                elif len(parts) > 1:
                    raise Unfit("a list of other than numbers", place_of(node))
                else:
                    self.keep_in_list(made)
                    stack = stacks.made(b, made, n, at, self.around[-1].before)
        self.leave_loop(runs)
        steps = Op("range", (low, high, Const(1)), place=place_of(node))
        if stack is not None:
            stacks.memory(b, stack)
            b.add(For(counter, steps, tuple(block), place=place_of(node)))
            return stack
        b.kinds[name] = x.kind
        b.add(Alloc(name, (n,), x.kind, False, place=b.place))
        if x.rank is not None:
            b.add(Alloc(ranks, (n,), INT, False, place=b.place))
        b.add(For(counter, steps, tuple(block), place=place_of(node)))
        if x.rank is not None:
            return Cells(stored(name, (n,), x.kind), "float64", stored(ranks, (n,), INT))
        return lists.made(b, stored(name, (n,), x.kind), x.type, self.findings.mixed)

    def element_of_list(self, node: Comprehension, element: ast.expr, count: int | None) -> Value:
        """Read an item of a list that a loop makes; few, and others, are read one by one."""
        found = self.value(element)
        if isinstance(found, Number) and found.kind in (FLOAT, INT) and not found.narrow:
            return found
        is_stacked = isinstance(found, Array) or (isinstance(found, Tuple) and not found.is_list)
        is_unrolled = count is not None and (count <= SHORT or not is_stacked)
        if is_unrolled and place_of(node) not in self.findings.unrolled:
            self.findings.unroll(place_of(node))
            raise Again
        if not is_stacked:
            self.unroll_at(place_of(node))
        if isinstance(found, Object | Dictionary | Cells):
            self.run_instead(node)
        if not is_stacked and not isinstance(found, Tuple):
            raise Unfit(
                f"{said(found)} in a list comprehension over items whose number is known only "
                "when it runs: use floats only, ints only, arrays, or tuples of them",
                place_of(node),
            )
        return self.kept_apart(found)

    def grown_by(self, node: Comprehension, found: Renamed) -> Value:
        """Read a comprehension as loops that append numbers to a list."""
        (element,) = found.elements
        place = place_of(node)
        name = self.b.fresh(".list")
        append = located(ast.Attribute(load(name, place), "append", ast.Load()), place)
        call = located(ast.Expr(located(ast.Call(append, [element], []), place)), place)
        made = located(ast.List([], ast.Load()), place_of(element))  # another list grows there
        return self.run(name, assign(store(name, place), made, place), [call], found)

    def run(self, name: str, start: ast.stmt, body: list[ast.stmt], found: Renamed) -> Value:
        """Read the loops of a comprehension, of which some statements are the body."""
        for generator in found.generators[::-1]:
            for test in generator.ifs[::-1]:
                body = [when(test, body, [], place_of(test))]
            loop = ast.For(generator.target, generator.iter, body, [])
            body = [located(loop, place_of(generator.iter))]
        for own in found.names:
            self.scope.bindings[own] = 1
        self.scope.bindings[name] = 2
        place, exclusive, within = self.b.place, self.exclusive, self.comprehending
        if within[-1:] == (found.place,):  # its loops run statement by statement
            self.exclusive, self.comprehending = exclusive - 1, within[:-1]

        def read() -> Value:
            self.read([start, *body])
            self.b.place = place
            return self.slots.values[self.scope.slot(name)]

        value = self.contained(read)
        self.exclusive, self.comprehending = exclusive, within
        return value
