"""Expressions for all indices at once, as arrays that are broadcast to some of the counters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mooncake_py.compiler.native.numpy_text.helpers import over, times
from mooncake_py.compiler.native.numpy_text.lengths import Lengths
from mooncake_py.compiler.native.numpy_text.scalars import INFIX, OF_NUMPY, Scalars, is_guard
from mooncake_py.compiler.native.numpy_text.views import (
    Axes,
    Axis,
    Loops,
    axes_of,
    expanded,
    parts_of_index,
    sliced,
)
from mooncake_py.compiler.native.regions import helpers
from mooncake_py.compiler.native.regions.kinds import kind_of
from mooncake_py.compiler.native.regions.region import REAL
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

__all__ = ["OneByOne", "Vectors", "is_product"]

ZERO = Const(0.0)


class OneByOne(Exception):
    """Raised for operations that NumPy does not do at once."""


def is_product(e: Expr) -> bool:
    """Return True for a product, of a cotangent too."""
    if isinstance(e, Call):
        return e.function is helpers.times
    return isinstance(e, Op) and e.op in ("mul", "times")


class Vectors:
    """Prints arrays.

    Parameters
    ----------
    scalars : Scalars
    kinds : mapping of str to str
    lengths : Lengths
    loops : Loops
    """

    def __init__(
        self,
        scalars: Scalars,
        kinds: Mapping[str, str],
        lengths: Lengths,
        loops: Loops,
    ) -> None:
        self.scalars = scalars
        self.kinds = kinds
        self.lengths = lengths
        self.loops = loops

    def text(self, e: Expr, want: Axes) -> str:
        """Return an expression as an array that is broadcast to the counters that are wanted."""
        axes = self.loops.axes(e)
        if not axes:
            return self.scalars.text(e)
        match e:
            case Name(name=name) if name in self.loops.lets:
                return expanded(self.scalars.name(name), axes, want)
            case Name(name=name):
                n = self.scalars.text(self.loops.extents[name])
                return expanded(f"np.arange({n})", axes, want)
            case Load():
                return self.part(e, want)
        return expanded(self.operation(e, axes), axes, want)

    def operation(self, e: Expr, axes: Axes) -> str:
        """Return an operation on arrays, along all of their axes."""
        match e:
            case Select():
                return self.choice(e, axes)
            case Compare(ops=ops, args=args):
                texts = [self.text(a, axes) for a in args]
                pairs = [f"({a} {INFIX[op]} {b})" for op, a, b in zip(ops, texts, texts[1:])]  # noqa: B905
                return pairs[0] if len(pairs) == 1 else f"({' & '.join(pairs)})"
            case Call(function=f, args=args):
                return self.called(f, args, axes)
            case Op(op=op, args=args):
                return self.operator(op, args, axes)
        raise OneByOne

    def called(self, f: Any, args: tuple[Expr, ...], axes: Axes) -> str:
        """Return a function of arrays."""
        texts = [self.text(a, axes) for a in args]
        if f is helpers.times or f is helpers.over:
            return self.guarded("mul" if f is helpers.times else "truediv", texts)
        if f is np.power:
            return f"({texts[0]} ** {texts[1]})"
        f = OF_NUMPY.get(f, f)
        if type(f) is not np.ufunc:
            raise OneByOne
        return f"{self.scalars.texts.function(f)}({', '.join(texts)})"

    def guarded(self, op: str, texts: list[str]) -> str:
        """Return multiples of cotangents."""
        if not self.scalars.careful:
            return f"({texts[0]} {INFIX[op]} {texts[1]})"
        f = self.scalars.texts.function(times if op == "mul" else over)
        return f"{f}({', '.join(texts)})"

    def operator(self, op: str, args: tuple[Expr, ...], axes: Axes) -> str:
        """Return an operator on arrays."""
        texts = [self.text(a, axes) for a in args]
        first = texts[0]
        match op:
            case "times":
                return self.guarded("mul", texts)
            case "pos":
                return first
            case "neg":
                return f"(-{first})"
            case "not":
                return f"(~{first})"
            case "and" | "or":
                return f"({(' & ' if op == 'and' else ' | ').join(texts)})"
            case "abs":
                return f"np.abs({first})"
            case "float":
                is_float = kind_of(args[0], self.kinds) in REAL
                return first if is_float else f"{first}.astype(np.float64)"
            case "int":
                return f"{first}.astype(np.int64)"
            case "min" | "max":
                f, *rest = ("np.minimum" if op == "min" else "np.maximum"), *texts
                found = rest[0]
                for other in rest[1:]:
                    found = f"{f}({found}, {other})"
                return found
        if op not in INFIX:
            raise OneByOne
        return f"({f' {INFIX[op]} '.join(texts)})"

    def choice(self, e: Select, axes: Axes) -> str:
        """Return the operand that a test chooses."""
        scalars = self.scalars
        if not scalars.careful and is_guard(e):
            return self.text(e.b, axes)
        if not self.loops.axes(e.test):
            sides = [self.side(part, self.loops.axes(e), axes) for part in (e.a, e.b)]
            return f"({sides[0]} if {scalars.text(e.test)} else {sides[1]})"
        self.require_all(e)
        share = None if scalars.careful else self.share(e, axes)
        if share is not None:
            return share
        test, a, b = (self.text(part, axes) for part in (e.test, e.a, e.b))
        if scalars.in_reverse and not scalars.careful:
            if e.b == ZERO and not isinstance(e.a, Const):
                return f"({a} * {test})"
            if e.a == ZERO and not isinstance(e.b, Const):
                return f"({b} * ~{test})"
        return f"np.where({test}, {a}, {b})"

    def side(self, e: Expr, own: Axes, axes: Axes) -> str:
        """Return one side of a choice by one test, with the axes of the other side too."""
        text = self.text(e, axes)
        if set(self.loops.axes(e)) == set(own):
            return text
        extents = [self.loops.extents[k] if k in own else Const(1) for k in axes]
        shape = ", ".join(map(self.scalars.text, extents))
        return f"np.broadcast_to({text}, ({shape},))"

    def share(self, e: Select, axes: Axes) -> str | None:
        """Return the share of the greater or the lesser of two, half of it if they are equal.

        None for other choices.
        """
        half = self.loops.values.get(e.a.name, e.a) if isinstance(e.a, Name) else e.a
        match e, half:
            case (
                Select(
                    test=Compare(ops=("eq",), args=(x, y)),
                    b=Select(test=Compare(ops=(("gt" | "lt") as op,), args=(p, q)), a=d, b=zero),
                ),
                Op(op="mul", args=(other, Const(value=0.5))),
            ) if d == other and zero == ZERO and {x, y} == {p, q}:
                a, b, h = (self.text(part, axes) for part in (p, q, e.a))
                sign = INFIX[op]
                shares = [f"({a} {sign}{own} {b}).view(np.int8)" for own in ("", "=")]
                return f"({h} * ({shares[0]} + {shares[1]}))"
        return None

    def require_all(self, e: Select) -> None:
        """Raise where a side of a choice may read beyond an array: NumPy reads both in full."""
        tested = set(self.loops.axes(e.test))
        for side in (e.a, e.b):
            for load in walk(side):
                if isinstance(load, Load) and not tested.isdisjoint(self.loops.axes(*load.index)):
                    for axis, part in enumerate(parts_of_index(self.loops, load.index)):
                        if part.is_free or (
                            part.counter in tested and not self.goes_through(load, axis, part)
                        ):
                            raise OneByOne

    def goes_through(self, load: Load, axis: int, part: Axis) -> bool:
        """Return True if an index goes through all of an axis, one after another."""
        n = self.loops.extents[part.counter]
        return part.step == 1 and part.e == Const(0) and self.is_length(n, load.array, axis)

    def is_length(self, n: Expr, array: str, axis: int) -> bool:
        """Return True for the length of an axis, as far as the text tells."""
        return self.lengths.same(n, Length(array, axis))

    # Parts of arrays.

    def part(self, e: Load, want: Axes) -> str:
        """Return a part of an array, with its axes in the order of the counters."""
        parts = parts_of_index(self.loops, e.index)
        axes: list[str] = []  # of what NumPy gives
        for part, i in zip(parts, e.index, strict=True):
            axes += self.loops.axes(i) if part.is_free else [part.counter] if part.counter else []
        free = [part for part in parts if part.is_free]
        is_mixed = bool(free) and not all(part.is_free or part.counter for part in parts)
        if len(free) > 1 or is_mixed or len(set(axes)) < len(axes):
            return self.gathered(e, want)
        array = self.scalars.name(e.array)
        texts = [self.along(e, axis, part) for axis, part in enumerate(parts)]
        while texts and texts[-1] == ":":
            texts.pop()
        text = f"{array}[{', '.join(texts)}]" if texts else array
        turned = [part.counter for part in parts if part.step == -1]
        if turned:
            text += f"[{', '.join('::-1' if k in turned else ':' for k in axes)}]"
        order = tuple(sorted(axes, key=self.loops.counters.index))
        if list(order) != axes:
            places = ", ".join(str(axes.index(k)) for k in order)
            text += ".T" if len(axes) == 2 else f".transpose({places})"
        return expanded(text, order, want)

    def along(self, e: Load, axis: int, part: Axis) -> str:
        """Return how an index goes along an axis."""
        if part.is_free:
            return self.text(part.e, self.loops.axes(part.e))
        if not part.counter:
            return self.scalars.text(part.e)
        if self.goes_through(e, axis, part):
            return ":"
        n = self.loops.extents[part.counter]
        return sliced(self.scalars, self.lengths, e.array, axis, part, n)

    def gathered(self, e: Load, want: Axes) -> str:
        """Return elements of an array at places that are computed."""
        axes = axes_of(self.loops, e)
        text = f"{self.scalars.name(e.array)}[{self.places(e, axes)}]"
        return expanded(text, axes, want)

    def places(self, e: Load, axes: Axes) -> str:
        """Return the index of elements at places that are computed."""
        parts = parts_of_index(self.loops, e.index)
        texts = []
        for part, i in zip(parts, e.index, strict=True):
            texts.append(self.text(part.e if part.is_free else i, axes))
        return ", ".join(texts)

    def target(self, e: Load) -> tuple[str, bool]:
        """Return the place that is written, and whether it is a part that NumPy has a view of."""
        parts = parts_of_index(self.loops, e.index)
        steps = [part.counter for part in parts if part.counter]
        axes = axes_of(self.loops, e)
        if any(part.is_free for part in parts) or len(set(steps)) < len(steps):
            return f"{self.scalars.name(e.array)}[{self.places(e, axes)}]", False
        return self.part(e, axes), True
