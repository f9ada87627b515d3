"""The adjoints of statements on arrays that are recorded as one entry.

An adjoint adds to slices of the shadows.  If its result is not finite, a careful adjoint runs, in
which a zero cotangent remains zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, NamedTuple

from mooncake_py.compiler.derivatives.cotangents import Contribution, cotangents, is_among
from mooncake_py.compiler.regions.ir import Call, Const, Expr, Finite, Let, Name, Op, parts_of, walk
from mooncake_py.compiler.regions.simplify import ONE, inlined, names_of, negated, product
from mooncake_py.compiler.regions.steps import Names, Steps
from mooncake_py.compiler.statements.array_partials import is_conjugate
from mooncake_py.compiler.statements.array_text import is_share
from mooncake_py.compiler.statements.choices import adjoints_of_choice, is_choice
from mooncake_py.compiler.statements.complexes import conjugated, is_arithmetic
from mooncake_py.compiler.statements.contractions import (
    adjoints_of,
    is_built_in,
    is_contraction,
    is_mean,
    is_sum,
)
from mooncake_py.compiler.statements.finiteness import (
    is_finite,
    numbers_behind,
    to_check,
    without_implied,
)
from mooncake_py.compiler.statements.kinds import FACTORS, FULL
from mooncake_py.compiler.statements.matrix_sums import careful_sum, matrix_sum
from mooncake_py.compiler.statements.plan import Plan
from mooncake_py.compiler.statements.reductions import (
    adjoint_of_reduction,
    is_extremum,
    is_reduction,
    is_spread,
)
from mooncake_py.runtime import pulls, rule_pulls

__all__ = [
    "Adjoint", "Received", "adjoint_of", "along", "carefully_times", "checks", "is_masked_g",
    "paired", "quotient_first", "risks", "tests", "unsigned",
]  # fmt: skip

G, SHAPE = Name("g"), Name("shape")
ONE_OF_NUMPY = Name("one")  # np.float64(1.0)
SUMS = ("summed", "fitted")
SAME_SIZE = frozenset({FULL, *FACTORS.values()})
"""Kinds of operands of which two have, or may have, one size."""
VALUE = attrgetter("value")


class Received(NamedTuple):
    """The cotangents of a statement's active operands.

    Attributes
    ----------
    lets : list of Let
        How it is computed.
    totals : dict of int to Expr
        For each operand a name, or the negative of one; for the target of an augmented assignment
        that is multiplied by a share, the product.
    steps : list of Let
        How it is computed operation by operation.
    """

    lets: list[Let]
    totals: dict[int, Expr]
    steps: list[Let]


class Adjoint:
    """Works out what the operands of a statement receive.

    Parameters
    ----------
    plan : Plan
    careful : bool
        Whether a zero cotangent stays zero next to numbers that are not finite.
    """

    def __init__(self, plan: Plan, careful: bool = False) -> None:
        self.plan = plan
        self.careful = careful
        self.spreads = True  # the cotangent of a sum

    def received(self) -> Received:
        """Return the cotangents of the active operands for the cotangent g of the value."""
        return finished(*self.by_operations(), self.plan.augments)

    def by_operations(self) -> tuple[Steps, dict[int, Expr]]:
        """Return the same operation by operation."""
        plan = self.plan
        seed: Expr = G
        if plan.whole is False and plan.core.reductions and not plan.by_operator:
            seed = Op("fitted", (G, shape_of(plan.core.root)))
        if plan.whole is not None and not plan.is_array(plan.core.root):
            seed = Op("summed", (G,))  # a number that is written to all elements
        if plan.owner in plan.complex_at and not plan.is_complex(plan.core.root):
            seed = Op("real", (seed,))
        steps = Steps(Names("d"), None)
        totals = self.totals(steps, steps.of(seed))
        for k in plan.broadcast:
            if k in totals:
                totals[k] = along(
                    lambda d, k=k: steps.of(Op("fitted", (d, Name(f"shape{k}")))), totals[k]
                )
        return steps, totals

    def slope_first(self) -> tuple[Steps, dict[int, Expr]]:
        """Return the same for one active array: its slope, a sum of products, times g in the end.

        For an array that is used several times it saves a product or more.
        """
        steps = Steps(Names("d"), None)
        self.spreads = False
        ((k, slope),) = self.totals(steps, ONE).items()
        self.spreads = True
        g, slope = (G, slope) if self.plan.whole is not None else with_factors(G, slope, steps)
        total = product(g, slope)
        if self.plan.core.sums:
            total = along(lambda d: Op("spread", (d, SHAPE)), total)
        return steps, {k: along(steps.of, total)}

    def totals(self, steps: Steps, seed: Expr) -> dict[int, Expr]:
        """Return the cotangent of each active operand, not yet fitted to its shape."""
        self.steps = steps
        active = {f"v{k}" for k in self.plan.active}
        core = self.plan.core
        found = cotangents(core.lets, core.root, active, seed, self.contributions, steps)
        return {int(part_name(leaf)[1:]): d for leaf, d in found.items()}

    def contributions(self, let: Let, d: Expr, receiving: set[str]) -> Iterable[Contribution]:
        """Return the cotangents of an operation's operands: of a number next to an array, a sum."""
        e = let.value
        if is_sum(e):
            (a,) = parts_of(e)
            if is_mean(e):
                d = along(lambda d: Op("truediv", (d, Call(math.prod, (SHAPE,)))), d)
            return [(a, along(lambda d: Op("spread", (d, SHAPE)), d) if self.spreads else d)]
        if is_contraction(e):
            is_inner = let.name not in self.plan.arrays and is_built_in(e)
            return self.of_inner(e, d) if is_inner else self.of_product(e, d)
        if is_reduction(e):
            adjoint, (array, axes) = adjoint_of_reduction(e), parts_of(e)
            read = (array, Name(let.name)) if is_extremum(e) else (like(array),)
            return [(array, along(lambda d: Call(adjoint, (d, *read, axes)), d))]
        found = [(a, c) for a, c in self.of_parts(let, d, receiving) if is_among(a, receiving)]
        if let.name in self.plan.arrays:
            found = [
                (a, self.of_shape(let, a, c))
                if self.plan.is_array(a)
                else (a, along(lambda c: Op("summed", (c,)), c))
                for a, c in found
            ]
        return [(a, self.of_dtype(let, a, c)) for a, c in found] if self.plan.is_mixed else found

    def of_dtype(self, let: Let, a: Expr, c: Expr) -> Expr:
        """Return the cotangent of an operand: the real part if it is real next to complex ones."""
        if not self.plan.is_complex(Name(let.name)) or self.plan.is_complex(a):
            return c
        return along(lambda c: Op("real", (c,)), c)

    def of_parts(self, let: Let, d: Expr, receiving: set[str]) -> Iterable[Contribution]:
        """Return the cotangents of an elementwise operation's operands, not fitted to them."""
        if is_conjugate(let.value):
            is_complex = self.plan.is_complex(let.value)
            return [(parts_of(let.value)[0], along(conjugate, d) if is_complex else d)]
        if is_choice(let.value):
            _, a, b = parts_of(let.value)
            return [
                (part, along(lambda d, k=k: adjoints_of_choice(let.value, d)[k], d))
                for k, part in enumerate((a, b))
            ]
        return [
            (a, self.times(d, p))
            for a, p in self.plan.partials(let)
            if p is not None and is_among(a, receiving)
        ]

    def of_shape(self, let: Let, a: Expr, c: Expr) -> Expr:
        """Return the cotangent of an operand, fitted to its shape next to reductions."""
        plan = self.plan
        alone = len(set(filter(plan.is_array, parts_of(let.value)))) < 2
        changed = plan.by_operator and let is plan.core.lets[-1] and (plan.whole or a == Name("v0"))
        if not plan.core.reductions or changed or alone:
            return c
        return along(lambda c: self.sum_of_products(c, a), c)

    def sum_of_products(self, c: Expr, a: Expr) -> Expr:
        """Return a cotangent summed to the shape of an operand, of a spread one by matrices."""
        is_product = isinstance(c, Call) and c.function is pulls.product  # a careful one
        if is_product or (isinstance(c, Op) and c.op == "mul"):
            d, factor = parts_of(c)
            spread = next((let.value for let in self.steps.lets if Name(let.name) == d), None)
            if spread is not None and is_spread(spread) and self.plan.is_array(factor):
                g, *_, axes = parts_of(spread)
                found = careful_sum if is_product else matrix_sum
                return Call(found, (g, factor, shape_of(a), axes))
        return Op("fitted", (c, shape_of(a)))

    def of_product(self, e: Expr, d: Expr) -> Iterable[Contribution]:
        """Return the cotangents of the factors of a product of vectors or matrices."""
        a, b = parts_of(e)
        left, right = adjoints_of(e)
        if self.careful:
            left, right = carefully(left, 0), carefully(right, 1)
        return [
            (a, along(lambda d: Call(left, (d, like(a), b)), d)),
            (b, along(lambda d: Call(right, (d, a, like(b))), d)),
        ]

    def of_inner(self, e: Expr, d: Expr) -> Iterable[Contribution]:
        """Return the cotangents of two vectors whose inner product is a number.

        NumPy multiplies an array by another one in less time than by a number, even of no axes.
        """
        a, b = parts_of(e)

        def times(p: Expr) -> Expr:
            if self.careful:
                return carefully_times(d, p)
            return along(lambda d: product(Op("array", (d,)), p), d)

        return [(a, times(b)), (b, times(a))]

    def times(self, d: Expr, p: Expr) -> Expr:
        """Return a cotangent times the conjugate of a partial derivative."""
        if self.careful:
            return carefully_times(d, p)
        if not self.plan.is_mixed:
            return quotient_first(d, p)
        if not is_arithmetic(p):
            return along(lambda d: Call(pulls.product, (d, p)), d)
        return quotient_first(d, conjugated(p, self.plan.complexes))


