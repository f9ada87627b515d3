"""Statements in forward mode: the tangent of a statement runs with it, in the mode below.

Where nothing is active below, a form computes both natively (`forward_forms`).  Else both are
statements of the mode below::

    y = a * np.sin(x[i])        d0 * np.sin(v1) + v0 * (d1 * np.cos(v1))
                                v0 * np.sin(v1)

which has quick forms for them.  Unusual cases take the general way, which is the reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.derivatives.partials import NoPartial
from mooncake_py.compiler.regions.ir import Op, parts_of
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.compiler.statements.below import Below, below
from mooncake_py.compiler.statements.complexes import (
    COMPLEX128,
    complex_at,
)
from mooncake_py.compiler.statements.complexes import NUMBERS as COMPLEX_NUMBERS
from mooncake_py.compiler.statements.core import Core
from mooncake_py.compiler.statements.dtypes import beside_complex, dtype_of, has_tangent
from mooncake_py.compiler.statements.forward_forms import ForwardForm, Pattern
from mooncake_py.compiler.statements.gathers import is_index, is_mask
from mooncake_py.compiler.statements.kinds import NUMBERS
from mooncake_py.compiler.statements.row_forms import RowForm
from mooncake_py.compiler.statements.scalar_tangents import ScalarRows, ScalarTangent
from mooncake_py.compiler.statements.scalars import scalar_form
from mooncake_py.compiler.statements.statement import Part, Statement, is_operand, position_of
from mooncake_py.compiler.statements.views import read_part
from mooncake_py.runtime.active import Active, plain_class
from mooncake_py.runtime.late_errors import is_of_settings, refuse_to_go_on
from mooncake_py.runtime.overlapping import crosses_at
from mooncake_py.runtime.pulls import is_basic
from mooncake_py.runtime.values import FLOAT64
from mooncake_py.tangents.memory import has_overlaps

if TYPE_CHECKING:
    from mooncake_py.compiler.statements.general import Way
    from mooncake_py.compiler.statements.site import StatementSite
    from mooncake_py.runtime.forward_mode import ForwardMode

__all__ = ["Push", "Unusual"]

LINEAR = ("add", "sub")
REAL: tuple[np.dtype[Any], frozenset[int]] = (FLOAT64, frozenset())
FLOATS = (float, np.float64)


class Unusual(Exception):
    """Something that goes the general way."""


class Values(NamedTuple):
    """The values of a statement in the mode below, and their tangents.

    Attributes
    ----------
    primals, tangents : list
        By position; a tangent is None where it is zero.
    moving : frozenset of int
        The operands that have a tangent.
    dtype : dtype
        Of the statement.
    complexes : frozenset of int
        The positions of values that are complex.
    """

    primals: list[Any]
    tangents: list[Any]
    moving: frozenset[int]
    dtype: np.dtype[Any]
    complexes: frozenset[int]


class Reader:
    """Reads the values of a statement.

    Attributes
    ----------
    bases, names, indices : tuple of int
        The positions of what is indexed, of values that are operands, and of indices that may
        be arrays.
    readings : frozenset of int
        The positions of indices by which operands are read.
    written : (int, int) or None
        What may be written by a mask, and the position of that.
    sources : list of int
        For each operand the position of the value whose tangent decides whether it moves.
    """

    def __init__(self, statement: Statement) -> None:
        pairs = statement.pairs
        self.bases = tuple(dict.fromkeys(base for base, _ in pairs))
        self.names = tuple(statement.names.values())
        self.indices = tuple({i for _, i in pairs if i not in statement.certain})
        self.readings = statement.readings
        self.written = statement.written
        self.has_complex = statement.has_complex
        self.sources = [part[0] if isinstance(part, tuple) else part for part in statement.layout]

    def read(self, ctx: ForwardMode, values: Any) -> Values:
        """Return the values in the mode below, and their tangents.

        Raises
        ------
        Unusual
            If a value is neither a number nor an array of a supported dtype, or an index is not a
            supported one.
        """
        primals, tangents = list(values), [None] * len(values)
        others = self.has_complex
        tangent_of = ctx.blocks.rows_of if ctx.several else ctx.blocks.tangent_of
        for p in self.bases:
            v = values[p]
            if type(v) is not ndarray:
                raise Unusual
            if v.dtype is not FLOAT64:
                others = True
            tangents[p] = tangent_of(v)
        for p in self.names:
            v = values[p]
            t = type(v)
            if t is ndarray:
                if not v.ndim:
                    raise Unusual
                if v.dtype is not FLOAT64:
                    others = True
                tangents[p] = tangent_of(v)
            elif t is Active and v.context is ctx:
                primals[p], tangents[p] = v.primal, v.grad
                if plain_class(v) not in FLOATS:
                    raise Unusual
            elif t is Active:
                if ctx.plain or plain_class(v) not in FLOATS:
                    raise Unusual
            elif t not in NUMBERS:
                if t not in COMPLEX_NUMBERS:
                    raise Unusual
                others = True
        for p in self.indices:
            if not (is_index if p in self.readings else is_basic)(values[p]):
                if self.written is None or p != self.written[1]:
                    raise Unusual
                if not is_mask(values[p], values[self.written[0]]):
                    raise Unusual
        moving = frozenset([k for k, p in enumerate(self.sources) if tangents[p] is not None])
        return Values(primals, tangents, moving, *(self.dtypes(values) if others else REAL))

    def dtypes(self, values: Any) -> tuple[np.dtype[Any], frozenset[int]]:
        """Return the dtype of the statement, and the operands that are complex.

        Raises
        ------
        Unusual
            If it is not supported.
        """
        read = [values[p] for p in (*self.bases, *self.names)]
        dtype = beside_complex(dtype_of(read)) if self.has_complex else dtype_of(read)
        if dtype is None:
            raise Unusual
        return dtype, complex_at(values) if dtype is COMPLEX128 else frozenset()


def is_crossed(o: ndarray, i: Any, values: list[Any], functions: Any, part: Part) -> bool:
    """Return True if ``o[i] = v`` reads what it has written, or if something is raised."""
    try:
        v = read_part(part, functions, values)
        return type(v) is ndarray and crosses_at(o, i, v)
    except Exception:
        return True  # the general way raises it again


class Push:
    """How one statement runs in forward mode.

    Parameters
    ----------
    site : StatementSite
    """

    def __init__(self, site: StatementSite) -> None:
        self.site = site
        self.statement = statement = site.statement
        target = statement.target
        self.base, self.index = target if isinstance(target, tuple) else (target, None)
        changes = statement.augments and not statement.into
        self.op = statement.value.op if changes and isinstance(statement.value, Op) else ""
        copied = statement.value if is_operand(statement.value) else None
        self.copied = None if copied is None else statement.layout[position_of(copied)]
        self.reader = Reader(statement)
        self._forms: dict[Any, Way | None] = {}
        self._below: dict[Any, Any] = {}  # NoPartial where there is none

    def run(self, ctx: ForwardMode, functions: Any, values: Any) -> Any:
        """Run the statement with tangents.

        Raises
        ------
        Unusual
            If it must go the general way; nothing has been done then.
        """
        if ctx.plain and self.site.is_single(values) and not self.site.compares:
            single = self.form_on_numbers(ctx, functions, values)
            if single is not None:
                if single is self.site.run:  # which has handed over
                    raise Unusual
                return self.site.run_by(single, ctx, functions, values)
        if self.statement.of_numbers and any(type(v) is ndarray for v in values):
            raise Unusual
        found = self.reader.read(ctx, values)
        written = None if self.base is None else values[self.base]
        if type(written) is not ndarray:
            if self.statement.into:
                raise Unusual
            written = None
        t = None
        if written is not None:
            t = (ctx.blocks.rows_of if ctx.several else ctx.blocks.tangent_of)(written)
        if t is None and not found.moving:
            return self.site.run(ctx.base, functions, tuple(found.primals))
        op = self.op if written is not None and self.op in LINEAR else ""
        if ctx.plain:
            kind = RowForm if ctx.several else ForwardForm
            form = self.form(kind, functions, values, found, (op, t is not None))
            if form is None or form is self.site.run:  # which has handed over
                raise Unusual
            return self.site.run_by(form, ctx, functions, values)
        moving = found.moving - {0} if op else found.moving
        tangent = self.tangent(functions, moving, bool(op), found)
        if written is None:
            return self.expression(ctx, tangent, functions, found)
        i = Ellipsis if self.index is None else values[self.index]
        if written.base is not None and has_overlaps(written):
            raise Unusual
        if self.copied is not None and is_crossed(
            written, i, found.primals, functions, self.copied
        ):
            raise Unusual
        return self.store(ctx, tangent, functions, found, (written, i, op))

    # Where nothing is active below.

    def form_on_numbers(self, ctx: ForwardMode, functions: Any, values: Any) -> Way | None:
        """Return the form for numbers and elements of such kinds, None where there is none."""
        site = self.site
        kind = ScalarRows if ctx.several else ScalarTangent
        if ctx.several and type(self.statement.target) is tuple:
            return None
        tangent_of = ctx.blocks.rows_of if ctx.several else ctx.blocks.tangent_of
        kinds = tuple([type(values[p]) for p in site.names.values()])
        on = tuple([(p, tangent_of(values[p]) is not None) for p in site.bases])
        key = kind, functions, kinds, on
        try:
            return self._forms[key]
        except KeyError:
            pass
        except TypeError:  # a function that cannot be a key
            return None
        named = dict(zip(site.names, kinds, strict=True))
        core = site.core(functions)
        form = scalar_form(core, named, dict(on), site.choose, site.otherwise, kind)
        self._forms[key] = form
        return form

    def form(
        self,
        kind: type[ForwardForm],
        functions: Any,
        values: Any,
        found: Values,
        write: tuple[str, bool],
    ) -> Way | None:
        """Return the form for what the values are, None where there is none."""
        op, is_moved = write
        named = self.statement.names.values()
        moving = {p for p, t in enumerate(found.tangents) if t is not None}
        if any(type(values[p]) is Active and p not in moving for p in named):
            return None
        moving |= {self.base} if is_moved and self.base is not None else set()
        types = tuple([type(values[p]) for p in named])
        pattern = Pattern(types, frozenset(moving), found.dtype, found.complexes)
        key = kind, functions, pattern, op
        try:
            return self._forms[key]
        except KeyError:
            form = self._forms[key] = self.made(*key)
            return form
        except TypeError:  # a function that cannot be a key
            return None

    def made(
        self, kind: type[ForwardForm], functions: Any, pattern: Pattern, op: str
    ) -> Way | None:
        """Print a form; return None if the derivative of an operation is not known."""
        site = self.site
        try:
            core = self.core(functions, bool(op))
            self.check(core, pattern.dtype, pattern.complexes)
            if pattern.dtype is COMPLEX128 and self.op and not op and self.base is not None:
                raise NoPartial  # products in place have other last bits: see `Plan`
            return kind(self.statement, core, op, pattern, site.choose, site.otherwise).made()
        except NoPartial:
            return None

    # Where something is.

    def expression(
        self, ctx: ForwardMode, tangent: Below | None, functions: Any, found: Values
    ) -> Any:
        """Return the value of an expression, with its tangent."""
        t = computed(ctx, tangent, found)
        y = self.site.run(ctx.base, functions, tuple(found.primals))
        return y if y is Elsewhere else ctx.fresh(y, t)

    def store(
        self,
        ctx: ForwardMode,
        tangent: Below | None,
        functions: Any,
        found: Values,
        place: tuple[ndarray, Any, str],
    ) -> Any:
        """Write a value and its tangent into an array."""
        o, i, op = place
        t = computed(ctx, tangent, found)
        try:
            result = self.site.run(ctx.base, functions, tuple(found.primals))
        except Exception as error:
            if (self.statement.augments or self.statement.into) and is_of_settings(error):
                refuse_to_go_on(ctx, error)  # NumPy may have written by then
            raise
        if result is Elsewhere:
            return result
        whole = ctx.blocks.tangent_of(o) if t is None else ctx.blocks.activate(o)
        if whole is None:
            return result
        if not op:
            ctx.write(whole, i, 0.0 if t is None else t)
        elif t is not None:
            ctx.base.augitem(f"i{op}", whole, i, t)
        return result

    def check(self, core: Core, dtype: np.dtype[Any], complexes: frozenset[int]) -> None:
        """Raise if the tangent of a value of such a dtype is not supported.

        Raises
        ------
        NoPartial
        """
        if not has_tangent(core, dtype, complexes) or (
            self.statement.into and dtype is not FLOAT64
        ):
            raise NoPartial
        if dtype is COMPLEX128 and self.base is not None and self.base not in complexes:
            raise NoPartial  # what is written may be real

    def tangent(
        self, functions: Any, moving: frozenset[int], changes: bool, found: Values
    ) -> Below | None:
        """Return the tangent of the value, or of what is added to the target; None for zero."""
        dtype, complexes = found.dtype, found.complexes
        key = functions, moving, changes, dtype, complexes
        tangent: Any
        try:
            tangent = self._below[key]
        except KeyError:
            try:
                core = self.core(functions, changes)
                self.check(core, dtype, complexes)
                tangent = below(core, moving, complexes)
            except NoPartial:
                tangent = NoPartial
            self._below[key] = tangent
        except TypeError as error:  # a function that cannot be a key
            raise Unusual from error
        if tangent is NoPartial:
            raise Unusual
        return tangent

    def core(self, functions: Any, changes: bool) -> Core:
        """Return the operations of the value, or of what is added to the target.

        Raises
        ------
        NoPartial
            If a function has no declared derivatives.
        """
        statement = self.statement._replace(target=None, augments=False, into=False)
        if changes:
            statement = statement._replace(value=parts_of(statement.value)[1])
        core = Core(statement, functions)
        if not core.is_declared:
            raise NoPartial
        return core


def computed(ctx: ForwardMode, tangent: Below | None, found: Values) -> Any:
    """Return the value of a tangent, None for zero."""
    if tangent is None:
        return None
    t = tangent.run(ctx.base, found.primals, found.tangents)
    if t is None:
        raise Unusual
    return t
