"""From expressions in the source to numbers and arrays of a region."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from mooncake_py.compiler.native.building import complex_operators, complexes, joined, operations
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.findings import Again, Findings
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.indexing import Part, viewed
from mooncake_py.compiler.native.building.values import (
    NUMPY_TYPES,
    Array,
    Cells,
    Choice,
    ComplexArray,
    ComplexNumber,
    Dictionary,
    Known,
    Number,
    Object,
    Picked,
    Slice,
    Stack,
    Tuple,
    Unfit,
    Unread,
    Value,
)
from mooncake_py.compiler.native.functions import of_numpy
from mooncake_py.compiler.native.reading import (
    comparisons,
    constant_calls,
    constants,
    dicts,
    growing,
    lists,
    no_axes,
    of_choices,
    own_operators,
    picked,
    slices,
    stacks,
)
from mooncake_py.compiler.native.reading.conditions import ConditionReader, opposite
from mooncake_py.compiler.native.reading.scope import Scope, constant, is_input, known
from mooncake_py.compiler.native.reading.store import Slot, Store
from mooncake_py.compiler.native.regions.region import BOOL, INT
from mooncake_py.compiler.regions.comparisons import COMPARISONS
from mooncake_py.compiler.regions.ir import (
    Const,
    Expr,
    Load,
    Name,
    Op,
    walk,
)
from mooncake_py.overriding import override
from mooncake_py.syntax.nodes import Place, place_of

__all__ = ["ExpressionReader", "is_list"]

OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.Pow: "pow",
    ast.FloorDiv: "floordiv", ast.Mod: "mod",
}  # fmt: skip
LOGICAL: dict[type[ast.operator], str] = {ast.BitAnd: "and", ast.BitOr: "or"}


class ExpressionReader(ConditionReader):
    """Reads expressions of the function that `scope` tells.

    Attributes
    ----------
    b : Builder
    scope : Scope
    slots : Store
        What variables, attributes and items stand for.
    findings : Findings
    nested : int
        Of how many expressions what is read is a part.
    exclusive : int
        Of how many things it is a part that must not be written meanwhile.
    picks : bool
        Whether it is the value of an assignment to an item: masks may pick elements there.
    has_picked : bool
        Whether masks have picked elements in this statement.
    short : dict of str to Place
        The counters of loops over a range with few passes, and where these loops are.
    """

    b: Builder
    scope: Scope
    slots: Store
    findings: Findings
    nested = 0
    exclusive = 0
    picks = False
    has_picked = False
    short: dict[str, Place]

    @override
    def value(self, node: ast.expr) -> Value:
        """Read an expression; its value as it is now, if a call that is read later may change it.

        Arrays in memory are what they are, whoever writes them.
        """
        self.nested += 1
        try:
            found = self.read_value(node)
        finally:
            self.nested -= 1
        if isinstance(found, Unread):
            raise Unfit(f"{found.why}, which compiled code cannot read", self.b.place)
        if lists.makes_structure(node) and (is_list(found) or isinstance(found, Dictionary)):
            found = self.list_made(found, place_of(node))
        found = self.current(found)
        if isinstance(found, ComplexNumber | ComplexArray):
            self.b.is_exact = False
        return self.kept_apart(found) if self.b.place in self.findings.written else found

    def current(self, value: Value) -> Value:
        """Return a list or a dict that changes with what it holds now, and others as they are."""
        read = stacks.now if isinstance(value, Stack) else lists.current
        return read(self.b, value)  # type: ignore[arg-type]

    def list_made(self, made: Value, place: Place | None) -> Value:
        """Return a new list or dict; with room for more, or with slots, if it was found out."""
        raise NotImplementedError

    def kept_apart(self, value: Value) -> Value:
        """Return a value as it is now."""
        raise NotImplementedError

    @override
    @contextmanager
    def among_others(self) -> Iterator[None]:
        """Read what is part of something else: a call in it must not write what that reads."""
        self.exclusive += 1
        try:
            yield
        finally:
            self.exclusive -= 1

    def read_value(self, node: ast.expr) -> Value:
        """Read an expression, by its kind."""
        match node:
            case ast.Constant(value=value):
                return known(value)
            case ast.Name(id=name):
                return self.variable(name)
            case ast.BinOp(left=left, op=op, right=right):
                return self.operated(op, self.value(left), self.value(right))
            case ast.UnaryOp(op=op, operand=operand):
                return self.prefixed(op, self.value(operand))
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self.compared(ops, [left, *others])
            case ast.BoolOp(op=op, values=values):
                return self.logical(op, values)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.either(test, body, orelse)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                return Tuple(self.displayed(elts), isinstance(node, ast.List))
            case ast.Dict(keys=keys, values=values):
                return dicts.written_out(self, keys, values)
            case ast.Attribute(value=base, attr=name):
                return self.attribute(self.value(base), name)
            case ast.Subscript(value=base, slice=index):
                return self.item(self.value(base), index)
            case ast.Call():
                return self.call(node)
            case ast.Slice():
                return slices.kept(self, slices.read(self, node))
            case ast.Set():
                return constant_calls.set_of(self, [*map(self.value, node.elts)])
            case ast.NamedExpr(target=target, value=value):
                return self.named(target, value)
            case ast.JoinedStr():
                return constant_calls.formatted(self, node)
            case ast.Lambda():
                return self.made_function(node)
            case ast.ListComp() | ast.DictComp() | ast.SetComp():
                with self.within_comprehension(node):
                    return self.comprehension(node)
        raise Unfit(f"the expression {ast.unparse(node)[:40]}", place_of(node))

    @override
    def number(self, node: ast.expr) -> Number:
        """Read an expression that must be a number."""
        found = self.value(node)
        if not isinstance(found, Number):
            raise Unfit(f"{said(found)} where a number is needed", place_of(node))
        return found

    def named(self, target: ast.Name, node: ast.expr) -> Value:
        """Read ``name := value``, before which other parts of the statement keep what they are."""
        raise NotImplementedError

    def variable(self, name: str) -> Value:
        """Read a variable."""
        return self.variable_in(self.scope, name)

    def variable_in(self, scope: Scope, name: str) -> Value:
        """Read a variable of a function that is being read, or of one around it."""
        if name in scope.env:
            return self.held(scope.slot(name))
        if name in scope.local:
            own = scope.named(name)
            if scope.bindings[name] == 1 and own not in self.findings.outlasting:
                self.findings.outlasting.add(own)
                raise Again
            raise Unfit(f"the variable {name}, which may not be bound here", self.b.place)
        if scope.parent is not None and name in scope.function.__code__.co_freevars:
            return self.variable_in(scope.parent, name)
        value = scope.outside(name)
        if is_input(value):
            return self.captured(scope, name, value)
        found = constant(value)
        assert found is not None
        return found

    def held(self, slot: Slot) -> Value:
        """Return the value in a slot, which must be bound wherever this is read."""
        for test in self.slots.maybe.get(slot, ()):
            self.b.require(test)
        return self.current(self.slots.values[slot])

    def is_bound_once(self, slot: Slot) -> bool:
        """Return True for a variable bound in one place, and read only where that has run."""
        is_here = slot.owner == self.scope.owner and self.scope.bindings[slot.name] == 1
        return is_here and slot.own not in self.findings.outlasting

    def captured(
        self, scope: Scope, name: str, value: Any, owner: type | ModuleType | None = None
    ) -> Value:
        """Read a global or captured variable that is an input, or such an attribute of an owner."""
        raise NotImplementedError

    # Operators.

    def operated(self, op: ast.operator, x: Value, y: Value) -> Value:
        """Read an operator between two values."""
        x, y = self.as_operand(x), self.as_operand(y)
        if isinstance(x, Choice):
            return self.but_none(x, lambda v: self.operated(op, v, y))
        if isinstance(y, Choice):
            return self.but_none(y, lambda v: self.operated(op, x, v))
        if own_operators.decide(x, y):
            return own_operators.binary(self, op, x, y)
        if isinstance(op, ast.MatMult):
            return of_numpy.matmul(self.b, [x, y], {})
        if picked.are_picked((x, y)):
            return picked.operated(self.b, lambda p, q: self.operated(op, p, q), (x, y))
        known = constants.operated(op, x, y)
        if known is not None:
            return known
        if isinstance(op, ast.Mult) and isinstance(x, Tuple) and isinstance(y, Number):
            return lists.repeated(self.b, x, y, self.findings.mixed)
        if isinstance(op, ast.Add) and is_list(x) and is_list(y):
            return lists.concatenated(self.b, x, y)
        if type(op) in LOGICAL:
            return comparisons.of_truths(self, LOGICAL[type(op)], x, y)
        if type(op) not in OPERATORS:
            raise Unfit("an operator on bits other than those of bools", self.b.place)
        if complexes.is_complex(x, y):
            return complex_operators.operated(self.b, OPERATORS[type(op)], x, y)
        return operations.operated(self.b, OPERATORS[type(op)], x, y)

    def operated_in_place(self, op: ast.operator, x: Value, y: Value) -> Value:
        """Read ``x op= y``, which is what the target is bound to."""
        if isinstance(x, Choice):
            return self.but_none(x, lambda v: self.operated_in_place(op, v, y))
        if own_operators.decide(x):
            return own_operators.in_place(self, op, x, y)
        return self.operated(op, x, y)

    def prefixed(self, op: ast.unaryop, x: Value) -> Value:
        """Read an operator before a value."""
        x = self.as_operand(x)
        if isinstance(x, Choice) and not isinstance(op, ast.Not):
            return self.but_none(x, lambda v: self.prefixed(op, v))
        if picked.are_picked((x,)):
            return picked.operated(self.b, lambda p: self.prefixed(op, p), (x,))
        if own_operators.decide(x) and not isinstance(op, ast.Not):
            return own_operators.unary(self, op, x)
        if isinstance(op, ast.USub) and complexes.is_complex(x):
            return complex_operators.negative(self.b, x)
        if isinstance(op, ast.USub):
            return operations.negative(self.b, x)
        if isinstance(op, ast.UAdd) and isinstance(x, Number) and x.kind != BOOL:
            return x
        if isinstance(op, ast.Not):
            return Number(opposite(self.truth(x)), "bool")
        if isinstance(op, ast.Invert) and isinstance(x, Array) and x.kind == BOOL:
            return operations.elementwise(self.b, lambda p: Op("not", (p,)), BOOL, (x,))
        raise Unfit(f"a unary operator on {said(x)}", self.b.place)

    def compared(
        self, ops: Sequence[ast.cmpop], nodes: Sequence[ast.expr], tested: bool = False
    ) -> Value:
        """Read comparisons."""
        return self.compared_values(ops, [self.value(node) for node in nodes], tested)

    def compared_values(
        self, ops: Sequence[ast.cmpop], values: Sequence[Value], tested: bool = False
    ) -> Value:
        """Read comparisons; of objects that are the same in each call they are known."""
        if any(isinstance(v, Choice) for v in values):
            return of_choices.compared(self, ops, values, tested)
        values = [no_axes.as_number(self, v) for v in values]
        if picked.are_picked(tuple(values)):
            raise Unfit("a comparison of elements that a mask picks", self.b.place)
        of_objects = own_operators.decided(self, ops, values)
        if of_objects is not None:
            return of_objects
        decided = comparisons.decided(self, ops, values)
        if decided is not None:
            return decided
        if len(ops) == 1 and isinstance(ops[0], ast.In | ast.NotIn):
            return dicts.tested(self, *values, is_in=isinstance(ops[0], ast.In))
        if not all(type(op) in COMPARISONS for op in ops) or any(
            isinstance(v, Tuple | Known) for v in values
        ):
            raise Unfit(f"a comparison of {said(*values)}: use numbers or arrays", self.b.place)
        names = [COMPARISONS[type(op)] for op in ops]
        if complexes.is_complex(*values):
            return complex_operators.compared(self.b, names, values)
        return operations.compared(self.b, names, values, tested)

    @override
    def truth(self, x: Value) -> Expr:
        if isinstance(x, Choice):
            return of_choices.test_of(self, x, self.truth)
        if own_operators.are_own(x):
            return own_operators.truth(self, x)
        return super().truth(no_axes.as_number(self, x))

    # Attributes and items.

    def attribute(self, base: Value, name: str) -> Value:
        """Read an attribute."""
        if isinstance(base, Choice):
            return self.but_none(base, lambda v: self.attribute(v, name))
        if isinstance(base, Known) and issubclass(type(base.value), ModuleType):
            value = self.scope.of_module(base.value, name)
            return constant(value) or self.captured(self.scope, name, value, base.value)
        if isinstance(base, Known) and of_numpy.holds(base.value, name):
            return Known(getattr(base.value, name))
        if isinstance(base, Known) and issubclass(type(base.value), FunctionType | np.ufunc):
            raise Unfit(f"the attribute {name} of a function", self.b.place)
        if isinstance(base, Known):
            known = constant_calls.attribute(self, base, name)
            if known is not None:
                return known
        if isinstance(base, Array):
            return of_numpy.attribute(self.b, base, name)
        if isinstance(base, ComplexNumber) and name in ("real", "imag"):
            return base.re if name == "real" else base.im
        if isinstance(base, Number) and name == "real":
            return self.prefixed(ast.UAdd(), base)
        if isinstance(base, Number) and name == "imag" and base.rank is None and base.kind != BOOL:
            return Number(Const(0 if base.kind == INT else 0.0), base.type)
        if isinstance(base, Object):
            return self.attribute_of(base, name)
        if isinstance(base, Slice):
            return slices.attribute(self, base, name)
        if (found := self.attribute_by_class(base, name)) is not None:
            return found
        raise Unfit(f"the attribute {name}", self.b.place)

    def item(self, base: Value, index: ast.expr) -> Value:
        """Read an element, a view, or an item of a tuple."""
        if isinstance(base, Choice):
            return of_choices.item(self, base, index)
        if own_operators.are_own(base):
            return own_operators.item(self, base, index)
        if isinstance(base, Tuple) and isinstance(index, ast.Slice):
            bounds = [n and self.number(n).e for n in (index.lower, index.upper, index.step)]
            for e in filter(None, bounds):
                self.unroll(e)
                self.pin(e)
            return lists.between(self.b, base, bounds)
        if isinstance(base, Tuple):
            at = self.number(index)
            if not isinstance(at.e, Const) or type(at.e.value) is not int:
                if (found := self.item_of_row(base, at)) is not None:
                    return found
                self.unroll(at.e)
                growing.find_out(base, self.findings)
                self.pin(at.e)
                self.know_ints()
                return self.item_among(base.items, at)
            return lists.at_place(self.b, base, at.e)
        if isinstance(base, Cells) and isinstance(index, ast.Slice):
            return lists.part(self.b, base, self.part(index))
        if isinstance(base, Stack) and isinstance(index, ast.Slice):
            return stacks.part(self.b, base, slices.read(self, index))
        if isinstance(base, Stack):
            return self.of_list(stacks.item(self.b, base, self.number(index)))
        if isinstance(base, Cells):
            return lists.item(self.b, base, self.number(index))
        if isinstance(base, Known) and constants.has_items(base):
            return constant_calls.item(self, base, index)
        if isinstance(base, Dictionary):
            return dicts.item(self, base, self.value(index))
        if not isinstance(base, Array):
            raise Unfit(f"an item of {said(base)}: use an array, or known items", self.b.place)
        parts = self.parts(index)
        mask = self.mask_of(base, parts)
        if self.picks and mask is not None:
            return self.picked(base, mask)
        found = viewed(self.b, base, parts)
        return found if found.shape or Known(...) in parts else self.element(found)

    def know_ints(self) -> None:
        """Find out that loops which make lists of ints must be read pass by pass."""
        raise NotImplementedError

    def unroll(self, index: Expr) -> None:
        """Find out that a loop must be read once for each pass, as an item depends on which."""
        for part in walk(index):
            loop = self.short.get(part.name) if isinstance(part, Name) else None
            if loop is not None:
                self.findings.unroll(loop)
                raise Again

    def mask_of(self, a: Array, parts: Sequence[Part]) -> Array | None:
        """Return the mask that an index is, if what it picks is taken among all elements."""
        mask = parts[0] if len(parts) == 1 else None
        if not isinstance(mask, Array) or mask.kind != BOOL or len(mask.shape) != len(a.shape):
            return None
        return None if self.b.place in self.findings.compressed else mask

    def picked(self, base: Array, mask: Array) -> Picked:
        """Read the elements of an array where a mask is true."""
        self.has_picked = True
        for n, m in zip(mask.shape, base.shape, strict=True):
            self.b.check("eq", n, m)
        return Picked(base, mask)

    def element(self, a: Array) -> Number | ComplexNumber:
        """Return the element that an array without axes is."""
        if isinstance(a, ComplexArray):
            return complexes.number_of(a)
        e = a.at(())
        if isinstance(e, Load) and a.kind == INT:
            e = self.b.counted(e)
        return Number(e, NUMPY_TYPES[a.kind])

    def parts(self, node: ast.expr) -> list[Part]:
        """Read an index."""
        nodes = node.elts if isinstance(node, ast.Tuple) else [node]
        with self.among_others():
            found: list[Part] = [self.part(n) for n in nodes]
        # A name of a tuple is an index of several parts; a tuple within one is an array to NumPy.
        is_named = not isinstance(node, ast.Tuple)
        if is_named and isinstance(found[0], Tuple) and not found[0].is_list:
            found = [slices.known(self, part) for part in found[0].items]
        return found

    def part(self, node: ast.expr) -> Part:
        """Read a part of an index."""
        if isinstance(node, ast.Slice):
            return slices.read(self, node)
        found = slices.known(self, self.value(node))
        return joined.made_of(self.b, found) if is_list(found) else found

    # Calls.

    def displayed(self, elts: Sequence[ast.expr]) -> tuple[Value, ...]:
        """Read what stands between the brackets of a tuple or a list."""
        raise NotImplementedError

    def call(self, node: ast.Call) -> Value:
        """Read a call."""
        raise NotImplementedError

    def made_function(self, node: ast.FunctionDef | ast.Lambda) -> Value:
        """Read a function that is made within another one."""
        raise NotImplementedError

    def comprehension(self, node: Any) -> Value:
        """Read a list or a dict that is made by loops."""
        raise NotImplementedError


def is_list(value: Value) -> bool:
    """Return True for a list of numbers or lists."""
    return isinstance(value, Cells | Stack) or (isinstance(value, Tuple) and value.is_list)
