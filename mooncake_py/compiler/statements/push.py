"""Statements in forward mode: the tangent of a statement runs beside it, in the mode below.

Where nothing is active below, both are computed natively by one function, which is kept as a form
(see `forward_forms`) for values of the same kinds.  Else both are statements of the mode below::

    y = a * np.sin(x[i])        d0 * np.sin(v1) + v0 * (d1 * np.cos(v1))
                                v0 * np.sin(v1)

which knows quick forms for them.  What is unusual goes the general way, which is the reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.elsewhere import Elsewhere
from mooncake_py.compiler.ir import (
    Call,
    Expr,
    Name,
    Op,
    parts_of,
    rebuilt,
    substituted,
)
from mooncake_py.compiler.partials import NoPartial
from mooncake_py.compiler.statements.array_partials import declared
from mooncake_py.compiler.statements.array_pull import function
from mooncake_py.compiler.statements.array_text import ArrayText
from mooncake_py.compiler.statements.contractions import is_contraction, is_sum
from mooncake_py.compiler.statements.core import Core
from mooncake_py.compiler.statements.forward_forms import (
    ForwardForm,
    Pattern,
    computation,
    is_finite,
    new_memory,
)
from mooncake_py.compiler.statements.general import one_by_one
from mooncake_py.compiler.statements.kinds import NUMBERS
from mooncake_py.compiler.statements.pushforward import tangent_of
from mooncake_py.compiler.statements.statement import (
    Part,
    Statement,
    is_operand,
    operand,
    position_of,
)
from mooncake_py.compiler.steps import Names, Steps
from mooncake_py.compiler.text import define
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.overlapping import crosses
from mooncake_py.runtime.pulls import is_basic
from mooncake_py.runtime.quiet import Quiet, loud_again, quiet
from mooncake_py.runtime.values import FLOAT64
from mooncake_py.tangents.memory import has_overlaps

if TYPE_CHECKING:
    from mooncake_py.compiler.statements.site import StatementSite
    from mooncake_py.runtime.forward_mode import ForwardMode
    from mooncake_py.runtime.mode import Mode

__all__ = ["Push", "Unusual"]

LINEAR = ("add", "sub")
FLOATS = (float, np.float64, Active)
Place = tuple[ndarray, Any, ndarray | None]
"""An array that is written, the index, and its tangent."""


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
    """

    primals: list[Any]
    tangents: list[Any]
    moving: frozenset[int]

    def tangents_at(self) -> set[Any]:
        """Return the positions of the values that have a tangent."""
        return {p for p, t in enumerate(self.tangents) if t is not None}


class Reader:
    """Reads the values of a statement.

    Attributes
    ----------
    bases, names, indices : tuple of int
        The positions of what is indexed, of values that are operands, and of indices that may
        be arrays.
    sources : list of int
        For each operand the position of the value whose tangent decides whether it moves.
    """

    def __init__(self, statement: Statement) -> None:
        pairs = statement.pairs
        self.bases = tuple(dict.fromkeys(base for base, _ in pairs))
        self.names = tuple(statement.names.values())
        self.indices = tuple({i for _, i in pairs if i not in statement.certain})
        self.sources = [part[0] if isinstance(part, tuple) else part for part in statement.layout]

    def read(self, ctx: ForwardMode, values: Any) -> Values:
        """Return the values in the mode below, and their tangents.

        Raises
        ------
        Unusual
            If a value is neither a number nor a float64 array, or an index is not basic.
        """
        primals, tangents = list(values), [None] * len(values)
        tangent_of = ctx.blocks.tangent_of
        for p in self.bases:
            v = values[p]
            if type(v) is not ndarray or v.dtype is not FLOAT64:
                raise Unusual
            tangents[p] = tangent_of(v)
        for p in self.names:
            v = values[p]
            t = type(v)
            if t is ndarray:
                if v.dtype is not FLOAT64 or not v.ndim:
                    raise Unusual
                tangents[p] = tangent_of(v)
            elif t is Active and v.context is ctx:
                primals[p], tangents[p] = v.primal, v.grad
                if type(v.primal) not in FLOATS:
                    raise Unusual
            elif t not in NUMBERS and (t is not Active or ctx.plain):
                raise Unusual
        for p in self.indices:
            if not is_basic(values[p]):
                raise Unusual
        moving = frozenset([k for k, p in enumerate(self.sources) if tangents[p] is not None])
        return Values(primals, tangents, moving)


