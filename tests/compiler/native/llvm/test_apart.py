"""Elements of one array that are apart wherever the counters are."""

from __future__ import annotations

import random
from itertools import product

import pytest

from mooncake_py.compiler.native.llvm.apart import are_apart, rejoined, told_apart
from mooncake_py.compiler.native.regions.linear import Linear, linear
from mooncake_py.compiler.regions.ir import Assign, Bump, Const, Expr, ForAll, Let, Load, Name, Op

pytestmark = pytest.mark.plain

COUNTERS = "i", "j"
FIXED = {Name("k"): 3, Name("n"): 1}
"""Names that are not bound in the loops, with values."""
SIZE = 4


def index(rng: random.Random) -> Expr:
    """Return a random sum of counters, names and a number."""
    parts: dict[Expr, int] = {Name(c): rng.choice([-1, 0, 0, 1, 2]) for c in COUNTERS}
    parts |= {name: rng.choice([0, 0, 1]) for name in FIXED}
    return Linear(rng.randrange(-3, 4), {p: n for p, n in parts.items() if n}).expression()


def reached(load: Load) -> set[tuple[int, ...]]:
    """Return the elements that all passes reach."""
    found: set[tuple[int, ...]] = set()
    for counters in product(range(SIZE), repeat=len(COUNTERS)):
        values: dict[Expr, int] = {**FIXED, **dict(zip(map(Name, COUNTERS), counters, strict=True))}
        sums = map(linear, load.index)
        found.add(tuple(e.constant + sum(n * values[p] for p, n in e.parts.items()) for e in sums))
    return found


def test_no_pass_reaches_what_is_apart() -> None:
    rng = random.Random(0)
    apart = 0
    for _ in range(2000):
        a, b = (Load("x", (index(rng), index(rng))) for _ in range(2))
        if are_apart(a, b, COUNTERS, set()):
            apart += 1
            assert reached(a).isdisjoint(reached(b)), (a, b)
    assert apart > 100


ROW, BLOCK, COLUMN = (
    Load("d", (Name("k"), Op("add", (Name("j"), Const(4))))),
    Load("d", (Op("add", (Op("add", (Name("k"), Const(1))), Name("i"))), Name("n"))),
    Load("d", (Op("sub", (Name("k"), Const(1))), Name("i"))),
)


def test_names() -> None:
    body = [Let("v", BLOCK), Bump(ROW, Name("v")), Assign(COLUMN, Const(0.0)), Bump(BLOCK, ROW)]
    found, arrays = told_apart(body, COUNTERS, {"d"})
    assert arrays == {"d|1": "d", "d|2": "d"}
    names = [
        [e.array for e in (s.value, getattr(s, "target", None)) if isinstance(e, Load)]
        for s in found
    ]
    (block,), (row,), (column,), (again, target) = names
    assert len({block, row, column}) == 3
    assert (again, target) == (row, block)
    loop = ForAll(("i",), (Const(2),), tuple(found))
    assert rejoined((loop,), arrays) == (ForAll(("i",), (Const(2),), tuple(body)),)


@pytest.mark.parametrize(
    ("body", "floats"),
    [
        ([Bump(ROW, Const(1.0)), Bump(BLOCK, Const(1.0))], set()),  # of another kind
        ([Let("k", Const(1)), Bump(ROW, Const(1.0)), Bump(BLOCK, Const(1.0))], {"d"}),
        ([Let("v", ROW), Let("w", BLOCK)], {"d"}),  # nothing is written
        ([Bump(ROW, Load("d", (Load("m", (Name("i"),)), Name("j"))))], {"d"}),
    ],
)
def test_what_keeps_its_name(body: list[Assign | Bump | Let], floats: set[str]) -> None:
    assert told_apart(body, COUNTERS, floats) == (body, {})