def with_factors(g: Expr, slope: Expr, steps: Steps) -> tuple[Expr, Expr]:
    """Return a number and a slope of the same product, without what is done to all of the slope.

    The slope of ``0.5 * np.sum(x * x)`` takes two passes over memory, and its product with g one.
    """
    lets = steps.lets
    while lets and slope == Name(lets[-1].name) and isinstance(lets[-1].value, Op):
        op, (a, *rest) = lets[-1].value.op, lets[-1].value.args
        if op == "add" and a == rest[0]:
            g, slope = product(g, Const(2.0)), a
        elif op == "mul" and isinstance(a, Const):
            g, slope = product(g, a), rest[0]
        elif op == "mul" and isinstance(rest[0], Const):
            g, slope = product(g, rest[0]), a
        else:
            break
        steps.drop_last()
    return g, slope


def adjoint_of(plan: Plan) -> Received:
    """Return the adjoint of a statement, the one of fewer operations where there are two."""
    adjoint = Adjoint(plan)
    found = adjoint.by_operations()
    if is_of_one_array(plan):
        found = min(found, adjoint.slope_first(), key=cost)
    return finished(*found, plan.augments)


def cost(found: tuple[Steps, dict[int, Expr]]) -> int:
    """Return how many passes over memory an adjoint takes; an array that is spread takes none."""
    is_spread = [isinstance(e, Op) and e.op == "spread" for e in map(VALUE, found[0].lets)]
    return len(is_spread) - is_spread[-1] if is_spread else 0


