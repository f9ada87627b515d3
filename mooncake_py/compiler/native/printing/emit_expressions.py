"""Print expressions of numbers as Python, for plain Python and for Numba alike.

Load("x", (Name("i"),))      x[U(i)]        an index is never negative: `U` says so
Length("x", 1)               n1_x           its own number
Name("np")                   np_            where a name is one of ours
"""

from __future__ import annotations

import keyword
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from mooncake_py.compiler.native.printing.saved import STACK, TOP
from mooncake_py.compiler.native.regions.helpers import half_power, times
from mooncake_py.compiler.native.regions.kinds import WIDTH, Known, kind_of, widest
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT, REAL
from mooncake_py.compiler.regions.ir import (
    Call,
    Compare,
    Const,
    Expr,
    Length,
    Load,
    Name,
    Op,
    Select,
)

__all__ = ["GLOBALS", "NUMPY_NAMES", "Expressions"]

INFIX = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "and": "and", "or": "or", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
MAKES: dict[str, Any] = {FLOAT: float, FLOAT32: float, INT: int, BOOL: bool}
NUMPY_NAMES = {FLOAT: "float64", FLOAT32: "float32", INT: "int64", BOOL: "bool_"}
PREFIX = {"neg": "-", "pos": "+", "not": "not "}
LOGIC = ("and", "or", "not")
POWERS = (np.power, np.float_power)
GLOBALS: dict[str, Any] = {"inf": math.inf, "nan": math.nan, "np": np, "U": np.uint64}
"""What the text reads beside functions."""
BUILTINS = {"abs", "bool", "float", "int", "max", "min", "range", "round"}
HALVES = frozenset({-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5})
"""The exponents of powers that are roots and products."""
OURS = {*GLOBALS, *BUILTINS, "S", "p", "grow", "count"}


