"""Kinds of expressions, each part of which is asked once."""

from __future__ import annotations

import pytest

from mooncake_py.compiler.native.llvm.printer import Printer
from mooncake_py.compiler.native.regions import kinds
from mooncake_py.compiler.native.regions.kinds import kind_of
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT
from mooncake_py.compiler.regions.ir import Assign, Const, Expr, Name, Op

pytestmark = pytest.mark.plain

KINDS = {"x": FLOAT, "h": FLOAT32, "k": INT, "t": BOOL}


@pytest.mark.parametrize(
    ("names", "expected"),
    [("xh", FLOAT), ("hk", FLOAT32), ("kt", INT), ("tt", INT), ("xk", FLOAT), ("hh", FLOAT32)],
)
def test_a_sum_has_the_wider_kind(names, expected):
    a, b = map(Name, names)
    assert kind_of(Op("add", (a, b)), KINDS) == kind_of(Op("add", (b, a)), KINDS) == expected


def test_a_number_that_is_written_down_has_no_width():
    assert kind_of(Op("mul", (Name("h"), Const(0.5))), KINDS) == FLOAT32
    assert kind_of(Op("mul", (Name("k"), Const(0.5))), KINDS) == FLOAT


def long_sum(count: int) -> Expr:
    e: Expr = Name("x")
    for k in range(count):
        e = Op("add", (e, Op("mul", (Name("x"), Const(float(k))))))
    return e


def test_printing_asks_for_each_part_once(monkeypatch):
    asked = []
    original = kinds.kind_from_parts

    def counted(*args):
        asked.append(args[0])
        return original(*args)

    monkeypatch.setattr(kinds, "kind_from_parts", counted)
    counts = []
    for terms in (20, 40):
        asked.clear()
        Printer(KINDS, {}).forward((Assign(Name("y"), long_sum(terms)),), ["x"], ["y"])
        counts.append(len(asked))
    assert counts[1] < 2.2 * counts[0]
