"""Forward mode: operators, elements and in-place operators on numbers and arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.printing.text import define
from mooncake_py.containers.sequences import SUBSCRIPTS, plain_subscript
from mooncake_py.errors import DerivativeDropError
from mooncake_py.language import records
from mooncake_py.language.array_language import PLAIN
from mooncake_py.modes.forward import pushforward, quick
from mooncake_py.modes.forward.levels import Levels
from mooncake_py.modes.reverse.inplace import BINARY_INPLACE
from mooncake_py.rules.creation import laid_out_copy
from mooncake_py.rules.exact_zeros import surely_finite
from mooncake_py.rules.kinds import ElementwiseRule
from mooncake_py.rules.precision import at_precision_of
from mooncake_py.runtime import drops
from mooncake_py.runtime import overlapping as overlapping_writes
from mooncake_py.runtime.active import REAL_SCALARS, Active
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.index_errors import index_error
from mooncake_py.runtime.late_errors import has_assigned, has_written, refuse_part
from mooncake_py.runtime.objects import meet_objects
from mooncake_py.runtime.operators import BINARY, BinaryOperator
from mooncake_py.runtime.quiet import BY_NAME, Quiet, Unheard, loud_again, quiet, setting
from mooncake_py.runtime.values import FLOAT64, NUMBERS, is_inexact
from mooncake_py.tangents.memory import has_overlaps, is_same_view, is_writeable

if TYPE_CHECKING:
    from mooncake_py.diagnostics.reporting import Reporting
    from mooncake_py.runtime.forward_mode import ForwardMode

__all__ = ["HEAD", "TANGENTS", "Operations", "of_numbers"]

REAL = REAL_SCALARS | {int}
SCOPE: dict[str, Any] = {
    "Active": Active, "EXACT": frozenset({float, int}), "REAL": REAL, "SCALARS": REAL_SCALARS,
    "FLOAT64": FLOAT64, "surely_finite": surely_finite, **BY_NAME,
    "MAYBE_ROWS": frozenset({ndarray, type(None)}),
    "MAYBE_FLOAT": frozenset({float, type(None)}), "MAYBE_REAL": REAL_SCALARS | {type(None)},
}  # fmt: skip
QUICK = frozenset({ndarray, Active, float, int, bool, np.float64, np.int64, np.bool_})
MATMUL = BINARY["matmul"]
FLOORDIV = BINARY["floordiv"]
LINEAR = BINARY["add"], BINARY["sub"]


def are_quick(ctx: Levels, a: Any, b: Any) -> bool:
    """Return whether two operands are numbers or arrays of them."""
    return type(a) in QUICK and type(b) in QUICK and not meet_objects(ctx, a, b)


HEAD = """
def run(self, a, b):
    if type(a) is Active and a.context is self:
        p, t = a.primal, a.grad
        q, u = (b.primal, b.grad) if type(b) is Active and b.context is self else (b, None)
    elif type(b) is Active and b.context is self:
        p, t, q, u = a, None, b.primal, b.grad
    elif type(a) in REAL and type(b) in REAL:
        return a {symbol} b
    else:
        return self.binary(op, a, b)
"""
RUN = (
    HEAD
    + """
    if type(p) in EXACT and type(q) in EXACT and type(t) in MAYBE_FLOAT and type(u) in MAYBE_FLOAT:
        y = w = p {symbol} q
    elif type(p) in REAL and type(q) in REAL and type(t) in MAYBE_REAL and type(u) in MAYBE_REAL:
        y = p {symbol} q
        if type(y) not in SCALARS:
            return again(self, a, b)
        p, q, w = float(p), float(q), float(y)
        t, u = t if t is None else float(t), u if u is None else float(u)
    else:
        return self.binary(op, a, b)
    try:
        c = {left} if u is None else {right} if t is None else {both}
    except ArithmeticError:
        return again(self, a, b)
    if c - c != 0.0:
        return again(self, a, b)
    x = Active()
    x.primal = y
    x.grad = c
    x.context = self
    return x
