"""Expressions of numbers as Python."""

from __future__ import annotations

import keyword
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.compiler.native.numpy_text.helpers import divided, power
from mooncake_py.compiler.native.regions import helpers
from mooncake_py.compiler.native.regions.refused import CannotCompile
from mooncake_py.compiler.regions.ir import (
    Call,
    Compare,
    Const,
    Expr,
    Length,
    Load,
    Name,
    Op,
    Pop,
    Select,
)

__all__ = ["INFIX", "Scalars", "Texts", "from_end", "is_guard"]

INFIX = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
ZERO = Const(0.0)
OF_NUMPY: dict[Any, Any] = {
    getattr(math, name): getattr(np, ours)
    for name, ours in {
        "sin": "sin", "cos": "cos", "tan": "tan", "exp": "exp", "log": "log", "sqrt": "sqrt",
        "log1p": "log1p", "expm1": "expm1", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
        "atan2": "arctan2", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "hypot": "hypot",
        "copysign": "copysign", "isnan": "isnan", "isfinite": "isfinite", "isinf": "isinf",
        "fabs": "fabs", "log2": "log2", "log10": "log10",
    }.items()
} | {
    helpers.maximum: np.maximum, helpers.minimum: np.minimum, helpers.hypot: np.hypot,
    helpers.tanh: np.tanh, helpers.heaviside: np.heaviside,
}  # fmt: skip
"""For functions of numbers those of arrays, which raise nothing."""
OURS = frozenset({"S", "push", "save", "pop", "found", "part", "total"})
BUILTINS = frozenset({"abs", "float", "int", "min", "max"})


class Texts:
    """Names in the text, and what they stand for in its globals."""

    def __init__(self) -> None:
        self.scope: dict[str, Any] = {"np": np, "inf": math.inf, "nan": math.nan}
        self._names: dict[Any, str] = {}
        self._taken = {*self.scope, *dir(__builtins__), *OURS}
        self._taken |= {*BUILTINS, "range", "sum"}

    def name(self, thing: Any, wish: str) -> str:
        """Return a name of Python for something, the same whenever it is asked for."""
        found = self._names.get(thing)
        if found is None:
            found = "".join(c if c.isalnum() else "_" for c in wish.lstrip("."))
            while found in self._taken or keyword.iskeyword(found):
                found += "_"
            self._taken.add(found)
            self._names[thing] = found
        return found

    def function(self, f: Any) -> str:
        """Return the name of an object that the text reads."""
        name = self.name(("object", id(f)), f"f_{getattr(f, '__name__', 'object')}")
        self.scope[name] = f
        return name


