"""Numbers that are saved for the way back: how many, and where on the stack."""

from __future__ import annotations

from mooncake_py.compiler.native.regions.helpers import as_bits, as_int
from mooncake_py.compiler.native.regions.mentions import expressions_in
from mooncake_py.compiler.regions.ir import (
    INTS,
    Assign,
    Bump,
    Call,
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
    Pop,
    Push,
    Statement,
    While,
    parts_of,
    rebuilt,
    statements,
    walk,
    with_value,
)
from mooncake_py.compiler.regions.simplify import added, product

__all__ = [
    "STACK", "TOP", "as_slot", "is_lasting", "on_stack", "popped_by", "pushes_of", "sized",
    "with_slots",
]  # fmt: skip

STACK, TOP = ".S", ".p"
"""The stack, and how many numbers are on it.  Names with a dot are ours."""


def pushes_of(s: Statement) -> int | None:
    """Return how many numbers a statement saves at most; None if that is known only as it runs."""
    match s:
        case Push():
            return 1
        case If():
            sides = [[pushes_of(inner) for inner in side] for side in (s.body, s.orelse)]
            counts = [sum(n for n in side if n is not None) for side in sides]
            return None if None in (*sides[0], *sides[1]) else max(counts)
        case For() | While() | ForAll():
            return None if any(isinstance(inner, Push) for inner in statements(s.body)) else 0
    return 0


def is_lasting(test: Expr, made: frozenset[str]) -> bool:
    """Return True if a test that held once holds again: it is one of lengths of inputs."""
    return all(
        part.array not in made
        if isinstance(part, Length)
        else isinstance(part, Const | Op | Compare)
        for part in walk(test)
    )


def popped_by(s: Statement) -> int:
    """Return how many numbers a statement pops, not counting its blocks."""
    return sum(isinstance(part, Pop) for e in expressions_in(s) for part in walk(e))


def as_slot(s: Push) -> Expr:
    """Return a number as the stack of floats stores it: for an int its bits."""
    return Call(as_bits, (Op("int", (s.value,)),)) if s.stack == INTS else s.value


def on_stack(s: ForAll, count: int) -> ForAll:
    """Return loops that read or write elements of the stack, so many in each pass."""
    first = added(Name(TOP), linear(s, count))
    slots = [added(first, Const(k)) for k in range(count)]
    body: list[Statement] = []
    for inner in s.body:
        taken = popped_by(inner)
        if taken:
            body.append(with_slots(inner, [slots.pop() for _ in range(taken)]))
        elif isinstance(inner, Push):
            body.append(Assign(Load(STACK, (slots.pop(0),)), as_slot(inner), place=inner.place))
        else:
            body.append(inner)
    if slots:
        raise TypeError(s)
    return ForAll(s.counters, s.extents, tuple(body), place=s.place)


def linear(s: ForAll, count: int) -> Expr:
    """Return how many numbers the passes before one have saved."""
    found: Expr = Const(0)
    for counter, extent in zip(s.counters, s.extents, strict=True):
        found = added(product(found, extent) if found != Const(0) else found, Name(counter))
    return product(found, Const(count)) if found != Const(0) else found


def sized(count: int, extents: tuple[Expr, ...]) -> Expr:
    """Return how many numbers all passes save."""
    found: Expr = Const(count)
    for extent in extents:
        found = product(found, extent)
    return found


def with_slots(s: Statement, slots: list[Expr]) -> Statement:
    """Return a statement with elements of the stack in the place of what it pops."""
    left = list(slots)

    def change(e: Expr) -> Expr:
        if isinstance(e, Pop):
            slot = Load(STACK, (left.pop(0),))
            return Call(as_int, (slot,)) if e.stack == INTS else slot
        parts = parts_of(e)
        return rebuilt(e, tuple(map(change, parts))) if parts else e

    match s:
        case Assign() | Bump() | Let() | Count():
            return with_value(s, change)
        case If():
            return If(change(s.test), s.body, s.orelse, place=s.place)
        case For(range=Op(op=op, args=args)):
            steps = Op(op, tuple(map(change, args)))
            return For(s.name, steps, s.body, place=s.place)
    raise TypeError(s)
