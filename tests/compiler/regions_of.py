"""What is read of the first loop of a function that is given as text, and its forms."""

from __future__ import annotations

import ast
import math
from types import FunctionType
from typing import Any

import numpy as np

from mooncake_py.compiler.forms.form import Form, Pattern, specialise
from mooncake_py.compiler.forms.infer import FLOAT
from mooncake_py.compiler.read import Reading, read_loop
from mooncake_py.compiler.regions.region import Region
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.static_integers import StaticInts, bindings

__all__ = ["form_of", "pattern_of", "read", "read_body", "reading_of", "region_of"]


def reading_of(text: str, **given: Any) -> Reading | None:
    """Return the reading of the first loop in a definition, None if it is refused.

    Functions that are given become functions of its module.
    """
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    found = bindings(function)
    scope: dict[str, Any] = {"np": np, "math": math}
    for name, value in given.items():
        is_function = isinstance(value, FunctionType)
        scope[name] = (
            FunctionType(value.__code__, scope, name, value.__defaults__) if is_function else value
        )
    names = Names(scope, found.bound())
    statics = StaticInts.of(found, names)
    loop = next(node for node in ast.walk(function) if isinstance(node, ast.For | ast.While))
    return read_loop(names, statics, found, function, loop)


def read(text: str, **given: Any) -> Region | None:
    """Return the region of the first loop in a definition, None if it is refused."""
    reading = reading_of(text, **given)
    return None if reading is None else reading.region


def read_body(
    body: str, before: str = "pass", head: str = "for i in range(n):", **given: Any
) -> Region | None:
    """Return the region of a loop with a body, or None; names that are given are globals."""
    lines = [*before.splitlines(), head, *(f"    {line}" for line in body.splitlines())]
    text = "".join(f"    {line}\n" for line in lines)
    return read(f"def f(x, y, m, a, b, n, o):\n{text}", **given)


def region_of(
    body: str, before: str = "pass", head: str = "for i in range(n):", **given: Any
) -> Region:
    """Return the region of a loop with a body, which is not refused."""
    region = read_body(body, before, head, **given)
    assert region is not None
    return region


def pattern_of(
    region: Region, active: set[str], functions: tuple[Any, ...] = (), **kinds: str
) -> Pattern:
    """Return a pattern for a region; inputs that are numbers are floats unless said.

    Names may be those of the user or those in IR.
    """
    given = {f"u_{name}": kind for name, kind in kinds.items()}
    numbers = [name for name in region.inputs if name not in region.arrays]
    arrays = [name for name in region.inputs if name in region.arrays]
    on = active | {f"u_{name}" for name in active}
    return Pattern(
        functions,
        tuple((given.get(name, FLOAT), name in on) for name in numbers),
        tuple(name in on for name in arrays),
        tuple(range(len(arrays))),
    )


def form_of(
    region: Region | None, active: set[str], functions: tuple[Any, ...] = (), **kinds: str
) -> Form:
    """Return the sweeps of a region, no arrays of which share memory."""
    assert region is not None
    form = specialise(region, pattern_of(region, active, functions, **kinds))
    assert form is not None
    return form
