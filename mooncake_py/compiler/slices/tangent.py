"""The tangent of a statement on slices, as another one before it.

    x[i:] += a * y[i:]          t_x[i:] += t_a * y[i:] + a * t_y[i:]
                                x[i:] += a * y[i:]

Both are of the same kind, so that the tangent of a region has sweeps and a tangent too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mooncake_py.compiler.derivatives.partials import NoPartial
from mooncake_py.compiler.derivatives.tangent import Pushforward
from mooncake_py.compiler.regions.indices import ends_of
from mooncake_py.compiler.regions.ir import (
    Assign,
    Block,
    Const,
    End,
    Expr,
    Let,
    Load,
    Name,
    Op,
    Sliced,
    Target,
    parts_of,
    rebuilt,
    substituted,
)
from mooncake_py.compiler.regions.simplify import names_of
from mooncake_py.compiler.regions.steps import Names, Steps
from mooncake_py.compiler.slices.calls.arguments import arguments_of
from mooncake_py.compiler.slices.calls.tangents import tangent_of_call
from mooncake_py.compiler.statements.contractions import is_contraction
from mooncake_py.compiler.statements.core import Core
from mooncake_py.compiler.statements.pushforward import tangent_of
from mooncake_py.compiler.statements.reductions import is_extremum
from mooncake_py.compiler.statements.statement import Part, Place, View, is_operand
from mooncake_py.overriding import override

__all__ = ["SlicedPushforward"]

ZERO = Const(0.0)
LINEAR = "add", "sub"


class SlicedPushforward(Pushforward):
    """Goes through a region with statements on slices.

    Parameters
    ----------
    functions : tuple of callable
    elements : mapping of str to int
        Of the arrays of which elements are read the number of indices.
    variables : collection of str
        The names that are bound to arrays.
    *rest
        See `Pushforward`.
    """

    def __init__(
        self,
        functions: tuple[Any, ...],
        elements: Mapping[str, int],
        variables: Collection[str],
        *rest: Any,
    ) -> None:
        super().__init__(*rest)
        self.functions = functions
        self.elements = elements
        self.variables = frozenset(variables)

    @override
    def on_slices(self, s: Sliced) -> Block:
        if s.bound not in self.names:
            return ()
        if arguments_of(s.statement.value) is not None:
            return tangent_of_call(s, self)
        t = self.value(s)
        if self.adds(s):
            return () if t is None else (self.added(s, t),)
        if t is not None:
            is_new = s.target is not None and not self.is_another_name(s)
            if is_new and s.bound in self.variables and isinstance(t, Name):
                t = Op("add", (t, ZERO))  # memory of its own, as the value has
            return (self.written(s, t, False),)
        if s.target is not None and s.bound in self.variables:
            raise NoPartial  # zeros of its shape
        if s.target is not None:
            return (Assign(Name(self.names[s.target.name], place=s.place), ZERO, place=s.place),)
        return (self.cleared(s),)

    @override
    def assigned(self, s: Assign | Let, target: Target) -> Block:
        still = set(map(Name, self.variables - self.names.keys()))
        if isinstance(target, End) and target.array in self.names and s.value in still:
            raise NoPartial  # zeros of its shape
        return super().assigned(s, target)

    def is_another_name(self, s: Sliced) -> bool:
        """Return True if the statement binds another name to an array that has one."""
        return is_operand(s.statement.value)

    def adds(self, s: Sliced) -> bool:
        """Return True if the statement adds to what it writes, or subtracts."""
        value = s.statement.value
        return s.statement.augments and isinstance(value, Op) and value.op in LINEAR

    def value(self, s: Sliced) -> Expr | None:
        """Return the tangent over operands v0, v1, ... and tangents d0, d1, ..., None if zero."""
        core = Core(s.statement, self.functions)
        if not core.is_declared:
            raise NoPartial  # a function that was another one when the loop was read
        if any(is_extremum(let.value) for let in core.reductions):
            raise NoPartial  # by comparisons, which take longer than alone
        moving = [
            k
            for k, part in enumerate(s.statement.layout)
            if s.values[part if isinstance(part, int) else part[0]].name in self.names
            and not (k == 0 and self.adds(s))
        ]
        steps = Steps(Names("e"), s.place)
        found = tangent_of(core, moving, steps, is_followed=True)
        values: dict[str, Expr] = {}
        for let in (*core.lets, *steps.lets):
            values[let.name] = substituted(let.value, values)
        return None if found is None else distributed(substituted(found, values))

    def added(self, s: Sliced, t: Expr) -> Sliced:
        """Return the statement that adds a tangent."""
        is_negative = isinstance(t, Op) and t.op == "neg"
        change = t.args[0] if is_negative else t  # type: ignore[union-attr]
        return self.written(s, Op("sub" if is_negative else "add", (Name("d0"), change)), True)

    def written(self, s: Sliced, t: Expr, augments: bool) -> Sliced:
        """Return the statement that binds or writes a tangent."""
        values = list(s.values)
        layout: list[Part] = []
        named: dict[str, Expr] = {}
        for name in dict.fromkeys(names_of([t])):
            part = s.statement.layout[int(name[1:])]
            if name[0] == "d":
                part = self.beside(part, values)
            named[name] = Name(f"v{len(layout)}")
            layout.append(part)
        target: Place | None = s.statement.target
        if target is not None:
            (target,) = [self.beside(target, values)]
        bound = None if s.target is None else Name(self.names[s.target.name], place=s.place)
        statement = s.statement._replace(
            value=substituted(t, named), layout=tuple(layout), passed=len(values), target=target,
            augments=augments, ints=(),
        )  # fmt: skip
        array = None if s.written is None else self.names[s.written]
        return Sliced(statement, tuple(values), bound, array, place=s.place)

    def beside(self, part: Any, values: list[Any]) -> Any:
        """Return where the tangent of an operand is."""
        position = part if isinstance(part, int) else part[0]
        name = Name(self.names[values[position].name])
        if name not in values:
            values.append(name)
        there = values.index(name)
        if isinstance(part, View):
            return part._replace(base=there)
        return there if isinstance(part, int) else (there, part[1])

    def cleared(self, s: Sliced) -> Assign | Sliced:
        """Return what sets a tangent to zero."""
        assert s.written is not None
        index: Sequence[Expr] = s.values[s.statement.target[1]]
        if len(ends_of(tuple(index))) == len(index) and all(
            not (isinstance(e, Op) and e.op in ("slice", "ellipsis", "taken")) for e in index
        ):
            if self.elements.get(s.written) != len(index):
                raise NoPartial
            slot = Load(self.names[s.written], tuple(index), place=s.place)
            return Assign(slot, ZERO, place=s.place)
        return self.written(s, ZERO, False)


def distributed(e: Expr) -> Expr:
    """Return an expression with sums of products in the place of products of sums.

    The factors of a product of vectors or matrices are operands, or such products.
    """
    parts = tuple(map(distributed, parts_of(e)))
    e = rebuilt(e, parts)
    if not is_contraction(e):
        return e
    for k, part in enumerate(parts):
        if isinstance(part, Op) and part.op in ("add", "sub", "neg"):
            terms = [
                distributed(rebuilt(e, (*parts[:k], term, *parts[k + 1 :]))) for term in part.args
            ]
            return Op(part.op, tuple(terms), place=e.place)
    return e
