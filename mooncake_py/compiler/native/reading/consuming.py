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
    Enumerated,
    Generated,
    Items,
    Iterable,
    Reversed,
    Rows,
    Zipped,
    names_of,
)
from mooncake_py.compiler.native.reading.lowering import BROKE, ended, lowered, own_breaks
from mooncake_py.compiler.native.reading.mapped import as_generator
from mooncake_py.compiler.native.reading.scope import Scope, bound_in
from mooncake_py.compiler.native.reading.store import Slot, is_same
from mooncake_py.compiler.native.reading.unrolling import UnrollingReader
from mooncake_py.compiler.native.reading.yields import Begun, Handed, handing, yields_in
from mooncake_py.compiler.native.regions.linear import ONE
from mooncake_py.compiler.regions.ir import Const, Expr
from mooncake_py.overriding import override
from mooncake_py.syntax.nodes import Place, located, place_of

__all__ = ["ConsumingReader"]

NEW, RUNS, ENDED, LEFT = (Known(state) for state in ("new", "runs", "ended", "left"))
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


class ConsumingReader(UnrollingReader):
    """Reads what generators yield.

    Attributes
    ----------
    consumer : Consumer or None
        Of the generator that is being read.
    scopes : list of Scope
        Of the functions that are being read.
    """

    consumer: Consumer | None = None
    scopes: list[Scope]

    def made_generator(
        self, scope: Scope, body: Sequence[ast.stmt], is_own: bool = True
    ) -> Generator:
        """Return a generator that has not begun.

        Parameters
        ----------
        is_own : bool
            Whether it has its variables for itself.
        """
        found = Generator(self.b.fresh("y"), scope, tuple(body), is_own)
        self.slots.bound(state_of(found), NEW)
        return found

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
            self.to_target(node.target, numbered(value))
            self.read(node.body)
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
        self, generator: Generator, take: Taken, body: Sequence[ast.stmt], may_leave: bool
    ) -> None:
        """Read a generator to its end, or until the consumer leaves it."""
        state = state_of(generator)
        now = self.slots.values.get(state)
        if now == ENDED:
            return
        if now != NEW:
            raise Unfit(
                "a generator that is consumed twice, or that may have begun: make a new one",
                self.b.place,
            )
        self.slots.bound(state, RUNS)
        lefts: list[Expr] = []

        def taken(value: Value) -> Expr:
            lefts.append(take(value))
            return lefts[-1]

        consumer = Consumer(self.scope, body, taken, self.jumps, self.loops_outside, self.consumer)
        with self.elsewhere(generator.scope, [], self.b.loops, consumer):
            self.read(lowered(ended(handing([*generator.body], may_leave))))
            if generator.is_own and not generator.scope.makes_functions:
                self.slots.drop(generator.scope.owner)
        is_left = any(left != Const(False) for left in lefts)
        self.slots.bound(state, LEFT if is_left else ENDED)

    # Generator expressions.

    @override
    def iterated(self, node: ast.expr) -> Iterable:
        if not isinstance(node, Begun):
            return super().iterated(node)
        if any(not is_same(self.slots.values.get(slot), v) for slot, v in node.seen.items()):
            raise Unfit(
                "a list or a dict that changes before a generator runs over it", self.b.place
            )
        return self.as_it_is(node.over)

    def begun_over(self, node: ast.expr) -> Begun:
        """Read what the outermost loop of a generator expression runs over."""
        over = self.as_it_is(self.iterated(node))
        owners = {f"{name}." for name in names_of(over)}
        seen = {s: v for s, v in self.slots.values.items() if s.owner in owners}
        return located(Begun(over, seen), place_of(node))

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


def state_of(generator: Generator) -> Slot:
    """Return the slot that tells how far a generator has come."""
    return Slot(f"{generator.name}.", "state")
