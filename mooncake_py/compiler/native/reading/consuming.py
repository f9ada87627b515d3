"""Loops over generators: the body of the loop is read where the generator yields.

So what either does happens in the order in which Python does it, whether the loops of the generator
are read pass by pass or stay loops.  A generator is consumed once, and by one loop.  See `yields`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.findings import Again
from mooncake_py.compiler.native.building.values import (
    Cells,
    Generator,
    Known,
    Number,
    Stack,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading.branches import NOTHING, Unrolled
from mooncake_py.compiler.native.reading.iterables import (
    MOST_ITEMS,
    Enumerated,
    Generated,
    Items,
    Iterable,
    Reversed,
    Rows,
    Zipped,
    names_of,
)
from mooncake_py.compiler.native.reading.lowering import (
    BROKE,
    ended,
    is_flag,
    lowered,
    own_breaks,
)
from mooncake_py.compiler.native.reading.mapped import as_generator
from mooncake_py.compiler.native.reading.prepared import bound_in
from mooncake_py.compiler.native.reading.scope import Scope
from mooncake_py.compiler.native.reading.stepping import SteppingReader, Steps
from mooncake_py.compiler.native.reading.store import Slot
from mooncake_py.compiler.native.reading.yields import (
    Begun,
    Handed,
    Pulled,
    handing,
    yields_in,
)
from mooncake_py.compiler.native.regions.linear import ONE
from mooncake_py.compiler.regions.ir import Const, Expr
from mooncake_py.overriding import override
from mooncake_py.syntax.nodes import (
    Place,
    assign,
    constant,
    load,
    located,
    place_of,
    statement,
    store,
    when,
)

__all__ = ["ConsumingReader"]

NEW, RUNS, STEPPED, ENDED, LEFT = map(Known, ("new", "runs", "stepped", "ended", "left"))
CONSUMED = "a generator that is consumed twice, or that may have begun: make a new one"
Taken = Callable[[Value], Expr]


class Consumer(NamedTuple):
    """The work that a consumer does for each item of a generator.

    Attributes
    ----------
    scope : Scope
    body : list of stmt
        What is read there, none where no statements are.
    take : callable
        Takes what is yielded; returns whether the consumer goes on no more.
    jumps, loops_outside : list, int
        Those of the function of the consumer.
    outer : Consumer or None
        What takes what the consumer itself yields.
    """

    scope: Scope
    body: Sequence[ast.stmt]
    take: Taken
    jumps: list[Any]
    loops_outside: int
    outer: Consumer | None


class ConsumingReader(SteppingReader):
    """Reads what generators yield.

    Attributes
    ----------
    consumer : Consumer or None
        Of the generator that is being read.
    scopes : list of Scope
        Of the functions that are being read.
    stepping : dict of str to Steps
        By their names generators that have begun.
    """

    consumer: Consumer | None = None
    stepping: dict[str, Steps]
    scopes: list[Scope]

    def made_generator(
        self,
        scope: Scope,
        body: Sequence[ast.stmt],
        is_own: bool = True,
        source: Value | None = None,
    ) -> Generator:
        """Return a generator that has not begun.

        Parameters
        ----------
        is_own : bool
            Whether it has its variables for itself.
        source : Value, optional
            Of ``iter(source)``.
        """
        found = Generator(self.b.fresh("y"), scope, tuple(body), is_own, source)
        state = state_of(found)
        self.slots.bound(state, NEW)
        self.of_generators.add(state.owner)
        if is_own and not scope.function.__code__.co_cellvars:
            self.of_generators.add(scope.owner)
        return found

    @override
    def source_of(self, generator: Generator) -> Value:
        state = state_of(generator)
        if generator.source is None or self.slots.values.get(state) != NEW:
            return generator
        self.slots.bound(state, LEFT)
        return generator.source

    def loop_over(self, node: ast.For, over: Generated) -> None:
        """Read ``for`` over a generator."""
        scope = self.scope
        if sum(1 for _ in yields_in(over.generator.body)) > 1:
            self.bind_again([node])
        numbered = self.numbering(over, place_of(node))

        def take(value: Value) -> Expr:
            flag = self.b.fresh(BROKE)
            scope.env[flag] = Number(Const(False), "bool")
            scope.repeats += 1
            self.jumps.append(Unrolled(flag))
            self.one_pass(node, numbered(value))
            self.jumps.pop()
            scope.repeats -= 1
            left = self.truth(scope.env[flag])
            del scope.env[flag]
            return left

        self.consume(over.generator, take, [node], any(own_breaks(node.body)))

    def numbering(self, over: Generated, place: Place) -> Callable[[Value], Value]:
        """Return a function that pairs an item with its number, if `enumerate` asks for it.

        The number is known where neither loops nor tests tell how often something is yielded.
        """
        if over.start is None:
            return lambda value: value
        block, is_known = self.b.block, place not in self.findings.run
        count = Slot(self.scope.owner, self.b.fresh(".count"))
        self.scope.bindings[count.name] = 2
        bind = self.slots.bound if is_known else self.bind
        bind(count, over.start)

        def numbered(value: Value) -> Value:
            if is_known and self.b.block is not block:
                self.findings.run.add(place)
                raise Again
            at = self.kept_apart(self.slots.values[count])
            bind(count, operations.operated(self.b, "add", at, Number(ONE, "int")))
            return Tuple((at, value))

        return numbered

    def consume(
        self, generator: Generator, take: Taken, consuming: Sequence[ast.stmt], may_leave: bool
    ) -> None:
        """Read a generator to its end, or until the consumer leaves it."""
        state = state_of(generator)
        now = self.slots.values.get(state)
        if now == ENDED:
            return
        if now == STEPPED:
            self.consume_rest(generator, take, consuming)
            return
        if now != NEW:
            raise Unfit(CONSUMED, self.b.place)
        self.slots.bound(state, RUNS)
        lefts: list[Expr] = []

        def taken(value: Value) -> Expr:
            lefts.append(take(value))
            return lefts[-1]

        consumer = Consumer(
            self.scope, consuming, taken, self.jumps, self.loops_outside, self.consumer
        )
        with self.elsewhere(generator.scope, [], self.b.loops, consumer):
            body = lowered(ended(handing([*generator.body], may_leave)))
            if not generator.is_own:
                rename_flags(body, f".{generator.name}")
            self.read(body)
            if generator.is_own and not generator.scope.makes_functions:
                self.slots.drop(generator.scope.owner)
        is_left = any(left != Const(False) for left in lefts)
        self.slots.bound(state, LEFT if is_left else ENDED)

    # Step by step.

    def advance(self, generator: Generator) -> Value | None:
        """Read the next item that a generator yields, None if it has ended."""
        state = state_of(generator)
        now = self.slots.values.get(state)
        if now == ENDED:
            return None
        if now == NEW:
            self.stepping[generator.name] = self.begin(generator)
        elif now != STEPPED:
            raise Unfit(CONSUMED, self.b.place)
        self.slots.bound(state, RUNS)
        with self.elsewhere(generator.scope, [], self.b.loops, None):
            found = self.step(self.stepping[generator.name])
        self.slots.bound(state, ENDED if found is None else STEPPED)
        return found

    def consume_rest(self, generator: Generator, take: Taken, body: Sequence[ast.stmt]) -> None:
        """Read a generator that has begun to its end, or until the consumer leaves it."""
        for node in body:
            self.bind_again([node])
        while (value := self.advance(generator)) is not None:
            left = take(value)
            if left == Const(True):
                return
            if left != Const(False):
                raise Unfit("a `break` under a test, of a generator that has begun", self.b.place)

    def zipped_generators(self, parts: Sequence[Iterable], place: Place) -> Generated:
        """Read ``zip`` of generators and of known items: each is asked in its turn."""
        items = [p if isinstance(p, Generated) else iter(self.all_known(p)) for p in parts]
        numberings = {id(p): self.numbering(p, place) for p in items if isinstance(p, Generated)}
        more, item = self.b.fresh(".more"), self.b.fresh(".zipped")
        pull = assign(store(more, place), located(Pulled(items, numberings, item), place), place)
        end = when(load(more, place), [], [located(ast.Return(None), place)], place)
        give = statement(located(ast.Yield(load(item, place)), place), place)
        loop = located(ast.While(constant(True, place), [pull, end, give], []), place)
        found = self.made_generator(self.scope, [loop], is_own=False)
        self.scope.makes_functions = True
        self.stepping[found.name] = self.begin(found)
        self.slots.bound(state_of(found), STEPPED)
        return Generated(found)

    def all_known(self, over: Iterable) -> Sequence[Value]:
        """Return items that are known one by one."""
        items = self.known_items(over, as_items=True)
        if items is None:
            self.pin(self.length(over), MOST_ITEMS)
            raise Unfit(
                "`zip` of a generator and of a length that is known only when it runs", self.b.place
            )
        return items

    def pulled(self, node: Pulled) -> Value:
        """Read an item of each, which one variable stands for; return whether there are all."""
        found: list[Value] = []
        for part in node.parts:
            if isinstance(part, Generated):
                value = self.advance(part.generator)
                value = None if value is None else node.numberings[id(part)](value)
            else:
                value = next(part, None)
            if value is None:
                return Known(False)
            found.append(self.kept_apart(value))
        self.slots.bound(self.scope.slot(node.name), Tuple(tuple(found)))
        return Known(True)

    # Generator expressions.

    @override
    def iterated(self, node: ast.expr) -> Iterable:
        if not isinstance(node, Begun):
            return super().iterated(node)
        self.require_unchanged(node.seen)
        return self.as_it_is(node.over)

    def begun_over(self, node: ast.expr) -> Begun:
        """Read what the outermost loop of a generator expression runs over."""
        over = self.iterated(node)
        return self.begun_with(over, place_of(node))

    def begun_with(self, over: Iterable, place: Place) -> Begun:
        """Return an expression for what a loop runs over, which has been read."""
        over = self.as_it_is(over)
        return located(Begun(over, self.held_by(names_of(over))), place)

    def as_it_is(self, over: Iterable) -> Iterable:
        """Return the iterable of a loop as it is now."""
        match over:
            case Items(values=values):
                return replace(over, values=tuple(map(self.kept_apart, values)))
            case Rows(array=Cells() | Stack() as made):
                return Rows(self.current(made))  # type: ignore[arg-type]
            case Zipped(parts=parts):
                return replace(over, parts=tuple(map(self.as_it_is, parts)))
            case Enumerated(inner=inner) | Reversed(inner=inner):
                return replace(over, inner=self.as_it_is(inner))
        return over

    # The items yielded.

    @override
    def read_value(self, node: ast.expr) -> Value:
        match node:
            case Handed():
                return self.handed(node)
            case Pulled():
                return self.pulled(node)
            case ast.GeneratorExp():
                return self.generator_of(node)
            case ast.Call():
                lazy = as_generator(self, node, is_value=True)
                if lazy is not None:
                    return self.generator_of(lazy)
        return super().read_value(node)

    def generator_of(self, node: ast.GeneratorExp) -> Value:
        """Read a generator expression that does not run at once."""
        raise NotImplementedError

    def handed(self, node: Handed) -> Value:
        """Read what a generator yields, and what is done with it; return whether that is all."""
        consumer = self.consumer
        assert consumer is not None
        value = NOTHING if node.value is None else self.kept_apart(self.value(node.value))
        with self.elsewhere(consumer.scope, consumer.jumps, consumer.loops_outside, consumer.outer):
            left = consumer.take(value)
        return Number(left, "bool")

    @contextmanager
    def elsewhere(
        self, scope: Scope, jumps: list[Any], loops_outside: int, consumer: Consumer | None
    ) -> Iterator[None]:
        """Read in another scope, statements that are not part of an expression."""
        held = (self.scope, self.jumps, self.loops_outside, self.consumer, self.result)
        parts = (self.nested, self.exclusive, self.picks, self.has_picked, self.b.place)
        self.scope.calls_at = None  # it is gone on with
        self.scopes.append(scope)
        self.scope, self.jumps, self.loops_outside = scope, jumps, loops_outside
        self.consumer, self.result = consumer, None
        self.nested, self.exclusive, self.picks, self.has_picked = 0, 0, False, False
        yield
        self.scopes.pop()
        self.scope, self.jumps, self.loops_outside, self.consumer, self.result = held
        self.nested, self.exclusive, self.picks, self.has_picked, self.b.place = parts

    @override
    def going_on(self) -> Iterator[Scope]:
        yield from super().going_on()
        consumer = self.consumer
        while consumer is not None:
            yield consumer.scope
            consumer = consumer.outer

    # Names bound by loops, in generators and in their consumers.

    @override
    def bodies(self, body: Sequence[ast.stmt]) -> Iterator[tuple[Scope, Sequence[ast.stmt]]]:
        scope, consumer = self.scope, self.consumer
        yield scope, body
        while consumer is not None and any(yields_in(body)):
            scope, body, consumer = consumer.scope, consumer.body, consumer.outer
            yield scope, body

    @override
    def bind_again(self, body: Sequence[ast.stmt]) -> None:
        for scope, within in self.bodies(body):
            scope.bindings.update(bound_in([*within]))


def rename_flags(body: Sequence[ast.stmt], suffix: str) -> None:
    """Let a generator expression have flags of its own in the function around it."""
    for node in body:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and is_flag(part.id):
                part.id += suffix


def state_of(generator: Generator) -> Slot:
    """Return the slot that tells how far a generator has come."""
    return Slot(f"{generator.name}.", "state")