def is_of_one_array(plan: Plan) -> bool:
    """Return True for one active operand, of the shape of the result or of what is summed.

    Not where a derivative may be a mask, which cannot be added to others, nor where a sum is an
    operand next to arrays.
    """
    sums = len(plan.core.sums)
    if sums != (plan.whole is None) or (plan.whole is not None and plan.target is not None):
        return False
    kinds = [plan.kinds[k] for k in plan.active]
    return (
        not plan.broadcast and not plan.core.contractions and not plan.masked and kinds == ["array"]
        and not plan.is_mixed
    )  # fmt: skip


def finished(steps: Steps, totals: dict[int, Expr], augments: bool) -> Received:
    """Return the computed cotangents; operations are joined where a result is read once."""
    lets = list(steps.lets)
    values = {let.name: let.value for let in lets}
    own = totals.get(0)
    if augments and isinstance(own, Name) and own.name in values:
        value = values[own.name]
        others = [e for k, e in totals.items() if k] + [let.value for let in lets]
        if is_masked_g(value) and not any(own in walk(e) for e in others):
            totals = {**totals, 0: value}  # to be computed in place when all else is
    kept = set(names_of(totals.values()))
    if is_masked_g(totals.get(0, G)):  # the rest of the other share is a difference
        kept |= {let.name for let in lets if is_masked_g(let.value) and let.value != totals[0]}
    # Numbers are looked at in the place of arrays: see `tests`.
    kept |= {name for e in values.values() if is_array_of(e) for name in names_of([e])}
    block = inlined(
        (*lets, *(Finite(e) for e in totals.values())), {let.name for let in lets} - kept
    )
    return with_signs_in_constants(Received([s for s in block if isinstance(s, Let)], totals, lets))


