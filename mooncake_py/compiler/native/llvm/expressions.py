"""Expressions of numbers.

A part that reads an array, or takes long, is computed only where it is needed, by branches: what
stands behind a test may be out of range where the test fails.
"""

from __future__ import annotations

from collections.abc import Mapping

from mooncake_py.compiler.native.llvm.arrays import Arrays
from mooncake_py.compiler.native.llvm.calls import call
from mooncake_py.compiler.native.llvm.numbers import REGISTER, ZERO, constant
from mooncake_py.compiler.native.llvm.powers import power
from mooncake_py.compiler.native.llvm.writer import Writer
from mooncake_py.compiler.native.regions.helpers import over, times
from mooncake_py.compiler.native.regions.kinds import Known, kind_of, widest
from mooncake_py.compiler.native.regions.refused import CannotCompile
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
    walk,
)

__all__ = ["Expressions"]

QUICK = {"add", "sub", "mul", "neg", "truediv", "and", "or", "not", "float"}
"""Operators on numbers that may as well be done in vain."""
FEW = 12
"""Fewer parts than these may be computed in vain."""
OF_FLOATS = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
OF_INTS = {"lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge", "eq": "eq", "ne": "ne"}
ORDERS = OF_FLOATS.keys() - {"eq", "ne"}
ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "truediv": "fdiv"}


