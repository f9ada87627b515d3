"""The forms of statements in forward mode where nothing is active below: one function a pattern.

y[1:] = a * x[1:]       def run(C, F, V):
...                     values and tangents, as the pattern has them
y = v0 * v1
t = v0 * d1             without warnings
a1[a3] = y
T1[a3] = t
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.derivatives.partials import NoPartial
from mooncake_py.compiler.printing.text import define
from mooncake_py.compiler.regions.ir import Expr, Finite, Let, Name, Op, parts_of
from mooncake_py.compiler.regions.simplify import inlined, names_of
from mooncake_py.compiler.regions.steps import Names, Steps
from mooncake_py.compiler.statements.array_text import ArrayText
from mooncake_py.compiler.statements.complexes import COMPLEX128, complex_names, is_complex
from mooncake_py.compiler.statements.contractions import is_mean
from mooncake_py.compiler.statements.core import Core
from mooncake_py.compiler.statements.dtypes import NAMES
from mooncake_py.compiler.statements.finiteness import Factor, factors_of
from mooncake_py.compiler.statements.gathers import is_index, is_mask
from mooncake_py.compiler.statements.general import Way
from mooncake_py.compiler.statements.kinds import NUMBERS
from mooncake_py.compiler.statements.lines import attempt, function, indented, mute, raised, watched
from mooncake_py.compiler.statements.pushforward import tangent_of
from mooncake_py.compiler.statements.reductions import is_reduction
from mooncake_py.compiler.statements.statement import Statement
from mooncake_py.compiler.statements.views import through, views_in
from mooncake_py.diagnostics.warned import may_be_caught
from mooncake_py.rules.exact_zeros import surely_finite
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.late_errors import late_error
from mooncake_py.runtime.overlapping import crosses_at
from mooncake_py.runtime.pulls import is_basic
from mooncake_py.runtime.quiet import BY_NAME, Unheard
from mooncake_py.runtime.values import FLOAT64
from mooncake_py.tangents.memory import has_overlaps

if TYPE_CHECKING:
    from mooncake_py.runtime.forward_mode import ForwardMode

__all__ = ["ForwardForm", "Pattern", "is_finite", "new_memory"]

SYMBOLS = {"add": "+", "sub": "-"}
READ = """\
b{p} = known.get(id(a{p}))
if b{p} is not None and b{p}.ref() is a{p}:
    T{p} = b{p}.tangent
else:
    T{p} = None if a{p}.base is None else B.{look_up}(a{p})
