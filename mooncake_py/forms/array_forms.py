"""Statements and expressions on float64 arrays recorded as one entry: ``u[1:-1] = a * u[2:] + v``.

Done operation by operation, each slice costs a view that the engine must know, and each operation
an entry with its temporaries.  Here one generated function reads the slices, computes natively,
and records one entry (see `array_code`).  A form is made for each pattern of kinds, of shapes that
are broadcast, and of activity; what fits none (another dtype, index arrays, an exception) goes
another way, which is the reference.

Measured, gradient over primal: alternating directions 5.4 -> 3.3, LU 6.2 -> 4.7, symmetric
products 8.2 -> 4.6, shortest paths 7.8 -> 3.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.forms.array_adjoint import (
    ARRAYS,
    ELEMENT,
    FACTORS,
    FULL,
    FULL_FACTORS,
    PART,
)
from mooncake_py.forms.array_code import ArrayWriter, Target, Way
from mooncake_py.forms.contractions import (
    arities,
    is_contraction,
    is_sum,
    operands_of,
    shapes_of_steps,
)
from mooncake_py.forms.fused_code import NUMBERS, Writer
from mooncake_py.forms.fusion import Fused, kind_name
from mooncake_py.forms.number_code import NumberWriter
from mooncake_py.forms.number_functions import slopes_of
from mooncake_py.forms.output_code import OutputWriter
from mooncake_py.forms.partials import partials_of
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.pulls import is_basic
from mooncake_py.runtime.values import FLOAT64

__all__ = ["ArrayForms", "specialise"]

MISSES = 20


class ArrayForms:
    """The forms of one statement or expression.

    Parameters
    ----------
    core : Fused
        The expression over values; of an augmented assignment the whole of it, whose operand 0 is
        what is changed in place.
    layout : tuple
        For each operand of the core the position of its value among those passed, or the
        positions of what is indexed and of the index.
    target : tuple of int, int or None
        Positions of the array that is written and of the index; or of a name, which is changed in
        place if it is bound to an array.
    augments : bool
        Whether the target is changed in place, by an operator.
    basic : set of int
        Positions of indices that are ints and slices for certain.
    otherwise, choose : callable
        The way that always serves, and the one that finds the form for other kinds.
    into : bool
        Whether the last function of the core writes into the target by ``out=``; if the target is
        changed in place, it is operand 0 of that function or of others.
    """

    def __init__(
        self,
        core: Fused,
        layout: tuple[Any, ...],
        target: Target,
        augments: bool,
        basic: frozenset[int],
        otherwise: Way,
        choose: Way,
        into: bool = False,
    ) -> None:
        self.core = core
        self.layout = layout
        self.target = target
        self.augments = augments
        self.basic = basic
        self.otherwise = otherwise
        self.choose = choose
        self.into = into
        pairs = [part for part in (*layout, target) if type(part) is tuple]
        outputs = [target] if into and type(target) is int else []
        self.bases = tuple(dict.fromkeys([*(base for base, _ in pairs), *outputs]))
        self.indices = tuple(dict.fromkeys(index for _, index in pairs))
        self.contractions = [k for k, step in enumerate(core.steps) if is_contraction(step)]
        self._forms: dict[Any, Way | None] = {}
        self.misses = 0

    def find(self, ctx: Any, functions: Any, values: Any) -> Way | None:
        """Return the form for what the values are, made when it is first met; None if none fits."""
        form = self.fitting(ctx, functions, values) if self.serves(values) else None
        self.misses = self.misses + 1 if form is None else 0
        return form

    def fitting(self, ctx: Any, functions: Any, values: Any) -> Way | None:
        """Return the form, where all that is indexed may serve."""
        try:
            operands = [
                values[part] if type(part) is int else values[part[0]][values[part[1]]]
                for part in self.layout
            ]
            found = self.kinds_of(functions, operands, values)
        except Exception:
            return None  # the reference raises it again
        if found is None:
            return None
        kinds, whole = found
        arrays = self.arrays(kinds)
        activity = tuple([ctx.find(values[p]) is not None for p in arrays])
        key = functions, kinds, whole, activity
        try:
            return self._forms[key]
        except KeyError:
            form = self._forms[key] = self.make(*key)
            return form

    def serves(self, values: Any) -> bool:
        """Tell whether all that is indexed are float64 arrays, and the indices ints and slices.

        Where nothing fitted again and again, nothing is tried any more.
        """
        return (
            self.misses < MISSES
            and all(type(values[p]) is ndarray and values[p].dtype is FLOAT64 for p in self.bases)
            and all(p in self.basic or is_basic(values[p]) for p in self.indices)
        )

    def kinds_of(
        self, functions: Any, operands: list[Any], values: Any
    ) -> tuple[tuple[Any, ...], bool | None] | None:
        """Return the kind of each operand, and whether the value has the shape of the result.

        The latter is None where the value is a number that is bound to a name or stored in an
        element; then the shape is that of what was summed.  None where no form can serve.
        """
        for operand in operands:
            t = type(operand)
            if t is ndarray:
                if operand.dtype is not FLOAT64 or not operand.ndim:
                    return None
            elif t is not Active and t not in NUMBERS:
                return None
        in_place = self.augments and type(operands[0]) is ndarray
        by_operator = in_place and not self.into
        steps = self.core.steps
        root = steps[-1][2] if by_operator else ("t", len(steps) - 1)
        shapes = [operand.shape if type(operand) is ndarray else () for operand in operands]
        found = shapes_of_steps(steps[:-1] if by_operator else steps, functions, shapes)
        value = found[root[1]] if root[0] == "t" else shapes[root[1]] if root[0] == "v" else ()
        shape = shapes[0] if in_place else value
        if type(self.target) is tuple and not in_place:
            shape = np.shape(values[self.target[0]][values[self.target[1]]])
        elif self.into and not in_place:
            shape = values[self.target].shape
        if self.into and not shape:
            return None
        whole: bool | None = value == shape
        summed = {
            found[step[2][1]] if step[2][0] == "t" else shapes[step[2][1]]
            for step in steps
            if is_sum(step, functions)
        }
        if shape == () == value and any(shapes):
            whole = None
            if len(summed) > 1 or () in summed:
                return None
            shape = summed.pop() if summed else None
        elif summed or not shape or np.broadcast_shapes(shape, value) != shape:
            return None
        contracted, elementwise = self.roles
        if contracted and whole is False and value != ():
            return None
        products = [found[k] for k in self.contractions if ("t", k) in elementwise]
        if any(product not in (shape, ()) for product in products):
            return None
        kinds: list[Any] = []
        for k, (part, operand) in enumerate(zip(self.layout, operands, strict=True)):
            if type(operand) is not ndarray:
                kinds.append(ELEMENT if type(part) is tuple else type(operand))
            elif shape is None and ("v", k) in elementwise:
                return None
            elif ("v", k) not in contracted:
                kinds.append(FULL if operand.shape == shape else PART)
            elif ("v", k) not in elementwise:
                kinds.append(FACTORS[operand.ndim])
            elif operand.shape == shape:
                kinds.append(FULL_FACTORS[operand.ndim])
            else:
                return None
        return tuple(kinds), True if self.into else whole

    @cached_property
    def roles(self) -> tuple[set[Any], set[Any]]:
        """What is contracted, and what other operations read."""
        contracted: set[Any] = set()
        elementwise: set[Any] = set()
        for k, step in enumerate(self.core.steps):
            (contracted if k in self.contractions else elementwise).update(operands_of(step))
        return contracted, elementwise

    def arrays(self, kinds: tuple[Any, ...]) -> list[int]:
        """Return the positions of all arrays among the values."""
        named = [
            part
            for part, kind in zip(self.layout, kinds, strict=True)
            if type(part) is int and kind in ARRAYS
        ]
        return list(dict.fromkeys([*self.bases, *named]))

    def make(self, functions: Any, kinds: Any, whole: bool | None, activity: Any) -> Way | None:
        """Generate the form for one pattern, or return None where there is none."""
        partials = list(map(partials_of, functions, arities(self.core.steps)))
        on = dict(zip(self.arrays(kinds), activity, strict=True))
        kind = NumberWriter if whole is None else OutputWriter if self.into else ArrayWriter
        writer = kind(self, functions, partials, kinds, whole, on)
        return writer.form() if writer.can_write() else None

    def texts(self) -> Iterator[tuple[tuple[Any, list[str]], str]]:
        """Yield the forms made so far: functions, kinds of the core's operands, and text."""
        for (functions, kinds, _, activity), form in self._forms.items():
            if form is None:
                continue
            on = dict(zip(self.arrays(kinds), activity, strict=True))
            yield (functions, [
                ("active " if on.get(part[0] if type(part) is tuple else part) else "")
                + (kind if type(kind) is str else kind_name(kind))
                for part, kind in zip(self.layout, kinds, strict=True)
            ]), form.text  # type: ignore[attr-defined]  # fmt: skip


def specialise(fused: Fused, functions: tuple[Any, ...], kinds: tuple[type, ...]) -> Any:
    """Return the form of an expression on numbers, the forms on arrays, or None if none serves."""
    if any(t is not Active and t is not ndarray and t not in NUMBERS for t in kinds):
        return None
    if ndarray in kinds:
        augments = fused.inplace is not None
        return ArrayForms(
            fused, tuple(range(fused.count)), 0 if augments else None, augments, frozenset(),
            fused.general, fused.dispatch,
        )  # fmt: skip
    slopes = list(map(slopes_of, functions, arities(fused.steps)))
    if Active not in kinds or None in slopes or any(map(is_contraction, fused.steps)):
        return None
    return Writer(fused, functions, slopes, kinds).scalar_form()
