"""Functions within functions, which are read where they are called.

def g(t): return a * t          g(x) is read where it is called, a in the scope around it
"""

from __future__ import annotations

import ast
from types import CellType, CodeType, FunctionType

from mooncake_py.compiler.native.building.findings import TooMuch
from mooncake_py.compiler.native.building.values import (
    Function,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading.generators import GeneratorReader
from mooncake_py.compiler.native.reading.prepared import prepared
from mooncake_py.compiler.native.reading.scope import Scope
from mooncake_py.compiler.native.reading.stops import require_hope
from mooncake_py.overriding import override
from mooncake_py.syntax.nodes import place_of

__all__ = ["NestedReader"]

Made = ast.FunctionDef | ast.Lambda


DEEP = 24  # calls within calls
MOST = 400  # calls of functions within themselves: each is read


class NestedReader(GeneratorReader):
    """Reads functions within functions.

    Attributes
    ----------
    recursive : int
        How many calls of functions within themselves were read.
    """

    recursive: int

    def require_shallow(self, code: CodeType) -> None:
        """Raise for calls that are nested too deeply; what ends recursion must be known."""
        if any(scope.function.__code__ is code for scope in self.scopes):
            self.recursive += 1
            if len(self.scopes) > DEEP or self.recursive > MOST:
                raise TooMuch(
                    f"a function that calls itself more than {DEEP} deep or {MOST} times, or as "
                    "long as a test on numbers holds: use a loop",
                    self.b.place,
                )
        elif len(self.scopes) > DEEP:
            raise TooMuch("calls nested too deeply", self.b.place)

    @override
    def made_function(self, node: Made) -> Value:
        a = node.args
        decorators = [self.value(d) for d in getattr(node, "decorator_list", ())]
        parts = list(ast.walk(node))
        if any(isinstance(n, ast.Global) for n in parts):
            raise Unfit("a nested function with `global`", place_of(node))
        if any(isinstance(n, ast.Nonlocal) for n in parts) and any(
            isinstance(n, ast.For | ast.Delete | ast.NamedExpr) for n in parts
        ):
            raise Unfit("a nested function with `nonlocal` and a loop or `del`", place_of(node))
        code = code_of(node, self.scope.function.__code__)
        self.scope.makes_functions = True
        cells = tuple([CellType() for _ in code.co_freevars])
        f = FunctionType(code, self.scope.function.__globals__, closure=cells)
        positional = [p.arg for p in (*a.posonlyargs, *a.args)]
        given = dict(zip(positional[::-1], a.defaults[::-1], strict=False))
        given |= {p.arg: d for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d}
        defaults = {name: self.kept_apart(self.value(d)) for name, d in given.items()}
        made: Value = Function(node, f, self.scope, defaults)
        for decorator in reversed(decorators):
            made = self.applied(decorator, [made], {}, self.call_here())
        return made

    def scope_of(self, made: Function) -> Scope:
        """Return a scope for the body of a function that is made within another one."""
        self.require_shallow(made.function.__code__)
        require_hope(made.function.__code__)
        outer: Scope = made.scope
        f = made.function
        body = prepared(f.__code__, lambda: made.node)
        assert body is not None
        return Scope(outer.callee, f, body, self.scope_name(f.__code__), self.slots, outer)  # type: ignore[arg-type]


def code_of(node: Made, outer: CodeType) -> CodeType:
    """Return the code of a function that is made within another one."""
    name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
    a = node.args
    starred = [p for p in (a.vararg, a.kwarg) if p]
    parameters = tuple([p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs, *starred)])
    line = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    found = [
        c
        for c in outer.co_consts
        if isinstance(c, CodeType)
        and c.co_name == name
        and c.co_firstlineno == line
        and c.co_varnames[: len(parameters)] == parameters
    ]
    if len(found) != 1:
        raise Unfit("functions that cannot be told apart", place_of(node))
    return found[0]
