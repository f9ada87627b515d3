"""The tangent of a statement on slices, as another one before it.

    x[i:] += a * y[i:]          t_x[i:] += t_a * y[i:] + a * t_y[i:]
                                x[i:] += a * y[i:]

Both are of the same kind, so that the tangent of a region has sweeps and a tangent too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from mooncake_py.compiler.derivatives.partials import NoPartial
from mooncake_py.compiler.derivatives.tangent import Pushforward
from mooncake_py.compiler.regions.indices import is_part
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
    Statement,
    Target,
    parts_of,
    rebuilt,
    substituted,
)
from mooncake_py.compiler.regions.simplify import names_of
from mooncake_py.compiler.regions.steps import Names, Steps
from mooncake_py.compiler.slices.calls.arguments import arguments_of
from mooncake_py.compiler.slices.calls.tangents import tangent_of_call
from mooncake_py.compiler.statements.contractions import is_contraction, is_sum
from mooncake_py.compiler.statements.core import Core
from mooncake_py.compiler.statements.pushforward import in_one, tangent_of
from mooncake_py.compiler.statements.reductions import is_extremum
from mooncake_py.compiler.statements.statement import Part, Place, View, index_in, is_operand
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
            return (s,)
        if arguments_of(s.statement.value) is not None:
            return *tangent_of_call(s, self), s
        core = Core(s.statement, self.functions)
        t = self.value(s, core)
        if t is None:
            return (s,) if self.adds(s) else (self.zero(s), s)
        shared = self.shared(s, core, t)
        before: list[Statement] = []
        values: dict[str, Expr] = {}
        for let in core.lets:
            value = values[let.name] = substituted(let.value, values)
            if let.name in shared:
                own = values[let.name] = shared[let.name]
                before.append(self.of_numbers(s, value, own) or self.statement(s, value, own))
        t = distributed(substituted(t, values))
        first = self.added(s, t) if self.adds(s) else self.stored(s, t)
        last = self.again(s, substituted(core.root, values)) if shared else s
        return *before, first, last

    def zero(self, s: Sliced) -> Statement:
        """Return what sets the tangent of the value to zero."""
        if s.target is None:
            return self.cleared(s)
        if s.bound in self.variables:
            raise NoPartial  # zeros of its shape
        return Assign(Name(self.names[s.target.name], place=s.place), ZERO, place=s.place)

    def stored(self, s: Sliced, t: Expr) -> Sliced:
        """Return what binds or writes a tangent."""
        is_new = s.target is not None and not self.is_another_name(s)
        if is_new and s.bound in self.variables and isinstance(t, Name):
            t = Op("add", (t, ZERO))  # memory of its own, as the value has
        return self.written(s, t, False)

    # What the value and its tangent read.

    def shared(self, s: Sliced, core: Core, t: Expr) -> dict[str, Name]:
        """Return new names for results that are computed once: numbers that come out of arrays."""
        if not (s.bound not in self.variables if s.target else self.element(s)):
            return {}
        read = set(names_of([t]))
        return {
            name: Name(self.fresh(), place=s.place)
            for name in numbers_of_arrays(core)
            if name in read
        }

    def again(self, s: Sliced, value: Expr) -> Statement:
        """Return the statement with a value that reads results which have names."""
        target = self.element(s) if s.target is None else s.target
        found = None if target is None else self.of_numbers(s, value, target)
        place, augments = s.statement.target, s.statement.augments
        return found or self.statement(s, value, s.target, s.written, place, augments)

    def of_numbers(self, s: Sliced, value: Expr, target: Name | Load) -> Assign | None:
        """Return what computes a number of numbers and elements, None if arrays are operands."""
        read: dict[str, Expr] = {}
        for name in names_of([value]):
            part = Name(name) if name[0] == "e" else s.statement.layout[int(name[1:])]
            if isinstance(part, int):
                part = s.values[part]
            found = part if isinstance(part, Name) else self.element_of(s, part)
            if found is None:
                return None
            read[name] = found
        return Assign(target, substituted(value, read), place=s.place)

    def element(self, s: Sliced) -> Load | None:
        """Return the element of an array that a statement writes, None if that is a slice."""
        return self.element_of(s, s.statement.target)

    def element_of(self, s: Sliced, part: Any) -> Load | None:
        """Return the element of an array that an operand is, None if it is a slice."""
        if isinstance(part, View):
            return None
        array, index = s.values[part[0]].name, s.values[part[1]]
        is_int = not any(map(is_part, index)) and self.elements.get(array) == len(index)
        return Load(array, index, place=s.place) if is_int else None

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

    def value(self, s: Sliced, core: Core) -> Expr | None:
        """Return the tangent, None if it is zero.

        It is over operands v0, v1, ..., their tangents d0, d1, ... and results t0, t1, ...
        """
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
        return None if found is None else in_one(found, steps.lets)

    def added(self, s: Sliced, t: Expr) -> Sliced:
        """Return the statement that adds a tangent."""
        is_negative = isinstance(t, Op) and t.op == "neg"
        change = t.args[0] if is_negative else t  # type: ignore[union-attr]
        return self.written(s, Op("sub" if is_negative else "add", (Name("d0"), change)), True)

    def written(self, s: Sliced, t: Expr, augments: bool) -> Sliced:
        """Return the statement that binds or writes a tangent."""
        if s.target is not None:
            return self.statement(s, t, Name(self.names[s.target.name], place=s.place))
        assert s.written is not None
        return self.statement(s, t, None, self.names[s.written], s.statement.target, augments)

    def statement(
        self,
        s: Sliced,
        value: Expr,
        target: Name | None,
        written: str | None = None,
        place: Place | None = None,
        augments: bool = False,
    ) -> Sliced:
        """Return a statement beside another one, whose operands it reads.

        Parameters
        ----------
        value : Expr
            Over operands, their tangents, and numbers.
        target : Name or None
            What it binds.
        written : str or None
            Where it writes, into an array or into its tangent.
        place : Place or None
            Where the other one writes.
        augments : bool, optional
            Whether that is changed in place.
        """
        values = list(s.values)
        layout: list[Part] = []
        named: dict[str, Expr] = {}
        for name in dict.fromkeys(names_of([value])):
            if name[0] == "e":
                part: Any = index_in(values, Name(name))
            else:
                part = s.statement.layout[int(name[1:])]
            if name[0] == "d":
                part = self.beside(part, values)
            named[name] = Name(f"v{len(layout)}")
            layout.append(part)
        if written is not None and written != s.written:
            (place,) = [self.beside(place, values)]
        statement = s.statement._replace(
            value=substituted(value, named), layout=tuple(layout), passed=len(values),
            target=place, augments=augments, ints=(),
        )  # fmt: skip
        return Sliced(statement, tuple(values), target, written, place=s.place)

    def beside(self, part: Any, values: list[Any]) -> Any:
        """Return where the tangent of an operand is."""
        base = part if isinstance(part, int) else part[0]
        there = index_in(values, Name(self.names[values[base].name]))
        if isinstance(part, View):
            return part._replace(base=there)
        return there if isinstance(part, int) else (there, part[1])

    def cleared(self, s: Sliced) -> Assign | Sliced:
        """Return what sets the tangent of what is written to zero."""
        assert s.written is not None
        index: tuple[Expr, ...] = s.values[s.statement.target[1]]
        if any(map(is_part, index)):
            return self.written(s, ZERO, False)
        if self.element(s) is None:
            raise NoPartial
        return Assign(Load(self.names[s.written], index, place=s.place), ZERO, place=s.place)


def numbers_of_arrays(core: Core) -> list[str]:
    """Return the results for which arrays are summed, and that are numbers if the value is one."""
    reached = set(names_of([core.root]))
    for let in reversed(core.lets):
        if let.name in reached and not sums(let.value):
            reached.update(names_of([let.value]))
    found: list[str] = []
    for let in core.lets:
        if sums(let.value) or not set(names_of([let.value])).isdisjoint(found):
            found.append(let.name)
    return [name for name in found if name in reached]


def sums(e: Expr) -> bool:
    """Return True for a sum of elements, or of products of them."""
    return is_contraction(e) or is_sum(e)


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
