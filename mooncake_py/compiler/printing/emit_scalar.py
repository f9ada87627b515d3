"""Print expressions of the IR, and the names that they are bound to, as Python on floats.

Let("v1", Op("mul", (Name("v0"), Const(2.0))))      v1 = v0 * 2.0
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.compiler.regions.flat import ROUNDING, TO_INTS
from mooncake_py.compiler.regions.ir import (
    Call,
    Check,
    Compare,
    Const,
    Expr,
    Let,
    Name,
    Op,
    Select,
    Statement,
)
from mooncake_py.runtime.active import is_itself

__all__ = ["Emitter"]

INFIX = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "and": "and", "or": "or", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
    "is": "is", "is_not": "is not",
}  # fmt: skip
LEVELS = {"add": 1, "sub": 1, "mul": 2, "truediv": 2, "floordiv": 2, "mod": 2, "pow": 3}
"""How closely operators bind; parsing takes longer the more parentheses there are."""
PREFIX = {"neg": "-", "pos": "+", "not": "not "}
INDENT = "    "


def rounded(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that raises where floats are ints already: nothing is rounded there.

    Operation by operation such a number is refused if it is active.
    """

    def run(x: Any, *digits: Any) -> Any:
        y = f(x, *digits)
        if is_itself(x, y):
            raise ArithmeticError
        return y

    run.__name__ = f"rounded_{f.__name__}"
    return run


TO_INT = rounded(int)
ROUNDED: dict[Any, Any] = {f: rounded(f) for f in (*TO_INTS, *ROUNDING)}


class Emitter:
    """Prints functions that belong together.

    Attributes
    ----------
    scope : dict
        The functions that the text calls, by the names that they have in it.
    """

    def __init__(self) -> None:
        self.scope: dict[str, Any] = {"inf": math.inf, "nan": math.nan}
        self._names: dict[Any, str] = {}

    def lines(self, s: Statement) -> list[str]:
        """Return the lines of a statement."""
        match s:
            case Let(name=name, value=value):
                return [f"{name} = {self.text(value)}"]
            case Check(test=test):
                return [f"if not ({self.text(test)}):", f"{INDENT}raise ArithmeticError"]
        raise TypeError(s)

    # Expressions.

    def text(self, e: Expr) -> str:
        """Return the text of an expression."""
        match e:
            case Name(name=name):
                return name
            case Op(op=op, args=args):
                return self.operation(op, args)
            case Const(value=value):
                return repr(value)
            case Call(function=f, args=args):
                f = ROUNDED.get(f, f)
                return f"{self.name_of(f)}({', '.join(map(self.text, args))})"
            case Select(test=test, a=a, b=b):
                return f"{self.operand(a)} if {self.operand(test)} else {self.operand(b)}"
            case Compare(ops=ops, args=(first, *others)):
                pairs = zip(ops, others, strict=True)
                rest = [f"{INFIX[op]} {self.operand(other)}" for op, other in pairs]
                return " ".join([self.operand(first), *rest])
        raise TypeError(e)

    def operation(self, op: str, args: tuple[Expr, ...]) -> str:
        """Return the text of an operator or a builtin."""
        if op in PREFIX:
            return f"{PREFIX[op]}{self.operand(args[0])}"
        if op in LEVELS and op != "pow":
            level = LEVELS[op]
            a, b = args
            return f"{self.within(a, level)} {INFIX[op]} {self.within(b, level + 1)}"
        if op in INFIX:
            return f" {INFIX[op]} ".join(map(self.operand, args))
        if op == "int":
            op = self.name_of(TO_INT)
        return f"{op}({', '.join(map(self.text, args))})"

    def within(self, e: Expr, level: int) -> str:
        """Return the text of an operand of an operator that binds as closely as `level`."""
        if isinstance(e, Op) and LEVELS.get(e.op, 0) >= level:
            return self.text(e)
        return self.operand(e)

    def operand(self, e: Expr) -> str:
        """Return the text of an expression within another one."""
        text = self.text(e)
        if isinstance(e, Op):
            within = e.op in INFIX or e.op in PREFIX
        else:
            within = isinstance(e, Select | Compare)
        if within:
            return f"({text})"
        return f"({text})" if text[0] == "-" else text

    def name_of(self, f: Any) -> str:
        """Return the name of a function in the text."""
        if f not in self._names:
            own = getattr(f, "__name__", "")
            name = f"{'np' if type(f) is np.ufunc else 'f'}_{own if own.isidentifier() else 'rule'}"
            if self.scope.get(name, f) is not f:
                name = f"{name}_{len(self.scope)}"
            self._names[f] = name
            self.scope[name] = f
        return self._names[f]
