"""Which loop is innermost, and what stands in it: machine code takes several passes at once.

A ForAll with statements, and what it becomes::

    for all i, j, k:                            for all i, k:
        z[i, j] += x[i] * y[k, j]                   for all j:
                                                        z[i, j] += x[i] * y[k, j]

    for all i:                                  for all i:
        v = d_y[i]                                  v = d_y[i]
        d_y[i] = 0.0                                d_x[i] += v
        d_x[i] += v                             for all i:
        d_x[i + 1] += v                             v = d_y[i]
                                                    d_x[i + 1] += v
                                                    d_y[i] = 0.0

    for all i, j:                               for all i:
        y[i] += a[i, j] * x[j]                      t0 = 0.0
                                                    for all j:
                                                        sum0 = plus_product(sum0, a[i, j], x[j])
                                                    y[i] += sum0

    for all i, k, j:                            x @ y, and its loops (see `contractions`)
        z[i, j] += x[i, k] * y[k, j]

The order of passes is free, and that in which numbers are added.  It is left to the machine where
all that is read stands side by side.  Where it does not, in columns, there is one loop: each would
fetch all of it again (an implicit scheme, 400 x 400: the way back takes a third to two thirds).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from mooncake_py.compiler.derivatives.activity import part_of
from mooncake_py.compiler.native.llvm.apart import rejoined, told_apart
from mooncake_py.compiler.native.regions.contractions import Contraction, contractions
from mooncake_py.compiler.native.regions.helpers import plus, plus_product
from mooncake_py.compiler.native.regions.region import FLOAT, REAL
from mooncake_py.compiler.regions.ir import (
    Assign,
    Block,
    Bump,
    Call,
    Const,
    Expr,
    ForAll,
    Let,
    Load,
    Name,
    Op,
    Statement,
    Target,
    walk,
)
from mooncake_py.compiler.regions.simplify import negated
from mooncake_py.compiler.regions.steps import Names

__all__ = ["nested"]

FAR = 10
"""The cost of an element that is not next to that of the pass before."""
Simple = Assign | Bump | Let


def nested(s: ForAll, kind: Callable[[Expr], str]) -> tuple[Statement | Contraction, ...]:
    """Return the same as loops, of which the innermost have one counter each.

    Parameters
    ----------
    kind : callable
        Returns the kind of an expression.
    """
    body = [as_sum(inner, kind) for inner in s.body if isinstance(inner, Simple)]
    if not s.counters or len(body) < len(s.body):
        return (s,) if s.counters else s.body
    products = contractions(body, s.counters, s.extents, kind)
    if products and is_free(body, [s for s in body if isinstance(s, Bump)], []):
        return tuple([replace(product, loops=looped(s, [bump])) for product, bump in products])
    floats = {access.array for access in accesses(body) if kind(access) == FLOAT}
    apart, arrays = told_apart(body, s.counters, floats)
    return rejoined(looped(s, apart), arrays)


def looped(s: ForAll, body: list[Simple]) -> Block:
    """Return loops over the counters of a statement, with others in them."""
    costs = [sum(cost(access, counter) for access in accesses(body)) for counter in s.counters]
    place = min(range(len(costs)), key=lambda k: (costs[k], -k))
    counter, extent = s.counters[place], s.extents[place]
    fresh = Names(".sum")  # with a dot, as all names of ours
    loops: list[Statement] = []
    is_near = all(cost(access, counter) < FAR for access in accesses(body))
    for block in distributed(body) if is_near else [body]:  # else each loop fetches all again
        loops += reduced(block, counter, extent, fresh)
    outer = [k for k in range(len(s.counters)) if k != place]
    if not outer:
        return tuple(loops)
    counters = tuple([s.counters[k] for k in outer])
    return (ForAll(counters, tuple([s.extents[k] for k in outer]), tuple(loops)),)


def as_sum(s: Simple, kind: Callable[[Expr], str]) -> Simple:
    """Return a statement that adds to a float as one of numbers as wide, at least."""
    if isinstance(s, Assign) and isinstance(s.value, Op) and s.value.args[:1] == (s.target,):
        if s.value.op == "add":
            s = Bump(s.target, s.value.args[1], place=s.place)
        elif s.value.op == "sub":
            s = Bump(s.target, negated(s.value.args[1]), place=s.place)
    if not isinstance(s, Bump):
        return s
    if kind(s.target) not in REAL:
        return Assign(s.target, Op("add", (s.target, s.value)), place=s.place)
    value = as_float(s.value, kind) if kind(s.target) == FLOAT else s.value
    return Bump(s.target, value, place=s.place)


def as_float(e: Expr, kind: Callable[[Expr], str]) -> Expr:
    """Return an expression as a float, the factors of a product too."""
    if isinstance(e, Op) and e.op in ("neg", "mul") and kind(e) == FLOAT:
        return Op(e.op, tuple([as_float(a, kind) for a in e.args]), place=e.place)
    return e if kind(e) == FLOAT else Op("float", (e,), place=e.place)


# The innermost counter.


def accesses(body: Sequence[Simple]) -> set[Load]:
    """Return the elements that statements read or write."""
    parts = [part for s in body for e in (s.value, *targets((s,))) for part in walk(e)]
    return {part for part in parts if isinstance(part, Load)}


def cost(access: Load, counter: str) -> int:
    """Return the cost of an element if a counter is that of the innermost loop."""
    *outer, last = [step(e, counter) for e in access.index] or [0]
    return FAR if any(found != 0 for found in outer) else {0: 0, 1: 1, -1: 2}.get(last, FAR)


def step(e: Expr, counter: str) -> int:
    """Return by how much an index grows with a counter; `FAR` where it is not linear."""
    match e:
        case Name(name=name):
            return int(name == counter)
        case Op(op="add" | "sub" | "neg" as op, args=args):
            *first, last = [step(a, counter) for a in args]
            return sum(first) + (last if op == "add" else -last)
        case _:
            names = [part.name for part in walk(e) if isinstance(part, Name)]
            return FAR if counter in names else 0


# Statements of one loop: accesses of one array at several places do not count.


def distributed(body: list[Simple]) -> list[list[Simple]]:
    """Return the statements of several loops in the place of one, each with what it reads."""
    lets = [s for s in body if isinstance(s, Let)]
    sums = [s for s in body if isinstance(s, Bump)]
    stores = [s for s in body if isinstance(s, Assign)]
    groups: list[list[Simple]] = []
    for s in sums:
        if not groups or clashes(groups[-1], s):
            groups.append([])
        groups[-1].append(s)
    if len(groups) < 2 or not is_free(body, sums, stores):
        return [body]
    groups[-1] += stores
    return [with_lets(lets, group) for group in groups]


def clashes(group: list[Simple], s: Bump) -> bool:
    """Return True if a statement writes to an array that others write to elsewhere."""
    return any(part_of(t) == part_of(s.target) and t != s.target for t in targets(group))


def is_free(body: list[Simple], sums: list[Bump], stores: list[Assign]) -> bool:
    """Return True if sums may be taken one after another, and all stores after them.

    What is read must be the same then, and numbers are of one pass.
    """
    summed = {part_of(s.target) for s in sums}
    stored = {part_of(s.target) for s in stores}
    if summed & stored or any(isinstance(s.target, Name) for s in stores):
        return False
    written: set[str] = set()
    for s in body:
        if parts_read(s.value) & (summed | written):
            return False
        if isinstance(s, Assign):
            written.add(part_of(s.target))
    return True


def parts_read(e: Expr) -> set[str]:
    """Return the names and arrays that an expression reads."""
    return {part_of(part) for part in walk(e) if isinstance(part, Name | Load)}


def with_lets(lets: list[Let], group: list[Simple]) -> list[Simple]:
    """Return statements after what they read."""
    wanted = {name for s in group for e in (s.value, *targets((s,))) for name in parts_read(e)}
    kept: list[Simple] = []
    for let in reversed(lets):
        if let.name in wanted:
            wanted |= parts_read(let.value)
            kept.insert(0, let)
    return [*kept, *group]


def targets(body: Sequence[Simple]) -> Iterator[Target]:
    """Yield the targets to which statements write."""
    for s in body:
        if not isinstance(s, Let):
            yield s.target


# Sums over the innermost counter.


def reduced(body: list[Simple], counter: str, extent: Expr, fresh: Names) -> list[Statement]:
    """Return a loop, with what it adds to one number added in any order."""
    before: list[Statement] = []
    after: list[Statement] = []
    block: list[Statement] = []
    for s in body:
        if not isinstance(s, Bump) or moves(s.target, counter, body):
            block.append(s)
            continue
        total = s.target
        if isinstance(total, Load):
            total = Name(fresh())
            before.append(Let(total.name, Const(0.0)))
            after.append(Bump(s.target, total, place=s.place))
        is_near = all(cost(access, counter) < FAR for access in accesses(body))
        more = grown(total, s.value) if is_near else Op("add", (total, s.value))
        block.append(Assign(total, more, place=s.place))
    return [*before, ForAll((counter,), (extent,), tuple(block)), *after]


def moves(target: Target, counter: str, body: list[Simple]) -> bool:
    """Return True if a target varies between passes, or is written elsewhere too."""
    if isinstance(target, Name):
        return False
    bound = {counter, *(s.name for s in body if isinstance(s, Let))}
    writes = [part_of(t) for t in targets(body)]
    return bool(parts_read(target) & bound) or writes.count(target.array) > 1


def grown(total: Target, e: Expr) -> Expr:
    """Return a sum with one number more."""
    sign = isinstance(e, Op) and e.op == "neg"
    inner = e.args[0] if sign and isinstance(e, Op) else e
    if isinstance(inner, Op) and inner.op == "mul":
        a, b = inner.args
        return Call(plus_product, (total, negated(a) if sign else a, b))
    return Call(plus, (total, e))
