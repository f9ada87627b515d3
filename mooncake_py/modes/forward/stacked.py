"""Forward mode along several directions at once: the function runs once for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.containers.sequences import SUBSCRIPTS, plain_subscript
from mooncake_py.language import records
from mooncake_py.language.array_language import ArrayLanguage
from mooncake_py.modes.forward import pushforward, quick
from mooncake_py.modes.forward.at_once import AT_ONCE
from mooncake_py.modes.forward.context import ForwardContext
from mooncake_py.modes.forward.levels import operator_call
from mooncake_py.modes.forward.operations import (
    FLOORDIV,
    HEAD,
    LINEAR,
    MATMUL,
    TANGENTS,
    are_quick,
    of_numbers,
    shares,
)
from mooncake_py.modes.forward.stack import (
    Stack,
    each,
    holds_stack,
    stacked,
)
from mooncake_py.modes.forward.stacked_blocks import StackedBlocks
from mooncake_py.modules import draws_numbers
from mooncake_py.overriding import override
from mooncake_py.rules.exact_zeros import surely_finite
from mooncake_py.runtime import drops
from mooncake_py.runtime.active import REAL_SCALARS, Active, active_number, primal_of
from mooncake_py.runtime.late_errors import has_assigned, has_written
from mooncake_py.runtime.operators import BinaryOperator
from mooncake_py.runtime.quiet import Quiet, loud_again, quiet, setting
from mooncake_py.runtime.rows import aligned, rows_at
from mooncake_py.runtime.values import FLOAT64, is_inexact
from mooncake_py.tangents.memory import has_overlaps

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["StackedContext"]

ONE_TANGENT = REAL_SCALARS | {int}  # numbers of which loops are one entry


RUN = (
    HEAD
    + """
    if type(t) in MAYBE_ROWS and type(u) in MAYBE_ROWS and type(p) in REAL and type(q) in REAL:
        y = w = p {symbol} q
        before = setting()
        try:
            quiet()
            c = {left} if u is None else {right} if t is None else {both}
            is_float = c.dtype is FLOAT64 and surely_finite(c) and type(y) in SCALARS
        finally:
            loud_again(before)
        if is_float and self.blocks.several:
            x = Active()
            x.primal = y
            x.grad = c
            x.context = self
            return x
        return again(self, a, b)
    return self.binary(op, a, b)
