"""Ints as sums of products with constants, so that equal ones are seen to be equal.

(n - 1) - 1 + 2 * i      Linear(-2, {n: 1, i: 2})
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mooncake_py.compiler.regions.ir import Const, Expr, Length, Name, Op

__all__ = ["LARGE", "Linear", "Ranges", "flat", "linear", "minus", "plus", "size_of", "times",
           "turned"]  # fmt: skip

ZERO, ONE = Const(0), Const(1)
LARGE = 1 << 31  # ints and lengths that are passed are below


class Linear(NamedTuple):
    """A constant, and what each other part is multiplied by."""

    constant: int
    parts: Mapping[Expr, int]

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """Return the sum with a multiple of another one."""
        parts = dict(self.parts)
        for part, count in other.parts.items():
            parts[part] = parts.get(part, 0) + factor * count
        return Linear(
            self.constant + factor * other.constant, {p: n for p, n in parts.items() if n != 0}
        )

    def expression(self) -> Expr:
        """Return the expression, the same for equal sums."""
        ordered = list(self.parts.items())
        if len(ordered) > 1:
            ordered.sort(key=lambda item: (item[1] < 0, repr(item[0])))
        result: Expr | None = None
        for part, count in ordered:
            term = part if abs(count) == 1 else Op("mul", (Const(abs(count)), part))
            if result is None:
                result = term if count > 0 else Op("neg", (term,))
            else:
                result = Op("add" if count > 0 else "sub", (result, term))
        if result is None:
            return Const(self.constant)
        if self.constant > 0:
            return Op("add", (result, Const(self.constant)))
        return Op("sub", (result, Const(-self.constant))) if self.constant else result


def linear(e: Expr) -> Linear:
    """Return an int as a sum; other expressions are terms.  Operations remember it."""
    if not isinstance(e, Op):
        return as_sum(e)
    found = e.__dict__.get("linear")
    if found is None:
        found = e.__dict__["linear"] = as_sum(e)
    return found


def as_sum(e: Expr) -> Linear:
    """Return the same, found out."""
    if isinstance(e, Const):
        assert e.value is not None
        return Linear(int(e.value), {})
    if isinstance(e, Op):
        if e.op in ("add", "sub"):
            a, b = map(linear, e.args)
            return a.plus(b, 1 if e.op == "add" else -1)
        if e.op == "neg":
            return Linear(0, {}).plus(linear(e.args[0]), -1)
        if e.op == "mul":
            a, b = map(linear, e.args)
            for one, other in ((a, b), (b, a)):
                if not one.parts:
                    return Linear(0, {}).plus(other, one.constant)
    return Linear(0, {e: 1})


def plus(a: Expr, b: Expr) -> Expr:
    """Return the sum of two ints."""
    return linear(a).plus(linear(b)).expression()


def minus(a: Expr, b: Expr) -> Expr:
    """Return the difference of two ints."""
    return linear(a).plus(linear(b), -1).expression()


def times(a: Expr, b: Expr) -> Expr:
    """Return the product of two ints."""
    return linear(Op("mul", (a, b))).expression()


def size_of(shape: Sequence[Expr]) -> Expr:
    """Return how many elements an array has."""
    size: Expr = ONE
    for n in shape:
        size = times(size, n)
    return size


def flat(shape: Sequence[Expr], at: Sequence[Expr]) -> Expr:
    """Return where an element stands in an array in C order."""
    k: Expr = ZERO
    for n, i in zip(shape, at, strict=True):
        k = plus(times(k, n), i)
    return k


class Ranges:
    """Between which bounds ints are for certain.

    Attributes
    ----------
    counters : dict of str to (Expr, Expr)
        The counters in scope, from the outermost on: their least and their greatest value.
    natural : set of str
        Names of ints that are not negative.
    sizes : dict of str to float
        By the names of ints what these, without their sign, do not exceed.
    """

    def __init__(self) -> None:
        self.counters: dict[str, tuple[Expr, Expr]] = {}
        self.natural: set[str] = set()
        self.sizes: dict[str, float] = {}

    def is_natural(self, e: Expr) -> bool:
        """Return True if an int cannot be negative, wherever the counters are."""
        return self.is_natural_sum(linear(e))

    def is_natural_sum(self, found: Linear) -> bool:
        """Return True if a sum cannot be negative."""
        for name, (least, greatest) in reversed(self.counters.items()):
            count = found.parts.get(Name(name), 0)
            if count:
                found = found.plus(Linear(0, {Name(name): 1}), -count)
                found = found.plus(linear(least if count > 0 else greatest), count)
        return found.constant >= 0 and all(
            count > 0 and (isinstance(part, Length) or self.is_known(part))
            for part, count in found.parts.items()
        )

    def is_known(self, part: Expr) -> bool:
        """Return True for a name of an int that is not negative."""
        return isinstance(part, Name) and part.name in self.natural

    def is_below(self, e: Expr, bound: Expr) -> bool:
        """Return True if an int is surely less than another one."""
        found = linear(bound).plus(linear(e), -1)
        return self.is_natural_sum(found._replace(constant=found.constant - 1))

    def size(self, e: Expr) -> float:
        """Return a bound of an int's absolute value; infinity if none is known."""
        if isinstance(e, Op) and e.op in ("floordiv", "mod", "abs"):
            return self.size(e.args[1 if e.op == "mod" else 0])
        found = linear(e)
        return abs(found.constant) + sum(
            abs(count) * self.size_of_part(part) for part, count in found.parts.items()
        )

    def size_of_part(self, part: Expr) -> float:
        """Return a bound of the absolute value of an int that is not a sum."""
        match part:
            case Length():
                return LARGE
            case Name(name=name) if name in self.counters:
                return max(map(self.size, self.counters[name]))
            case Name(name=name):
                return self.sizes.get(name, math.inf)
            case Op(op="mul", args=(a, b)):
                return self.size(a) * self.size(b)
            case Op(op="floordiv" | "mod" | "abs"):
                return self.size(part)
        return math.inf


def turned(low: Expr, high: Expr, step: int) -> tuple[Expr, Expr]:
    """Return where a range begins and ends if it goes the other way."""
    shift = Const(step)
    if abs(step) == 1:
        return minus(high, shift), minus(low, shift)
    length = minus(high, low) if step > 0 else minus(low, high)
    passed = Op("floordiv", (minus(length, ONE), Const(abs(step))))
    return plus(low, times(passed, shift)), minus(low, shift)