class Pushed:
    """The tangent of the value of a statement, for given functions and operands that move.

    Of an augmented assignment of an array by ``+=`` or ``-=`` it is that of what is added.

    Parameters
    ----------
    core : Core
    moving : frozenset of int

    Raises
    ------
    NoPartial
        If it cannot be worked out.
    """

    def __init__(self, core: Core, moving: frozenset[int]) -> None:
        self.core = core
        self.moving = sorted(moving)
        self.steps = Steps(Names("e"), None)
        root = tangent_of(core, moving, self.steps)
        self.root = root
        self._native: dict[bool, Any] = {}
        self._below: Below | None = None

    # Natively.

    def natively(self, careful: bool) -> Any:
        """Return what computes value and tangent on floats and arrays, given these and theirs.

        Parameters
        ----------
        careful : bool
            Whether a zero tangent stays zero beside what is not finite.  Else None comes out for
            a tangent that is not finite.
        """
        if careful not in self._native:
            self._native[careful] = self.made(careful)
        return self._native[careful]

    def made(self, careful: bool) -> Any:
        """Generate the function ``run(P, T)``."""
        text = ArrayText({})
        first, then = computation(self.core, self.moving, text, careful)
        if not careful:
            then.append("t = t if is_finite(t) else None")
        lines = [*first, "before = quiet()", "try:", *("    " + line for line in then)]
        if careful:
            lines = ["before = quiet()", "try:", *("    " + line for line in (*first, *then))]
        lines += ["finally:", "    loud_again(before)", "return y, t"]
        scope = {"is_finite": is_finite, "loud_again": loud_again, "one": np.float64(1.0),
                 "quiet": quiet}  # fmt: skip
        made = function("run", "P, T", [*self.reads(), *lines])
        run = define(made, {**text.scope, **scope})["run"]
        run.text = made  # for those who want to see it
        return run

    def reads(self) -> list[str]:
        """Return the lines that read the operands, and the tangents of those that move."""
        lines = []
        for k, part in enumerate(self.core.statement.layout):
            place = f"[{part}]" if isinstance(part, int) else f"[{part[0]}][P[{part[1]}]]"
            lines.append(f"v{k} = P{place}")
            if k in self.moving:
                lines.append(f"d{k} = T{place}")
        return lines

    def run_natively(self, found: Values) -> tuple[Any, Any]:
        """Return the value and its tangent.

        Raises
        ------
        Unusual
            If something is raised, which the general way raises again.
        """
        try:
            y, t = self.natively(False)(found.primals, found.tangents)
            if t is None:
                _, t = self.natively(True)(found.primals, found.tangents)
        except Exception as error:
            raise Unusual from error
        return y, None if self.root is None else t

    # In the mode below.

    @property
    def below(self) -> Below:
        """The tangent as a statement of the mode below."""
        if self._below is None:
            self._below = Below(self.core, self.expression())
        return self._below

    def expression(self) -> Expr:
        """Return the tangent as one expression over operands and their tangents."""
        assert self.root is not None
        values: dict[str, Expr] = {}
        for let in (*self.core.lets, *self.steps.lets):
            values[let.name] = substituted(let.value, values)
        return new_memory(substituted(self.root, values))

    def run_below(self, ctx: ForwardMode, found: Values) -> Any:
        """Return the tangent, a value of the mode below.

        Raises
        ------
        Unusual
            If it is not finite, or something is raised, which the value raises in its own words.
        """
        if self.root is None:
            return None
        try:
            with Quiet():
                t = self.below.run(ctx.base, found)
        except Exception as error:
            raise Unusual from error
        if not is_finite(t):
            raise Unusual
        return t


