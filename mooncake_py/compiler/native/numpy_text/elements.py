"""Elements that are read once, in the blocks of loops over numbers.

    if not i < len(y): raise Leave      k = i - 1           (y[i] raises where there is none)
    push(y[i])                          e0 = y[i]
    y[i] = y[i] - f * y[i - 1]          push(e0)
    z[i] = y[i] * y[i - 1]              e1 = y[k]
                                        e2 = e0 - f * e1
                                        y[i] = e2
                                        z[i] = e2 * e1

An element takes longer to read than a name.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from types import BuiltinFunctionType

from mooncake_py.compiler.native.numpy_text.scalars import from_end
from mooncake_py.compiler.native.regions.kinds import kind_of
from mooncake_py.compiler.native.regions.linear import linear, minus
from mooncake_py.compiler.native.regions.mentions import (
    all_bound,
    bound_by,
    expressions_in,
    names_in,
)
from mooncake_py.compiler.native.regions.region import FLOAT, INT
from mooncake_py.compiler.regions.ir import (
    Assign,
    Block,
    Bump,
    Call,
    Check,
    Compare,
    Const,
    Count,
    Expr,
    Length,
    Let,
    Load,
    Name,
    Op,
    Push,
    Select,
    Statement,
    parts_of,
    rebuilt,
    with_value,
)

__all__ = ["with_elements_read_once"]

SIMPLE = Assign | Let | Count | Bump | Push | Check
ZERO = Const(0.0)
Kinds = dict[str, str]


def with_elements_read_once(block: Block, kinds: Kinds, fresh: Callable[[], str]) -> Block:
    """Return a block; the kinds of new names are added to those given."""
    found: list[Statement] = []
    run: list[Statement] = []
    for s in block:
        if isinstance(s, SIMPLE):
            run.append(s)
            continue
        found += read_once(run, kinds, fresh)
        run = []
        found.append(s)
    return (*found, *read_once(run, kinds, fresh))


def read_once(run: list[Statement], kinds: Kinds, fresh: Callable[[], str]) -> list[Statement]:
    """Return statements that run one after another."""
    if len(run) < 2:
        return run
    run = bound_first([s for k, s in enumerate(run) if not is_asked_anyway(s, run[:k], run[k:])])
    first = Reading(kinds, fresh, Counter())
    first.statements(run)
    second = Reading(kinds, fresh, first.uses)
    second.statements(run)
    return with_places_computed_once(second.found, kinds, fresh)


# Checks that Python makes.


def is_asked_anyway(s: Statement, before: list[Statement], after: list[Statement]) -> bool:
    """Return True for a check that a later element makes, or a function of Python has made."""
    if not isinstance(s, Check):
        return False
    match s.test:
        case Compare(ops=("lt",), args=(place, Length() as n)):
            return is_asked_by(place, n, after[1:])
        case Compare(ops=("lt",), args=(Op(op="abs", args=(Name(name=name),)), limit)):
            if limit != Const(math.inf):
                return False
            last = next((b for b in reversed(before) if name in bound_by(b)), None)
            return isinstance(last, Assign | Let) and is_of_python(last.value)
    return False


def is_asked_by(place: Expr, n: Length, after: list[Statement]) -> bool:
    """Return True if statements read or write an element there, before the place changes."""
    names = names_in((place,))
    for s in after:
        for part in elements(s):
            if part.array == n.array and from_end(part.index[n.axis]) == place:
                return True
        if not names.isdisjoint(bound_by(s)):
            return False
    return False


def is_of_python(e: Expr) -> bool:
    """Return True for a call of a function of `math`, which raises where it is not defined."""
    return isinstance(e, Call) and (
        isinstance(e.function, BuiltinFunctionType) and e.function.__module__ == "math"
    )


def elements(s: Statement) -> Iterator[Load]:
    """Yield the elements that a statement reads or writes for certain."""
    for e in expressions_in(s):
        yield from in_expression(e)
    if isinstance(s, Assign) and isinstance(s.target, Load):
        yield s.target


def in_expression(e: Expr) -> Iterator[Load]:
    """Yield the elements that an expression reads for certain."""
    for part in certain(e):
        yield from in_expression(part)
    if isinstance(e, Load):
        yield e


def certain(e: Expr) -> tuple[Expr, ...]:
    """Return the parts of an expression that are computed whatever the others are."""
    match e:
        case Select():
            return () if from_end(e) is e else (from_end(e),)
        case Op(op="and" | "or", args=args):
            return args[:1]
        case Compare(args=args):
            return args[:2]
    return parts_of(e)


# Cotangents of elements that are cleared and then added to.


def bound_first(run: list[Statement]) -> list[Statement]:
    """Return statements in which an element is bound where it is first added to."""
    found = [*run]
    for k, s in enumerate(run):
        if not (isinstance(s, Assign) and isinstance(s.target, Load) and s.value == ZERO):
            continue
        j = next_sum(s.target, run[k + 1 :])
        if j is not None:
            later = run[k + 1 + j]
            found[k] = None  # type: ignore[call-overload]
            found[k + 1 + j] = Assign(s.target, later.value, place=later.place)  # type: ignore[union-attr]
    return [s for s in found if s is not None]


def next_sum(target: Load, after: list[Statement]) -> int | None:
    """Return which statement adds to an element before anything else may ask for it."""
    names = names_in(target.index)
    for j, s in enumerate(after):
        bound = set(bound_by(s))
        if isinstance(s, Bump) and isinstance(s.target, Load) and s.target.array == target.array:
            if target.array in names_in((s.value, *s.target.index)):
                return None
            if s.target == target:
                return j
            if not are_apart(s.target, target):
                return None
        elif target.array in names_in(expressions_in(s)) | bound or bound & names:
            return None
    return None


def are_apart(a: Load, b: Load) -> bool:
    """Return True for two elements that are never the same."""
    return any(
        not apart.parts and apart.constant
        for apart in [linear(minus(*pair)) for pair in zip(a.index, b.index, strict=True)]
    )


# Elements by name.


class Reading:
    """Goes through statements that run one after another.

    Parameters
    ----------
    kinds, fresh
        See `with_elements_read_once`.
    uses : Counter
        How often each value is read, as far as an earlier reading has counted.

    Attributes
    ----------
    live : dict of Load to (int, Expr or None)
        The elements that are known here: the number of the value, and the name that it has.
    """

    def __init__(self, kinds: Kinds, fresh: Callable[[], str], uses: Counter[int]) -> None:
        self.kinds = kinds
        self.fresh = fresh
        self.known = uses
        self.uses: Counter[int] = Counter()
        self.live: dict[Load, tuple[int, Name | None]] = {}
        self.found: list[Statement] = []
        self.count = 0

    def statements(self, run: Iterable[Statement]) -> None:
        """Read statements."""
        for s in run:
            self.statement(s)

    def statement(self, s: Statement) -> None:
        """Read a statement."""
        match s:
            case Assign(target=Load() as target):
                self.written(s, target)
                return
            case Bump(target=Load() as target, value=value):
                value, target = self.read(value), self.place(target)
                self.found.append(Bump(target, value, place=s.place))
                self.changed(s.target)  # type: ignore[arg-type]
                return
            case Check(test=test):
                s = Check(self.read(test), place=s.place)
                self.found.append(s)
                return
            case (
                Assign(target=Name(name=name), value=Load() as e)
                | Let(name=name, value=Load() as e)
            ):
                if e not in self.live:
                    self.named(s, e, name)
                    return
        s = with_value(s, self.read)
        self.found.append(s)
        for name in bound_by(s):
            self.bound(name)

    def named(self, s: Statement, e: Load, name: str) -> None:
        """Read a statement that binds a name to an element."""
        number = self.number()
        self.found.append(with_value(s, lambda _: self.place(e)))
        self.bound(name)
        self.live[e] = number, Name(name)

    def written(self, s: Assign, target: Load) -> None:
        """Read a statement that writes an element."""
        value, place = self.read(s.value), self.place(target)
        if isinstance(s.value, Name) and target in self.live and self.live[target][1] == s.value:
            return  # it is there
        is_float = kind_of(value, self.kinds) == self.kinds.get(target.array, FLOAT) == FLOAT
        self.changed(target)
        if not is_float or isinstance(value, Const):
            self.found.append(Assign(place, value, place=s.place))
            return
        number = self.number()
        if not isinstance(value, Name):
            value = self.kept(number, value)
        self.found.append(Assign(place, value, place=s.place))
        self.live[target] = number, value if isinstance(value, Name) else None

    def number(self) -> int:
        """Return the number of a new value."""
        self.count += 1
        return self.count

    def kept(self, number: int, e: Expr) -> Expr:
        """Return an expression, by a new name if it is read again."""
        self.uses[number] += 1
        if self.known[number] < 2:
            return e
        name = self.fresh()
        self.kinds[name] = kind_of(e, self.kinds)
        self.found.append(Let(name, e))
        return Name(name)

    def place(self, e: Load) -> Load:
        """Return an element that is written, the indices of which are read."""
        return Load(e.array, tuple([self.read(from_end(i)) for i in e.index]), place=e.place)

    def read(self, e: Expr) -> Expr:
        """Return an expression that reads elements by their names."""
        if isinstance(e, Load):
            return self.element(e)
        if not (parts := parts_of(e)):
            return e
        ways = certain(e)
        if len(ways) == len(parts):
            return rebuilt(e, tuple(map(self.read, parts)))
        return rebuilt(e, tuple([self.read(p) if p in ways else self.seen(p) for p in parts]))

    def seen(self, e: Expr) -> Expr:
        """Return the same of what may not be computed: nothing is read before."""
        if isinstance(e, Load) and e in self.live:
            number, name = self.live[e]
            self.uses[number] += 1
            return e if name is None else name
        return rebuilt(e, tuple(map(self.seen, parts_of(e))))

    def element(self, e: Load) -> Expr:
        """Return an element that is read for certain."""
        if e in self.live:
            number, name = self.live[e]
            self.uses[number] += 1
            return e if name is None else name
        number = self.number()
        found = self.kept(number, self.place(e))
        self.live[e] = number, found if isinstance(found, Name) else None
        return found

    def changed(self, target: Load) -> None:
        """Forget the elements that a write may change."""
        array = target.array
        self.live = {
            e: known
            for e, known in self.live.items()
            if array not in names_in(e.index) and (e.array != array or are_apart(e, target))
        }

    def bound(self, name: str) -> None:
        """Forget the value of a name that is rebound."""
        self.live = {
            e: (number, None if known is not None and known.name == name else known)
            for e, (number, known) in self.live.items()
            if name not in names_in(e.index)
        }


# Indices by name.


def with_places_computed_once(
    run: list[Statement], kinds: Kinds, fresh: Callable[[], str]
) -> list[Statement]:
    """Return statements in which indices that are sums are computed once."""
    bound = all_bound(tuple(run))
    uses = Counter(
        i
        for s in run
        for e in (*expressions_in(s), *targets(s))
        for i in indices(e)
        if is_sum(i) and bound.isdisjoint(names_in((i,)))
    )
    names: dict[Expr, Name] = {}
    found: list[Statement] = []

    def known(e: Expr) -> Expr:
        if not isinstance(e, Load):
            return rebuilt(e, tuple(map(known, parts_of(e))))
        return rebuilt(e, tuple([place(from_end(i)) for i in e.index]))

    def place(i: Expr) -> Expr:
        if uses[i] < 2:
            return known(i)
        if i not in names:
            names[i] = Name(fresh())
            kinds[names[i].name] = INT
            found.append(Let(names[i].name, i))
        return names[i]

    for s in run:
        if isinstance(s, Check):
            found.append(s)
        elif isinstance(s, Assign | Bump) and isinstance(s.target, Load):
            target, value = known(s.target), known(s.value)
            found.append(type(s)(target, value, place=s.place))  # type: ignore[arg-type]
        else:
            found.append(with_value(s, known))
    return found


def targets(s: Statement) -> tuple[Expr, ...]:
    """Return the element that a statement writes."""
    return (s.target,) if isinstance(s, Assign) and isinstance(s.target, Load) else ()


def indices(e: Expr) -> Iterator[Expr]:
    """Yield the indices in an expression."""
    for part in parts_of(e):
        yield from indices(part)
    if isinstance(e, Load):
        yield from map(from_end, e.index)


def is_sum(e: Expr) -> bool:
    """Return True for a name and a constant."""
    match e:
        case Op(op="add" | "sub", args=(Name(), Const())):
            return True
    return False