class Expressions:
    """Writes what expressions compute."""

    def __init__(
        self, writer: Writer, kinds: Mapping[str, str], axes: Mapping[str, int], known: Known
    ) -> None:
        self.writer = writer
        self.kinds = kinds
        self.arrays = Arrays(writer, kinds, axes, self.index)
        self._known = known
        self._is_index = False

    # Kinds.

    def kind(self, e: Expr) -> str:
        """Return the kind of an expression."""
        return kind_of(e, self.kinds, self._known)

    def common(self, *expressions: Expr) -> str:
        """Return the kind to which expressions are promoted."""
        return widest(expressions, self.kinds, self._known)

    def converted(self, value: str, of: str, to: str) -> str:
        """Return a number of one kind as one of another."""
        if of == to:
            return value
        t, do = REGISTER, self.writer.do
        if to == BOOL:
            test = "icmp ne" if of == INT else "fcmp une"
            return do(f"{test} {t[of]} {value}, {ZERO[of]}")
        if to == INT:
            if of == BOOL:
                return do(f"zext i1 {value} to i64")
            return do(f"freeze i64 {do(f'fptosi {t[of]} {value} to i64')}")
        if of == BOOL:
            return do(f"uitofp i1 {value} to {t[to]}")
        if of == INT:
            return do(f"sitofp i64 {value} to {t[to]}")
        return do(f"{'fpext' if to == FLOAT else 'fptrunc'} {t[of]} {value} to {t[to]}")

    # Names of numbers.

    def named(self, name: str) -> str:
        """Return the number that a name is bound to."""
        kind = self.kinds.get(name, FLOAT)
        return self.writer.read(("number", name), REGISTER[kind], ZERO[kind])

    def set(self, name: str, value: str) -> None:
        """Bind a name to a number of its kind."""
        kind = self.kinds.get(name, FLOAT)
        self.writer.write(("number", name), REGISTER[kind], ZERO[kind], value)

    # Values.

    def as_kind(self, e: Expr, kind: str) -> str:
        """Return the value of an expression as a number of a kind."""
        if isinstance(e, Const):
            return self.constant(e, kind)
        return self.converted(self.value(e), self.kind(e), kind)

    def truth(self, e: Expr) -> str:
        """Return whether an expression is true."""
        return self.as_kind(e, BOOL)

    def index(self, e: Expr) -> str:
        """Return an index: sums in it do not overflow, as it is an element's."""
        before, self._is_index = self._is_index, True
        found = self.as_kind(e, INT)
        self._is_index = before
        return found

    def constant(self, e: Const, kind: str) -> str:
        """Return a number that is written down."""
        if not isinstance(e.value, int | float):
            raise CannotCompile(f"{e.value!r} is not a number")
        if kind == INT and not -(2**63) <= e.value < 2**63:
            raise CannotCompile(f"{e.value} is not an int of 64 bits")
        return constant(e.value, kind)

    def value(self, e: Expr) -> str:
        """Return the value of an expression, as a number of its kind."""
        match e:
            case Const():
                return self.constant(e, self.kind(e))
            case Name(name=name):
                return self.named(name)
            case Load(array=array):
                return self.arrays.load(array, self.arrays.address(e))
            case Length(array=array, axis=axis):
                return self.arrays.length(array, axis)
            case Select():
                return self.choice(e)
            case Compare():
                return self.comparison(e)
            case Call():
                return call(self, e)
            case Op():
                return self.operation(e)
        raise TypeError(e)

    # Expressions computed only where they are needed.

    def is_quick(self, e: Expr) -> bool:
        """Return True for what may be computed in vain."""
        parts = walk(e)
        return len(parts) < FEW and all(map(is_quick_part, parts))

    def choice(self, e: Select) -> str:
        """Return one of two numbers."""
        kind = self.kind(e)
        t = REGISTER[kind]
        test = self.truth(e.test)
        if self.is_quick(e.a) and self.is_quick(e.b):
            a, b = self.as_kind(e.a, kind), self.as_kind(e.b, kind)
            return self.writer.do(f"select i1 {test}, {t} {a}, {t} {b}")
        sides = {self.writer.fresh("yes"): e.a, self.writer.fresh("no"): e.b}
        end = self.writer.fresh("end")
        self.writer.branch(test, *sides)
        sources: list[tuple[str, str]] = []
        for label, side in sides.items():
            self.writer.begin(label)
            value = self.as_kind(side, kind)
            sources.append((value, self.writer.label))
            self.writer.go(end)
        self.writer.begin(end)
        return self.writer.phi(t, *sources)

    def logic(self, op: str, args: tuple[Expr, ...], kind: str) -> str:
        """Return ``a and b and ...``, or the same with ``or``: the number that decides it."""
        last = args[-1]
        if kind == BOOL and all(map(self.is_quick, args[1:])):
            found = self.truth(args[0])
            for a in args[1:]:
                found = self.writer.do(f"{op} i1 {found}, {self.truth(a)}")
            return found
        end = self.writer.fresh("end")
        sources: list[tuple[str, str]] = []
        for a in args:
            value = self.as_kind(a, kind)
            sources.append((value, self.writer.label))
            if a is last:
                self.writer.go(end)
                break
            test, more = self.converted(value, kind, BOOL), self.writer.fresh("more")
            self.writer.branch(test, *((more, end) if op == "and" else (end, more)))
            self.writer.begin(more)
        self.writer.begin(end)
        return self.writer.phi(REGISTER[kind], *sources)

    def comparison(self, e: Compare) -> str:
        """Return whether a chain of comparisons holds."""
        kind = self.common(*e.args)
        kind = INT if kind == BOOL else kind
        end: str | None = None
        sources: list[tuple[str, str]] = []
        before = self.as_kind(e.args[0], kind)
        found = ""
        for op, a in zip(e.ops, e.args[1:], strict=True):
            if found and not self.is_quick(a):
                end = end or self.writer.fresh("end")
                more = self.writer.fresh("more")
                sources.append((found, self.writer.label))
                self.writer.branch(found, more, end)
                self.writer.begin(more)
                found = ""
            value = self.as_kind(a, kind)
            test = self.compared(op, kind, before, value)
            found = self.writer.do(f"and i1 {found}, {test}") if found else test
            before = value
        if end is None:
            return found
        sources.append((found, self.writer.label))
        self.writer.go(end)
        self.writer.begin(end)
        return self.writer.phi("i1", *sources)

    def compared(self, op: str, kind: str, a: str, b: str) -> str:
        """Return whether two numbers compare so."""
        if kind in REAL:
            if op in ORDERS:
                a, b = self.writer.hidden(kind, a), self.writer.hidden(kind, b)
            return self.writer.do(f"fcmp {OF_FLOATS[op]} {REGISTER[kind]} {a}, {b}")
        return self.writer.do(f"icmp {OF_INTS[op]} {REGISTER[kind]} {a}, {b}")

    # Operators.

    def operation(self, e: Op) -> str:
        """Return the result of an operator, or a builtin."""
        kind, op, args = self.kind(e), e.op, e.args
        match op:
            case "add" | "sub" | "mul" | "truediv" | "floordiv" | "mod":
                a, b = [self.as_kind(a, kind) for a in args]
                return self.binary(op, kind, a, b)
            case "pos" | "float" | "float32" | "int":
                return self.as_kind(args[0], kind)
            case "neg":
                return self.negative(kind, self.as_kind(args[0], kind))
            case "pow":
                return power(self, kind, *args)
            case "times":  # zero where the first number is
                return self.converted(self.value(Call(times, args)), FLOAT, kind)
            case "and" | "or":
                return self.logic(op, args, kind)
            case "not":
                return self.writer.do(f"xor i1 {self.truth(args[0])}, true")
            case "bool":
                return self.converted(self.truth(args[0]), BOOL, kind)
            case "abs":
                value = self.as_kind(args[0], kind)
                if kind == INT:
                    return self.writer.known("llvm.abs.i64", "i64", f"i64 {value}", "i1 false")
                return self.writer.intrinsic("fabs", kind, value)
            case "min" | "max":
                return self.extreme("lt" if op == "min" else "gt", kind, args)
        raise CannotCompile(f"operator {op}")

    def negative(self, kind: str, value: str) -> str:
        """Return the negative of a number."""
        if kind in REAL:
            return self.writer.do(f"fneg {REGISTER[kind]} {value}")
        return self.binary("sub", kind, "0", value)

    def extreme(self, op: str, kind: str, args: tuple[Expr, ...]) -> str:
        """Return the least number, or the greatest one, as Python looks for it."""
        found, t = self.as_kind(args[0], kind), REGISTER[kind]
        for a in args[1:]:
            value = self.as_kind(a, kind)
            if kind == BOOL:
                found = self.writer.do(f"{'and' if op == 'lt' else 'or'} i1 {found}, {value}")
                continue
            test = self.compared(op, kind, value, found)
            found = self.writer.do(f"select i1 {test}, {t} {value}, {t} {found}")
        return found

    def rounded(self, how: str, e: Expr) -> str:
        """Return a number as an int."""
        kind = self.kind(e)
        if kind not in REAL:
            return self.as_kind(e, INT)
        return self.converted(self.writer.intrinsic(how, kind, self.value(e)), kind, INT)

    def binary(self, op: str, kind: str, a: str, b: str) -> str:
        """Return the result of an operator on two numbers of a kind."""
        t = REGISTER[kind]
        if op in ("floordiv", "mod"):
            own = "int" if kind == INT else None
            width = "f32" if kind == FLOAT32 else "f64"
            name = f"mc_{own}_{op}" if own else f"mc_{op}_{width}"
            return self.writer.helper(name, t, f"{t} {a}", f"{t} {b}")
        if kind == INT:
            flag = " nsw" if self._is_index else ""
            return self.writer.do(f"{op}{flag} i64 {a}, {b}")
        return self.writer.do(f"{ARITHMETIC[op]} {t} {a}, {b}")


def is_quick_part(e: Expr) -> bool:
    """Return True if computing an expression in vain costs little, apart from its parts."""
    match e:
        case Op(op=op):
            return op in QUICK
        case Call(function=f):
            return f is times or f is over
    return isinstance(e, Const | Name | Length | Compare | Select)
