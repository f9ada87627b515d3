"""Print IR as Python on floats and memory views, whose elements are Python's floats.

Finite(Name("v1"))                  z += v1 * 0.0
Push(FLOATS, Name("v0"))            push(v0)
Bump(Load("d_x", ...), e)           d_x[u_i - 1] += e
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mooncake_py.compiler.regions.flat import ROUNDING, TO_INTS
from mooncake_py.compiler.regions.ir import (
    FLOATS,
    Assign,
    Block,
    Break,
    Bump,
    Call,
    Check,
    Compare,
    Const,
    Count,
    Expr,
    Finite,
    For,
    If,
    Length,
    Let,
    Load,
    Name,
    Op,
    Pop,
    Push,
    Select,
    Statement,
    While,
)
from mooncake_py.runtime.active import WHOLE_FROM, is_itself, whole_from

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


def quotient(a: Any, b: Any) -> Any:
    """Return ``a // b``, which is rounded likewise if it is a float."""
    y = a // b
    if -WHOLE_FROM < y < WHOLE_FROM or isinstance(y, INTS) or abs(y) < whole_from(y):
        return y
    raise ArithmeticError


INTS = (int, np.integer)
TO_INT = {"int": rounded(int), "round": rounded(round), "quotient": quotient}
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

    def function(
        self, name: str, parameters: Iterable[str], body: Block, results: Iterable[str]
    ) -> str:
        """Return the text of a function."""
        lines = [f"def {name}({', '.join(parameters)}):", *self.block(body)]
        lines.append(f"{INDENT}return ({''.join(f'{result}, ' for result in results)})")
        return "\n".join(lines) + "\n"

    def block(self, block: Block) -> list[str]:
        """Return the lines of a block, indented."""
        lines = [line for s in block for line in self.lines(s)]
        return [INDENT + line for line in lines or ["pass"]]

    def lines(self, s: Statement) -> list[str]:
        """Return the lines of a statement."""
        match s:
            case Let(name=name, value=value) | Count(name=name, value=value):
                return [f"{name} = {self.text(value)}"]
            case Assign(target=target, value=value):
                return [f"{self.text(target)} = {self.text(value)}"]
            case Bump(target=target, value=Op(op="neg", args=(value,))):
                return [f"{self.text(target)} -= {self.text(value)}"]
            case Bump(target=target, value=value):
                return [f"{self.text(target)} += {self.text(value)}"]
            case Finite(value=value):
                return [f"z += {self.operand(value)} * 0.0"]
            case Check(test=test):
                return [f"if not ({self.text(test)}):", f"{INDENT}raise ArithmeticError"]
            case Push(stack=stack, value=value):
                push = "push" if stack == FLOATS else "push_int"
                return [f"{push}({self.text(value)})"]
            case For(name=name, range=steps, body=body):
                return [f"for {name} in {self.text(steps)}:", *self.block(body)]
            case While(test=test, body=body):
                return [f"while {self.text(test)}:", *self.block(body)]
            case If(test=test, body=body, orelse=orelse):
                other = ["else:", *self.block(orelse)] if orelse else []
                return [f"if {self.text(test)}:", *self.block(body), *other]
            case Break():
                return ["break"]
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
            case Load(array=array, index=index):
                return f"{array}[{', '.join(map(self.text, index))}]"
            case Length():
                return e.name
            case Pop(stack=stack):
                return "pop()" if stack == FLOATS else "pop_int()"
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
        if op == "item":  # numbers in regions are Python's
            return self.operand(args[0])
        if op == "imag":
            return f"({self.text(args[0])}).imag"
        if op == "front":
            return f"{self.operand(args[0])}[:{self.text(args[1])}]"
        if op in TO_INT:
            op = self.name_of(TO_INT[op])
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
