"""Whether compiled code computes what it should here: tried before anything else is compiled."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from mooncake_py.compiler.native.llvm.printer import Printer
from mooncake_py.compiler.native.regions.refused import NoCompiler
from mooncake_py.compiler.native.regions.region import FLOAT, INT
from mooncake_py.compiler.regions.ir import (
    Alloc,
    Assign,
    Call,
    Const,
    Count,
    ForAll,
    Length,
    Load,
    Name,
    Op,
)

__all__ = ["require_right", "text_of_trial"]

COUNTER, N = Name("i"), Length("x", 0)
ELEMENT = Load("x", (COUNTER,))
BODY = (
    Alloc("y", (N,), FLOAT, False),
    ForAll(
        ("i",),
        (N,),
        (
            Assign(Load("y", (COUNTER,)), Op("mul", (Name("a"), Call(np.tanh, (ELEMENT,))))),
            Assign(Name("s"), Op("add", (Name("s"), Op("mul", (ELEMENT, ELEMENT))))),
        ),
    ),
    Count("k", Op("add", (N, Const(1)))),
)


@cache
def text_of_trial() -> Printer:
    """Return a printed function of an array and a number."""
    printer = Printer({"k": INT, "i": INT}, {"x": 1, "y": 1}, by_blas=False)
    printer.forward(BODY, ("x", "a"), ("y", "s", "k"))
    return printer


def require_right(forward: Any) -> None:
    """Require that this function, compiled, gives what it should.

    Raises
    ------
    NoCompiler
    """
    x = np.linspace(-1.0, 2.0, 11)
    ok, _, top, y, s, k = forward(np.empty(0), x, 0.5)
    is_right = (
        ok
        and (top, k) == (0, 12)
        and np.allclose(y, 0.5 * np.tanh(x), rtol=1e-14)
        and abs(s - x @ x) < 1e-13
    )
    if not is_right:
        raise NoCompiler("compiled code computes something else here than it should")