"""
)
TANGENTS = {
    "add": ("+t", "+u", "t + u"),
    "sub": ("+t", "-u", "t - u"),
    "mul": ("t * q", "p * u", "t * q + p * u"),
    "truediv": ("t / q", "-(w * u / q)", "t / q - w * u / q"),
}
"""Those of results w, from operands p and q: where one moves, the other one, and both."""


def of_numbers(name: str, text: str = RUN) -> Callable[[Any, Any, Any], Any]:
    """Return a function that runs an operator, quick for floats along one direction.

    It is quick with nothing below. The tangents are those of `quick.ARITHMETIC`; numbers that are
    not finite go the general way. Measured, as text in place of calls of functions: a third less
    time.

    Parameters
    ----------
    text : str
        Of the function, with places for the symbol and for tangents.
    """
    op = BINARY[name]
    left, right, both = TANGENTS[name]

    def again(self: Operations, a: Any, b: Any) -> Any:
        with Unheard():  # what NumPy has to say it has said
            return self.binary(op, a, b)

    text = text.format(symbol=op.symbol, left=left, right=right, both=both)
    return define(text, {**SCOPE, "again": again, "op": op})["run"]


class Operations(Levels):
    """The operations of rewritten code, with tangents."""

    # Operators.

    add, sub, mul, truediv = map(of_numbers, TANGENTS)

    def binary(self, op: BinaryOperator, a: Any, b: Any) -> Any:
        """Run a binary operator on values of any type."""
        tangent = quick.ARITHMETIC.get(op.name)
        if tangent is not None and are_quick(self, a, b):
            tangent_of = self.blocks.tangent_of
            p, t = (a, tangent_of(a)) if type(a) is ndarray else self.split(a)
            q, u = (b, tangent_of(b)) if type(b) is ndarray else self.split(b)
            if t is None and u is None:
                return getattr(self.base, op.name)(a, b)
            y = op.function(p, q) if self.plain else getattr(self.base, op.name)(p, q)
            if type(a) is ndarray or type(b) is ndarray:
                return self.array_result(op, tangent, y, (p, q), (t, u))
            c = self.tangent_of_numbers(tangent, p, q, t, u, y)
            if quick.fits(c, y):
                return self.fresh_number(y, c)
            return self.push_elementwise(op.scalar_rule, y, (p, q), (t, u))
        return super().binary(op, a, b)

    def tangent_of_numbers(self, tangent: Any, p: Any, q: Any, t: Any, u: Any, y: Any) -> Any:
        """Return the tangent of a result of arithmetic, or None for the general way."""
        if self.plain:
            if type(y) not in REAL_SCALARS:
                return None
            p, q, y = float(p), float(q), float(y)  # NumPy's scalars would warn
            t, u = t if t is None else float(t), u if u is None else float(u)
        before = setting()
        try:
            if not self.plain:
                quiet()
            return tangent(self.operators, p, q, t, u, y)
        except ZeroDivisionError:
            return None
        finally:
            if not self.plain:
                loud_again(before)

    def array_operator(self, op: BinaryOperator, a: Any, b: Any) -> Any:
        """Run an operator of which an operand is an array, the other one or a number."""
        p, ta = self.split(a)
        q, tb = self.split(b)
        if ta is None and tb is None:
            return getattr(self.base, op.name)(p, q)
        y = op.function(p, q) if self.plain else getattr(self.base, op.name)(p, q)
        tangent = quick.matmul if op is MATMUL else quick.ARITHMETIC.get(op.name)
        return self.array_result(op, tangent, y, (p, q), (ta, tb))

    def array_result(
        self, op: BinaryOperator, tangent: Any, y: Any, primals: Any, tangents: Any
    ) -> Any:
        """Return the result of an operator of which an operand is an array, with its tangent."""
        if tangent is not None:
            before = setting()
            try:
                quiet()
                t = tangent(operator if self.plain else self.base, *primals, *tangents, y)
                serves = quick.fits(t, y)
            finally:
                loud_again(before)
            if serves:
                whole = type(y) is ndarray and y.base is None
                return self.fresh_array(y, t) if whole else self.fresh(y, t)
        if op is MATMUL:
            t = self.lower(pushforward.of_bilinear, op.ufunc, *primals, *tangents, (), {}, y)
            return self.fresh(y, t)
        if op is FLOORDIV:
            return drops.quotient(self, y, *primals)
        return self.push_elementwise(op.array_rule, y, primals, tangents)

    def scalar_operation(
        self, rule: Any, function: Callable[..., Any], args: tuple[Any, ...]
    ) -> Any:
        """Run a function of numbers of which at least one is active."""
        pairs = [self.pair(a) for a in args]
        primals = tuple(p for p, _ in pairs)
        y = self.on_primals(function, *primals)
        if rule is None:
            return drops.quotient(self, y, *args) if function is FLOORDIV.function else y
        return self.push_elementwise(rule, y, primals, tuple(t for _, t in pairs))

    def unary_array(self, function: Any, ufunc: np.ufunc, a: ndarray) -> Any:
        """Run a unary operator on an array."""
        return self.call_one(ufunc, a)

    def push_elementwise(self, rule: Any, y: Any, primals: Any, tangents: Any) -> Any:
        """Return the output of an elementwise function, with its tangent."""
        if not isinstance(rule, ElementwiseRule):
            return y  # piecewise constant
        if not is_inexact(y):
            return drops.output(self, rule, y, ())
        activity = tuple(t is not None for t in tangents)
        if rule.plans.get(activity) is None and rule.make_plan(activity) is None:
            return y
        if type(y) is ndarray and (y.base is not None or any(y is p for p in primals)):
            y = self.base.call(laid_out_copy, y)  # not a ufunc, but a function declared elementwise
        partials = at_precision_of(y, rule, rule.partials, primals)
        return self.fresh(y, self.by_partials(partials, primals, tangents, y))

    def by_partials(self, partials: Any, primals: Any, tangents: Any, y: Any) -> Any:
        """Return the sum of partial * tangent."""
        if type(y) is ndarray and y.dtype is FLOAT64:
            with Quiet():
                t = quick.of_partials(self.operators, self.caller, partials, primals, tangents, y)
                if quick.fits(t, y):
                    return t
        return self.lower(pushforward.of_elementwise, partials, primals, tangents, y)

    # Elements.

    def getitem(self, o: Any, i: Any) -> Any:
        """Run ``o[i]``."""
        t = type(o)
        if t is not ndarray:
            if type(i) is int and (t is list or t is tuple or t is dict):
                return o[i]
            if type(i) is str and t is dict:
                return o[i]
            return self.item_of_other(o, i)
        if type(i) not in SUBSCRIPTS:
            i = plain_subscript(self, i)
        try:
            y = o[i] if self.plain else self.base.getitem(o, i)
        except DerivativeDropError as error:
            raise index_error(error, o, i) from None
        t = self.blocks.tangent_of(o)
        if t is None:
            return y
        if type(y) is ndarray and shares(y, o):
            if y is not o and not (type(i) is str and y.dtype.kind not in "fcV"):
                self.blocks.put(y, t[i])
            return y
        if not is_inexact(y):
            return records.found(self, o, i, y)
        return self.fresh(y, t[i] if self.plain else self.base.getitem(t, i))

    def assign(self, o: ndarray, i: Any, v: Any) -> None:
        """Run ``o[i] = v`` for an array."""
        given = v
        if type(v) is list or type(v) is tuple:
            if overlapping_writes.holds_part_of(o, v) and (
                overlapping_writes.assign_parts(self, o, i, v)
            ):
                return
            v = self.sequence_for(o, i, v)
        elif type(v) is not ndarray and type(v) is not Active and type(v) not in NUMBERS:
            v = self.as_value(o, i, v)
        try:
            self.store(o, i, v)
        except Exception as error:
            if type(given) is list or type(given) is tuple:
                refuse_part(self, error, o, i, unwrapped(given))
            raise

    def store(self, o: ndarray, i: Any, v: Any) -> None:
        """Run ``o[i] = v`` for a number or an array."""
        p, tv = self.split(v)
        if tv is not None and type(i) is str:  # a field, whose dtype the tangent gets
            o, i = o[i], Ellipsis
        t = self.blocks.tangent_of(o)
        if t is None and tv is not None and drops.holds(self, o, p):
            t = self.blocks.activate(o)
        written = True
        try:
            self.base.assign(o, i, p)
        except BaseException as error:
            written = t is not None and has_assigned(self, error, o, i, p)
            raise
        finally:
            if written and t is not None:
                self.write(t, i, 0.0 if tv is None else real_for(self, tv, t))

    def storeback(self, o: Any, i: Any, v: Any) -> None:
        """Finish ``o[i] op= v``: a view was changed in place and need not be stored."""
        if (
            type(o) is ndarray
            and type(v) is ndarray
            and v.base is not None
            and type(slot := o[i]) is ndarray
            and is_same_view(slot, v)
        ):
            return
        self.setitem(o, i, v)

    # In place.

    def inplace_array(self, op: BinaryOperator, x: ndarray, v: Any) -> None:
        """Run an in-place operator on an array."""
        if type(v) is list or type(v) is tuple:
            v = self.as_operand(v)
            if type(v) is not ndarray and x.dtype.kind != "O":
                v = np.asarray(v)
        elif type(v) is not ndarray and type(v) is not Active and type(v) not in NUMBERS:
            v = self.as_value(x, ..., v)
        self.update(op, x, v)

    def update(self, op: BinaryOperator, x: ndarray, v: Any) -> None:
        """Run ``x op= v`` for a number or an array."""
        p, tv = self.split(v)
        t = self.blocks.tangent_of(x)
        if t is None and tv is None:
            if x.dtype.kind == "O":  # methods of its objects run unseen
                self.refuse_if_active(op.inplace, (x, v))
            self.base.inplace(op, x, p)
            return
        self.refuse_repeated(op, x, p)
        new = None
        if op not in LINEAR:
            try:
                with Quiet():  # what NumPy has to say it says below
                    _, new = self.split(self.array_operator(op, x, v))
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
            if written and op in LINEAR:
                if tv is not None and (t is not None or drops.holds(self, x, p)):
                    t = self.blocks.activate(x)
                    self.change(op, t, t if v is x else real_for(self, tv, t))
            elif written and (t is not None or (new is not None and drops.holds(self, x, p))):
                self.write(self.blocks.activate(x), Ellipsis, 0.0 if new is None else new)

    def refuse_repeated(self, op: BinaryOperator, x: ndarray, p: Any) -> None:
        """Raise if several elements of an array that ``x op= p`` changes are one in memory."""
        if has_overlaps(x):
            if not is_writeable(x):
                self.base.inplace(op, x, p)  # raises what NumPy raises
            raise self.failed(overlapping(self))

    def augitem(self, name: str, o: Any, i: Any, v: Any) -> None:
        """Run ``o[i] op= v``, where `v` has no side effects."""
        op = BINARY_INPLACE[name]
        if type(o) is ndarray and type(v) in PLAIN:
            slot = o[i]
            if type(slot) is ndarray and shares(slot, o):
                self.inplace_array(op, self.getitem(o, i), v)
                return
        self.setitem(o, i, self.inplace(op, self.getitem(o, i), v))


def shares(y: ndarray, o: ndarray) -> bool:
    """Return whether what was taken from an array is a view of its memory."""
    return y is o or (y.base is not None and (y.base is o or y.base is o.base))


def real_for(ctx: ForwardMode, tangent: Any, target: ndarray) -> Any:
    """Return a tangent for memory that may hold real numbers only."""
    if type(tangent) in REAL_SCALARS:
        return tangent
    if target.dtype.kind != "c" and np.iscomplexobj(tangent):
        return ctx.base.call(np.real, tangent)
    return tangent


def overlapping(ctx: Reporting) -> DerivativeDropError:
    """Return the error for an in-place operator on an array that overlaps itself."""
    return DerivativeDropError(
        "an in-place operator on an active array whose elements share memory with one another",
        where=ctx.user_location(),
        why="NumPy's order of iteration decides which write to an element survives; forward "
        "mode\n"
        "does not know it",
        fix="write to the array itself instead of a broadcast or sliding view of it",
    )
