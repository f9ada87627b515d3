"""What is read of the first loop of a function that is given as text."""

from __future__ import annotations

import ast
import math
from typing import Any

import numpy as np

from mooncake_py.forms.loops.analysis import active_parts
from mooncake_py.forms.loops.code import LoopForm, write
from mooncake_py.forms.loops.program import Program
from mooncake_py.forms.loops.read import LoopReader
from mooncake_py.forms.number_functions import slopes_of
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.static_integers import StaticInts, bindings

__all__ = ["form_of", "read", "read_body"]


def read(text: str, **given: Any) -> Program | None:
    """Return the program of the first loop in a definition, None if it is refused."""
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    found = bindings(function)
    names = Names({"np": np, "math": math, **given}, found.bound())
    statics = StaticInts.of(found, names)
    loop = next(node for node in ast.walk(function) if isinstance(node, ast.For | ast.While))
    return LoopReader(names, statics, found.steady(), function, loop).read()


def read_body(body: str, before: str = "pass", head: str = "for i in range(n):") -> Program | None:
    """Return the program of a loop with a body, or None."""
    lines = [*before.splitlines(), head, *(f"    {line}" for line in body.splitlines())]
    return read("def f(x, y, m, a, b, n, o):\n" + "".join(f"    {line}\n" for line in lines))


def form_of(
    program: Program | None, active: set[str], functions: tuple[Any, ...] = (), **kinds: str
) -> LoopForm:
    """Return the sweeps of a program; inputs that are numbers are floats unless said."""
    assert program is not None
    types = {name: "float" for name in program.inputs if name not in program.bases}
    types |= {f"u_{name}": kind for name, kind in kinds.items()}
    inputs = {f"u_{name}" for name in active}
    groups = {base: base for base in program.bases}
    slopes = [slopes_of(f, 1) for f in functions]
    form = write(
        program, functions, slopes, types, inputs, active_parts(program, inputs, groups)
    )
    assert form is not None
    return form
