"""Where the names and arrays of a region live, and which numbers the way back computes again.

for i in range(n):      k, t and w live in the body: they have no value when a pass begins
k = i // 2          k is computed again at the beginning of the way back through a pass
t = x[k]            t is bound once a pass
w = array(k)        s lives from pass to pass, so in the whole region
s = s * t
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from mooncake_py.compiler.derivatives.activity import part_of
from mooncake_py.compiler.native.regions.mentions import (
    all_mentioned,
    bound_by,
    expressions_in,
    mentions,
    names_in,
    own_mentions,
    values_in,
    written_arrays,
)
from mooncake_py.compiler.native.regions.region import NativeRegion
from mooncake_py.compiler.regions.ir import (
    Alloc,
    Apply,
    Assign,
    Block,
    Call,
    Const,
    Count,
    Expr,
    For,
    ForAll,
    Grow,
    Let,
    Load,
    Name,
    Op,
    Places,
    Reduce,
    Statement,
    blocks_of,
    statements,
    walk,
)

__all__ = ["Scopes", "numbers_bound"]


class Scopes:
    """The blocks in which names and arrays live.

    Attributes
    ----------
    carried : list of str
        Numbers that live in the whole region, though they are not bound at its beginning: inputs
        that are bound again too.
    replayed : dict of str to Expr
        Numbers that are bound once, from what does not change, and what to: ints, and floats that
        are not active and cost no more than to save them.
    stable : set of str
        Names that have one value wherever they are read, and arrays that nothing writes.
    shapes : dict of str to tuple of Expr
        Of the arrays that the region makes: the same wherever they are read.
    grown : set of str
        The arrays that grow, which live in the whole region.
    first : set of int
        The ids of the statements that are the first to mention an array which lives in their block
        and is not a result: in the reverse pass nothing reads its cotangent after them.
    """

    def __init__(self, region: NativeRegion, body: Block, active: set[str]) -> None:
        self.own: dict[int, set[str]] = {}
        self.first: set[int] = set()
        self.total = Counter([*mentions(body), *region.inputs, *region.results])
        self._made: dict[str, list[tuple[Block, int]]] = {}
        self._find(body, region.results)
        self._find_copies()
        for block in (body, *(b for s in body for b in all_blocks(s))):
            own = self.own[id(block)].difference(region.results)
            self.first.update(id(s) for s in first_written(block, own))
        numbers = Counter(name for s in statements(body) for name in numbers_bound(s))
        scoped = set[str]().union(*self.own.values())
        self.carried = [name for name in numbers if name not in scoped]
        counters = {
            name
            for s in statements(body)
            if isinstance(s, For | ForAll | Reduce | Places)
            for name in ((s.name,) if isinstance(s, For) else s.counters)
        }
        once = {name for name, count in numbers.items() if count == 1 and name in scoped}
        inputs = set(region.inputs) - written_arrays(body) - set(self.carried)
        self.stable = counters | once | inputs
        self.replayed = {
            s.name if isinstance(s, Let | Count) else part_of(s.target): s.value
            for s in statements(body)
            if isinstance(s, Assign | Let | Count)
            and once.difference(active).issuperset(bound_by(s))
            and values_in((s.value,)) <= self.stable
            and (isinstance(s, Count) or is_cheap(s.value))
        }
        self.grown = {s.name for s in statements(body) if isinstance(s, Grow)}
        self.shapes = {
            s.name: s.shape
            for s in statements(body)
            if isinstance(s, Alloc) and s.name in scoped and values_in(s.shape) <= self.stable
            if s.name not in self.grown and len(self._made.get(s.name, ())) == 1
        }

    def of(self, block: Block) -> set[str]:
        """Return the names and arrays that live in a block."""
        return self.own.get(id(block), set())

    def replays(self, s: Statement) -> bool:
        """Return True for a statement that the way back repeats."""
        return isinstance(s, Assign | Let | Count) and not self.replayed.keys().isdisjoint(
            bound_by(s)
        )

    def _find(self, block: Block, results: Iterable[str] = ()) -> Counter[str]:
        """Find what lives in a block and in those within; return how often it mentions what."""
        found = Counter(results)
        for s in block:
            found.update(own_mentions(s))
            for inner in blocks_of(s):
                found.update(self._find(inner))
        first = first_bound(block)
        self.own[id(block)] = {name for name in first if found[name] == self.total[name]}
        for s in block:
            if isinstance(s, Alloc) and s.name in first:
                self._made.setdefault(s.name, []).append((block, found[s.name]))
        return found

    def _find_copies(self) -> None:
        """Find the arrays that live in several blocks, none of them in another one.

        The normal form repeats what follows a branch from which a loop is left.
        """
        for name, made in self._made.items():
            if len(made) > 1 and sum(count for _, count in made) == self.total[name]:
                inner = {id(b) for block, _ in made for s in block for b in all_blocks(s)}
                if inner.isdisjoint(id(block) for block, _ in made):
                    for block, _ in made:
                        self.own[id(block)].add(name)


def all_blocks(s: Statement) -> Iterator[Block]:
    """Yield the blocks of a statement, and those within."""
    for block in blocks_of(s):
        yield block
        for inner in block:
            yield from all_blocks(inner)


def first_bound(block: Block) -> set[str]:
    """Return the names that a block binds, and the arrays it makes, before it mentions them."""
    seen: set[str] = set()
    found: set[str] = set()
    for s in block:
        name = made_by(s)
        if name is not None and name not in seen and name not in names_in(expressions_in(s)):
            found.add(name)
        seen |= all_mentioned(s)
    return found


def first_written(block: Block, own: set[str]) -> Iterator[Statement]:
    """Yield the statements of a block that are the first to mention an array that it makes."""
    made: set[str] = set()
    for s in block:
        inner = s.body[0] if isinstance(s, ForAll) and len(s.body) == 1 else s
        is_store = isinstance(inner, Assign) and isinstance(inner.target, Load)
        if (is_store or isinstance(s, Apply | Reduce)) and made.intersection(bound_by(inner)):
            yield s
        made -= all_mentioned(s)
        if isinstance(s, Alloc) and s.name in own:
            made.add(s.name)


def made_by(s: Statement) -> str | None:
    """Return the name that a statement binds, or the array that it makes."""
    if isinstance(s, Alloc):
        return s.name
    return next(iter(numbers_bound(s)), None)


def numbers_bound(s: Statement) -> tuple[str, ...]:
    """Return the number that a statement binds, except for counters."""
    match s:
        case Let() | Count():
            return (s.name,)
        case Assign(target=Name(name=name)) | Reduce(target=Name(name=name)):
            return (name,)
        case Places():
            return (s.count,)
    return ()


def is_cheap(e: Expr) -> bool:
    """Return True if a number is computed in about the time that it takes to save it."""
    return all(
        not isinstance(part, Call)
        and not (isinstance(part, Op) and part.op == "pow" and not isinstance(part.args[1], Const))
        for part in walk(e)
    )
