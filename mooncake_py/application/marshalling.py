"""Conversion of containers and objects for hand-written rules, and of their results.

A rule computes with plain numbers.  It gets a copy of a container or an object that holds active
numbers, with the same arrays; the engine finds the nodes in the original.  In the result of a rule,
the engine replaces numbers by active ones in place, and the tape restores them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.application.copying import copy_jointly
from mooncake_py.application.gradients import gradient_of
from mooncake_py.application.walker import Finder, Mapper, replace_parts
from mooncake_py.containers.undo import note
from mooncake_py.diagnostics.notes import located
from mooncake_py.diagnostics.reporting import unsupported
from mooncake_py.errors import InvalidTangentError
from mooncake_py.overriding import override
from mooncake_py.runtime import buffers
from mooncake_py.runtime.active import Active, active_number
from mooncake_py.runtime.activity import INERT, contains_active, within
from mooncake_py.runtime.tangent_tree import TangentTree
from mooncake_py.tangents import subclasses
from mooncake_py.tangents.builtin_specs import differentiable_array
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.tangents.memory import owner

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode, Recording

__all__ = ["Contents", "Result", "activated", "leaves", "note_results", "plain", "tree_of"]


class Reader(Finder):
    """Finds the nodes of the active parts of a value.

    With `whole`, constant numbers and arrays get nodes too, for fdata that have a place for each.
    """

    def __init__(self, ctx: Mode, whole: bool) -> None:
        super().__init__(ctx)
        self.whole = whole
        self.met: set[int] = set()

    @override
    def visit_scalar(self, value: Any) -> tuple[Any, Any]:
        self.met.add(id(value))
        if type(value) is Active:
            return value, value
        return value, active_number(value, self.ctx) if self.whole else None

    @override
    def visit_array(self, value: ndarray) -> tuple[Any, Any]:
        self.met.add(id(value))
        if not differentiable_array(value):
            return value, None
        a = subclasses.plain(value)
        if not self.whole and self.ctx.find(a) is None:
            return value, None
        return value, self.ctx.registry.activate(a)  # with its layout


def tree_of(ctx: Mode, value: Any, *, whole: bool = False) -> TangentTree | None:
    """Return the nodes in a container or an object, in its structure.

    Raise if something active is in a place that tangents do not know: an iterator, a set.
    """
    reader = Reader(ctx, whole)
    try:
        _, tree = reader.visit(value)
    except InvalidTangentError as error:
        located(ctx, error)
        raise
    for leaf in leaves(value, set()):
        if id(leaf) not in reader.met and contains_active(ctx, leaf, set()):
            raise unsupported(
                ctx,
                f"a rule cannot take this {type(value).__name__}",
                why="it holds an active value where its tangent has no entry: in a set,\n"
                "or in a default of a function",
                fix="pass the active value as a separate argument, or in a list or a dict",
            )
    return tree


def plain(value: Any, *, copied: bool = False) -> Any:
    """Return a value with plain numbers: itself if no number is active, else a copy.

    Arrays, random generators and similar are the same; with `copied` containers and objects are
    copied in any case.
    """
    if not copied and not any(type(leaf) is Active for leaf in leaves(value, set())):
        return value
    return copy_jointly(
        value, lambda v: v.primal if type(v) is Active else v, keep_views=False, share_others=True
    )


def leaves(value: Any, seen: set[int]) -> Iterator[Any]:
    """Yield the active numbers, the arrays and the buffers in a value, at any depth."""
    return within(value, is_leaf, seen)


def is_leaf(value: Any) -> bool:
    if issubclass(type(value), ndarray):
        return value.dtype.kind != "O"
    return type(value) is Active or issubclass(type(value), buffers.BUFFERS)


class Contents:
    """The contents of containers and objects, to see later whether they have changed."""

    def __init__(self, values: Any) -> None:
        self.held: list[tuple[Any, Mapping[Any, Any]]] = []
        seen: set[int] = set()
        waiting = list(values)
        while waiting:
            value = waiting.pop()
            t = type(value)
            if t in INERT or t is Active or issubclass(type(value), ndarray) or id(value) in seen:
                continue
            seen.add(id(value))
            fields = spec_of(value).fields(value)
            if fields is not None:
                self.held.append((value, dict(fields)))
                waiting.extend(fields.values())

    def changed(self) -> bool:
        """Return whether any of them holds something else now."""
        return any(differ(old, spec_of(value).fields(value)) for value, old in self.held)


def differ(old: Mapping[Any, Any], new: Any) -> bool:
    """Return whether two records of fields are not of the same names and the same objects."""
    return old.keys() != new.keys() or any(new[name] is not part for name, part in old.items())


def pair_copies(value: Any, copy: Any, found: dict[int, tuple[Any, Any, Any]]) -> None:
    """Find which objects were copied, at any depth: by the id of the copy, it and its original."""
    if copy is value or type(value) is Active or id(copy) in found:
        return
    spec = spec_of(value)
    old, new = spec.fields(value), spec.fields(copy)
    if old is None or new is None:
        return
    if spec.mutable:
        found[id(copy)] = copy, value, None
    for name, part in old.items():
        pair_copies(part, new[name], found)


class Activator(Mapper):
    """Makes the numbers and arrays in a rule's output active, except those of arguments.

    The rule got the primals in place of the arguments.
    """

    def __init__(self, ctx: Mode, args: Sequence[Any], primals: Sequence[Any]) -> None:
        super().__init__(ctx)
        seen: set[int] = set()
        found = (leaf for value in args for leaf in leaves(value, seen))
        self.memory = {id(owner(leaf)) for leaf in found if issubclass(type(leaf), ndarray)}
        for value, copy in zip(args, primals, strict=True):
            pair_copies(value, copy, self.memo)

    @override
    def visit_scalar(self, value: Any) -> tuple[Any, Any]:
        if type(value) is Active:
            return value, None
        node = active_number(value, self.ctx)
        return node, node

    @override
    def visit_array(self, value: ndarray) -> tuple[Any, Any]:
        if type(value) is not ndarray or not differentiable_array(value):
            return value, None
        registry = self.ctx.registry
        if id(owner(value)) in self.memory or self.ctx.find(value) is not None:
            return value, None
        value = registry.independent(value)
        registry.fresh(value)
        node = registry.activate(value)
        node.protect()  # the rule may have kept it
        return value, node


class Result:
    """The node of a container or an object that a rule returned, as the user sees it."""

    __slots__ = ("replaced", "tree", "value")

    def __init__(self, value: Any, tree: TangentTree, replaced: list[Any]) -> None:
        self.value = value
        self.tree = tree
        self.replaced = replaced

    def take(self) -> Any:
        """Return the cotangent in the structure of the value, or None where it is zero."""
        if not has_cotangent(self.tree, set()):
            return None
        return gradient_of(self.value, self.tree, {})


def activated(
    ctx: Mode, value: Any, args: Sequence[Any], primals: Sequence[Any]
) -> tuple[Any, Result | None]:
    """Make the parts of a rule's output active; return the output for the user, and its node.

    The rule got the primals in place of the arguments.
    """
    if type(value) in INERT or issubclass(type(value), (FunctionType, MethodType)):
        return value, None
    activator = Activator(ctx, args, primals)
    result, tree = activator.visit(value)
    if tree is None:
        return result, None
    return result, Result(result, tree, activator.replaced)


def note_results(ctx: Recording, outputs: Any) -> None:
    """Record how to bring back plain numbers, after the entry of a rule: undone before it."""
    if type(outputs) is tuple:
        for node in outputs:
            note_results(ctx, node)
    elif type(outputs) is Result:
        for entry in outputs.replaced:
            note(ctx, replace_parts, *entry)


def has_cotangent(tree: Any, seen: set[int]) -> bool:
    """Return whether anything was added to a node."""
    if tree is None:
        return False
    if type(tree) is Active:
        return tree.take() is not None
    if type(tree) is not TangentTree:
        return tree.memory.grad is not None
    if id(tree) in seen:
        return False
    seen.add(id(tree))
    return any(has_cotangent(part, seen) for part in tree.parts.values())
