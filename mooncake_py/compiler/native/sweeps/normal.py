"""Regions in the form from which they are differentiated.

Before and after: the grammar of a region as read.  After it

- what ranges are made of is not changed by their loop;
- a counter of a loop is read within the loop only, and bound by loops only;
- a branch that leaves a loop is the last statement of its block;
- an index of an element that is written does not read the same array;
- the greater and the lesser of two numbers are choices.

    for i in range(n):          h0 = n                       if a: break     if a: break
        n = n - i               for h1 in range(h0):         S               else: S
    k = i                           i = h1
                                    n = n - i
                                k = i
"""

from __future__ import annotations

from functools import reduce

from mooncake_py.compiler.derivatives.sweeps import stops
from mooncake_py.compiler.native.regions.mentions import (
    bound_by,
    expressions_in,
    mentions,
    names_in,
    unused,
    values_in,
)
from mooncake_py.compiler.native.regions.region import NativeRegion
from mooncake_py.compiler.regions.ir import (
    Assign,
    Block,
    Break,
    Compare,
    Count,
    Expr,
    For,
    ForAll,
    If,
    Load,
    Name,
    Op,
    Select,
    Statement,
    blocks_of,
    parts_of,
    rebuilt,
    statements,
    with_blocks,
    with_value,
)
from mooncake_py.compiler.regions.steps import Names

__all__ = ["normal"]

CHOICES = {"max": "gt", "min": "lt"}


def normal(region: NativeRegion) -> Block:
    """Return the body of a region in normal form."""
    shared = shared_counters(region.body) | set(region.results)
    return _Normal(shared, unused("h", mentions(region.body))).block(region.body)


def shared_counters(body: Block) -> set[str]:
    """Return the counters of loops that are read elsewhere, or bound by other statements."""
    counters = {s.name for s in statements(body) if isinstance(s, For)}
    found: set[str] = set()

    def visit(block: Block, inside: frozenset[str]) -> None:
        for s in block:
            bound = set(bound_by(s))
            found.update(bound & (inside if isinstance(s, For) else counters))
            found.update(names_in(expressions_in(s)) & (counters - inside))
            within = inside | {s.name} if isinstance(s, For) else inside
            for inner in blocks_of(s):
                visit(inner, within)

    visit(body, frozenset())
    return found


class _Normal:
    """Goes through a region.

    Attributes
    ----------
    shared : set of str
        Counters that are ordinary ints.
    """

    def __init__(self, shared: set[str], fresh: Names) -> None:
        self.shared = shared
        self.fresh = fresh

    def block(self, block: Block) -> Block:
        """Return a block in normal form."""
        result: list[Statement] = []
        for k, s in enumerate(block):
            if isinstance(s, If) and stops((s,)) and k + 1 < len(block):
                (s,) = followed((s,), block[k + 1 :])
                return (*result, with_blocks(with_choices(s), self.block))
            s = with_choices(s)
            if isinstance(s, For):
                result += self.loop(s)
            elif isinstance(s, Assign):
                result += self.stored(s)
            elif isinstance(s, ForAll):
                result.append(with_blocks(s, lambda inner: tuple(map(with_choices, inner))))
            else:
                result.append(with_blocks(s, self.block))
        return tuple(result)

    def loop(self, s: For) -> Block:
        """Return a loop after what its range is made of."""
        body, name, place = s.body, s.name, s.place
        before: list[Statement] = []
        assert isinstance(s.range, Op)
        bounds = s.range.args
        changed = {bound for inner in statements(body) for bound in bound_by(inner)}
        if name in self.shared:
            name = self.fresh()
            body = (Count(s.name, Name(name, place=place), place=place), *body)
            changed.add(s.name)
        for k, bound in enumerate(bounds):
            if values_in((bound,)) & changed:
                count = Count(self.fresh(), bound, place=place)
                before.append(count)
                bounds = (*bounds[:k], Name(count.name, place=place), *bounds[k + 1 :])
        steps = Op("range", bounds, place=s.range.place)
        return (*before, For(name, steps, self.block(body), place=place))

    def stored(self, s: Assign) -> Block:
        """Return an assignment after what its indices are, if it may change them."""
        target = s.target
        if isinstance(target, Name) or target.array not in values_in(target.index):
            return (s,)
        counts = [Count(self.fresh(), i, place=s.place) for i in target.index]
        index = tuple(Name(count.name, place=s.place) for count in counts)
        place = Load(target.array, index, place=target.place)
        return (*counts, Assign(place, s.value, place=s.place))


def followed(block: Block, rest: Block) -> Block:
    """Return a block with statements at the end of each way through it that leaves no loop."""
    last = block[-1] if block else None
    if isinstance(last, Break):
        return block
    if isinstance(last, If) and stops((last,)):
        sides = followed(last.body, rest), followed(last.orelse, rest)
        return (*block[:-1], If(last.test, *sides, place=last.place))
    return (*block, *rest)


def with_choices(s: Statement) -> Statement:
    """Return a statement without ``max`` and ``min`` of what may have a derivative."""
    return s if isinstance(s, Count) else with_value(s, chosen)


def chosen(e: Expr) -> Expr:
    """Return an expression with choices in the place of ``max`` and ``min``."""
    parts = parts_of(e)
    if parts:
        e = rebuilt(e, tuple(map(chosen, parts)))
    if not isinstance(e, Op) or e.op not in CHOICES:
        return e
    comparison = CHOICES[e.op]

    def better(a: Expr, b: Expr) -> Expr:
        return Select(Compare((comparison,), (b, a), place=e.place), b, a, place=e.place)

    return reduce(better, e.args)