class Scalars:
    """Prints numbers.

    Parameters
    ----------
    texts : Texts
    careful : bool
        Whether a zero cotangent stays zero next to infinite numbers.
    in_reverse : bool
        Whether what Python raises for must be as NumPy has it.

    Attributes
    ----------
    elements : set of str
        The arrays of which single elements are read or written.
    measured : set of Length
    extents : tuple of str
        How often the loops around run, as far as what is given tells.
    passes : dict of str to tuple of str
        The longest such extents where elements of an array are read or written.
    """

    def __init__(self, texts: Texts, *, careful: bool, in_reverse: bool) -> None:
        self.texts = texts
        self.careful = careful
        self.in_reverse = in_reverse
        self.elements: set[str] = set()
        self.measured: set[Length] = set()
        self.extents: tuple[str, ...] = ()
        self.passes: dict[str, tuple[str, ...]] = {}

    def name(self, name: str) -> str:
        """Return the name of a name or an array in the text."""
        return self.texts.name(name, name)

    def length(self, e: Length) -> str:
        """Return the length of an array along an axis."""
        self.measured.add(e)
        return self.texts.name(e, e.name)

    def memory(self, array: str) -> str:
        """Return the expression for the elements of an array."""
        self.elements.add(array)
        self.passes[array] = max(self.passes.get(array, ()), self.extents, key=len)
        return self.texts.name(("memory", array), f"m_{array}")

    def place(self, e: Load) -> str:
        """Return an element, to be read or written."""
        index = ", ".join(map(self.index, e.index)) or "()"
        return f"{self.memory(e.array)}[{index}]"

    def index(self, e: Expr) -> str:
        """Return an index; negative ones count from the end by themselves."""
        return self.text(from_end(e))

    def text(self, e: Expr) -> str:
        """Return an expression."""
        match e:
            case Const(value=value):
                text = repr(value)
                return f"({text})" if text.startswith("-") else text
            case Name(name=name):
                return self.name(name)
            case Load():
                return self.place(e)
            case Length():
                return self.length(e)
            case Pop():
                return "pop()"
            case Select(test=test, a=a, b=b):
                if not self.careful and is_guard(e):
                    return self.text(b)
                return f"({self.text(a)} if {self.text(test)} else {self.text(b)})"
            case Compare(ops=ops, args=(first, *others)):
                pairs = zip(ops, others, strict=True)
                rest = "".join(f" {INFIX[op]} {self.text(other)}" for op, other in pairs)
                return f"({self.text(first)}{rest})"
            case Call(function=f, args=args):
                return self.called(f, args)
            case Op(op=op, args=args):
                return self.operation(op, args)
        raise CannotCompile(f"{type(e).__name__} in the text of numbers")

    def called(self, f: Any, args: tuple[Expr, ...]) -> str:
        """Return a call."""
        if f is helpers.times or f is helpers.over:
            return self.guarded("mul" if f is helpers.times else "truediv", args)
        if f is np.power:
            return self.operation("pow", args)
        if self.careful:  # functions of Python raise where those of NumPy give inf or nan
            f = OF_NUMPY.get(f, f)
        text = f"{self.texts.function(f)}({', '.join(map(self.text, args))})"
        return f"{text}.item()" if type(f) is np.ufunc else text

    def guarded(self, op: str, args: tuple[Expr, ...]) -> str:
        """Return a multiple of a cotangent."""
        if not self.careful:
            return self.operation(op, args)
        return f"({self.operation(op, args)} if {self.text(args[0])} != 0.0 else 0.0)"

    def operation(self, op: str, args: tuple[Expr, ...]) -> str:
        """Return an operator, or a builtin."""
        if op == "times":
            return self.guarded("mul", args)
        if op == "pos":
            return self.text(args[0])
        if op in ("neg", "not"):
            return f"({'-' if op == 'neg' else 'not '}{self.text(args[0])})"
        if op in ("and", "or"):
            return f"({f' {op} '.join(map(self.text, args))})"
        if op == "pow" and (self.careful or not is_small(args[1])):
            return self.helped(power, args)
        if op == "truediv" and self.careful and not isinstance(args[1], Const):
            return self.helped(divided, args)
        if op in INFIX:
            return f"({f' {INFIX[op]} '.join(map(self.text, args))})"
        if op in BUILTINS:
            return f"{op}({', '.join(map(self.text, args))})"
        raise CannotCompile(f"{op} in the text of numbers")

    def helped(self, f: Callable[..., Any], args: tuple[Expr, ...]) -> str:
        """Return a call of a function of ours."""
        return f"{self.texts.function(f)}({', '.join(map(self.text, args))})"


def is_guard(e: Select) -> bool:
    """Return True for a multiple of a cotangent that is zero where that is."""
    test = e.test
    return (
        e.a == ZERO and isinstance(test, Compare) and test.ops == ("eq",) and test.args[1] == ZERO
    )


def is_small(p: Expr) -> bool:
    """Return True for an exponent of which powers are products."""
    return isinstance(p, Const) and p.value in (1, 2, 3)


def from_end(e: Expr) -> Expr:
    """Return an index without the test whether it counts from the end."""
    match e:
        case Select(test=Compare(ops=("lt",), args=(i, Const(value=0))), b=j) if i == j:
            return j
    return e
