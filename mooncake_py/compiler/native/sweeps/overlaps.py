"""Whether what a statement overwrites has elements that the way back reads.

    for k in range(n):
        for all i, j: a[k+1+i, k+1+j] -= a[k+1+i, k] * a[k, k+1+j]

The way back of a pass reads column ``k`` and row ``k``, and comes after the ways back of the later
passes.  These write, and may leave as it is, what is to the right of the column and below the row:
nothing must be saved.  The places are compared as sums of ints (see `linear`): for each axis, for
each loop around both statements in which the pass of the one may be later than that of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import takewhile
from typing import NamedTuple

from mooncake_py.compiler.derivatives.activity import part_of
from mooncake_py.compiler.native.regions.linear import Ranges, linear, minus, plus
from mooncake_py.compiler.native.regions.mentions import all_bound, expressions_in, values_in
from mooncake_py.compiler.native.sweeps.pull import Pull
from mooncake_py.compiler.native.sweeps.scopes import Scopes
from mooncake_py.compiler.regions.ir import (
    Alloc,
    Apply,
    Assign,
    Block,
    Bump,
    Check,
    Const,
    Count,
    Expr,
    For,
    ForAll,
    Grow,
    Length,
    Let,
    Load,
    Name,
    Op,
    Reduce,
    Statement,
    blocks_of,
    parts_of,
    rebuilt,
    statements,
    walk,
)

__all__ = ["Overlaps"]

ONE = Const(1)
MOST = 48
"""Reads of an array on the way back that are compared with each statement that writes to it."""
Pulls = Callable[[Assign | Let | Apply | Reduce], Pull]


class Turn(NamedTuple):
    """A loop around a statement; the range of steps is unknown for one that has none."""

    place: int
    name: str
    steps: tuple[Expr, ...]


class Part(NamedTuple):
    """Elements of an array, at a statement.

    Attributes
    ----------
    time : float
        Which statement it is, in the order of the text.
    turns : tuple of Turn
        The loops around the statement, from the outermost on.
    load : Load
    sizes : mapping of str to Expr
        The counters of the statement itself, and their extents.
    """

    time: float
    turns: tuple[Turn, ...]
    load: Load
    sizes: Mapping[str, Expr]


class Overlaps:
    """Compares what statements overwrite with what the way back reads.

    Parameters
    ----------
    body : Block
    inputs : iterable of str
        Of the region.
    scopes : Scopes
    """

    def __init__(self, body: Block, inputs: Iterable[str], scopes: Scopes) -> None:
        self.scopes = scopes
        bound = all_bound(body)
        made = {s.name for s in statements(body) if isinstance(s, Alloc | Grow)}
        self.fixed = {name for name in inputs if name in scopes.stable and name not in bound}
        self.measured = set(inputs) - made
        self.rebound = {
            s.name if isinstance(s, Let | Count) else part_of(s.target)
            for s in statements(body)
            if isinstance(s, Let | Count | Assign | Reduce)
        }
        self._places: dict[int, list[tuple[int, tuple[Turn, ...], Statement]]] = {}
        self._times = 0
        self._names = 0
        self._reads: dict[str, list[Part]] | None = None
        self._read_somehow: set[str] = set()
        self._found: list[tuple[Statement, Statement]] = []
        self._place(body, ())

    def _place(self, block: Block, turns: tuple[Turn, ...]) -> None:
        """Note where statements are."""
        for s in block:
            self._times += 1
            inner = s.body[0] if isinstance(s, ForAll) else s
            places = self._places.setdefault(id(inner), [])
            if not places and not isinstance(s, Check):
                self._found.append((s, inner))
            places.append((self._times, turns, s))
            if isinstance(s, ForAll):
                continue
            within = turns
            if isinstance(s, For):
                assert isinstance(s.range, Op)
                within = (*turns, Turn(self._times, s.name, s.range.args))
            elif len(blocks_of(s)) == 1:
                within = (*turns, Turn(self._times, "", ()))
            for inner in blocks_of(s):
                self._place(inner, within)

    # Writes of statements, and reads of the reverse sweep.

    def written(self, inner: Statement) -> list[Part]:
        """Return the parts of an array that a statement overwrites, wherever it stands."""
        target = getattr(inner, "target", None)
        if not isinstance(target, Load):
            return []
        places = self._places.get(id(inner), ())
        return [Part(time, turns, target, sizes_of(s)) for time, turns, s in places]

    def is_apart(self, inner: Assign | Let, back: Block) -> bool:
        """Return True if the way back of a statement reads nothing that this overwrites."""
        written = self.written(inner)
        return bool(written) and all(
            self.are_apart(w, Part(w.time, w.turns, load, w.sizes), together=True)
            for load in loads_of(back)
            for w in written
            if load.array == w.load.array
        )

    def may_meet(self, inner: Statement, pull_of: Pulls) -> bool:
        """Return True if the way back may read, before a statement, elements it overwrites."""
        if self._reads is None:
            self._reads = {}
            self._find(pull_of)
        written = self.written(inner)
        array = written[0].load.array if written else ""
        reads = self._reads.get(array, [])
        if not written or array in self._read_somehow or len(reads) > MOST:
            return True
        return any(
            not self.are_apart(w, r, together=r.time < w.time) for w in written for r in reads
        )

    def _find(self, pull_of: Pulls) -> None:
        """Find what the way back reads."""
        assert self._reads is not None
        for s, inner in self._found:
            if not isinstance(inner, Assign | Let | Apply | Reduce) or self.scopes.replays(s):
                self._read_somehow |= values_in(expressions_in(s))
                continue
            self._pulled(s, inner, pull_of(inner))

    def _pulled(self, s: Statement, inner: Statement, pull: Pull) -> None:
        """Note what the way back of a statement reads."""
        assert self._reads is not None
        found: list[tuple[Load, Mapping[str, Expr]]] = []
        known = True
        for b in pull.back:
            if isinstance(b, ForAll | Reduce):
                parts, sizes = (b.body if isinstance(b, ForAll) else (b,)), sizes_of(b)
            else:
                parts, sizes = (b,), sizes_of(s)
            known = known and all(
                isinstance(p, Assign | Bump | Let | Reduce | Alloc) for p in parts
            )
            found += [(load, sizes) for load in loads_of(parts)]
        if not known or isinstance(inner, Apply):
            self._read_somehow |= pull.reads
            return
        target = getattr(inner, "target", None)
        if isinstance(target, Load):
            found += [
                (e, sizes_of(s)) for i in target.index for e in walk(i) if isinstance(e, Load)
            ]
        for time, turns, _ in self._places[id(inner)]:
            # Reads that use the results of a statement come after it.
            at = time + 0.5 if pull.reuses else time - 0.5
            for load, sizes in found:
                self._reads.setdefault(load.array, []).append(Part(at, turns, load, sizes))

    # Places.

    def are_apart(self, w: Part, r: Part, together: bool) -> bool:
        """Return True if elements that are written are none that were read in an earlier pass.

        Parameters
        ----------
        w, r : Part
        together : bool
            Whether in the same pass, too.
        """
        if len(w.load.index) != len(r.load.index):
            return False
        turns = zip(w.turns, r.turns, strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0].place == pair[1].place, turns))
        cases = range(shared + together)
        return all(self._are_apart(w, r, shared, k) for k in cases)

    def _are_apart(self, w: Part, r: Part, shared: int, later: int) -> bool:
        """Return True if elements are apart where the pass of one loop, from outside, is later."""
        ranges = Ranges()
        of_w: dict[str, Expr] = {}
        of_r: dict[str, Expr] = {}
        for turn in w.turns[:later]:
            of_w[turn.name] = of_r[turn.name] = self._counter(ranges, turn, of_w)
        if later < shared:
            turn = w.turns[later]
            of_r[turn.name] = i = self._counter(ranges, turn, of_r)
            of_w[turn.name] = self._later(ranges, turn, i, of_r)
        for names, part in ((of_w, w), (of_r, r)):
            for turn in part.turns[later + (later < shared) :]:
                names[turn.name] = self._counter(ranges, turn, names)
            for name, n in part.sizes.items():
                steps = Const(0), n, ONE
                names[name] = self._counter(ranges, Turn(0, name, steps), names)
        for i, j in zip(w.load.index, r.load.index, strict=True):
            a, b = self._resolved(i, of_w), self._resolved(j, of_r)
            if ranges.is_below(a, b) or ranges.is_below(b, a):
                return True
        return False

    def _fresh(self) -> Name:
        """Return a name that nothing else has."""
        self._names += 1
        return Name(f"{self._names}")

    def _counter(self, ranges: Ranges, turn: Turn, names: Mapping[str, Expr]) -> Name:
        """Return a name for the counter of a loop, with its bounds."""
        name = self._fresh()
        if turn.steps and turn.name not in self.rebound:
            first, last, step = turn.steps
            if isinstance(step, Const) and step.value:
                ends = self._resolved(first, names), self._resolved(last, names)
                if step.value > 0:
                    ranges.counters[name.name] = ends[0], minus(ends[1], ONE)
                else:
                    ranges.counters[name.name] = plus(ends[1], ONE), ends[0]
        return name

    def _later(self, ranges: Ranges, turn: Turn, i: Expr, names: Mapping[str, Expr]) -> Expr:
        """Return the counter of a later pass than that of another counter."""
        step = turn.steps[2] if turn.steps else None
        if not isinstance(step, Const) or not step.value or turn.name in self.rebound:
            return self._fresh()
        more = self._fresh()
        last = self._resolved(turn.steps[1], names)
        up = step.value > 0
        greatest = minus(minus(last, i) if up else minus(i, last), Const(1 + abs(int(step.value))))
        ranges.counters[more.name] = Const(0), greatest
        found = linear(i).plus(linear(step)).plus(linear(more), 1 if up else -1)
        return found.expression()

    def _resolved(self, e: Expr, names: Mapping[str, Expr]) -> Expr:
        """Return an int of inputs and counters; anything else in it is like nothing else."""
        match e:
            case Const():
                return e
            case Name(name=name) if name in names and name not in self.rebound:
                return names[name]
            case Name(name=name) if name in self.scopes.replayed:
                return self._resolved(self.scopes.replayed[name], names)
            case Name(name=name) if name in self.fixed:
                return e
            case Length(array=array, axis=axis):
                if array in self.scopes.shapes:
                    return self._resolved(self.scopes.shapes[array][axis], names)
                if array in self.measured:
                    return e
            case Op():
                return rebuilt(e, tuple([self._resolved(part, names) for part in parts_of(e)]))
        return self._fresh()


def sizes_of(s: Statement) -> dict[str, Expr]:
    """Return the counters of a statement, with their extents."""
    if isinstance(s, ForAll | Reduce):
        return dict(zip(s.counters, s.extents, strict=True))
    return {}


def read_by(s: Statement) -> tuple[Expr, ...]:
    """Return the expressions that a statement of the way back reads, indices of its target too."""
    target = getattr(s, "target", None)
    return (*expressions_in(s), *(target.index if isinstance(target, Load) else ()))


def loads_of(block: Block) -> Iterator[Load]:
    """Yield the elements that statements read."""
    for s in block:
        for e in read_by(s):
            yield from (part for part in walk(e) if isinstance(part, Load))