"""
)


class StackedContext(ForwardContext):
    """Primals with tangents along several directions, and nothing active below.

    Operators, elements and most rules compute all tangents: arithmetic on floats in one operation
    of NumPy, the rest along each direction.  Whatever handles one tangent only asks for it by
    `split` or by `blocks`: from then on there is one direction, the first, and this is a
    `ForwardContext` like others.  So no function runs half, and none is refused.

    Parameters
    ----------
    directions : int
    """

    blocks: StackedBlocks
    is_stacked = True

    def __init__(self, base: Mode, directions: int) -> None:
        super().__init__(base, plain=True)
        self.directions = directions
        self.blocks = StackedBlocks(base.registry, drops.reporter(self), directions)

    # One direction.

    @override
    def keep_first(self) -> None:
        self.blocks.keep_first()

    @override
    def split(self, value: Any) -> tuple[Any, Any]:
        if type(value) is Active and value.context is self and type(value.grad) is ndarray:
            direction = self.blocks.direction
            if direction is None:
                self.keep_first()
            kind: Any = value.primal.__class__
            return value.primal, kind(value.grad[direction or 0])
        return super().split(value)

    @override
    def based_on(self, base: Mode) -> Any:
        self.keep_first()
        return super().based_on(base)

    @override
    def heed_settings(self) -> None:
        super().heed_settings()
        self.pushes = False  # statements have forms of their own for several directions

    @override
    def run_region(self, site: Any, functions: Any, steps: Any, inputs: Any) -> Any:
        if site.given_as:  # a list, each number of which has tangents along all directions
            return Elsewhere
        if not may_run(site, steps, inputs):  # it would ask for tangents before it says so
            return Elsewhere
        for _, items in site.lists(inputs):
            self.settle(items)
        return super().run_region(site, functions, steps, inputs)

    def settle(self, items: Any) -> None:
        """Let the numbers in a list have one tangent: regions read them there."""
        for value in items:
            if type(value) is Active and value.context is self:
                _, value.grad = self.split(value)

    # All directions.

    @property
    @override
    def several(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.blocks.several

    def fresh_rows(self, y: Any, rows: ndarray | list[Any]) -> Any:
        """Return a new value with its tangents, one for each direction."""
        whole = rows if type(rows) is ndarray else np.array(rows)
        return self.fresh(y, Stack(whole, type(y) is not ndarray))

    def rows_of(self, value: Any) -> ndarray | None:
        """Return the tangents of a number or an array; None for zero."""
        if type(value) is ndarray:
            return self.blocks.rows_of(value)
        if type(value) is Active and value.context is self:
            rows = value.grad
            return rows if type(rows) is ndarray else np.zeros(self.directions)
        return None

    @override
    def pair(self, value: Any) -> tuple[Any, Any]:
        if not self.blocks.several:
            return self.split(value)
        rows = self.rows_of(value)
        if rows is None:
            return value, None
        if type(value) is Active:
            return value.primal, Stack(rows, True)
        return value, Stack(rows, False)

    @override
    def find(self, a: ndarray) -> Any:
        rows = self.blocks.rows_of(a)
        return self.base.find(a) if rows is None else rows

    @override
    def lower(self, f: Any, *args: Any) -> Any:
        if not holds_stack(args):
            return super().lower(f, *args)
        if f is pushforward.of_vjp:
            rule, primals = args[:2]
            if rule.by_user or any(draws_numbers(type(p)) for p in primals):
                self.keep_first()  # it may do something else each time
        if not self.blocks.several:
            return super().lower(f, *each(args, 0))
        at_once = AT_ONCE.get(f)
        if at_once is not None:
            with Quiet():
                found = at_once(self.directions, *args)
            if found is not None:
                return found
        below = super().lower
        results = [below(f, *each(args, k)) for k in self.range]
        if f is pushforward.of_vjp:
            return results[0][0], stacked([t for _, t in results])
        return stacked(results)

    @property
    def range(self) -> range:
        """The numbers of the directions."""
        return range(self.directions)

    @override
    def fresh(self, y: Any, t: Any) -> Any:
        if t is None or not is_inexact(y):
            return y
        if type(t) is not Stack:
            self.keep_first()
            return super().fresh(y, t)
        return self.with_rows(y, t.rows) if self.blocks.several else super().fresh(y, t.along(0))

    @override
    def fresh_number(self, y: Any, t: Any) -> Any:
        if t is not None:
            self.keep_first()
        return super().fresh_number(y, t)

    def with_rows(self, y: Any, rows: ndarray) -> Any:
        """Return a new value with its tangents."""
        if type(y) is not ndarray:
            active = active_number(y, self)
            active.grad = rows
            return active
        y = self.owned(y)
        owner = y if y.base is None else self.registry.owner(y)
        if (
            owner is y
            and rows.base is None
            and rows.shape[1:] == y.shape
            and rows.dtype is y.dtype
            and rows.flags.c_contiguous
            and y.flags.c_contiguous
        ):
            self.blocks.put(y, rows)
        else:
            self.write_rows(y, Ellipsis, rows)
        self.note_new(owner)
        return y

    def write_rows(self, o: ndarray, i: Any, rows: ndarray | None) -> None:
        """Write the tangents of ``o[i]``; None stands for zero."""
        whole = self.blocks.rows_to_write(o)
        if whole is None:
            self.keep_first()
            t = 0.0 if rows is None else rows[0]
            super().write(self.blocks.activate(o), i, t)
            return
        if rows is not None and whole.dtype.kind != "c" and rows.dtype.kind == "c":
            rows = np.real(rows)
        at = rows_at(i)
        if at is None or (rows is not None and in_turn(o, i, rows, whole)):
            for k in self.range:
                whole[k, ...][i] = 0.0 if rows is None else rows[k]
        elif rows is None:
            whole[at] = 0.0
        else:
            target = whole[at]
            target[...] = aligned(rows, target.ndim - 1)

    # Operators.

    add, sub, mul, truediv = (of_numbers(name, RUN) for name in TANGENTS)

    @override
    def binary(self, op: BinaryOperator, a: Any, b: Any) -> Any:
        if not self.blocks.several:
            return super().binary(op, a, b)
        tangent = quick.ARITHMETIC.get(op.name)
        if tangent is not None and are_quick(self, a, b):
            t, u = self.rows_of(a), self.rows_of(b)
            if t is None and u is None:
                return getattr(self.base, op.name)(a, b)
            p = a.primal if type(a) is Active else a
            q = b.primal if type(b) is Active else b
            y = op.function(p, q)
            rows = self.arithmetic(tangent, p, q, t, u, y)
            if rows is not None:
                return self.with_rows(y, rows)
        return ArrayLanguage.binary(self, op, a, b)

    def arithmetic(self, tangent: Any, p: Any, q: Any, t: Any, u: Any, y: Any) -> Any:
        """Return the tangents of a result of arithmetic, or None for the general way."""
        if type(y) is ndarray:
            ndim = y.ndim
            if y.dtype is not FLOAT64:
                return None
            t = None if t is None else aligned(t, ndim)
            u = None if u is None else aligned(u, ndim)
        elif type(y) not in REAL_SCALARS:
            return None
        before = setting()
        try:
            quiet()
            return checked(tangent(self.operators, p, q, t, u, y))
        finally:
            loud_again(before)

    @override
    def array_operator(self, op: BinaryOperator, a: Any, b: Any) -> Any:
        if not self.blocks.several:
            return super().array_operator(op, a, b)
        (p, t), (q, u) = self.pair(a), self.pair(b)
        if t is None and u is None:
            return getattr(self.base, op.name)(p, q)
        y = op.function(p, q)
        if op is MATMUL:
            rows = self.lower(pushforward.of_bilinear, op.ufunc, p, q, t, u, (), {}, y)
            return self.fresh(y, rows)
        if op is FLOORDIV:
            return drops.quotient(self, y, p, q)
        return self.push_elementwise(op.array_rule, y, (p, q), (t, u))

    @override
    def by_partials(self, partials: Any, primals: Any, tangents: Any, y: Any) -> Any:
        if not self.blocks.several:
            return super().by_partials(partials, primals, tangents, y)
        if y.dtype is FLOAT64 if type(y) is ndarray else type(y) in REAL_SCALARS:
            with Quiet():
                rows = weighted_sum(partials, primals, tangents, y)
            if rows is not None:
                return Stack(rows, type(y) is not ndarray)
        return self.lower(pushforward.of_elementwise, partials, primals, tangents, y)

    # Elements.

    @override
    def getitem(self, o: Any, i: Any) -> Any:
        rows = self.blocks.rows_of(o) if type(o) is ndarray and self.blocks.several else None
        if rows is None:
            return super().getitem(o, i)
        if type(i) not in SUBSCRIPTS:
            i = plain_subscript(self, i)
        y = o[i]
        at = rows_at(i)
        if type(y) is ndarray and shares(y, o):
            if at is None:
                self.keep_first()
                return super().getitem(o, i)
            if y is not o:
                self.blocks.put(y, rows[at])
            return y
        if not is_inexact(y):
            return records.found(self, o, i, y)
        if at is None:
            return self.with_rows(y, np.array([rows[k, ...][i] for k in self.range]))
        found = rows[at]
        return self.with_rows(y, found if found.base is None else found.copy())

    @override
    def store(self, o: ndarray, i: Any, v: Any) -> None:
        if not self.blocks.several or type(i) is str:
            super().store(o, i, v)
            return
        rows = self.rows_of(v)
        p = v.primal if type(v) is Active and rows is not None else v
        moves = self.blocks.rows_of(o) is not None or (rows is not None and drops.holds(self, o, p))
        if moves and self.blocks.rows_to_write(o) is None:
            super().store(o, i, v)
            return
        written = moves
        try:
            self.base.assign(o, i, p)
        except BaseException as error:
            written = moves and has_assigned(self, error, o, i, p)
            raise
        finally:
            if written:
                self.write_rows(o, i, rows)

    # In place.

    @override
    def update(self, op: BinaryOperator, x: ndarray, v: Any) -> None:
        t = self.blocks.rows_of(x) if self.blocks.several else None
        u = self.rows_of(v) if self.blocks.several else None
        if (t is None and u is None) or self.blocks.rows_to_write(x) is None:
            super().update(op, x, v)
            return
        p = v.primal if type(v) is Active and u is not None else v
        self.refuse_repeated(op, x, p)
        rows = None
        if op not in LINEAR:
            try:
                with Quiet():  # what NumPy has to say it says below
                    rows = self.rows_of(self.binary(op, x, v))
            except ValueError:
                self.base.inplace(op, x, p)  # raises the same, in the words for a result in place
                raise
        written = True
        try:
            self.base.inplace(op, x, p)
        except BaseException as error:
            written = has_written(self, error, x, p)
            raise
        finally:
            if written and op not in LINEAR:
                self.write_rows(x, Ellipsis, rows)
            elif written and u is not None:
                whole = self.blocks.rows_of(x)
                with Quiet():
                    op.inplace(whole, aligned(u, x.ndim))


def may_run(site: Any, steps: Any, inputs: dict[str, Any]) -> bool:
    """Return whether a region could run as a whole on the numbers and arrays that it takes."""
    primals = {name: primal_of(value) for name, value in inputs.items()}
    return all(type(primals[name]) in ONE_TANGENT for name in site.numbers) and (
        site.is_worth(site.steps(steps, primals), primals)
    )


def in_turn(o: ndarray, i: Any, rows: ndarray, whole: ndarray) -> bool:
    """Return whether the result of overlapping writes depends on NumPy's order of iteration."""
    if type(i) is ndarray or has_overlaps(o):
        return True
    return rows.base is not None and np.may_share_memory(rows, whole)


def checked(rows: Any) -> ndarray | None:
    """Return rows of floats if they are finite: a zero may be in them as nan."""
    if type(rows) is not ndarray or rows.dtype is not FLOAT64:
        return None
    return rows if surely_finite(rows) else None


def weighted_sum(partials: Any, primals: Any, tangents: Any, y: Any) -> ndarray | None:
    """Return the sum of partial * tangent, or None if a partial is not a number or an array."""
    ndim = y.ndim if type(y) is ndarray else 0
    total: Any = None
    for partial, t in quick.evaluated(operator_call, partials, primals, tangents, y):
        c = weighted(aligned(t.rows, ndim), partial)
        if c is None:
            return None
        total = c if total is None else total + c
    return checked(total)


def weighted(rows: ndarray, partial: Any) -> ndarray | None:
    """Return partial * rows, or None for an unusual partial."""
    if type(partial) is ndarray:
        if partial.dtype == bool:
            return np.where(partial, rows, 0.0)  # a choice, not a product
        return rows * partial if partial.dtype is FLOAT64 else None
    return rows * partial if type(partial) in quick.NUMBERS else None
