"""The lines of a call of a function on whole arrays in both sweeps of a region.

For ``lap = np.roll(u, 1)``::

    forward                                 back
    v0 = w_u_u                              k = pop_int()
    value = call0(v0, 1)                    g = dw_u_lap
    if kind_of(value) != 1:                 dw_u_lap = None
        raise ArithmeticError               if g is not None:
    push_int((((like(v0), 1), {}), ...))        c0, = back0(g, k)
    w_u_lap = value                             if c0 is not None: ...
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.forms.form import Special, whole_name
from mooncake_py.compiler.forms.infer import FLOAT, FLOAT64, INT
from mooncake_py.compiler.regions.indices import EVERYTHING
from mooncake_py.compiler.regions.ir import Expr, Lines, Load, Name, Sliced
from mooncake_py.compiler.slices.alone import outlasting
from mooncake_py.compiler.slices.calls.arguments import Hole, Path, arguments_of
from mooncake_py.compiler.slices.calls.examples import rank_of
from mooncake_py.compiler.slices.calls.operations import (
    Bilinear,
    Constant,
    Element,
    Item,
    Linear,
    Operation,
    fitted_to,
    operation_of,
)
from mooncake_py.compiler.slices.index_texts import index_text, reads_of
from mooncake_py.compiler.slices.plans import example
from mooncake_py.compiler.statements.lines import indented
from mooncake_py.overriding import override
from mooncake_py.rules.kinds import NotImplementedDerivative, function_name
from mooncake_py.runtime.values import FLOAT64 as DOUBLE

__all__ = ["CallForm", "call_form"]

DOWN = "d"
"""Prefix of cotangents; of numbers and elements it is followed by an underscore."""


class CallForm:
    """Makes the lines of a call; see `SlicedForm`, whose place it takes.

    Parameters
    ----------
    s : Sliced
    operation : Operation
    rank : int
        How many axes the value has; 0 for a number.
    number : int
        Of the statement in the region.
    found : Special
        The region.
    axes : mapping of str to int
        How many axes the arrays have.
    scope : dict
        What the text calls, for all statements of the region.
    """

    changed = None

    def __init__(
        self,
        s: Sliced,
        operation: Operation,
        rank: int,
        number: int,
        found: Special,
        axes: Mapping[str, int],
        scope: dict[str, Any],
    ) -> None:
        self.s = s
        self.operation = operation
        self.rank = rank
        self.axes = axes
        self.names = found.region.variables
        self.active = found.active
        arguments = arguments_of(s.statement.value)
        assert arguments is not None
        self.arguments = arguments
        self.steady = steady_of(found)
        self.call, self.adjoint = f"call{number}", f"back{number}"
        self.receiving = [
            (path, hole.operand)
            for path, hole in arguments.holes
            if not hole.is_zero and self.array_or_name(hole.operand) in found.active
            and path[0] not in operation.flat
        ]  # fmt: skip
        is_plain = isinstance(operation, Linear | Bilinear | Constant)
        scope[self.call] = operation.function if is_plain else operation.ahead
        scope[self.adjoint] = Back(operation, [path for path, _ in self.receiving])
        scope |= {"kind_of": kind_of, "zeros_like": np.zeros_like}
        self.is_plain = is_plain

    # What both sweeps need; see `SlicedForm`.

    @property
    def variable(self) -> str | None:
        """The name that is bound to an array."""
        return self.target if self.target in self.names else None

    @property
    def target(self) -> str:
        """The name that is bound."""
        assert self.s.target is not None
        return self.s.target.name

    def array_or_name(self, k: int) -> str:
        """Return the array that an operand is part of, or the number that it is."""
        part = self.s.statement.layout[k]
        return self.s.values[part if isinstance(part, int) else part[0]].name

    def axes_of(self, k: int) -> int:
        """Return how many axes an operand has."""
        part = self.s.statement.layout[k]
        if isinstance(part, int):
            return 0
        array, index = (example(self.s.values[p], self.axes) for p in part[:2])
        return np.ndim(array[index])

    def variables_read(self, kept: list[str]) -> set[str]:
        """Return no names: what the adjoint reads is saved, and nothing changes it."""
        return set()

    def saves_what_it_binds(self, kept: list[str]) -> bool:
        """Return False: a value that is saved is not changed."""
        return False

    def variables_measured(self) -> set[str]:
        """Return the names of arrays to parts of which something is given."""
        parts = [self.s.statement.layout[k] for _, k in self.receiving]
        return {
            self.s.values[part[0]].name
            for part in parts
            if isinstance(part, tuple) and self.s.values[part[1]] != EVERYTHING
        }.intersection(self.names)

    def kept(self, is_kept: Callable[[str], bool], steady: Collection[str]) -> list[str]:
        """Return no names: what is saved has none."""
        return []

    # Forward.

    def forward(
        self, kept: list[str], logs: bool, twins: list[str], keeps_shape: bool = False
    ) -> Lines:
        """Return the call with what it saves; for the parameters see `SlicedForm`."""
        count = len(self.s.statement.layout)
        lines = [f"v{k} = {self.operand(k)}" for k in range(count)]
        call = f"{self.call}({self.texts(self.value_text)})"
        lines.append(f"{'value' if self.is_plain else 'value, saved'} = {call}")
        lines += unless(" or ".join([f"kind_of(value) != {self.rank}", *self.is_operand()]))
        if self.is_checked:
            lines += unless("not finite(value)")
        if self.receiving:
            lines.append(f"push_int(({self.saved()}, ({self.shapes()})))")
        if not self.rank:
            log = [f"push_int({self.target})"] if logs else []
            lines += [*log, f"{self.target} = y = float(value)", "z += y * 0.0"]
        else:
            lines += self.bound(logs, twins, keeps_shape)
        reads = [e for k in range(count) for e in self.reads(k)]
        return Lines(tuple(lines), (*reads, *self.target_read()), place=self.s.place)

    def bound(self, logs: bool, twins: list[str], keeps_shape: bool) -> list[str]:
        """Return the lines that bind the name to the array."""
        whole, lines = whole_name(self.target), []
        if keeps_shape:
            lines += unless(f"{whole} is not None and {whole}.shape != value.shape")
        lines += [f"push_int({whole})"] if logs else []
        is_safe = self.is_plain or self.target in self.steady  # else the rule may keep it
        lines.append(f"{whole} = value" if is_safe else f"{whole} = value.copy()")
        return lines + [
            line for t in twins for line in unless(f"value.shape != {whole_name(t)}.shape")
        ]

    def is_operand(self) -> list[str]:
        """Return the tests whether the value is an operand itself, as of ``np.diff(u, 0)``."""
        if not self.rank or self.arguments.may_view:
            return []
        holes = {h.operand for _, h in self.arguments.holes if not h.is_zero}
        return [f"value is v{k}" for k in sorted(holes) if self.axes_of(k) == self.rank]

    @property
    def is_checked(self) -> bool:
        """Whether the value is a tangent that may have met a factor that is not finite."""
        return self.operation.multiplies and self.target[0] in "te"

    def target_read(self) -> list[Expr]:
        """Return what the target is read as."""
        return [Name(whole_name(self.target))] if self.rank else []

    def operand(self, k: int) -> str:
        """Return the text that reads an operand."""
        part = self.s.statement.layout[k]
        if isinstance(part, int):
            return self.s.values[part].name
        name, index = self.s.values[part[0]].name, self.s.values[part[1]]
        if index == EVERYTHING:
            return whole_name(name)
        if self.axes_of(k):
            return f"{whole_name(name)}[{index_text(index)}]"
        text = f"{name}[{index_text(index)}]"
        return f"float(w_{text})" if name in self.names else text

    def reads(self, k: int) -> tuple[Expr, ...]:
        """Return the expressions that an operand is read by."""
        part = self.s.statement.layout[k]
        if isinstance(part, int):
            return (Name(self.s.values[part].name),)
        name, index = self.s.values[part[0]].name, reads_of(self.s.values[part[1]])
        if self.axes_of(k) or name in self.names:
            return (Name(whole_name(name)), *index)
        return (Load(name, index),)

    def texts(self, of: Callable[[Path, Hole], str]) -> str:
        """Return the text of the arguments of a call."""
        named = self.arguments.named_texts(of)
        texts = [*self.arguments.texts(of), *(f"{name}={text}" for name, text in named.items())]
        return ", ".join(texts)

    def value_text(self, path: Path, hole: Hole) -> str:
        """Return the text of an operand in the call; a rule may keep what it is given."""
        name = f"v{hole.operand}"
        if hole.is_zero:
            return f"zeros_like({name})" if self.axes_of(hole.operand) else "0.0"
        return name if self.is_plain else self.kept_text(path, hole)

    def kept_text(self, path: Path, hole: Hole) -> str:
        """Return the text of an operand as it is saved: what may change is copied."""
        name = f"v{hole.operand}"
        if not self.axes_of(hole.operand):
            return name
        if isinstance(self.operation, Linear) and path[0] in self.operation.wrt:
            return name  # of which the shape is saved
        return name if self.array_or_name(hole.operand) in self.steady else f"{name}.copy()"

    def saved_as_they_are(self) -> set[str]:
        """Return the given arrays that are saved without a copy: nothing may change them."""
        holes = [*(h for _, h in self.arguments.holes), *self.arguments.named_holes]
        arrays = {self.array_or_name(h.operand) for h in holes if self.axes_of(h.operand)}
        return arrays.intersection(self.steady - self.names)

    def saved(self) -> str:
        """Return the text of what the way back needs."""
        if not self.is_plain:
            return "saved"
        texts = [
            f"{self.saved_text(k, text)}, "
            for k, text in enumerate(self.arguments.texts(self.kept_text))
        ]
        named = self.arguments.named_texts(self.kept_text)
        return f"(({''.join(texts)}), {{{', '.join(f'{k!r}: {v}' for k, v in named.items())}}})"

    def saved_text(self, position: int, text: str) -> str:
        """Return the text of an argument as its adjoint takes it: no list."""
        if position in self.operation.wrt and isinstance(self.operation, Linear):
            return f"like({text})"
        if position in self.operation.wrt and isinstance(self.operation, Bilinear):
            part = self.arguments.positional[position]
            is_array = isinstance(part, Hole) and self.axes_of(part.operand) and not part.is_zero
            return text if is_array else f"array({text}, float)"
        return text

    def shapes(self) -> str:
        """Return the text of the shapes of what receives a cotangent; None for a number."""
        return "".join(f"v{k}.shape, " if self.axes_of(k) else "None, " for _, k in self.receiving)

    # Back.

    def reverse(self, kept: list[str], logs: bool) -> Lines | None:
        """Return the adjoint, after what puts back what was overwritten; None for nothing."""
        whole = whole_name(self.target)
        lines = [f"{whole if self.rank else self.target} = pop_int()"] if logs else []
        reads: list[Expr] = self.target_read() if logs else []
        if self.receiving:
            own, more = self.pull()
            lines += own
            reads += more
        elif self.target in self.active:
            lines.append(f"{self.cotangent} = {None if self.rank else 0.0}")
        return Lines(tuple(lines), tuple(reads), place=self.s.place) if lines else None

    @property
    def cotangent(self) -> str:
        """What the cotangent of the value is called."""
        return f"d{whole_name(self.target)}" if self.rank else f"d_{self.target}"

    def pull(self) -> tuple[list[str], list[Expr]]:
        """Return the lines of the adjoint, and what they read."""
        names = [f"c{n}" for n in range(len(self.receiving))]
        body, reads = self.deliveries(names)
        seed = [] if self.rank else ["g = float64(g)"]
        found = [*seed, f"{', '.join(names)}, = {self.adjoint}(g, saved)"]
        reads += [Name(whole_name(name)) for name in sorted(self.saved_as_they_are())]
        lines = [
            "saved = pop_int()",
            f"g = {self.cotangent}",
            f"{self.cotangent} = {None if self.rank else 0.0}",
            f"if {'g is not None' if self.rank else 'g'}:",
            *indented([*found, *body]),
        ]
        return lines, reads

    def deliveries(self, names: list[str]) -> tuple[list[str], list[Expr]]:
        """Return the lines that add what the operands receive, and what they read."""
        reads: list[Expr] = []
        body: list[str] = []
        for name in sorted(self.variables_measured()):
            d = f"d{whole_name(name)}"
            reads.append(Name(whole_name(name)))
            zeros = f"zeros({whole_name(name)}.shape)"
            body.append(f"{d} = {zeros} if {d} is None else {d}.copy()")
        for c, (_, k) in zip(names, self.receiving, strict=True):
            lines = self.delivery(c, k)
            body += lines if c == "g" else [f"if {c} is not None:", *indented(lines)]
            part = self.s.statement.layout[k]
            if isinstance(part, tuple):
                reads += reads_of(self.s.values[part[1]])
        return body, reads

    def delivery(self, c: str, k: int) -> list[str]:
        """Return the lines that add what an operand receives."""
        part = self.s.statement.layout[k]
        name = self.array_or_name(k)
        if isinstance(part, int):
            return [f"d_{name} += {c}"]
        index = self.s.values[part[1]]
        d = f"d{whole_name(name)}"
        if index == EVERYTHING and name in self.names:
            if name in self.variables_measured():
                return [f"{d} += {c}"]
            return [f"{d} = {c} if {d} is None else {d} + {c}"]
        if name not in self.names and not self.axes_of(k):
            return [f"d_{name}[{index_text(index)}] += {c}"]
        if not self.axes_of(k):
            return [f"{d}[{index_text(index)}] += {c}"]
        return [f"d = {d}[{index_text(index)}]", f"d += {c}"]


class ElementForm(CallForm):
    """Makes the lines of what binds a name to an element of an array."""

    @override
    def forward(
        self, kept: list[str], logs: bool, twins: list[str], keeps_shape: bool = False
    ) -> Lines:
        log = [f"push_int({self.target})"] if logs else []
        lines = [*log, f"{self.target} = y = {self.operand(0)}", "z += y * 0.0"]
        return Lines(tuple(lines), self.reads(0), place=self.s.place)

    @override
    def pull(self) -> tuple[list[str], list[Expr]]:
        body, reads = self.deliveries(["g"])
        lines = [f"g = {self.cotangent}", f"{self.cotangent} = 0.0", "if g:", *indented(body)]
        return lines, reads


class ItemForm(CallForm):
    """Makes the lines of what binds a name to an array in a list."""

    @override
    def operand(self, k: int) -> str:
        array, index = self.s.values
        return f"{array.name}[{index_text(index)}]"

    @override
    def forward(
        self, kept: list[str], logs: bool, twins: list[str], keeps_shape: bool = False
    ) -> Lines:
        lines = [f"value = {self.operand(0)}", *self.bound(logs, twins, keeps_shape)]
        return Lines(tuple(lines), (*self.reads(0), *self.target_read()), place=self.s.place)

    @override
    def reads(self, k: int) -> tuple[Expr, ...]:
        array, index = self.s.values
        return (Load(array.name, reads_of(index)),)

    @override
    def pull(self) -> tuple[list[str], list[Expr]]:
        d = f"{DOWN}_{self.operand(0)}"
        lines = [f"g = {self.cotangent}", f"{self.cotangent} = None", "if g is not None:"]
        lines += indented([f"d = {d}", f"{d} = g if d is None else d + g"])
        return lines, list(reads_of(self.s.values[1]))


class Back:
    """The cotangents of operands, from that of the value and what was saved.

    Parameters
    ----------
    operation : Operation
    paths : list of Path
        Where the operands stand.
    """

    def __init__(self, operation: Operation, paths: list[Path]) -> None:
        self.operation = operation
        self.paths = paths

    def __call__(self, g: Any, kept: Any) -> list[Any]:
        saved, shapes = kept
        found = self.operation.back(g, saved, self.paths)
        for c, path in zip(found, self.paths, strict=True):
            if isinstance(c, NotImplementedDerivative):
                raise c.fail(function_name(self.operation.function), path[0])
        return [
            None if c is None else fitted_to(c, shape)
            for c, shape in zip(found, shapes, strict=True)
        ]


def call_form(
    s: Sliced,
    functions: tuple[Any, ...],
    number: int,
    found: Special,
    axes: Mapping[str, int],
    scope: dict[str, Any],
) -> CallForm | None:
    """Return the form of a call, or None if it cannot be part of a region."""
    arguments = arguments_of(s.statement.value)
    assert arguments is not None
    f = s.statement.value.function
    f = functions[f] if type(f) is int else f
    operation = operation_of(f, arguments)
    if operation is None or s.target is None:
        return None
    if any(kind not in (INT, FLOAT, FLOAT64) for kind in s.types):
        return None
    rank = rank_of(s, operation, axes)
    if rank is None or bool(rank) != (s.target.name in found.region.variables):
        return None
    if not rank and any(f is served for served in SERVED_AT_NUMBERS):
        return None
    kind = KINDS.get(type(operation), CallForm)
    form = kind(s, operation, rank, number, found, axes, scope)
    return form if is_differentiable(form) and is_apart(form, found) else None


SERVED_AT_NUMBERS = (np.clip, np.interp)
"""Functions that have a way of their own at a number: it takes a fifth of what the rule does."""

KINDS: dict[type, type[CallForm]] = {Element: ElementForm, Item: ItemForm}


def is_differentiable(form: CallForm) -> bool:
    """Return True if the rule has a derivative for each operand that moves."""
    if any(form.array_or_name(h.operand) in form.active for h in form.arguments.named_holes):
        return isinstance(form.operation, Constant)
    if isinstance(form.operation, Constant):
        form.receiving.clear()
    return all(form.operation.reaches(path[0]) for path, _ in form.receiving)


def is_apart(form: CallForm, found: Special) -> bool:
    """Return True if the value is new memory, or a view of what the region does not change."""
    if not form.rank or (form.operation.is_new and not form.arguments.may_view):
        return True
    if isinstance(form, ItemForm):
        return True  # which nothing in the region changes
    arrays = {
        form.array_or_name(h.operand) for _, h in form.arguments.holes if form.axes_of(h.operand)
    }
    return form.target not in outlasting(found.region) and arrays <= form.steady | form.names


def steady_of(found: Special) -> set[str]:
    """Return the arrays that no statement of a region changes in place."""
    changed = {s.written for s in found.region.sliced}
    return (found.fixed | found.region.variables) - changed


def kind_of(value: Any) -> int:
    """Return how many axes an array of floats has, 0 for a number, -1 for anything else."""
    if type(value) is ndarray:
        return value.ndim if value.dtype is DOUBLE and value.ndim else -1
    return 0 if type(value) is np.float64 or type(value) is float else -1


def unless(wrong: str) -> list[str]:
    """Return the lines that leave the region if a test holds."""
    return [f"if {wrong}:", "    raise ArithmeticError"]
