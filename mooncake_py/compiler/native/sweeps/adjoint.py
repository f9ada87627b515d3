"""From a region to its two sweeps: forward, saving what the way back needs, and backwards.

Before: the grammar of a region as read.  After: that, with ``Push``, ``Pop`` and ``Bump``, and with
``Let`` and several statements in a ``ForAll``::

    x[i] = x[i] * a                 push floats x[i]           x[i] = pop floats
                                    x[i] = x[i] * a            g = d_x[i]
                                                               d_x[i] = g * a
                                                               d_a += g * x[i]

    for all j < n:                  for all j < n:             for all j < n:
        x[j] = a                        push floats x[j]           x[j] = pop floats
                                    for all j < n:             for all j < n:
                                        x[j] = a                   g = d_x[j]; d_x[j] = 0.0
                                                                   d_a += g

Saved is what is overwritten, and only what the way back still reads (see `needs`); what lives in a
block is saved at the end of the block.  The first statement saved is the last one restored, so one
stack holds floats and ints.  Numbers that do not change are computed again (see `scopes`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mooncake_py.compiler.derivatives.activity import part_of, target_of
from mooncake_py.compiler.derivatives.cotangents import cotangent
from mooncake_py.compiler.derivatives.partials import NoPartial
from mooncake_py.compiler.derivatives.sweeps import Pair, Sweeper
from mooncake_py.compiler.native.regions.kinds import kind_of
from mooncake_py.compiler.native.regions.mentions import (
    Bindings,
    all_mentioned,
    bound_by,
    expressions_in,
    mentions,
    names_in,
    unused,
    values_in,
)
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, INT, REAL, NativeRegion
from mooncake_py.compiler.native.sweeps.applied import Derivatives
from mooncake_py.compiler.native.sweeps.called import recorded
from mooncake_py.compiler.native.sweeps.counting import counted
from mooncake_py.compiler.native.sweeps.needs import Needs
from mooncake_py.compiler.native.sweeps.normal import normal
from mooncake_py.compiler.native.sweeps.overlaps import Overlaps
from mooncake_py.compiler.native.sweeps.pull import Pull, Puller
from mooncake_py.compiler.native.sweeps.reduced import pulled
from mooncake_py.compiler.native.sweeps.scopes import Scopes, numbers_bound
from mooncake_py.compiler.regions.ir import (
    FLOATS,
    INTS,
    Alloc,
    Apply,
    Assign,
    Block,
    Break,
    Compare,
    Const,
    Count,
    Expr,
    For,
    ForAll,
    If,
    Length,
    Let,
    Load,
    Name,
    Op,
    Places,
    Pop,
    Push,
    Reduce,
    Select,
    Statement,
    Target,
    statements,
)
from mooncake_py.compiler.regions.simplify import added, negated
from mooncake_py.syntax.nodes import Place

__all__ = ["NativeSweeps", "adjoint", "cotangent_of"]

ZERO, ONE, MINUS = Const(0), Const(1), Const(-1)


@dataclass(frozen=True)
class NativeSweeps:
    """Both sweeps of a region.

    The forward sweep takes the inputs of the region, and a stack; it gives back the results, and
    what is in ``values`` but no input: arrays that it has made.

    Attributes
    ----------
    forward, reverse : Block
    size : Block or None
        Pushes as often as the forward sweep, takes the same inputs and changes no array.  None
        where that depends on what the forward sweep computes.
    values : tuple of str
        What the reverse sweep takes first: inputs, and arrays that the forward sweep made.
        Numbers as they were on entry, arrays as the forward sweep left them.  Of the arrays it
        changes those that it puts back.
    cotangents : tuple of str
        What it takes next: cotangents of active array inputs, of active arrays among the results
        that are not inputs, and of active numbers among the results, in this order, each once.
    gives : tuple of str
        What it gives back: cotangents of active number inputs, in order.
    kinds : dict of str to str
        Of all names and arrays in both sweeps.
    arrays : dict of str to int
        Of all arrays in both sweeps the number of axes.
    """

    forward: Block
    reverse: Block
    size: Block | None
    values: tuple[str, ...]
    cotangents: tuple[str, ...]
    gives: tuple[str, ...]
    kinds: dict[str, str] = field(repr=False)
    arrays: dict[str, int] = field(repr=False)


def cotangent_of(name: str) -> str:
    """Return the name of the cotangent of a name or an array."""
    return part_of(cotangent(Name(name)))


def adjoint(region: NativeRegion, active: set[str]) -> NativeSweeps:
    """Return both sweeps of a region.

    Parameters
    ----------
    region : NativeRegion
    active : set of str
        Names and arrays that are, somewhere in the region: see `activity.active_parts`.

    Raises
    ------
    NoPartial
        If the derivative of an operation is not known.
    """
    return _Adjoint(region, active).sweeps()


class _Adjoint(Sweeper):
    """Goes through a region, once what must be recorded is known."""

    def __init__(self, region: NativeRegion, active: set[str]) -> None:
        super().__init__()
        self.region = region
        self.body = normal(region)
        self.kinds = dict(region.kinds)
        for s in statements(self.body):  # names that the normal form has made, and counters
            self.kinds |= {n: INT for n in bound_by(s) if n not in self.kinds}
        self.elements = unused("m", region.kinds)
        self.passes = unused("c", region.kinds)
        self.active = {name for name in active if region.kinds[name] in REAL}
        self.fresh = unused("v", region.kinds)
        self.pulls: dict[int, Pull] = {}
        self.derivatives = Derivatives(self.fresh)
        self.made: dict[str, int] = {}
        self.together = {id(s.body[0]) for s in statements(self.body) if isinstance(s, ForAll)}
        self.scopes = Scopes(region, self.body, self.active)
        self.bindings = Bindings(self.body)
        self.overlaps = Overlaps(self.body, region.inputs, self.scopes)
        self.puller = Puller(
            self.active, self.kinds, self.scopes.replayed, self.fresh, self.overlaps.is_apart
        )
        self.needs = Needs(
            self.body,
            self.scopes,
            self.pull_of,
            self.is_replayed,
            lambda s: self.overlaps.may_meet(s, self.pull_of),
        )

    def pull_of(self, s: Assign | Let | Apply | Reduce) -> Pull:
        """Return the adjoint of an assignment, or of what computes an array."""
        found = self.pulls.get(id(s))
        if found is None:
            if isinstance(s, Apply | Reduce):
                found = self.applied(s)
            else:
                found = self.puller.of(s, id(s) in self.together)
            self.pulls[id(s)] = found
        return found

    def applied(self, s: Apply | Reduce) -> Pull:
        """Return the adjoint of what computes an array."""
        clears = id(s) not in self.scopes.first
        if isinstance(s, Reduce):
            found = pulled(s, self.puller, clears)
        else:
            found = self.derivatives.pull(s, self.active, clears)
        for made in statements(found.back):
            if isinstance(made, Alloc):
                self.kinds[made.name] = made.kind
                self.made[made.name] = len(made.shape)
        return found

    def sweeps(self) -> NativeSweeps:
        """Return both sweeps."""
        region, active = self.region, self.active
        given = {cotangent_of(name) for name in region.results}
        numbers = [name for name in self.bound_numbers() if name not in self.scopes.replayed]
        saved, put_back, _ = self.saving([n for n in numbers if n in self.needs.at_end])
        forward, reverse = super().block(self.body)
        forward = [*forward, *saved]
        reverse = opened(put_back, self.opening(self.body, set(region.results)), [], reverse)
        used = set(mentions(tuple(reverse)))
        arrays = [*region.inputs, *bound_arrays(self.body)]
        gives = [n for n in region.inputs if n in active and n not in region.arrays]
        cleared = {cotangent_of(n) for n in active if n not in region.arrays} - given
        ends = used.union(map(cotangent_of, gives))
        zeros = [Assign(Name(d), Const(0.0)) for d in sorted(cleared & ends)]
        forward_block = tuple(forward)
        reverse_block = (*zeros, *reverse)
        return NativeSweeps(
            forward_block,
            reverse_block,
            counted(forward_block, self.scopes.shapes),
            tuple(n for n in arrays if n in used and n not in self.scopes.carried),
            tuple(map(cotangent_of, self.received())),
            tuple(map(cotangent_of, gives)),
            self.all_kinds((*forward_block, *reverse_block)),
            region.arrays
            | self.made
            | {cotangent_of(a): n for a, n in region.arrays.items() if a in active},
        )

    def received(self) -> list[str]:
        """Return the names and arrays whose cotangents the reverse sweep takes."""
        region = self.region
        results = list(dict.fromkeys(region.results))
        arrays = [n for n in region.inputs if n in region.arrays]
        arrays += [n for n in results if n in region.arrays and n not in arrays]
        found = arrays + [n for n in results if n not in region.arrays]
        return [name for name in found if name in self.active]

    def bound_numbers(self) -> list[str]:
        """Return the names that are bound at the top, and those that are carried."""
        own = self.scopes.of(self.body).difference(self.region.arrays)
        found = [n for s in self.body for n in numbers_bound(s) if n in own]
        arrays = self.region.arrays  # of which an element may be bound
        return [*self.scopes.carried, *(n for n in dict.fromkeys(found) if n not in arrays)]

    # Blocks.

    def block(self, block: Block) -> Pair:
        """Return the sweeps of a block, with what lives in it."""
        ending = self.needs.ending(block)
        made = [n for s in block for n in bound_by(s) if n in ending]
        saved, numbers, arrays = self.saving(list(dict.fromkeys(made)))
        self.ends.append(saved)
        forward, reverse = super().block(block)
        self.ends.pop()
        if not (forward and isinstance(forward[-1], Break)):
            forward += saved
        return forward, opened(numbers, self.opening(block, None), arrays, reverse)

    def opening(self, block: Block, given: set[str] | None) -> list[Statement]:
        """Return the first statements of the reverse sweep: ints, and arrays that are not given."""
        found: list[Statement] = []
        for s in block:
            if self.scopes.replays(s):
                found.append(s)
            elif isinstance(s, Alloc):
                if given is None:
                    found.append(Alloc(s.name, s.shape, s.kind, False, place=s.place))
                if s.name in self.active and s.name not in (given or ()):
                    d = cotangent_of(s.name)
                    shape = (Length(s.name, 0),) if s.name in self.scopes.grown else s.shape
                    found.append(Alloc(d, shape, s.kind, True, place=s.place))
        return found

    def saving(self, names: list[str]) -> tuple[list[Statement], list[Statement], list[Statement]]:
        """Return statements that save names and arrays, restore numbers, and restore arrays.

        Numbers are restored first: shapes of arrays are made of them.
        """
        saved: list[Statement] = []
        numbers: list[Statement] = []
        arrays: list[Statement] = []
        for name in sorted(names, key=lambda name: name not in self.region.arrays):
            is_array = name in self.region.arrays
            push, pop = self.saved(*self.whole(name) if is_array else (Name(name), (), ()))
            saved.append(push)
            (arrays if is_array else numbers).insert(0, pop)
        return saved, numbers, arrays

    def whole(self, array: str) -> tuple[Target, tuple[str, ...], tuple[Expr, ...]]:
        """Return each element of an array, with counters and extents."""
        axes = range(self.region.arrays[array])
        counters = tuple(self.elements() for _ in axes)
        extents = self.scopes.shapes.get(array) or tuple(Length(array, axis) for axis in axes)
        return Load(array, tuple(map(Name, counters))), counters, extents

    def saved(
        self, target: Target, counters: tuple[str, ...] = (), extents: tuple[Expr, ...] = ()
    ) -> tuple[Statement, Statement]:
        """Return statements that save numbers, and that restore them."""
        stack = FLOATS if self.kinds[part_of(target)] in REAL else INTS
        push: Statement = Push(stack, target, place=target.place)
        pop = self.bind(target, Pop(stack, place=target.place))
        if not counters:
            return push, pop
        return ForAll(counters, extents, (push,)), ForAll(counters, extents, (pop,))

    def bind(self, target: Target, value: Expr) -> Statement:
        """Return a statement that binds a number of any kind."""
        kind = self.kinds[part_of(target)]
        if kind == BOOL and isinstance(value, Pop):
            value = Compare(("ne",), (value, ZERO))
        if kind not in REAL and isinstance(target, Name):
            return Count(target.name, value, place=target.place)
        return Assign(target, value, place=target.place)

    # Statements.

    def simple(self, s: Statement) -> Pair:
        """Return the sweeps of a statement that is neither a loop over steps nor a branch."""
        match s:
            case _ if self.scopes.replays(s):
                pass
            case Assign() | Let():
                return self.paired(s, s, (), ())
            case Apply():
                return [recorded(s, self.active)], [*self.pull_of(s).back]
            case ForAll(body=(Assign() as inner,)):
                return self.paired(s, inner, s.counters, s.extents)
            case Reduce():
                return self.reduced(s)
            case Count() | Places() if self.needs.is_saved(s):
                (name,) = numbers_bound(s)
                push, pop = self.saved(Name(name, place=s.place))
                return [push, s], [pop]
        return [s], []

    def reduced(self, s: Reduce) -> Pair:
        """Return the sweeps of an operation along axes."""
        pull = self.pull_of(s)
        if not self.needs.is_saved(s):
            return [s], [*pull.back]
        sizes = dict(zip(s.counters, s.extents, strict=True))
        own = [k for k in s.counters if k in values_in((s.target,))]
        push, pop = self.saved(s.target, tuple(own), tuple([sizes[k] for k in own]))
        return [push, s], [*pull.back, pop] if pull.reuses else [pop, *pull.back]

    def paired(
        self,
        s: Statement,
        inner: Assign | Let,
        counters: tuple[str, ...],
        extents: tuple[Expr, ...],
    ) -> Pair:
        """Return the sweeps of assignments of one form, for all numbers below the extents."""
        target, pull = target_of(inner), self.pull_of(inner)
        index = values_in(target.index) if isinstance(target, Load) else set()
        along = [k for k, counter in enumerate(counters) if counter in index]
        if len(along) < len(counters) and any(isinstance(b, Assign) for b in pull.back):
            raise NoPartial  # each pass changes what the one before has left
        back: list[Statement] = [
            b for b in pull.back if not (id(s) in self.scopes.first and is_clear(b))
        ]
        if counters and back:
            back = [ForAll(counters, extents, tuple(back), place=s.place)]
        if not self.needs.is_saved(s):
            return [s], back
        push, pop = self.saved(
            target, tuple(counters[k] for k in along), tuple(extents[k] for k in along)
        )
        return [push, s], [*back, pop] if pull.reuses else [pop, *back]

    def is_replayed(self, s: If) -> bool:
        """Return True if the way back can ask a test again: of ints, and of unchanged inputs."""
        return all(
            (self.kinds[name] not in REAL or name in self.region.inputs)
            and (name in self.scopes.stable or not self.bindings.is_bound_in(name, s))
            for name in values_in((s.test,))
        )

    def backwards(self, loop: For, body: list[Statement], passes: Expr | None) -> list[Statement]:
        """Return a loop back through a range, or its first passes."""
        assert isinstance(loop.range, Op)
        first, last, step = loop.range.args
        place = loop.place

        def through(*steps: Expr) -> For:
            return For(loop.name, Op("range", steps), tuple(body), place=place)

        if passes is None and step in (ONE, MINUS):
            return [through(less(last, step), less(first, step), negated(step))]
        name = self.passes()
        self.kinds[name] = INT
        count = Count(name, passes or length_of(first, last, step), place=place)
        ahead = Op("mul", (Op("sub", (Name(name), ONE)), step))
        return [count, through(added(first, ahead), less(first, step), negated(step))]

    def again(self, passes: Expr, body: list[Statement], place: Place | None) -> For:
        """Return a loop of so many passes."""
        return For(self.passes(), Op("range", (ZERO, passes, ONE)), tuple(body), place=place)

    def all_kinds(self, block: Block) -> dict[str, str]:
        """Return the kinds of all names and arrays of both sweeps."""
        kinds = dict(self.kinds)
        arrays = self.region.arrays  # what numbers receive is added up in float64
        kinds |= {
            cotangent_of(name): kinds[name] if name in arrays else FLOAT for name in self.active
        }
        for s in statements(block):
            for name in bound_by(s):
                if name not in kinds:
                    kinds[name] = kind_of(s.value, kinds) if isinstance(s, Let | Assign) else INT
                    if isinstance(s, Reduce) and name == part_of(s.target) and s.op != "count":
                        kinds[name] = FLOAT
        return kinds


def is_clear(s: Statement) -> bool:
    """Return True if a statement makes a cotangent zero."""
    return isinstance(s, Assign) and s.value == Const(0.0)


def opened(
    numbers: list[Statement],
    opening: list[Statement],
    arrays: list[Statement],
    reverse: list[Statement],
) -> list[Statement]:
    """Return the way back through a block after what it needs first, without what nothing needs."""
    rest = [*arrays, *reverse]
    if not opening:
        return [*numbers, *rest]
    used = set[str]().union(*map(all_mentioned, rest))
    kept: list[Statement] = []
    for s in reversed(opening):
        if used.intersection(bound_by(s)):
            kept.insert(0, s)
            used |= names_in(expressions_in(s))
    return [*numbers, *kept, *rest]


def bound_arrays(body: Block) -> list[str]:
    """Return the arrays that are made at the top of a region."""
    return [s.name for s in body if isinstance(s, Alloc)]


def less(a: Expr, b: Expr) -> Expr:
    """Return a difference of ints."""
    return added(a, negated(b)) if isinstance(a, Const) else Op("sub", (a, b))


def length_of(first: Expr, last: Expr, step: Expr) -> Expr:
    """Return how many ints a range has."""
    sign = Select(Compare(("gt",), (step, ZERO)), ONE, MINUS)
    if isinstance(step, Const) and step.value is not None:
        sign = ONE if step.value > 0 else MINUS
    ahead = Op("add", (Op("sub", (last, first)), Op("sub", (step, sign))))
    return Op("max", (ZERO, Op("floordiv", (ahead, step))))