class Below:
    """A tangent as a statement of the mode below.

    Parameters
    ----------
    core : Core
        The operations of the statement whose tangent it is.
    tangent : Expr
        Over operands v0, v1, ... and their tangents d0, d1, ...
    """

    def __init__(self, core: Core, tangent: Expr) -> None:
        from mooncake_py.compiler.statements.site import StatementSite

        self.own = core.statement
        self.functions: list[Any] = []
        self.sources: list[tuple[bool, int]] = []  # of each value: a tangent or not, its position
        self.layout: list[Part] = []
        self.operands: dict[str, Expr] = {}
        value = self.of(tangent)
        moved = {new: old for new, (on, old) in enumerate(self.sources) if not on}
        ints, certain = dict(self.own.ints), self.own.certain
        statement = Statement(
            value, tuple(self.layout), len(self.sources),
            ints=tuple((new, ints[old]) for new, old in moved.items() if old in ints),
            certain=frozenset(new for new, old in moved.items() if old in certain),
        )  # fmt: skip
        self.site = StatementSite(statement, one_by_one(statement))

    def of(self, e: Expr) -> Expr:
        """Return an expression over the operands of the new statement."""
        if isinstance(e, Name):
            if e.name not in self.operands:
                self.operands[e.name] = operand(len(self.layout))
                self.layout.append(self.part(e.name))
            return self.operands[e.name]
        parts = tuple(map(self.of, parts_of(e)))
        if not isinstance(e, Call):
            return rebuilt(e, parts)
        if not any(e.function is f for f in self.functions):
            self.functions.append(e.function)
        return Call(next(k for k, f in enumerate(self.functions) if f is e.function), parts)

    def part(self, name: str) -> Part:
        """Return where an operand, or its tangent, is among the values that are passed."""
        is_tangent, old = name[0] == "d", self.own.layout[int(name[1:])]
        if isinstance(old, tuple):
            return self.position(is_tangent, old[0]), self.position(False, old[1])
        return self.position(is_tangent, old)

    def position(self, is_tangent: bool, position: int) -> int:
        """Pass a value, once; return its position."""
        source = is_tangent, position
        if source not in self.sources:
            self.sources.append(source)
        return self.sources.index(source)

    def run(self, ctx: Mode, found: Values) -> Any:
        """Return the tangent."""
        given = found.primals, found.tangents
        values = tuple([given[on][position] for on, position in self.sources])
        return self.site.run(ctx, tuple(self.functions), values)


def is_crossed(o: ndarray, i: Any, values: list[Any], part: Part) -> bool:
    """Return True if ``o[i] = v`` reads what it has written, or if something is raised."""
    try:
        v = values[part[0]][values[part[1]]] if isinstance(part, tuple) else values[part]
        return type(v) is ndarray and crosses(o[i], v)
    except Exception:
        return True  # the general way raises it again


def change(a: ndarray, i: Any, v: Any, op: str) -> None:
    """Run ``a[i] = v``, or ``a[i] += v`` and the like."""
    if not op:
        a[i] = v
    elif op == "add":
        a[i] += v
    else:
        a[i] -= v


