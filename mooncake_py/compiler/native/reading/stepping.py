"""Generators that stop where they yield, and are gone on with later: `next`, and `zip` of them.

What they do until then must be known while it is read: their loops run over known items, their
tests are decided.  A step then is the statements up to the next ``yield``.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from mooncake_py.compiler.native.building.generator import Generator
from mooncake_py.compiler.native.building.values import Unfit, Value
from mooncake_py.compiler.native.reading.branches import LEAVING, NOTHING
from mooncake_py.compiler.native.reading.iterables import names_of
from mooncake_py.compiler.native.reading.prepared import bound_in
from mooncake_py.compiler.native.reading.store import Slot, is_same
from mooncake_py.compiler.native.reading.unrolling import UnrollingReader
from mooncake_py.compiler.native.reading.yields import Handed, handing, yields_in
from mooncake_py.compiler.regions.ir import Const
from mooncake_py.syntax.nodes import place_of

__all__ = ["SteppingReader", "Steps"]


@dataclass
class Block:
    """Statements, and how far they were read.

    Attributes
    ----------
    nodes : sequence of stmt
    at : int
        The one that is read next.
    loop : For, While or None
        Of a pass of a loop.
    items : iterator of Value
        Those of the passes that are left.
    seen : dict of Slot to Value
        The lists and dicts that hold them, which must not change meanwhile.
    """

    nodes: Sequence[ast.stmt]
    at: int = 0
    loop: ast.For | ast.While | None = None
    items: Iterator[Value] = field(default_factory=lambda: iter(()))
    seen: dict[Slot, Value] = field(default_factory=dict)


@dataclass
class Steps:
    """A generator that has begun.

    Attributes
    ----------
    blocks : list of Block
        Each within the one before it.
    block : list of Statement
        Of the region, in which all its steps stand.
    """

    blocks: list[Block]
    block: object


class SteppingReader(UnrollingReader):
    """Reads a generator up to where it yields."""

    def begin(self, generator: Generator) -> Steps:
        """Return a generator that has begun."""
        generator.scope.bindings.update(bound_in([*generator.body] * 2))
        return Steps([Block(handing([*generator.body], may_leave=False))], self.b.block)

    def step(self, steps: Steps) -> Value | None:
        """Read up to the next ``yield``, in the scope of the generator; None at its end."""
        if steps.block is not self.b.block:
            raise Unfit(
                "a generator that is gone on with under a test, or in a loop that stays a loop",
                self.b.place,
            )
        while steps.blocks:
            block = steps.blocks[-1]
            if block.at == len(block.nodes):
                if not self.next_pass(block):
                    steps.blocks.pop()
                continue
            node = block.nodes[block.at]
            block.at += 1
            self.b.place = place_of(node)
            match node:
                case ast.Expr(value=Handed(value=value)):
                    return NOTHING if value is None else self.kept_apart(self.value(value))
                case ast.Return():
                    steps.blocks.clear()
                case ast.Break() | ast.Continue():
                    self.leave(steps.blocks, isinstance(node, ast.Break))
                case ast.If() if is_stepped(node):
                    steps.blocks.append(Block(self.side(node)))
                case ast.For() | ast.While() if is_stepped(node):
                    steps.blocks.append(self.loop_begun(node))
                case _:
                    self.read([node])
        return None

    def side(self, node: ast.If) -> Sequence[ast.stmt]:
        """Return the side of a branch that runs."""
        test = self.test(node.test)
        if not isinstance(test, Const):
            raise Unfit(
                "`next` or `zip` of a generator that yields under a test on numbers",
                place_of(node),
            )
        return node.body if test.value else node.orelse

    def loop_begun(self, node: ast.For | ast.While) -> Block:
        """Return the passes of a loop, none of which has begun."""
        if node.orelse:
            raise Unfit("`else` of a loop: use a flag", place_of(node))
        if isinstance(node, ast.While):
            return Block((), loop=node)
        over = self.iterated(node.iter)
        items = self.known_items(over, as_items=True)
        if items is None:
            raise Unfit(
                "`next` or `zip` of a generator with a loop of a length that is known only when it "
                "runs",
                place_of(node),
            )
        return Block((), loop=node, items=iter(items), seen=self.held_by(names_of(over)))

    def held_by(self, names: Collection[str]) -> dict[Slot, Value]:
        """Return the slots of lists and dicts."""
        owners = {f"{name}." for name in names}
        return {s: v for s, v in self.slots.values.items() if s.owner in owners}

    def require_unchanged(self, seen: dict[Slot, Value]) -> None:
        """Raise for a list or a dict that has changed since its slots were seen."""
        if any(not is_same(self.slots.values.get(slot), v) for slot, v in seen.items()):
            raise Unfit(
                "a list or a dict that changes before a generator runs over it", self.b.place
            )

    def next_pass(self, block: Block) -> bool:
        """Begin the next pass of a loop; return whether there is one."""
        loop = block.loop
        if loop is None:
            return False
        if isinstance(loop, ast.While):
            test = self.test(loop.test)
            if not isinstance(test, Const):
                raise Unfit(
                    "`next` or `zip` of a generator with `while` and a test on numbers",
                    place_of(loop),
                )
            goes_on = bool(test.value)
        else:
            self.require_unchanged(block.seen)
            item = next(block.items, None)
            goes_on = item is not None
            if item is not None:
                self.to_target(loop.target, item)
        block.nodes, block.at = (loop.body, 0) if goes_on else ((), 0)
        return goes_on

    def leave(self, blocks: list[Block], is_break: bool) -> None:
        """Leave a loop, or its pass."""
        while blocks[-1].loop is None:
            blocks.pop()
        if is_break:
            blocks.pop()
        else:
            blocks[-1].at = len(blocks[-1].nodes)


def is_stepped(node: ast.stmt) -> bool:
    """Return True for a statement within which the generator yields, or that leaves a block."""
    if any(yields_in([node])):
        return True
    sides = [*getattr(node, "body", ()), *getattr(node, "orelse", ())]
    if isinstance(node, ast.If):
        return any(isinstance(s, LEAVING) or is_stepped(s) for s in sides)
    return any(isinstance(part, ast.Return) for s in sides for part in ast.walk(s))
