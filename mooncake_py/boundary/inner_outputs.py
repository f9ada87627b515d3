"""Results of any structure of an inner derivative, with their active parts.

The result is a copy (see `outgoing`).  When the inner call runs again, it makes the same structure,
and the engine finds the active parts of the copy there by their paths: the positions of parts
within parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.gradients import Known, gradient_of
from mooncake_py.application.lift import Lifter
from mooncake_py.application.walker import Finder
from mooncake_py.boundary.outgoing import Copier, Handover
from mooncake_py.errors import NestedDerivativeError
from mooncake_py.overriding import override
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import CLOSED, parts, unwrapped
from mooncake_py.tangents.builtin_specs import differentiable_array
from mooncake_py.tangents.fields import own_attributes
from mooncake_py.tangents.memory import fields_of, owner
from mooncake_py.tangents.subclasses import is_instance, plain
from mooncake_py.words import with_article

if TYPE_CHECKING:
    from mooncake_py.diagnostics.reporting import Reporting
    from mooncake_py.runtime.forward_mode import ForwardMode
    from mooncake_py.runtime.mode import Mode, Tracking

__all__ = [
    "Apart", "Leaves", "Path", "Replacer", "Shell", "active_parts", "lowered", "part_at",
    "with_tangent", "zero_like",
]  # fmt: skip

Path = tuple[int | str | tuple[Any], ...]
"""Positions of parts within parts; of arrays names of fields, and of attributes in a tuple."""


def active_parts(
    ctx: Reporting,
    value: Any,
    is_active: Callable[[ndarray], bool],
    path: Path = (),
    seen: set[int] | None = None,
) -> list[tuple[Path, Any]]:
    """Return the active numbers and arrays in the part of a value at a path, each with its path."""
    seen = set() if seen is None else seen
    if type(value) in CLOSED or id(value) in seen:
        return []
    seen.add(id(value))
    if type(value) is Active:
        return [(path, value)]
    if issubclass(type(value), ndarray):
        return active_arrays(ctx, value, is_active, path, seen)
    held = ordered(value)
    found = [
        leaf
        for i, part in enumerate(held)
        for leaf in active_parts(ctx, part, is_active, (*path, i), seen)
    ]
    if found and len(held) > 1 and is_unordered(value):
        raise unordered(ctx, value)
    return found


def active_arrays(
    ctx: Reporting,
    value: ndarray,
    is_active: Callable[[ndarray], bool],
    path: Path,
    seen: set[int],
) -> list[tuple[Path, Any]]:
    """Return an array if it is active, or the fields of records, and what its attributes hold."""
    a = plain(value)
    found: list[tuple[Path, Any]] = []
    if is_active(a):
        found = [(path, a)]
        if a.dtype.names is not None:
            found = [((*path, *names), field) for names, field in fields_of(a).items()]
    for i, part in enumerate(parts(value) if a.dtype.hasobject else ()):
        found += active_parts(ctx, part, is_active, (*path, i), seen)
    if a.dtype.hasobject:  # with the attributes
        return found
    if a is not value:
        for name, part in own_attributes(value).items():
            found += active_parts(ctx, part, is_active, (*path, (name,)), seen)
    return found


def part_at(value: Any, path: Path) -> Any:
    """Return the part of a value at a path; raise LookupError if there is none."""
    for i in path:
        if isinstance(i, tuple):
            value = own_attributes(value)[i[0]]
        else:
            value = plain(value)[i] if isinstance(i, str) else ordered(value)[i]
    return plain(value) if is_instance(value) else value


def ordered(value: Any) -> list[Any]:
    """Return the parts of a value; the numbers of a set by size, as their order is arbitrary."""
    held = list(parts(value))
    if issubclass(type(value), (set, frozenset)) and not is_unordered(value):
        return sorted(held, key=sortable)
    return held


def is_unordered(value: Any) -> bool:
    """Return whether a value is a set of other things than numbers."""
    return issubclass(type(value), (set, frozenset)) and not all(
        isinstance(part, (float, complex, np.inexact)) for part in parts(value)
    )


def sortable(number: Any) -> tuple[float, float]:
    """Return the key by which numbers, complex ones too, are sorted."""
    plain = unwrapped(number)
    return float(plain.real), float(plain.imag)


def unordered(ctx: Reporting, value: Any) -> NestedDerivativeError:
    """Return the error for a set of objects with active parts."""
    return ctx.failed(
        NestedDerivativeError(
            f"{with_article(type(value).__name__)} of active objects leaves a derivative inside "
            "another one",
            where=ctx.user_location(),
            why="its order changes when the inner function runs again, so the objects of the "
            "two runs\n"
            "cannot be matched",
            fix="return the objects in a list or a dict",
        )
    )


def lowered(ctx: Tracking, value: Any) -> Any:
    """Return a number as one of a context or of those around it, without the levels above."""
    while type(value) is Active and value.context.level > ctx.level:
        value = value.primal
    return value


class Shell(Handover):
    """A copy of a value of a forward-mode call, into which numbers and arrays are put later.

    It knows the paths to what is active in the value.
    """

    ctx: ForwardMode  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(self, ctx: ForwardMode, value: Any) -> None:
        super().__init__(ctx, ctx)
        self.arrays: dict[int, ndarray] = {}
        self.value = self.copy(value)
        self.leaves: list[Any] = []
        self.paths: list[Path] = []
        for path, leaf in active_parts(ctx, self.value, lambda a: id(owner(a)) in self.arrays):
            self.paths.append(path)
            self.leaves.append(leaf)

    @override
    def activated(self, new: ndarray) -> ndarray:
        self.arrays[id(new)] = new
        return new

    def halves(self, value: Any) -> tuple[list[Any], list[Any]]:
        """Return the primals of the active parts of such a value, and their tangents."""
        found = [lowered(self.ctx, part_at(value, path)) for path in self.paths]
        pairs = [self.ctx.split(leaf) for leaf in found]
        return [p for p, _ in pairs], [zero_like(p) if t is None else t for p, t in pairs]

    def filled(self, primals: list[Any], tangents: list[Any]) -> Any:
        """Return the copy with these numbers and arrays in it, and their tangents."""
        ctx = self.ctx
        for leaf, p, t in zip(self.leaves, primals, tangents, strict=True):
            if type(leaf) is Active:
                leaf.primal, leaf.grad = p, t
            else:
                ctx.assign(leaf, Ellipsis, ctx.fresh(p, t))
        return self.value


def zero_like(primal: Any) -> Any:
    """Return a zero tangent."""
    return np.zeros_like(primal) if type(primal) is ndarray else 0.0


class Apart(Copier):
    """A copy whose arrays are copied by the call that the value belongs to, or natively."""

    ctx: Mode | None  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(self, ctx: Mode | None) -> None:
        super().__init__(ctx)  # pyright: ignore[reportArgumentType] - not asked for anything here

    @override
    def number(self, value: Active) -> Any:
        return value

    @override
    def array(self, value: ndarray) -> Any:
        return value.copy() if self.ctx is None else self.ctx.call(np.array, value)

    @override
    def same(self, value: Any) -> Any:
        return self.remember(value, value)

    @override
    def copy_function(self, f: Any) -> Any:
        return f if self.ctx is None else super().copy_function(f)


class Leaves(Finder):
    """Finds the differentiable numbers and arrays of a value, in order."""

    def __init__(self, ctx: Mode | None) -> None:
        super().__init__(ctx)  # pyright: ignore[reportArgumentType] - only told what was met
        self.found: list[tuple[Any, Known]] = []  # with what takes the gradient

    @override
    def visit_scalar(self, value: Any) -> tuple[Any, Any]:
        known = Known()
        self.found.append((value, known))
        return value, known

    @override
    def visit_array(self, value: ndarray) -> tuple[Any, Any]:
        return self.visit_scalar(value) if differentiable_array(value) else (value, None)


class Replacer(Lifter):
    """Puts other numbers in the places of those of a value, in the order of `Leaves`.

    The call that runs puts the old ones back.  The replacement of an array is ignored.
    """

    def __init__(self, ctx: Mode, replacements: list[Any]) -> None:
        super().__init__(ctx)
        self.rest = iter(replacements)

    @override
    def visit_scalar(self, value: Any) -> tuple[Any, Any]:
        return next(self.rest), value

    @override
    def visit_array(self, value: ndarray) -> tuple[Any, Any]:
        if not differentiable_array(value):
            return value, None
        next(self.rest)
        return value, value


def with_tangent(ctx: ForwardMode, value: Any) -> tuple[Any, Any]:
    """Return the output of a forward-mode call, and its tangent in the structure of a gradient."""
    leaves = Leaves(ctx)
    _, tree = leaves.visit(value)
    for leaf, known in leaves.found:
        primal, tangent = ctx.split(leaf)
        known.gradient = zero_like(unwrapped(primal)) if tangent is None else tangent
    return value, gradient_of(value, tree, {})
