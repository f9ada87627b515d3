"""Variables that functions capture or find, of those that a region is given by a parameter's name.

    def rate(k):                        def solve(f, y):
        def f(y):                           for _ in range(9):      the region is passed `y`, and
            return -k * y                       y = y + 0.1 * f(y)  ``C.captured_by(f, 0)`` as `k`
        return f                            return y

Such a function is often created at each call, with other variables and the same body.
"""

from __future__ import annotations

import ast

from mooncake_py.compiler.reading.callees import Callee
from mooncake_py.jitted import python_function
from mooncake_py.runtime.attribute_lookup import in_cell
from mooncake_py.syntax.nodes import CELL, GLOBAL, located, place_of

__all__ = ["cell_of"]


def cell_of(
    function: ast.expr, callee: Callee, name: str, types: tuple[type, ...]
) -> ast.expr | None:
    """Return code that reads a captured variable, or a global one of such types; else None.

    It is written as an attribute of the function.
    """
    f = callee.function()
    if f is None or callee.is_jitted:
        return None
    if name in callee.free:
        position = callee.free.index(name)
        if python_function(in_cell(f, position)) is not None:
            return None  # whose body may be part of the region
        attribute = f"{CELL}{position}"
    elif type(f.__globals__.get(name)) in types:
        attribute = f"{GLOBAL}{name}"
    else:
        return None
    return located(ast.Attribute(function, attribute, ast.Load()), place_of(function))