def with_signs_in_constants(received: Received) -> Received:
    """Return the same with ``-c`` for the ``c`` of a multiple of which only negatives are added.

    Each negative would be one array more.
    """
    lets, totals, steps = received
    read = set(names_of([let.value for let in lets]))
    read |= {e.name for e in totals.values() if isinstance(e, Name)}
    multiples = {let.name for let in lets if is_multiple(let.value)} - read

    def changed(let: Let) -> Let:
        if let.name not in multiples:
            return let
        a, c = parts_of(let.value)
        return Let(let.name, Op("mul", (a, negated(c))))

    def added(total: Expr) -> Expr:
        negative = unsigned(total)
        return negative if isinstance(negative, Name) and negative.name in multiples else total

    totals = {k: added(e) for k, e in totals.items()}
    return Received([*map(changed, lets)], totals, [*map(changed, steps)])


def is_multiple(e: Expr) -> bool:
    """Return True for a product with a number that is written in the program."""
    return isinstance(e, Op) and e.op == "mul" and isinstance(e.args[1], Const)


def is_array_of(e: Expr) -> bool:
    """Return True for a number that is made an array of no axes."""
    return isinstance(e, Op) and e.op == "array"


def is_masked_g(e: Expr) -> bool:
    """Return True for the product of g and a share, which is finite if g is."""
    return isinstance(e, Op) and e.op == "mul" and e.args[0] == G and is_share(e.args[1])


def checks(received: Received) -> list[str]:
    """Return the names that must be finite, or the careful adjoint runs.

    So must the incoming cotangent be next to a choice: the operand not chosen receives none of it.
    Sums tell of it too, and are looked at in less time.
    """
    steps, totals = received.steps, received.totals.values()
    bounded = {"g", "shape", *(f"shape{k}" for k in received.totals)}
    bounded |= descriptions_in(steps)
    shares = {name for name in names_of([let.value for let in steps]) if name.startswith("w_")}
    factors = to_check(totals, steps, bounded | shares)
    own = is_masked_g(received.totals.get(0, G))  # which is not among the names
    if not shares and not own:
        return factors
    sums = {let.name for let in steps if isinstance(let.value, Op) and let.value.op in SUMS}
    every = to_check(totals, steps, bounded)
    if every and sums.issuperset(set(every).difference(factors)):
        return without_implied([*every, "g"], steps) if own else every
    return without_implied([*factors, "g"], steps)


def tests(received: Received, plan: Plan) -> list[str]:
    """Return tests, one of which fails if a zero cotangent may have met inf or nan."""
    nonzero, finite = risks(received, plan)
    return [*nonzero, *map(test_of, paired(finite, received, plan))]


def test_of(names: tuple[str, ...]) -> str:
    """Return the test whether one or two arrays are finite."""
    return f"{'both_' * (len(names) == 2)}finite({', '.join(names)})"


