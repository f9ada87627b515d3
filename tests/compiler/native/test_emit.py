"""Printed functions mean what the IR means."""

from __future__ import annotations

import numpy as np

from mooncake_py.compiler.ir import (
    FLOATS,
    INTS,
    Alloc,
    Assign,
    Bump,
    Call,
    Check,
    Compare,
    Const,
    Count,
    Expr,
    For,
    ForAll,
    If,
    Length,
    Load,
    Name,
    Op,
    Pop,
    Push,
)
from mooncake_py.compiler.native.build import interpreted
from mooncake_py.compiler.native.emit import Printer

ROW, COLUMN, K = Name("i"), Name("j"), Name("k")
N0, N1 = Length("x", 0), Length("x", 1)
ROWS = ("i", "j"), (N0, N1)
KINDS = {"k": "int", "m": "int", "i": "int", "j": "int"}


def op(name: str, *args: Expr) -> Op:
    return Op(name, args)


def at(array: str, *index: Expr) -> Load:
    return Load(array, index)


FORWARD = (
    Alloc("y", (N0, N1), "float", False),
    ForAll(*ROWS, (Assign(at("y", ROW, COLUMN), op("mul", at("x", ROW, COLUMN), Name("a"))),)),
    ForAll(*ROWS, (Push(FLOATS, at("y", ROW, COLUMN)),)),
    Count("k", Const(0)),
    For(
        "m",
        op("range", Const(1), N0, Const(1)),
        (
            Check(Compare(("lt",), (Name("m"), Const(5)))),
            If(
                Compare(("gt",), (at("x", Name("m"), Const(0)), Const(0.5))),
                (Push(INTS, Const(True)), Count("k", op("add", K, Const(1)))),
                (Push(INTS, Const(False)),),
            ),
        ),
    ),
    ForAll(
        ("i",), (N0,), (Assign(Name("s"), op("add", Name("s"), Call(np.exp, (at("y", ROW, K),)))),)
    ),
)
REVERSE = (
    For(
        "m",
        op("range", op("sub", N0, Const(1)), Const(0), Const(-1)),
        (If(Pop(INTS), (Bump(Name("d_a"), Const(1.0)),), ()),),
    ),
    ForAll(*ROWS, (Assign(at("y", ROW, COLUMN), Pop(FLOATS)),)),
    ForAll(*ROWS, (Bump(at("d_x", ROW, COLUMN), op("mul", at("d_y", ROW, COLUMN), Name("a"))),)),
)


def test_sweeps() -> None:
    printer = Printer(KINDS, {"x": 2, "y": 2, "d_x": 2, "d_y": 2})
    printer.forward(FORWARD, ("x", "a"), ("s", "k", "y"))
    printer.reverse(REVERSE, ("x", "y", "a", "d_x", "d_y"), ("d_a",))
    made = interpreted(printer)
    x = np.random.default_rng(0).random((5, 6))
    ok, S, p, s, k, y = made["forward"](np.empty(0), x, 2.0)
    assert ok
    assert p == 34
    assert k == (x[1:, 0] > 0.5).sum()
    assert s == sum(np.exp(y[:, k]))
    assert np.array_equal(y, 2 * x)
    d_x, d_y = np.ones((5, 6)), np.full((5, 6), 3.0)
    y[...] = 0.0
    assert made["reverse"](S, p, x, y, 2.0, d_x, d_y) == (float(k),)
    assert np.array_equal(y, 2 * x)
    assert np.array_equal(d_x, np.full((5, 6), 7.0))
    ok, *_ = made["forward"](S, np.ones((7, 6)), 2.0)
    assert not ok