class Push:
    """How one statement runs in forward mode: its tangents, by functions and operands that move.

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
        self._known: dict[Any, Pushed | None] = {}
        self._forms: dict[Any, Any] = {}

    def run(self, ctx: ForwardMode, functions: Any, values: Any) -> Any:
        """Run the statement with tangents.

        Raises
        ------
        Unusual
            If it must go the general way; nothing has been done then.
        """
        found = self.reader.read(ctx, values)
        written = None if self.base is None else values[self.base]
        if type(written) is not ndarray:
            if self.statement.into:
                raise Unusual
            if not found.moving:
                return self.site.run(ctx.base, functions, tuple(found.primals))
            return self.expression(ctx, functions, values, found)
        t = ctx.blocks.tangent_of(written)
        if t is None and not found.moving:
            return self.site.run(ctx.base, functions, tuple(found.primals))
        if written.dtype is not FLOAT64 or (written.base is not None and has_overlaps(written)):
            raise Unusual
        i = Ellipsis if self.index is None else values[self.index]
        if self.copied is not None and is_crossed(written, i, found.primals, self.copied):
            raise Unusual
        linear = self.op in LINEAR
        part = self.pushed(functions, found.moving - {0} if linear else found.moving, linear)
        if not ctx.plain:
            return self.store_below(ctx, part, functions, found, (written, i, t))
        result = self.store(ctx, part, functions, found, (written, i, t))
        moving = found.tangents_at() | ({self.base} if t is not None else set())
        self.keep_form(part, functions, values, moving, self.op if linear else "")
        return result

    def expression(self, ctx: ForwardMode, functions: Any, values: Any, found: Values) -> Any:
        """Return the value of an expression, with its tangent."""
        whole = self.pushed(functions, found.moving, False)
        if ctx.plain:
            y, t = whole.run_natively(found)
            self.keep_form(whole, functions, values, found.tangents_at(), "")
            return ctx.fresh(y, t)
        t = whole.run_below(ctx, found)
        y = self.site.run(ctx.base, functions, tuple(found.primals))
        return y if y is Elsewhere else ctx.fresh(y, t)

    def store(
        self, ctx: ForwardMode, part: Pushed, functions: Any, found: Values, place: Place
    ) -> Any:
        """Write a value and its tangent, where nothing is active below."""
        o, i, t_o = place
        linear = self.op in LINEAR
        y, t = part.run_natively(found)
        if self.op and not linear and np.shape(y) != np.shape(o[i]):
            raise Unusual  # which NumPy says in other words where it writes in place
        if self.statement.into and not o[i].flags.c_contiguous:
            raise Unusual  # NumPy has other loops for results in steps: other last bits
        memory = ctx.registry.memory_of(o)
        if memory.protected:
            ctx.log_write(memory, o, i)
        change(o, i, y, self.op if linear else "")
        if t is not None and t_o is None:
            t_o = ctx.blocks.activate(o)
        if t_o is not None and (t is not None or not linear):
            with Quiet():
                change(t_o, i, 0.0 if t is None else t, self.op if linear else "")
        return self.result(o)

    def store_below(
        self, ctx: ForwardMode, part: Pushed, functions: Any, found: Values, place: Place
    ) -> Any:
        """Write a value and its tangent by statements of the mode below."""
        o, i, t_o = place
        t = part.run_below(ctx, found)
        result = self.site.run(ctx.base, functions, tuple(found.primals))
        if result is Elsewhere:
            return result
        if t is not None and t_o is None:
            t_o = ctx.blocks.activate(o)
        if t_o is None:
            return result
        if self.op not in LINEAR:
            ctx.write(t_o, i, 0.0 if t is None else t)
        elif t is not None:
            ctx.base.augitem(f"i{self.op}", t_o, i, t)
        return result

    def keep_form(
        self, part: Pushed, functions: Any, values: Any, moving: set[Any], op: str
    ) -> None:
        """Let the next run of the statement try the form for these values first."""
        named = self.statement.names.values()
        kinds = tuple([type(values[p]) for p in named])
        if any(type(values[p]) is Active and p not in moving for p in named):
            return
        pattern = Pattern(kinds, frozenset(moving))
        form = self._forms.get((functions, pattern))
        if form is None:
            site = self.site
            printer = ForwardForm(
                self.statement, part.core, op, pattern, site.choose, site.push, part.natively(True)
            )
            form = self._forms[functions, pattern] = printer.made()
        self.site.run = form

    def result(self, o: ndarray) -> Any:
        """Return what the statement gives: what a name is bound to afterwards."""
        return o if self.index is None else None

    def pushed(self, functions: Any, moving: frozenset[int], linear: bool) -> Pushed:
        """Return the tangent of the value, or of what is added to the target."""
        key = functions, moving, linear
        try:
            known = self._known[key]
        except KeyError:
            known = self._known[key] = self.made(functions, moving, linear)
        except TypeError:  # a function that cannot be a key
            known = None
        if known is None:
            raise Unusual
        return known

    def made(self, functions: Any, moving: frozenset[int], linear: bool) -> Pushed | None:
        """Work out a tangent; None if it cannot be."""
        statement = self.statement._replace(target=None, augments=False, into=False)
        if linear:
            statement = statement._replace(value=parts_of(statement.value)[1])
        core = Core(statement, functions)
        for let in core.lets:
            e = let.value
            if isinstance(e, Call) and not is_sum(e) and not is_contraction(e):
                given = declared(e)
                if given is None:
                    return None
        try:
            return Pushed(core, moving)
        except NoPartial:
            return None
