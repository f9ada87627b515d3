"""Tests of ints that may exceed 64 bits, which would wrap around in compiled code.

In Python ints grow.  So a statement before each operation that may overflow tests it:

    f *= i                  if not isinstance(f * i, int) or not -2**63 <= f * i < 2**63:
                                raise OverflowError("f * i is an int of 64 bits ...")
                            f *= i

The tests cover operations on static ints, if one of them is an exponent, or the result of an
earlier iteration of the loop, or if they are so large in this call that the result may exceed 64
bits.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from copy import deepcopy
from typing import Any

from mooncake_py.overriding import override
from mooncake_py.syntax.int_sizes import MOST_BITS, IntSizes
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.nodes import constant, load, located, place_of, replaced, when
from mooncake_py.syntax.static_integers import StaticInts, bindings, bindings_of, is_literal
from mooncake_py.syntax.trees import children, walk

__all__ = ["guarded"]

LEAST, MOST = -(2**63), 2**63 - 1
LARGE = 2**31  # of a factor: what it is multiplied with has some 31 bits itself
SMALL_POWER = 3
BITWISE = (ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor, ast.Pow)
GROWING = (ast.Mult, ast.LShift, ast.Pow, ast.Add, ast.Sub)
SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr)
SIZES = ("size", "ndim")
BLOCKS = ("body", "orelse", "finalbody")
MESSAGE = (
    "{} is an int of 64 bits in compiled code, {}, and would be another number "
    "here; compute it with floats, or in a jitted function of its own: that runs compiled where "
    "only constants go in"
)
WRAPS = "which wraps around"
WRAPS_OR_VANISHES = "which wraps around, or is 0 where its exponent is negative"


def guarded(
    node: ast.FunctionDef,
    names: Names,
    ints: Collection[str],
    bits: Mapping[str, int],
) -> ast.FunctionDef:
    """Return a function with tests of ints that may exceed 64 bits; itself if there are none.

    Parameters
    ----------
    node : FunctionDef
        Not changed.
    names : Names
        What its global names mean.
    ints : collection of str
        The parameters that are ints in this call.
    bits : mapping of str to int
        How many bits the large ones have.
    """
    found = bindings(node)
    sizes = IntSizes(found.own, bits)
    for name in ints:
        values = found.own.get(name, [])
        found.own[name] = [ast.Constant(0) if value is None else value for value in values]
    return Guards(MachineInts.of(found, names), sizes).function(node)


class MachineInts(StaticInts):
    """Ints for certain in compiled code, where powers and operators on bits are ints too.

    So are sizes there: what has a `shape` is an array.
    """

    @override
    def holds(self, node: ast.AST) -> bool:
        """Return whether an expression is an int for certain."""
        match node:
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, BITWISE):
                return self.holds(left) and self.holds(right)
        return is_size(node) or super().holds(node)

    def is_pure(self, e: ast.AST) -> bool:
        """Return True for an expression that a test may compute besides: it does nothing else."""
        if isinstance(e, ast.BinOp):
            return self.is_pure(e.left) and self.is_pure(e.right)
        if isinstance(e, ast.UnaryOp):
            return self.is_pure(e.operand)
        if isinstance(e, ast.Call):
            return self._names.calls_builtin(e, "len") and all(map(self.is_pure, e.args))
        return isinstance(e, ast.Name | ast.Constant) or is_size(e)


class Guards:
    """Add tests to a function."""

    def __init__(self, ints: MachineInts, sizes: IntSizes) -> None:
        self.ints = ints
        self.sizes = sizes
        self.carried: set[str] = set()  # what loops round a statement make of what it was

    def function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Return the function with tests."""
        body = self.block(node.body)
        return node if body is node.body else replaced(node, body=body)

    def block(self, body: list[Any]) -> list[Any]:
        """Return statements with tests before them; the very list if there are none."""
        made: list[Any] = []
        for s in body:
            made += [overflow(e, self.ints.holds(e)) for e in self.risks(s)]
            made.append(self.within(s))
        return body if all(map(same, made, body)) and len(made) == len(body) else made

    def within(self, s: Any) -> Any:
        """Return a statement with tests in its blocks."""
        before = self.carried
        if isinstance(s, ast.FunctionDef | ast.ClassDef):
            return s
        if isinstance(s, ast.For | ast.While):
            self.carried = before | carried_by(s)
        changes = {
            field: block
            for field in BLOCKS
            if isinstance(getattr(s, field, None), list)
            and (block := self.block(getattr(s, field))) is not getattr(s, field)
        }
        self.carried = before
        return replaced(s, **changes) if changes else s

    def risks(self, s: Any) -> Iterator[ast.BinOp]:
        """Yield the expressions in a statement that may be too large, the largest of each."""
        if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
            place = place_of(s)
            e = located(ast.BinOp(load(s.target.id, place), s.op, s.value), place)
            rest: list[Any] = [e]
        elif isinstance(s, SIMPLE):
            rest = [] if s.value is None else [s.value]
        else:
            rest = [s.iter] if isinstance(s, ast.For) else []
        for e in rest:
            if isinstance(e, ast.BinOp) and self.is_whole(e):
                yield e
            elif not isinstance(e, ast.IfExp | ast.BoolOp | ast.Lambda | ast.comprehension):
                rest += children(e)

    def is_whole(self, e: ast.BinOp) -> bool:
        """Return True for expressions to test as a whole: ints, or one operation that grows."""
        if not self.is_risky(e):
            return False
        return self.ints.holds(e) or not any(map(self.is_risky, (e.left, e.right)))

    def is_risky(self, e: ast.expr) -> bool:
        """Return True if an expression of numbers holds an operation that may outgrow 64 bits."""
        return self.ints.is_pure(e) and any(
            isinstance(part, ast.BinOp) and self.grows(part) for part in walk(e)
        )

    def grows(self, e: ast.BinOp) -> bool:
        """Return True if one operation may outgrow 64 bits."""
        sides = e.left, e.right
        if not isinstance(e.op, GROWING) or is_literal(e):
            return False
        if isinstance(e.op, ast.Mult | ast.LShift) and any(map(is_large, sides)):
            return not any(map(is_float, sides))
        if not all(map(self.ints.holds, sides)):
            return False
        if self.sizes.bits(e) > MOST_BITS:
            return True
        if isinstance(e.op, ast.LShift):
            return not isinstance(e.right, ast.Constant) or any(map(self.is_carried, sides))
        if isinstance(e.op, ast.Pow):
            power: Any = getattr(e.right, "value", None)
            return type(power) is not int or power > SMALL_POWER
        if isinstance(e.op, ast.Mult):
            return any(map(self.is_carried, sides))
        return all(map(self.is_carried, sides))

    def is_carried(self, e: ast.expr) -> bool:
        """Return True if an expression may read a result of an earlier iteration of a loop."""
        return any(isinstance(part, ast.Name) and part.id in self.carried for part in walk(e))