if T{p} is {wrong}:
    return choose(C, F, V)"""


class Pattern(NamedTuple):
    """The key of a form.

    Attributes
    ----------
    kinds : tuple of type
        Of the values that are operands by themselves, in the order of `Statement.names`.
    moving : frozenset of int
        The positions of values that have a tangent, the target among them.
    dtype : dtype
        Of the statement.
    complexes : frozenset of int
        The positions of values that are complex.
    """

    kinds: tuple[type, ...]
    moving: frozenset[int]
    dtype: np.dtype[Any] = FLOAT64
    complexes: frozenset[int] = frozenset()

    def dtype_at(self, position: int) -> np.dtype[Any]:
        """Return the dtype of an array among the values."""
        is_real = self.dtype is COMPLEX128 and position not in self.complexes
        return FLOAT64 if is_real else self.dtype


def is_finite(t: Any) -> bool:
    """Return True for an array of floats or complex numbers, or a float, that is finite."""
    if type(t) is ndarray:
        return (t.dtype is FLOAT64 or t.dtype.kind in "fc") and surely_finite(t)
    while type(t) is Active:
        t = t.primal
    return type(t) in NUMBERS and isfinite(t)


def shape_of(v: Any) -> tuple[int, ...]:
    """Return the shape of an array or a number."""
    return getattr(v, "shape", ())


def new_memory(e: Expr) -> Expr:
    """Return an expression whose value is in its own memory."""
    return Op("pos", (e,)) if isinstance(e, Name) and e.name[0] != "e" else e


class Computation(NamedTuple):
    """The lines of a statement.

    Attributes
    ----------
    first : list of str
        Those that compute the value y.
    then : list of str
        Those that compute its tangent t; none for zero.
    fine : str
        What tells that zeros in t are exact; empty if they are in any case.
    """

    first: list[str]
    then: list[str]
    fine: str


def computation(
    core: Core,
    moving: list[int],
    text: ArrayText,
    numbers: Collection[str] = (),
    careful: bool = False,
    complexes: Collection[str] = (),
) -> Computation:
    """Return the lines that compute value and tangent.

    Parameters
    ----------
    numbers : collection of str
        Operands that are numbers.
    complexes : collection of str
        Operands and results that are complex.
    """
    steps = Steps(Names("e"), None)
    root = tangent_of(core, moving, steps, careful, complexes=complexes)
    results = [] if root is None else [Finite(root)]
    factors = factors_of([f"d{k}" for k in moving], core.lets, steps.lets, numbers)
    kept = {let.name for let in steps.lets} - {name for name, _ in factors or ()}
    tangents = inlined((*steps.lets, *results), kept)
    read = set(names_of([s.value for s in tangents if isinstance(s, Let | Finite)]))
    read |= set(names_of([core.root]))
    own = {let.name for let in core.lets} - read
    values = inlined((*core.lets, Finite(core.root)), own)
    first = [line for s in values[:-1] for line in text.lines(s)]
    first.append(f"y = {text.text(core.root)}")
    if root is None:
        return Computation(first, [], "")
    then = [line for s in tangents[:-1] for line in text.lines(s)]
    assert isinstance(tangents[-1], Finite)
    then.append(f"t = {text.text(new_memory(tangents[-1].value))}")
    return Computation(first, then, tests_of(factors))


def tests_of(factors: list[Factor] | None) -> str:
    """Return tests that no zero of a tangent meets an infinite factor, or the reverse."""
    if factors is None:
        return "is_finite(t)"
    tests = [
        f"{name} - {name} == 0 != {name}" if divides else f"{name} - {name} == 0"
        for name, divides in factors
    ]
    zeros = [f"{name} != 0" for name, divides in factors if not divides]
    if zeros:
        tests.append(f"({' and '.join(zeros)} or is_finite(t))")
    return " and ".join(tests)


def unheard(way: Way) -> Way:
    """Return a way that computes again what NumPy has warned of."""

    def again(ctx: ForwardMode, functions: Any, values: Any) -> Any:
        with Unheard():
            return way(ctx, functions, values)

    return again


class ForwardForm:
    """Prints the form of a statement for one pattern.

    Parameters
    ----------
    statement : Statement
    core : Core
        Of the value, or of what is added to the target.
    op : str
        The operator that changes an array in place, empty if nothing or all of it is written.
    pattern : Pattern
    choose, otherwise : callable
        The way that finds the form for other patterns, and the one that always works.
    """

    marker = "C.pushes and C.plain"  # attributes of contexts in which it works
    look_up = "tangent_of"

    def __init__(
        self,
        statement: Statement,
        core: Core,
        op: str,
        pattern: Pattern,
        choose: Way,
        otherwise: Way,
    ) -> None:
        self.statement = statement
        self.core = core
        self.op = op
        self.kinds = dict(zip(statement.names.values(), pattern.kinds, strict=True))
        self.moving = pattern.moving
        self.pattern = pattern
        self.complexes = complex_names(core, pattern.complexes)
        target = statement.target
        self.base, self.index = target if isinstance(target, tuple) else (target, None)
        if self.base is not None and self.kinds.get(self.base, ndarray) is not ndarray:
            self.base = None  # a number, of which a new one is made
        bases = {base for base, _ in statement.pairs}
        arrays = {p for p, kind in self.kinds.items() if kind is ndarray}
        self.arrays = sorted(bases | arrays | ({self.base} if self.base is not None else set()))
        self.text = ArrayText({})
        self.scope: dict[str, Any] = {
            "Active": Active, "Ellipsis": Ellipsis, "again": unheard(otherwise), "choose": choose,
            "complex128": np.complex128, "crosses_at": crosses_at, "float64": np.float64,
            "has_overlaps": has_overlaps, "is_basic": is_basic, "is_finite": is_finite,
            "is_index": is_index, "is_mask": is_mask, "late_error": late_error,
            "may_be_caught": may_be_caught, "ndarray": ndarray, "otherwise": otherwise,
            "shape_of": shape_of, "Unheard": Unheard, **BY_NAME,
        }  # fmt: skip
        self.scope |= {name: dtype for dtype, name in NAMES.items()}
        self.scope |= {f"f{i}": f for i, f in enumerate(core.functions)}
        self.scope |= views_in(statement.layout, core.functions)

    def made(self) -> Way:
        """Return the form."""
        found = computation(
            self.core, self.operands, self.text, self.operand_numbers, complexes=self.complexes
        )
        moves = bool(found.then)
        after = self.given(moves) if self.base is None else self.stored(moves)
        tried, then = self.attempted(found)
        lines = [*self.guards(), *self.tangents(), *self.numbers()]
        expected = [*self.unless_arrays(), *(self.type_of_value() if moves else [])]
        lines += [*attempt(tried), *indented([*expected, *then, *after])]
        self.scope["exactly"] = self.exactly
        text = function("run", "C, F, V", [*lines, "return otherwise(C, F, V)"])
        form = define(text, {**self.text.scope, **self.scope})["run"]
        form.text = text  # for those who want to see it
        return form

    def attempted(self, found: Computation) -> tuple[list[str], list[str]]:
        """Return the lines that compute the value, and may raise; and those for the tangent."""
        first, then, fine = found
        if not then:
            return [*self.reads(), *first], []
        if not fine:
            return [*self.reads(), *first], self.quietly(then)
        exactly = self.or_again([f"t = exactly({', '.join(self.names())})"])
        tangent = self.quietly([*then, f"fine = {fine}"])
        return [*self.reads(), *first], [*tangent, "if not fine:", *indented(exactly)]

    def unless_arrays(self) -> list[str]:
        """Return the lines that see that methods of arrays are called of arrays.

        Raises
        ------
        NoPartial
            If something has no array among its operands for certain, nor one that may be.
        """
        layout = list(enumerate(self.statement.layout))
        named = [k for k, part in layout if not isinstance(part, tuple)]
        certain = {f"v{k}" for k in named if self.kinds[self.statement.names[k]] is ndarray}
        ints = dict(self.statement.ints)
        may_be = {f"v{k}" for k, part in layout if isinstance(part, tuple) and part[1] in ints}
        certain |= {f"v{k}" for k, part in layout if isinstance(part, tuple)} - may_be
        lines: list[str] = []
        for e in self.core.objects:
            within = sources_of(e, self.core.lets)
            if within & certain:
                continue
            tests = [f"type({name}) is not ndarray" for name in sorted(within & may_be)]
            if not tests:
                raise NoPartial
            lines += [f"if {' and '.join(tests)}:", "    return again(C, F, V)"]
        return lines

    def type_of_value(self) -> list[str]:
        """Return the lines that see that the value is an array, unless all arrays are float64."""
        dtype = self.pattern.dtype
        if dtype is FLOAT64:
            return []
        is_real = dtype is COMPLEX128 and not is_complex(self.core.root, self.complexes)
        name = NAMES[FLOAT64 if is_real else dtype]
        return [
            f"if type(y) is not ndarray or y.dtype is not {name}:", "    return again(C, F, V)",
        ]  # fmt: skip

    def quietly(self, lines: list[str]) -> list[str]:
        """Return lines that run without warnings; after an error all is computed again."""
        if any(is_reduction(let.value) or is_mean(let.value) for let in self.core.lets):
            # NumPy's are written in Python, and warn of what is empty.
            return self.or_again(["with Unheard():", *indented(lines)])
        return self.or_again(mute(lines))

    def or_again(self, lines: list[str]) -> list[str]:
        """Return lines after whose errors all is computed again."""
        return ["try:", *indented(lines), "except Exception:", "    return again(C, F, V)"]

    @cached_property
    def operands(self) -> list[int]:
        """The operands that have a tangent; what is changed in place keeps its own."""
        sources = [part[0] if isinstance(part, tuple) else part for part in self.statement.layout]
        first = 1 if self.op else 0
        return [k for k, p in enumerate(sources) if k >= first and p in self.moving]

    @property
    def operand_numbers(self) -> list[str]:
        """The operands that are numbers for certain."""
        named = self.statement.names.items()
        return [f"v{k}" for k, p in named if self.kinds[p] is not ndarray]

    def names(self) -> list[str]:
        """Return the names of the operands, and of the tangents of those that move."""
        operands = [f"v{k}" for k in range(len(self.statement.layout))]
        return [*operands, *(f"d{k}" for k in self.operands)]

    def exactly(self, *args: Any) -> Any:
        """Return a tangent in which zeros are exact next to numbers that are not finite."""
        with Unheard():
            return self.exact(*args)

    @cached_property
    def exact(self) -> Way:
        """The function that does so, generated when it is first needed."""
        text = ArrayText({})
        first, then, _ = computation(
            self.core, self.operands, text, careful=True, complexes=self.complexes
        )
        lines = mute([*first, *then, "return t"])
        made = function("exact", ", ".join(self.names()), lines)
        return define(made, {**text.scope, **BY_NAME, "one": np.float64(1.0)})["exact"]

    # Before the computation.

    def guards(self) -> list[str]:
        """Return the lines that name the values, and see that they fit."""
        statement = self.statement
        fits = [self.marker, *self.core.once(statement)]
        fits += [
            f"type(a{p}) is ndarray and a{p}.dtype is {NAMES[self.pattern.dtype_at(p)]}"
            for p in self.arrays
        ]
        readings = statement.readings
        written = statement.written
        for i in sorted({i for _, i in statement.pairs if i not in statement.certain}):
            test = f"{'is_index' if i in readings else 'is_basic'}(a{i})"
            if written is not None and i == written[1]:
                test = f"({test} or is_mask(a{i}, a{written[0]}))"
            fits.append(test)
        for p, kind in self.kinds.items():
            if kind is Active:
                fits.append(f"type(a{p}) is Active and a{p}.context is C")
            elif kind is not ndarray:
                fits.append(f"type(a{p}) is {kind.__name__}")
            elif p != self.base:
                fits.append(f"a{p}.ndim")
        fits += [f"F[{i}] is f{i}" for i in range(len(self.core.functions))]
        names = ", ".join(f"a{p}" for p in range(statement.passed))
        return [f"{names}, = V", f"if not ({' and '.join(fits)}):", "    return choose(C, F, V)"]

    def tangents(self) -> list[str]:
        """Return the lines that look up the tangents T0, T1, ... of the arrays."""
        lines = ["B = C.blocks", "known = B.known"]
        for p in self.arrays:
            wrong = "None" if p in self.moving else "not None"
            lines += READ.format(p=p, wrong=wrong, look_up=self.look_up).split("\n")
        return lines

    def numbers(self) -> list[str]:
        """Return the lines that read active numbers, which are floats."""
        numbers = [p for p, kind in self.kinds.items() if kind is Active]
        return [line for p in numbers for line in self.number(p)]

    def number(self, p: int) -> list[str]:
        """Return the lines that read an active number."""
        return [
            f"p{p} = a{p}.primal",
            f"if type(p{p}) is not float and type(p{p}) is not float64:",
            "    return otherwise(C, F, V)",
        ]

    def reads(self) -> list[str]:
        """Return the lines that read the operands, and the tangents of those that move."""
        lines = []
        for k in range(len(self.statement.layout)):
            lines.append(self.value_read(k))
            lines += [self.tangent_read(k)] if k in self.operands else []
        return lines

    def value_read(self, k: int) -> str:
        """Return the line that reads an operand."""
        part = self.statement.layout[k]
        if isinstance(part, tuple):
            return f"v{k} = {through(part, f'a{part[0]}[a{part[1]}]')}"
        return f"v{k} = {'p' if self.kinds[part] is Active else 'a'}{part}"

    def tangent_read(self, k: int) -> str:
        """Return the line that reads the tangent of an operand."""
        part = self.statement.layout[k]
        if isinstance(part, tuple):
            return f"d{k} = {through(part, f'T{part[0]}[a{part[1]}]')}"
        return f"d{k} = a{part}.grad" if self.kinds[part] is Active else f"d{k} = T{part}"

    # The statements after it.

    def given(self, moves: bool) -> list[str]:
        """Return the line that gives back a value with its tangent."""
        return ["return C.fresh(y, t)" if moves else "return y"]

    def stored(self, moves: bool) -> list[str]:
        """Return the lines that write the value and its tangent."""
        o, i = f"a{self.base}", "Ellipsis" if self.index is None else f"a{self.index}"
        old = "v0" if self.statement.augments and not self.statement.into else f"{o}[{i}]"
        unusual = [f"{o}.base is not None and has_overlaps({o})"]
        if self.statement.into or (self.statement.augments and not self.op):
            # A recomputed value is written in place by NumPy, which raises where it cannot.
            unusual.append(f"shape_of(y) != shape_of({old})")
        if self.statement.into:  # NumPy has other loops for results in steps: other last bits
            unusual.append(f"not {o}[{i}].flags.c_contiguous")
        unusual.append(f"type(y) is ndarray and y.base is not None and crosses_at({o}, {i}, y)")
        before, after = self.tangents_stored(moves, i)
        return [
            f"if {' or '.join(unusual)}:", "    return otherwise(C, F, V)", *before,
            f"m = B.constants.get(id({o}))", f"if m is None or m.ref() is not {o}:",
            f"    m = C.registry.memory_of({o})",
            "if m.protected:", f"    C.log_write(m, {o}, {i})",
            *self.written(o, i, after), f"return {o if self.index is None else None}",
        ]  # fmt: skip

    def written(self, o: str, i: str, after: list[str]) -> list[str]:
        """Return the lines that write, and those that follow also where NumPy raises then.

        What a mask picks is a copy, which is not written back after an error.
        """
        change = self.change("v0", o, i, "y")
        if not self.op or not after:
            return [*change, *after]
        slot = o if self.index is None else f"None if type({i}) is ndarray else v0"
        return [*watched(change, slot, "y"), *after, *raised()]

    def change(self, old: str, o: str, i: str, new: str) -> list[str]:
        """Return the lines that write a part of an array, or change it: a view of it, or a number.

        ``o[i] += new`` would write the view once more to itself.  What a mask picks is a copy.
        """
        if not self.op:
            return [f"{o}[{i}] = {new}"]
        symbol = SYMBOLS[self.op]
        if self.index is None:
            return [f"{o} {symbol}= {new}"]
        picked = [f"    if type({i}) is ndarray:", f"        {o}[{i}] = {old}"]
        return [
            f"if type({old}) is ndarray:", f"    {old} {symbol}= {new}",
            *(picked if self.index not in self.statement.certain else []),
            "else:", f"    {o}[{i}] = {old} {symbol} {new}",
        ]  # fmt: skip

    def tangents_stored(self, moves: bool, i: str) -> tuple[list[str], list[str]]:
        """Return the lines that write the tangent: those before the value is written, and after."""
        T = f"T{self.base}"
        if moves:
            activate = [] if self.base in self.moving else [f"{T} = B.activate(a{self.base})"]
            read = [f"d = {T}[{i}]"] if self.op and self.index is not None else []
            return [], [*activate, *read, *self.change("d", T, i, "t")]
        return [], [f"{T}[{i}] = 0.0"] if self.base in self.moving and not self.op else []


def sources_of(e: Expr, lets: Iterable[Let]) -> set[str]:
    """Return the operands from which a value is computed: what comes of an array has methods."""
    values = {let.name: let.value for let in lets}

    def of(e: Expr) -> set[str]:
        if isinstance(e, Name):
            return of(values[e.name]) if e.name in values else {e.name}
        return set[str]().union(*map(of, parts_of(e)))

    return of(e)
