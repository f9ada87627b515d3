"""The site of a statement in a function, which runs it as one entry if possible."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from types import FunctionType
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.compiler.statements.array_forms import array_form, bases_of
from mooncake_py.compiler.statements.choices import is_comparison
from mooncake_py.compiler.statements.contained import OnItems, on_items
from mooncake_py.compiler.statements.core import Core
from mooncake_py.compiler.statements.dtypes import dtype_of
from mooncake_py.compiler.statements.gathers import is_index, is_mask
from mooncake_py.compiler.statements.general import Way, text_of
from mooncake_py.compiler.statements.kinds import ARRAYS, Kinds, kind_name, kinds_of
from mooncake_py.compiler.statements.push import Push, Unusual
from mooncake_py.compiler.statements.scalars import INTS, scalar_form
from mooncake_py.compiler.statements.statement import Statement
from mooncake_py.compiler.statements.views import read_part
from mooncake_py.runtime.pulls import is_basic
from mooncake_py.runtime.values import FLOAT64

if TYPE_CHECKING:
    from mooncake_py.runtime.forward_mode import ForwardMode
    from mooncake_py.runtime.mode import Language
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["StatementSite"]

MOST = 64  # keys of which forms are kept
SINGLE = INTS | {type(Ellipsis)}
"""The types of indices of which nothing else decides on the form."""


class StatementSite:
    """A statement, or an expression, and its quick forms.

    Parameters
    ----------
    statement : Statement
    otherwise : callable
        The way that always works, or `elsewhere`.
    texts : tuple of str, optional
        How the user's code writes the values.

    Attributes
    ----------
    run : callable
        ``run(C, F, V)`` with context, functions and values: the way used last, which hands over
        to `choose` where it does not fit.
    former : callable or None
        The form used before that: in many loops two of them take turns, as where the first pass
        has constants for what is active later.
    known : dict
        The forms by what decides on them, see `key`; None where there is none.
    on_items : dict of frozenset to OnItems
        How it runs if some of what it indexes, at these positions, are lists, tuples or dicts.
    """

    __slots__ = (
        "_cores", "_forms", "bases", "compares", "former", "in_forward_mode", "indices", "ints",
        "known", "names", "on_items", "otherwise", "readings", "run", "single", "statement",
        "texts",
    )  # fmt: skip

    def __init__(self, statement: Statement, otherwise: Way, texts: tuple[str, ...] = ()) -> None:
        self.statement = statement
        self.otherwise = otherwise
        self.texts = texts
        self.run: Way = self.choose
        self.former: Way | None = None
        self.known: dict[Any, Way | None] = {}
        self.names = statement.names
        self.bases = bases_of(statement)
        pairs = statement.pairs
        self.indices = tuple(dict.fromkeys(index for _, index in pairs))
        self.readings = statement.readings
        self.ints = dict(statement.ints)
        ints = {base: self.ints.get(index, 0) for base, index in pairs}
        self.single = not (statement.into or statement.views) and all(
            ints[base] == self.ints.get(index) for base, index in pairs
        )
        self.compares = is_comparison(statement.value)
        self.in_forward_mode: Push | None = None
        self.on_items: dict[frozenset[int], OnItems] = {}
        self._cores: dict[Any, Core] = {}
        self._forms: dict[Any, Way | None] = {}

    def __repr__(self) -> str:
        value = text_of(self.statement.value, self.statement.layout)
        return f"StatementSite({value}, {self.statement.target})"

    def start(self, ctx: Language, functions: Any, values: Any) -> Any:
        """Run by the way used last."""
        return self.run(ctx, functions, values[: self.statement.passed])

    def choose(self, ctx: Language, functions: Any, values: Any) -> Any:
        """Run by the form for what the values are, made when it is first met."""
        former, self.former = self.former, None  # which comes back here if it does not fit
        if former is None:
            return ctx.run_statement(self, functions, values)
        return self.run_by(former, ctx, functions, values)

    def forms(self) -> Iterator[tuple[Any, list[str], str]]:
        """Yield the forms made so far: functions, kinds of the operands, and text."""
        for (functions, kinds, on), form in self._forms.items():
            if form is not None:
                yield functions, described(self.statement, kinds, dict(on)), form.text  # type: ignore[attr-defined]
        for found in self.on_items.values():
            yield from found.own.forms()

    def core(self, functions: Any) -> Core:
        """Return the operations, with functions."""
        try:
            return self._cores[functions]
        except KeyError:
            core = self._cores[functions] = Core(self.statement, functions)
            return core

    def is_pure(self, functions: Any) -> bool:
        """Return True if all functions only compute: it does no harm to run them once more."""
        try:
            return self.core(functions).is_declared
        except TypeError:  # a function that cannot be a key
            return False

    # Reverse mode.

    def record(self, ctx: ReverseMode, functions: Any, values: Any) -> Any:
        """Run by a form that records one entry, or by the way that always works."""
        form = self.form(ctx, functions, values)
        found = on_items(self, values) if form is None and self.bases else None
        if found is not None:
            items, given = found
            self.run = items.run
            return items.finish(items.own.run(ctx, functions, given), ctx, functions, values)
        if form is None or form is self.run:  # which has handed over
            single = self.compares and self.is_single(values)
            self.run = self.otherwise if single else self.other if self.bases else self.choose
            return self.otherwise(ctx, functions, values)
        return self.run_by(form, ctx, functions, values)

    def run_by(self, form: Way, ctx: Language, functions: Any, values: Any) -> Any:
        """Run by a form; it is the one used until now, whichever way works in the end."""
        last, self.run = self.run, form
        result = form(ctx, functions, values)
        if self.run is not last and type(last) is FunctionType and last is not self.otherwise:
            self.former = last
        return result

    def other(self, ctx: Language, functions: Any, values: Any) -> Any:
        """Run the way that always works, as long as something other than an array is indexed."""
        for p in self.bases:
            if type(values[p]) is not ndarray:
                return self.otherwise(ctx, functions, values)
        return self.choose(ctx, functions, values)

    def form(self, ctx: ReverseMode, functions: Any, values: Any) -> Way | None:
        """Return the form for these values, None where there is none; to find out takes 50 us."""
        key = self.key(ctx, functions, values)
        try:
            return self.known[key]
        except KeyError:
            form = self.looked_up(ctx, functions, values)
        if key is not None and len(self.known) < MOST:
            self.known[key] = form
        return form

    def key(self, ctx: ReverseMode, functions: Any, values: Any) -> Any:
        """Return all that decides on the form; None if that takes a look at slices or masks."""
        for p in self.indices:
            index = values[p]
            if not (
                type(index) in SINGLE
                or (type(index) is tuple and SINGLE.issuperset(map(type, index)))
            ):
                return None
        # By identity: classes may answer for their hashes, and functions of a form are kept.
        return *map(id, functions), *[
            (v.shape, v.dtype, ctx.find(v) is not None)
            if type(v) is ndarray
            else (id(tuple), len(v))
            if type(v) is tuple
            else id(type(v))
            for v in values
        ]

    def looked_up(self, ctx: ReverseMode, functions: Any, values: Any) -> Way | None:
        """Return the form for these values, made when it is first met."""
        try:
            if self.is_single(values):
                return None if self.compares else self.form_on_numbers(ctx, functions, values)
            return self.form_on_arrays(ctx, functions, values) if self.serves(values) else None
        except TypeError:  # a function that cannot be a key
            return None

    def is_single(self, values: Any) -> bool:
        """Return True if everything is a number or a single element of a float64 array."""
        if not self.single or any(type(values[p]) is ndarray for p in self.names.values()):
            return False
        ints = self.ints
        for base, index in self.statement.pairs:
            a = values[base]
            if type(a) is not ndarray or a.dtype is not FLOAT64 or a.ndim != ints[index]:
                return False
        for position, count in ints.items():
            index = values[position]
            if not all(type(i) in INTS for i in (index if count > 1 else (index,))):
                return False
        return True

    def form_on_numbers(self, ctx: ReverseMode, functions: Any, values: Any) -> Way | None:
        """Return the form for numbers and elements of such kinds."""
        kinds = tuple([type(values[p]) for p in self.names.values()])
        on = tuple([(base, ctx.find(values[base]) is not None) for base in self.bases])
        key = functions, kinds, on
        try:
            return self._forms[key]
        except KeyError:
            named = dict(zip(self.names, kinds, strict=True))
            form = scalar_form(self.core(functions), named, dict(on), self.choose, self.otherwise)
            self._forms[key] = form
            return form

    def serves(self, values: Any) -> bool:
        """Return True if only arrays of one dtype are indexed, by supported indices."""
        if self.statement.of_numbers:
            return False
        certain, readings = self.statement.certain, self.readings
        bases = [values[p] for p in self.bases]
        are_arrays = all(type(a) is ndarray for a in bases) and dtype_of(bases) is not None
        return are_arrays and all(
            p in certain or (is_index if p in readings else is_basic)(values[p])
            or self.is_written_by_mask(p, values)
            for p in self.indices
        )  # fmt: skip

    def is_written_by_mask(self, position: int, values: Any) -> bool:
        """Return True for the position of a mask by which an array is written."""
        written = self.statement.written
        if written is None or written[1] != position:
            return False
        return is_mask(values[position], values[written[0]])

    def form_on_arrays(self, ctx: ReverseMode, functions: Any, values: Any) -> Way | None:
        """Return the form for arrays of such kinds."""
        core = self.core(functions)
        if not core.is_declared:  # what was a view when the statement was read may be none now
            return None
        try:
            operands = [read_part(part, functions, values) for part in self.statement.layout]
            kinds = kinds_of(core, operands, values)
        except Exception:
            return None  # the reference raises it again
        if kinds is None:
            return None
        arrays = arrays_of(self.statement, self.bases, kinds.operands)
        on = tuple([(p, ctx.find(values[p]) is not None) for p in arrays])
        key = functions, kinds, on
        try:
            return self._forms[key]
        except KeyError:
            form = self._forms[key] = array_form(core, kinds, on, self.choose, self.otherwise)
            return form

    # Forward mode.

    def push(self, ctx: ForwardMode, functions: Any, values: Any) -> Any:
        """Run with tangents, or by the way that always works."""
        served = ctx.pushes or (ctx.several and ctx.base.fuses)
        if served:
            found = on_items(self, values)
            if found is not None:
                items, given = found
                # A form that is kept must come first: `push` takes it for one that has handed over.
                run = items.own.run if ctx.plain else items.own.push
                self.run = items.run
                return items.finish(run(ctx, functions, given), ctx, functions, values)
            if self.in_forward_mode is None:
                self.in_forward_mode = Push(self)
            with suppress(Unusual):
                return self.in_forward_mode.run(ctx, functions, values)
        return ctx.base.run_generally(self, functions, values, ctx)


def arrays_of(statement: Statement, bases: tuple[int, ...], kinds: tuple[Any, ...]) -> list[int]:
    """Return the positions of all arrays among the values."""
    named = [part for k, part in statement.names.items() if kinds[k] in ARRAYS]
    return list(dict.fromkeys([*bases, *named]))


def described(statement: Statement, kinds: Any, on: dict[int, bool]) -> list[str]:
    """Return the kinds of the operands as text."""
    if isinstance(kinds, Kinds):
        operands = list(kinds.operands)
    else:
        named = dict(zip(statement.names, kinds, strict=True))
        operands = [named.get(k, "element") for k in range(len(statement.layout))]
    return [
        ("active " if on.get(part[0] if isinstance(part, tuple) else part) else "")
        + kind_name(kind)
        for part, kind in zip(statement.layout, operands, strict=True)
    ]