def carried_by(loop: ast.For | ast.While) -> set[str]:
    """Return the names whose values a loop makes of those of its earlier passes."""
    read: dict[str, set[str]] = {}
    for name, values in bindings_of(loop.body).own.items():
        values = [value for value in values if isinstance(value, ast.expr)]
        read[name] = {n.id for value in values for n in walk(value) if isinstance(n, ast.Name)}
    while True:
        more = {
            name: found.union(*(read.get(other, ()) for other in found))
            for name, found in read.items()
        }
        if more == read:
            return {name for name, found in read.items() if name in found}
        read = more


def is_size(e: ast.AST) -> bool:
    """Return True for a size of an array that has a name: ``x.size``, ``x.shape[0]``."""
    if isinstance(e, ast.Subscript) and isinstance(e.slice, ast.Constant | ast.UnaryOp):
        return isinstance(e.value, ast.Attribute) and e.value.attr == "shape" and is_named(e.value)
    return isinstance(e, ast.Attribute) and e.attr in SIZES and is_named(e)


def is_named(e: ast.Attribute) -> bool:
    return isinstance(e.value, ast.Name)


def is_large(e: ast.expr) -> bool:
    return isinstance(e, ast.Constant) and type(e.value) is int and abs(e.value) >= LARGE


def is_float(e: ast.expr) -> bool:
    """Return True for a number whose operations return floats."""
    return any(isinstance(n, ast.Constant) and type(n.value) in (float, complex) for n in walk(e))


def same(a: Any, b: Any) -> bool:
    return a is b


def overflow(e: ast.BinOp, is_certain: bool) -> ast.If:
    """Return the statement that raises if an int does not fit.

    One that is certain and yet a float is a power with a negative exponent.
    """
    place = place_of(e)
    has_power = any(isinstance(part, ast.Pow) for part in ast.walk(e))
    text = constant(
        MESSAGE.format(ast.unparse(e), WRAPS_OR_VANISHES if has_power else WRAPS), place
    )
    call = ast.Call(load("isinstance", place), [deepcopy(e), load("int", place)], [])
    is_int: ast.expr = located(call, place)
    most = constant(MOST, place)
    fits = ast.Compare(constant(LEAST, place), [ast.LtE(), ast.LtE()], [deepcopy(e), most])
    exceeds: ast.expr = located(ast.UnaryOp(ast.Not(), located(fits, place)), place)
    if is_certain:
        is_float = located(ast.UnaryOp(ast.Not(), is_int), place)
        test = ast.BoolOp(ast.Or(), [is_float, exceeds])
    else:
        test = ast.BoolOp(ast.And(), [is_int, exceeds])
    error = located(ast.Call(load("OverflowError", place), [text], []), place)
    return when(located(test, place), [located(ast.Raise(error, None), place)], [], place)
