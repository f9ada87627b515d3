"""From assignments in a loop to IR.

x[i] = e                    Assign(Load("u_x", (i,)), e)
k = e                       Count("u_k", e)              where k is an int
a, b = b, a + b             w0 = b; w1 = a + b; a = w0; b = w1
a = b = e                   w0 = e; a = w0; b = w0
"""

from __future__ import annotations

import ast

from mooncake_py.compiler.reading.calls import CallReader
from mooncake_py.compiler.reading.expressions import OPERATORS, VALUES, Unfit
from mooncake_py.compiler.reading.methods import Owner
from mooncake_py.compiler.regions.ir import Assign, Count, Expr, Let, Name, Op, Statement, Target
from mooncake_py.syntax.comprehensions import TOTAL
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.nodes import Place, place_of
from mooncake_py.syntax.static_integers import StaticInts

__all__ = ["AssignmentReader"]


class AssignmentReader(CallReader):
    """Reads assignments.

    Attributes
    ----------
    stores : set of str
        The arrays of which elements are written.
    sums : set of str
        The names of sums: see `syntax.comprehensions`.
    """

    def __init__(
        self, names: Names, statics: StaticInts, place: Place, owner: Owner | None
    ) -> None:
        super().__init__(names, statics, place, owner)
        self.stores: set[str] = set()
        self.sums: set[str] = set()

    def in_parallel(self, targets: list[ast.expr], values: list[ast.expr]) -> list[Statement]:
        """Read ``a, b = b, a + b``: all values come before the first target."""
        if len(targets) != len(values):
            raise Unfit
        first: list[Statement] = []
        then: list[Statement] = []
        for k, (target, node) in enumerate(zip(targets, values, strict=True)):
            whole = self.is_count(target)
            value = self.int_for(target, node) if whole else self.value(node)
            kind = Count if whole else Let
            first.append(kind(f"w{k}", value, place=place_of(node)))
        for k, target in enumerate(targets):
            place = place_of(target)
            copy = Name(f"w{k}", place=place)
            if self.is_count(target):
                assert isinstance(target, ast.Name)
                then.append(self.counted(target, copy))
            else:
                then.append(Assign(self.target(target), copy, place=place))
        return [*first, *then]

    def shared(self, targets: list[ast.expr], value: ast.expr) -> list[Statement]:
        """Read ``a = b = e``."""
        if any(map(self.is_count, targets)):
            return self.in_parallel(targets, [value] * len(targets))
        first = Let("w0", self.value(value), place=place_of(value))
        copy = Name(first.name, place=first.place)
        return [
            first,
            *(Assign(self.target(t), copy, place=place_of(t)) for t in targets),
        ]

    def unpacked(self, targets: list[ast.expr], values: list[Expr]) -> list[Statement]:
        """Read ``a, b = g(x)``, the values of which are known."""
        first: list[Statement] = [
            Let(f"w{k}", value, place=value.place) for k, value in enumerate(values)
        ]
        return first + [
            Assign(
                self.target(target), Name(f"w{k}", place=place_of(target)), place=place_of(target)
            )
            for k, target in enumerate(targets)
        ]

    def assigned(self, node: ast.stmt, target: ast.expr, value: ast.expr) -> Statement:
        """Read ``target = value``."""
        if isinstance(target, ast.Name) and self.is_count(target):
            return self.counted(target, self.int_for(target, value))
        found = self.all_of(value)
        bound = self.target(target)
        if isinstance(target, ast.Name) and target.id.startswith(TOTAL):
            self.sums.add(self.own_name(target.id))
        return Assign(bound, found, place=place_of(node))

    def augmented(
        self, node: ast.stmt, target: ast.expr, op: ast.operator, value: ast.expr
    ) -> Statement:
        """Read ``target op= value``."""
        place = place_of(node)
        if isinstance(target, ast.Name) and self.is_count(target):
            if type(op) not in OPERATORS:
                raise Unfit
            old = self.number(target.id, place)
            found = Op(OPERATORS[type(op)], (old, self.whole(value)), place=place)
            return self.counted(target, found)
        if type(op) not in VALUES:
            raise Unfit
        old = self.item(target) if isinstance(target, ast.Subscript) else self.value(target)
        change = Op(VALUES[type(op)], (old, self.value(value)), place=place)
        return Assign(self.target(target), change, place=place)

    def target(self, node: ast.expr) -> Target:
        """Read what is assigned to: a name, bound from now on, an attribute, or an element."""
        if isinstance(node, ast.Name):
            self.defined.add(node.id)
            return Name(self.own_name(node.id), place=place_of(node))
        if isinstance(node, ast.Attribute):
            found = self.attribute(node)
            if self.frame is not None or not isinstance(found, Name):
                raise Unfit
            return found
        element = self.item(node)
        self.stores.add(element.array)
        return element

    def is_count(self, target: ast.expr) -> bool:
        """Return True if a target is a name that is an int for certain, or must be one."""
        return isinstance(target, ast.Name) and (
            target.id in self.indices or self.statics.holds(target)
        )

    def int_for(self, target: ast.expr, node: ast.expr) -> Expr:
        """Read the int that a name is bound to; an element that it is bound to is data."""
        if isinstance(target, ast.Name) and target.id in self.indices:
            return self.steady_int(node)
        return self.whole(node)

    def counted(self, target: ast.Name, value: Expr) -> Count:
        """Note that a name is an int."""
        self.defined.add(target.id)
        own = self.own_name(target.id)
        self.counts.add(own)
        return Count(own, value, place=place_of(target))
