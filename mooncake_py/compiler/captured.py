"""Variables that functions capture, of functions that a region is given by a parameter's name.

    def rate(k):                        def solve(f, y):
        def f(y):                           for _ in range(9):      the region is passed `y`, and
            return -k * y                       y = y + 0.1 * f(y)  ``C.captured(f, 0)`` as `k`
        return f                            return y

Such a function is often made anew for each call, with other variables and the same body.
"""

from __future__ import annotations

import ast

from mooncake_py.compiler.callees import Callee
from mooncake_py.jitted import python_function
from mooncake_py.runtime.attribute_lookup import in_cell
from mooncake_py.syntax.nodes import CELL, located, place_of

__all__ = ["cell_of"]


def cell_of(function: ast.Name, callee: Callee, name: str) -> ast.expr | None:
    """Return what reads a captured variable, None if it is none, or bound to a function.

    It is written as an attribute of the function.
    """
    f = callee.function()
    if f is None or callee.is_jitted or name not in callee.code.co_freevars:
        return None
    position = callee.code.co_freevars.index(name)
    if python_function(in_cell(f, position)) is not None:
        return None  # whose body may be part of the region
    return located(ast.Attribute(function, f"{CELL}{position}", ast.Load()), place_of(function))
