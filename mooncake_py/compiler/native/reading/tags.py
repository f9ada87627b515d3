"""Which of several things a choice is: tests on its tag, and what tests tell of tags.

obj = objects[n]                tag = n, of a choice of known objects
if best is None:                if tag == 0:
    return 0.0                      return 0.0
best.x                          tag is not 0 here, so `best` is one of the others
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mooncake_py.compiler.native.building.values import (
    Array,
    Choice,
    ComplexArray,
    Known,
    Number,
    Object,
    Tuple,
    Value,
)
from mooncake_py.compiler.native.reading.comparisons import joined, opposite
from mooncake_py.compiler.native.reading.conditions import are_alike
from mooncake_py.compiler.native.regions.region import BOOL
from mooncake_py.compiler.regions.ir import Compare, Const, Expr, Name, Op, Select

__all__ = [
    "MOST", "ChosenView", "Fact", "are_one_option", "as_view", "both", "facts_of", "number_in",
    "options_of", "over_options", "raises", "remaining", "united", "within",
]  # fmt: skip

MOST = 16
"""So many things may a choice be."""


class Fact(NamedTuple):
    """The numbers that a tag may be, and those that it is not.

    Attributes
    ----------
    allowed : frozenset of int or None
        None for all.
    excluded : frozenset of int
    """

    allowed: frozenset[int] | None
    excluded: frozenset[int] = frozenset()

    def permits(self, number: int) -> bool:
        """Return True for a number that the tag may be."""
        return number not in self.excluded and (self.allowed is None or number in self.allowed)

    def joined(self, other: Fact) -> Fact:
        """Return the fact that holds where both do."""
        if self.allowed is None or other.allowed is None:
            allowed = self.allowed if other.allowed is None else other.allowed
        else:
            allowed = self.allowed & other.allowed
        return Fact(allowed, self.excluded | other.excluded)

    def either(self, other: Fact) -> Fact:
        """Return the fact that holds where one of the two does."""
        if self.allowed is not None and other.allowed is not None:
            return Fact(self.allowed - self.excluded | other.allowed - other.excluded)
        if self.allowed is None and other.allowed is None:
            return Fact(None, self.excluded & other.excluded)
        open_, closed = (self, other) if self.allowed is None else (other, self)
        assert closed.allowed is not None
        return Fact(None, open_.excluded - (closed.allowed - closed.excluded))


Facts = Mapping[str, Fact]


def facts_of(test: Expr, holds: bool, implied: Mapping[str, Expr]) -> dict[str, Fact]:
    """Return the facts about tags where a test holds, or where it does not.

    Parameters
    ----------
    implied : dict of str to Expr
        By the names of booleans that are bound once: the tests that they stand for.
    """
    match test:
        case Compare(ops=("eq",), args=(Name(name=tag), Const(value=int() as number))):
            one = frozenset([number])
            return {tag: Fact(one) if holds else Fact(None, one)}
        case Op(op="not", args=(inner,)):
            return facts_of(inner, not holds, implied)
        case Op(op="and" | "or" as op, args=args):
            parts = [facts_of(part, holds, implied) for part in args]
            found = parts[0]
            for part in parts[1:]:
                found = both(found, part) if (op == "and") == holds else united(found, part)
            return found
        case Name(name=name) if name in implied:
            return facts_of(implied[name], holds, implied)
    return {}


def both(x: Facts, y: Facts) -> dict[str, Fact]:
    """Return the facts where two things hold."""
    return {**x, **{tag: fact.joined(x[tag]) if tag in x else fact for tag, fact in y.items()}}


def united(x: Facts, y: Facts) -> dict[str, Fact]:
    """Return the facts where one of two things holds."""
    return {tag: fact.either(y[tag]) for tag, fact in x.items() if tag in y}


def remaining(choice: Choice, facts: Facts) -> Value:
    """Return a choice of those that are left; the one that is left if it is one."""
    fact = facts.get(choice.tag.name)
    if fact is None:
        return choice
    left = [(n, v) for n, v in options_of(choice) if fact.permits(n)]
    if len(left) == 1:
        return left[0][1]
    if not left or len(left) == len(choice.options):
        return choice
    numbers, options = zip(*left, strict=True)
    return Choice(choice.tag, numbers, options)


def options_of(value: Value) -> list[tuple[int, Value]]:
    """Return the options of a choice, with their numbers."""
    assert isinstance(value, Choice)
    return [*zip(value.numbers, value.options, strict=True)]


def within(choice: Choice, which: Sequence[int]) -> Expr:
    """Return whether the tag of a choice is one of some of its numbers."""
    rest = [n for n in choice.numbers if n not in which]
    if len(rest) < len(which):
        return opposite(within(choice, rest)) if rest else Const(True)
    return joined("or", [Compare(("eq",), (choice.tag, Const(n))) for n in which])


def number_in(value: Value, numbers: Mapping[int, int], own: int) -> Expr:
    """Return the tag of another choice for a value, which is one of its options, or a choice.

    Parameters
    ----------
    numbers : dict of int to int
        For what a choice may be the numbers in the other one.
    own : int
        That for a value that is no choice.
    """
    if not isinstance(value, Choice):
        return Const(own)
    if all(n == m for n, m in numbers.items()):
        return value.tag
    *others, last = value.numbers
    found: Expr = Const(numbers[last])
    for n in reversed(others):
        found = Select(Compare(("eq",), (value.tag, Const(n))), Const(numbers[n]), found)
    return found


def over_options(choice: Choice, test: Callable[[Value], Expr]) -> Expr:
    """Return a test of what a choice is, each option of which decides by itself."""
    tests = [(n, test(option)) for n, option in options_of(choice)]
    if all(isinstance(e, Const) for _, e in tests):
        return within(choice, [n for n, e in tests if e.value])  # type: ignore[attr-defined]
    return joined("or", [joined("and", [within(choice, [n]), e]) for n, e in tests])


def are_one_option(x: Value, y: Value) -> bool:
    """Return True for two values that may be one option of a choice: their parts are merged."""
    if isinstance(x, Tuple) and isinstance(y, Tuple):
        is_plain = not (x.is_list or y.is_list or x.name or y.name)
        return x == y or (is_plain and are_alike(x, y))
    if isinstance(x, Number) and isinstance(y, Number):
        return (x.kind == BOOL) == (y.kind == BOOL)
    if isinstance(x, Object) and isinstance(y, Object):
        return x.name == y.name
    if isinstance(x, ComplexArray) or isinstance(y, ComplexArray):
        return x is y
    if isinstance(x, Array) and isinstance(y, Array):
        return bool(x.base) and x.base == y.base and x.whole and y.whole
    return x is y or x == y


@dataclass(frozen=True)
class ChosenView(Array):
    """A view of one of several arrays, to be read where it is made: it cannot be written."""


def as_view(found: Value) -> Value:
    """Return the part read from one of several arrays, as a view if it may be one."""
    if not isinstance(found, Array) or isinstance(found, ComplexArray):
        return found
    return ChosenView(found.shape, found.kind, found.at)


def raises(value: Value) -> bool:
    """Return True for None, which has no items, no operators and no methods."""
    return isinstance(value, Known) and value.value is None
