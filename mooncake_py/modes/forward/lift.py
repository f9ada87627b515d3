"""Lift tangents into a forward-mode call, and lower them out of it."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.lift import Lifter
from mooncake_py.boundary.outputs import described, has_shape, is_numeric, part_of, parts_of
from mooncake_py.errors import InvalidTangentError
from mooncake_py.overriding import override
from mooncake_py.runtime.active import Active, active_number
from mooncake_py.runtime.activity import INERT, unwrapped
from mooncake_py.tangents import NoTangent
from mooncake_py.tangents.contents import add_items, elements_of, empty_like, plain_dict
from mooncake_py.tangents.fields import own_attributes, set_own_attributes
from mooncake_py.tangents.memory import cells, has_overlaps
from mooncake_py.words import text_of_key

if TYPE_CHECKING:
    from mooncake_py.modes.forward.context import ForwardContext

__all__ = [
    "InputLifter", "TangentLifter", "apart_from", "give_tangent", "moves",
    "require_one_tangent",
]  # fmt: skip


class TangentLifter(Lifter):
    """Makes values active in forward mode; their tangents are given afterwards."""

    @override
    def visit_scalar(self, value: Any) -> tuple[Any, Any]:
        node = active_number(value, self.ctx)
        return node, node

    @override
    def activate(self, value: ndarray) -> Any:
        return value


class InputLifter(TangentLifter):
    """Makes values active, and keeps their numbers and arrays in the order of `Leaves`."""

    def __init__(self, ctx: ForwardContext) -> None:
        super().__init__(ctx)
        self.nodes: list[Any] = []

    @override
    def visit_scalar(self, value: Any) -> tuple[Any, Any]:
        pair = super().visit_scalar(value)
        self.nodes.append(pair[1])
        return pair

    @override
    def activate(self, value: ndarray) -> Any:
        self.nodes.append(value)
        return super().activate(value)


def apart_from(values: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the tangents, copied if they share containers with the values, which become active."""
    if all(type(t) is ndarray or type(t) in INERT or not moves(t) for t in tangents):
        return tangents
    if containers(values).isdisjoint(containers(tangents)):
        return tangents
    memo: dict[int, Any] = {}
    return tuple(copied(t, memo) for t in tangents)


def containers(values: tuple[Any, ...]) -> set[int]:
    """Return the ids of the lists, dicts and objects in values, which may change in place."""
    found: set[int] = set()
    todo: list[Any] = [*values]
    while todo:
        value = todo.pop()
        if issubclass(type(value), tuple):
            todo += elements_of(value)
            continue
        if id(value) not in found and is_container(value):
            inside = inside_of(value)
            found.add(id(value))
            is_dict = issubclass(type(inside), dict)
            todo += dict.values(inside) if is_dict else elements_of(inside)
    return found


def is_container(value: Any) -> bool:
    """Return True for what may hold others and change in place."""
    return type(value) not in INERT and not issubclass(type(value), ndarray | type | Active)


def inside_of(value: Any) -> Any:
    """Return the list or dict itself, or the dict of what an object has."""
    return value if issubclass(type(value), list | dict) else own_attributes(value)


def copied(value: Any, memo: dict[int, Any]) -> Any:
    """Return a value with containers of its own, which hold the same numbers and arrays."""
    if id(value) in memo:
        return memo[id(value)]
    if issubclass(type(value), tuple):
        parts = [copied(part, memo) for part in elements_of(value)]
        return type(value)(*parts) if hasattr(type(value), "_fields") else tuple(parts)
    if not is_container(value):
        return value
    if issubclass(type(value), list):
        memo[id(value)] = new = empty_like(value)
        list.extend(new, [copied(part, memo) for part in elements_of(value)])
    elif issubclass(type(value), dict):
        memo[id(value)] = new = empty_like(value)
        add_items(new, [(key, copied(part, memo)) for key, part in plain_dict(value).items()])
    else:
        memo[id(value)] = new = copy(value)
        parts = {key: copied(part, memo) for key, part in own_attributes(value).items()}
        set_own_attributes(new, parts)
    return new


def moves(tangent: Any) -> bool:
    """Return whether a tangent moves its argument; None and NoTangent do not."""
    return tangent is not None and type(tangent) is not NoTangent