class Expressions:
    """Prints expressions.

    Attributes
    ----------
    kinds : mapping of str to str
        Of names and arrays; what is not there is a float.
    scope : dict
        The functions that the text calls, by the names that they have in it.
    """

    def __init__(self, kinds: Mapping[str, str]) -> None:
        self.kinds = kinds
        self.scope: dict[str, Any] = {}
        self._known: Known = {}
        self._names: dict[Any, str] = {}
        self._taken = set(OURS)

    # Kinds.

    def kind(self, e: Expr) -> str:
        """Return the kind of an expression."""
        return kind_of(e, self.kinds, self._known)

    def common(self, *expressions: Expr) -> str:
        """Return the kind to which expressions are promoted."""
        return widest(expressions, self.kinds, self._known)

    # Expressions.

    def text(self, e: Expr) -> str:
        """Return the text of an expression."""
        match e:
            case Const(value=value):
                return repr(value)
            case Name(name=name):
                return self.spelled(name)
            case Load(array=array, index=index):
                return f"{self.spelled(array)}[{', '.join(map(self.index, index))}]"
            case Length(array=array, axis=axis):
                return self.named(e, f"n{axis}_{self.spelled(array)}")
            case Call(function=f, args=args) if f in POWERS and self.common(*args) in REAL:
                return self.operation("pow", args)
            case Call(function=f, args=args):
                is_narrow = type(f) is np.ufunc and self.common(*args) == FLOAT32
                texts = [self.as_kind(a, FLOAT32) if is_narrow else self.text(a) for a in args]
                return f"{self.name_of(f)}({', '.join(texts)})"
            case Select(test=test, a=a, b=b):
                kind = self.kind(e)
                return (
                    f"{self.operand(a, kind)} if {self.operand(test)} else {self.operand(b, kind)}"
                )
            case Compare(ops=ops, args=(first, *others)):
                kind = self.promotion(e.args)
                pairs = zip(ops, others, strict=True)
                rest = [f"{INFIX[op]} {self.operand(other, kind)}" for op, other in pairs]
                return " ".join([self.operand(first, kind), *rest])
            case Op(op=op, args=args):
                return self.operation(op, args)
        raise TypeError(e)

    def operation(self, op: str, args: tuple[Expr, ...]) -> str:
        """Return the text of an operator or a builtin."""
        if op == "times":  # zero where the first number is
            return self.text(Call(times, args))
        if op == "item":
            return self.operand(args[0])
        if op == "float" and self.kind(args[0]) in (BOOL, FLOAT32):
            return self.as_kind(args[0], FLOAT)
        if op == "float32":
            return self.as_kind(args[0], FLOAT32)
        if op in PREFIX:
            return f"{PREFIX[op]}{self.operand(args[0], BOOL if op == 'not' else INT)}"
        if op == "pow" and self.kind(Op(op, args)) in REAL:
            return self.power(self.kind(Op(op, args)), *args)
        if op in INFIX:
            kind = BOOL if op in LOGIC else self.promotion(args, INT)
            return f" {INFIX[op]} ".join([self.operand(a, kind) for a in args])
        return f"{op}({', '.join(map(self.text, args))})"

    def power(self, kind: str, a: Expr, n: Expr) -> str:
        """Return the text of a power of a float: Numba raises an exception for ``0.0 ** -k``."""
        if kind == self.kind(a) == FLOAT and isinstance(n, Const) and n.value in HALVES:
            return self.text(Call(half_power, (a, Const(math.floor(n.value)))))
        base = self.operand(a, kind)
        if not isinstance(n, Const) or type(n.value) is not int:
            return f"{base} ** {self.operand(n, kind)}"
        if n.value >= 0:
            return f"{base} ** {n.value}"
        one = self.as_kind(Const(1.0), kind)
        return f"{one} / {base}" if n.value == -1 else f"{one} / {base} ** {-n.value}"

    def promotion(self, args: tuple[Expr, ...], kind: str = BOOL) -> str:
        """Return the kind as which operands must be written; Numba promotes those of others."""
        return FLOAT32 if self.common(*args) == FLOAT32 else kind

    def operand(self, e: Expr, kind: str = BOOL) -> str:
        """Return the text of an expression within another one, promoted to a kind."""
        grows = WIDTH[self.kind(e)] < WIDTH[kind] or (kind == FLOAT32 and isinstance(e, Const))
        text = self.as_kind(e, kind) if grows else self.text(e)
        return f"({text})" if text[0] == "-" or (is_open(e) and not grows) else text

    def promoted(self, e: Expr) -> str:
        """Return the text of an expression as a number with which one can reckon."""
        return self.as_kind(e, INT) if self.kind(e) == BOOL else self.text(e)

    def as_kind(self, e: Expr, kind: str) -> str:
        """Return the text of an expression as a number of a kind."""
        if kind == self.kind(e):
            return self.text(e)
        if isinstance(e, Const) and e.value is not None:
            text = repr(MAKES[kind](e.value))
            return f"np.float32({text})" if kind == FLOAT32 else text
        text = self.text(e)
        if self.kind(e) == BOOL and kind in REAL:
            text = f"int({text})"  # Numba makes no float of a bool
        if FLOAT32 in (self.kind(e), kind):  # `float` would leave it as it is
            return f"np.{NUMPY_NAMES[kind]}({text})"
        return f"{kind}({text})"

    def index(self, e: Expr) -> str:
        """Return the text of an index."""
        return self.text(e) if isinstance(e, Const) else f"U({self.text(e)})"

    # Names.

    def spelled(self, name: str) -> str:
        """Return a name unchanged in the text."""
        return (
            name[1:]
            if name in (STACK, TOP)
            else self.named(name, name.lstrip(".").replace(".", "_"))
        )

    def name_of(self, f: Any) -> str:
        """Return the name of a function in the text."""
        own = getattr(f, "__name__", "")
        wish = f"{'np' if type(f) is np.ufunc else 'f'}_{own if own.isidentifier() else 'rule'}"
        name = self.named(f, wish)
        self.scope[name] = f
        return name

    def named(self, thing: Any, wish: str) -> str:
        """Return a name that nothing else has in the text."""
        if thing not in self._names:
            while wish in self._taken or keyword.iskeyword(wish):
                wish += "_"
            self._taken.add(wish)
            self._names[thing] = wish
        return self._names[thing]


def is_open(e: Expr) -> bool:
    """Return True if an operator beside an expression would take part of it."""
    if isinstance(e, Op):
        return e.op in INFIX or e.op in PREFIX
    return isinstance(e, Select | Compare)
