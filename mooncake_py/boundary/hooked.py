"""Copies of values with a hook: a function that changes the cotangent in the reverse pass."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.copying import copy_jointly
from mooncake_py.application.gradients import gradient_of
from mooncake_py.application.walker import Finder
from mooncake_py.boundary.detached import Bare
from mooncake_py.boundary.outputs import has_shape, part_of, parts_of
from mooncake_py.diagnostics.notes import located
from mooncake_py.diagnostics.places import positions_running
from mooncake_py.errors import InvalidTangentError
from mooncake_py.overriding import override
from mooncake_py.rules.broadcasting import fit
from mooncake_py.rules.kinds import Rule
from mooncake_py.runtime.active import Active, active_number
from mooncake_py.runtime.tangent_tree import TangentTree
from mooncake_py.tangents.builtin_specs import differentiable_array
from mooncake_py.words import text_of_key, with_article

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Treatment", "hooked", "protect_what_is_read"]

Treatment = Callable[[Any], Any]
"""From a cotangent to the one that takes its place, or to None if it was changed in place."""


def hooked(
    ctx: Mode,
    rule: Rule | None,
    treat: Treatment,
    x: Any,
    around: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Any:
    """Return a copy of a value and record that its cotangent passes through a function.

    The function is called with the cotangent in the structure of the value, as `grad` would return
    it; all of it is a copy.  If all of the value is constant, it is never called.  Exceptions that
    it raises name the rule.  It is called `around` a context.
    """
    sources: list[Any] = []
    copies: list[Any] = []

    def fresh(leaf: Any) -> Any:
        if type(leaf) is Active:
            copy = node = active_number(leaf.primal, ctx)
            source = leaf
        elif issubclass(type(leaf), ndarray):
            copy = leaf.copy("K")
            source = ctx.find(leaf) if type(leaf) is ndarray else None
            if source is None and ctx.contains_active(leaf):
                differentiable_array(leaf)  # raises: it is of a subclass, or of objects
            node = None if source is None else ctx.registry.fresh(copy)
        else:
            return leaf
        if source is not None:
            sources.append(source)
            copies.append(node)
        return copy

    try:
        y = copy_jointly(x, fresh, keep_views=False)
        _, tree = _Reader(ctx).visit(y)
    except InvalidTangentError as error:
        raise located(ctx, error) from None
    if not sources:
        return y
    protect_what_is_read(ctx, treat)
    passage = _Passage(ctx, treat, y, tree, copies, around)
    ctx.record((pull_hook, sources, passage, rule, positions_running(1)[0]))
    return y


def pull_hook(entry: tuple[Any, ...]) -> None:
    """Reverse of `hooked`."""
    _, sources, passage, _, _ = entry
    passage.pull(sources)


class _Reader(Finder):
    """Finds the nodes of a copy, which may hold arrays of objects."""

    @override
    def visit_scalar(self, value: Any) -> tuple[Any, Any]:
        return value, value if type(value) is Active else None

    @override
    def visit_array(self, value: ndarray) -> tuple[Any, Any]:
        return value, self.ctx.find(value) if type(value) is ndarray else None


def protect_what_is_read(ctx: Mode, f: Callable[..., Any]) -> None:
    """Protect the values that a function reads, so that the reverse pass finds them unchanged."""
    _Protector(ctx).visit(f)


class _Protector(Bare):
    """Sees to it that arrays that a function reads are in the reverse pass as they are now."""

    @override
    def visit_scalar(self, value: Any) -> tuple[Any, Any]:
        return value, None

    @override
    def visit_array(self, value: ndarray) -> tuple[Any, Any]:
        self.ctx.registry.protect(value)
        return value, None


@dataclass(slots=True, eq=False)
class _Passage:
    """The data of a hook on the tape; none of them is an operand that must remain unchanged."""

    ctx: Mode
    treat: Treatment
    value: Any
    tree: Any
    copies: list[Any]
    around: Callable[[], AbstractContextManager[None]]

    def pull(self, sources: list[Any]) -> None:
        """Give the cotangents of the copies, as the function leaves them, to their sources."""
        g = gradient_of(self.value, self.tree, {})
        with self.ctx.outside(), self.around():
            with Bare(self.ctx) as bare:
                treated = bare.visit(self.treat)[0](g)
            assign(self.tree, g if treated is None else treated, "", set())
        for source, copy in zip(sources, self.copies, strict=True):
            g = copy.take()
            if g is not None:
                source.add(g)


def assign(tree: Any, g: Any, path: str, seen: set[int]) -> None:
    """Make the parts of `g` the cotangents of the nodes of a tree."""
    if tree is None or id(tree) in seen:
        return
    seen.add(id(tree))
    if type(tree) is TangentTree:
        found = parts_of(tree.parts.keys(), g, path, unfit)
        for name, part in tree.parts.items():
            if part is not None:
                assign(
                    part, part_of(found, name, g, path, unfit), f"{path}[{text_of_key(name)}]", seen
                )
    elif type(tree) is Active:
        if not has_shape(g, ()) or not fits_dtype(g, np.asarray(tree.primal).dtype):
            raise unfit(path, with_article(type(tree.primal).__name__), g)
        tree.grad = np.asarray(g)[()]
    else:
        value = tree.ref()
        if not has_shape(g, value.shape) or not fits_dtype(g, value.dtype):
            raise unfit(path, f"{value.dtype}{list(value.shape)}", g)
        tree.grad = fit(np.array(g), value.shape, value.dtype)


def fits_dtype(g: Any, dtype: np.dtype[Any]) -> bool:
    """Return whether a cotangent consists of numbers, real ones for a real value."""
    return np.asarray(g).dtype.kind in ("fcbiu" if dtype.kind == "c" else "fbiu")


def unfit(path: str, expected: str, got: Any) -> InvalidTangentError:
    """Return the error for a cotangent that a hook returned and that does not fit."""
    if issubclass(type(got), ndarray):
        kind = f"{got.dtype}{list(got.shape)}"
    else:
        kind = f"{type(got).__name__} {got!r:.60}"
    part = f" for its part {path}" if path else ""
    return InvalidTangentError(
        f"the function of a hook returned a cotangent that does not fit{part}: "
        f"expected {expected}, got {kind}",
        why="the cotangent of a value has the structure and the shapes of the value",
        fix="return a cotangent of the same structure, or change the argument in place\n"
        "and return None",
    )