def give_tangent(
    ctx: ForwardContext,
    tree: Any,
    tangent: Any,
    path: str,
    above: frozenset[int] = frozenset(),
    cotangents: dict[int, Any] | None = None,
) -> None:
    """Give a tangent, in the structure of a gradient, to the nodes of what was lifted.

    What contains itself is entered once: `above` are the ids of the trees that this one is
    in.  Where the tangents are cotangents of gradients, `cotangents` has those given so far by id:
    those of arrays that share memory add up.
    """
    if not moves(tangent):
        return
    if tree is None:
        if np.any(np.asarray(tangent, dtype=object) != 0):
            raise tangent_of_constant(path, tangent)
    elif type(tree) is Active:
        kind = tree.__class__  # that of the number
        if type(tangent) is Active or type(tangent) is kind:
            tree.grad = tangent
            return
        if not has_shape(tangent, ()) or not is_numeric(tangent):
            raise misfit(path, "a number", tangent)
        if not np.iscomplexobj(tree.primal) and np.iscomplexobj(tangent):
            raise misfit(path, "a real number", tangent)
        tree.grad = kind(tangent)
    elif type(tree) is ndarray:
        if not has_shape(tangent, tree.shape) or not is_numeric(tangent):
            raise misfit(path, f"an array of shape {tree.shape}", tangent)
        given = np.asarray(tangent)
        if tree.dtype.kind != "c" and given.dtype.kind == "c":
            raise misfit(path, "a real array", tangent)
        if cotangents is not None:
            if id(tangent) in cotangents:
                return
            cotangents[id(tangent)] = tangent
            if has_overlaps(tree):
                given = of_cells(ctx, tree, given)
            before = ctx.blocks.tangent_of(tree)
            given = given if before is None else ctx.base.call(np.add, before, given)
        if not (ctx.plain and tree.base is None and ctx.blocks.put_first(tree, given)):
            ctx.write(ctx.blocks.activate(tree), Ellipsis, given)
    elif id(tree) not in above:
        above = above | {id(tree)}
        found = parts_of(tree.parts.keys(), tangent, path, misfit)
        for name, part in tree.parts.items():
            given = part_of(found, name, tangent, path, misfit)
            give_tangent(ctx, part, given, f"{path}[{text_of_key(name)}]", above, cotangents)


def of_cells(ctx: ForwardContext, a: ndarray, given: Any) -> Any:
    """Return for each element the sum of what is given for those that are the same memory."""
    call = ctx.base.call
    axes = tuple([k for k in range(a.ndim) if a.strides[k] == 0])
    repeated = tuple([0 if k in axes else slice(None) for k in range(a.ndim)])
    one_of_each = a[repeated]
    given = call(np.sum, given, axes)
    if has_overlaps(one_of_each):
        addresses = cells(one_of_each).ravel()
        same = np.equal.outer(addresses, addresses).astype(a.dtype)
        given = call(np.reshape, call(np.matmul, same, call(np.ravel, given)), one_of_each.shape)
    return call(np.broadcast_to, call(np.expand_dims, given, axes), a.shape)


def require_one_tangent(
    ctx: ForwardContext, tree: Any, tangent: Any, path: str, above: frozenset[int] = frozenset()
) -> None:
    """Raise where memory, or a number in a container, has another tangent than given here."""
    if not moves(tangent) or tree is None:
        return
    if type(tree) is Active:
        known, given = unwrapped(tree.grad), unwrapped(tangent)
        if not np.array_equal(known, tree.__class__(given), equal_nan=True):
            raise two_tangents(path)
        return
    if type(tree) is not ndarray:
        if id(tree) not in above:
            above = above | {id(tree)}
            found = parts_of(tree.parts.keys(), tangent, path, misfit)
            for name, part in tree.parts.items():
                given = part_of(found, name, tangent, path, misfit)
                require_one_tangent(ctx, part, given, f"{path}[{text_of_key(name)}]", above)
        return
    known: Any = ctx.blocks.tangent_of(tree)
    given = np.asarray(tangent)
    if np.array_equal(known, given):  # in a hundredth of the time that nan and other types take
        return
    if not np.array_equal(known, given.astype(tree.dtype), equal_nan=True):
        raise two_tangents(path)


def two_tangents(path: str) -> InvalidTangentError:
    """Return the error for tangents that differ where there is one variable."""
    return InvalidTangentError(
        f"the tangent {path} differs from that of a part which shares memory with it",
        why="an object that one argument holds twice is one variable with one tangent",
        fix="pass the same tangent for both, or a copy of one of the parts",
    )


def tangent_of_constant(path: str, got: Any) -> InvalidTangentError:
    """Return the error for a tangent of what has no derivative."""
    return InvalidTangentError(
        f"the tangent {path} is that of a part without a derivative: got {described(got)}",
        why="only float and complex numbers, and arrays of these, have tangents; ints have none",
        fix="pass floats as primals: float(x), x.astype(float); or None as the tangent of what is "
        "constant",
    )


def misfit(path: str, expected: str, got: Any) -> InvalidTangentError:
    """Return the error for a tangent that does not fit its primal."""
    return InvalidTangentError(
        f"the tangent {path} does not fit its primal: expected {expected}, got {described(got)}",
        why="each number of an argument has one tangent",
        fix="pass tangents in the structure and the shapes of the primals",
    )
