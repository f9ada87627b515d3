"""Cotangents of numbers to which something is added for the first time are bound to it.

    d_s = 0.0                       for i in ...:
    for i in ...:                       d_x[i] += d_y[i] * 0.1
        d_s += d_y[i]
        v = d_s
        d_s = 0.0
        d_x[i] += v * 0.1

A name that is bound to another one's value is not read where that one has it still, and what
nothing reads is not computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mooncake_py.compiler.derivatives.activity import part_of
from mooncake_py.compiler.native.regions.kinds import kind_of
from mooncake_py.compiler.native.regions.mentions import (
    all_bound,
    bound_by,
    expressions_in,
    values_in,
)
from mooncake_py.compiler.native.regions.region import FLOAT
from mooncake_py.compiler.regions.ir import (
    Assign,
    Block,
    Bump,
    Const,
    Count,
    Expr,
    For,
    If,
    Let,
    Load,
    Name,
    Pop,
    Push,
    Statement,
    While,
    blocks_of,
    rebuilt,
    statements,
    substituted,
    walk,
    with_blocks,
    with_test,
    with_value,
)

__all__ = ["with_first_additions"]

ZERO = Const(0.0)


def with_first_additions(body: Block, kinds: Mapping[str, str], results: Iterable[str]) -> Block:
    """Return the way back through a region, which gives results."""
    results = frozenset(results)
    body = _Binding(kinds).block(body)
    asked = Asked(results)
    asked.function(body)
    return without_unread(_Binding(kinds).block(without_zeros(body, asked.names)), results)


class _Binding:
    """Goes through the way back.

    Attributes
    ----------
    zeros : frozenset of str
        The names that are zero here.
    values : dict of str to Expr
        The names that have the value of another one.
    """

    def __init__(self, kinds: Mapping[str, str]) -> None:
        self.kinds = kinds
        self.zeros: frozenset[str] = frozenset()
        self.values: dict[str, Expr] = {}

    def block(self, block: Block) -> Block:
        """Return a block."""
        return tuple(map(self.statement, block))

    def statement(self, s: Statement) -> Statement:
        """Return a statement."""
        match s:
            case Assign(target=Name(name=name)) if is_clear(s):
                self.bound((name,))
                self.zeros |= {name}
                return s
            case Bump(target=Name(name=name) as target, value=value) if name in self.zeros:
                return self.assigned(Assign(target, value, place=s.place), name)
            case Assign(target=Name(name=name)) | Let(name=name) | Count(name=name):
                return self.assigned(s, name)
            case Assign(target=target) | Bump(target=target):
                s = self.read(s)
                if isinstance(target, Load):
                    target = rebuilt(target, tuple(map(self.known, target.index)))
                s = type(s)(target, s.value, place=s.place)  # type: ignore[union-attr]
            case If():
                return self.chosen(s)
            case For() | While():
                return self.repeated(s)
            case Push():
                s = self.read(s)
        self.bound(all_bound((s,)))
        return s

    def assigned(self, s: Assign | Let | Count, name: str) -> Statement:
        """Return a statement that binds a name."""
        s = self.read(s)  # type: ignore[assignment]
        self.bound((name,))
        value = s.value
        if isinstance(value, Name) and value.name != name:
            kind = kind_of(value, self.kinds)
            if isinstance(s, Let) or self.kinds.get(name, FLOAT) == kind:
                self.values[name] = value
        return s

    def read(self, s: Statement) -> Statement:
        """Return a statement that reads names whose values others have."""
        return with_value(s, self.known)

    def known(self, e: Expr) -> Expr:
        """Return an expression that does."""
        return substituted(e, self.values)

    def bound(self, names: Iterable[str]) -> None:
        """Forget what is known of names."""
        names = frozenset(names)
        self.zeros -= names
        self.values = {
            name: value
            for name, value in self.values.items()
            if name not in names and value.name not in names  # type: ignore[union-attr]
        }

    def chosen(self, s: If) -> Statement:
        """Return a branch."""
        test = self.known(s.test)
        before = self.zeros, self.values
        body = self.block(s.body)
        zeros, values = self.zeros, self.values
        self.zeros, self.values = before
        orelse = self.block(s.orelse)
        self.zeros &= zeros
        self.values = {n: e for n, e in self.values.items() if values.get(n) == e}
        return If(test, body, orelse, place=s.place)

    def repeated(self, s: For | While) -> Statement:
        """Return a loop: what is zero before it and after each pass is so before each pass."""
        again = self.zeros & zero_after(s.body, self.zeros)
        self.bound(all_bound((s,)))
        before = self.zeros, self.values = self.zeros | again, self.values
        found = with_blocks(with_test(s, self.known), self.block)
        self.zeros, self.values = before
        return found


def zero_after(body: Block, zeros: frozenset[str]) -> frozenset[str]:
    """Return those of the names that are zero before a block that are so after it for certain."""
    for s in body:
        if is_clear(s):
            zeros |= {part_of(s.target)}  # type: ignore[union-attr]
        elif isinstance(s, For | While):
            zeros &= zero_after(s.body, zeros)
        else:
            zeros -= all_bound((s,))
    return zeros


def is_clear(s: Statement) -> bool:
    """Return True for what binds a name to zero."""
    return isinstance(s, Assign) and s.value == ZERO and isinstance(s.target, Name)


class Asked:
    """Finds the names of which a zero may be read.

    Attributes
    ----------
    names : set of str
    others : frozenset of str
        The names that are bound to something else here.
    """

    def __init__(self, results: frozenset[str]) -> None:
        self.results = results
        self.names: set[str] = set()
        self.others: frozenset[str] = frozenset()

    def function(self, body: Block) -> None:
        """Read a function."""
        self.block(body)
        self.names |= self.results - self.others

    def block(self, block: Block) -> None:
        """Read a block."""
        for s in block:
            self.names |= values_in(expressions_in(s)) - self.others
            blocks = blocks_of(s)
            if not blocks:
                bound = frozenset(bound_by(s))
                self.others = self.others - bound if is_clear(s) else self.others | bound
                continue
            before = self.others = self.others - all_bound((s,))
            for inner in blocks:
                self.block(inner)
                self.others = before


def without_zeros(block: Block, names: set[str]) -> Block:
    """Return a block that binds no names to zero but these."""
    return tuple(
        [
            with_blocks(s, lambda inner: without_zeros(inner, names)) if blocks_of(s) else s
            for s in block
            if not (is_clear(s) and part_of(s.target) not in names)  # type: ignore[union-attr]
        ]
    )


def without_unread(body: Block, results: frozenset[str]) -> Block:
    """Return a block without what binds names that nothing reads."""
    read = {*results}
    for s in statements(body):
        sums = isinstance(s, Bump) and isinstance(s.target, Name)
        read |= values_in((s.value,) if isinstance(s, Bump) and sums else expressions_in(s))

    def is_read(s: Statement) -> bool:
        match s:
            case (
                Assign(target=Name(name=name), value=value)
                | Bump(target=Name(name=name), value=value)
                | Let(name=name, value=value)
                | Count(name=name, value=value)
            ):
                return name in read or any(isinstance(part, Pop) for part in walk(value))
        return True

    def kept(block: Block) -> Block:
        return tuple([with_blocks(s, kept) if blocks_of(s) else s for s in block if is_read(s)])

    found = kept(body)
    return found if count_of(found) == count_of(body) else without_unread(found, results)


def count_of(body: Block) -> int:
    """Return how many statements there are."""
    return sum(1 for _ in statements(body))
