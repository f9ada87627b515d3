"""Statements for all indices, and operations along axes, as statements of NumPy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeGuard

from mooncake_py.compiler.derivatives.activity import part_of
from mooncake_py.compiler.native.numpy_text.helpers import Leave, added_at
from mooncake_py.compiler.native.numpy_text.scalars import INFIX, from_end
from mooncake_py.compiler.native.numpy_text.sums import axis_in, stripped, summed
from mooncake_py.compiler.native.numpy_text.vectors import OneByOne, Vectors
from mooncake_py.compiler.native.numpy_text.views import Axes, Loops, axes_of, parts_of_index
from mooncake_py.compiler.native.regions.kinds import kind_of
from mooncake_py.compiler.native.regions.linear import minus
from mooncake_py.compiler.native.regions.mentions import bound_by, expressions_in, values_in
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, INT
from mooncake_py.compiler.regions.ir import (
    Assign,
    Bump,
    Call,
    Check,
    Compare,
    Const,
    Expr,
    ForAll,
    Let,
    Load,
    Name,
    Op,
    Places,
    Pop,
    Push,
    Reduce,
    Select,
    Statement,
    substituted,
    walk,
)
from mooncake_py.compiler.regions.wholes import CUMULATIVE, SUMS

__all__ = ["Wholes"]

ZERO = Const(0)
MAKES = {FLOAT: "float", INT: "int", BOOL: "bool"}
DTYPES = {FLOAT: "np.float64", INT: "np.int64", BOOL: "np.bool_"}
UFUNCS = {"max": "maximum", "min": "minimum"}
EXACT = frozenset({"sum", "total", "trace"})


class Wholes:
    """Prints one statement.

    Parameters
    ----------
    printer : Block printer
        Takes lines, and knows the arrays that are yet to be made.
    """

    def __init__(self, printer: Any, s: ForAll | Reduce | Places) -> None:
        self.p = printer
        self.s = s
        extents = dict(zip(s.counters, s.extents, strict=True))
        self.loops = Loops(s.counters, extents)
        self.v = Vectors(printer.scalars, printer.kinds, printer.lengths, self.loops)
        self.scalars = printer.scalars

    def line(self, text: str) -> None:
        """Print a line."""
        self.p.line(text)

    # For all indices.

    def for_all(self, body: Sequence[Statement]) -> None:
        """Print statements for all indices, one after another."""
        ordered = clears_last(body)
        for k, s in enumerate(ordered):
            self.one(s, ordered[k + 1 :])

    def one(self, s: Statement, later: Sequence[Statement]) -> None:
        """Print one of them."""
        match s:
            case Let(name=name, value=value):
                axes = self.loops.axes(value)
                text = self.v.text(value, axes)
                if axes and not self.is_fresh(value) and self.is_overwritten(name, value, later):
                    text += ".copy()"
                self.loops.bind(name, value)
                self.line(f"{self.scalars.name(name)} = {text}")
            case Push(value=value):
                self.push(value)
            case Check(test=test):
                if self.is_asked(test):
                    return
                axes = self.loops.axes(test)
                text = self.v.text(test, axes)
                text = f"np.all({text})" if axes else text
                self.line(f"if not {text}: raise {self.scalars.texts.function(Leave)}")
            case Assign(target=Load() as target, value=Pop()):
                self.pop(target)
            case Assign(target=target, value=value):
                is_new = part_of(target) in self.p.rebound
                if isinstance(value, Op) and not is_new and adds_to(value, target):
                    more = value.args[1] if value.op == "add" else Op("neg", (value.args[1],))
                    self.bump(target, more, is_exact=not self.scalars.in_reverse)
                else:
                    self.store(target, value)
            case Bump(target=target, value=value):
                self.bump(target, value)
            case _:
                raise OneByOne

    def is_asked(self, test: Expr) -> bool:
        """Return True for a test of indices that NumPy asks itself, as it uses them afterwards.

        It counts from the end where they are negative, and raises where there is no element.
        """
        match test:
            case Compare(ops=("le", "lt"), args=(least, Load() as i, n)) if minus(ZERO, least) == n:
                return any(
                    from_end(e) == renamed(i, from_end(e)) and self.v.is_length(n, part.array, axis)
                    for part in self.p.parts_read_next()
                    for axis, e in enumerate(part.index)
                )
        return False

    def is_overwritten(self, name: str, value: Expr, later: Sequence[Statement]) -> bool:
        """Return True if parts of arrays that have a name are written before they are last read."""
        arrays = {e.array for e in walk(value) if isinstance(e, Load)}
        names, last = {name}, -1
        for k, s in enumerate(later):
            if not names.isdisjoint(values_in(expressions_in(s))):
                last = k
                if isinstance(s, Let) and not self.is_fresh(s.value):
                    names.add(s.name)
        return any(not arrays.isdisjoint(bound_by(s)) for s in later[: max(last, 0)])

    def is_fresh(self, e: Expr) -> bool:
        """Return True if an expression is new memory, and no view."""
        match e:
            case Load(index=index):
                return any(part.is_free for part in parts_of_index(self.loops, index))
            case Op(op=op):
                return op not in ("pos", "float")
            case Select(test=test):
                return bool(self.loops.axes(test))
        return isinstance(e, Call | Compare)

    def push(self, e: Expr) -> None:
        """Save a part of an array."""
        axes = self.loops.axes(e)
        text = self.v.text(e, axes)
        is_shared = isinstance(e, Load) and (self.p.stays(e.array) or e.array in self.p.rebound)
        if axes and not (is_shared and text.isidentifier()):
            self.line(f"save({text})")
        else:
            self.line(f"push({text})")

    def pop(self, target: Load) -> None:
        """Put a part of an array back."""
        array = target.array
        if self.p.is_whole(self.loops, target) and (
            self.p.may_bind(array)
            or array in self.p.inputs  # which no one looks at afterwards
            or array in self.p.rebound
        ):
            is_alone = self.p.is_written_once(array) or array in self.p.rebound
            self.p.bind(array, "pop()" if is_alone else "pop().copy()")
            return
        self.p.materialize({target.array})
        place, is_view = self.v.target(target)
        self.line(f"{written(place, is_view, bool(axes_of(self.loops, target)))} = pop()")

    def store(self, target: Any, value: Expr) -> None:
        """Store in a part of an array; each element in one pass."""
        axes = axes_of(self.loops, target)
        if not isinstance(target, Load) or set(axes) != set(self.loops.counters):
            raise OneByOne
        kind = self.p.kinds.get(target.array, FLOAT)
        text = self.v.text(value, axes)
        if (
            self.p.may_bind(target.array)
            and self.p.is_whole(self.loops, target)
            and self.loops.axes(value) == axes
            and self.is_fresh(value)
            and target.array not in values_in((value,))
            and kind_of(value, self.p.kinds) == kind
        ):
            self.p.bind(target.array, text)
            return
        if target.array in self.p.rebound:
            self.p.materialize({target.array} & values_in((value,)))  # what is added to
            text = self.full(value, axes)
            is_new = self.is_fresh(value) and self.loops.axes(value) == axes
            is_new |= (
                text.isidentifier() and isinstance(value, Load) and value.array in self.p.rebound
            )
            is_alike = kind_of(value, self.p.kinds) == kind
            made = text if is_new else f"{text}.copy()"
            self.p.bind(target.array, made if is_alike else f"{text}.astype({DTYPES[kind]})")
            return
        self.p.materialize({target.array})
        place, is_view = self.v.target(target)
        factor = self.factor(target, value)
        if is_view and factor is not None:
            op, e = factor
            self.in_place(place, f"{INFIX[op]}=", self.v.text(e, axes))
            return
        if isinstance(value, Const) and is_view and place.isidentifier():
            self.line(f"{place}.fill({text})")
        else:
            self.line(f"{written(place, is_view, bool(axes))} = {text}")

    def bump(self, target: Any, value: Expr, *, is_exact: bool = False) -> None:
        """Add to a part of an array, or to a number; several passes may add to one element."""
        axes = axes_of(self.loops, target)
        is_negative, value = stripped(value)
        sign = "-=" if is_negative else "+="
        if not axes:
            text = summed(self.v, value, (), products=not is_exact)
            place = self.scalars.text(target)
            if isinstance(target, Load):
                self.p.materialize({target.array})
            is_array = bool(self.loops.axes(value))
            self.line(f"{place} {sign} {f'float({text})' if is_array else text}")
            return
        place, is_view = self.v.target(target)
        if not is_view:
            if set(self.loops.axes(value)) - set(axes) or set(axes) != set(self.loops.counters):
                raise OneByOne
            self.p.materialize({target.array})
            index = self.v.places(target, axes)
            index = f"({index})" if len(target.index) > 1 else index
            f = self.scalars.texts.function(added_at)
            array = self.scalars.name(target.array)
            self.line(
                f"{f}({array}, {index}, {'-' if is_negative else ''}{self.v.text(value, axes)})"
            )
            return
        text = summed(self.v, value, axes, products=not is_exact)
        own = tuple([k for k in self.loops.axes(value) if k in axes])
        if (
            self.p.may_bind(target.array, zero=True)
            and self.p.is_whole(self.loops, target)
            and own == axes
            and target.array not in values_in((value,))
        ):
            is_view = self.loops.axes(value) == axes and not self.is_fresh(value)
            text = f"-{text}" if is_negative else f"{text}.copy()" if is_view else text
            self.p.bind(target.array, text)
            return
        self.p.materialize({target.array})
        self.in_place(place, sign, text)

    def factor(self, target: Load, value: Expr) -> tuple[str, Expr] | None:
        """Return by what a part of an array is multiplied or divided, None if it is not."""
        if not isinstance(value, Op) or value.op not in ("mul", "truediv"):
            return None
        a, b = value.args
        for first, other in ((a, b), (b, a)) if value.op == "mul" else ((a, b),):
            known = self.loops.values.get(first.name) if isinstance(first, Name) else first
            if known == target:
                return value.op, other
        return None

    def in_place(self, place: str, sign: str, text: str) -> None:
        """Print what changes a part of an array."""
        if not place.isidentifier():  # else the part would be stored in itself afterwards
            self.line(f"part = {place}")
            place = "part"
        self.line(f"{place} {sign} {text}")

    # Operations along axes.

    def reduce(self) -> None:
        """Print an operation along axes."""
        s = self.s
        assert isinstance(s, Reduce)
        kind = self.p.kinds.get(part_of(s.target), FLOAT)
        kept = tuple([k for k in s.counters if k not in s.along])
        if s.op in CUMULATIVE:
            text, kept = self.cumulated(s), s.counters
        elif s.op in SUMS:
            text = self.added_up(s, kept, kind)
        else:
            text = self.reduced(s, kept)
        if isinstance(s.target, Name):
            name = self.scalars.name(s.target.name)
            self.line(f"{name} = {MAKES[kind]}({text})")
            if s.op in ("max", "min"):  # of nan it is not known where it is
                self.line(f"if {name} != {name}: raise {self.scalars.texts.function(Leave)}")
            return
        if s.op in ("max", "min") and kind == FLOAT:
            leave = self.scalars.texts.function(Leave)
            self.line(f"found = {text}")
            self.line("total = np.add.reduce(found, axis=None)")
            self.line(f"if total != total: raise {leave}")
            text = "found"
        target = s.target
        own = self.loops.axes(s.value)
        if (
            self.p.may_bind(target.array)
            and self.p.is_whole(self.loops, target, kept)
            and set(kept) <= set(own)
            and (s.along or s.op in SUMS)
        ):
            is_view = not s.along and not self.is_fresh(s.value)
            self.p.bind(target.array, f"{text}.copy()" if is_view else text)
            return
        self.p.materialize({target.array})
        place, is_view = self.v.target(target)
        self.line(f"{written(place, is_view, bool(axes_of(self.loops, target)))} = {text}")

    def full(self, e: Expr, want: Axes) -> str:
        """Return an expression as an array that has all axes in full."""
        text = self.v.text(e, want)
        if self.loops.axes(e) == want:
            return text
        shape = ", ".join(self.scalars.text(self.loops.extents[k]) for k in want)
        return f"np.broadcast_to({text}, ({shape},))"

    def added_up(self, s: Reduce, kept: Axes, kind: str) -> str:
        """Return a sum; as the user has it, and not as a product that it is not."""
        if s.op == "total" and not s.along:  # of one item, which Python adds to 0
            return f"(0 + {self.v.text(s.value, kept)})"
        if s.op == "total":
            return f"sum({self.full(s.value, s.counters)})"
        if s.op == "trace" or kind != FLOAT:
            return f"np.sum({self.full(s.value, s.counters)}, axis={axis_in(s.counters, s.along)})"
        is_inner = s.op == "inner"
        return summed(self.v, s.value, kept, products=s.op not in EXACT, is_inner=is_inner)

    def reduced(self, s: Reduce, kept: Axes) -> str:
        """Return an extremum, its place, a product, or what is true of elements."""
        if not s.along:
            return "0" if s.op.startswith("arg") else self.v.text(s.value, kept)
        whole = self.full(s.value, s.counters)
        if s.op == "count":
            return f"np.count_nonzero({whole})"
        if s.op in UFUNCS:  # which is what NumPy's function calls
            return f"np.{UFUNCS[s.op]}.reduce({whole}, axis={axis_in(s.counters, s.along)})"
        f = f"np.{s.op}"
        if s.op.startswith("arg") and len(s.along) > 1:
            if kept:
                raise OneByOne
            return f"{f}({whole})"
        axis = axis_in(s.counters, s.along)
        return f"{f}({whole})" if axis == "None" else f"{f}({whole}, axis={axis})"

    def cumulated(self, s: Reduce) -> str:
        """Return sums or products up to each element."""
        whole = self.full(s.value, s.counters)
        if not s.along:
            return whole
        return f"np.{s.op}({whole}, axis={s.counters.index(s.along[0])})"

    def places(self) -> None:
        """Print what finds the places where a test holds."""
        s = self.s
        assert isinstance(s, Places)
        test = self.full(s.test, s.counters)
        arrays = dict(zip(s.index, s.arrays, strict=True))
        found = [self.scalars.name(arrays[Name(k)]) for k in s.counters]
        count = self.scalars.name(s.count)
        if found:
            self.line(f"{', '.join(found)}, = np.nonzero({test})")
            self.line(f"{count} = {found[0]}.size")
        else:
            self.line(f"{count} = int({test})")
        for i, array in zip(s.index, s.arrays, strict=True):
            self.p.settled(array)
            if isinstance(i, Const):
                self.line(f"{self.scalars.name(array)} = np.zeros({count}, np.int64)")
            self.p.defined(array)


def adds_to(value: Op, target: Expr) -> bool:
    """Return True for a sum with, or a difference from, what a target holds."""
    return value.op in ("add", "sub") and value.args[0] == target


SIMPLE = re.compile(r"\w+\[[^][]*\]")


def written(place: str, is_view: bool, has_axes: bool) -> str:
    """Return a place that is assigned to."""
    return f"{place}[...]" if is_view and has_axes and not SIMPLE.fullmatch(place) else place


def renamed(e: Load, other: Expr) -> Expr | None:
    """Return an element with the counters of another one, which differ in their names only."""
    if not isinstance(other, Load) or len(other.index) != len(e.index):
        return None
    names: dict[str, Expr] = {}
    for one, new in zip(walk(e), walk(other), strict=False):
        if isinstance(one, Name) and isinstance(new, Name):
            names[one.name] = new
    return substituted(e, names)


def clears_last(body: Sequence[Statement]) -> list[Statement]:
    """Return statements in an order in which what changes an array comes last, clearing it at most.

    What was read of it before needs no copy then.
    """
    ordered = list(body)
    read = {e.array for s in body if isinstance(s, Let) for e in walk(s.value) if is_load(e)}
    changes = [s for s in body if isinstance(s, Bump) and part_of(s.target) in read]
    for s in (*changes, *filter(is_clear, body)):
        at = ordered.index(s)
        if all(may_follow(s, other) for other in ordered[at + 1 :]):
            ordered.append(ordered.pop(at))
    return ordered


def is_clear(s: Statement) -> bool:
    """Return True for what makes a part of an array zero."""
    return isinstance(s, Assign) and isinstance(s.target, Load) and s.value == Const(0.0)


def is_load(e: Expr) -> TypeGuard[Load]:
    """Return True for an element of an array."""
    return isinstance(e, Load)


def may_follow(s: Statement, other: Statement) -> bool:
    """Return True if a statement that changes an array may come after another one."""
    assert isinstance(s, Assign | Bump)
    if not isinstance(other, Let | Assign | Bump):
        return False
    own = {part_of(s.target)}
    target = None if isinstance(other, Let) else other.target
    index = target.index if isinstance(target, Load) else ()
    read = values_in((*index, other.value))
    mine = values_in((s.value, *(s.target.index if isinstance(s.target, Load) else ())))
    bound = set(bound_by(other))
    adds = isinstance(s, Bump) and isinstance(other, Bump)
    return own.isdisjoint(read) and mine.isdisjoint(bound) and (adds or own.isdisjoint(bound))
