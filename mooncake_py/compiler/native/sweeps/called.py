"""Derivatives of calls of functions of Python: see `nodes`.

Of ``h = node(A)`` and ``Y = take 0 of h`` these are::

    forward     h = recording node(A)
                Y = take 0 of h
    back        give 0 of h: d_Y
                G = gradient of h: A;  d_A += G
    tangent     t_h = tangent node(A, t_A)
                t_Y = take 0 of t_h
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mooncake_py.compiler.derivatives.cotangents import cotangent
from mooncake_py.compiler.native.nodes.node import Give, Gradient, Node, Take
from mooncake_py.compiler.native.regions.region import FLOAT, INT
from mooncake_py.compiler.native.sweeps.pull import NOTHING, Pull
from mooncake_py.compiler.regions.ir import (
    Alloc,
    Apply,
    Assign,
    Block,
    Bump,
    Const,
    Expr,
    ForAll,
    Length,
    Load,
    Name,
    Statement,
)

__all__ = ["is_call", "pull_call", "push_call", "recorded"]

ONE = Const(1)


def is_call(s: Apply) -> bool:
    """Return True for a call, and for what copies its results."""
    return isinstance(s.function, Node | Take)


def active_among(
    operands: tuple[str, ...], active: set[str] | Mapping[str, str]
) -> tuple[bool, ...]:
    """Return which operands are active."""
    return tuple([name in active for name in operands])


def recorded(s: Apply, active: set[str]) -> Apply:
    """Return a call as the forward sweep has it, which keeps its pullback."""
    if not isinstance(s.function, Node) or active.isdisjoint(s.operands):
        return s
    function = s.function.recording(active_among(s.operands, active))
    return Apply(function, s.target, s.operands, place=s.place)


def pull_call(s: Apply, active: set[str], fresh: Callable[[], str]) -> Pull:
    """Return the adjoint."""
    if isinstance(s.function, Node):
        return NOTHING if active.isdisjoint(s.operands) else pull_node(s, active, fresh)
    if s.target not in active:
        return NOTHING
    header, d, node = s.operands[0], shadow(s.target), s.function.node
    name = fresh()
    back: list[Statement] = []
    if not active.isdisjoint(s.operands):
        given = Give(node, s.function.position)
        back = [
            Alloc(name, (ONE,), FLOAT, False),
            Apply(given, name, (header, d), place=s.place),
        ]
    back.append(each(d, axes_of(s), fresh, lambda *at: clear(d, at)))
    return Pull(tuple(back), frozenset({header}), False)


def pull_node(s: Apply, active: set[str], fresh: Callable[[], str]) -> Pull:
    """Return the adjoint of the call itself."""
    node = s.function
    mask = active_among(s.operands, active)
    recording = node.recording(mask)
    wanted = [k for k, on in enumerate(mask) if on]
    back: list[Statement] = []
    for k in wanted:
        name, operand = fresh(), s.operands[k]
        gradient = Gradient(recording, k, is_last=k == wanted[-1])
        axes = node.takes[k].memory_axes
        shape = tuple([Length(shadow(operand), axis) for axis in range(axes)])
        back += [
            Alloc(name, shape, FLOAT, False),
            Apply(gradient, name, (s.target, *s.operands), place=s.place),
            each(
                shadow(operand),
                axes,
                fresh,
                lambda *at, name=name, operand=operand: Bump(
                    Load(shadow(operand), at), Load(name, at)
                ),
            ),
        ]
    return Pull(tuple(back), frozenset({s.target, *s.operands}), False)


def push_call(s: Apply, names: Mapping[str, str], fresh: Callable[[], str]) -> Block:
    """Return a statement, and what computes its tangent."""
    if isinstance(s.function, Node):
        if names.keys().isdisjoint(s.operands):
            return (s,)
        own = s.function.along(active_among(s.operands, names))
        header = header_of(s.target, names)
        return (
            s,
            Alloc(header, (Const(1 + own.lengths),), INT, False),
            Apply(own, header, tangents_of(s.operands, names), place=s.place),
        )
    if s.target not in names:
        return (s,)
    header, *operands = s.operands
    t, axes = names[s.target], axes_of(s)
    if names.keys().isdisjoint(operands):
        return (s, each(t, axes, fresh, lambda *at: clear(t, at)))
    node = s.function.node
    own = node.along(active_among(tuple(operands), names))
    take = own.take(node.moving.index(s.function.position))
    given = header_of(header, names), *tangents_of(tuple(operands), names)
    return (s, Apply(take, t, given, place=s.place))


def tangents_of(operands: tuple[str, ...], names: Mapping[str, str]) -> tuple[str, ...]:
    """Return operands, and then the tangents of those that have one."""
    return (*operands, *[names[name] for name in operands if name in names])


def header_of(header: str, names: Mapping[str, str]) -> str:
    """Return the name of the header of a tangent: it begins as the names of tangents do."""
    prefix = min(names.values()).partition("_")[0]
    return f"{prefix}_{header}"


def clear(array: str, at: tuple[Expr, ...]) -> Statement:
    """Return a statement that sets an element to zero."""
    return Assign(Load(array, at), Const(0.0))


def each(array: str, axes: int, fresh: Callable[[], str], body: Callable[..., Statement]) -> ForAll:
    """Return a statement for all elements of an array."""
    counters = tuple([fresh() for _ in range(axes)])
    extents = tuple([Length(array, axis) for axis in range(axes)])
    return ForAll(counters, extents, (body(*map(Name, counters)),))


def axes_of(s: Apply) -> int:
    """Return how many axes the array has that a result is copied to."""
    return s.function.node.gives[s.function.position].memory_axes


def shadow(array: str) -> str:
    """Return the name of the cotangent of an array."""
    found = cotangent(Name(array))
    assert isinstance(found, Name)
    return found.name