def risks(received: Received, plan: Plan) -> tuple[list[str], list[str]]:
    """Return the numbers that must not be zero, and what must be finite.

    Two kinds of cotangents need not be looked at: multiples of numbers, which are spoilt by a zero
    only, and outer products of g, of which the other vector is looked at.
    """
    named = {let.name for let in received.lets} | {"g"}
    values = {let.name: let.value for let in received.steps}
    nonzero, finite = set[str](), list[str]()
    for name in checks(received):
        behind = numbers_behind(name, values, plan.arrays) if plan.whole is None else None
        if behind is not None and behind <= named:
            nonzero |= behind
        else:
            finite.append(plan.factor_of_outer(values.get(name)) or name)
    # Where g is zero, nothing is done.
    return sorted(nonzero - {"g"}), list(dict.fromkeys(finite))


def paired(names: list[str], received: Received, plan: Plan) -> list[tuple[str, ...]]:
    """Return the names one by one, or by two that may have one size, to be tested at once."""
    found_for = {k: unsigned(e) for k, e in received.totals.items()}
    kinds = {e.name: plan.kinds[k] for k, e in found_for.items() if isinstance(e, Name)}
    found: list[tuple[str, ...]] = []
    while names:
        first, *names = names
        alike = [n for n in names if n in kinds and kinds[n] == kinds.get(first) in SAME_SIZE]
        if alike:
            names.remove(alike[0])
        found.append((first, alike[0]) if alike else (first,))
    return found


def unsigned(e: Expr) -> Expr:
    """Return the operand of a negation, or the expression itself."""
    return e.args[0] if isinstance(e, Op) and e.op == "neg" else e


def quotient_first(d: Expr, p: Expr) -> Expr:
    """Return ``d * p``, or ``(d / b) * a`` for a quotient: both operands receive ``d / b``."""
    if isinstance(p, Op) and p.op == "truediv" and not isinstance(p.args[0], Const):
        a, b = p.args
        return along(lambda q: product(q, a), along(lambda d: Op("truediv", (d, b)), d))
    return product(d, p)


def carefully_times(d: Expr, p: Expr, exact: Callable[..., Any] = pulls.product) -> Expr:
    """Return ``d * p`` that is zero where d is, whatever p is; a tangent also where p is.

    Parameters
    ----------
    d : Expr
        A cotangent, or a tangent.
    p : Expr
    exact : callable
        The product of such that does so; that of cotangents conjugates p.
    """
    if (
        isinstance(p, Const)
        and (is_finite(p) and type(p.value) is not complex)
        and (p.value or exact is pulls.product)
    ):
        return product(d, p)
    if isinstance(p, Op) and p.op == "truediv" and isinstance(p.args[0], Const):
        p = Op("truediv", (product(ONE_OF_NUMPY, p.args[0]), p.args[1]))  # never raises
    return along(lambda d: Call(exact, (d, p)), d)


def along(linear: Callable[[Expr], Expr], d: Expr) -> Expr:
    """Return a linear function of a cotangent, whose sign goes before it: none is computed."""
    return negated(linear(d.args[0])) if isinstance(d, Op) and d.op == "neg" else linear(d)


def conjugate(d: Expr) -> Expr:
    """Return the conjugate of a complex cotangent."""
    return Op("conj", (d,))


def shape_of(a: Expr) -> Name:
    """Return the shape of an operand or a result, which is kept."""
    return Name(f"shape_{part_name(a)}")


def descriptions_in(lets: Iterable[Let]) -> set[str]:
    """Return the names of what tells the shape of something."""
    names = {e.name for let in lets for e in walk(let.value) if isinstance(e, Name)}
    return {name for name in names if name.startswith(("shape_", "like_"))}


def like(a: Expr) -> Name:
    """Return the name that tells the shape of an operand."""
    assert isinstance(a, Name)
    return Name(f"like_{a.name}")


def carefully(adjoint: Any, position: int) -> Callable[..., Any]:
    """Return the adjoint of a product with respect to a factor, with exact zeros."""

    def careful(d: Any, a: Any, b: Any) -> Any:
        return rule_pulls.careful_cotangent(adjoint, position, d, (a, b), {})

    return careful


def part_name(leaf: Expr) -> str:
    assert isinstance(leaf, Name)
    return leaf.name
